// SPDX-License-Identifier: BSD-2-Clause
/*
 * The two sides of a pool: an encoder finds the id of bytes, a decoder finds the bytes of an id.
 * Strings and stacks are both bytes here; this file does not use frames or encodings.
 *
 * The encoder's table may be emptied at any time without damage to the stream: a written id stays
 * defined, and the same bytes get another id later. This caps the memory without a limit on the
 * number of strings in a recording.
 *
 * The decoder's copies are in blocks that never move, so names can be returned as pointers. Ids may
 * be sparse, so they are hashed, too. Both hashes are seeded: a hostile process cannot choose
 * names, nor a hostile file ids, that collide.
 */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "wire.h"

#define POOL_BYTES_MAX (64u << 20)
#define SLOTS_MIN 64
#define BLOCK_SZ (64u << 10)

struct pool_slot {
	uint64_t hash;
	size_t off; /* offset in text */
	uint32_t sz;
	uint32_t id;
	bool used;
};

struct pool_def {
	const uint8_t *data;
	size_t sz;
	size_t room; /* bytes at data that belong to this id */
	uint32_t id;
	bool used;
};

struct pool_block {
	struct pool_block *next;
	size_t used, cap;
	uint8_t data[];
};

/* Uses the address if the kernel has no randomness yet. */
static uint64_t make_seed(const void *owner)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uintptr_t)owner;
	return seed;
}

void pool_init(struct pool *p, size_t bytes_max)
{
	memset(p, 0, sizeof(*p));
	p->seed = make_seed(p);
	p->bytes_max = bytes_max ? bytes_max : POOL_BYTES_MAX;
}

void pool_fini(struct pool *p)
{
	free(p->slots);
	free(p->text);
	memset(p, 0, sizeof(*p));
}

void pool_clear(struct pool *p, bool restart_ids)
{
	if (p->used)
		memset(p->slots, 0, p->slot_cnt * sizeof(*p->slots));
	p->used = 0;
	p->text_sz = 0;
	if (restart_ids)
		p->next_id = 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 r = (unsigned __int128)a * b;

	return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/*
 * Two lanes, so that the multiplications of a stack do not wait for each other. The seed keeps the
 * factors secret.
 */
uint64_t pool_hash(const struct pool *p, const void *data, size_t sz)
{
	const uint64_t k1 = 0xa0761d6478bd642full ^ p->seed, k2 = 0xe7037ed1a0b428dbull ^ p->seed;
	uint64_t h = p->seed ^ sz, other = h, tail[2] = { 0 };
	const uint8_t *pos = data;

	for (; sz >= 32; sz -= 32, pos += 32) {
		h = mix(wire_get_u64(pos) ^ k1, wire_get_u64(pos + 8) ^ h);
		other = mix(wire_get_u64(pos + 16) ^ k2, wire_get_u64(pos + 24) ^ other);
	}
	h ^= mix(other, k2);
	if (sz >= 16) {
		h = mix(wire_get_u64(pos) ^ k1, wire_get_u64(pos + 8) ^ h);
		sz -= 16;
		pos += 16;
	}
	wire_put_bytes((uint8_t *)tail, pos, sz);
	return mix(mix(tail[0] ^ k1, tail[1] ^ h), k2);
}

bool pool_find(const struct pool *p, uint64_t hash, const void *data, uint32_t sz, uint32_t *id)
{
	const struct pool_slot *s;
	size_t i;

	if (!p->used)
		return false;
	for (i = hash & (p->slot_cnt - 1);; i = (i + 1) & (p->slot_cnt - 1)) {
		s = &p->slots[i];
		if (!s->used)
			return false;
		if (s->hash == hash && s->sz == sz &&
		    (!sz || !memcmp(p->text + s->off, data, sz))) {
			*id = s->id;
			return true;
		}
	}
}

static struct pool_slot *free_slot(struct pool_slot *slots, size_t cnt, uint64_t hash)
{
	size_t i = hash & (cnt - 1);

	while (slots[i].used)
		i = (i + 1) & (cnt - 1);
	return &slots[i];
}

/*
 * Computes the array sizes after adding one entry of sz bytes; false if they would exceed the cap.
 */
static bool plan(const struct pool *p, uint32_t sz, size_t *slot_cnt, size_t *text_cap)
{
	*slot_cnt = p->slot_cnt ? p->slot_cnt : SLOTS_MIN;
	if ((p->used + 1) * 4 > *slot_cnt * 3)
		*slot_cnt *= 2;
	*text_cap = p->text_cap;
	if (p->text_sz + sz > *text_cap)
		*text_cap = (p->text_sz + sz) + (p->text_sz + sz) / 2;
	return *slot_cnt * sizeof(*p->slots) + *text_cap <= p->bytes_max;
}

static int grow(struct pool *p, size_t slot_cnt, size_t text_cap)
{
	struct pool_slot *slots;
	uint8_t *text;
	size_t i;

	if (text_cap != p->text_cap) {
		text = realloc(p->text, text_cap);
		if (!text)
			return -ENOMEM;
		p->text = text;
		p->text_cap = text_cap;
	}
	if (slot_cnt == p->slot_cnt)
		return 0;
	slots = calloc(slot_cnt, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < p->slot_cnt; i++)
		if (p->slots[i].used)
			*free_slot(slots, slot_cnt, p->slots[i].hash) = p->slots[i];
	free(p->slots);
	p->slots = slots;
	p->slot_cnt = slot_cnt;
	return 0;
}

int pool_add(struct pool *p, uint64_t hash, const void *data, uint32_t sz, uint32_t id)
{
	size_t slot_cnt, text_cap;
	struct pool_slot *s;
	int err;

	if (!plan(p, sz, &slot_cnt, &text_cap)) {
		pool_clear(p, false);
		if (!plan(p, sz, &slot_cnt, &text_cap))
			return 0;
	}
	err = grow(p, slot_cnt, text_cap);
	if (err)
		return err;
	s = free_slot(p->slots, p->slot_cnt, hash);
	*s = (struct pool_slot){ hash, p->text_sz, sz, id, true };
	if (sz)
		memcpy(p->text + p->text_sz, data, sz);
	p->text_sz += sz;
	p->used++;
	return 0;
}

void pool_defs_init(struct pool_defs *d, size_t bytes_max, bool borrow)
{
	memset(d, 0, sizeof(*d));
	d->bytes_max = bytes_max;
	d->borrow = borrow;
	d->seed = make_seed(d);
}

void pool_defs_fini(struct pool_defs *d)
{
	struct pool_block *b;

	while ((b = d->blocks)) {
		d->blocks = b->next;
		free(b);
	}
	free(d->defs);
	pool_defs_init(d, d->bytes_max, d->borrow);
}

static size_t def_index(const struct pool_def *defs, size_t cnt, uint64_t seed, uint32_t id)
{
	size_t i = mix(id ^ seed, 0x9e3779b97f4a7c15ull) & (cnt - 1);

	while (defs[i].used && defs[i].id != id)
		i = (i + 1) & (cnt - 1);
	return i;
}

static int defs_grow(struct pool_defs *d)
{
	size_t i, cnt = d->def_cnt ? d->def_cnt * 2 : SLOTS_MIN;
	size_t more = (cnt - d->def_cnt) * sizeof(*d->defs);
	struct pool_def *defs;

	if ((d->used + 1) * 4 <= d->def_cnt * 3)
		return 0;
	if (more > d->bytes_max - d->bytes)
		return -E2BIG;
	defs = calloc(cnt, sizeof(*defs));
	if (!defs)
		return -ENOMEM;
	for (i = 0; i < d->def_cnt; i++)
		if (d->defs[i].used)
			defs[def_index(defs, cnt, d->seed, d->defs[i].id)] = d->defs[i];
	free(d->defs);
	d->defs = defs;
	d->def_cnt = cnt;
	d->bytes += more;
	return 0;
}

static int defs_alloc(struct pool_defs *d, size_t sz, uint8_t **out)
{
	size_t room = d->bytes_max - d->bytes;
	size_t cap = room < BLOCK_SZ ? room : BLOCK_SZ;
	struct pool_block *b = d->blocks;

	if (!b || b->cap - b->used < sz) {
		if (cap < sz)
			cap = sz;
		if (cap > room)
			return -E2BIG;
		b = malloc(sizeof(*b) + cap);
		if (!b)
			return -ENOMEM;
		b->next = d->blocks;
		b->used = 0;
		b->cap = cap;
		d->blocks = b;
		d->bytes += cap;
	}
	*out = b->data + b->used;
	b->used += sz;
	return 0;
}

int pool_defs_set(struct pool_defs *d, uint32_t id, const uint8_t *data, size_t sz)
{
	struct pool_def *def;
	uint8_t *copy;
	int err;

	err = defs_grow(d);
	if (err)
		return err;
	def = &d->defs[def_index(d->defs, d->def_cnt, d->seed, id)];
	if (d->borrow) {
		def->data = data;
	} else if (def->used && def->room >= sz) {
		wire_put_bytes((uint8_t *)def->data, data, sz);
	} else {
		err = defs_alloc(d, sz, &copy);
		if (err)
			return err;
		wire_put_bytes(copy, data, sz);
		def->data = copy;
		def->room = sz;
	}
	d->used += !def->used;
	def->used = true;
	def->id = id;
	def->sz = sz;
	return 0;
}

const uint8_t *pool_defs_get(const struct pool_defs *d, uint32_t id, size_t *sz)
{
	const struct pool_def *def;

	if (!d->def_cnt)
		return NULL;
	def = &d->defs[def_index(d->defs, d->def_cnt, d->seed, id)];
	if (!def->used)
		return NULL;
	*sz = def->sz;
	return def->data;
}
