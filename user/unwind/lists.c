// SPDX-License-Identifier: BSD-2-Clause
/*
 * lists.c - mapping lists in the memory of the BPF programs
 *
 * A list never changes: one store replaces it by another list. A fork copies the parent's list to
 * the child before the loader receives the event, so there is no use count. Instead, all places of
 * processes are read periodically, and a list that is in none of them is condemned. Forks do not
 * copy a condemned list. After a grace period, which waits for forks under way, no process can get
 * the list any more, and a process that has it keeps it in one place. So a second search is
 * reliable: if it does not find the list, the list is freed; otherwise it is no longer condemned.
 * Without this mark, fork and exec could move a list from process to process past each search.
 *
 * If room is short, the owner with the most room gives up lists to owners with less, and gets no
 * new lists for a while.
 */
#include "unwind/lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "unwind/free_ranges.h"
#include "unwind/waiter.h"

enum {
	ROUND = PROF_UNWIND_LIST_ROUND, /* limits fragmentation */
	SHORT_STEPS = 10, /* steps after the last failed allocation */
	TAKE_MAX = 64, /* lists taken back at once */
};

/* Room that the lists of one owner use, without lists that were taken back. */
struct share {
	uint64_t owner;
	uint32_t room, lists;
};

struct list {
	uint32_t first, cnt; /* cnt as published */
	bool held, condemned, settled, taken;
	uint64_t ticket; /* grace period of a condemned list */
	struct share *share;
};

struct lists {
	struct lists_cfg cfg;
	struct free_ranges room;
	struct hmap by_first; /* first + 1 -> list */
	struct hmap shares; /* by owner */
	struct list **v;
	size_t cnt, cap;
	uint32_t coming; /* room of lists that were taken back and are not free yet */
	int short_steps; /* remaining steps with short room */
	bool changed; /* since the start of the last sweep */
	bool taken_again; /* a list that was taken back is in use again */
	struct lists_counts counts;
};

struct lists *lists_new(const struct lists_cfg *cfg)
{
	struct lists *l = xcalloc(1, sizeof(*l));

	l->cfg = *cfg;
	hmap_init(&l->by_first);
	hmap_init(&l->shares);
	free_ranges_add(&l->room, 0, cfg->map_cnt);
	return l;
}

void lists_free(struct lists *l)
{
	size_t pos = 0, i;
	uint64_t owner;
	void *share;

	if (!l)
		return;
	while (hmap_next(&l->shares, &pos, &owner, &share))
		free(share);
	hmap_fini(&l->shares);
	for (i = 0; i < l->cnt; i++)
		free(l->v[i]);
	free(l->v);
	hmap_fini(&l->by_first);
	free_ranges_fini(&l->room);
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

/* Claims a free place. A fork may take the same place for another process at the same time. */
static struct prof_unwind_proc *claim_place(struct lists *l, uint32_t tgid)
{
	struct prof_unwind_proc *p;
	uint32_t i, none;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++) {
		p = place(l, tgid, i);
		none = 0;
		if (__atomic_compare_exchange_n(&p->tgid, &none, tgid, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&p->execs, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&p->list, 0, __ATOMIC_RELAXED);
			return p;
		}
	}
	return NULL;
}

static void store_list(struct lists *l, struct prof_unwind_proc *p, uint64_t list)
{
	__atomic_store_n(&p->list, list, __ATOMIC_RELEASE);
	l->changed = true;
}

static uint32_t execs_of(const struct prof_unwind_proc *p)
{
	return __atomic_load_n(&p->execs, __ATOMIC_SEQ_CST) & ~PROF_UNWIND_SHARES_MEMORY;
}

bool lists_find(const struct lists *l, uint32_t tgid, uint32_t *execs)
{
	const struct prof_unwind_proc *p = find(l, tgid);

	if (p)
		*execs = execs_of(p);
	return p != NULL;
}

bool lists_shares_memory(const struct lists *l, uint32_t tgid)
{
	const struct prof_unwind_proc *p = find(l, tgid);

	return p && __atomic_load_n(&p->execs, __ATOMIC_ACQUIRE) & PROF_UNWIND_SHARES_MEMORY;
}

bool lists_claim(struct lists *l, uint32_t tgid)
{
	return find(l, tgid) || claim_place(l, tgid);
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

static struct share *share_of(struct lists *l, uint64_t owner)
{
	struct share *share = hmap_get(&l->shares, owner);

	if (!share) {
		share = xcalloc(1, sizeof(*share));
		share->owner = owner;
		hmap_set(&l->shares, owner, share);
	}
	return share;
}

/* Removes the list from the share of its owner. */
static void share_drop(struct lists *l, struct list *list)
{
	struct share *share = list->share;

	if (!share)
		return;
	list->share = NULL;
	share->room -= rounded(list->cnt);
	if (--share->lists)
		return;
	hmap_del(&l->shares, share->owner);
	free(share);
}

static void list_add(struct lists *l, uint64_t owner, uint32_t first, uint32_t cnt)
{
	struct list *list = xcalloc(1, sizeof(*list));

	list->first = first;
	list->cnt = cnt;
	list->share = share_of(l, owner);
	list->share->room += rounded(cnt);
	list->share->lists++;
	hmap_set(&l->by_first, first + 1ULL, list);
	l->v = array_reserve(l->v, &l->cap, l->cnt + 1, sizeof(*l->v));
	l->v[l->cnt++] = list;
	l->counts.live++;
	l->counts.live_maps += cnt;
}

/* Sets whether forks copy the list. */
static void set_condemned(struct lists *l, struct list *list, bool condemned)
{
	uint32_t i = list->first / ROUND;
	uint64_t bit = 1ULL << i % 64;

	list->condemned = condemned;
	list->settled = false;
	if (condemned)
		__atomic_fetch_or(&l->cfg.condemned[i / 64], bit, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&l->cfg.condemned[i / 64], ~bit, __ATOMIC_SEQ_CST);
}

/* Frees a list. No place has it, and no walk uses it. */
static void list_free(struct lists *l, struct list *list)
{
	set_condemned(l, list, false);
	share_drop(l, list);
	if (list->taken)
		l->coming -= rounded(list->cnt);
	__atomic_fetch_add(l->cfg.generation, 1, __ATOMIC_SEQ_CST);
	hmap_del(&l->by_first, list->first + 1ULL);
	free_ranges_add(&l->room, list->first, rounded(list->cnt));
	l->counts.live--;
	l->counts.live_maps -= list->cnt;
	free(list);
}

static struct list *list_at(const struct lists *l, const struct prof_unwind_proc *p, __u64 *v)
{
	*v = __atomic_load_n(&p->list, __ATOMIC_ACQUIRE);
	return *v ? hmap_get(&l->by_first, (*v >> 32) + 1) : NULL;
}

/* ---- too little room ---------------------------------------------------------------------------- */

static uint32_t room_of(const struct lists *l, uint64_t owner)
{
	const struct share *share = hmap_get(&l->shares, owner);

	return share ? share->room : 0;
}

static const struct share *largest_share(const struct lists *l)
{
	const struct share *best = NULL;
	size_t pos = 0;
	uint64_t owner;
	void *share;

	while (hmap_next(&l->shares, &pos, &owner, &share))
		if (!best || ((struct share *)share)->room > best->room)
			best = share;
	return best;
}

static struct list *largest_list(const struct lists *l, const struct share *share)
{
	struct list *best = NULL;
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (l->v[i]->share == share && (!best || l->v[i]->cnt > best->cnt))
			best = l->v[i];
	return best;
}

/* Clears the lists taken back in all processes, including those that got one by a fork since. */
static void empty_taken_places(struct lists *l)
{
	const struct list *list;
	__u64 v;
	uint32_t i;

	for (i = 0; i < l->cfg.proc_cnt; i++) {
		list = list_at(l, &l->cfg.procs[i], &v);
		if (list && list->taken)
			__atomic_compare_exchange_n(&l->cfg.procs[i].list, &v, 0, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

/* Takes lists back from owners who have more room than this owner would have. */
static void reclaim_lists(struct lists *l, uint64_t owner, uint32_t cnt)
{
	uint32_t room = room_of(l, owner) + cnt;
	const struct share *most;
	struct list *list;
	bool any = false;
	int n;

	for (n = 0; n < TAKE_MAX && l->room.free + l->coming < cnt; n++) {
		most = largest_share(l);
		if (!most || most->owner == owner || most->room <= room)
			break;
		list = largest_list(l, most);
		list->taken = any = true;
		l->coming += rounded(list->cnt);
		l->counts.taken_back++;
		share_drop(l, list);
	}
	if (any)
		empty_taken_places(l);
	l->changed |= any;
}

/* The owner with the most room gets no more while others wait. */
static bool may_take(const struct lists *l, uint64_t owner, uint32_t cnt)
{
	const struct share *most = l->short_steps ? largest_share(l) : NULL;

	return !most || (most->owner != owner && room_of(l, owner) + cnt <= most->room);
}

static bool allocate_room(struct lists *l, uint64_t owner, uint32_t cnt, uint32_t *first)
{
	bool may = may_take(l, owner, cnt);

	if (may && free_ranges_allocate(&l->room, cnt, first))
		return true;
	l->short_steps = SHORT_STEPS;
	if (may)
		reclaim_lists(l, owner, cnt);
	return false;
}

/* ---- publishing --------------------------------------------------------------------------------- */

/*
 * Stores the list of a process. An exec between reading the counter and the store would give the
 * old program's list to the new program. If the counter has changed after the store, the list is
 * removed again; a later exec clears the place itself.
 */
static int put(struct lists *l, struct prof_unwind_proc *p, uint32_t execs, uint64_t list)
{
	if (execs_of(p) != execs)
		return -EAGAIN;
	store_list(l, p, list);
	if (execs_of(p) == execs)
		return 0;
	store_list(l, p, 0);
	return -EAGAIN;
}

static bool has_already(const struct lists *l, const struct prof_unwind_proc *p,
			const struct prof_unwind_map *maps, uint32_t cnt)
{
	__u64 v;
	const struct list *list = list_at(l, p, &v);

	return list && list->cnt == cnt && (uint32_t)v == cnt &&
	       !memcmp(&l->cfg.maps[list->first], maps, cnt * sizeof(*maps));
}

int lists_publish(struct lists *l, uint32_t tgid, uint64_t owner, uint32_t *execs,
		  const struct prof_unwind_map *maps, uint32_t cnt)
{
	struct prof_unwind_proc *p = find(l, tgid);
	uint32_t first;

	if (!p) {
		p = claim_place(l, tgid);
		*execs = 0;
	}
	if (!p)
		return -ENFILE;
	if (!cnt) {
		store_list(l, p, 0);
		return 0;
	}
	if (execs_of(p) != *execs)
		return -EAGAIN;
	if (has_already(l, p, maps, cnt))
		return 0;
	if (!allocate_room(l, owner, rounded(cnt), &first))
		return -ENOSPC;
	memcpy(&l->cfg.maps[first], maps, cnt * sizeof(*maps));
	list_add(l, owner, first, cnt);
	l->counts.published++;
	return put(l, p, *execs, (uint64_t)first << 32 | cnt);
}

/* ---- who is free -------------------------------------------------------------------------------- */

static void mark_held(struct lists *l)
{
	struct list *list;
	__u64 v;
	uint32_t i;

	for (i = 0; i < l->cfg.proc_cnt; i++) {
		list = list_at(l, &l->cfg.procs[i], &v);
		if (list)
			list->held = true;
	}
}

/* Returns false if the list was freed. */
static bool keep(struct lists *l, struct list *list)
{
	bool held = list->held;

	list->held = false;
	l->taken_again |= held && list->taken;
	if (held && list->condemned) {
		set_condemned(l, list, false);
	} else if (!held && !list->condemned) {
		set_condemned(l, list, true);
		list->ticket = waiter_grace(l->cfg.waiter);
	} else if (!held && list->settled) {
		list_free(l, list);
		return false;
	}
	l->changed |= list->condemned || list->taken;
	return true;
}

void lists_step(struct lists *l)
{
	size_t i, kept = 0;

	l->short_steps -= l->short_steps > 0;
	if (!l->changed)
		return;
	l->changed = false;
	/* only lists whose grace period ended before this search can be freed by it */
	for (i = 0; i < l->cnt; i++)
		l->v[i]->settled =
			l->v[i]->condemned && waiter_is_over(l->cfg.waiter, l->v[i]->ticket);
	mark_held(l);
	for (i = 0; i < l->cnt; i++)
		if (keep(l, l->v[i]))
			l->v[kept++] = l->v[i];
	l->cnt = kept;
	if (l->taken_again)
		empty_taken_places(l);
	l->taken_again = false;
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
