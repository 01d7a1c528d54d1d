/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_EVENT_H
#define D9_LIBDIAL9_EVENT_H

#include "dial9.h"
#include "notes.h"
#include "value.h"

struct schema_op;

/* What a decoder knows of a type: its schema, and how to get at the values of an event. */
struct event_type {
	struct dial9_schema *schema; /* counted */
	struct dial9_event event; /* of any event but for ts, which is only what it was once */
	struct dial9_value *values; /* event.values; the types of what is not optional stay */
	bool skipped; /* its events are counted and not handed out */
	size_t room; /* with so many bytes left, fixed parts need no check */
	const struct schema_op *ops, *ops_end;
	struct notes notes;
};

/* What of a decoder the events need. */
struct event_input {
	const uint8_t *pos, *end; /* what of the window is not consumed */
	uint64_t ts_base;
	struct event_type **types; /* by type id */
	size_t type_cap;
	unsigned int depth; /* of lists in lists, at most */
	struct dial9_skipped skipped;
	struct value_fault fault;
};

/* Takes a claim of its own on the schema. -ENOMEM. */
int event_type_new(struct dial9_schema *s, uint16_t id, struct event_type **out);
void event_type_free(struct event_type *t);

/* Bytes that event_type_new() allocates. */
size_t event_type_size(const struct dial9_schema *s);

static inline struct event_type *event_type_of(const struct event_input *in, uint16_t id)
{
	return id < in->type_cap ? in->types[id] : NULL;
}

/* Counts an event at in->ts_base. */
static inline void event_skip(struct event_input *in, const struct event_type *t)
{
	struct dial9_skipped *s = &in->skipped;

	s->cnt++;
	if (!t->event.has_ts)
		return;
	s->first_ts = in->ts_base < s->first_ts ? in->ts_base : s->first_ts;
	s->last_ts = in->ts_base > s->last_ts ? in->ts_base : s->last_ts;
}

/*
 * The next frame that is not skipped, if it and those before it are events and lie well inside the window: its type,
 * with `values` filled, where it begins, and the input moved behind it, with its time as ts_base. NULL if that is not
 * so, or if anything about it is wrong: then the input is at that frame, and event_parse() has the answer.
 */
const struct event_type *event_quick(struct event_input *in, const uint8_t **start);

/* Such events one after the other, each given to on_event. 0, or what that returned. */
int event_visit(struct event_input *in, const struct dial9_dec *d,
		const struct dial9_visitor *visitor);

/* The event frame at *pos. 0, or -ENODATA, -EBADMSG, -E2BIG with in->fault filled. */
int event_parse(struct event_input *in, const uint8_t **pos, struct dial9_event *out);

#endif
