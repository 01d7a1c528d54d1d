// SPDX-License-Identifier: BSD-2-Clause
/* Intervals of a live kernel against workloads that know how they slept, and who woke whom. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "profile/sched/intervals.h"
#include "tests/bpf/support.h"

TestSuite(intervals, .fini = live_cleanup);

enum {
	NAPS = 40,
	NAP_US = 20000,
	NAP_NS = NAP_US * 1000,
	TIDS = 1 << 22, /* the kernel's maximum */
};

/* What is asked of the intervals of one thread, or of two. */
struct seen {
	uint32_t tid, other;
	uint64_t spent[INTERVAL_STATE_CNT];
	uint64_t first, last;
	unsigned int naps, close_naps, by_timer; /* blocks that began and ended */
	unsigned int early; /* woken in the switch out, so runnable at once */
	unsigned int unseen; /* blocks that ended without a wakeup */
	unsigned int wakeups, by_other; /* of `tid` or `other` */
	unsigned int with_stack, waker_stacks;
	const struct intervals *iv;
	const struct live_trace *lt;
};

static void add_nap(struct seen *s, const struct interval *i, uint64_t ns)
{
	uint32_t cnt;

	if (i->flags & INTERVAL_EDGE_START || !i->waker)
		return;
	s->naps++;
	s->close_naps += ns <= NAP_NS + NAP_NS / 100;
	s->by_timer += i->waker->context == INTERVAL_BY_TIMER;
	s->with_stack += intervals_stack(s->iv, i->stack, &cnt) && cnt > 2;
}

/* The wakeup of a futex, and user code below it. */
static bool is_wake(const struct seen *s, uint32_t stack)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(s->iv, stack, &cnt);
	bool wakes = false;

	for (uint32_t k = 0; k < cnt; k++)
		wakes |= live_frame_in(s->lt, frames[k], "futex_wake");
	return wakes && !(frames[cnt - 1] & PROF_FRAME_KERNEL);
}

static void add_wakeup(struct seen *s, const struct interval *i)
{
	uint32_t peer = i->tid == s->tid ? s->other : s->tid;

	if (i->why != INTERVAL_WHY_WOKEN)
		return;
	s->wakeups++;
	s->by_other += i->waker->context == INTERVAL_BY_TASK && i->waker->tid == peer;
	if (i->waker->tid == peer)
		s->waker_stacks += is_wake(s, i->waker->stack);
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct seen *s = ctx;

	if (i->tid != s->tid && i->tid != s->other)
		return;
	add_wakeup(s, i);
	if (i->tid != s->tid)
		return;
	if (!s->first)
		s->first = i->start;
	else
		cr_assert_eq(i->start, s->last, "no time is left out");
	s->last = i->end;
	s->spent[i->state] += i->end - i->start;
	s->unseen += !(i->flags & (INTERVAL_EDGE_START | INTERVAL_EDGE_END)) &&
		     (i->state == INTERVAL_UNKNOWN || (i->state == INTERVAL_BLOCKED && !i->waker));
	s->early += i->why == INTERVAL_WHY_WOKEN_EARLY;
	if (i->state == INTERVAL_BLOCKED)
		add_nap(s, i, i->end - i->start);
}

static void read_intervals(const char *path, struct seen *s, uint64_t *elapsed_ns)
{
	struct live_trace lt;
	struct trace_event ev;
	struct intervals *iv;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	iv = intervals_new(&(struct intervals_opts){ lt.names, add_interval, s });
	s->iv = iv;
	s->lt = &lt;
	*elapsed_ns = 0;
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_STATS)
			*elapsed_ns = live_int(&ev, "elapsed_ns");
		intervals_add(iv, lt.trace, &ev);
	}
	intervals_finish(iv);
	intervals_free(iv);
	live_close(&lt);
}

/*
 * Whether some threads come to a CPU again and again, and never leave it. A kernel may be built to run no BPF programs
 * while a protected process is the current one, such as the agent of a virtual machine. It does not count these runs,
 * so a wakeup by an interrupt of such a thread is missing, and no loss is reported. ftrace has it.
 */
static bool has_blind_threads(void)
{
	int *balance = xcalloc(TIDS, sizeof(*balance));
	struct live_trace lt;
	struct trace_event ev;
	struct live_rec rec;
	bool found = false;

	live_record(&rec, "-a", "-d", "3", "--no-samples", "--switch-stacks=none", NULL);
	live_recording(&rec);
	cr_assert_eq(live_finish(&rec), 0);
	live_open(&lt, rec.path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SCHED_SWITCH)
			continue;
		balance[live_int(&ev, PROF_F_NEXT_PID) % TIDS]++;
		balance[live_int(&ev, PROF_F_PREV_PID) % TIDS]--;
	}
	live_close(&lt);
	/* a thread that runs at the end has come once more */
	for (int tid = 1; tid < TIDS; tid++)
		found |= balance[tid] > 1;
	free(balance);
	return found;
}

Test(intervals, sleeper_is_blocked_for_its_sleep_and_woken_by_the_timer)
{
	struct live_proc sleeper;
	struct live_rec rec;
	struct seen s = { 0 };
	struct live_switches before, after;
	uint64_t elapsed_ns, all, hidden, naps;

	live_stimulus(&sleeper, "sleeper", "40", "20000", NULL);
	s.tid = s.other = (uint32_t)sleeper.pid;
	live_record(&rec, "-p", live_number(sleeper.pid), NULL);
	live_recording(&rec);
	live_read_switches(sleeper.pid, &before);
	live_go(&sleeper);
	live_read_switches(sleeper.pid, &after);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&sleeper);
	/* A nap that ends before its thread has left the CPU is no block. The last block goes on. */
	naps = after.voluntary - before.voluntary - 1;
	read_intervals(rec.path, &s, &elapsed_ns);
	all = s.spent[INTERVAL_RUNNING] + s.spent[INTERVAL_RUNNABLE] + s.spent[INTERVAL_BLOCKED] +
	      s.spent[INTERVAL_UNKNOWN];
	cr_expect_eq(all, elapsed_ns, "it lived before and after: %llu of %llu ns",
		     (unsigned long long)all, (unsigned long long)elapsed_ns);
	/* between setting its timer and its block it may have waited for a CPU */
	cr_expect_geq(elapsed_ns - s.spent[INTERVAL_RUNNING], (uint64_t)NAPS * NAP_NS);
	hidden = live_hidden(rec.path, s.tid) + s.early;
	cr_expect_leq(s.unseen, NAPS / 10);
	if (s.unseen && has_blind_threads())
		hidden += s.unseen;
	cr_assert_gt(s.naps, NAPS / 2);
	cr_expect_geq(s.naps + hidden, naps, "%u of %u", s.naps, (unsigned int)naps);
	cr_expect_leq(s.naps, naps);
	cr_expect_geq(s.by_timer + hidden, naps, "%u of %u", s.by_timer, s.naps);
	cr_expect_geq(s.with_stack + hidden, naps, "%u of %u", s.with_stack, s.naps);
	/* a CPU that was taken away from this machine is late to wake it */
	cr_expect_gt(s.close_naps, NAPS / 2, "%u of %u within 1%%", s.close_naps, s.naps);
}

Test(intervals, each_ping_pong_player_is_woken_by_the_other)
{
	struct live_proc player;
	struct live_rec rec;
	struct seen s = { 0 };
	uint64_t elapsed_ns;

	live_stimulus(&player, "pingpong", "2000", NULL);
	s.tid = (uint32_t)live_truth(&player, "ping");
	s.other = (uint32_t)live_truth(&player, "pong");
	/* on a busy machine, unwind tables may come late */
	live_record(&rec, "-a", "--waker-stacks=both", "--call-graph=fp", NULL);
	live_recording(&rec);
	live_go(&player);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&player);
	read_intervals(rec.path, &s, &elapsed_ns);
	cr_assert_geq(s.wakeups, 100);
	cr_expect_geq(s.by_other, s.wakeups - s.wakeups / 100 - 4, "%u of %u", s.by_other,
		      s.wakeups);
	cr_expect_geq(s.waker_stacks, s.by_other, "%u of %u", s.waker_stacks, s.by_other);
}
