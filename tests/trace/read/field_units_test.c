// SPDX-License-Identifier: BSD-2-Clause
/* Meanings of fields: from annotations of a trace, from known names, and which of them has priority. */
#include "trace/read/field_units.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "prof_events.h"
#include "tests/support/read_bytes.h"
#include "trace/read/trace.h"

struct fixture {
	struct dial9_enc *enc;
	struct dial9_schema *s;
	struct bytes bytes;
	struct names *names;
	struct trace *t;
};

static void begin(struct fixture *f, const char *event, const struct dial9_field *fields,
		  size_t cnt)
{
	const struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };

	memset(f, 0, sizeof(*f));
	cr_assert_eq(dial9_enc_new(&o, &f->enc), 0);
	cr_assert_eq(dial9_schema_new(event, true, fields, cnt, &f->s), 0);
}

static void add_note(struct fixture *f, uint16_t field, const char *key, const char *value)
{
	cr_assert_eq(dial9_enc_annotate(f->enc, f->s, field, (struct dial9_str){ key, strlen(key) },
					(struct dial9_str){ value, strlen(value) }),
		     0);
}

/* An event of one or two integers. */
static void put_event(struct fixture *f, uint64_t a, uint64_t b)
{
	dial9_enc_begin(f->enc, f->s, 1000);
	dial9_enc_put_u64(f->enc, a);
	if (dial9_schema_field_cnt(f->s) > 1)
		dial9_enc_put_u64(f->enc, b);
	cr_assert_eq(dial9_enc_end(f->enc), 0);
}

static void open_bytes(struct fixture *f, const uint8_t *p, size_t n)
{
	struct trace_opts o = { .read = read_bytes, .ctx = &f->bytes, .learn = true };

	f->bytes = (struct bytes){ p, n, 0 };
	cr_assert_eq(names_new(&f->names), 0);
	o.names = f->names;
	cr_assert_eq(trace_new(&o, &f->t), 0);
}

static void open_trace(struct fixture *f)
{
	size_t n;
	const uint8_t *p = dial9_enc_data(f->enc, &n);

	open_bytes(f, p, n);
}

static void finish(struct fixture *f)
{
	trace_free(f->t);
	names_free(f->names);
	dial9_schema_free(f->s);
	dial9_enc_free(f->enc);
}

static struct trace_event next(struct fixture *f)
{
	struct trace_event ev;

	cr_assert_eq(trace_next(f->t, &ev), 1);
	return ev;
}

static void expect(struct fixture *f, const struct field_units *m, enum field_units_kind kind,
		   const char *unit, uint64_t ns)
{
	cr_expect_eq(m->kind, kind, "kind %u, not %u", m->kind, kind);
	cr_expect_str_eq(names_str(f->names, m->unit, NULL), unit);
	cr_expect_eq(m->ns, ns);
}

static void expect_text(struct fixture *f, const struct trace_event *ev, size_t i, const char *want)
{
	struct buf b = { 0 };

	cr_expect_eq(trace_field_text(f->t, ev, i, &b), want != NULL);
	cr_expect_str_eq(buf_cstr(&b), want ? want : "");
	buf_free(&b);
}

Test(field_units, annotations_of_the_trace_have_priority_over_known_units)
{
	const struct dial9_field fields[] = { { "elapsed_ns", DIAL9_VARINT },
					      { "rss_bytes", DIAL9_VARINT } };
	const struct field_units *m;
	struct trace_event ev;
	struct fixture f;

	begin(&f, PROF_EV_STATS, fields, 2);
	put_event(&f, 1, 2);
	add_note(&f, 0, "unit", "ms");
	add_note(&f, 1, "kind", "counter");
	put_event(&f, 1, 2);
	open_trace(&f);
	ev = next(&f);
	m = trace_field_units(ev.schema, 0);
	expect(&f, m, FIELD_UNITS_COUNTER, "ns", 1);
	cr_expect_not(m->kind_declared || m->unit_declared);
	m = trace_field_units(ev.schema, 1);
	expect(&f, m, FIELD_UNITS_GAUGE, "bytes", 0);
	cr_expect_not(m->kind_declared || m->unit_declared);
	ev = next(&f);
	m = trace_field_units(ev.schema, 0);
	expect(&f, m, FIELD_UNITS_COUNTER, "ms", 1000000);
	cr_expect(m->unit_declared && !m->kind_declared);
	m = trace_field_units(ev.schema, 1);
	expect(&f, m, FIELD_UNITS_COUNTER, "bytes", 0);
	cr_expect(m->kind_declared && !m->unit_declared);
	finish(&f);
}

Test(field_units, fields_are_known_only_together_with_their_event)
{
	const struct dial9_field fields[] = { { "state", DIAL9_VARINT },
					      { "common_pid", DIAL9_VARINT } };
	static const struct {
		const char *event;
		enum field_units_kind state, pid;
	} cases[] = { { "power:cpu_frequency", FIELD_UNITS_GAUGE, FIELD_UNITS_TID },
		      { "power:cpu_idle", FIELD_UNITS_NONE, FIELD_UNITS_TID },
		      { "power", FIELD_UNITS_NONE, FIELD_UNITS_NONE } };

	for (size_t i = 0; i < 3; i++) {
		struct trace_event ev;
		struct fixture f;

		begin(&f, cases[i].event, fields, 2);
		put_event(&f, 1, 2);
		open_trace(&f);
		ev = next(&f);
		cr_expect_eq(trace_field_units(ev.schema, 0)->kind, cases[i].state);
		cr_expect_eq(trace_field_units(ev.schema, 1)->kind, cases[i].pid);
		finish(&f);
	}
}

Test(field_units, units_of_time_have_their_nanoseconds)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} cases[] = { { "ns", 1 },	     { "us", 1000 },
		      { "\xc2\xb5s", 1000 }, { "\xce\xbcs", 1000 },
		      { "ms", 1000000 },     { "s", 1000000000 },
		      { "bytes", 0 },	     { "n", 0 },
		      { "nss", 0 },	     { "", 0 } };
	const struct dial9_field field = { "x", DIAL9_VARINT };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_event ev;
		struct fixture f;

		begin(&f, "E", &field, 1);
		add_note(&f, 0, "unit", cases[i].unit);
		put_event(&f, 1, 0);
		open_trace(&f);
		ev = next(&f);
		expect(&f, trace_field_units(ev.schema, 0), FIELD_UNITS_NONE, cases[i].unit,
		       cases[i].ns);
		finish(&f);
	}
}

Test(field_units, each_kind_has_its_name_and_unknown_names_have_no_kind)
{
	static const char *const words[] = { "pid",   "tid",	 "cpu",	  "addr",
					     "state", "counter", "gauge", "nothing" };
	const struct dial9_field field = { "x", DIAL9_VARINT };

	for (size_t i = 0; i < 8; i++) {
		const struct field_units *m;
		struct trace_event ev;
		struct fixture f;

		begin(&f, "E", &field, 1);
		add_note(&f, 0, "kind", words[i]);
		put_event(&f, 1, 0);
		open_trace(&f);
		ev = next(&f);
		m = trace_field_units(ev.schema, 0);
		cr_expect_eq(m->kind, i < 7 ? i + 1 : FIELD_UNITS_NONE);
		cr_expect(i < 7 ? !strcmp(field_units_kind_name(m->kind), words[i]) :
				  !field_units_kind_name(m->kind));
		finish(&f);
	}
}

Test(field_units, names_addresses_and_states_have_their_text)
{
	const struct dial9_field fields[] = { { "x", DIAL9_VARINT }, { "y", DIAL9_I64 } };
	struct trace_event ev;
	struct fixture f;

	begin(&f, "E", fields, 2);
	put_event(&f, 17, 0);
	add_note(&f, 0, "enum", "17=seventeen\n18=eighteen");
	put_event(&f, 17, 18);
	add_note(&f, 0, "enum", "");
	add_note(&f, 0, "kind", "addr");
	add_note(&f, 1, "kind", "state");
	put_event(&f, 17, 0x102);
	add_note(&f, 0, "enum", "17=one");
	put_event(&f, 17, 0);
	open_trace(&f);
	ev = next(&f);
	expect_text(&f, &ev, 0, NULL);
	ev = next(&f);
	expect_text(&f, &ev, 0, "seventeen");
	expect_text(&f, &ev, 1, NULL);
	ev = next(&f);
	expect_text(&f, &ev, 0, "0x11");
	expect_text(&f, &ev, 1, "D+");
	ev = next(&f);
	expect_text(&f, &ev, 0, "one");
	expect_text(&f, &ev, 1, "R");
	finish(&f);
}

Test(field_units, schema_without_annotations_in_another_segment_has_none_there)
{
	const struct dial9_field field = { "x", DIAL9_VARINT };
	const struct trace_schema *first;
	struct trace_event ev;
	struct fixture f;
	size_t cnt;

	begin(&f, "E", &field, 1);
	for (int i = 0; i < 6; i++) {
		if (i % 2 == 0)
			add_note(&f, 0, "unit", "ns");
		put_event(&f, 1, 0);
		cr_assert_eq(dial9_enc_reset(f.enc), 0);
	}
	open_trace(&f);
	ev = next(&f);
	first = ev.schema;
	for (int i = 1; i < 6; i++) {
		ev = next(&f);
		cr_expect_eq(ev.schema == first, i % 2 == 0);
		cr_expect_eq(trace_field_units(ev.schema, 0)->unit_declared, i % 2 == 0);
	}
	trace_schemas(f.t, &cnt);
	cr_expect_eq(cnt, 2);
	finish(&f);
}

/* Each event with another meaning: the stored meanings are limited, and events are still returned. */
Test(field_units, type_that_never_stops_changing_is_ignored)
{
	const struct dial9_field field = { "x", DIAL9_VARINT };
	struct trace_event ev;
	struct fixture f;
	char unit[16];
	size_t cnt;

	begin(&f, "E", &field, 1);
	for (int i = 0; i < 1000; i++) {
		snprintf(unit, sizeof(unit), "u%d", i);
		add_note(&f, 0, "unit", unit);
		put_event(&f, 1, 0);
	}
	open_trace(&f);
	for (int i = 0; i < 1000; i++)
		ev = next(&f);
	trace_schemas(f.t, &cnt);
	cr_expect_eq(cnt, 65, "%zu", cnt);
	cr_expect_str_eq(names_str(f.names, trace_field_units(ev.schema, 0)->unit, NULL), "u63");
	finish(&f);
}

/* E {x, y}: annotations that no encoder writes, and meaningless ones. */
#define E_SCHEMA 1, 0, 0, 1, 0, 'E', 1, 2, 0, 1, 0, 'x', 9, 1, 0, 'y', 9
#define UNIT(field, len, ...) field, 0, 4, 0, 'u', 'n', 'i', 't', len, 0, 0, 0, __VA_ARGS__

Test(field_units, misplaced_annotations_are_ignored)
{
	static const uint8_t p[] = {
		'T',
		'R',
		'C',
		0,
		1,
		6,
		0,
		1,
		0,
		UNIT(0, 1, 's'), /* before the schema */
		E_SCHEMA,
		6,
		0,
		4,
		0,
		UNIT(2, 1, 's'), /* there is no such field */
		UNIT(0, 2, 0xff, 0xfe), /* not UTF-8 */
		UNIT(1, 2, 'm', 's'),
		UNIT(1, 2, 'n', 's'), /* twice: the last one counts */
		6,
		9,
		1,
		0,
		UNIT(0, 1, 's'), /* of no schema */
		2,
		0,
		0,
		1,
		0,
		0,
		5,
		6,
	};
	struct fixture f = { 0 };
	struct trace_event ev;

	open_bytes(&f, p, sizeof(p));
	ev = next(&f);
	expect(&f, trace_field_units(ev.schema, 0), FIELD_UNITS_NONE, "\xff\xfe", 0);
	expect(&f, trace_field_units(ev.schema, 1), FIELD_UNITS_NONE, "ns", 1);
	cr_expect_eq(trace_next(f.t, &ev), 0);
	trace_free(f.t);
	names_free(f.names);
}
