// SPDX-License-Identifier: BSD-2-Clause
/*
 * Units and kinds of field values: from the annotations of the trace, otherwise from what is known
 * of this program's events and some kernel events. Owns that order, and the list of keys and units;
 * printing is done elsewhere.
 *
 * Annotations come from any writer, with any bytes and fields. Unknown ones are ignored without an
 * error.
 */
#include "trace/read/field_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "events/own_events.h"
#include "prof_events.h"

/* maximum length of a unit */
#define UNIT_MAX 64
/* maximum number of annotations of a schema */
#define ENTRIES_MAX (4u << 16)

static const char *const kinds[FIELD_UNITS_CNT] = {
	[FIELD_UNITS_PID] = PROF_KIND_PID,     [FIELD_UNITS_TID] = PROF_KIND_TID,
	[FIELD_UNITS_CPU] = PROF_KIND_CPU,     [FIELD_UNITS_ADDR] = PROF_KIND_ADDR,
	[FIELD_UNITS_STATE] = PROF_KIND_STATE, [FIELD_UNITS_COUNTER] = PROF_KIND_COUNTER,
	[FIELD_UNITS_GAUGE] = PROF_KIND_GAUGE,
};

/* ---- effective annotations ------------------------------------------------------------------- */

struct entry {
	struct dial9_str key, value;
	uint32_t order;
	uint16_t field;
};

/* By field, then key. */
static int by_key(const struct entry *a, const struct entry *b)
{
	const size_t len = a->key.len < b->key.len ? a->key.len : b->key.len;
	int diff = (a->field > b->field) - (a->field < b->field);

	if (!diff && len)
		diff = memcmp(a->key.ptr, b->key.ptr, len);
	return diff ? diff : (a->key.len > b->key.len) - (a->key.len < b->key.len);
}

static int by_key_and_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const int diff = by_key(x, y);

	return diff ? diff : (x->order > y->order) - (x->order < y->order);
}

static void add_entry(struct buf *out, const struct entry *e)
{
	const uint16_t key_len = (uint16_t)e->key.len;
	const uint32_t value_len = (uint32_t)e->value.len;

	buf_add(out, &e->field, sizeof(e->field));
	buf_add(out, &key_len, sizeof(key_len));
	buf_add(out, e->key.ptr, key_len);
	buf_add(out, &value_len, sizeof(value_len));
	buf_add(out, e->value.ptr, value_len);
}

struct dial9_iter field_units_compact(struct dial9_iter notes, struct buf *out)
{
	struct dial9_iter kept = { .type = notes.type };
	struct entry *v;
	size_t cnt = 0;

	if (!notes.left || notes.left > ENTRIES_MAX)
		return kept;
	v = xcalloc(notes.left, sizeof(*v));
	while (dial9_annotations_next(&notes, &v[cnt].field, &v[cnt].key, &v[cnt].value) == 1) {
		v[cnt].order = (uint32_t)cnt;
		cnt++;
		if (!notes.left)
			break;
	}
	qsort(v, cnt, sizeof(*v), by_key_and_order);
	for (size_t i = 0; i < cnt; i++) {
		if ((i + 1 < cnt && !by_key(&v[i], &v[i + 1])) || !v[i].value.len)
			continue;
		add_entry(out, &v[i]);
		kept.left++;
	}
	free(v);
	kept.pos = (const uint8_t *)buf_cstr(out);
	kept.end = kept.pos + out->len;
	return kept;
}

/* ---- keys and units -------------------------------------------------------------------------- */

static bool str_is(struct dial9_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.ptr, text, s.len);
}

const char *field_units_kind_name(enum field_units_kind kind)
{
	return kind < FIELD_UNITS_CNT ? kinds[kind] : NULL;
}

static enum field_units_kind kind_of(struct dial9_str s)
{
	for (int i = 1; i < FIELD_UNITS_CNT; i++)
		if (str_is(s, kinds[i]))
			return i;
	return FIELD_UNITS_NONE;
}

static uint64_t ns_of(struct dial9_str unit)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { PROF_UNIT_NS, 1 },   { "us", 1000 },
		      { "\xc2\xb5s", 1000 }, /* the micro sign, and the letter mu */
		      { "\xce\xbcs", 1000 }, { "ms", 1000000 },
		      { "s", 1000000000 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (str_is(unit, units[i].unit))
			return units[i].ns;
	return 0;
}

static void set_unit(struct names *n, struct field_units *m, struct dial9_str unit)
{
	m->unit = unit.len ? names_add(n, unit.ptr, unit.len) : NAMES_NONE;
	m->ns = ns_of(unit);
}

static void set_note(struct names *n, struct field_units *m, struct dial9_str key,
		     struct dial9_str value)
{
	if (str_is(key, PROF_NOTE_UNIT) && value.len <= UNIT_MAX) {
		set_unit(n, m, value);
		m->unit_declared = true;
	} else if (str_is(key, PROF_NOTE_KIND)) {
		m->kind = kind_of(value);
		m->kind_declared = true;
	} else if (str_is(key, PROF_NOTE_ENUM)) {
		m->names = value.len ? names_add(n, value.ptr, value.len) : NAMES_NONE;
	}
}

struct field_units *field_units_declared(struct names *n, size_t field_cnt, struct dial9_iter notes)
{
	struct field_units *m = xcalloc(field_cnt, sizeof(*m));
	struct dial9_str key, value;
	uint16_t field;

	for (size_t i = 0; i < field_cnt; i++)
		m[i] = FIELD_UNITS_UNKNOWN;
	while (dial9_annotations_next(&notes, &field, &key, &value) == 1)
		if (field < field_cnt)
			set_note(n, &m[field], key, value);
	return m;
}

void field_units_fill_known(struct names *n, struct dial9_str event, struct dial9_str field,
			    struct field_units *m)
{
	const struct field_note known = own_event_note(event, field);

	if (!m->unit_declared && known.unit)
		set_unit(n, m, own_text(known.unit));
	if (!m->kind_declared && known.kind)
		m->kind = (uint8_t)kind_of(own_text(known.kind));
}

bool field_units_is_common(struct dial9_str key, struct dial9_str value)
{
	if (str_is(key, PROF_NOTE_KIND))
		return kind_of(value) != FIELD_UNITS_NONE;
	return str_is(key, PROF_NOTE_UNIT) && (ns_of(value) || str_is(value, PROF_UNIT_BYTES));
}

const char *field_units_default_names(const struct field_units *m)
{
	if (!m->kind_declared)
		return NULL;
	if (m->kind == FIELD_UNITS_STATE)
		return "&0xff\nzero=R\n|0x1=S\n|0x2=D\n|0x4=T\n|0x8=t\n|0x10=X\n|0x20=Z\n|0x40=P\n|0x80=I\n"
		       "&0x100\nnonzero=+";
	return m->kind == FIELD_UNITS_ADDR ? "hex" : NULL;
}
