/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_RAW_LAYOUT_H
#define D9_FORMATS_PERFDATA_RAW_LAYOUT_H

#include "formats/foreign.h"
#include "trace/read/trace.h"

enum perfdata_raw_kind {
	PERFDATA_RAW_INT,
	PERFDATA_RAW_CHARS, /* char[size] */
	PERFDATA_RAW_TEXT, /* the others: offset and size of what follows the fields */
	PERFDATA_RAW_BYTES,
	PERFDATA_RAW_WORDS,
};

struct perfdata_raw_field {
	char *name; /* as a name of C */
	char *source; /* in the trace */
	enum perfdata_raw_kind kind;
	bool is_signed, is_bool;
	uint16_t off, sz;
};

/* An event of the trace as a tracepoint. */
struct perfdata_raw_event {
	char *system, *event; /* as names of C */
	uint32_t name; /* in the trace: string id */
	uint16_t number; /* its tracepoint's, from 1 */
	bool has_stack; /* some events have stacks */
	struct perfdata_raw_field *fields;
	size_t cnt, cap;
	uint16_t sz; /* of the fields */
};

/* All of them. {0} is empty. */
struct perfdata_raw_layout {
	struct perfdata_raw_event *v;
	size_t cnt, cap;
	struct hmap by_name; /* string id + 1 -> number */
	struct hmap taken; /* hash of system and event */
	struct hmap places; /* schema -> struct places, of one reading of the trace */
};

void perfdata_raw_layout_fini(struct perfdata_raw_layout *l);

/* The layout of an event, made or widened if it is new; NULL: too many. Borrowed until the next call. */
struct perfdata_raw_event *perfdata_raw_layout_learn(struct perfdata_raw_layout *l,
						     const struct names *names,
						     const struct trace_schema *schema,
						     struct foreign_notes *notes);
/* After all have been learned: gives fields their places. */
void perfdata_raw_layout_place(struct perfdata_raw_layout *l);
/* The trace is read again. */
void perfdata_raw_layout_start(struct perfdata_raw_layout *l);

/* NULL: not learned. */
const struct perfdata_raw_event *perfdata_raw_layout_find(const struct perfdata_raw_layout *l,
							  const struct trace_schema *schema);

/* Appends the record's bytes to @out. */
void perfdata_raw_layout_put(struct perfdata_raw_layout *l, const struct trace *t,
			     const struct trace_event *ev, struct buf *out,
			     struct foreign_notes *notes);

/* Appends the format, as tracefs has it. */
void perfdata_raw_layout_print(const struct perfdata_raw_event *e, struct buf *out);

#endif /* D9_FORMATS_PERFDATA_RAW_LAYOUT_H */
