/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded cache from byte strings to byte strings. It owns copies of keys and values, stored
 * consecutively in a block that grows up to a cap. An open-addressed array is the index.
 *
 * Clearing is cheap: it increments the age, and slots of an older age count as free. A caller whose
 * keys never repeat pays only for the copies.
 */
#include "base/bytes_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"

struct bytes_cache_slot {
	uint64_t hash;
	size_t off; /* of the key in bytes; the value follows it */
	uint32_t age;
	uint32_t key_sz, value_sz;
};

void bytes_cache_fini(struct bytes_cache *m)
{
	free(m->slots);
	free(m->bytes);
	*m = (struct bytes_cache){ .slot_cnt = m->slot_cnt, .bytes_max = m->bytes_max };
}

static void forget(struct bytes_cache *m)
{
	m->age++;
	if (!m->age && m->slots) {
		memset(m->slots, 0, m->slot_cnt * sizeof(*m->slots));
		m->age = 1;
	}
	m->used = 0;
	m->len = 0;
}

/* The slot of the key, or the free slot for it. */
static struct bytes_cache_slot *probe(const struct bytes_cache *m, uint64_t hash, const void *key,
				      size_t key_sz)
{
	size_t mask = m->slot_cnt - 1, i = hash & mask;
	struct bytes_cache_slot *s;

	for (;; i = (i + 1) & mask) {
		s = &m->slots[i];
		if (s->age != m->age)
			return s;
		if (s->hash == hash && s->key_sz == key_sz &&
		    (!key_sz || !memcmp(m->bytes + s->off, key, key_sz)))
			return s;
	}
}

bool bytes_cache_get(struct bytes_cache *m, const void *key, size_t key_sz, uint64_t version,
		     struct buf *out)
{
	const struct bytes_cache_slot *s;

	if (!m->slots) {
		m->slots = xcalloc(m->slot_cnt, sizeof(*m->slots));
		m->age = 1;
	}
	if (m->version != version) {
		m->version = version;
		forget(m);
	}
	m->hash = hash_bytes(key, key_sz);
	s = probe(m, m->hash, key, key_sz);
	if (s->age != m->age)
		return false;
	if (s->value_sz)
		buf_add(out, m->bytes + s->off + s->key_sz, s->value_sz);
	return true;
}

void bytes_cache_put(struct bytes_cache *m, const void *key, size_t key_sz, const void *value,
		     size_t value_sz)
{
	size_t sz = key_sz + value_sz;
	struct bytes_cache_slot *s;

	/* do not evict most of the others for one large value */
	if (sz < key_sz || sz > m->bytes_max / 4 || sz > UINT32_MAX)
		return;
	if (m->used >= m->slot_cnt - m->slot_cnt / 4 || m->len + sz > m->bytes_max)
		forget(m);
	m->bytes = array_reserve(m->bytes, &m->cap, m->len + sz, 1);
	s = probe(m, m->hash, key, key_sz);
	*s = (struct bytes_cache_slot){ .hash = m->hash,
					.off = m->len,
					.age = m->age,
					.key_sz = (uint32_t)key_sz,
					.value_sz = (uint32_t)value_sz };
	if (key_sz)
		memcpy(m->bytes + m->len, key, key_sz);
	if (value_sz)
		memcpy(m->bytes + m->len + key_sz, value, value_sz);
	m->len += sz;
	m->used++;
}
