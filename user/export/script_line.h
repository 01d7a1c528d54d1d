/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_SCRIPT_LINE_H
#define D9_EXPORT_SCRIPT_LINE_H

#include "base/buf.h"
#include "trace/read/reader.h"

/* What a line of text may show. */
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

/* What the stack of a switch-out is called where it stands alone. */
#define SCRIPT_SWITCH_OUT "switch-out"
/* And that of a waker. */
#define SCRIPT_WAKER "waker"
#define SCRIPT_EVENT_STACK "event-stack"
/* Which of the two a TRACE_SAMPLE is; NULL: a CPU sample. */
const char *script_line_stack_name(const struct trace_event *ev);

struct script_line_opts {
	unsigned int fields; /* of the text: bits by enum script_field */
	bool ns; /* times to the nanosecond */
	/*
	 * Everything but CPU samples begins with a blank, or with "#", and has its fields in parentheses:
	 * to stackcollapse-perf.pl and its like such lines, and the stacks below them, are nobody's.
	 */
	bool asides;
};

struct script_line;

/*
 * What makes lines of the events of @r, which must outlive it, and is not rewound any more. Free it
 * with script_line_free().
 */
struct script_line *script_line_new(const struct script_line_opts *opts, const struct reader *r);
void script_line_free(struct script_line *l);

/* Append the line of an event; samples go by @sample_name. */
void script_line_text(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      const char *sample_name);
/* The stack of an event, for the lines below its own, and an empty line. */
void script_line_stack(struct script_line *l, struct buf *out, const struct trace_event *ev);
/* The event as an object of JSON, left open: the caller adds a stack, if there is one, and "}". */
void script_line_json(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      const char *sample_name);
void script_line_json_stack(struct script_line *l, struct buf *out, const struct trace_event *ev);

#endif /* D9_EXPORT_SCRIPT_LINE_H */
