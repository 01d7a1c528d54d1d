/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_REGISTRY_H
#define D9_LIBDIAL9_REGISTRY_H

#include "dial9.h"

/* A layout and the type id that it has in one trace of one encoder. */
struct registry_entry {
	struct dial9_schema *schema; /* counted */
	uint16_t id;
	bool emitted; /* its frame is in the stream */
};

struct registry_ptr {
	struct dial9_schema *schema; /* counted; NULL: free */
	uint32_t entry;
};

struct registry {
	struct registry_entry *entries;
	size_t cnt, cap;
	struct registry_ptr *ptrs; /* schema address -> entry */
	unsigned int ptr_bits;
	size_t ptr_used, alias_cnt;
	uint32_t *layouts; /* hash of the layout -> entry + 1 */
	unsigned int layout_bits;
	uint8_t *taken; /* a bit for each type id */
	uint32_t first_id, next_id;
};

int registry_init(struct registry *r, uint16_t first_id);
void registry_fini(struct registry *r);

/* Forget everything; ids start again. */
void registry_clear(struct registry *r);

/*
 * The entry of a schema, made on first sight; an equal layout has the same entry whatever object brings it.
 * Borrowed until the next call that may add one. -ENOSPC when all ids are used, -ENOMEM.
 */
int registry_get(struct registry *r, const struct dial9_schema *s, struct registry_entry **out);

/* The entry of a schema object that was seen before, or NULL. */
static inline struct registry_entry *registry_find(const struct registry *r,
						   const struct dial9_schema *s)
{
	const struct registry_ptr *p =
		&r->ptrs[((uintptr_t)s * 0x9e3779b97f4a7c15ull) >> (64 - r->ptr_bits)];

	while (p->schema != s) {
		if (!p->schema)
			return NULL;
		if (++p == r->ptrs + ((size_t)1 << r->ptr_bits))
			p = r->ptrs;
	}
	return &r->entries[p->entry];
}

/* Same, under an id of the caller's choice: -EEXIST if another layout has it. */
int registry_get_as(struct registry *r, const struct dial9_schema *s, uint16_t id,
		    struct registry_entry **out);

#endif
