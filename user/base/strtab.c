/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interned strings: each distinct string is stored once and has a small dense id.
 *
 * The bytes are in chunks that never move, so returned strings stay valid while the table grows. A
 * chunk has 64 KiB, or the size of one larger string. The index holds id + 1. Each entry keeps its
 * hash, so growing does not read the strings.
 */
#include "base/strtab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define CHUNK_SZ (64 * 1024)

struct strtab_chunk {
	struct strtab_chunk *next;
	size_t used, cap;
	char bytes[];
};

int strtab_init(struct strtab *t)
{
	*t = (struct strtab){ 0 };
	return 0;
}

void strtab_fini(struct strtab *t)
{
	struct strtab_chunk *chunk = t->chunks;

	while (chunk) {
		struct strtab_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	free(t->ents);
	free(t->slots);
	*t = (struct strtab){ 0 };
}

static const char *store(struct strtab *t, const char *s, size_t n)
{
	struct strtab_chunk *chunk = t->chunks;
	size_t cap;
	char *to;

	if (!chunk || chunk->cap - chunk->used <= n) {
		cap = n >= CHUNK_SZ ? n + 1 : CHUNK_SZ;
		chunk = xmalloc(sizeof(*chunk) + cap);
		*chunk = (struct strtab_chunk){ .next = t->chunks, .cap = cap };
		t->chunks = chunk;
	}
	to = chunk->bytes + chunk->used;
	if (n)
		memcpy(to, s, n);
	to[n] = '\0';
	chunk->used += n + 1;
	t->bytes += n + 1;
	return to;
}

/* The slot of the string, or the free slot for it. */
static uint32_t *probe(const struct strtab *t, const char *s, size_t n, uint64_t hash)
{
	size_t mask = t->slots_cap - 1;
	size_t i = hash & mask;

	for (; t->slots[i]; i = (i + 1) & mask) {
		const struct strtab_ent *ent = &t->ents[t->slots[i] - 1];

		if (ent->hash == hash && ent->len == n && (!n || !memcmp(ent->s, s, n)))
			break;
	}
	return &t->slots[i];
}

static void grow(struct strtab *t)
{
	size_t cap = t->slots_cap ? t->slots_cap * 2 : 64;
	size_t i;

	free(t->slots);
	t->slots = xcalloc(cap, sizeof(*t->slots));
	t->slots_cap = cap;
	for (uint32_t id = 0; id < t->cnt; id++) {
		i = t->ents[id].hash & (cap - 1);
		while (t->slots[i])
			i = (i + 1) & (cap - 1);
		t->slots[i] = id + 1;
	}
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t n)
{
	uint64_t hash = hash_bytes(s, n);
	uint32_t *slot;

	if (t->cnt >= t->slots_cap - t->slots_cap / 4)
		grow(t);
	slot = probe(t, s, n, hash);
	if (*slot)
		return *slot - 1;
	assert(t->cnt < UINT32_MAX - 1);
	t->ents = array_reserve(t->ents, &t->ents_cap, (size_t)t->cnt + 1, sizeof(*t->ents));
	t->ents[t->cnt] = (struct strtab_ent){ .s = store(t, s, n), .len = n, .hash = hash };
	*slot = ++t->cnt;
	return t->cnt - 1;
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t n)
{
	/* A free slot holds 0, which becomes UINT32_MAX. */
	return t->slots_cap ? *probe(t, s, n, hash_bytes(s, n)) - 1 : UINT32_MAX;
}

const char *strtab_get(const struct strtab *t, uint32_t id, size_t *len)
{
	if (id >= t->cnt)
		return NULL;
	if (len)
		*len = t->ents[id].len;
	return t->ents[id].s;
}
