/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_SEGMENT_OPS_H
#define D9_RECORD_OUTPUT_SEGMENT_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an outlet wants of the recorder. */
enum segment_ops_wish {
	SEGMENT_OPS_GO_ON,
	SEGMENT_OPS_NEXT, /* another segment */
	SEGMENT_OPS_STOP, /* no more: the recording is to end */
};

/*
 * Where segments of a recording go: one file, a set of them, a stream, memory. Each segment is a trace,
 * complete in itself. The next one is begun before the one before is ended, which may still get names:
 * up to FRAMES_SEALING_MAX wait for that. They are ended in the order in which they were begun. What the
 * recorder calls does not wait, and returns 0 or -errno after one line; -EPIPE is silent: who reads has had
 * enough.
 */
struct segment_ops {
	void *ctx;
	bool many; /* it may wish for another segment */
	bool ends; /* each segment is a file by itself, whose last event says what is in it */
	/* Begins a segment; *segment is what the others are given. */
	int (*begin)(void *ctx, void **segment);
	/* Whole frames of a segment, at each flush: what was taken is readable from here on. */
	int (*write)(void *segment, const void *data, size_t sz);
	/* The segment is over, and so is the handle, whatever is returned. */
	int (*end)(void *segment);
	/* Asked at each flush; bytes were or will be written to the segment at hand. NULL: SEGMENT_OPS_GO_ON. */
	enum segment_ops_wish (*wish)(void *ctx, uint64_t now_ns, uint64_t bytes);
	/* How many more bytes a segment of so many may take before the next one has to begin. NULL: any number. */
	uint64_t (*left)(void *ctx, uint64_t bytes);
	/* False: the recorder is to leave in the rings what is there. NULL: there is room. */
	bool (*has_room)(void *ctx);
	/* How much waits to be written, in quarters of what may: 0 to 3, or more where it is beyond. NULL: no matter. */
	void (*waits)(void *ctx, unsigned int quarters);
	/* Nothing has come for a while, or it is a while since the last time. NULL: nothing to do then. */
	int (*idle)(void *ctx);
	/* After the end of all segments. Frees ctx. NULL: there is nothing to free. */
	int (*close)(void *ctx);
};

#endif
