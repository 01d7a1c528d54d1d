/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from 64-bit keys to pointers: one array, linear probing, at most three quarters full.
 *
 * Deletion leaves no tombstone: it moves entries after the hole back if a lookup would no longer
 * find them. So a long-lived table with many insertions and deletions stays as fast as a new one.
 */
#include "base/hmap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

int hmap_init(struct hmap *m)
{
	*m = (struct hmap){ 0 };
	return 0;
}

void hmap_fini(struct hmap *m)
{
	free(m->slots);
	*m = (struct hmap){ 0 };
}

static void grow(struct hmap *m)
{
	struct hmap bigger = { .cap = m->cap ? m->cap * 2 : 16, .cnt = m->cnt };

	bigger.slots = xcalloc(bigger.cap, sizeof(*bigger.slots));
	for (size_t i = 0; i < m->cap; i++) {
		if (m->slots[i].value)
			*hmap_probe(&bigger, m->slots[i].key) = m->slots[i];
	}
	free(m->slots);
	*m = bigger;
}

void hmap_set(struct hmap *m, uint64_t key, void *value)
{
	struct hmap_slot *slot;

	assert(value);
	if (m->cnt >= m->cap - m->cap / 4)
		grow(m);
	slot = hmap_probe(m, key);
	if (!slot->value)
		m->cnt++;
	slot->key = key;
	slot->value = value;
}

void *hmap_del(struct hmap *m, uint64_t key)
{
	size_t mask = m->cap - 1;
	struct hmap_slot *slot;
	size_t hole, home;
	void *value;

	if (!m->cap)
		return NULL;
	slot = hmap_probe(m, key);
	value = slot->value;
	if (!value)
		return NULL;
	hole = slot - m->slots;
	for (size_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		home = hash_u64(m->slots[i].key) & mask;
		/*
		 * The entry may move if the hole is on its probe path from home; positions wrap
		 * around.
		 */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = (struct hmap_slot){ 0 };
	m->cnt--;
	return value;
}

bool hmap_next(const struct hmap *m, size_t *pos, uint64_t *key, void **value)
{
	for (size_t i = *pos; i < m->cap; i++) {
		if (!m->slots[i].value)
			continue;
		if (key)
			*key = m->slots[i].key;
		if (value)
			*value = m->slots[i].value;
		*pos = i + 1;
		return true;
	}
	*pos = m->cap;
	return false;
}
