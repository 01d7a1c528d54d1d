/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_SEGMENTS_H
#define D9_RECORD_ENCODE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/output/segment_ops.h"

struct dial9_enc;
struct emit;
struct frames;
struct status;
struct sym_client;
struct translate;

/*
 * The trace in segments: selects the encoder, starts the next segment, and ends earlier ones when their symbols are
 * complete. Nothing is lost or duplicated in between. Records of a segment are newer than records of the segment
 * before, except for records out of order.
 */
struct segments;

struct segments_cfg {
	struct segment_ops outlet;
	bool level4; /* of the spec */
	bool followed; /* TaskEvents report followed tasks */
	size_t pool_bytes_max; /* per table of an encoder */
};

/* Starts the first segment. Owns the output. 0, or -errno after one line with the output closed. */
int segments_new(const struct segments_cfg *cfg, struct segments **out);

/* Encoder of the current segment. Borrowed until the next one. */
struct dial9_enc *segments_enc(const struct segments *s);
struct emit *segments_emit(const struct segments *s);

/* Modules that write events, to be switched to each new segment. All are borrowed. */
struct segments_writers {
	struct translate *translate;
	struct frames *frames; /* with frames_keep_names(), if there may be several segments */
	struct status *status;
	const struct sym_client *broker; /* NULL: no symbols arrive later */
	/* Writes the head of a segment. 0 or -errno. */
	int (*head)(void *ctx);
	void *ctx;
};
void segments_serve(struct segments *s, const struct segments_writers *writers);
/* Whether there may be several segments. */
bool segments_may_be_many(const struct segments *s);

/*
 * A flush: all records older than mark_ns have been written. Starts another segment if the output asks for it and
 * not too many wait for symbols. Ends segments that have waited. 0 or -errno.
 */
int segments_step(struct segments *s, uint64_t mark_ns);
/* Only flushes. */
int segments_flush(struct segments *s);
/* The same as segments_step() without the flush, for the passes between two flushes: limits do not wait for one. */
int segments_check_output(struct segments *s, uint64_t mark_ns);
/* Notes the time of a record in the current segment. */
void segments_note(struct segments *s, uint64_t ts);
/* The current segment has reached its size limit: the next records belong to another one. */
bool segments_is_full(const struct segments *s);
/* Whether the output accepts more data: if not, leave records in the rings. */
bool segments_have_room(const struct segments *s);
/* The output ends the recording. */
bool segments_is_over(const struct segments *s);

/* The last flush of a successful recording: marks each segment as complete. */
int segments_finish(struct segments *s);
/*
 * Call after the last flush: ends all segments, closes the output, and frees. Unflushed bytes are dropped. 0 or
 * -errno. NULL is allowed.
 */
int segments_close(struct segments *s);

#endif
