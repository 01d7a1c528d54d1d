// SPDX-License-Identifier: BSD-2-Clause
/*
 * modules.c - numbers modules
 *
 * A hash table with chains that doubles when it fills up. Each use is stamped with a counter, so the least recently
 * used can be found when there are too many. A forgotten module gets another number at its next use.
 */
#include "record/symbols/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/hmap.h"

enum { SLOTS_MIN = 256 };

struct module {
	struct module *next;
	uint64_t hash;
	uint64_t used;
	size_t sz;
	uint32_t id;
	uint8_t key[];
};

struct modules {
	struct module **slots;
	size_t slot_cnt; /* a power of two */
	size_t cnt;
	size_t bytes;
	struct hmap by_id;
	uint64_t uses;
	uint32_t last_id;
};

struct modules *modules_new(void)
{
	struct modules *m = xcalloc(1, sizeof(*m));

	m->slot_cnt = SLOTS_MIN;
	m->slots = xcalloc(m->slot_cnt, sizeof(struct module *));
	return m;
}

static size_t module_bytes(const struct module *mod)
{
	return sizeof(*mod) + mod->sz + 1;
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	modules_forget(m, 0);
	hmap_fini(&m->by_id);
	free(m->slots);
	free(m);
}

static void grow(struct modules *m)
{
	size_t cnt = m->slot_cnt * 2, i;
	struct module **slots = xcalloc(cnt, sizeof(struct module *)), *mod, *next;

	for (i = 0; i < m->slot_cnt; i++)
		for (mod = m->slots[i]; mod; mod = next) {
			next = mod->next;
			mod->next = slots[mod->hash & (cnt - 1)];
			slots[mod->hash & (cnt - 1)] = mod;
		}
	free(m->slots);
	m->slots = slots;
	m->slot_cnt = cnt;
}

const void *modules_key(const struct modules *m, uint32_t id, size_t *sz)
{
	const struct module *mod = hmap_get(&m->by_id, id);

	if (!mod)
		return NULL;
	*sz = mod->sz;
	return mod->key;
}

uint32_t modules_id(struct modules *m, const void *key, size_t sz, bool *fresh)
{
	uint64_t hash = hash_bytes(key, sz);
	struct module *mod = m->slots[hash & (m->slot_cnt - 1)], **slot;

	while (mod && (mod->hash != hash || mod->sz != sz || memcmp(mod->key, key, sz)))
		mod = mod->next;
	*fresh = !mod;
	if (!mod) {
		if (m->cnt >= m->slot_cnt)
			grow(m);
		slot = &m->slots[hash & (m->slot_cnt - 1)];
		mod = xmalloc(sizeof(*mod) + sz + 1);
		*mod = (struct module){ .next = *slot, .hash = hash, .sz = sz, .id = ++m->last_id };
		memcpy(mod->key, key, sz);
		mod->key[sz] = '\0';
		hmap_set(&m->by_id, mod->id, mod);
		*slot = mod;
		m->cnt++;
		m->bytes += module_bytes(mod);
	}
	mod->used = ++m->uses;
	return mod->id;
}

void modules_touch(struct modules *m, uint32_t id)
{
	struct module *mod = hmap_get(&m->by_id, id);

	if (mod)
		mod->used = ++m->uses;
}

size_t modules_memory(const struct modules *m)
{
	return m->bytes + m->slot_cnt * sizeof(struct module *) +
	       m->by_id.cap * sizeof(struct hmap_slot);
}

static int by_use(const void *a, const void *b)
{
	uint64_t x = (*(struct module *const *)a)->used, y = (*(struct module *const *)b)->used;

	return x < y ? -1 : x > y;
}

static void remove_module(struct modules *m, struct module *mod)
{
	struct module **at = &m->slots[mod->hash & (m->slot_cnt - 1)];

	while (*at != mod)
		at = &(*at)->next;
	*at = mod->next;
	hmap_del(&m->by_id, mod->id);
	m->cnt--;
	m->bytes -= module_bytes(mod);
	free(mod);
}

size_t modules_forget(struct modules *m, size_t keep)
{
	struct module **all = xcalloc(m->cnt + 1, sizeof(struct module *)), *mod;
	size_t cnt = 0, n = 0, i;

	for (i = 0; i < m->slot_cnt; i++)
		for (mod = m->slots[i]; mod; mod = mod->next)
			all[cnt++] = mod;
	qsort(all, cnt, sizeof(struct module *), by_use);
	while (n < cnt && modules_memory(m) > keep)
		remove_module(m, all[n++]);
	free(all);
	return n;
}

bool module_set_add(struct module_set *s, uint32_t id)
{
	size_t before = s->cap;

	if (module_set_has(s, id))
		return false;
	s->bits = array_reserve(s->bits, &s->cap, id / 8 + 1UL, 1);
	if (s->cap > before)
		memset(s->bits + before, 0, s->cap - before);
	s->bits[id / 8] |= 1 << id % 8;
	return true;
}

bool module_set_has(const struct module_set *s, uint32_t id)
{
	return id / 8 < s->cap && s->bits[id / 8] >> id % 8 & 1;
}

void module_set_fini(struct module_set *s)
{
	free(s->bits);
	*s = (struct module_set){ 0 };
}
