/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_COUNTS_KEY_TABLE_H
#define D9_PROFILE_COUNTS_KEY_TABLE_H

#include "base/hmap.h"

#define KEY_TABLE_FULL SIZE_MAX

/* Numbers distinct keys from 0 in order of first use. A key has @words words. */
struct key_table {
	size_t words; /* set it first; everything else is {0} */
	size_t max; /* keys at most; 0: no limit */
	uint64_t *keys; /* words of key 0, of key 1, ... */
	size_t cnt, cap;
	struct hmap index; /* hash of the key -> number + 1 */
};

/* The number of a key, which is added if it is new; KEY_TABLE_FULL if there is no room for it. */
size_t key_table_at(struct key_table *t, const uint64_t *key);
/* The words of a key. Borrowed until the next key_table_at(). */
static inline const uint64_t *key_table_key(const struct key_table *t, size_t number)
{
	return t->keys + number * t->words;
}
static inline bool key_table_is_full(const struct key_table *t)
{
	return t->max && t->cnt >= t->max;
}
void key_table_fini(struct key_table *t);

#endif /* D9_PROFILE_COUNTS_KEY_TABLE_H */
