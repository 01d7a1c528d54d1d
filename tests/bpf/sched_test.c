// SPDX-License-Identifier: BSD-2-Clause
/* The scheduler's events of a live kernel against what the workload and /proc know to be true. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "tests/bpf/support.h"

TestSuite(sched, .fini = live_cleanup);

enum { TASK_INTERRUPTIBLE = 1 };

static bool is_involuntary(int64_t prev_state)
{
	return prev_state == 0 || prev_state == 0x100;
}

/* The switches from `tid`. */
static struct live_switches count_switches(const char *path, pid_t tid)
{
	struct live_switches n = { 0 };
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SCHED_SWITCH || live_int(&ev, "prev_pid") != tid)
			continue;
		cr_assert_eq(ev.tid, (uint32_t)tid);
		if (is_involuntary(live_int(&ev, "prev_state")))
			n.involuntary++;
		else
			n.voluntary++;
	}
	live_assert_no_loss(&lt);
	live_close(&lt);
	return n;
}

Test(sched, switches_of_a_sleeper_equal_its_own_counters)
{
	struct live_switches before, after, seen;
	struct live_proc sleeper;
	struct live_rec rec;

	live_stimulus(&sleeper, "sleeper", "1000", "100", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), NULL);
	live_recording(&rec);
	live_read_switches(sleeper.pid, &before);
	live_go(&sleeper);
	live_read_switches(sleeper.pid, &after);
	cr_assert_eq(live_stop(&rec), 0);
	seen = count_switches(rec.path, sleeper.pid);
	live_end(&sleeper);
	/* a nap may be over before its thread has left a CPU that was taken away from this machine */
	cr_assert_gt(after.voluntary - before.voluntary, 500);
	cr_assert_eq(seen.voluntary, after.voluntary - before.voluntary);
	cr_assert_eq(seen.involuntary, after.involuntary - before.involuntary);
}

/* ---- ping-pong ----------------------------------------------------------------------------------- */

struct stamp {
	uint64_t ts;
	uint32_t tid;
};

struct stamps {
	struct stamp *v;
	size_t cnt, cap;
};

static void stamp_add(struct stamps *s, const struct trace_event *ev)
{
	s->v = array_reserve(s->v, &s->cap, s->cnt + 1, sizeof(*s->v));
	s->v[s->cnt++] = (struct stamp){ ev->ts, ev->tid };
}

static int compare_stamps(const void *a, const void *b)
{
	const struct stamp *x = a, *y = b;

	return x->ts != y->ts ? (x->ts < y->ts ? -1 : 1) : (x->tid > y->tid) - (x->tid < y->tid);
}

static void assert_same_stamps(struct stamps *a, struct stamps *b)
{
	size_t i;

	cr_assert_eq(a->cnt, b->cnt, "%zu and %zu", a->cnt, b->cnt);
	qsort(a->v, a->cnt, sizeof(*a->v), compare_stamps);
	qsort(b->v, b->cnt, sizeof(*b->v), compare_stamps);
	for (i = 0; i < a->cnt; i++)
		cr_assert_eq(compare_stamps(&a->v[i], &b->v[i]), 0);
	free(a->v);
	free(b->v);
}

struct pingpong {
	pid_t main, ping, pong;
	int64_t last_state;
	uint64_t ping_wakes, pong_wakes;
	struct stamps outs, stacks;
};

static bool is_player(const struct pingpong *p, int64_t tid)
{
	return tid == p->main || tid == p->ping || tid == p->pong;
}

static void add_switch(struct pingpong *p, const struct trace_event *ev)
{
	p->last_state = live_int(ev, "prev_state");
	stamp_add(&p->outs, ev);
}

static void add_wakeup(struct pingpong *p, const struct trace_event *ev)
{
	int64_t waker = live_int(ev, PROF_TP_COMMON_PID), wakee = live_int(ev, "pid");

	p->ping_wakes += waker == p->ping && wakee == p->pong;
	p->pong_wakes += waker == p->pong && wakee == p->ping;
}

/* Kernel frames with names first, then user frames. */
static void add_waker_stack(struct live_trace *lt, struct pingpong *p, const struct trace_event *ev)
{
	cr_assert_gt(ev->frame_cnt, 2);
	cr_assert(ev->frames[0] & PROF_FRAME_KERNEL);
	cr_assert(names_symbol(lt->names, ev->frames[0]));
	if (p->last_state == TASK_INTERRUPTIBLE) {
		cr_assert(live_stack_has(lt, ev, "schedule"));
		cr_assert_eq(ev->frames[ev->frame_cnt - 1] & PROF_FRAME_KERNEL, 0);
	}
	stamp_add(&p->stacks, ev);
}

static void read_pingpong(const char *path, struct pingpong *p)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, PROF_EV_SCHED_WAKING))
			add_wakeup(p, &ev);
		else if (ev.kind == TRACE_SCHED_SWITCH && is_player(p, live_int(&ev, "prev_pid")))
			add_switch(p, &ev);
		else if (ev.kind == TRACE_SAMPLE && ev.source == PROF_SOURCE_SWITCH_OUT)
			add_waker_stack(&lt, p, &ev);
	}
	live_close(&lt);
}

Test(sched, each_wakeup_has_waker_and_wakee_and_each_switch_out_has_its_stack)
{
	struct live_proc player;
	struct pingpong p = { 0 };
	struct live_switches still;
	struct live_rec rec;

	live_stimulus(&player, "pingpong", "2000", NULL);
	p.main = player.pid;
	p.ping = live_truth(&player, "ping");
	p.pong = live_truth(&player, "pong");
	live_record(&rec, "-p", live_number(player.pid), NULL);
	live_recording(&rec);
	live_go(&player);
	live_read_switches(p.main, &still);
	cr_assert_eq(live_stop(&rec), 0);
	read_pingpong(rec.path, &p);
	cr_assert_geq(p.ping_wakes + p.pong_wakes, 100);
	cr_assert_eq(p.ping_wakes, live_truth(&player, "ping_wakes"));
	cr_assert_eq(p.pong_wakes, live_truth(&player, "pong_wakes"));
	cr_assert_geq(p.outs.cnt, 100);
	assert_same_stamps(&p.outs, &p.stacks);
	live_end(&player);
}
