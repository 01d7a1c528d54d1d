/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_RECORD_ANNOTATE_CHECK_H
#define D9_TESTS_RECORD_ANNOTATE_CHECK_H

/* The notes that annotate_all() writes for events, read back from the bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "dial9.h"
#include "events/emit.h"
#include "kernel/tracefs/format.h"
#include "record/tracepoint/annotate.h"
#include "record/tracepoint/eventset.h"
#include "trace/read/tp_symbols.h"

/* The output of annotate_all() for some events, and a decoder after all of it. */
struct fixture {
	struct event_def *defs[4];
	struct eventset events;
	struct dial9_enc *enc;
	struct emit *emit;
	struct dial9_dec *dec;
	size_t schemas, frames;
};

static inline void add(struct fixture *f, struct format_event *format)
{
	cr_assert_eq(event_def_new(format, &f->defs[f->events.cnt]), 0);
	f->events.defs = f->defs;
	f->events.cnt++;
}

static inline void write_all(struct fixture *f)
{
	const struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct dial9_dec_opts d = { .sz = sizeof(d) };
	struct dial9_frame frame;
	int err;

	cr_assert_eq(dial9_enc_new(&o, &f->enc), 0);
	cr_assert_eq(emit_new(f->enc, true, &f->emit), 0);
	cr_assert_eq(annotate_all(f->enc, f->emit, &f->events), 0);
	d.data = dial9_enc_data(f->enc, &d.data_sz);
	cr_assert_eq(dial9_dec_new(&d, &f->dec), 0);
	while ((err = dial9_dec_next(f->dec, &frame)) == 1) {
		f->schemas += frame.kind == DIAL9_FRAME_SCHEMA;
		f->frames += frame.kind == DIAL9_FRAME_ANNOTATIONS;
		cr_assert_neq(frame.kind, DIAL9_FRAME_EVENT);
	}
	cr_assert_eq(err, 0);
}

static inline void done(struct fixture *f)
{
	dial9_dec_free(f->dec);
	emit_free(f->emit);
	dial9_enc_free(f->enc);
	for (size_t i = 0; i < f->events.cnt; i++)
		event_def_free(f->defs[i]);
}

/* Of the first schema with that name; "" if there is no note. */
static inline struct dial9_str output(struct fixture *f, const char *event, const char *field,
				      const char *key, bool second)
{
	const struct dial9_schema *s;
	struct dial9_str out;

	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		s = dial9_dec_schema(f->dec, (uint16_t)id);
		if (!s || strcmp(dial9_schema_name(s), event))
			continue;
		if (second) {
			second = false;
			continue;
		}
		for (size_t i = 0; i < dial9_schema_field_cnt(s); i++)
			if (!strcmp(dial9_schema_field_name(s, i), field) &&
			    !dial9_dec_annotation(f->dec, (uint16_t)id, (uint16_t)i, key, &out))
				return out;
		return (struct dial9_str){ "", 0 };
	}
	cr_assert(false, "no schema of %s", event);
	return (struct dial9_str){ "", 0 };
}

/* One field's rows as lines and back: nothing is lost or added. Returns their number. */
static inline size_t check_field(struct fixture *f, const char *name, const struct format_event *ev,
				 const struct format_field *field)
{
	struct dial9_str text = output(f, name, field->name, "enum", false);
	struct tp_symbols ts = { 0 };
	size_t at = 0;

	tp_symbols_parse(&ts, text.ptr, text.len);
	for (size_t r = 0; r < ev->symbol_cnt && !field->code; r++) {
		const struct format_symbol *s = &ev->symbols[r];

		if (s->field != field->name)
			continue;
		cr_assert_lt(at, ts.cnt, "%s.%s", name, s->field);
		cr_expect_eq(ts.rows[at].kind, s->kind);
		/* these kinds have no value */
		cr_expect(ts.rows[at].value == s->value || s->kind >= FORMAT_SYM_DELIM);
		cr_expect_eq(ts.rows[at].name_len, strlen(s->name), "%s.%s", name, s->field);
		cr_expect(!memcmp(ts.rows[at].name, s->name, ts.rows[at].name_len));
		at++;
	}
	cr_expect_eq(at, ts.cnt, "%s.%s", name, field->name);
	tp_symbols_fini(&ts);
	return at;
}

/* All fields of an event, which is freed. */
static inline size_t check_rows(struct format_event *ev)
{
	struct fixture f = { 0 };
	size_t rows = 0;
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", ev->system, ev->name);
	add(&f, ev);
	write_all(&f);
	for (size_t i = 0; i < ev->cnt; i++)
		rows += check_field(&f, name, ev, &ev->fields[i]);
	done(&f);
	return rows;
}

#endif
