/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_BYTES_CACHE_H
#define D9_BASE_BYTES_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct bytes_cache_slot;

/*
 * Bytes that were made of other bytes, kept for when the same are met again: the text of a stack by
 * its frames. Bounded: what does not fit any more makes it forget everything. {0} with the two sizes
 * set is a valid empty one.
 */
struct bytes_cache {
	size_t slot_cnt; /* how many it keeps at most, and a quarter more: a power of two */
	size_t bytes_max; /* of all keys and values, at least */
	struct bytes_cache_slot *slots;
	uint32_t age, used; /* slots of another age are free */
	uint64_t version; /* of what values are made of besides their keys */
	char *bytes;
	size_t len, cap;
	uint64_t hash; /* of the key that bytes_cache_get() did not find */
};

/* Forgets all, and releases the memory. */
void bytes_cache_fini(struct bytes_cache *m);

/*
 * Appends to @out what bytes_cache_put() was given for this key, if it was while @version was the same: true.
 * Else false, and the caller makes it, and may put it before it asks for another key.
 */
bool bytes_cache_get(struct bytes_cache *m, const void *key, size_t key_sz, uint64_t version,
		     struct buf *out);
/* Keeps a copy of @value for the key of the bytes_cache_get() that has just failed. */
void bytes_cache_put(struct bytes_cache *m, const void *key, size_t key_sz, const void *value,
		     size_t value_sz);

#endif /* D9_BASE_BYTES_CACHE_H */
