/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_EVENT_H
#define D9_LIBDIAL9_EVENT_H

#include "dial9.h"
#include "notes.h"
#include "value.h"

struct schema_op;

/* Decoder data of a type: its schema, and the location of an event's values */
struct event_type {
	struct dial9_schema *schema; /* one reference */
	struct dial9_event event; /* the same for all events except ts, which is outdated */
	/* event.values; types of non-optional fields are set in advance */
	struct dial9_value *values;
	bool skipped; /* events are counted and not returned */
	size_t room; /* with at least this many bytes left, fixed parts need no check */
	const struct schema_op *ops, *ops_end;
	struct notes notes;
};

/* The part of a decoder that decodes events */
struct event_input {
	const uint8_t *pos, *end; /* rest of the window */
	uint64_t ts_base;
	struct event_type **types; /* by type id */
	size_t type_cap;
	unsigned int depth; /* maximum depth of nested lists */
	struct dial9_skipped skipped;
	struct value_fault fault;
};

/* Takes its own reference to the schema. 0 or -ENOMEM. */
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
 * Decodes events on the fast path, up to the next event that is not skipped. Returns its type with
 * `values` set, its start in *at, and moves the input past it, with its time as ts_base. Returns
 * NULL if a frame is not an event, is too near to the end of the window, or is invalid. The input
 * is then at that frame, and event_parse() handles it.
 */
const struct event_type *event_quick(struct event_input *in, const uint8_t **start);

/* Passes each such event to on_event. 0, or the nonzero result of on_event. */
int event_visit(struct event_input *in, const struct dial9_dec *d,
		const struct dial9_visitor *visitor);

/* Decodes the event frame at *pos. 0; or -ENODATA, -EBADMSG or -E2BIG with in->fault set. */
int event_parse(struct event_input *in, const uint8_t **pos, struct dial9_event *out);

#endif
