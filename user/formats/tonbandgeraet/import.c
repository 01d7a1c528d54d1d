// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tonbandgerät recordings as dial9 events, one for one, so that the way back is exact.
 *
 * Two passes where the inputs can be read twice: the first collects names and the resolution, which may
 * come after the events that need them, the second encodes. A live capture has one pass, so only names
 * before an event are known. Several inputs are merged by time without holding more than
 * one event of each; within an input the order of the file is kept.
 *
 * ns are exact if ticks times resolution fits 64 bits; an event for which that fails (or whose
 * resolution is not yet known) is written in a second layout that has the ticks too. Text that is not
 * UTF-8, which is what a target leaves when it cuts a string, likewise has a layout with its bytes.
 * core_id has a time in the format, but it is 0 whenever streaming begins: it is kept as a plain
 * number, so that it does not tear the timeline.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "formats/tonbandgeraet/frames.h"
#include "formats/tonbandgeraet/state.h"
#include "formats/tonbandgeraet/tonband.h"

/* Layouts of one event type. */
#define WITH_TICKS 1
#define WITH_BYTES 2
#define LAYOUTS 4

#define FIELDS_MAX 10

struct source_of {
	const struct foreign_input *in;
	struct tonband_frames *scan;
	struct tonband_item item;
	bool has_item;
	uint64_t events, invalid;
};

struct import {
	const struct foreign_opts *opts;
	struct dial9_enc *enc;
	struct foreign_notes *notes;
	struct tonband_state *state;
	struct source_of *srcs;
	size_t cnt;
	size_t core_cnt; /* of the first pass */
	struct dial9_schema *schemas[256][LAYOUTS];
	struct dial9_schema *meta, *dropped, *invalid, *invalid_no_ts;
	bool has_ts; /* some event had one; last_ts is its ns */
	uint64_t last_ts;
	uint64_t dropped_total;
	struct buf text;
};

/* ---- schemas ----------------------------------------------------------------------------------- */

static uint8_t field_type(enum tonband_kind kind)
{
	switch (kind) {
	case TONBAND_U32:
		return DIAL9_U32;
	case TONBAND_U64:
		return DIAL9_VARINT;
	case TONBAND_S64:
		return DIAL9_I64;
	case TONBAND_QUEUE_KIND:
		return DIAL9_U8;
	case TONBAND_STR:
		break;
	}
	return DIAL9_STRING;
}

static bool is_core_id(const struct tonband_event *ev)
{
	return ev->id == TONBAND_CORE_ID;
}

static int make_schema(uint8_t id, int layout, struct dial9_schema **out)
{
	const struct tonband_type *t = tonband_event_type(id);
	struct dial9_field f[FIELDS_MAX];
	char name[64] = TONBAND_PREFIX;
	size_t n = 0;

	strncat(name, t->name, sizeof(name) - sizeof(TONBAND_PREFIX));
	f[n++] = (struct dial9_field){ TONBAND_FIELD_CORE, DIAL9_U32 };
	for (int i = 0; i < TONBAND_FIELDS_MAX && t->fields[i].name; i++) {
		f[n++] = (struct dial9_field){ t->fields[i].name, field_type(t->fields[i].kind) };
		if (t->fields[i].kind == TONBAND_QUEUE_KIND)
			f[n++] = (struct dial9_field){ "kind_name", DIAL9_POOLED_STRING };
	}
	/* Names repeat and are few; messages may all differ, and a pool of them would only grow. */
	if (t->str)
		f[n++] = (struct dial9_field){ t->str,
					       t->has_ts ? DIAL9_STRING : DIAL9_POOLED_STRING };
	if (tonband_state_is_nameable(id))
		f[n++] = (struct dial9_field){ "name", DIAL9_POOLED_STRING | DIAL9_OPTIONAL };
	if (tonband_state_is_of_task(id)) {
		f[n++] = (struct dial9_field){ "task", DIAL9_U32 | DIAL9_OPTIONAL };
		f[n++] = (struct dial9_field){ "task_name", DIAL9_POOLED_STRING | DIAL9_OPTIONAL };
	}
	if (layout & WITH_TICKS)
		f[n++] = (struct dial9_field){ TONBAND_FIELD_TICKS, DIAL9_VARINT };
	if (layout & WITH_BYTES)
		f[n++] = (struct dial9_field){ TONBAND_FIELD_BYTES, DIAL9_BYTES };
	return dial9_schema_new(name, t->has_ts && id != TONBAND_CORE_ID, f, n, out);
}

static int make_fixed_schemas(struct import *im)
{
	static const struct dial9_field meta[] = { { "entries", DIAL9_STRING_MAP } };
	static const struct dial9_field dropped[] = { { TONBAND_FIELD_CORE, DIAL9_U32 },
						      { "lost", DIAL9_VARINT },
						      { "total", DIAL9_VARINT } };
	static const struct dial9_field invalid[] = { { TONBAND_FIELD_CORE, DIAL9_U32 },
						      { "error", DIAL9_POOLED_STRING },
						      { "offset", DIAL9_VARINT },
						      { TONBAND_FIELD_ENDED, DIAL9_BOOL },
						      { TONBAND_FIELD_FRAME, DIAL9_BYTES } };
	int err;

	err = dial9_schema_new(TONBAND_META_EVENT, true, meta, 1, &im->meta);
	if (!err)
		err = dial9_schema_new(TONBAND_DROPPED, true, dropped, 3, &im->dropped);
	if (!err)
		err = dial9_schema_new(TONBAND_INVALID, true, invalid, 5, &im->invalid);
	if (!err)
		err = dial9_schema_new(TONBAND_INVALID, false, invalid, 5, &im->invalid_no_ts);
	return err;
}

static int get_schema(struct import *im, uint8_t id, int layout, const struct dial9_schema **out)
{
	struct dial9_schema **slot = &im->schemas[id][layout];
	int err = *slot ? 0 : make_schema(id, layout, slot);

	*out = *slot;
	return err;
}

/* ---- one event --------------------------------------------------------------------------------- */

static void put_text(struct dial9_enc *enc, struct buf *text, struct tonband_str name)
{
	if (!name.s) {
		dial9_enc_put_none(enc);
		return;
	}
	if (str_utf8_valid_len(name.s, name.len) == name.len) {
		dial9_enc_put_str(enc, name.s, name.len);
		return;
	}
	buf_clear(text);
	str_escape_utf8(text, name.s, name.len);
	dial9_enc_put_str(enc, buf_cstr(text), text->len);
}

static void put_task(struct import *im, uint32_t core)
{
	uint32_t task;

	if (!tonband_state_task(im->state, core, &task)) {
		dial9_enc_put_none(im->enc);
		dial9_enc_put_none(im->enc);
		return;
	}
	dial9_enc_put_u64(im->enc, task);
	put_text(im->enc, &im->text, tonband_state_task_name(im->state, task));
}

/* An error of a put stays with the event and comes back from dial9_enc_end(). */
static int put_event(struct import *im, const struct tonband_item *item, int layout, uint64_t ns)
{
	const struct tonband_event *ev = &item->ev;
	const struct tonband_type *t = ev->type;
	const struct dial9_schema *schema;
	struct dial9_enc *enc = im->enc;
	int err;

	err = get_schema(im, ev->id, layout, &schema);
	if (err)
		return err;
	err = dial9_enc_begin(enc, schema, ns);
	if (err)
		return err;
	dial9_enc_put_u64(enc, item->core);
	for (int i = 0; i < TONBAND_FIELDS_MAX && t->fields[i].name; i++) {
		if (t->fields[i].kind == TONBAND_S64)
			dial9_enc_put_i64(enc, (int64_t)ev->num[i]);
		else
			dial9_enc_put_u64(enc, ev->num[i]);
		if (t->fields[i].kind == TONBAND_QUEUE_KIND) {
			const char *kind = tonband_event_queue_kind(ev->num[i]);

			dial9_enc_put_str(enc, kind, strlen(kind));
		}
	}
	if (t->str)
		put_text(enc, &im->text, (struct tonband_str){ ev->str, ev->str_len });
	if (tonband_state_is_nameable(ev->id))
		put_text(enc, &im->text, tonband_state_name(im->state, item));
	if (tonband_state_is_of_task(ev->id))
		put_task(im, item->core);
	if (layout & WITH_TICKS)
		dial9_enc_put_u64(enc, ev->ts);
	if (layout & WITH_BYTES)
		dial9_enc_put_bytes(enc, ev->str, ev->str_len);
	return dial9_enc_end(enc);
}

/* True when the ns give the ticks back. */
static bool to_ns(struct import *im, uint64_t ticks, uint64_t *ns)
{
	uint64_t res = tonband_state_ns_per_ts(im->state);

	if (!res) {
		*ns = ticks;
		return !im->opts->follow;
	}
	if (!__builtin_mul_overflow(ticks, res, ns))
		return true;
	*ns = UINT64_MAX;
	foreign_note(im->notes, FOREIGN_NOTE_CHANGED, 1,
		     "timestamps beyond 64 bits of ns, saturated (ticks kept)",
		     "%" PRIu64 " ticks of %" PRIu64 " ns", ticks, res);
	return false;
}

static int put_dropped(struct import *im, uint32_t core, uint64_t lost, uint64_t ns)
{
	const struct dial9_value v[] = {
		{ .type = DIAL9_U32, .u64 = core },
		{ .type = DIAL9_VARINT, .u64 = lost },
		{ .type = DIAL9_VARINT, .u64 = im->dropped_total += lost },
	};

	foreign_note(im->notes, FOREIGN_NOTE_DROPPED, lost, "events that the target dropped", NULL);
	return dial9_enc_write(im->enc, im->dropped, ns, v, 3);
}

/* ---- facts of the files ------------------------------------------------------------------------ */

static void add_entry(struct dial9_str (*kv)[2], size_t *n, const char *key, const char *value)
{
	kv[*n][0] = (struct dial9_str){ key, strlen(key) };
	kv[(*n)++][1] = (struct dial9_str){ value, strlen(value) };
}

/* Written with the first timestamp, so that it stands at the start of the timeline. */
static int put_meta(struct import *im, uint64_t ns)
{
	char res[24], cores[24], frames[24], bad[24], core[24];
	uint64_t events = 0, invalid = 0;
	struct dial9_str kv[8][2];
	size_t n = 0;
	int err;

	add_entry(kv, &n, TONBAND_META_FORMAT, TONBAND_META_FORMAT_NAME);
	add_entry(kv, &n, "tband.carrier", tonband_frames_encoding(im->srcs[0].scan));
	if (im->cnt == 1 && im->srcs[0].in->has_core) {
		snprintf(core, sizeof(core), "%" PRIu32, im->srcs[0].in->core);
		add_entry(kv, &n, TONBAND_META_CORE, core);
	}
	if (!im->opts->follow) {
		for (size_t i = 0; i < im->cnt; i++) {
			events += im->srcs[i].events;
			invalid += im->srcs[i].invalid;
		}
		snprintf(frames, sizeof(frames), "%" PRIu64, events + invalid);
		snprintf(bad, sizeof(bad), "%" PRIu64, invalid);
		snprintf(cores, sizeof(cores), "%zu", im->core_cnt);
		snprintf(res, sizeof(res), "%" PRIu64,
			 tonband_state_ns_per_ts(im->state) ?: UINT64_C(1));
		add_entry(kv, &n, "tband.frames", frames);
		add_entry(kv, &n, "tband.invalid_frames", bad);
		add_entry(kv, &n, "tband.cores", cores);
		add_entry(kv, &n, TONBAND_META_NS_PER_TS, res);
	}
	err = dial9_enc_begin(im->enc, im->meta, ns);
	if (err)
		return err;
	dial9_enc_put_map(im->enc, kv, n);
	return dial9_enc_end(im->enc);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static int import_invalid(struct import *im, const struct source_of *src)
{
	const struct tonband_item *item = &src->item;
	const struct dial9_schema *schema = im->has_ts ? im->invalid : im->invalid_no_ts;
	int err;

	foreign_note(im->notes, FOREIGN_NOTE_DAMAGED, 1, item->why, "%s: byte %" PRIu64,
		     src->in->name, item->offset);
	if (item->skipped)
		foreign_note(im->notes, FOREIGN_NOTE_NOT_KEPT, item->skipped,
			     "bytes of frames too long to keep", NULL);
	err = dial9_enc_begin(im->enc, schema, im->last_ts);
	if (err)
		return err;
	dial9_enc_put_u64(im->enc, item->core);
	dial9_enc_put_str(im->enc, item->why, strlen(item->why));
	dial9_enc_put_u64(im->enc, item->offset);
	dial9_enc_put_bool(im->enc, item->ended);
	dial9_enc_put_bytes(im->enc, item->frame, item->frame_sz);
	return dial9_enc_end(im->enc);
}

static int import_event(struct import *im, const struct source_of *src)
{
	const struct tonband_item *item = &src->item;
	const struct tonband_event *ev = &item->ev;
	uint64_t ns = 0, lost;
	int layout = 0, err = 0;

	lost = tonband_state_step(im->state, item, im->notes);
	if (im->opts->follow)
		tonband_state_learn(im->state, item, im->notes);
	if (is_core_id(ev)) {
		layout |= WITH_TICKS;
	} else if (ev->type->has_ts) {
		if (!to_ns(im, ev->ts, &ns))
			layout |= WITH_TICKS;
		if (!im->has_ts)
			err = put_meta(im, ns);
		if (err)
			return err;
		im->has_ts = true;
		im->last_ts = ns;
	}
	if (ev->type->str && str_utf8_valid_len(ev->str, ev->str_len) != ev->str_len) {
		layout |= WITH_BYTES;
		foreign_note(im->notes, FOREIGN_NOTE_CHANGED, 1,
			     "texts that are not UTF-8, escaped (bytes kept)", "%s: byte %" PRIu64,
			     src->in->name, item->offset);
	}
	err = put_event(im, item, layout, ns);
	if (!err && lost)
		err = put_dropped(im, item->core, lost, ns);
	return err;
}

/* ---- passes ------------------------------------------------------------------------------------ */

static int refill(struct source_of *src)
{
	int ret = tonband_frames_next(src->scan, &src->item);

	src->has_item = ret == 1;
	return ret < 0 ? ret : 0;
}

/* What has no time goes at once, so that it keeps its place in its file. */
static bool goes_before(const struct tonband_item *a, const struct tonband_item *b)
{
	bool a_timed = !a->why && a->ev.type->has_ts && !is_core_id(&a->ev);
	bool b_timed = !b->why && b->ev.type->has_ts && !is_core_id(&b->ev);

	if (!a_timed || !b_timed)
		return !a_timed && b_timed;
	return a->ev.ts != b->ev.ts ? a->ev.ts < b->ev.ts : a->core < b->core;
}

static struct source_of *pick(struct import *im)
{
	struct source_of *best = NULL;

	for (size_t i = 0; i < im->cnt; i++)
		if (im->srcs[i].has_item && (!best || goes_before(&im->srcs[i].item, &best->item)))
			best = &im->srcs[i];
	return best;
}

static void open_scans(struct import *im, struct foreign_notes *notes)
{
	for (size_t i = 0; i < im->cnt; i++) {
		tonband_frames_free(im->srcs[i].scan);
		tonband_frames_new(im->srcs[i].in, notes, &im->srcs[i].scan);
	}
}

static int encode(struct import *im)
{
	struct source_of *src;
	int err = 0;

	for (size_t i = 0; i < im->cnt && !err; i++)
		err = refill(&im->srcs[i]);
	while (!err && (src = pick(im))) {
		err = src->item.why ? import_invalid(im, src) : import_event(im, src);
		src->events += im->opts->follow && !src->item.why;
		if (!err)
			err = refill(src);
	}
	if (!err && !im->has_ts)
		err = put_meta(im, 0);
	return err;
}

/* Names may depend on who runs when, so the first pass steps through time too, file by file. */
static int learn(struct import *im)
{
	struct foreign_notes unused = { 0 };
	int err = 0;

	for (size_t i = 0; i < im->cnt && !err; i++) {
		struct source_of *src = &im->srcs[i];

		while (!(err = refill(src)) && src->has_item) {
			if (src->item.why) {
				src->invalid++;
				continue;
			}
			src->events++;
			tonband_state_step(im->state, &src->item, &unused);
			tonband_state_learn(im->state, &src->item, im->notes);
		}
	}
	foreign_notes_fini(&unused);
	return err;
}

static int check_inputs(const struct import *im)
{
	for (size_t i = 0; i < im->cnt; i++) {
		if (im->srcs[i].events)
			continue;
		log_error("convert: %s: no Tonbandgerät event in %" PRIu64 " bytes",
			  im->srcs[i].in->name, tonband_frames_bytes(im->srcs[i].scan));
		return -EBADMSG;
	}
	return 0;
}

static int rewind_inputs(struct import *im)
{
	int err = 0;

	for (size_t i = 0; i < im->cnt && !err; i++)
		err = im->srcs[i].in->rewind(im->srcs[i].in->ctx);
	return err;
}

static void import_free(struct import *im)
{
	for (size_t i = 0; i < im->cnt; i++)
		tonband_frames_free(im->srcs[i].scan);
	for (int id = 0; id < 256; id++)
		for (int layout = 0; layout < LAYOUTS; layout++)
			dial9_schema_free(im->schemas[id][layout]);
	dial9_schema_free(im->meta);
	dial9_schema_free(im->dropped);
	dial9_schema_free(im->invalid);
	dial9_schema_free(im->invalid_no_ts);
	tonband_state_free(im->state);
	buf_free(&im->text);
	free(im->srcs);
	free(im);
}

static void note_resolution(struct import *im)
{
	if (!tonband_state_ns_per_ts(im->state))
		foreign_note(im->notes, FOREIGN_NOTE_HINT, 1,
			     "no resolution in the recording: 1 ns per tick assumed", NULL);
}

static int one_pass(struct import *im)
{
	int err;

	open_scans(im, im->notes);
	err = encode(im);
	if (!err)
		err = check_inputs(im);
	if (!err)
		note_resolution(im);
	return err;
}

static int two_passes(struct import *im)
{
	int err;

	open_scans(im, im->notes);
	err = learn(im);
	if (!err)
		err = check_inputs(im);
	if (!err)
		err = rewind_inputs(im);
	if (err)
		return err;
	note_resolution(im);
	im->core_cnt = tonband_state_core_cnt(im->state);
	open_scans(im, NULL);
	tonband_state_restart(im->state);
	return encode(im);
}

int tonband_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		   struct dial9_enc *enc, struct foreign_notes *notes)
{
	struct import *im = xcalloc(1, sizeof(*im));
	int err;

	im->opts = opts;
	im->enc = enc;
	im->notes = notes;
	im->cnt = cnt;
	im->srcs = xcalloc(cnt, sizeof(*im->srcs));
	for (size_t i = 0; i < cnt; i++)
		im->srcs[i].in = &in[i];
	tonband_state_new(&im->state);
	err = make_fixed_schemas(im);
	if (!err)
		err = opts->follow ? one_pass(im) : two_passes(im);
	import_free(im);
	return err;
}
