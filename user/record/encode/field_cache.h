/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_FIELD_CACHE_H
#define D9_RECORD_ENCODE_FIELD_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Encoded fields of recent records, by the records' raw bytes. The same threads switch and wake each other again and
 * again, so most records have the same fields as an earlier one: finding and copying these is cheaper than encoding
 * them. Entries contain ids of texts, so they are valid within one segment.
 */

enum {
	FIELD_CACHE_SLOTS = 1024, /* a power of two */
	FIELD_CACHE_WORDS = 8, /* raw bytes of an event, in words */
	FIELD_CACHE_BYTES = 56, /* encoded fields */
};

struct field_cache_slot {
	uint64_t raw[FIELD_CACHE_WORDS];
	uint8_t fields[FIELD_CACHE_BYTES];
	uint32_t event;
	uint32_t sz; /* of fields; 0: free */
};

struct field_cache {
	struct field_cache_slot slots[FIELD_CACHE_SLOTS];
};

/* The raw bytes of a record's fields, up to FIELD_CACHE_WORDS words; more are not kept. */
struct field_cache_key {
	uint64_t raw[FIELD_CACHE_WORDS];
	uint32_t event;
	uint32_t words; /* 0: too many */
	uint32_t slot;
};

/* sz: at least 8. Records of one event have the same size. */
static inline void field_cache_key(struct field_cache_key *key, uint32_t event, const uint8_t *raw,
				   size_t sz)
{
	uint64_t h = event;
	uint32_t i;

	key->event = event;
	key->words = sz <= sizeof(key->raw) ? (uint32_t)((sz + 7) / 8) : 0;
	for (i = 0; i < key->words; i++) {
		memcpy(&key->raw[i], raw + (i + 1 < key->words ? 8UL * i : sz - 8), 8);
		h = (h << 9 | h >> 55) ^ key->raw[i];
	}
	key->slot = (uint32_t)(h * 0x9e3779b97f4a7c15ULL >> 40) & (FIELD_CACHE_SLOTS - 1);
}

/* NULL: not known */
static inline const struct field_cache_slot *field_cache_find(const struct field_cache *c,
							      const struct field_cache_key *key)
{
	const struct field_cache_slot *slot = &c->slots[key->slot];
	uint64_t differs = slot->event ^ key->event;

	for (uint32_t i = 0; i < key->words; i++)
		differs |= slot->raw[i] ^ key->raw[i];
	return key->words && slot->sz && !differs ? slot : NULL;
}

/* FIELD_CACHE_BYTES can be read at fields, of which sz count. */
static inline void field_cache_put(struct field_cache *c, const struct field_cache_key *key,
				   const uint8_t *fields, size_t sz)
{
	struct field_cache_slot *slot = &c->slots[key->slot];

	if (!key->words || !sz || sz > FIELD_CACHE_BYTES)
		return;
	memcpy(slot->raw, key->raw, 8UL * key->words);
	memcpy(slot->fields, fields, FIELD_CACHE_BYTES);
	slot->event = key->event;
	slot->sz = (uint32_t)sz;
}

static inline void field_cache_clear(struct field_cache *c)
{
	memset(c, 0, sizeof(*c));
}

#endif
