/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_LAYOUT_H
#define D9_TRACE_READ_LAYOUT_H

#include "trace/read/trace.h"

/* The same of all schemas that are equal. */
uint64_t layout_hash(const struct dial9_schema *s);

/* What a type id means in this segment. */
struct layout_slot {
	struct trace_schema *schema; /* NULL: nothing, or there is more to know of it than it has */
	bool used;
	uint8_t turns; /* how often something was said of its fields behind events */
};

/*
 * All schemas of a stream, each once: by type id for the segment at hand, and by content over all
 * segments. {0} is empty.
 */
struct layout_set {
	struct layout_slot *by_type; /* 65536 slots */
	uint16_t *used; /* slots taken in this segment */
	size_t used_cnt, used_cap;
	struct hmap by_content;
	struct trace_schema **all;
	size_t cnt, cap;
	size_t said_cost; /* of schemas that are there again because of what is said of their fields */
};

/* What of TRACE_USES_* the types of a schema's fields are. */
unsigned int layout_uses(const struct dial9_schema *schema);

/*
 * Registers what type id @type_id means from now on, with all annotations of it (struct dial9_iter, left 0: none);
 * names go into @n.
 */
void layout_set_add(struct layout_set *set, struct names *n, uint16_t type_id,
		    const struct dial9_schema *schema, struct dial9_iter notes);
/*
 * Something was said of a type's fields: layout_set_get() finds it no more until it is registered again, before
 * its next event. Who says too much, too often, is not listened to.
 */
void layout_set_outdate(struct layout_set *set, uint16_t type_id);
/* NULL when the id means nothing in this segment. */
static inline struct trace_schema *layout_set_get(const struct layout_set *set, uint16_t type_id)
{
	return set->by_type ? set->by_type[type_id].schema : NULL;
}
/* A new segment: ids mean nothing, contents are kept. */
void layout_set_segment(struct layout_set *set);
void layout_set_fini(struct layout_set *set);

#endif /* D9_TRACE_READ_LAYOUT_H */
