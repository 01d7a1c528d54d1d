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
 * Map from 64-bit keys to non-NULL pointers: open addressing with linear probing. Deletion moves
 * entries back, so there are no tombstones. {0} is a valid empty map. Values are borrowed: the
 * caller owns the objects.
 */
struct hmap {
	struct hmap_slot *slots; /* value NULL: free */
	size_t cap; /* a power of two, or 0 */
	size_t cnt;
};

int hmap_init(struct hmap *m);
void hmap_fini(struct hmap *m);

/* The slot of the key, or the free slot for it. The map must not be empty. */
static inline struct hmap_slot *hmap_probe(const struct hmap *m, uint64_t key)
{
	size_t mask = m->cap - 1;
	size_t i = hash_u64(key) & mask;

	/* ends: there is always a free slot */
	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/* NULL if the key is absent */
static inline void *hmap_get(const struct hmap *m, uint64_t key)
{
	return m->cap ? hmap_probe(m, key)->value : NULL;
}
/* Inserts or replaces a value, which must not be NULL. */
void hmap_set(struct hmap *m, uint64_t key, void *value);
/* Removes the key and returns its value; NULL if the key is absent. */
void *hmap_del(struct hmap *m, uint64_t key);

/*
 * Iterates in no particular order: start with *pos = 0; returns false at the end. The map must not
 * change during the iteration.
 */
bool hmap_next(const struct hmap *m, size_t *pos, uint64_t *key, void **value);

#endif /* D9_BASE_HMAP_H */
