/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_INSPECT_DUMP_FRAME_H
#define D9_CMD_INSPECT_DUMP_FRAME_H

#include <stdint.h>

#include "base/bytes_cache.h"
#include "base/hmap.h"

struct buf;
struct dial9_dec;
struct dial9_frame;
struct value_style;

/* Progress of a dump. `frames` excludes headers and resets, which have no content. */
struct dump_tally {
	uint64_t frames, events;
};

/*
 * What was rendered before and will be needed again, of one form: JSON or text. Bounded by the schemas of a
 * trace and a cap on stacks. It may outlive decoders.
 */
struct dump_cache {
	struct hmap plans; /* type id + 1 -> what is the same in all events of it */
	struct bytes_cache stacks;
};

void dump_cache_init(struct dump_cache *cache);
void dump_cache_fini(struct dump_cache *cache);

/*
 * Append one frame as a line of text, without the newline. dec resolves pool ids at this point. JSON is exact:
 * different values are written differently; text is for people.
 */
void dump_json_frame(struct buf *out, struct dump_cache *cache, const struct dial9_dec *dec,
		     const struct dial9_frame *frame);
void dump_text_frame(struct buf *out, struct dump_cache *cache, const struct dial9_dec *dec,
		     const struct dial9_frame *frame);

/* A stack of a frame, by the cache when it is long enough for that to pay. */
void dump_cache_stack(struct buf *out, struct dump_cache *cache, const struct value_style *style,
		      const uint8_t *le, uint32_t cnt);

/* The last line of a JSON dump: err is what dial9_dec_next() ended with. */
void dump_json_end(struct buf *out, const struct dial9_dec *dec, const struct dump_tally *tally,
		   int err);

#endif
