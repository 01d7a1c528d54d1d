// SPDX-License-Identifier: BSD-2-Clause
/* Numbers for keys of several words. Owns a copy of each key, and the index by hash. */
#include "profile/counts/key_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint64_t hash_of(const uint64_t *key, size_t words)
{
	uint64_t h = words;

	for (size_t i = 0; i < words; i++)
		h = mix(h + 0x9e3779b97f4a7c15ULL, key[i]);
	return h;
}

static bool is_equal(const uint64_t *a, const uint64_t *b, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

size_t key_table_at(struct key_table *t, const uint64_t *key)
{
	uint64_t h = hash_of(key, t->words);
	uintptr_t at;

	for (;; h++) {
		at = (uintptr_t)hmap_get(&t->index, h);
		if (!at)
			break;
		if (is_equal(key_table_key(t, at - 1), key, t->words))
			return at - 1;
	}
	if (key_table_is_full(t))
		return KEY_TABLE_FULL;
	t->keys = array_reserve(t->keys, &t->cap, (t->cnt + 1) * t->words, sizeof(*t->keys));
	memcpy(t->keys + t->cnt * t->words, key, t->words * sizeof(*key));
	hmap_set(&t->index, h, (void *)(uintptr_t)(t->cnt + 1));
	return t->cnt++;
}

void key_table_fini(struct key_table *t)
{
	free(t->keys);
	hmap_fini(&t->index);
	*t = (struct key_table){ .words = t->words, .max = t->max };
}
