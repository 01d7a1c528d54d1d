// SPDX-License-Identifier: BSD-2-Clause
/*
 * work_budget.c - which process causes how much of the recorder's work, and who may cause more
 *
 * Hash tables of fixed size, so that charging allocates nothing. A process has a few possible places. If other
 * processes have all of them, the cheapest of these is forgotten: processes that cost much keep their place. Users
 * likewise.
 *
 * Shares are buckets that leak. A bucket of all work shows whether the recorder is loaded: only then the buckets of
 * processes and users count. If a user's bucket is full, its processes with little work go on. Work of the
 * drain and work of the helper processes have separate buckets: the former delays all events, the latter only symbols
 * and tables, and the first seconds of a recording need much of it.
 */
#include "record/process/work_budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/mix.h"
#include "kernel/proc.h"

enum {
	PLACES = 4096, /* a power of two */
	OWNERS = 512, /* likewise */
	PROBES = 8,
	CAP_PARTS = 8, /* the others are for events, and for what is needed in any case */
	RECOVERY = 30, /* periods in which a bucket is empty again, at most */
};

#define US_NS 1000ULL
#define PERIOD_NS (100000 * US_NS)
#define CHEAP_NS (1000 * US_NS)
#define SHORT_NS (100 * US_NS)
#define OWNED_NS (100 * US_NS) /* cost from which the owner of a process is read from /proc */

enum side { DRAIN, HELPERS, SIDES };

/* Sizes of a side's buckets; each loses its leak per period. */
static const struct limits {
	uint64_t loaded, loaded_leak;
	uint64_t process, process_leak;
	uint64_t owner, owner_leak;
	uint64_t little; /* a process below goes on if its user's bucket is full */
} limits[SIDES] = {
	[DRAIN] = { .loaded = 10000 * US_NS,
		    .loaded_leak = 10000 * US_NS,
		    .process = 10000 * US_NS,
		    .process_leak = 1250 * US_NS,
		    .owner = 20000 * US_NS,
		    .owner_leak = 5000 * US_NS,
		    .little = 150 * US_NS },
	[HELPERS] = { .loaded = 10000 * US_NS,
		      .loaded_leak = 10000 * US_NS,
		      .process = 200000 * US_NS,
		      .process_leak = 5000 * US_NS,
		      .owner = 1000000 * US_NS,
		      .owner_leak = 20000 * US_NS,
		      .little = 10000 * US_NS },
};

/* Periods in which a capped side is free again, at most. One file may take a helper many periods. */
static const uint64_t cap_recovery[SIDES] = { [DRAIN] = RECOVERY, [HELPERS] = 600 };

struct bucket {
	uint64_t ns;
	uint64_t period; /* of the last charge */
};

struct place {
	struct work_cost cost; /* pid 0: free */
	uint64_t owner; /* 0: not read yet */
	uint64_t unowned_ns[SIDES]; /* charged before the owner was read */
	struct bucket buckets[SIDES];
	bool is_charged; /* since work_budget_name() */
};

struct owner {
	uint64_t owner; /* 0: free */
	uint64_t sum_ns;
	struct bucket buckets[SIDES];
};

struct work_budget {
	struct work_budget_cfg cfg;
	bool is_limited;
	uint64_t cap_ns[SIDES]; /* per period; 0: none */
	struct bucket capped[SIDES];
	struct bucket all[SIDES];
	struct place places[PLACES];
	struct owner owners[OWNERS];
};

struct work_budget *work_budget_new(const struct work_budget_cfg *cfg)
{
	struct work_budget *b = xcalloc(1, sizeof(*b));

	b->cfg.owner = cfg && cfg->owner ? cfg->owner : proc_owner;
	b->cfg.now = cfg && cfg->now ? cfg->now : clock_mono_ns;
	return b;
}

void work_budget_free(struct work_budget *b)
{
	free(b);
}

void work_budget_limit(struct work_budget *b)
{
	b->is_limited = true;
}

void work_budget_cap(struct work_budget *b, uint64_t ns_per_second)
{
	for (int i = 0; i < SIDES; i++)
		b->cap_ns[i] = ns_per_second / (1000000 * US_NS / PERIOD_NS) / CAP_PARTS;
}

/* ---- places -------------------------------------------------------------------------------------- */

static struct place *place_at(struct work_budget *b, uint32_t pid, size_t i)
{
	return &b->places[(hash_u64(pid) + i) & (PLACES - 1)];
}

/* The place of a process; of another one if it has none. */
static struct place *find(struct work_budget *b, uint32_t pid)
{
	struct place *cheapest = place_at(b, pid, 0), *p;

	for (size_t i = 0; i < PROBES; i++) {
		p = place_at(b, pid, i);
		if (p->cost.pid == pid)
			return p;
		if (work_cost_sum(&p->cost) < work_cost_sum(&cheapest->cost))
			cheapest = p;
	}
	return cheapest;
}

static struct place *get(struct work_budget *b, uint32_t pid)
{
	struct place *p = find(b, pid);

	if (p->cost.pid != pid)
		*p = (struct place){ .cost.pid = pid };
	return p;
}

static struct owner *get_owner(struct work_budget *b, uint64_t owner)
{
	struct owner *cheapest = NULL, *o;

	for (size_t i = 0; i < PROBES; i++) {
		o = &b->owners[(hash_u64(owner) + i) & (OWNERS - 1)];
		if (o->owner == owner)
			return o;
		if (!cheapest || o->sum_ns < cheapest->sum_ns)
			cheapest = o;
	}
	*cheapest = (struct owner){ .owner = owner };
	return cheapest;
}

/* ---- buckets -------------------------------------------------------------------------------------- */

static enum side side_of(enum work_kind kind)
{
	return kind == WORK_TABLES || kind == WORK_SYMBOLS ? HELPERS : DRAIN;
}

static uint64_t level(const struct bucket *k, uint64_t period, uint64_t leak)
{
	const uint64_t leaked = (period - k->period) * leak;

	return k->ns > leaked ? k->ns - leaked : 0;
}

static void fill_up_to(struct bucket *k, uint64_t period, uint64_t leak, uint64_t max, uint64_t ns)
{
	const uint64_t sum = level(k, period, leak) + ns;

	k->ns = sum < max ? sum : max;
	k->period = period;
}

/* Above its size a bucket fills up to a limit: one long piece of work is not held against anybody for long. */
static void fill(struct bucket *k, uint64_t period, uint64_t leak, uint64_t size, uint64_t ns)
{
	fill_up_to(k, period, leak, size + RECOVERY * leak, ns);
}

static void charge_owner(struct work_budget *b, uint64_t owner, enum side side, uint64_t period,
			 uint64_t ns)
{
	struct owner *o = get_owner(b, owner);

	o->sum_ns += ns;
	fill(&o->buckets[side], period, limits[side].owner_leak, limits[side].owner, ns);
}

/* Reading the owner takes longer than most processes cost: a storm of short ones would pay for nothing else. */
static void charge_owner_of(struct work_budget *b, struct place *p, enum side side, uint64_t period,
			    uint64_t ns)
{
	if (p->owner) {
		charge_owner(b, p->owner, side, period, ns);
		return;
	}
	p->unowned_ns[side] += ns;
	if (p->unowned_ns[DRAIN] + p->unowned_ns[HELPERS] < OWNED_NS)
		return;
	p->owner = b->cfg.owner((pid_t)p->cost.pid);
	for (int i = 0; i < SIDES; i++)
		charge_owner(b, p->owner, i, period, p->unowned_ns[i]);
}

/* The cap holds for work that can be shed. */
static void charge_cap(struct work_budget *b, enum side side, uint64_t period, uint64_t ns)
{
	const uint64_t cap = b->cap_ns[side];

	if (cap)
		fill_up_to(&b->capped[side], period, cap, cap * (1 + cap_recovery[side]), ns);
}

static void charge_process(struct work_budget *b, uint32_t pid, enum work_kind kind,
			   uint64_t period, uint64_t ns)
{
	const enum side side = side_of(kind);
	const struct limits *l = &limits[side];
	struct place *p;

	p = get(b, pid);
	p->cost.ns[kind] += ns;
	p->is_charged = true;
	if (!b->is_limited)
		return;
	fill(&b->all[side], period, l->loaded_leak, l->loaded, ns);
	fill(&p->buckets[side], period, l->process_leak, l->process, ns);
	charge_owner_of(b, p, side, period, ns);
}

static void charge(struct work_budget *b, uint32_t pid, enum work_kind kind, uint64_t now,
		   uint64_t ns)
{
	if (!pid)
		return;
	charge_cap(b, side_of(kind), now / PERIOD_NS, ns);
	charge_process(b, pid, kind, now / PERIOD_NS, ns);
}

void work_budget_charge(struct work_budget *b, uint32_t pid, enum work_kind kind, uint64_t ns)
{
	charge(b, pid, kind, b->cfg.now(), ns);
}

static uint64_t short_time(uint64_t ns)
{
	return ns < SHORT_NS ? ns : SHORT_NS;
}

void work_budget_charge_since(struct work_budget *b, uint32_t pid, enum work_kind kind,
			      uint64_t began_ns)
{
	const uint64_t now = b->cfg.now();

	charge(b, pid, kind, now, short_time(now - began_ns));
}

void work_budget_charge_needed(struct work_budget *b, uint32_t pid, enum work_kind kind,
			       uint64_t began_ns)
{
	const uint64_t now = b->cfg.now();

	if (pid)
		charge_process(b, pid, kind, now / PERIOD_NS, short_time(now - began_ns));
}

static bool is_capped(const struct work_budget *b, enum side side, uint64_t period)
{
	const uint64_t cap = b->cap_ns[side];

	return cap && level(&b->capped[side], period, cap) >= cap;
}

bool work_budget_is_capped(const struct work_budget *b, enum work_kind kind)
{
	return is_capped(b, side_of(kind), b->cfg.now() / PERIOD_NS);
}

bool work_budget_may(struct work_budget *b, uint32_t pid, enum work_kind kind)
{
	const uint64_t period = b->cfg.now() / PERIOD_NS;
	const enum side side = side_of(kind);
	const struct limits *l = &limits[side];
	struct place *p;
	uint64_t own;

	if (is_capped(b, side, period))
		return false;
	if (!b->is_limited || !pid || level(&b->all[side], period, l->loaded_leak) < l->loaded)
		return true;
	p = find(b, pid);
	if (p->cost.pid != pid)
		return true;
	own = level(&p->buckets[side], period, l->process_leak);
	if (own >= l->process)
		return false;
	return own < l->little || !p->owner || p->owner == PROC_OWNER_GONE ||
	       level(&get_owner(b, p->owner)->buckets[side], period, l->owner_leak) < l->owner;
}

/* ---- the most expensive processes ------------------------------------------------------------------ */

size_t work_budget_top(const struct work_budget *b, const struct work_cost **top, size_t max)
{
	size_t cnt = 0, at;

	for (size_t i = 0; i < PLACES; i++) {
		const struct work_cost *c = &b->places[i].cost;
		const uint64_t sum = work_cost_sum(c);

		if (sum < CHEAP_NS || (cnt == max && sum <= work_cost_sum(top[cnt - 1])))
			continue;
		for (at = cnt < max ? cnt++ : cnt - 1; at && work_cost_sum(top[at - 1]) < sum; at--)
			top[at] = top[at - 1];
		top[at] = c;
	}
	return cnt;
}

void work_budget_name(struct work_budget *b, void (*fn)(void *ctx, uint32_t pid, char comm[16]),
		      void *ctx)
{
	for (size_t i = 0; i < PLACES; i++) {
		struct place *p = &b->places[i];

		if (!p->is_charged || work_cost_sum(&p->cost) < CHEAP_NS)
			continue;
		p->is_charged = false;
		fn(ctx, p->cost.pid, p->cost.comm);
	}
}

size_t work_budget_memory(const struct work_budget *b)
{
	return sizeof(*b);
}
