// SPDX-License-Identifier: BSD-2-Clause
/*
 * list_builder.c - from mappings to entries of mapping lists
 *
 * Published lists need all mappings of a process, copied stacks only the few that they pass through. Processes
 * may have tens of thousands of mappings, so a copied stack finds its mappings one by one. A found entry is
 * kept by process and generation of its mappings. In lists, neighbours that map the same file are looked up once.
 */
#include "record/unwind_maps/list_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "prof_unwind.h"
#include "record/process/proc_maps.h"
#include "record/symbols/frames.h"
#include "record/unwind_maps/table_demand.h"
#include "record/unwind_maps/table_keys.h"
#include "unwind/store.h"

enum {
	FOUND_CNT = 1024, /* a power of two */
	COMMON = 8, /* processes that map a file whose table is requested without a stack */
	EXPECT_MAX = 256, /* mappings whose tables are requested before a walk needs them */
};

/* An entry, and the mapping that it was made from. */
struct found {
	uint64_t serial; /* 0: free */
	uint64_t start;
	uint32_t generation; /* of the process's mappings */
	uint32_t renewals; /* of the builder */
	struct prof_unwind_map entry;
};

struct list_builder {
	struct list_builder_cfg cfg;
	struct prof_unwind_map *entries; /* of the current list */
	size_t entry_cap;
	uint32_t renewals;
	uint8_t *mapped; /* by slot: processes that mapped its file, up to COMMON */
	struct prof_unwind_map unkept; /* the last found entry that may change */
	struct found found[FOUND_CNT];
};

struct list_builder *list_builder_new(const struct list_builder_cfg *cfg)
{
	struct list_builder *b = xcalloc(1, sizeof(*b));

	b->cfg = *cfg;
	b->mapped = xcalloc(cfg->module_cnt, sizeof(*b->mapped));
	return b;
}

void list_builder_free(struct list_builder *b)
{
	if (!b)
		return;
	free(b->entries);
	free(b->mapped);
	free(b);
}

/* ---- one mapping --------------------------------------------------------------------------------- */

void list_builder_ask_table(struct list_builder *b, uint32_t slot)
{
	table_keys_ask(b->cfg.tables, slot);
	table_demand_ask(b->cfg.demand, slot);
}

static bool may_have_module(const struct map *m)
{
	return proc_maps_is_file(m->path) || proc_maps_is_vdso(m->path) ||
	       proc_maps_is_memfd(m->path);
}

/* Looks up the module and the slot of a mapping. False: its file is not identified yet. */
static bool resolve(struct list_builder *b, const struct frames_from *from, struct map *m,
		    bool recent)
{
	m->slot = PROF_UNWIND_NO_SLOT;
	m->module_id = 0;
	m->build_id_known &= m->build_id_sz != 0;
	if (!frames_identify(b->cfg.frames, from, m, recent, &m->module_id)) {
		m->slot = PROF_UNWIND_SOON;
		return false;
	}
	if (m->module_id)
		m->slot = table_keys_slot(b->cfg.tables, from, m);
	return true;
}

/* Requests the table of a mapping's module if it should not wait for a stack that needs it. */
static void note_source(struct list_builder *b, const struct frames_from *from, const struct map *m,
			uint32_t flags)
{
	if (!m->module_id || m->slot == PROF_UNWIND_NO_SLOT)
		return;
	table_keys_note(b->cfg.tables, m->slot, from, m);
	if ((!b->cfg.all || flags & LIST_BUILDER_TABLES || b->mapped[m->slot] == COMMON) &&
	    store_expect(b->cfg.store, m->slot))
		list_builder_ask_table(b, m->slot);
}

static struct prof_unwind_map entry_of(const struct map *m)
{
	if (m->module_id)
		return (struct prof_unwind_map){ m->start, m->end, m->pgoff, m->module_id,
						 m->slot };
	return (struct prof_unwind_map){
		.start = m->start,
		.end = m->end,
		.slot = m->slot == PROF_UNWIND_SOON ? PROF_UNWIND_SOON : PROF_UNWIND_NO_SLOT,
	};
}

/* ---- lists --------------------------------------------------------------------------------------- */

static uint32_t add_entry(struct list_builder *b, uint32_t cnt, const struct map *m)
{
	struct prof_unwind_map e = entry_of(m), *last = cnt ? &b->entries[cnt - 1] : NULL;

	if (!e.module_id && last && !last->module_id && last->slot == e.slot &&
	    last->end == e.start) {
		last->end = e.end;
		return cnt;
	}
	b->entries = array_reserve(b->entries, &b->entry_cap, cnt + 1UL, sizeof(*b->entries));
	b->entries[cnt] = e;
	return cnt + 1;
}

/* What is known of a file before its mappings are resolved. */
static bool is_same_file(const struct map *a, const struct map *b)
{
	return a->path == b->path && a->dev == b->dev && a->inode == b->inode &&
	       !a->module_id == !b->module_id && a->build_id_known == b->build_id_known &&
	       a->build_id_sz == b->build_id_sz && a->version == b->version &&
	       !memcmp(a->build_id, b->build_id, a->build_id_sz);
}

/* A mapping of a list, and the result of its lookup. */
struct resolved {
	struct map before, after;
	bool is_known;
};

static void count_mapping(struct list_builder *b, const struct map *m)
{
	if (m->module_id && m->slot != PROF_UNWIND_NO_SLOT && b->mapped[m->slot] < COMMON)
		b->mapped[m->slot]++;
}

/* Resolves m like its neighbour if both map the same file. */
static bool resolve_next(struct list_builder *b, const struct frames_from *from, struct map *m,
			 struct resolved *last)
{
	const struct map before = *m;
	bool known;

	if (last->before.path && is_same_file(&last->before, m)) {
		m->slot = last->after.slot;
		m->module_id = last->after.module_id;
		m->version = last->after.version;
		m->build_id_known = last->after.build_id_known;
		m->build_id_sz = last->after.build_id_sz;
		memcpy(m->build_id, last->after.build_id, m->build_id_sz);
		return last->is_known;
	}
	/* a file in memory has another number each time */
	known = resolve(b, from, m, !m->module_id && !proc_maps_is_memfd(m->path));
	*last = (struct resolved){ before, *m, known };
	if (!before.module_id)
		count_mapping(b, m);
	return known;
}

uint32_t list_builder_make(struct list_builder *b, const struct frames_from *from,
			   struct proc_maps *maps, uint32_t flags, bool *waits,
			   const struct prof_unwind_map **entries)
{
	struct resolved last = { 0 };
	uint32_t cnt = 0, noted = PROF_UNWIND_NO_SLOT;
	const struct map *m;
	uint64_t addr = 0;

	*waits = false;
	while ((m = proc_maps_next(maps, addr))) {
		addr = m->end;
		if (may_have_module(m) && (!m->module_id || flags & LIST_BUILDER_RENEW)) {
			struct map *edit = proc_maps_edit(maps, m->start);

			*waits |= !resolve_next(b, from, edit, &last);
			m = edit;
		}
		if (m->module_id && m->slot != noted)
			note_source(b, from, m, flags);
		noted = m->slot;
		cnt = add_entry(b, cnt, m);
	}
	*entries = b->entries;
	return cnt;
}

/* ---- mappings at the drain's time ---------------------------------------------------------------- */

static struct found *place_of(struct list_builder *b, const struct list_builder_past *past,
			      uint64_t start)
{
	const uint64_t key[] = { past->serial, start };

	return &b->found[hash_bytes(key, sizeof(key)) & (FOUND_CNT - 1)];
}

static bool is_found(const struct list_builder *b, const struct list_builder_past *past,
		     const struct found *f, uint64_t start)
{
	return f->serial == past->serial && f->start == start &&
	       f->generation == past->maps->generation && f->renewals == b->renewals;
}

const struct prof_unwind_map *list_builder_find(void *ctx, uint64_t addr)
{
	const struct list_builder_past *past = ctx;
	struct list_builder *b = past->builder;
	const struct map *mapped = proc_maps_find(past->maps, addr);
	struct found *f;
	struct map m;

	if (!mapped)
		return NULL;
	f = place_of(b, past, mapped->start);
	if (is_found(b, past, f, mapped->start))
		return &f->entry;
	m = *mapped;
	m.slot = PROF_UNWIND_NO_SLOT;
	m.module_id = 0;
	if (may_have_module(&m) && !resolve(b, past->from, &m, false)) {
		b->unkept = entry_of(&m);
		return &b->unkept;
	}
	note_source(b, past->from, &m, 0);
	*f = (struct found){ past->serial, m.start, past->maps->generation, b->renewals,
			     entry_of(&m) };
	return &f->entry;
}

bool list_builder_expect(const struct list_builder_past *past)
{
	const struct prof_unwind_map *entry;
	const struct map *m;
	uint64_t addr = 0;
	bool waits = false;
	uint32_t n;

	if (past->builder->cfg.all)
		return true;
	for (n = 0; n < EXPECT_MAX && (m = proc_maps_next(past->maps, addr)); n++) {
		addr = m->end;
		entry = list_builder_find((void *)past, m->start);
		waits |= entry->slot == PROF_UNWIND_SOON;
	}
	return !waits;
}

void list_builder_renew(struct list_builder *b)
{
	b->renewals++;
}

size_t list_builder_memory(const struct list_builder *b)
{
	return sizeof(*b) + b->entry_cap * sizeof(*b->entries) +
	       b->cfg.module_cnt * sizeof(*b->mapped);
}
