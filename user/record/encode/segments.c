// SPDX-License-Identifier: BSD-2-Clause
/*
 * segments.c - writes one recording as several traces
 *
 * Owns the encoders and the output's segment handles. A seam lies between two flushes, so no record crosses it. The
 * segment before the seam has had its last record by then. It stays open for a while, because symbols of its frames
 * may be missing. Its encoder stays open, too, so memory limits the number of such segments.
 */
#include "record/encode/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "dial9.h"
#include "events/emit.h"
#include "record/encode/status.h"
#include "record/encode/translate.h"
#include "record/symbols/frames.h"
#include "symbol/broker/sym_client.h"

#define SEAL_NS 2000000000ULL /* time that a segment waits for symbols */

/* Minimum size of a segment without its head, whatever the size of the head. */
enum {
	FIRST_TYPE_ID = 256,
	OWN_BYTES_MIN = 32 << 10,
	WRITE_BYTES = 256 << 10, /* per call of the output; more would leave the cache */
};

struct segment {
	struct dial9_enc *enc;
	struct emit *emit;
	void *handle; /* of the output */
	uint64_t over_ns; /* time of its last record; CLOCK_MONOTONIC */
	uint64_t first_ns, last_ns; /* range of its events; UINT64_MAX, 0: none */
};

struct segments {
	struct segments_cfg cfg;
	struct segments_writers writers;
	struct segment now;
	struct segment sealing[FRAMES_SEALING_MAX]; /* oldest first */
	size_t sealing_cnt;
	uint64_t bytes; /* of ended segments */
	uint64_t own_bytes_from, full_bytes; /* of the current segment */
	bool over;
};

/* ---- one segment ---------------------------------------------------------------------------------- */

static int prepare(const struct segments *s, struct segment *seg)
{
	const struct dial9_enc_opts opts = {
		.sz = sizeof(opts),
		.write = s->cfg.outlet.write,
		.ctx = seg->handle,
		.level = s->cfg.level4 ? DIAL9_LEVEL_4 : DIAL9_LEVEL_3,
		.first_type_id = FIRST_TYPE_ID,
		.pool_bytes_max = s->cfg.pool_bytes_max,
		.flush_at = WRITE_BYTES,
	};
	int err = dial9_enc_new(&opts, &seg->enc);

	if (!err)
		err = emit_new(seg->enc, s->cfg.level4, &seg->emit);
	return !err && s->cfg.followed ? emit_include_followed(seg->emit) : err;
}

/* Drops unflushed bytes. */
static int segment_end(const struct segments *s, struct segment *seg)
{
	emit_free(seg->emit);
	dial9_enc_free(seg->enc);
	return seg->handle ? s->cfg.outlet.end(seg->handle) : 0;
}

/* Marks the file as complete and states the times of its first and last event. */
static int segment_write_end(const struct segments *s, struct segment *seg)
{
	uint64_t last = dial9_enc_last_ts(seg->enc);
	int err;

	if (!s->cfg.outlet.ends || seg->first_ns == UINT64_MAX)
		return 0;
	last = last > seg->last_ns ? last : seg->last_ns;
	err = emit_segment_end(seg->emit, seg->first_ns, last);
	return err ? err : dial9_enc_flush(seg->enc);
}

static int segment_begin(const struct segments *s, struct segment *out)
{
	struct segment seg = { .first_ns = UINT64_MAX };
	int err = s->cfg.outlet.begin(s->cfg.outlet.ctx, &seg.handle);

	if (err)
		return err;
	err = prepare(s, &seg);
	if (err) {
		log_error("record: cannot begin a trace: %s", strerror(-err));
		segment_end(s, &seg);
		return err;
	}
	*out = seg;
	return 0;
}

static int close_outlet(const struct segments *s)
{
	return s->cfg.outlet.close ? s->cfg.outlet.close(s->cfg.outlet.ctx) : 0;
}

int segments_new(const struct segments_cfg *cfg, struct segments **out)
{
	struct segments *s = xcalloc(1, sizeof(*s));
	int err;

	s->cfg = *cfg;
	err = segment_begin(s, &s->now);
	s->own_bytes_from = OWN_BYTES_MIN;
	s->full_bytes = UINT64_MAX;
	if (err) {
		close_outlet(s);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct dial9_enc *segments_enc(const struct segments *s)
{
	return s->now.enc;
}

struct emit *segments_emit(const struct segments *s)
{
	return s->now.emit;
}

void segments_serve(struct segments *s, const struct segments_writers *writers)
{
	s->writers = *writers;
}

bool segments_may_be_many(const struct segments *s)
{
	return s->cfg.outlet.many;
}

void segments_note(struct segments *s, uint64_t ts)
{
	if (ts < s->now.first_ns)
		s->now.first_ns = ts;
	if (ts > s->now.last_ns)
		s->now.last_ns = ts;
}

/* Current size plus the symbols that are still missing. */
static uint64_t bytes_to_be(const struct segments *s)
{
	const uint64_t names = s->writers.frames ? frames_pending_bytes(s->writers.frames) : 0;

	return dial9_enc_bytes(s->now.enc) + names;
}

bool segments_is_full(const struct segments *s)
{
	return s->full_bytes != UINT64_MAX && dial9_enc_bytes(s->now.enc) >= s->own_bytes_from &&
	       bytes_to_be(s) >= s->full_bytes;
}

/* The estimated compression ratio improves with each flush. */
static void set_full(struct segments *s)
{
	const uint64_t bytes = bytes_to_be(s);
	const uint64_t left =
		s->cfg.outlet.left ? s->cfg.outlet.left(s->cfg.outlet.ctx, bytes) : UINT64_MAX;

	s->full_bytes = left > UINT64_MAX - bytes ? UINT64_MAX : bytes + left;
}

bool segments_have_room(const struct segments *s)
{
	return !s->cfg.outlet.has_room || s->cfg.outlet.has_room(s->cfg.outlet.ctx);
}

bool segments_is_over(const struct segments *s)
{
	return s->over;
}

/* ---- seams ---------------------------------------------------------------------------------------- */

/* Bytes of all segments so far. */
static uint64_t bytes_so_far(const struct segments *s)
{
	uint64_t sum = s->bytes;
	size_t i;

	for (i = 0; i < s->sealing_cnt; i++)
		sum += dial9_enc_bytes(s->sealing[i].enc);
	return sum;
}

/* All writers switch to the new segment together: nothing is written in between. */
static int next(struct segments *s, uint64_t mark_ns)
{
	const struct segments_writers *w = &s->writers;
	struct segment seg;
	int err = status_write_seam(w->status, mark_ns);

	if (!err)
		err = dial9_enc_flush(s->now.enc);
	if (!err)
		err = segment_begin(s, &seg);
	if (err)
		return err;
	s->now.over_ns = clock_mono_ns();
	s->sealing[s->sealing_cnt++] = s->now;
	s->now = seg;
	translate_next_segment(w->translate, seg.enc, seg.emit);
	frames_next_segment(w->frames, seg.emit);
	status_next_segment(w->status, seg.enc, seg.emit, bytes_so_far(s));
	err = w->head(w->ctx);
	segments_note(s, dial9_enc_last_ts(seg.enc));
	s->own_bytes_from = dial9_enc_bytes(seg.enc) + OWN_BYTES_MIN;
	return err ? err : dial9_enc_flush(seg.enc);
}

static int seal(struct segments *s)
{
	struct segment oldest = s->sealing[0];
	int err = frames_seal(s->writers.frames), ended;

	if (!err)
		err = dial9_enc_flush(oldest.enc);
	if (!err)
		err = segment_write_end(s, &oldest);
	s->bytes += dial9_enc_bytes(oldest.enc);
	s->sealing_cnt--;
	memmove(s->sealing, s->sealing + 1, s->sealing_cnt * sizeof(*s->sealing));
	ended = segment_end(s, &oldest);
	return err ? err : ended;
}

static int seal_those_done(struct segments *s)
{
	uint64_t now = clock_mono_ns();
	int err = 0;

	while (!err && s->sealing_cnt &&
	       (now - s->sealing[0].over_ns >= SEAL_NS || !s->writers.broker ||
		sym_client_idle(s->writers.broker)))
		err = seal(s);
	return err;
}

int segments_flush(struct segments *s)
{
	int err = dial9_enc_flush(s->now.enc);
	size_t i;

	for (i = 0; i < s->sealing_cnt && !err; i++)
		err = dial9_enc_flush(s->sealing[i].enc);
	set_full(s);
	return err;
}

int segments_check_output(struct segments *s, uint64_t mark_ns)
{
	enum segment_request request;
	int err = 0;

	if (!s->cfg.outlet.request)
		return 0;
	if (s->cfg.outlet.many)
		err = seal_those_done(s);
	/* missing symbols are better than a file that exceeds its limit */
	if (!err && s->sealing_cnt == FRAMES_SEALING_MAX && segments_is_full(s))
		err = seal(s);
	if (err || s->sealing_cnt == FRAMES_SEALING_MAX)
		return err;
	request = s->cfg.outlet.request(s->cfg.outlet.ctx, clock_mono_ns(), bytes_to_be(s));
	s->over |= request == SEGMENT_OPS_STOP;
	if (request == SEGMENT_OPS_NEXT)
		err = next(s, mark_ns);
	set_full(s);
	return err;
}

int segments_step(struct segments *s, uint64_t mark_ns)
{
	int err = segments_flush(s);

	return err ? err : segments_check_output(s, mark_ns);
}

int segments_finish(struct segments *s)
{
	int err = segments_flush(s);
	size_t i;

	for (i = 0; i < s->sealing_cnt && !err; i++)
		err = segment_write_end(s, &s->sealing[i]);
	return err ? err : segment_write_end(s, &s->now);
}

int segments_close(struct segments *s)
{
	int err = 0, ended;
	size_t i;

	if (!s)
		return 0;
	for (i = 0; i < s->sealing_cnt; i++) {
		ended = segment_end(s, &s->sealing[i]);
		err = err ? err : ended;
	}
	ended = segment_end(s, &s->now);
	err = err ? err : ended;
	ended = close_outlet(s);
	free(s);
	return err ? err : ended;
}
