// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random schedules whose wakeups are missing here and there, without a LostEvents event: each interval with a
 * state is inside an interval of the scheduler's own, in the same state.
 */
#include "base/alloc.h"
#include "tests/profile/intervals_run.h"
#include "tests/support/chance.h"

TestSuite(missing_wakeups, .timeout = 60);

enum { TASKS = 9, CPUS = 3, STEPS = 3000, SEEDS = 20, IN_SWITCH_NS = 5000 };

struct truth {
	enum interval_state state;
	uint64_t start, end;
};

struct task {
	struct truth *v; /* the last is open */
	size_t cnt, cap;
	size_t next; /* that the engine has not reported */
	uint64_t reported; /* until then */
	uint32_t cpu;
};

struct world {
	struct run run;
	struct make m;
	struct chance chance;
	uint64_t now;
	uint32_t on[CPUS]; /* tid, 0: idle */
	struct task task[TASKS + 1];
	uint32_t missing; /* percentage of wakeups */
	uint64_t unsure, missed;
};

static uint32_t below(struct world *w, uint32_t n)
{
	return chance_below(&w->chance, n);
}

static enum interval_state state_of(const struct world *w, uint32_t tid)
{
	return w->task[tid].v[w->task[tid].cnt - 1].state;
}

static void set_state(struct world *w, uint32_t tid, enum interval_state state)
{
	struct task *t = &w->task[tid];

	t->v = array_reserve(t->v, &t->cap, t->cnt + 1, sizeof(*t->v));
	if (t->cnt)
		t->v[t->cnt - 1].end = w->now;
	t->v[t->cnt++] = (struct truth){ .state = state, .start = w->now };
}

static void put_wakeup(struct world *w, uint32_t cpu, uint32_t tid)
{
	if (below(w, 100) < w->missing)
		w->missed++;
	else
		make_waking(&w->m, w->now, cpu, w->on[cpu], "t", tid);
}

/* Another CPU wakes the thread while it switches out to block, so it remains runnable. */
static void wake_in_switch(struct world *w, uint32_t cpu, uint32_t tid)
{
	put_wakeup(w, (cpu + 1) % CPUS, tid);
	w->now += 1 + below(w, IN_SWITCH_NS);
}

static void switch_to(struct world *w, uint32_t cpu, uint32_t next)
{
	const uint32_t prev = w->on[cpu];
	const bool blocks = prev && below(w, 2), runnable = !blocks || !below(w, 4);

	if (blocks && runnable)
		wake_in_switch(w, cpu, prev);
	make_switch(&w->m, w->now, cpu, prev ? "t" : "swapper", prev,
		    blocks ? 1 : below(w, 2) * 0x100, "t", next);
	if (prev)
		set_state(w, prev, runnable ? INTERVAL_RUNNABLE : INTERVAL_BLOCKED);
	set_state(w, next, INTERVAL_RUNNING);
	w->on[cpu] = next;
	w->task[next].cpu = cpu;
}

/* The thread was about to block, and continues. */
static void wake_running(struct world *w, uint32_t tid)
{
	const bool elsewhere = below(w, 2);

	put_wakeup(w, elsewhere ? (w->task[tid].cpu + 1) % CPUS : w->task[tid].cpu, tid);
	w->now += elsewhere ? IN_SWITCH_NS + 1 : 1;
}

static void step(struct world *w)
{
	const uint32_t tid = 1 + below(w, TASKS), cpu = below(w, CPUS);
	const enum interval_state state = state_of(w, tid);

	w->now += 1 + below(w, 20000);
	if (state == INTERVAL_RUNNABLE) {
		switch_to(w, cpu, tid);
	} else if (state == INTERVAL_RUNNING && !below(w, 3)) {
		wake_running(w, tid);
	} else if (state == INTERVAL_BLOCKED) {
		put_wakeup(w, cpu, tid);
		set_state(w, tid, INTERVAL_RUNNABLE);
	}
}

/* Without missing wakeups, the engine's intervals are the scheduler's. */
static void expect_equal(struct task *t, const struct interval *i)
{
	const struct truth *is = &t->v[t->next++];

	cr_assert_leq(t->next, t->cnt);
	cr_expect_eq(i->state, is->state, "%u %" PRIu64 "-%" PRIu64, i->tid, i->start, i->end);
	cr_expect_eq(i->start, is->start);
	cr_expect_eq(i->end, is->end);
}

static void expect_inside(struct task *t, const struct interval *i)
{
	const struct truth *is;

	while (t->next + 1 < t->cnt && t->v[t->next].end <= i->start)
		t->next++;
	is = &t->v[t->next];
	cr_expect(i->state == is->state && i->start >= is->start && i->end <= is->end,
		  "%u in state %d from %" PRIu64 " to %" PRIu64 ", but in %d from %" PRIu64
		  " to %" PRIu64,
		  i->tid, i->state, i->start, i->end, is->state, is->start, is->end);
}

static void compare(struct run *r, const struct interval *i)
{
	struct world *w = (struct world *)r;
	struct task *t = &w->task[i->tid];

	cr_assert_eq(i->start, t->reported, "intervals leave no time out");
	t->reported = i->end;
	if (!w->missing)
		expect_equal(t, i);
	else if (i->state != INTERVAL_UNKNOWN && !(i->flags & INTERVAL_CUT) && i->end > i->start)
		expect_inside(t, i);
	w->unsure += interval_is_unsure(i->flags);
	cr_expect_eq(i->state == INTERVAL_UNKNOWN, interval_is_unsure(i->flags));
}

/* @missing: percentage of missing wakeups. */
static void compare_schedule(uint64_t seed, uint32_t missing)
{
	struct world w = { .run = { .see = compare, .tid = TRACE_NONE },
			   .chance = { seed },
			   .now = 1000,
			   .missing = missing };

	make_init(&w.m, NULL);
	make_clock(&w.m, w.now, 1);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		make_task(&w.m, w.now, 1, tid, "t");
		set_state(&w, tid, INTERVAL_BLOCKED);
		w.task[tid].reported = w.now;
	}
	for (int i = 0; i < STEPS; i++)
		step(&w);
	make_clock(&w.m, ++w.now, 2);
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		w.task[tid].v[w.task[tid].cnt - 1].end = w.now;
	run(&w.run, &w.m);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		cr_expect_eq(w.task[tid].reported, w.now);
		free(w.task[tid].v);
	}
	cr_expect_eq(w.unsure > 0, missing > 0);
	cr_expect_leq(w.unsure, w.missed);
	buf_free(&w.run.out);
}

Test(missing_wakeups, without_missing_wakeups_all_intervals_are_known)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		compare_schedule(seed, 0);
}

Test(missing_wakeups, missing_wakeups_make_no_interval_longer)
{
	static const uint32_t percentages[] = { 2, 30, 100 };

	for (size_t i = 0; i < sizeof(percentages) / sizeof(percentages[0]); i++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			compare_schedule(seed, percentages[i]);
}
