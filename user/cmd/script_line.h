/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SCRIPT_LINE_H
#define D9_CMD_SCRIPT_LINE_H

#include "base/buf.h"
#include "trace/reader.h"

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

struct script_line_opts {
	unsigned int fields; /* of the text: bits by enum script_field */
	bool ns; /* times to the nanosecond */
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
/* The event with its stack as one line of JSON. */
void script_line_json(struct script_line *l, struct buf *out, const struct trace_event *ev);

#endif /* D9_CMD_SCRIPT_LINE_H */
