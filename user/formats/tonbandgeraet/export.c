// SPDX-License-Identifier: BSD-2-Clause
/*
 * dial9 to Tonbandgerät: "tband." events become the frames that they were, everything else markers.
 *
 * Two passes where the stream can be read twice: the first finds the resolution, the ids in use, the
 * first timestamp and the names that markers will need, so that all metadata stands at the start. A
 * trace that holds only what came from a recording gets nothing added, and comes out as it went in.
 *
 * Time: a recording's own ticks rule where there are any. Otherwise a tick is 1 ns from the first
 * event on, and that event's time is kept as a value. Events that import derived are skipped here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/str.h"
#include "formats/tonbandgeraet/markers.h"
#include "formats/tonbandgeraet/tonband.h"
#include "formats/tonbandgeraet/write.h"

/* First marker id next to a recording whose ids are not known in advance. */
#define STREAMING_FIRST_ID 0x40000000
#define ORIGIN_NAME "dial9 time of tick 0 (ns)"

enum origin { ORIGIN_STRANGER, ORIGIN_RECORDING, ORIGIN_INVALID, ORIGIN_DERIVED, ORIGIN_META };

/* Where a schema keeps what a frame needs; negative: nowhere. */
struct plan {
	struct dial9_schema *schema;
	enum origin origin;
	uint8_t id;
	int num[TONBAND_FIELDS_MAX];
	int core, str, ticks, bytes, frame, ended;
};

struct export
{
	struct dial9_dec *dec; /* of this pass */
	struct tonband_markers *marks;
	struct tonband_write *w;
	struct foreign_notes *notes;
	struct hmap plans; /* by type id */
	bool surveying, streaming;
	bool has_recording, has_strangers, has_origin;
	uint64_t ns_per_ts; /* 0: not known yet */
	bool ns_is_final; /* from the metadata: overrides what frames say */
	uint64_t origin; /* ns of tick 0 */
	uint64_t last_ns; /* of the last event with a time */
	bool has_core;
	uint32_t core; /* out of band, as the metadata has it */
	uint32_t max_evt, max_val; /* highest marker ids of the recording */
	uint64_t schemas;
};

/* ---- plans ------------------------------------------------------------------------------------- */

static uint8_t type_at(const struct dial9_schema *s, int field)
{
	return field < 0 ? 0 : dial9_schema_field_type(s, (size_t)field);
}

static bool is_unsigned(uint8_t type)
{
	return type == DIAL9_VARINT || type == DIAL9_U8 || type == DIAL9_U16 || type == DIAL9_U32;
}

static bool is_text(uint8_t type)
{
	return type == DIAL9_STRING || type == DIAL9_POOLED_STRING;
}

/* True when the schema has all that an event of p->id needs, in types that fit. */
static bool plan_fields(struct plan *p)
{
	const struct tonband_type *t = tonband_event_type(p->id);
	const struct dial9_schema *s = p->schema;
	bool timed = t->has_ts && p->id != TONBAND_CORE_ID;

	p->ticks = dial9_schema_find(s, TONBAND_FIELD_TICKS);
	p->bytes = dial9_schema_find(s, TONBAND_FIELD_BYTES);
	if (dial9_schema_has_timestamp(s) != timed || !is_unsigned(type_at(s, p->core)))
		return false;
	if ((p->ticks >= 0 || p->id == TONBAND_CORE_ID) && !is_unsigned(type_at(s, p->ticks)))
		return false;
	for (int i = 0; i < TONBAND_FIELDS_MAX && t->fields[i].name; i++) {
		uint8_t type;

		p->num[i] = dial9_schema_find(s, t->fields[i].name);
		type = type_at(s, p->num[i]);
		if (t->fields[i].kind == TONBAND_S64 ? type != DIAL9_I64 : !is_unsigned(type))
			return false;
	}
	if (!t->str)
		return true;
	p->str = dial9_schema_find(s, t->str);
	return is_text(type_at(s, p->str)) && (p->bytes < 0 || type_at(s, p->bytes) == DIAL9_BYTES);
}

static enum origin plan_origin(struct plan *p)
{
	struct dial9_str name = dial9_schema_name_n(p->schema);
	int id;

	p->core = dial9_schema_find(p->schema, TONBAND_FIELD_CORE);
	if (!strcmp(name.ptr, TONBAND_META_EVENT))
		return ORIGIN_META;
	if (!str_starts(name.ptr, TONBAND_PREFIX))
		return ORIGIN_STRANGER;
	if (!strcmp(name.ptr, TONBAND_DROPPED))
		return ORIGIN_DERIVED;
	if (!strcmp(name.ptr, TONBAND_INVALID)) {
		p->frame = dial9_schema_find(p->schema, TONBAND_FIELD_FRAME);
		p->ended = dial9_schema_find(p->schema, TONBAND_FIELD_ENDED);
		return is_unsigned(type_at(p->schema, p->core)) &&
				       type_at(p->schema, p->frame) == DIAL9_BYTES &&
				       type_at(p->schema, p->ended) == DIAL9_BOOL ?
			       ORIGIN_INVALID :
			       ORIGIN_STRANGER;
	}
	id = tonband_event_find(name.ptr + strlen(TONBAND_PREFIX),
				name.len - strlen(TONBAND_PREFIX));
	if (id < 0)
		return ORIGIN_STRANGER;
	p->id = (uint8_t)id;
	return plan_fields(p) ? ORIGIN_RECORDING : ORIGIN_STRANGER;
}

static void free_plan(struct plan *p)
{
	if (p)
		dial9_schema_free(p->schema);
	free(p);
}

static struct plan *plan_of(struct export *ex, const struct dial9_event *ev)
{
	struct plan *p = hmap_get(&ex->plans, ev->type_id);

	if (p && p->schema == ev->schema)
		return p;
	free_plan(p);
	p = xcalloc(1, sizeof(*p));
	p->schema = dial9_schema_ref(ev->schema);
	p->str = p->ticks = p->bytes = p->frame = p->ended = -1;
	p->origin = plan_origin(p);
	hmap_set(&ex->plans, ev->type_id, p);
	return p;
}

/* ---- from a recording -------------------------------------------------------------------------- */

static bool number_fits(enum tonband_kind kind, uint64_t v)
{
	if (kind == TONBAND_U32)
		return v <= UINT32_MAX;
	return kind != TONBAND_QUEUE_KIND || tonband_event_queue_kind(v);
}

static uint64_t to_ticks(struct export *ex, const struct plan *p, const struct dial9_event *ev)
{
	uint64_t res = ex->ns_per_ts ?: 1;

	if (p->ticks >= 0)
		return ev->values[p->ticks].u64;
	if (ev->ts % res)
		foreign_note(ex->notes, FOREIGN_NOTE_CHANGED, 1,
			     "times between two ticks, rounded down", "%" PRIu64 " ns", ev->ts);
	return ev->ts / res;
}

/* False when a value does not fit the frame: then the event is exported as a generic one. */
static bool rebuild(struct export *ex, const struct plan *p, const struct dial9_dec *dec,
		    const struct dial9_event *ev, struct tonband_out *out)
{
	const struct tonband_type *t = tonband_event_type(p->id);
	struct dial9_str s = { "", 0 };

	*out = (struct tonband_out){ .exact = true, .has_core = true };
	if (ev->values[p->core].u64 > UINT32_MAX)
		return false;
	out->core = (uint32_t)ev->values[p->core].u64;
	out->ev.id = p->id;
	out->ev.type = t;
	for (int i = 0; i < TONBAND_FIELDS_MAX && t->fields[i].name; i++) {
		const struct dial9_value *v = &ev->values[p->num[i]];

		out->ev.num[i] = v->type == DIAL9_I64 ? (uint64_t)v->i64 : v->u64;
		if (!number_fits(t->fields[i].kind, out->ev.num[i]))
			return false;
	}
	if (t->str) {
		if (p->bytes >= 0)
			s = (struct dial9_str){ ev->values[p->bytes].str.ptr,
						ev->values[p->bytes].str.len };
		else if (dial9_value_str(dec, &ev->values[p->str], &s))
			return false;
		out->ev.str = s.ptr;
		out->ev.str_len = s.len;
	}
	if (t->has_ts)
		out->ev.ts = to_ticks(ex, p, ev);
	return true;
}

static void learn(struct export *ex, const struct tonband_event *ev)
{
	const char *field = ev->type->fields[0].name;
	uint32_t id = (uint32_t)ev->num[0];

	ex->has_recording = true;
	if (ev->id == TONBAND_TS_RESOLUTION_NS && ev->num[0] && !ex->ns_is_final)
		ex->ns_per_ts = ev->num[0];
	if (!strcmp(field, "evtmarker_id") && id > ex->max_evt)
		ex->max_evt = id;
	if (!strcmp(field, "valmarker_id") && id > ex->max_val)
		ex->max_val = id;
}

static int export_invalid(struct export *ex, const struct plan *p, const struct dial9_event *ev)
{
	const struct dial9_value *frame = &ev->values[p->frame];
	struct tonband_out out = { .exact = true,
				   .has_core = true,
				   .core = (uint32_t)ev->values[p->core].u64,
				   .raw = frame->str.len ? frame->str.ptr : "",
				   .raw_sz = frame->str.len,
				   .ended = ev->values[p->ended].b };

	ex->has_recording = true;
	return ex->surveying ? 0 : tonband_write_push(ex->w, &out);
}

/* ---- metadata ---------------------------------------------------------------------------------- */

static bool str_is(struct dial9_str s, const char *want)
{
	return s.len == strlen(want) && !memcmp(s.ptr, want, s.len);
}

static bool parse_number(struct dial9_str s, uint64_t max, uint64_t *out)
{
	char digits[24];

	if (s.len >= sizeof(digits))
		return false;
	memcpy(digits, s.ptr, s.len);
	digits[s.len] = '\0';
	return !str_parse_u64(digits, max, out);
}

/* True when the metadata is what import wrote: then it goes back to where it came from. */
static bool read_meta(struct export *ex, const struct dial9_event *ev)
{
	struct dial9_value key, value;
	uint64_t n, res = 0, core = 0;
	bool ours = false, has_core = false;
	struct dial9_iter it;

	if (ev->value_cnt != 1 || ev->values[0].type != DIAL9_STRING_MAP)
		return false;
	dial9_iter_init(&it, &ev->values[0]);
	while (dial9_map_next(&it, &key, &value) == 1) {
		struct dial9_str k = { key.str.ptr, key.str.len };
		struct dial9_str v = { value.str.ptr, value.str.len };

		if (str_is(k, TONBAND_META_FORMAT) && str_is(v, TONBAND_META_FORMAT_NAME))
			ours = true;
		else if (str_is(k, TONBAND_META_NS_PER_TS) && parse_number(v, UINT64_MAX, &n))
			res = n;
		else if (str_is(k, TONBAND_META_CORE) && parse_number(v, UINT32_MAX, &n))
			has_core = true, core = n;
	}
	if (!ours)
		return false;
	if (res) {
		ex->ns_per_ts = res;
		ex->ns_is_final = true;
	}
	ex->has_core |= has_core;
	ex->core = has_core ? (uint32_t)core : ex->core;
	return true;
}

/* ---- strangers --------------------------------------------------------------------------------- */

static int push(void *ctx, const struct tonband_out *out)
{
	return tonband_write_push(ctx, out);
}

static int put_resolution(struct export *ex)
{
	struct tonband_out out = { .ev = { .id = TONBAND_TS_RESOLUTION_NS, .num = { 1 } } };

	out.ev.type = tonband_event_type(out.ev.id);
	return tonband_write_push(ex->w, &out);
}

/* A recording has its own zero; without one, the first event of a stream or the earliest of a file. */
static void find_origin(struct export *ex, uint64_t ns)
{
	if (ex->has_recording)
		return;
	if (!ex->has_origin || (ex->surveying && ns < ex->origin))
		ex->origin = ns;
	ex->has_origin = true;
}

static int export_stranger(struct export *ex, const struct dial9_dec *dec,
			   const struct dial9_event *ev)
{
	uint64_t ticks = 0;
	bool timed;
	int err = 0;

	if (ex->streaming && !ex->has_recording && !ex->has_strangers)
		err = put_resolution(ex);
	if (err)
		return err;
	/* Symbols and their like are stamped 0: that is no time, and would be a poor origin. */
	timed = ev->has_ts && ev->ts;
	if (timed) {
		ex->last_ns = ev->ts;
		find_origin(ex, ev->ts);
	}
	ex->has_strangers = true;
	if (ex->surveying) {
		tonband_markers_survey(ex->marks, ev);
		return 0;
	}
	if (!timed)
		foreign_note(ex->notes, FOREIGN_NOTE_CHANGED, 1,
			     "events without a time, placed at the one before", NULL);
	if (ex->last_ns > ex->origin)
		ticks = (ex->last_ns - ex->origin) / (ex->ns_per_ts ?: 1);
	if (timed && ex->ns_per_ts > 1 && (ev->ts - ex->origin) % ex->ns_per_ts)
		foreign_note(ex->notes, FOREIGN_NOTE_CHANGED, 1,
			     "times between two ticks, rounded down", "%" PRIu64 " ns", ev->ts);
	return tonband_markers_event(ex->marks, dec, ev, ticks, push, ex->w, ex->notes);
}

static int export_event(struct export *ex, const struct dial9_dec *dec,
			const struct dial9_event *ev)
{
	const struct plan *p = plan_of(ex, ev);
	struct tonband_out out;

	switch (p->origin) {
	case ORIGIN_DERIVED:
		return 0;
	case ORIGIN_META:
		if (read_meta(ex, ev))
			return 0;
		break;
	case ORIGIN_INVALID:
		return export_invalid(ex, p, ev);
	case ORIGIN_RECORDING:
		if (!rebuild(ex, p, dec, ev, &out))
			break;
		learn(ex, &out.ev);
		if (ev->has_ts)
			ex->last_ns = ev->ts;
		return ex->surveying ? 0 : tonband_write_push(ex->w, &out);
	case ORIGIN_STRANGER:
		break;
	}
	return export_stranger(ex, dec, ev);
}

/* ---- passes ------------------------------------------------------------------------------------ */

/* Leaves the decoder in ex->dec, which knows what stopped it. */
static int read_all(struct export *ex, const struct foreign_input *in)
{
	struct dial9_frame f;
	int err, ret = 1;

	dial9_dec_free(ex->dec);
	ex->dec = NULL;
	err = foreign_open_dec(in, &ex->dec);
	while (!err && (ret = dial9_dec_next(ex->dec, &f)) == 1) {
		if (f.kind == DIAL9_FRAME_EVENT)
			err = export_event(ex, ex->dec, &f.event);
		else if (f.kind == DIAL9_FRAME_SCHEMA)
			ex->schemas++;
	}
	return err ? err : ret;
}

/* Without a recording we say what a tick is, and what time tick 0 was. */
static int put_head(struct export *ex)
{
	struct tonband_out out = { 0 };
	uint32_t evt = ex->has_recording ? ex->max_evt + 1 : 1;
	uint32_t val = ex->has_recording ? ex->max_val + 1 : 2;
	int err = 0;

	if (!ex->has_strangers)
		return 0;
	if (evt > STREAMING_FIRST_ID || val > STREAMING_FIRST_ID) {
		foreign_note(ex->notes, FOREIGN_NOTE_HINT, 1,
			     "marker ids that may equal marker ids of the recording", NULL);
		evt = val = STREAMING_FIRST_ID;
	}
	if (!ex->has_recording)
		err = put_resolution(ex);
	if (!err && ex->has_origin) {
		out.ev = (struct tonband_event){ .id = TONBAND_VALMARKER_NAME,
						 .num = { 1 },
						 .str = ORIGIN_NAME,
						 .str_len = strlen(ORIGIN_NAME) };
		out.ev.type = tonband_event_type(out.ev.id);
		err = tonband_write_push(ex->w, &out);
	}
	if (!err)
		err = tonband_markers_names(ex->marks, evt, val, push, ex->w);
	if (!err && ex->has_origin && ex->origin <= INT64_MAX) {
		out.ev =
			(struct tonband_event){ .id = TONBAND_VALMARKER, .num = { 1, ex->origin } };
		out.ev.type = tonband_event_type(out.ev.id);
		err = tonband_write_push(ex->w, &out);
	}
	return err;
}

static int conclude(struct export *ex, const struct foreign_input *in, int ret)
{
	struct dial9_error where = { 0 };
	uint64_t spans = tonband_markers_open_spans(ex->marks);
	int err = tonband_write_finish(ex->w);

	if (ex->has_strangers)
		foreign_note(ex->notes, FOREIGN_NOTE_NOT_KEPT, ex->schemas,
			     "schemas: field types and order are only in the text", NULL);
	if (spans)
		foreign_note(ex->notes, FOREIGN_NOTE_HINT, spans, "spans that never ended", NULL);
	if (ex->has_core && ex->core)
		foreign_note(ex->notes, FOREIGN_NOTE_HINT, 1,
			     "core that the file itself does not say: name it FILE@CORE",
			     "core %" PRIu32, ex->core);
	if (ex->dec)
		dial9_dec_error(ex->dec, &where);
	ret = foreign_end_dec(in, ret, &where, ex->notes);
	return err ? err : ret;
}

static int survey(struct export *ex, const struct foreign_input *in)
{
	struct foreign_notes *notes = ex->notes, unused = { 0 };
	int ret;

	ex->notes = &unused;
	ex->surveying = true;
	ret = read_all(ex, in);
	ex->surveying = false;
	ex->notes = notes;
	foreign_notes_fini(&unused);
	ex->schemas = ex->last_ns = 0;
	/* Times of strangers in a recording's company count from the recording's zero. */
	if (ex->has_recording)
		ex->has_origin = false, ex->origin = 0;
	/* The second pass reports damage. */
	if (ret && ret != -ENODATA && !foreign_is_stop(ret))
		return ret;
	return in->rewind(in->ctx);
}

static void export_free(struct export *ex)
{
	uint64_t key;
	size_t pos = 0;
	void *p;

	while (hmap_next(&ex->plans, &pos, &key, &p))
		free_plan(p);
	hmap_fini(&ex->plans);
	tonband_markers_free(ex->marks);
	tonband_write_free(ex->w);
	dial9_dec_free(ex->dec);
}

int tonband_export(const struct foreign_input *in, const struct foreign_opts *opts,
		   dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	struct export ex = { .notes = notes, .streaming = !in->rewind };
	int err = 0;

	hmap_init(&ex.plans);
	tonband_markers_new(&ex.marks);
	if (in->rewind)
		err = survey(&ex, in);
	if (!err) {
		tonband_write_new(write, ctx, notes, ex.has_core ? ex.core : 0, in->rewind != NULL,
				  &ex.w);
		err = in->rewind ? put_head(&ex) :
				   tonband_markers_names(ex.marks, STREAMING_FIRST_ID,
							 STREAMING_FIRST_ID, push, ex.w);
	}
	if (!err) {
		err = read_all(&ex, in);
		err = conclude(&ex, in, err);
	}
	export_free(&ex);
	return err;
}
