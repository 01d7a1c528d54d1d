// SPDX-License-Identifier: BSD-2-Clause
/*
 * lists.c - lists of mappings in the programs' memory
 *
 * A list never changes: another one takes its place by one store. Forks hand lists on before the loader
 * hears of them, so nobody here counts who has which: now and then all processes' places are read, and
 * a list that nobody has is condemned. A program may have read it just before that, and be about
 * to give it to a child or to walk by it; so only one that is found in no place again, after a period of
 * grace, is free.
 */
#include "unwind/lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "unwind/extents.h"
#include "unwind/waiter.h"

enum { ROUND = 4 /* mappings; sizes of lists are rounded up to it, lest holes become many */ };

struct list {
	uint32_t first, cnt; /* cnt as published */
	bool held, condemned;
	uint64_t ticket; /* of a condemned one */
};

struct lists {
	struct lists_cfg cfg;
	struct extents room;
	struct hmap by_first; /* + 1 -> list */
	struct list **v;
	size_t cnt, cap;
	bool changed; /* since the last sweep began */
	struct lists_counts counts;
};

struct lists *lists_new(const struct lists_cfg *cfg)
{
	struct lists *l = xcalloc(1, sizeof(*l));

	l->cfg = *cfg;
	hmap_init(&l->by_first);
	extents_give(&l->room, 0, cfg->map_cnt);
	return l;
}

void lists_free(struct lists *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->cnt; i++)
		free(l->v[i]);
	free(l->v);
	hmap_fini(&l->by_first);
	extents_fini(&l->room);
	free(l);
}

/* ---- places ------------------------------------------------------------------------------------- */

static struct prof_unwind_proc *place(const struct lists *l, uint32_t tgid, uint32_t i)
{
	return &l->cfg.procs[(prof_unwind_hash(tgid) + i) & (l->cfg.proc_cnt - 1)];
}

static struct prof_unwind_proc *find(const struct lists *l, uint32_t tgid)
{
	struct prof_unwind_proc *p;
	uint32_t i;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++) {
		p = place(l, tgid, i);
		if (__atomic_load_n(&p->tgid, __ATOMIC_ACQUIRE) == tgid)
			return p;
	}
	return NULL;
}

/* A fork may take the same place for another process at the same time. */
static struct prof_unwind_proc *take(struct lists *l, uint32_t tgid)
{
	struct prof_unwind_proc *p;
	uint32_t i, none;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++) {
		p = place(l, tgid, i);
		none = 0;
		if (__atomic_compare_exchange_n(&p->tgid, &none, tgid, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&p->execs, 0, __ATOMIC_RELAXED);
			return p;
		}
	}
	l->counts.processes_left_out++;
	return NULL;
}

static void store_list(struct lists *l, struct prof_unwind_proc *p, uint64_t list)
{
	__atomic_store_n(&p->list, list, __ATOMIC_RELEASE);
	l->changed = true;
}

bool lists_find(const struct lists *l, uint32_t tgid, uint32_t *execs)
{
	const struct prof_unwind_proc *p = find(l, tgid);

	if (p)
		*execs = __atomic_load_n(&p->execs, __ATOMIC_ACQUIRE);
	return p != NULL;
}

bool lists_claim(struct lists *l, uint32_t tgid)
{
	return find(l, tgid) || take(l, tgid);
}

bool lists_has_list(const struct lists *l, uint32_t tgid)
{
	const struct prof_unwind_proc *p = find(l, tgid);

	return p && __atomic_load_n(&p->list, __ATOMIC_ACQUIRE);
}

void lists_withdraw(struct lists *l, uint32_t tgid)
{
	struct prof_unwind_proc *p = find(l, tgid);

	if (p)
		store_list(l, p, 0);
}

void lists_remove(struct lists *l, uint32_t tgid)
{
	struct prof_unwind_proc *p = find(l, tgid);

	if (!p)
		return;
	store_list(l, p, 0);
	__atomic_store_n(&p->tgid, 0, __ATOMIC_RELEASE);
}

/* ---- lists -------------------------------------------------------------------------------------- */

static uint32_t rounded(uint32_t cnt)
{
	return (cnt + ROUND - 1) / ROUND * ROUND;
}

static struct list *list_add(struct lists *l, uint32_t first, uint32_t cnt)
{
	struct list *list = xcalloc(1, sizeof(*list));

	list->first = first;
	list->cnt = cnt;
	hmap_set(&l->by_first, first + 1ULL, list);
	l->v = array_reserve(l->v, &l->cap, l->cnt + 1, sizeof(*l->v));
	l->v[l->cnt++] = list;
	l->counts.live++;
	l->counts.live_maps += cnt;
	return list;
}

/* It is out of all places, or was never in one, and nobody walks by it. */
static void list_free(struct lists *l, struct list *list)
{
	hmap_del(&l->by_first, list->first + 1ULL);
	extents_give(&l->room, list->first, rounded(list->cnt));
	l->counts.live--;
	l->counts.live_maps -= list->cnt;
	free(list);
}

/*
 * An exec between the look at the counter and the store would leave the new program with the old one's
 * list; seen behind the store, it is taken back, and one that comes later empties the place itself.
 */
static int put(struct lists *l, struct prof_unwind_proc *p, uint32_t execs, uint64_t list)
{
	if (__atomic_load_n(&p->execs, __ATOMIC_SEQ_CST) != execs)
		return -EAGAIN;
	store_list(l, p, list);
	if (__atomic_load_n(&p->execs, __ATOMIC_SEQ_CST) == execs)
		return 0;
	store_list(l, p, 0);
	return -EAGAIN;
}

int lists_publish(struct lists *l, uint32_t tgid, uint32_t *execs,
		  const struct prof_unwind_map *maps, uint32_t cnt)
{
	struct prof_unwind_proc *p = find(l, tgid);
	uint32_t first;

	if (!p) {
		p = take(l, tgid);
		*execs = 0;
	}
	if (!p)
		return -ENFILE;
	if (!cnt) {
		store_list(l, p, 0);
		return 0;
	}
	if (__atomic_load_n(&p->execs, __ATOMIC_SEQ_CST) != *execs)
		return -EAGAIN;
	if (!extents_take(&l->room, rounded(cnt), &first)) {
		l->counts.lists_left_out++;
		return -ENOSPC;
	}
	memcpy(&l->cfg.maps[first], maps, cnt * sizeof(*maps));
	list_add(l, first, cnt);
	l->counts.published++;
	return put(l, p, *execs, (uint64_t)first << 32 | cnt);
}

/* ---- who is free -------------------------------------------------------------------------------- */

static void mark_held(struct lists *l)
{
	struct list *list;
	uint64_t v;
	uint32_t i;

	for (i = 0; i < l->cfg.proc_cnt; i++) {
		v = __atomic_load_n(&l->cfg.procs[i].list, __ATOMIC_ACQUIRE);
		list = v ? hmap_get(&l->by_first, (v >> 32) + 1) : NULL;
		if (list)
			list->held = true;
	}
}

/* False: it is free now. */
static bool keep(struct lists *l, struct list *list)
{
	bool held = list->held;

	list->held = false;
	if (held) {
		list->condemned = false;
	} else if (!list->condemned) {
		list->condemned = true;
		list->ticket = waiter_grace(l->cfg.waiter);
	} else if (waiter_is_over(l->cfg.waiter, list->ticket)) {
		list_free(l, list);
		return false;
	}
	if (list->condemned)
		l->changed = true;
	return true;
}

void lists_step(struct lists *l)
{
	size_t i, kept = 0;

	if (!l->changed)
		return;
	l->changed = false;
	mark_held(l);
	for (i = 0; i < l->cnt; i++)
		if (keep(l, l->v[i]))
			l->v[kept++] = l->v[i];
	l->cnt = kept;
}

void lists_each_map(const struct lists *l, void (*fn)(void *ctx, const struct prof_unwind_map *m),
		    void *ctx)
{
	uint32_t k;
	size_t i;

	for (i = 0; i < l->cnt; i++)
		for (k = 0; k < l->v[i]->cnt; k++)
			fn(ctx, &l->cfg.maps[l->v[i]->first + k]);
}

void lists_count(const struct lists *l, struct lists_counts *out)
{
	*out = l->counts;
}
