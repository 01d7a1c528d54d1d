/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_DECODE_H
#define D9_LIBDIAL9_DECODE_H

#include "dial9.h"
#include "pool.h"
#include "value.h"

struct schema_op;

/* What a decoder knows of a type: its schema, and how to get at the values of an event. */
struct event_type {
	struct dial9_schema *schema; /* counted */
	struct dial9_event event; /* of the last event; all but ts stays as it is */
	struct dial9_value *values; /* event.values; the types of what is not optional stay */
	size_t room; /* with so many bytes left, fixed parts need no check */
	const struct schema_op *ops, *ops_end;
};

struct dial9_dec {
	const uint8_t *pos, *end; /* what of the window is not consumed */
	const uint8_t *start; /* of the window */
	uint64_t offset; /* of start in the stream */
	uint64_t ts_base;
	struct event_type **types; /* by type id */
	size_t type_cap; /* of types and known_ids */
	uint16_t *known_ids; /* those that have a type */
	size_t known_cnt;
	bool started; /* the header is behind us */
	struct value_fault fault;
	uint64_t fault_offset;
	char newer[64]; /* the fault's reason where it is a frame of a later format */
	struct dial9_limits limits;
	size_t schema_bytes;
	struct pool_defs strings, stacks;
	dial9_read_fn read; /* NULL: the window is the caller's memory */
	void *ctx;
	uint8_t *buf;
	size_t cap;
};

/* Takes a claim of its own on the schema. -ENOMEM. */
int event_type_new(struct dial9_schema *s, uint16_t id, struct event_type **out);
void event_type_free(struct event_type *t);

/* Bytes that event_type_new() allocates. */
size_t event_type_size(const struct dial9_schema *s);

static inline struct event_type *event_type_of(const struct dial9_dec *d, uint16_t id)
{
	return id < d->type_cap ? d->types[id] : NULL;
}

/*
 * The next frame, if it is an event and lies well inside the window: its type, with `event` filled, and the
 * decoder moved behind it. NULL, and nothing changed, if that is not so, or if anything about it is wrong:
 * then event_parse() has the answer.
 */
const struct event_type *event_quick(struct dial9_dec *d);

/* The event frame at *pos. 0, or -ENODATA, -EBADMSG, -E2BIG with d->fault filled. */
int event_parse(struct dial9_dec *d, const uint8_t **pos, struct dial9_event *out);

#endif
