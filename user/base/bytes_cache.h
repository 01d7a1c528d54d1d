/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_BYTES_CACHE_H
#define D9_BASE_BYTES_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct bytes_cache_slot;

/*
 * Results that are expensive to compute, by their input; for example the text of a stack by its
 * frames. The size is bounded: if a result does not fit, the cache is cleared. {0} with both sizes
 * set is a valid empty cache.
 */
struct bytes_cache {
	size_t slot_cnt; /* a power of two; at most three quarters are used */
	size_t bytes_max; /* of all keys and values; a minimum */
	struct bytes_cache_slot *slots;
	uint32_t age, used; /* slots with another age are free */
	uint64_t version; /* of the inputs other than the key; a change invalidates the values */
	char *bytes;
	size_t len, cap;
	uint64_t hash; /* of the last key that bytes_cache_get() did not find */
};

/* Clears the cache and frees the memory. */
void bytes_cache_fini(struct bytes_cache *m);

/*
 * If the cache has a value for this key and @version, appends it to @out and returns true.
 * Otherwise returns false; the caller may then store the value with bytes_cache_put(), before the
 * next call for another key.
 */
bool bytes_cache_get(struct bytes_cache *m, const void *key, size_t key_sz, uint64_t version,
		     struct buf *out);
/* Stores a copy of @value for the key of the last bytes_cache_get(), which must have failed. */
void bytes_cache_put(struct bytes_cache *m, const void *key, size_t key_sz, const void *value,
		     size_t value_sz);

#endif /* D9_BASE_BYTES_CACHE_H */
