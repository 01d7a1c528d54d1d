// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any dial9 event in the two words that the format has for strangers: markers, which carry text and
 * may have a begin and an end, and values, which carry one signed number.
 *
 * Each event type is a marker id of its name, with all fields as "key=value" text, and each of its
 * integers that could be plotted is a value id "type.field". Spans and polls become begin and end; a
 * reader pairs those by marker id alone, strictly nested, so each worker has an id of its own for
 * them. Other types are converted to text, and counted; only the end of messages over 64 KiB is
 * dropped.
 *
 * The text is exact where it can be: integers in full, floating point with all digits, text as it is
 * when it has nothing that "key=value" would trip over and quoted as in JSON otherwise, bytes in hex,
 * addresses in hex, lists and maps as JSON. Work stops at the limit, however long a value claims to be.
 */
#include "formats/tonbandgeraet/markers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/str.h"
#include "base/strtab.h"
#include "trace/read/value.h"

#define IDS_MAX 65536 /* of markers, and of values: what is beyond shares one */
#define NO_ID UINT32_MAX
#define WORKER_UNKNOWN 255 /* what Tokio's recorder writes for "not on a worker" */

enum shape { SHAPE_INSTANT, SHAPE_BEGIN, SHAPE_END };

/* What is the same for all events of a schema. */
struct plan {
	struct dial9_schema *schema;
	enum shape shape;
	uint32_t marker; /* of instants */
	char *span; /* of spans: the name without the worker */
	int worker, core; /* field indexes, or negative */
	uint32_t *values; /* a field's value id, or NO_ID */
};

struct ids {
	struct strtab tab;
	uint32_t first; /* id of tab's entry 0 */
	uint32_t named; /* number of ids with a written name */
};

struct tonband_markers {
	struct hmap plans; /* by type id */
	struct ids markers, values;
	uint32_t *depths; /* of open spans, by marker */
	size_t depths_cap;
	struct buf key, text;
};

void tonband_markers_new(struct tonband_markers **out)
{
	struct tonband_markers *m = xcalloc(1, sizeof(*m));

	hmap_init(&m->plans);
	strtab_init(&m->markers.tab);
	strtab_init(&m->values.tab);
	*out = m;
}

static void free_plan(struct plan *p)
{
	if (!p)
		return;
	dial9_schema_free(p->schema);
	free(p->span);
	free(p->values);
	free(p);
}

void tonband_markers_free(struct tonband_markers *m)
{
	uint64_t key;
	size_t pos = 0;
	void *p;

	if (!m)
		return;
	while (hmap_next(&m->plans, &pos, &key, &p))
		free_plan(p);
	hmap_fini(&m->plans);
	strtab_fini(&m->markers.tab);
	strtab_fini(&m->values.tab);
	free(m->depths);
	buf_free(&m->key);
	buf_free(&m->text);
	free(m);
}

/* Bytes of a message; what goes beyond is cut and counted. */
#define TEXT_MAX (64 * 1024)

/* ---- text ---------------------------------------------------------------------------------------- */

static bool is_full(const struct buf *out)
{
	return out->len > TEXT_MAX;
}

static bool is_plain(const char *s, size_t n)
{
	if (!n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == '"' || s[i] == '=' || s[i] == 0x7f)
			return false;
	return str_utf8_valid_len(s, n) == n;
}

static void put_str(struct buf *out, struct dial9_str s, bool nested)
{
	size_t n = s.len < TEXT_MAX ? s.len : TEXT_MAX + 1;

	if (!nested && is_plain(s.ptr, n))
		buf_add(out, s.ptr, n);
	else
		str_json(out, s.ptr, n);
}

static void put_hex(struct buf *out, const void *p, size_t n)
{
	size_t room = is_full(out) ? 0 : (TEXT_MAX - out->len) / 2 + 1;

	str_hex(out, p, n < room ? n : room);
}

static void put_pooled(struct buf *out, const struct dial9_value *v, bool defined)
{
	if (!defined)
		buf_printf(out, "#%" PRIu32, v->id);
}

static const struct value_style style = {
	VALUE_STYLE_PLAIN,	.absent = "",	    .sep = ",",
	.colon = ":",		.hex_frames = true, .max = TEXT_MAX,
	.f64 = value_print_f64, .text = put_str,    .bytes = put_hex,
	.pooled = put_pooled,
};

/* What a reader of the text cannot know any more. */
static void note_type(const struct dial9_dec *dec, const struct dial9_value *v,
		      struct foreign_notes *notes)
{
	static const char *const kinds[] = {
		[DIAL9_F64] = "floating-point numbers, as text",
		[DIAL9_BYTES] = "bytes, as text",
		[DIAL9_POOLED_STACK] = "stacks, as text",
		[DIAL9_STACK] = "stacks, as text",
		[DIAL9_STRING_MAP] = "maps, as text",
		[DIAL9_LIST] = "lists, as text",
		[DIAL9_MAP] = "maps, as text",
	};

	struct dial9_str s;

	if (v->type < sizeof(kinds) / sizeof(kinds[0]) && kinds[v->type])
		foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, kinds[v->type], NULL);
	if (v->bad_utf8 ||
	    (!dial9_value_str(dec, v, &s) && str_utf8_valid_len(s.ptr, s.len) != s.len))
		foreign_note(notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     "bytes of text that is not UTF-8, replaced", NULL);
}

/*
 * Append the fields as "key=value key=value", always valid UTF-8 and never more than TEXT_MAX. Values
 * of types without a text form are counted in notes, absent values are skipped.
 */
static void put_text(struct buf *out, const struct dial9_dec *dec, const struct dial9_event *ev,
		     struct foreign_notes *notes)
{
	size_t valid;

	for (size_t i = 0; i < ev->value_cnt && !is_full(out); i++) {
		struct dial9_str name = dial9_schema_field_name_n(ev->schema, i);

		if (!ev->values[i].type) {
			foreign_note(notes, FOREIGN_NOTE_CHANGED, 1,
				     "optional fields without a value, skipped", NULL);
			continue;
		}
		if (out->len)
			buf_addch(out, ' ');
		put_str(out, name, false);
		buf_addch(out, '=');
		value_print(out, &style, dec, &ev->values[i]);
		note_type(dec, &ev->values[i], notes);
	}
	if (is_full(out)) {
		foreign_note(notes, FOREIGN_NOTE_NOT_KEPT, 1, "ends of messages beyond 64 KiB",
			     NULL);
		valid = str_utf8_valid_len(out->data, TEXT_MAX);
		out->len = valid;
	}
}

/* ---- ids and names ----------------------------------------------------------------------------- */

static uint32_t intern(struct ids *ids, const char *s, size_t len)
{
	static const char other[] = "(other)";

	if (ids->tab.cnt >= IDS_MAX && strtab_find(&ids->tab, s, len) == UINT32_MAX)
		return strtab_add(&ids->tab, other, sizeof(other) - 1);
	return strtab_add(&ids->tab, s, len);
}

/* Entries get their names in order, so one number says which have theirs. */
static int put_names(struct ids *ids, uint32_t upto, uint8_t name_id, tonband_markers_fn put,
		     void *ctx)
{
	int err = 0;

	for (; ids->named < upto && !err; ids->named++) {
		struct tonband_out out = { .ev = { .id = name_id } };

		out.ev.type = tonband_event_type(name_id);
		out.ev.num[0] = ids->first + ids->named;
		out.ev.str = strtab_get(&ids->tab, ids->named, &out.ev.str_len);
		err = put(ctx, &out);
	}
	return err;
}

int tonband_markers_names(struct tonband_markers *m, uint32_t first_evt, uint32_t first_val,
			  tonband_markers_fn put, void *ctx)
{
	int err;

	m->markers.first = first_evt;
	m->values.first = first_val;
	err = put_names(&m->markers, m->markers.tab.cnt, TONBAND_EVTMARKER_NAME, put, ctx);
	if (err)
		return err;
	return put_names(&m->values, m->values.tab.cnt, TONBAND_VALMARKER_NAME, put, ctx);
}

/* ---- plans ------------------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

/* A number that only says which, and means nothing on an axis. */
static bool is_id_name(const char *name)
{
	static const char *const whole[] = {
		"id",  "pid",	     "tid",	   "tgid", "ppid",
		"cpu", "common_cpu", "common_pid", "addr", "base_addr"
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	return ends_with(name, "_id") || ends_with(name, "_pid") || ends_with(name, "_tid");
}

static bool is_integer(uint8_t type)
{
	type &= (uint8_t)~DIAL9_OPTIONAL;
	return type == DIAL9_VARINT || type == DIAL9_U8 || type == DIAL9_U16 || type == DIAL9_U32 ||
	       type == DIAL9_I64;
}

static void plan_values(struct tonband_markers *m, struct plan *p)
{
	struct dial9_str name = dial9_schema_name_n(p->schema);
	size_t cnt = dial9_schema_field_cnt(p->schema);

	p->values = xcalloc(cnt ? cnt : 1, sizeof(*p->values));
	for (size_t i = 0; i < cnt; i++) {
		struct dial9_str field = dial9_schema_field_name_n(p->schema, i);

		p->values[i] = NO_ID;
		if (!is_integer(dial9_schema_field_type(p->schema, i)) || is_id_name(field.ptr))
			continue;
		buf_clear(&m->key);
		buf_add(&m->key, name.ptr, name.len);
		buf_addch(&m->key, '.');
		buf_add(&m->key, field.ptr, field.len);
		p->values[i] = intern(&m->values, m->key.data, m->key.len);
	}
}

static void plan_shape(struct tonband_markers *m, struct plan *p)
{
	struct dial9_str name = dial9_schema_name_n(p->schema);

	if (str_starts(name.ptr, "SpanEnter:")) {
		p->shape = SHAPE_BEGIN;
		p->span = xstrdup(name.ptr + strlen("SpanEnter:"));
	} else if (str_starts(name.ptr, "SpanExit:")) {
		p->shape = SHAPE_END;
		p->span = xstrdup(name.ptr + strlen("SpanExit:"));
	} else if (!strcmp(name.ptr, "PollStartEvent")) {
		p->shape = SHAPE_BEGIN;
		p->span = xstrdup("Poll");
	} else if (!strcmp(name.ptr, "PollEndEvent")) {
		p->shape = SHAPE_END;
		p->span = xstrdup("Poll");
	} else {
		p->marker = intern(&m->markers, name.ptr, name.len);
	}
}

static struct plan *plan_of(struct tonband_markers *m, const struct dial9_event *ev)
{
	struct plan *p = hmap_get(&m->plans, ev->type_id);

	if (p && p->schema == ev->schema)
		return p;
	free_plan(p);
	p = xcalloc(1, sizeof(*p));
	p->schema = dial9_schema_ref(ev->schema);
	p->worker = dial9_schema_find(ev->schema, "worker_id");
	p->core = dial9_schema_find(ev->schema, "common_cpu");
	if (p->core < 0)
		p->core = dial9_schema_find(ev->schema, "cpu");
	plan_shape(m, p);
	plan_values(m, p);
	hmap_set(&m->plans, ev->type_id, p);
	return p;
}

/* ---- events ------------------------------------------------------------------------------------ */

static bool small_number(const struct dial9_event *ev, int field, uint32_t *out)
{
	const struct dial9_value *v = field < 0 ? NULL : &ev->values[field];

	if (!v || !is_integer(v->type) || v->type == DIAL9_I64 || v->u64 > UINT32_MAX)
		return false;
	*out = (uint32_t)v->u64;
	return true;
}

static bool core_of(const struct plan *p, const struct dial9_event *ev, uint32_t *core)
{
	if (small_number(ev, p->worker, core) && *core != WORKER_UNKNOWN)
		return true;
	return small_number(ev, p->core, core);
}

static uint32_t marker_of(struct tonband_markers *m, const struct plan *p,
			  const struct dial9_event *ev)
{
	uint32_t worker;

	if (p->shape == SHAPE_INSTANT)
		return p->marker;
	buf_clear(&m->key);
	buf_addstr(&m->key, p->span);
	if (small_number(ev, p->worker, &worker))
		buf_printf(&m->key, " (worker %" PRIu32 ")", worker);
	return intern(&m->markers, m->key.data, m->key.len);
}

void tonband_markers_survey(struct tonband_markers *m, const struct dial9_event *ev)
{
	marker_of(m, plan_of(m, ev), ev);
}

/* An end without its begin would end another span, so it becomes an instant. */
static uint8_t marker_type(struct tonband_markers *m, enum shape shape, uint32_t marker,
			   struct foreign_notes *notes)
{
	size_t old = m->depths_cap;

	if (shape == SHAPE_INSTANT)
		return TONBAND_EVTMARKER;
	m->depths =
		array_reserve(m->depths, &m->depths_cap, (size_t)marker + 1, sizeof(*m->depths));
	memset(m->depths + old, 0, (m->depths_cap - old) * sizeof(*m->depths));
	if (shape == SHAPE_BEGIN) {
		m->depths[marker]++;
		return TONBAND_EVTMARKER_BEGIN;
	}
	if (m->depths[marker]) {
		m->depths[marker]--;
		return TONBAND_EVTMARKER_END;
	}
	foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, "ends of spans without a begin, as instants",
		     NULL);
	return TONBAND_EVTMARKER;
}

uint64_t tonband_markers_open_spans(const struct tonband_markers *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->depths_cap; i++)
		sum += m->depths[i];
	return sum;
}

static int put_values(struct tonband_markers *m, const struct plan *p, const struct dial9_event *ev,
		      struct tonband_out *out, tonband_markers_fn put, void *ctx,
		      struct foreign_notes *notes)
{
	int err = 0;

	out->ev.id = TONBAND_VALMARKER;
	out->ev.type = tonband_event_type(TONBAND_VALMARKER);
	out->ev.str = NULL;
	out->ev.str_len = 0;
	for (size_t i = 0; i < ev->value_cnt && !err; i++) {
		const struct dial9_value *v = &ev->values[i];

		if (p->values[i] == NO_ID || !v->type)
			continue;
		if (v->type != DIAL9_I64 && v->u64 > INT64_MAX) {
			foreign_note(notes, FOREIGN_NOTE_CHANGED, 1,
				     "numbers above 2^63 - 1, as text only", NULL);
			continue;
		}
		out->ev.num[0] = m->values.first + p->values[i];
		out->ev.num[1] = v->type == DIAL9_I64 ? (uint64_t)v->i64 : v->u64;
		err = put(ctx, out);
	}
	return err;
}

int tonband_markers_event(struct tonband_markers *m, const struct dial9_dec *dec,
			  const struct dial9_event *ev, uint64_t ticks, tonband_markers_fn put,
			  void *ctx, struct foreign_notes *notes)
{
	const struct plan *p = plan_of(m, ev);
	uint32_t marker = marker_of(m, p, ev);
	struct tonband_out out = { 0 };
	int err;

	err = put_names(&m->markers, m->markers.tab.cnt, TONBAND_EVTMARKER_NAME, put, ctx);
	if (!err)
		err = put_names(&m->values, m->values.tab.cnt, TONBAND_VALMARKER_NAME, put, ctx);
	if (err)
		return err;
	out.has_core = core_of(p, ev, &out.core);
	out.ev.id = marker_type(m, p->shape, marker, notes);
	out.ev.type = tonband_event_type(out.ev.id);
	out.ev.ts = ticks;
	out.ev.num[0] = m->markers.first + marker;
	buf_clear(&m->text);
	put_text(&m->text, dec, ev, notes);
	if (out.ev.type->str) {
		out.ev.str = buf_cstr(&m->text);
		out.ev.str_len = m->text.len;
	} else if (ev->value_cnt > (p->worker >= 0)) {
		/* An end has no message: its fields except the worker precede it, as an instant. */
		struct tonband_out words = out;

		words.ev.id = TONBAND_EVTMARKER;
		words.ev.type = tonband_event_type(TONBAND_EVTMARKER);
		words.ev.str = buf_cstr(&m->text);
		words.ev.str_len = m->text.len;
		err = put(ctx, &words);
	}
	if (!err)
		err = put(ctx, &out);
	if (!err)
		err = put_values(m, p, ev, &out, put, ctx, notes);
	return err;
}
