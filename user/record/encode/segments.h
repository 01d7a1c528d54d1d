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
 * The trace in segments: which encoder writes, when the next one begins, and when those before have all of
 * their names. Nothing is lost or doubled in between, and no segment holds a record that is older than one
 * of the segment before but for those that were overtaken anyway.
 */
struct segments;

struct segments_cfg {
	struct segment_ops outlet;
	bool level4; /* of the spec */
	bool followed; /* TaskEvents say which tasks are followed */
	size_t pool_bytes_max; /* of each table of an encoder */
};

/* Begins the first segment. Takes the outlet over. 0 or -errno after one line, and the outlet is closed. */
int segments_new(const struct segments_cfg *cfg, struct segments **out);

/* Of the segment at hand. Borrowed, until the next one. */
struct dial9_enc *segments_enc(const struct segments *s);
struct emit *segments_emit(const struct segments *s);

/* Who writes events, to be told of each new segment. All are borrowed. */
struct segments_writers {
	struct translate *translate;
	struct frames *frames; /* with frames_keep_names(), if the outlet may wish for segments */
	struct status *status;
	const struct sym_client *broker; /* NULL: no names come late */
	/* Writes what a segment begins with. 0 or -errno. */
	int (*head)(void *ctx);
	void *ctx;
};
void segments_serve(struct segments *s, const struct segments_writers *writers);
/* Whether there may be more than one. */
bool segments_may_be_many(const struct segments *s);

/*
 * A flush: all records older than mark_ns have been written. Begins another segment, if that is wished for
 * and not too many wait for names, and ends those that do not wait any longer. 0 or -errno.
 */
int segments_step(struct segments *s, uint64_t mark_ns);
/* A flush, and nothing else. */
int segments_flush(struct segments *s);
/* A record of this time is written to the segment at hand. */
void segments_note(struct segments *s, uint64_t ts);
/* The segment at hand is as large as it may become: what is next belongs to another one. */
bool segments_is_full(const struct segments *s);
/* Whether the outlet has room for more: if not, records should stay where they are. */
bool segments_have_room(const struct segments *s);
/* The outlet wants no more. */
bool segments_is_over(const struct segments *s);

/* The last flush of a recording that ends well: each segment also says that it is whole. */
int segments_finish(struct segments *s);
/*
 * Ends all segments, after the last flush, closes the outlet, and frees. What was not flushed is dropped. 0 or
 * -errno. NULL is allowed.
 */
int segments_close(struct segments *s);

#endif
