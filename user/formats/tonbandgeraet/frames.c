// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes of a recording to frames, and frames to events, with the core each belongs to.
 *
 * Owns resynchronisation, which is easy here: every zero ends a frame. A frame that is complete in the
 * encoding's chunk is decoded there, others are collected first. The raw bytes are available in addition
 * to the event, because unreadable frames are kept too. core_id frames or the caller set the core; both
 * end up in item.core.
 */
#include "formats/tonbandgeraet/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/tonbandgeraet/encoding.h"

struct tonband_frames {
	const struct foreign_input *in;
	struct tonband_encoding *encoding;
	struct tonband_piece piece;
	size_t pos; /* in piece */
	bool has_piece, at_end;
	struct buf partial; /* a frame's bytes from earlier pieces */
	bool given; /* partial went out with the last item */
	uint64_t skipped;
	struct buf payload;
	uint64_t offset; /* of the next frame */
	uint32_t core;
};

void tonband_frames_new(const struct foreign_input *in, struct foreign_notes *notes,
			struct tonband_frames **out)
{
	struct tonband_frames *scan = xcalloc(1, sizeof(*scan));

	scan->in = in;
	scan->core = in->has_core ? in->core : 0;
	tonband_encoding_new(in, notes, &scan->encoding);
	*out = scan;
}

void tonband_frames_free(struct tonband_frames *scan)
{
	if (!scan)
		return;
	tonband_encoding_free(scan->encoding);
	buf_free(&scan->partial);
	buf_free(&scan->payload);
	free(scan);
}

const char *tonband_frames_encoding(const struct tonband_frames *scan)
{
	return tonband_encoding_name(scan->encoding);
}

bool tonband_frames_is_sure(const struct tonband_frames *scan)
{
	return tonband_encoding_is_sure(scan->encoding);
}

uint64_t tonband_frames_bytes(const struct tonband_frames *scan)
{
	return scan->offset;
}

/* What was gathered goes with the item that is handed out, so it is cleared at the next call. */
static void finish(struct tonband_frames *scan, const uint8_t *frame, size_t sz, bool ended,
		   struct tonband_item *out)
{
	size_t payload_sz;

	*out = (struct tonband_item){
		.frame = frame, .frame_sz = sz, .ended = ended, .offset = scan->offset
	};
	scan->offset += sz + scan->skipped + ended;
	out->skipped = scan->skipped;
	scan->skipped = 0;
	scan->given = true;
	if (out->skipped) {
		out->why = "frame too long";
	} else if (!ended) {
		out->why = "frame cut off";
	} else {
		buf_clear(&scan->payload);
		buf_add(&scan->payload, frame, sz);
		out->why = tonband_event_unframe((uint8_t *)scan->payload.data, sz, &payload_sz);
		if (!out->why)
			out->why = tonband_event_parse((uint8_t *)scan->payload.data, payload_sz,
						       &out->ev);
	}
	if (!out->why && out->ev.id == TONBAND_CORE_ID)
		scan->core = (uint32_t)out->ev.num[0];
	out->core = scan->core;
}

static bool is_midframe(const struct tonband_frames *scan)
{
	return scan->partial.len || scan->skipped;
}

/* The next piece; true when a frame was left open by the one before and is over now. */
static int next_piece(struct tonband_frames *scan, bool *cut)
{
	int ret = tonband_encoding_next(scan->encoding, &scan->piece);

	if (ret < 0)
		return ret;
	scan->at_end = !ret;
	scan->has_piece = ret;
	scan->pos = 0;
	*cut = is_midframe(scan) && (scan->at_end || scan->piece.fresh);
	return 0;
}

static void begin_buffer(struct tonband_frames *scan)
{
	if (scan->piece.has_core)
		scan->core = scan->piece.core;
	else
		scan->core = scan->in->has_core ? scan->in->core : 0;
	scan->piece.fresh = false;
}

static void gather(struct tonband_frames *scan, const uint8_t *p, size_t n)
{
	if (!scan->skipped && scan->partial.len + n <= TONBAND_FRAME_MAX) {
		buf_add(&scan->partial, p, n);
		return;
	}
	scan->skipped += scan->partial.len + n;
	buf_clear(&scan->partial);
}

/* True when the piece completes a frame. */
static bool next_frame(struct tonband_frames *scan, struct tonband_item *out)
{
	const uint8_t *p = scan->piece.p + scan->pos;
	size_t left = scan->piece.sz - scan->pos;
	const uint8_t *zero = left ? memchr(p, 0, left) : NULL;
	size_t n = zero ? (size_t)(zero - p) : left;

	scan->pos += n + (zero != NULL);
	if (zero && !is_midframe(scan)) {
		finish(scan, p, n, true, out);
		return true;
	}
	gather(scan, p, n);
	if (zero)
		finish(scan, (const uint8_t *)scan->partial.data, scan->partial.len, true, out);
	return zero;
}

int tonband_frames_next(struct tonband_frames *scan, struct tonband_item *out)
{
	bool cut = false;
	int err;

	if (scan->given)
		buf_clear(&scan->partial);
	scan->given = false;
	for (;;) {
		if (scan->at_end)
			return 0;
		if (!scan->has_piece || scan->pos == scan->piece.sz) {
			err = next_piece(scan, &cut);
			if (err)
				return err;
			if (cut) {
				finish(scan, (const uint8_t *)scan->partial.data, scan->partial.len,
				       false, out);
				return 1;
			}
			continue;
		}
		if (scan->piece.fresh)
			begin_buffer(scan);
		if (next_frame(scan, out))
			return 1;
	}
}
