/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_LAYOUT_H
#define D9_TRACE_LAYOUT_H

#include "trace/trace.h"

/*
 * All schemas of a stream, each once: by type id for the segment at hand, and by content over all
 * segments. {0} is empty.
 */
struct layout_set {
	struct trace_schema **by_type; /* 65536 slots */
	uint16_t *used; /* slots taken in this segment */
	size_t used_cnt, used_cap;
	struct hmap by_content;
	struct trace_schema **all;
	size_t cnt, cap;
};

/* Registers what type id @type_id means from now on; names go into @n. */
void layout_set_add(struct layout_set *set, struct names *n, uint16_t type_id,
		    const struct dial9_schema *schema);
/* NULL when the id means nothing in this segment. */
static inline const struct trace_schema *layout_set_get(const struct layout_set *set,
							uint16_t type_id)
{
	return set->by_type ? set->by_type[type_id] : NULL;
}
/* A new segment: ids mean nothing, contents are kept. */
void layout_set_segment(struct layout_set *set);
void layout_set_fini(struct layout_set *set);

#endif /* D9_TRACE_LAYOUT_H */
