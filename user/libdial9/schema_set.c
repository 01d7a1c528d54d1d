// SPDX-License-Identifier: BSD-2-Clause
/*
 * Type ids of schemas in one encoder. Each event looks up its id, so the lookup must be very cheap.
 *
 * Schemas are shared between encoders, so they cannot store their id. The first lookup is by
 * address in an open-addressed table: one multiplication and mostly one probe. Only an unknown
 * address is compared by content, so equal layouts from two objects have one id.
 *
 * Each address in the table holds a reference to its schema, so it cannot be freed and reused. A
 * caller that makes a new object per event would fill the table. So aliases (addresses other than
 * the first of their layout) are all dropped when there are too many.
 */
#include "schema_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

#define BITS_MIN 6
#define ALIAS_MAX 1024
#define ID_CNT 0x10000

int schema_set_init(struct schema_set *r, uint16_t first_id)
{
	memset(r, 0, sizeof(*r));
	r->first_id = first_id;
	r->next_id = first_id;
	r->ptr_bits = BITS_MIN;
	r->layout_bits = BITS_MIN;
	r->ptrs = calloc(1u << BITS_MIN, sizeof(*r->ptrs));
	r->layouts = calloc(1u << BITS_MIN, sizeof(*r->layouts));
	r->taken = calloc(1, ID_CNT / 8);
	if (!r->ptrs || !r->layouts || !r->taken) {
		schema_set_fini(r);
		return -ENOMEM;
	}
	return 0;
}

void schema_set_clear(struct schema_set *r)
{
	size_t i;

	for (i = 0; r->ptrs && i < 1u << r->ptr_bits; i++)
		dial9_schema_free(r->ptrs[i].schema);
	for (i = 0; i < r->cnt; i++)
		dial9_schema_free(r->entries[i].schema);
	if (r->ptrs)
		memset(r->ptrs, 0, sizeof(*r->ptrs) << r->ptr_bits);
	if (r->layouts)
		memset(r->layouts, 0, sizeof(*r->layouts) << r->layout_bits);
	if (r->taken)
		memset(r->taken, 0, ID_CNT / 8);
	r->cnt = 0;
	r->ptr_used = 0;
	r->alias_cnt = 0;
	r->next_id = r->first_id;
}

void schema_set_fini(struct schema_set *r)
{
	schema_set_clear(r);
	free(r->entries);
	free(r->ptrs);
	free(r->layouts);
	free(r->taken);
	memset(r, 0, sizeof(*r));
}

/* The slot of s, or the free slot for it. */
static struct schema_set_ptr *ptr_slot(struct schema_set_ptr *ptrs, unsigned int bits,
				       const struct dial9_schema *s)
{
	size_t i = ((uintptr_t)s * 0x9e3779b97f4a7c15ull) >> (64 - bits);

	while (ptrs[i].schema && ptrs[i].schema != s)
		i = (i + 1) & ((1u << bits) - 1);
	return &ptrs[i];
}

/* Rebuilds the table with room for one more, with or without the aliases. */
static int ptrs_rebuild(struct schema_set *r, bool keep_aliases)
{
	struct schema_set_ptr *ptrs, *old;
	unsigned int bits = r->ptr_bits;
	size_t i;

	if ((r->ptr_used + 1) * 2 > 1u << bits && keep_aliases)
		bits++;
	ptrs = calloc(1u << bits, sizeof(*ptrs));
	if (!ptrs)
		return -ENOMEM;
	for (i = 0; i < 1u << r->ptr_bits; i++) {
		old = &r->ptrs[i];
		if (!old->schema)
			continue;
		if (keep_aliases || r->entries[old->entry].schema == old->schema) {
			*ptr_slot(ptrs, bits, old->schema) = *old;
		} else {
			dial9_schema_free(old->schema);
			r->ptr_used--;
		}
	}
	if (!keep_aliases)
		r->alias_cnt = 0;
	free(r->ptrs);
	r->ptrs = ptrs;
	r->ptr_bits = bits;
	return 0;
}

static int ptrs_set(struct schema_set *r, const struct dial9_schema *s, uint32_t entry)
{
	struct schema_set_ptr *slot;
	int err = 0;

	if (r->alias_cnt >= ALIAS_MAX)
		err = ptrs_rebuild(r, false);
	if (!err && (r->ptr_used + 1) * 2 > 1u << r->ptr_bits)
		err = ptrs_rebuild(r, true);
	if (err)
		return err;
	slot = ptr_slot(r->ptrs, r->ptr_bits, s);
	if (!slot->schema) {
		slot->schema = dial9_schema_ref(s);
		r->ptr_used++;
	}
	slot->entry = entry;
	r->alias_cnt += r->entries[entry].schema != s;
	return 0;
}

static size_t layout_slot(const struct schema_set *r, const uint32_t *layouts, unsigned int bits,
			  const struct dial9_schema *s)
{
	size_t i = (s->hash * 0x9e3779b97f4a7c15ull) >> (64 - bits);

	while (layouts[i] && !dial9_schema_equal(r->entries[layouts[i] - 1].schema, s))
		i = (i + 1) & ((1u << bits) - 1);
	return i;
}

static int layouts_reserve(struct schema_set *r)
{
	unsigned int bits = r->layout_bits;
	uint32_t *layouts;
	size_t i;

	if ((r->cnt + 1) * 2 <= 1u << bits)
		return 0;
	bits++;
	layouts = calloc(1u << bits, sizeof(*layouts));
	if (!layouts)
		return -ENOMEM;
	for (i = 0; i < 1u << r->layout_bits; i++)
		if (r->layouts[i])
			layouts[layout_slot(r, layouts, bits, r->entries[r->layouts[i] - 1].schema)] =
				r->layouts[i];
	free(r->layouts);
	r->layouts = layouts;
	r->layout_bits = bits;
	return 0;
}

static int entries_reserve(struct schema_set *r)
{
	size_t cap = r->cap ? r->cap * 2 : 16;
	struct schema_set_entry *entries;

	if (r->cnt < r->cap)
		return 0;
	entries = realloc(r->entries, cap * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	r->entries = entries;
	r->cap = cap;
	return 0;
}

static bool is_taken(const struct schema_set *r, uint32_t id)
{
	return r->taken[id / 8] >> (id % 8) & 1;
}

static int entry_add(struct schema_set *r, const struct dial9_schema *s, uint16_t id)
{
	size_t slot;
	int err;

	err = layouts_reserve(r);
	if (!err)
		err = entries_reserve(r);
	if (err)
		return err;
	r->entries[r->cnt] = (struct schema_set_entry){ (struct dial9_schema *)s, id, false };
	err = ptrs_set(r, s, (uint32_t)r->cnt);
	if (err)
		return err;
	dial9_schema_ref(s);
	slot = layout_slot(r, r->layouts, r->layout_bits, s);
	if (!r->layouts[slot])
		r->layouts[slot] = (uint32_t)r->cnt + 1;
	r->taken[id / 8] |= (uint8_t)(1u << (id % 8));
	r->cnt++;
	return 0;
}

static int get_new(struct schema_set *r, const struct dial9_schema *s,
		   struct schema_set_entry **out)
{
	uint32_t known = r->layouts[layout_slot(r, r->layouts, r->layout_bits, s)];
	int err;

	if (known) {
		*out = &r->entries[known - 1];
		return ptrs_set(r, s, known - 1);
	}
	while (r->next_id < ID_CNT && is_taken(r, r->next_id))
		r->next_id++;
	if (r->next_id >= ID_CNT)
		return -ENOSPC;
	err = entry_add(r, s, (uint16_t)r->next_id);
	if (err)
		return err;
	*out = &r->entries[r->cnt - 1];
	return 0;
}

int schema_set_get(struct schema_set *r, const struct dial9_schema *s,
		   struct schema_set_entry **out)
{
	*out = schema_set_find(r, s);
	return *out ? 0 : get_new(r, s, out);
}

int schema_set_get_as(struct schema_set *r, const struct dial9_schema *s, uint16_t id,
		      struct schema_set_entry **out)
{
	size_t i;
	int err;

	if (!is_taken(r, id)) {
		err = entry_add(r, s, id);
		if (err)
			return err;
		*out = &r->entries[r->cnt - 1];
		return 0;
	}
	for (i = 0; r->entries[i].id != id; i++)
		;
	if (!dial9_schema_equal(r->entries[i].schema, s))
		return -EEXIST;
	*out = &r->entries[i];
	return ptrs_set(r, s, (uint32_t)i);
}
