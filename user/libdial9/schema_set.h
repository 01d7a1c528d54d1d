/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_SCHEMA_SET_H
#define D9_LIBDIAL9_SCHEMA_SET_H

#include "dial9.h"

/* A layout and its type id in one trace of one encoder */
struct schema_set_entry {
	struct dial9_schema *schema; /* one reference */
	uint16_t id;
	bool emitted; /* its frame is in the stream */
};

struct schema_set_ptr {
	struct dial9_schema *schema; /* one reference; NULL: free */
	uint32_t entry;
};

struct schema_set {
	struct schema_set_entry *entries;
	size_t cnt, cap;
	struct schema_set_ptr *ptrs; /* schema address -> entry */
	unsigned int ptr_bits;
	size_t ptr_used, alias_cnt;
	uint32_t *layouts; /* hash of the layout -> entry + 1 */
	unsigned int layout_bits;
	uint8_t *taken; /* a bit for each type id */
	uint32_t first_id, next_id;
};

int schema_set_init(struct schema_set *r, uint16_t first_id);
void schema_set_fini(struct schema_set *r);

/* Removes all entries; ids restart. */
void schema_set_clear(struct schema_set *r);

/*
 * The entry of a schema, created on first use. Equal layouts of different objects share an entry.
 * Borrowed until the next call that may add one. 0; -ENOSPC if all ids are used; -ENOMEM.
 */
int schema_set_get(struct schema_set *r, const struct dial9_schema *s,
		   struct schema_set_entry **out);

/* The entry of a known schema object, or NULL. */
static inline struct schema_set_entry *schema_set_find(const struct schema_set *r,
						       const struct dial9_schema *s)
{
	const struct schema_set_ptr *p =
		&r->ptrs[((uintptr_t)s * 0x9e3779b97f4a7c15ull) >> (64 - r->ptr_bits)];

	while (p->schema != s) {
		if (!p->schema)
			return NULL;
		if (++p == r->ptrs + ((size_t)1 << r->ptr_bits))
			p = r->ptrs;
	}
	return &r->entries[p->entry];
}

/* The same with an id that the caller chooses: -EEXIST if another layout has it. */
int schema_set_get_as(struct schema_set *r, const struct dial9_schema *s, uint16_t id,
		      struct schema_set_entry **out);

#endif
