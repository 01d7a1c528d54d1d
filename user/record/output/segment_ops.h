/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_SEGMENT_OPS_H
#define D9_RECORD_OUTPUT_SEGMENT_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests of an output to the recorder. */
enum segment_request {
	SEGMENT_OPS_GO_ON,
	SEGMENT_OPS_NEXT, /* start another segment */
	SEGMENT_OPS_STOP, /* end the recording */
};

/*
 * Destination of a recording's segments: one file, a file set, a stream, memory. Each segment is a complete trace.
 * The next segment begins before the previous one ends, since that may still get symbols: up to FRAMES_SEALING_MAX
 * wait for them. They end in the order in which they began. Functions do not block, and return 0, or -errno after
 * one line. -EPIPE is silent: the reader has closed the stream.
 */
struct segment_ops {
	void *ctx;
	bool many; /* it may request another segment */
	bool ends; /* each segment is a separate file, whose last event describes its content */
	/* Begins a segment; *segment is the argument of other functions. */
	int (*begin)(void *ctx, void **segment);
	/* Writes whole frames of a segment, at each flush: they are readable from here on. */
	int (*write)(void *segment, const void *data, size_t sz);
	/* Ends the segment and frees the handle, also on errors. */
	int (*end)(void *segment);
	/* Called at each pass. @bytes: written to the current segment, or queued. NULL: SEGMENT_OPS_GO_ON. */
	enum segment_request (*request)(void *ctx, uint64_t now_ns, uint64_t bytes);
	/* Bytes that may be added to a segment of @bytes before the next one has to begin. NULL: any number. */
	uint64_t (*left)(void *ctx, uint64_t bytes);
	/* False: leave records in the rings. NULL: there is always room. */
	bool (*has_room)(void *ctx);
	/*
	 * Reports the length of the queue in quarters of its limit: 0 to 3, or more above the limit. NULL: ignored.
	 */
	void (*waits)(void *ctx, unsigned int quarters);
	/* Called after some time without data, and periodically. NULL: nothing to do. */
	int (*idle)(void *ctx);
	/* Called after the end of all segments. Frees ctx. NULL: nothing to free. */
	int (*close)(void *ctx);
};

#endif
