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
	uint64_t tail; /* the last 8 raw bytes: the rest of a word */
	uint8_t fields[FIELD_CACHE_BYTES];
	uint32_t event;
	uint32_t sz; /* of fields; 0: free */
};

struct field_cache {
	struct field_cache_slot slots[FIELD_CACHE_SLOTS];
};

/* Where the raw bytes of a record's fields are. More than FIELD_CACHE_WORDS words are not kept. */
struct field_cache_key {
	const uint8_t *raw; /* borrowed */
	uint64_t tail;
	uint32_t event;
	uint32_t words;
	uint32_t slot;
};

static inline uint64_t field_cache_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* sz: at least 8. Records of one event have the same size. */
static inline void field_cache_key(struct field_cache_key *key, uint32_t event, const uint8_t *raw,
				   size_t sz)
{
	uint32_t words = (uint32_t)sz / 8, i;
	uint64_t h = field_cache_word(raw + sz - 8) ^ event;

	*key = (struct field_cache_key){
		.raw = raw, .tail = h ^ event, .event = event, .words = words
	};
#pragma GCC unroll 8
	for (i = 0; i < FIELD_CACHE_WORDS; i++) {
		if (i == words)
			break;
		h = (h << 9 | h >> 55) ^ field_cache_word(raw + 8UL * i);
	}
	key->slot = (uint32_t)(h * 0x9e3779b97f4a7c15ULL >> 40) & (FIELD_CACHE_SLOTS - 1);
}

/* NULL: not known */
static inline const struct field_cache_slot *field_cache_find(const struct field_cache *c,
							      const struct field_cache_key *key)
{
	const struct field_cache_slot *slot = &c->slots[key->slot];
	uint64_t differs = (slot->tail ^ key->tail) | (slot->event ^ key->event);

#pragma GCC unroll 8
	for (uint32_t i = 0; i < FIELD_CACHE_WORDS; i++) {
		if (i == key->words)
			break;
		differs |= slot->raw[i] ^ field_cache_word(key->raw + 8UL * i);
	}
	return slot->sz && !differs ? slot : NULL;
}

/* FIELD_CACHE_BYTES can be read at fields, of which sz count. */
static inline void field_cache_put(struct field_cache *c, const struct field_cache_key *key,
				   const uint8_t *fields, size_t sz)
{
	struct field_cache_slot *slot = &c->slots[key->slot];

	if (key->words > FIELD_CACHE_WORDS || !sz || sz > FIELD_CACHE_BYTES)
		return;
	memcpy(slot->raw, key->raw, 8UL * key->words);
	memcpy(slot->fields, fields, FIELD_CACHE_BYTES);
	slot->tail = key->tail;
	slot->event = key->event;
	slot->sz = (uint32_t)sz;
}

static inline void field_cache_clear(struct field_cache *c)
{
	memset(c, 0, sizeof(*c));
}

#endif
