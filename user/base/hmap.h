/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_HMAP_H
#define D9_BASE_HMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mix.h"

struct hmap_slot {
	uint64_t key;
	void *value;
};

/*
 * Map from 64-bit keys to non-NULL pointers: open addressing with linear probing, deletion by
 * moving back, so look-ups never wade through tombstones. {0} is a valid empty map. Values are
 * borrowed: the caller owns what they point to.
 */
struct hmap {
	struct hmap_slot *slots; /* value NULL = free */
	size_t cap; /* a power of two, or 0 */
	size_t cnt;
};

int hmap_init(struct hmap *m);
void hmap_fini(struct hmap *m);

/* The slot of the key, or the free one where it would go. Not in an empty map. */
static inline struct hmap_slot *hmap_probe(const struct hmap *m, uint64_t key)
{
	size_t mask = m->cap - 1;
	size_t i = hash_u64(key) & mask;

	/* there is always a free slot */
	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/* NULL when absent. */
static inline void *hmap_get(const struct hmap *m, uint64_t key)
{
	return m->cap ? hmap_probe(m, key)->value : NULL;
}
/* Replaces an existing value. value must not be NULL. */
void hmap_set(struct hmap *m, uint64_t key, void *value);
/* Removes the key and returns its value, NULL when absent. */
void *hmap_del(struct hmap *m, uint64_t key);

/*
 * Iteration: start with *pos = 0, false at the end. In no useful order. The map must not change
 * meanwhile.
 */
bool hmap_next(const struct hmap *m, size_t *pos, uint64_t *key, void **value);

#endif /* D9_BASE_HMAP_H */
