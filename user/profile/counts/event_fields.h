/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_COUNTS_EVENT_FIELDS_H
#define D9_PROFILE_COUNTS_EVENT_FIELDS_H

#include "trace/read/trace.h"

/* What a column of a count has. */
enum count_word {
	COUNT_FIELD, /* a field of the event */
	COUNT_EVENT, /* the event's name */
	COUNT_COMM, /* of the thread in which the event happened, and its process: */
	COUNT_PID,
	COUNT_TID,
	COUNT_CPU,
	COUNT_CGROUP,
};

struct count_column {
	enum count_word word;
	const char *field; /* COUNT_FIELD; borrowed */
};

#define COUNT_COLUMNS_MAX 8

enum count_type {
	COUNT_NONE, /* unknown, or an optional field without a value */
	COUNT_NUMBER, /* v */
	COUNT_NEGATIVE, /* v, as int64_t */
	COUNT_BOOL,
	COUNT_DOUBLE, /* v has its bits */
	COUNT_TEXT, /* v is a string id */
	COUNT_BYTES, /* v is the string id of the bytes */
	COUNT_OTHER, /* a stack, list or map: all are one value */
	COUNT_DROPPED, /* text that is not kept: see event_fields_value() */
};

struct count_value {
	uint64_t v;
	uint32_t text; /* string id of the kernel's text for it; NAMES_NONE: none */
	uint8_t type; /* enum count_type */
};

/*
 * The value of a column of @ev; @at: its field, for COUNT_FIELD. The same number has the same value,
 * whatever type the field has. Without @learn, text that the trace's names do not have yet is
 * COUNT_DROPPED: it cannot be the value of an earlier event.
 */
void event_fields_value(const struct trace *t, const struct trace_event *ev, enum count_word word,
			int32_t at, uint32_t event_name, bool learn, struct count_value *out);
/* Sets @v->text of a field's number or bytes, if the trace has names for them. */
void event_fields_name(const struct trace *t, const struct trace_schema *schema, uint32_t part,
		       int32_t at, struct names *n, struct count_value *v);
/* The number in a field; false if it has none. All of int64_t and uint64_t fit. */
bool event_fields_number(const struct trace_event *ev, int32_t at, __int128 *out);

#endif /* D9_PROFILE_COUNTS_EVENT_FIELDS_H */
