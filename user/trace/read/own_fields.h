/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_OWN_FIELDS_H
#define D9_TRACE_READ_OWN_FIELDS_H

#include <stdint.h>

#include "events/own_events.h"

/* Where a schema has the fields of an own event. {0}: it is none. */
struct own_fields {
	const struct own_event *event;
	int32_t *at; /* field of the schema by row of the event, -1: none */
};

void own_fields_init(struct own_fields *f, const struct dial9_schema *schema);
void own_fields_fini(struct own_fields *f);

/*
 * Fills the members of @out, a struct of f->event, from @values: numbers, text and bytes. A member keeps its value
 * if the event does not have the field, or has another type there, or a number that the member cannot hold.
 * Returns the set of rows that were filled. Text is borrowed from @dec and @values.
 */
uint64_t own_fields_read(const struct own_fields *f, const struct dial9_dec *dec,
			 const struct dial9_value *values, void *out);

#endif /* D9_TRACE_READ_OWN_FIELDS_H */
