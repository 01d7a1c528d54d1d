/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_SCRIPT_STREAM_H
#define D9_EXPORT_SCRIPT_STREAM_H

#include "export/script_line.h"

/*
 * Events in order, as `script` prints them. The stack of a switch-out, of a waker or of another
 * event is a separate event after it, with the same time and thread. If it follows immediately, it
 * is printed after the line of its event, as in perf, or as part of the same object.
 */
struct script_stream {
	struct script_line_opts opts;
	bool json; /* one JSON object per line, instead of text */
	struct script_line *lines;
	const struct names *names;
	bool open; /* inside a JSON object */
	uint32_t part; /* of the event printed last */
	uint8_t announced[PARTS_MAX / 8]; /* a bit for each part that a line announced */
	uint64_t last_ts; /* of the event printed last, */
	uint32_t last_tid; /* and its thread; TRACE_NONE: no stack can follow it */
	uint8_t last_source; /* the source of its stack */
};

/* As script_line_new(). */
void script_stream_init(struct script_stream *s, const struct script_line_opts *opts, bool json,
			const struct reader *r);
void script_stream_fini(struct script_stream *s);

/* The name of a part's samples: the clock that triggers them. Borrowed from the names. */
const char *script_stream_sample_name(const struct names *n, uint32_t part);

/* Whether it is the stack of the switch or wakeup printed last. */
bool script_stream_is_stack_of_last(const struct script_stream *s, const struct trace_event *ev);
/*
 * Appends an event. In text, a line that perf's scripts skip marks the start of another recording.
 */
void script_stream_put(struct script_stream *s, struct buf *out, const struct trace_event *ev);
/* The event put last is complete: no stack follows. */
void script_stream_end(struct script_stream *s, struct buf *out);

#endif /* D9_EXPORT_SCRIPT_STREAM_H */
