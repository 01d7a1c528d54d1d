// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of many events, which are released together.
 *
 * They fill blocks of memory one after the other. An event that does not fit in a block has one of
 * its own. Each schema is referenced once, for all copies that use it. dial9_copies_clear() keeps
 * the blocks for the next copies.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "dial9.h"

#define BLOCK_SZ (128u << 10)
#define RECENT 16 /* schemas; a power of two */
#define SLOTS_MIN 32 /* of the set; a power of two */

struct copies_block {
	struct copies_block *next;
	size_t sz; /* of data */
	uint64_t data[];
};

struct dial9_copies {
	struct copies_block *used, *spare; /* the newest is first */
	uint8_t *pos, *end; /* room in the newest block of BLOCK_SZ */
	const struct dial9_schema *recent[RECENT]; /* some of the set, by address */
	struct dial9_schema **slots; /* all referenced schemas: a hash set, NULL: free */
	size_t slot_cnt, schema_cnt;
};

int dial9_copies_new(struct dial9_copies **out)
{
	struct dial9_copies *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*out = c;
	return 0;
}

static size_t hash_of(const struct dial9_schema *s)
{
	return (size_t)((uintptr_t)s * 0x9e3779b97f4a7c15ull >> 32);
}

/* The slot of a schema, or where it belongs. At least one is free. */
static struct dial9_schema **find_slot(struct dial9_schema **slots, size_t cnt,
				       const struct dial9_schema *s)
{
	size_t i = hash_of(s);

	while (slots[i & (cnt - 1)] && slots[i & (cnt - 1)] != s)
		i++;
	return &slots[i & (cnt - 1)];
}

static int grow_set(struct dial9_copies *c)
{
	const size_t cnt = c->slot_cnt ? c->slot_cnt * 2 : SLOTS_MIN;
	struct dial9_schema **slots = calloc(cnt, sizeof(*slots));
	size_t i;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < c->slot_cnt; i++)
		if (c->slots[i])
			*find_slot(slots, cnt, c->slots[i]) = c->slots[i];
	free(c->slots);
	c->slots = slots;
	c->slot_cnt = cnt;
	return 0;
}

static int add_schema(struct dial9_copies *c, const struct dial9_schema *s)
{
	struct dial9_schema **slot;
	int err = c->schema_cnt * 2 >= c->slot_cnt ? grow_set(c) : 0;

	if (err)
		return err;
	slot = find_slot(c->slots, c->slot_cnt, s);
	if (!*slot) {
		*slot = dial9_schema_ref(s);
		c->schema_cnt++;
	}
	return 0;
}

/* References the schema of a copy. */
static int hold_schema(struct dial9_copies *c, const struct dial9_schema *s)
{
	const struct dial9_schema **recent = &c->recent[hash_of(s) % RECENT];
	int err;

	if (*recent == s)
		return 0;
	err = add_schema(c, s);
	if (!err)
		*recent = s;
	return err;
}

/* A block of at least sz bytes, the first of those in use. */
static struct copies_block *add_block(struct dial9_copies *c, size_t sz)
{
	struct copies_block *b = sz <= BLOCK_SZ ? c->spare : NULL;

	if (b) {
		c->spare = b->next;
	} else {
		sz = sz < BLOCK_SZ ? BLOCK_SZ : sz;
		b = malloc(sizeof(*b) + sz);
		if (!b)
			return NULL;
		b->sz = sz;
	}
	b->next = c->used;
	c->used = b;
	return b;
}

/* A copy in a new block. Later copies use the rest of it, unless the event needs it alone. */
static int put_in_new(struct dial9_copies *c, const struct dial9_dec *dec,
		      const struct dial9_event *ev, const struct dial9_event **out)
{
	const size_t sz = copy_size(dec, ev);
	struct copies_block *b = add_block(c, sz);
	uint8_t *pos, *end;

	if (!b)
		return -ENOMEM;
	pos = (uint8_t *)b->data;
	end = pos + b->sz;
	*out = copy_put(dec, ev, &pos, end);
	if (b->sz == BLOCK_SZ) {
		c->pos = pos;
		c->end = end;
	}
	return 0;
}

int dial9_copies_add(struct dial9_copies *c, const struct dial9_dec *dec,
		     const struct dial9_event *ev, const struct dial9_event **out)
{
	const struct dial9_event *copy;
	int err = hold_schema(c, ev->schema);

	if (err)
		return err;
	copy = c->pos ? copy_put(dec, ev, &c->pos, c->end) : NULL;
	if (!copy)
		return put_in_new(c, dec, ev, out);
	*out = copy;
	return 0;
}

void dial9_copies_clear(struct dial9_copies *c)
{
	struct copies_block *b;
	size_t i;

	while (c->used) {
		b = c->used;
		c->used = b->next;
		if (b->sz > BLOCK_SZ) {
			free(b);
			continue;
		}
		b->next = c->spare;
		c->spare = b;
	}
	c->pos = c->end = NULL;
	for (i = 0; i < c->slot_cnt; i++)
		dial9_schema_free(c->slots[i]);
	if (c->slots)
		memset(c->slots, 0, c->slot_cnt * sizeof(*c->slots));
	memset(c->recent, 0, sizeof(c->recent));
	c->schema_cnt = 0;
}

void dial9_copies_free(struct dial9_copies *c)
{
	struct copies_block *b;

	if (!c)
		return;
	dial9_copies_clear(c);
	while (c->spare) {
		b = c->spare;
		c->spare = b->next;
		free(b);
	}
	free(c->slots);
	free(c);
}
