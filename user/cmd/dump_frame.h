/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_DUMP_FRAME_H
#define D9_CMD_DUMP_FRAME_H

#include <stdint.h>

struct buf;
struct dial9_dec;
struct dial9_frame;

/* How far a dump came. frames leaves out what carries no content: headers and resets. */
struct dump_tally {
	uint64_t frames, events;
};

/*
 * Append one frame as a line of text, without the newline. dec resolves pool ids as of now. JSON is exact:
 * each value can be told apart from any other; text is for eyes.
 */
void dump_json_frame(struct buf *out, const struct dial9_dec *dec, const struct dial9_frame *frame);
void dump_text_frame(struct buf *out, const struct dial9_dec *dec, const struct dial9_frame *frame);

/* The last line of a JSON dump: err is what dial9_dec_next() ended with. */
void dump_json_end(struct buf *out, const struct dial9_dec *dec, const struct dump_tally *tally,
		   int err);

#endif
