/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_SCRIPT_STREAM_H
#define D9_EXPORT_SCRIPT_STREAM_H

#include "export/script_line.h"

/*
 * Events one behind the other, as `script` prints them: the stack of a switch-out, of a waker or of
 * another event is one of its own behind that, at the same time and thread; it is printed below the
 * line of its event when it follows at once, as perf has it, or as part of the same object.
 */
struct script_stream {
	struct script_line_opts opts;
	bool json; /* an object a line, instead of text */
	struct script_line *lines;
	const struct names *names;
	bool open; /* an object of JSON */
	uint32_t part; /* of the event printed last */
	uint8_t told[PARTS_MAX / 8]; /* a bit for each part that a line told of */
	uint64_t last_ts; /* of the event printed last, */
	uint32_t last_tid; /* and its thread; TRACE_NONE: it cannot get a stack any more */
	uint8_t last_source; /* what its stack says as source */
};

/* As script_line_new(). */
void script_stream_init(struct script_stream *s, const struct script_line_opts *opts, bool json,
			const struct reader *r);
void script_stream_fini(struct script_stream *s);

/* What samples of a part are called: the clock that takes them. Borrowed from the names. */
const char *script_stream_sample_name(const struct names *n, uint32_t part);

/* The stack of the switch or of the waking that was printed last. */
bool script_stream_is_below(const struct script_stream *s, const struct trace_event *ev);
/* Appends an event. In text, where another recording begins, a line that perf's scripts skip says so. */
void script_stream_put(struct script_stream *s, struct buf *out, const struct trace_event *ev);
/* The event put last is complete: no stack of it follows. */
void script_stream_end(struct script_stream *s, struct buf *out);

#endif /* D9_EXPORT_SCRIPT_STREAM_H */
