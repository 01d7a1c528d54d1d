/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_LAYOUT_H
#define D9_TRACE_READ_LAYOUT_H

#include "trace/read/trace.h"

/* Equal for equal schemas. */
uint64_t layout_hash(const struct dial9_schema *s);

/* The meaning of a type id in this segment. */
struct layout_slot {
	struct trace_schema *schema; /* NULL: undefined, or annotations came after it was built */
	bool used;
	uint8_t late_notes; /* how often annotations came after events */
};

/*
 * All distinct schemas of a stream: by type id for the current segment, by content over all
 * segments. {0} is empty.
 */
struct layout_set {
	struct layout_slot *by_type; /* 65536 slots */
	uint16_t *used; /* slots used in this segment */
	size_t used_cnt, used_cap;
	struct hmap by_content;
	struct trace_schema **all;
	size_t cnt, cap;
	size_t notes_cost; /* of schemas that were interned again because of new annotations */
};

/* TRACE_USES_* of the types of a schema's fields. */
unsigned int layout_uses(const struct dial9_schema *schema);

/*
 * Defines type id @type_id with its annotations (struct dial9_iter, left 0: none); names go into
 * @n.
 */
void layout_set_add(struct layout_set *set, struct names *n, uint16_t type_id,
		    const struct dial9_schema *schema, struct dial9_iter notes);
/*
 * Annotations of a type arrived: layout_set_get() returns NULL until the type is added again,
 * before its next event. Excessive annotations are ignored.
 */
void layout_set_outdate(struct layout_set *set, uint16_t type_id);
/* NULL if the id is undefined in this segment. */
static inline struct trace_schema *layout_set_get(const struct layout_set *set, uint16_t type_id)
{
	return set->by_type ? set->by_type[type_id].schema : NULL;
}
/* Starts a segment: ids become undefined, contents are kept. */
void layout_set_segment(struct layout_set *set);
void layout_set_fini(struct layout_set *set);

#endif /* D9_TRACE_READ_LAYOUT_H */
