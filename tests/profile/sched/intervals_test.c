// SPDX-License-Identifier: BSD-2-Clause
/* Intervals from switches and wakeups: each expected line follows from the events above it. */
#include "tests/profile/intervals_run.h"

TestSuite(intervals, .timeout = 60);

static void migrate(struct make *m, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to)
{
	MAKE_NUMBERS(m, ts, "sched:sched_migrate_task", { "common_cpu", from }, { "common_pid", 0 },
		     { "pid", tid }, { "orig_cpu", from }, { "dest_cpu", to });
}

Test(intervals, thread_is_followed_from_birth_to_death)
{
	const uint64_t asleep[] = { make_frame(1, 0x10), make_frame(1, 0x20) };
	const uint64_t pushed[] = { make_frame(1, 0x30) };
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_wakeup_new(&m, 1000, 9, 5);
	make_switch(&m, 1010, 0, "x", 9, 1, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0);
	make_sample(&m, 1100, 5, 5, PROF_SOURCE_SWITCH_OUT, 0, asleep, 2);
	make_waking(&m, 1400, 1, 7, "a", 5);
	make_switch(&m, 1430, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1500, 0, "a", 5, 0x100, "b", 6);
	make_sample(&m, 1500, 5, 5, PROF_SOURCE_SWITCH_OUT, 0, pushed, 1);
	make_switch(&m, 1520, 0, "b", 6, 0, "a", 5);
	make_switch(&m, 1525, 0, "a", 5, 0, "b", 6);
	make_switch(&m, 1526, 0, "b", 6, 1, "a", 5);
	make_switch(&m, 1530, 0, "a", 5, 0x10, "b", 6);
	make_clock(&m, 2000, 2000);
	run_expect(&r, &m,
		   "5 runnable 1000-1010 to cpu cpu 0 new by 9 at 1000\n"
		   "5 running 1010-1100 to block cpu 0\n"
		   "5 blocked 1100-1400 to waking cpu 0 by 7 at 1400 S stack 0\n"
		   "5 runnable 1400-1430 to cpu cpu 0 woken by 7 at 1400\n"
		   "5 running 1430-1500 to preempted cpu 0\n"
		   "5 runnable 1500-1520 to cpu cpu 0 preempted R stack 1\n"
		   "5 running 1520-1525 to give way cpu 0\n"
		   "5 runnable 1525-1526 to cpu cpu 0 gave way\n"
		   "5 running 1526-1530 to exit cpu 0\n");
}

static void sum_neighbours(struct run *r, const struct interval *i)
{
	if (i->tid == 5 && i->state == INTERVAL_RUNNABLE) {
		cr_expect_eq(i->next_tid, 6);
		cr_expect_eq(i->prev_tid, 7);
	}
}

Test(intervals, runnable_interval_has_its_preemptor_and_the_thread_before_its_return)
{
	struct run r = { .tid = 5, .see = sum_neighbours };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 0x100, "b", 6);
	make_switch(&m, 1300, 0, "b", 6, 1, "c", 7);
	make_switch(&m, 1400, 0, "c", 7, 1, "a", 5);
	run_expect(&r, &m,
		   "5 running 1000-1000 to preempted cpu 0 edge-start\n"
		   "5 runnable 1000-1400 to cpu cpu 0 preempted R\n"
		   "5 running 1400-1400 to nothing cpu 0 edge-end\n");
}

Test(intervals, states_at_the_edges_of_the_trace_are_marked)
{
	struct run r = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, 1000, 1);
	make_task(&m, 1000, 5, 8, "idler");
	make_task(&m, 1000, 5, 9, "runner");
	make_switch(&m, 1100, 0, "a", 5, 2, "b", 6);
	make_waking(&m, 1200, 1, 9, "c", 7);
	make_clock(&m, 1500, 2);
	run_expect(&r, &m,
		   "5 running 1000-1100 to block cpu 0 edge-start\n"
		   "6 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start unsure\n"
		   "7 blocked 1000-1200 to waking by 9 at 1200 edge-start\n"
		   "5 blocked 1100-1500 to nothing cpu 0 D edge-end\n"
		   "6 running 1100-1500 to nothing cpu 0 edge-end\n"
		   "7 runnable 1200-1500 to nothing cpu 1 woken by 9 at 1200 edge-end\n"
		   "8 blocked 1000-1500 to nothing edge-start edge-end\n"
		   "9 running 1000-1500 to nothing edge-start edge-end\n");
}

Test(intervals, window_cuts_intervals)
{
	struct run r = { .tid = 5, .from = 1050, .to = 1450 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0);
	make_waking(&m, 1400, 1, 7, "a", 5);
	make_switch(&m, 1500, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1600, 0, "a", 5, 1, "swapper", 0);
	run_expect(&r, &m,
		   "5 running 1050-1100 to block cpu 0 clip-start\n"
		   "5 blocked 1100-1400 to waking cpu 0 by 7 at 1400 S\n"
		   "5 runnable 1400-1450 to cpu cpu 0 woken by 7 at 1400 clip-end\n");
}

static void make_blocked(struct make *m)
{
	make_init(m, NULL);
	make_switch(m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_switch(m, 1100, 0, "a", 5, 1, "swapper", 0);
	make_waking(m, 1500, 0, 0, "a", 5);
	make_switch(m, 1510, 0, "swapper", 0, 0, "a", 5);
	make_lost(m, 1600, "ring_full", 7, 1200, 1300);
	make_switch(m, 1700, 0, "a", 5, 1, "swapper", 0);
}

/* States of 5 for a reader that knows of the loss before it reads on. */
static const char loss_seen[] =
	"5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
	"5 running 1000-1100 to block cpu 0\n"
	"5 unknown (blocked) 1100-1500 to waking cpu 0 by 0 at 1500 S loss\n"
	"5 runnable 1500-1510 to cpu cpu 0 woken by 0 at 1500\n"
	"5 running 1510-1700 to block cpu 0\n"
	"5 blocked 1700-1700 to nothing cpu 0 S edge-end\n";

Test(intervals, loss_ends_all_states)
{
	struct run r = { .tid = 5, .gaps_first = true };
	struct make m;

	make_blocked(&m);
	run_expect(&r, &m, loss_seen);
}

Test(intervals, restart_keeps_the_gaps_and_nothing_else)
{
	struct run r = { .tid = 5, .again = true };
	struct make m;

	make_blocked(&m);
	run_expect(&r, &m, loss_seen);
}

Test(intervals, loss_before_the_window_affects_the_interval_inside_it)
{
	struct run r = { .tid = 5, .gaps_first = true, .from = 1400, .to = 1505 };
	struct make m;

	make_blocked(&m);
	run_expect(&r, &m,
		   "5 unknown (blocked) 1400-1500 to waking cpu 0 by 0 at 1500 S loss clip-start\n"
		   "5 runnable 1500-1505 to cpu cpu 0 woken by 0 at 1500 clip-end\n");
}

Test(intervals, late_reported_loss_marks_open_intervals)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0);
	make_lost(&m, 1400, "ring_full", 7, 1050, 1150);
	make_waking(&m, 1500, 0, 0, "a", 5);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "5 running 1000-1100 to block cpu 0\n"
		   "5 unknown (blocked) 1100-1500 to waking cpu 0 by 0 at 1500 S loss\n"
		   "5 runnable 1500-1500 to nothing cpu 0 woken by 0 at 1500 edge-end\n");
}

Test(intervals, switch_that_does_not_match_the_one_before_leaves_a_hole)
{
	struct run r = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	/* a was never switched out, and b never in */
	make_switch(&m, 1100, 0, "b", 6, 1, "c", 7);
	make_waking(&m, 1200, 0, 7, "a", 5); /* a blocked during that time */
	make_switch(&m, 1300, 0, "c", 7, 1, "a", 5);
	make_switch(&m, 1400, 0, "a", 5, 1, "swapper", 0);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "6 unknown (running) 1000-1100 to block cpu 0 hole edge-start\n"
		   "7 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start unsure\n"
		   "7 running 1100-1300 to block cpu 0\n"
		   "5 unknown (running) 1000-1300 to cpu cpu 0 hole\n"
		   "5 running 1300-1400 to block cpu 0\n"
		   "5 blocked 1400-1400 to nothing cpu 0 S edge-end\n"
		   "6 blocked 1100-1400 to nothing cpu 0 S edge-end\n"
		   "7 blocked 1300-1400 to nothing cpu 0 S edge-end\n");
}

Test(intervals, events_that_contradict_the_state_leave_a_hole)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1100, 1, "swapper", 0, 0, "a", 5); /* on two CPUs */
	make_switch(&m, 1200, 1, "a", 5, 1, "b", 6);
	make_switch(&m, 1300, 2, "a", 5, 1, "b", 6); /* left without having come */
	make_waking(&m, 1400, 2, 6, "a", 5);
	make_switch(&m, 1500, 3, "a", 5, 0x10, "b", 6); /* likewise */
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "5 unknown (running) 1000-1100 to cpu cpu 0 hole\n"
		   "5 running 1100-1200 to block cpu 1\n"
		   "5 unknown (blocked) 1200-1300 to block cpu 2 S hole\n"
		   "5 blocked 1300-1400 to waking cpu 2 by 6 at 1400 S\n"
		   "5 unknown (runnable) 1400-1500 to exit cpu 3 woken by 6 at 1400 hole\n");
}

Test(intervals, off_cpu_time_without_a_wakeup_is_unknown)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 1, "swapper", 0);
	make_switch(&m, 1300, 0, "swapper", 0, 0, "a", 5);
	run_expect(&r, &m,
		   "5 running 1000-1000 to block cpu 0 edge-start\n"
		   "5 unknown (blocked) 1000-1300 to cpu cpu 0 S unsure\n"
		   "5 running 1300-1300 to nothing cpu 0 edge-end\n");
}

Test(intervals, thread_woken_before_its_switch_out_does_not_block)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_waking(&m, 1095, 1, 6, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 1, "b", 7);
	make_switch(&m, 1300, 0, "b", 7, 1, "a", 5);
	/* woken early, and again: it had blocked again, and really slept */
	make_waking(&m, 1395, 1, 6, "a", 5);
	make_switch(&m, 1400, 0, "a", 5, 1, "b", 7);
	make_waking(&m, 1450, 1, 8, "a", 5);
	make_switch(&m, 1500, 0, "b", 7, 1, "a", 5);
	/* woken early, and preempted: the next blocked interval is independent of it */
	make_waking(&m, 1550, 1, 6, "a", 5);
	make_switch(&m, 1600, 0, "a", 5, 0x100, "b", 7);
	make_switch(&m, 1610, 0, "b", 7, 1, "a", 5);
	make_switch(&m, 1620, 0, "a", 5, 1, "b", 7);
	make_switch(&m, 1630, 0, "b", 7, 1, "a", 5);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "5 running 1000-1100 to block cpu 0\n"
		   "5 runnable 1100-1300 to cpu cpu 0 early by 6 at 1095 S\n"
		   "5 running 1300-1400 to block cpu 0\n"
		   "5 blocked 1400-1450 to waking cpu 0 by 8 at 1450 S\n"
		   "5 runnable 1450-1500 to cpu cpu 0 woken by 8 at 1450\n"
		   "5 running 1500-1600 to preempted cpu 0\n"
		   "5 runnable 1600-1610 to cpu cpu 0 preempted R\n"
		   "5 running 1610-1620 to block cpu 0\n"
		   "5 unknown (blocked) 1620-1630 to cpu cpu 0 S unsure\n"
		   "5 running 1630-1630 to nothing cpu 0 edge-end\n");
}

Test(intervals, reused_tid_is_another_thread)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 0x20, "b", 6); /* dead: nothing until the next birth */
	make_wakeup_new(&m, 1200, 6, 5);
	make_switch(&m, 1300, 0, "b", 6, 1, "new", 5);
	make_wakeup_new(&m, 1400, 6, 5); /* its death was not recorded */
	make_clock(&m, 1500, 1);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "5 running 1000-1100 to exit cpu 0\n"
		   "5 runnable 1200-1300 to cpu cpu 0 new by 6 at 1200\n"
		   "5 unknown (running) 1300-1400 to nothing cpu 0 hole\n"
		   "5 runnable 1400-1500 to nothing cpu 0 new by 6 at 1400 edge-end\n");
}

Test(intervals, threads_that_ran_instead_are_known)
{
	struct run r = { .tid = 5, .preemptors = true };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 0x100, "b", 6);
	make_switch(&m, 1010, 0, "b", 6, 1, "c", 7);
	make_switch(&m, 1040, 0, "c", 7, 1, "b", 6);
	make_switch(&m, 1100, 0, "b", 6, 1, "d", 8);
	make_switch(&m, 1105, 0, "d", 8, 1, "e", 9);
	make_switch(&m, 1106, 0, "e", 9, 1, "a", 5);
	run_expect(
		&r, &m,
		"5 running 1000-1000 to preempted cpu 0 edge-start\n"
		"5 runnable 1000-1106 to cpu cpu 0 preempted R 70 behind 6 on 0 30 behind 7 on 0 5 "
		"behind 8 on 0 1 behind others\n"
		"5 running 1106-1106 to nothing cpu 0 edge-end\n");
}

Test(intervals, runnable_interval_follows_its_thread_between_run_queues)
{
	struct run r = { .tid = 5, .preemptors = true };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "x", 6);
	make_switch(&m, 1000, 1, "swapper", 0, 0, "y", 7);
	make_waking(&m, 1100, 0, 6, "a", 5);
	migrate(&m, 1130, 5, 0, 1);
	make_switch(&m, 1150, 1, "y", 7, 1, "swapper", 0);
	make_switch(&m, 1160, 1, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1200, 1, "a", 5, 0x100, "y", 7);
	/* it comes back on a CPU without a recorded switch */
	make_switch(&m, 1300, 2, "swapper", 0, 0, "a", 5);
	run_expect(
		&r, &m,
		"5 blocked 1000-1100 to waking by 6 at 1100 edge-start\n"
		"5 runnable 1100-1160 to cpu cpu 1 woken by 6 at 1100 30 behind 6 on 0 20 behind 7 "
		"on 1 10 behind 0 on 1\n"
		"5 running 1160-1200 to preempted cpu 1\n"
		"5 runnable 1200-1300 to cpu cpu 2 preempted R 100 unknown\n"
		"5 running 1300-1300 to nothing cpu 2 edge-end\n");
}

static void make_target(struct make *m, const char *target, const char *key, const char *value)
{
	const char *const kv[] = { "target", target, key, value, NULL };

	make_init(m, NULL);
	make_metadata(m, 1000, kv);
}

Test(intervals, switches_next_to_the_target_leave_unknown_time)
{
	struct run r = { .preemptors = true };
	struct make m;

	make_target(&m, "pid 5", NULL, NULL);
	make_task(&m, 1000, 5, 5, "a");
	make_switch(&m, 1100, 0, "a", 5, 0x100, "x", 8);
	make_switch(&m, 1200, 0, "x", 8, 1, "a", 5); /* others may have run in between */
	make_switch(&m, 1300, 0, "a", 5, 0x100, "x", 8);
	make_switch(&m, 1400, 0, "y", 9, 1, "a", 5);
	make_clock(&m, 1500, 1);
	run_expect(&r, &m,
		   "5 running 1000-1100 to preempted cpu 0 edge-start\n"
		   "8 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start neighbour unsure\n"
		   "8 unknown (running) 1100-1200 to block cpu 0 neighbour\n"
		   "5 runnable 1100-1200 to cpu cpu 0 preempted R 100 unknown\n"
		   "5 running 1200-1300 to preempted cpu 0\n"
		   "8 unknown (blocked) 1200-1300 to cpu cpu 0 S neighbour unsure\n"
		   "9 unknown (running) 1000-1400 to block cpu 0 hole edge-start neighbour\n"
		   "5 runnable 1300-1400 to cpu cpu 0 preempted R 100 unknown\n"
		   "5 running 1400-1500 to nothing cpu 0 edge-end\n"
		   "8 unknown (running) 1300-1500 to nothing cpu 0 hole edge-end neighbour\n"
		   "9 unknown (blocked) 1400-1500 to nothing cpu 0 S edge-end neighbour\n");
}

/* A thread that was switched in last may have left long ago, unless all its switches are recorded. */
static void moves_on(const char *target, const char *key, const char *value, const char *want)
{
	struct run r = { .tid = 5, .preemptors = true };
	struct make m;

	make_target(&m, target, key, value);
	make_task(&m, 1000, 5, 5, "a");
	make_switch(&m, 1100, 1, "a", 5, 0x100, "x", 8);
	migrate(&m, 1140, 5, 1, 0);
	make_switch(&m, 1150, 0, "y", 7, 1, "a", 5);
	run_expect(&r, &m, want);
}

#define MOVES_ON(preemptors)                                                                       \
	"5 running 1000-1100 to preempted cpu 1 edge-start\n"                                      \
	"5 runnable 1100-1150 to cpu cpu 0 preempted R" preemptors "\n"                            \
	"5 running 1150-1150 to nothing cpu 0 edge-end\n"

Test(intervals, time_after_a_migration_is_not_attributed_to_a_thread_that_may_have_left)
{
	moves_on("pid 5", NULL, NULL, MOVES_ON(" 50 unknown"));
	moves_on("command a", "target_pids", "5", MOVES_ON(" 50 unknown"));
	moves_on("pid 5", "neighbours", "no", MOVES_ON(" 50 unknown"));
	/* 6 is a target, too; every switch is recorded; the CPU was watched */
	moves_on("tid 5,8", NULL, NULL, MOVES_ON(" 40 behind 8 on 1 10 unknown"));
	moves_on("system", NULL, NULL, MOVES_ON(" 40 behind 8 on 1 10 unknown"));
	moves_on("pid 5", "neighbours", "yes", MOVES_ON(" 40 behind 8 on 1 10 unknown"));
}

static void watch(struct make *m, uint64_t ts, uint32_t cpu, uint32_t tid,
		  enum prof_cpu_watch_kind kind)
{
	struct dial9_schema *s = MAKE_SCHEMA("dial9:cpu_watch", { "common_cpu", DIAL9_VARINT },
					     { "common_pid", DIAL9_VARINT }, { "watch", DIAL9_U8 });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, cpu);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_u64(m->enc, kind);
	make_end(m);
	dial9_schema_free(s);
}

Test(intervals, threads_that_ran_on_a_watched_cpu_are_known)
{
	struct run r = { .preemptors = true, .tid = 5 };
	struct make m;

	make_target(&m, "pid 5", "neighbours", "yes");
	make_task(&m, 1000, 5, 5, "a");
	make_switch(&m, 1100, 0, "a", 5, 0x100, "x", 8);
	make_switch(&m, 1150, 0, "x", 8, 0, "y", 9);
	make_switch(&m, 1200, 0, "y", 9, 1, "a", 5);
	/* not watched while it sleeps: others may have run before the wakeup */
	make_switch(&m, 1300, 0, "a", 5, 1, "x", 8);
	watch(&m, 1350, 0, 8, PROF_WATCH_BEGUN);
	make_waking(&m, 1350, 0, 7, "a", 5);
	make_switch(&m, 1400, 0, "x", 8, 0, "a", 5);
	/* a runnable interval that moves before another thread left the first CPU */
	watch(&m, 1450, 1, 6, PROF_WATCH_BEGUN);
	make_switch(&m, 1500, 0, "a", 5, 0, "x", 8);
	watch(&m, 1520, 1, 6, PROF_WATCH_BEGUN);
	migrate(&m, 1520, 5, 0, 1);
	make_switch(&m, 1600, 1, "z", 6, 0, "a", 5);
	/* the running thread may be reported later */
	make_switch(&m, 1700, 1, "a", 5, 1, "z", 6);
	watch(&m, 1750, 1, 5, PROF_WATCH_BEGUN_UNSEEN);
	make_waking(&m, 1750, 1, 7, "a", 5);
	make_switch(&m, 1800, 1, "w", 4, 0, "a", 5);
	/* a runnable interval that was not watched */
	make_switch(&m, 1900, 1, "a", 5, 0, "w", 4);
	watch(&m, 1990, 1, 4, PROF_WATCH_ENDED);
	make_switch(&m, 2000, 1, "w", 4, 0, "a", 5);
	run_expect(
		&r, &m,
		"5 running 1000-1100 to preempted cpu 0 edge-start\n"
		"5 runnable 1100-1200 to cpu cpu 0 preempted R 50 behind 8 on 0 50 behind 9 on 0\n"
		"5 running 1200-1300 to block cpu 0\n"
		"5 blocked 1300-1350 to waking cpu 0 by 7 at 1350 S\n"
		"5 runnable 1350-1400 to cpu cpu 0 woken by 7 at 1350 50 behind 8 on 0\n"
		"5 running 1400-1500 to give way cpu 0\n"
		"5 runnable 1500-1600 to cpu cpu 1 gave way 80 behind 6 on 1 20 behind 8 on 0\n"
		"5 running 1600-1700 to block cpu 1\n"
		"5 blocked 1700-1750 to waking cpu 1 by 7 at 1750 S\n"
		"5 runnable 1750-1800 to cpu cpu 1 woken by 7 at 1750 50 behind 4 on 1\n"
		"5 running 1800-1900 to give way cpu 1\n"
		"5 runnable 1900-2000 to cpu cpu 1 gave way 100 unknown\n"
		"5 running 2000-2000 to nothing cpu 1 edge-end\n");
}

Test(intervals, watch_event_that_overlaps_a_switch_of_the_target_changes_nothing)
{
	struct run r = { .preemptors = true, .tid = 5 };
	struct make m;

	make_target(&m, "pid 5", "neighbours", "yes");
	make_task(&m, 1000, 5, 5, "a");
	make_switch(&m, 1100, 0, "x", 8, 0, "a", 5);
	/* about the next thread, shortly before its switch */
	watch(&m, 1199, 0, 9, PROF_WATCH_BEGUN);
	make_switch(&m, 1200, 0, "a", 5, 0, "y", 9);
	make_switch(&m, 1300, 0, "y", 9, 1, "a", 5);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start unsure\n"
		   "5 running 1100-1200 to give way cpu 0\n"
		   "5 runnable 1200-1300 to cpu cpu 0 gave way 100 behind 9 on 0\n"
		   "5 running 1300-1300 to nothing cpu 0 edge-end\n");
}

Test(intervals, children_of_the_target_are_followed)
{
	struct run r = { .tid = 6 };
	struct make m;

	make_target(&m, "pid 5", NULL, NULL);
	make_task(&m, 1000, 5, 5, "a");
	make_fork(&m, 1050, 5, 6);
	make_wakeup_new(&m, 1060, 5, 6);
	make_switch(&m, 1100, 0, "a", 5, 1, "b", 6);
	make_switch(&m, 1200, 0, "b", 6, 0x10, "x", 9);
	run_expect(&r, &m,
		   "6 runnable 1060-1100 to cpu cpu 0 new by 5 at 1060\n"
		   "6 running 1100-1200 to exit cpu 0\n");
}

Test(intervals, thread_that_execs_continues_with_the_tid_of_its_leader)
{
	struct run r = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "x", 0, 0, "main", 5);
	make_switch(&m, 1100, 0, "main", 5, 0x10, "thread", 6);
	make_exec(&m, 1150, 6, 5);
	make_exec(&m, 1160, 5, 5); /* with its own TID: no change */
	make_switch(&m, 1200, 0, "new", 5, 0x10, "swapper", 0);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "5 running 1000-1100 to exit cpu 0\n"
		   "6 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start unsure\n"
		   "6 running 1100-1150 to nothing cpu 0\n"
		   "5 running 1150-1200 to exit cpu 0\n");
}

/* It is switched out with the new TID, before the exec event. */
Test(intervals, thread_may_be_switched_out_during_its_exec)
{
	struct run r = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1000, 5, 6, "thread");
	make_switch(&m, 1000, 0, "x", 0, 0, "main", 5);
	make_switch(&m, 1100, 0, "main", 5, 0x10, "thread", 6);
	make_switch(&m, 1130, 0, "main", 5, 0x100, "swapper", 0);
	make_switch(&m, 1140, 0, "swapper", 0, 0, "main", 5);
	make_exec(&m, 1150, 6, 5);
	make_switch(&m, 1200, 0, "new", 5, 0x10, "swapper", 0);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "5 running 1000-1100 to exit cpu 0\n"
		   "6 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start unsure\n"
		   "6 running 1100-1130 to nothing cpu 0\n"
		   "5 running 1130-1130 to preempted cpu 0\n"
		   "5 runnable 1130-1140 to cpu cpu 0 preempted R\n"
		   "5 running 1140-1200 to exit cpu 0\n");
}

Test(intervals, impossible_tids_are_ignored)
{
	struct run r = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "x", 4194305, 1, "y", 4194304);
	run_expect(&r, &m,
		   "4194304 unknown (runnable) 1000-1000 to cpu cpu 0 edge-start unsure\n"
		   "4194304 running 1000-1000 to nothing cpu 0 edge-end\n");
}

static void add_part(struct buf *out, const char *boot, uint64_t ts, uint32_t prev, uint32_t next)
{
	const char *const kv[] = { "host", "h", "boot_id", boot, "start_realtime_ns", boot, NULL };
	const void *data;
	struct make m;
	size_t sz;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_switch(&m, ts + 100, 0, "x", prev, 1, "y", next);
	make_clock(&m, ts + 150, 1);
	data = dial9_enc_data(m.enc, &sz);
	buf_add(out, data, sz);
	make_fini(&m);
}

Test(intervals, each_recording_in_the_stream_starts_with_no_state)
{
	struct buf bytes = { 0 };
	struct run r = { 0 };

	add_part(&bytes, "1", 9000, 5, 6);
	add_part(&bytes, "2", 100, 6, 5);
	run_bytes(&r, bytes.data, bytes.len);
	cr_expect_str_eq(buf_cstr(&r.out),
			 "5 running 9000-9100 to block cpu 0 edge-start\n"
			 "6 unknown (runnable) 9000-9100 to cpu cpu 0 edge-start unsure\n"
			 "5 blocked 9100-9150 to nothing cpu 0 S edge-end\n"
			 "6 running 9100-9150 to nothing cpu 0 edge-end\n"
			 "6 running 100-200 to block cpu 0 edge-start\n"
			 "5 unknown (runnable) 100-200 to cpu cpu 0 edge-start unsure\n"
			 "5 running 200-250 to nothing cpu 0 edge-end\n"
			 "6 blocked 200-250 to nothing cpu 0 S edge-end\n",
			 "%s", buf_cstr(&r.out));
	buf_free(&r.out);
	buf_free(&bytes);
}

/* ---- wakers ------------------------------------------------------------------------------------ */

static void wakeup_from(struct make *m, uint64_t ts, uint32_t tid, uint64_t context)
{
	MAKE_NUMBERS(m, ts, "sched:sched_waking", { "common_cpu", 3 }, { "common_pid", 9 },
		     { "pid", tid }, { "target_cpu", 0 }, { "context", context });
}

static const struct {
	uint64_t recorded;
	enum interval_context context;
	int32_t number;
} froms[] = {
	{ 0, INTERVAL_BY_UNKNOWN, -1 },
	{ 1, INTERVAL_BY_TASK, -1 },
	{ 2, INTERVAL_BY_SOFTIRQ, -1 },
	{ 2 | 4 << 3, INTERVAL_BY_SOFTIRQ, 3 },
	{ 2 | 2 << 3, INTERVAL_BY_TIMER, 1 },
	{ 3, INTERVAL_BY_HARDIRQ, -1 },
	{ 3 | 25 << 3, INTERVAL_BY_HARDIRQ, 24 },
	{ 4, INTERVAL_BY_IPI, -1 },
	{ 5, INTERVAL_BY_TIMER, -1 },
	{ 6, INTERVAL_BY_UNKNOWN, -1 },
	{ UINT64_MAX, INTERVAL_BY_UNKNOWN, -1 },
};
enum { FROMS = sizeof(froms) / sizeof(froms[0]) };

static void add_waker(struct run *r, const struct interval *i)
{
	size_t k = i->tid - 100;

	(void)r;
	if (i->state != INTERVAL_BLOCKED)
		return;
	cr_assert_lt(k, FROMS);
	cr_assert(i->waker);
	cr_expect_eq(i->waker->context, froms[k].context, "%zu", k);
	cr_expect_eq(i->waker->number, froms[k].number, "%zu", k);
	cr_expect_eq(i->waker->raw, froms[k].recorded);
	cr_expect_eq(i->waker->tid, 9);
	cr_expect_eq(i->waker->cpu, 3);
}

Test(intervals, wakeup_has_its_context)
{
	struct run r = { .see = add_waker };
	struct make m;

	make_init(&m, NULL);
	for (uint32_t k = 0; k < FROMS; k++)
		wakeup_from(&m, 1000 + k, 100 + k, froms[k].recorded);
	run(&r, &m);
	buf_free(&r.out);
}

Test(intervals, waker_has_its_stack_if_it_was_recorded)
{
	const uint64_t frames[] = { make_frame(1, 0x10), make_frame(1, 0x20) };
	const uint64_t other[] = { make_frame(1, 0x30) };
	struct run r = { .tid = 5 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 1, "b", 6);
	make_sample(&m, 1000, 5, 5, PROF_SOURCE_SWITCH_OUT, 0, other, 1);
	make_waking(&m, 1100, 1, 7, "a", 5);
	make_task(&m, 1100, 7, 7, "waker"); /* refers to no event */
	make_sample(&m, 1100, 7, 7, PROF_SOURCE_WAKING, 1, frames, 2);
	make_switch(&m, 1200, 0, "b", 6, 1, "a", 5);
	make_waking(&m, 1250, 1, 7, "a", 5); /* before it is off the CPU */
	make_sample(&m, 1250, 7, 7, PROF_SOURCE_WAKING, 1, other, 1);
	make_switch(&m, 1260, 0, "a", 5, 1, "b", 6);
	make_switch(&m, 1300, 0, "b", 6, 1, "a", 5);
	make_switch(&m, 1400, 0, "a", 5, 1, "b", 6);
	make_waking(&m, 1500, 1, 7, "a", 5);
	make_sample(&m, 1501, 7, 7, PROF_SOURCE_WAKING, 1, frames, 2); /* of no wakeup */
	run_expect(&r, &m,
		   "5 running 1000-1000 to block cpu 0 edge-start\n"
		   "5 blocked 1000-1100 to waking cpu 0 by 7 at 1100 from 1 S stack 0\n"
		   "5 runnable 1100-1200 to cpu cpu 0 woken by 7 at 1100 from 1\n"
		   "5 running 1200-1260 to block cpu 0\n"
		   "5 runnable 1260-1300 to cpu cpu 0 early by 7 at 1250 from 0 S\n"
		   "5 running 1300-1400 to block cpu 0\n"
		   "5 blocked 1400-1500 to waking cpu 0 by 7 at 1500 S\n"
		   "5 runnable 1500-1501 to nothing cpu 1 woken by 7 at 1500 edge-end\n");
}

Test(intervals, stacks_are_skipped_on_request)
{
	const uint64_t frames[] = { make_frame(1, 0x10) };
	struct run r = { .tid = 5, .skip_stacks = true };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 1, "b", 6);
	make_sample(&m, 1000, 5, 5, PROF_SOURCE_SWITCH_OUT, 0, frames, 1);
	make_waking(&m, 1100, 1, 7, "a", 5);
	make_sample(&m, 1100, 7, 7, PROF_SOURCE_WAKING, 1, frames, 1);
	run_expect(&r, &m,
		   "5 running 1000-1000 to block cpu 0 edge-start\n"
		   "5 blocked 1000-1100 to waking cpu 0 by 7 at 1100 S\n"
		   "5 runnable 1100-1100 to nothing cpu 1 woken by 7 at 1100 edge-end\n");
}

/* ---- any schedule ------------------------------------------------------------------------------ */

enum { TASKS = 9, CPUS = 3, STEPS = 3000 };

/* A scheduler with its own accounting. */
struct world {
	uint64_t seed, now;
	uint32_t on[CPUS]; /* tid, 0: idle */
	enum interval_state state[TASKS + 1];
	uint64_t since[TASKS + 1], spent[TASKS + 1][INTERVAL_STATE_CNT];
};

static struct world *engine_sums; /* sums of the engine, in `spent` */

static uint64_t draw(struct world *w, uint64_t n)
{
	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (w->seed >> 33) % n;
}

static void become(struct world *w, uint32_t tid, enum interval_state state)
{
	w->spent[tid][w->state[tid]] += w->now - w->since[tid];
	w->state[tid] = state;
	w->since[tid] = w->now;
}

static void step(struct world *w, struct make *m)
{
	uint32_t cpu = (uint32_t)draw(w, CPUS), tid = 1 + (uint32_t)draw(w, TASKS),
		 prev = w->on[cpu];
	bool blocks = draw(w, 2);

	w->now += 1 + draw(w, 500);
	if (w->state[tid] == INTERVAL_BLOCKED) {
		make_waking(m, w->now, cpu, prev, "t", tid);
		become(w, tid, INTERVAL_RUNNABLE);
	} else if (w->state[tid] == INTERVAL_RUNNABLE) {
		make_switch(m, w->now, cpu, "t", prev, blocks ? 1 : draw(w, 2) * 0x100, "t", tid);
		if (prev)
			become(w, prev, blocks ? INTERVAL_BLOCKED : INTERVAL_RUNNABLE);
		become(w, tid, INTERVAL_RUNNING);
		w->on[cpu] = tid;
	}
}

static void sum_states(struct run *r, const struct interval *i)
{
	cr_assert_eq(i->start, engine_sums->since[i->tid], "no time is left out");
	cr_assert_geq(i->end, i->start);
	engine_sums->since[i->tid] = i->end;
	engine_sums->spent[i->tid][i->state] += i->end - i->start;
}

/* @hidden: drops one event in N; 0: none. */
static void any_schedule(uint64_t seed, bool hides)
{
	struct world w = { .seed = seed, .now = 1000 }, sums = { 0 };
	struct run r = { .see = sum_states, .tid = TRACE_NONE };
	struct make m, none;
	uint64_t all, life;

	make_init(&m, NULL);
	make_init(&none, NULL);
	make_clock(&m, w.now, 1);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		make_task(&m, w.now, 1, tid, "t");
		w.state[tid] = INTERVAL_BLOCKED;
		w.since[tid] = sums.since[tid] = w.now;
	}
	for (int i = 0; i < STEPS; i++)
		step(&w, hides && !draw(&w, 20) ? &none : &m);
	w.now += 100;
	make_clock(&m, w.now, 2);
	make_fini(&none);
	engine_sums = &sums;
	run(&r, &m);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		become(&w, tid, w.state[tid]);
		all = life = 0;
		for (int s = 0; s < INTERVAL_STATE_CNT; s++) {
			all += sums.spent[tid][s];
			life += w.spent[tid][s];
			if (!hides)
				cr_expect_eq(sums.spent[tid][s], w.spent[tid][s]);
		}
		cr_expect_eq(all, life, "run, runnable, blocked and unknown are the whole life");
	}
}

Test(intervals, random_schedules_sum_to_the_schedulers_own_accounting)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		any_schedule(seed, false);
}

Test(intervals, random_schedules_with_losses_sum_to_the_lifetimes_of_threads)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		any_schedule(seed, true);
}
