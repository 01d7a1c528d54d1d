/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_SCRIPT_LINE_H
#define D9_EXPORT_SCRIPT_LINE_H

#include "base/buf.h"
#include "trace/read/reader.h"

/* The parts of a line of text. */
enum script_field {
	F_COMM,
	F_PID,
	F_TID,
	F_CPU,
	F_TIME,
	F_EVENT,
	F_TRACE,
	F_IP,
	F_SYM,
	F_SYMOFF,
	F_DSO,
	F_SRCLINE,
	F_END,
	F_CNT,
};

#define FIELDS_ALL ((1u << F_CNT) - 1)
#define FIELDS_DEFAULT (FIELDS_ALL & ~(1u << F_SRCLINE | 1u << F_END))
#define FIELDS_STACK (1u << F_IP | 1u << F_SYM | 1u << F_DSO | 1u << F_SRCLINE)

/* The name of a switch-out stack that is printed on its own line. */
#define SCRIPT_SWITCH_OUT "switch-out"
/* The name of a waker stack. */
#define SCRIPT_WAKER "waker"
#define SCRIPT_EVENT_STACK "event-stack"
/* Which of the two a TRACE_SAMPLE is; NULL: a CPU sample. */
const char *script_line_stack_name(const struct trace_event *ev);

struct script_line_opts {
	unsigned int fields; /* for text: bits by enum script_field */
	bool ns; /* times to the nanosecond */
	/*
	 * All lines except CPU samples start with a blank or "#", and have their fields in
	 * parentheses: stackcollapse-perf.pl and similar scripts ignore these lines and the stacks
	 * after them.
	 */
	bool comment_asides;
};

struct script_line;

/*
 * Prints lines for events of @r, which must outlive it and must not be rewound. Free it with
 * script_line_free().
 */
struct script_line *script_line_new(const struct script_line_opts *opts, const struct reader *r);
void script_line_free(struct script_line *l);

/* Appends the line of an event; samples have the name @sample_name. */
void script_line_text(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      const char *sample_name);
/* The stack of an event, for the lines after its own, and an empty line. */
void script_line_stack(struct script_line *l, struct buf *out, const struct trace_event *ev);
/* The event as an open JSON object: the caller adds a stack, if there is one, and "}". */
void script_line_json(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      const char *sample_name);
void script_line_json_stack(struct script_line *l, struct buf *out, const struct trace_event *ev);

#endif /* D9_EXPORT_SCRIPT_LINE_H */
