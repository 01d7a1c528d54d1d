// SPDX-License-Identifier: BSD-2-Clause
/*
 * Intervals of recordings that do not have all events of a thread: targets are reported and change, or only
 * some CPUs were recorded.
 */
#include "tests/profile/intervals_run.h"

TestSuite(cpu_filter, .timeout = 60);

static void migrate(struct make *m, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to)
{
	MAKE_NUMBERS(m, ts, "sched:sched_migrate_task", { "common_cpu", from }, { "common_pid", 0 },
		     { "pid", tid }, { "orig_cpu", from }, { "dest_cpu", to });
}

static void make_target(struct make *m, const char *target, const char *key, const char *value)
{
	const char *const kv[] = { "target", target, key, value, NULL };

	make_init(m, NULL);
	make_metadata(m, 1000, kv);
}

static void make_followed_task(struct make *m, uint64_t ts, uint32_t pid, uint32_t tid,
			       bool followed)
{
	struct dial9_schema *s = MAKE_SCHEMA("TaskEvent", { "pid", DIAL9_U32 },
					     { "tid", DIAL9_U32 }, { "followed", DIAL9_U8 });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, pid);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_u64(m->enc, followed);
	make_end(m);
	dial9_schema_free(s);
}

Test(cpu_filter, followed_thread_is_known_from_its_task_event_on)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_target(&m, "system", "followed", "told");
	make_switch(&m, 1100, 0, "y", 9, 1, "a", 5);
	make_followed_task(&m, 1200, 5, 5, true);
	make_switch(&m, 1300, 0, "a", 5, 1, "x", 8);
	make_waking(&m, 1400, 0, 8, "a", 5);
	make_switch(&m, 1500, 0, "x", 8, 1, "a", 5);
	make_followed_task(&m, 1600, 5, 5, false);
	make_switch(&m, 1700, 0, "x", 8, 1, "y", 9);
	run_expect(&r, &m,
		   "5 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start neighbour unsure\n"
		   "5 unknown (running) 1100-1200 to nothing cpu 0 neighbour\n"
		   "5 running 1200-1300 to block cpu 0 edge-start\n"
		   "5 blocked 1300-1400 to waking cpu 0 by 8 at 1400 S\n"
		   "5 runnable 1400-1500 to cpu cpu 0 woken by 8 at 1400\n"
		   "5 running 1500-1600 to nothing cpu 0 edge-end\n"
		   "5 unknown 1600-1700 to nothing edge-end neighbour\n");
}

Test(cpu_filter, thread_that_becomes_a_target_while_it_runs_has_no_hole)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_target(&m, "system", "followed", "told");
	make_followed_task(&m, 1000, 6, 6, true);
	make_switch(&m, 1100, 0, "b", 6, 1, "x", 8);
	make_followed_task(&m, 1200, 5, 5, true);
	make_switch(&m, 1300, 0, "a", 5, 1, "x", 8);
	make_waking(&m, 1400, 0, 8, "a", 5);
	run_expect(&r, &m,
		   "5 running 1200-1300 to block cpu 0 edge-start\n"
		   "5 blocked 1300-1400 to waking cpu 0 by 8 at 1400 S\n"
		   "5 runnable 1400-1400 to nothing cpu 0 woken by 8 at 1400 edge-end\n");
}

Test(cpu_filter, switch_after_a_thread_became_a_target_is_missing)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_target(&m, "system", "followed", "told");
	make_followed_task(&m, 1000, 6, 6, true);
	make_followed_task(&m, 1100, 5, 5, true);
	make_switch(&m, 1200, 0, "b", 6, 1, "x", 8);
	make_switch(&m, 1300, 0, "a", 5, 1, "x", 8);
	make_waking(&m, 1300, 0, 8, "a", 5);
	run_expect(&r, &m,
		   "5 unknown (running) 1100-1300 to block cpu 0 hole edge-start\n"
		   "5 blocked 1300-1300 to waking cpu 0 by 8 at 1300 S\n"
		   "5 runnable 1300-1300 to nothing cpu 0 woken by 8 at 1300 edge-end\n");
}

Test(cpu_filter, task_events_inside_a_cut_count_from_its_start)
{
	const char *const kv[] = { "target", "pid 5", "followed", "within", "inherit", "no", NULL };
	struct run r = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, 1000, kv);
	make_followed_task(&m, 1000, 5, 5, true);
	make_followed_task(&m, 1000, 6, 6, true);
	make_switch(&m, 1100, 0, "a", 5, 1, "b", 6);
	run_expect(&r, &m,
		   "5 running 1000-1100 to block cpu 0 edge-start\n"
		   "6 unknown (runnable) 1000-1100 to cpu cpu 0 edge-start neighbour unsure\n"
		   "5 blocked 1100-1100 to nothing cpu 0 S edge-end\n"
		   "6 unknown (running) 1100-1100 to nothing cpu 0 edge-end neighbour\n");
}

Test(cpu_filter, followed_child_is_known_from_its_birth)
{
	struct run r = { .tid = 6 };
	struct make m;

	make_target(&m, "system", "followed", "told");
	make_clock(&m, 1000, 1);
	make_followed_task(&m, 1090, 6, 6, true);
	make_wakeup_new(&m, 1100, 5, 6);
	make_switch(&m, 1200, 0, "a", 5, 0, "a", 6);
	make_switch(&m, 1300, 0, "a", 6, 0x10, "a", 5);
	run_expect(&r, &m,
		   "6 runnable 1100-1200 to cpu cpu 0 new by 5 at 1100\n"
		   "6 running 1200-1300 to exit cpu 0\n");
}

Test(cpu_filter, state_on_an_unrecorded_cpu_is_unknown)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_target(&m, "system", "recorded_cpus", "0,2-3");
	make_switch(&m, 1100, 0, "a", 5, 0x100, "x", 8);
	migrate(&m, 1200, 5, 0, 1);
	migrate(&m, 1500, 5, 1, 2);
	make_switch(&m, 1600, 2, "x", 9, 0, "a", 5);
	make_switch(&m, 1700, 2, "a", 5, 1, "x", 9);
	/* woken on a CPU that was not recorded */
	make_switch(&m, 1800, 2, "x", 9, 0, "a", 5);
	run_expect(&r, &m,
		   "5 running 1000-1100 to preempted cpu 0 edge-start\n"
		   "5 runnable 1100-1200 to nothing cpu 0 preempted R edge-end\n"
		   "5 unknown 1200-1500 to nothing elsewhere\n"
		   "5 runnable 1500-1600 to cpu cpu 2 edge-start\n"
		   "5 running 1600-1700 to block cpu 2\n"
		   "5 unknown (blocked) 1700-1800 to cpu cpu 2 S unsure\n"
		   "5 running 1800-1800 to nothing cpu 2 edge-end\n");
}

Test(cpu_filter, state_of_a_thread_that_was_never_on_a_recorded_cpu_is_unknown)
{
	struct run r = { 0 };
	struct make m;

	make_target(&m, "system", "recorded_cpus", "0");
	make_task(&m, 1000, 5, 5, "a");
	make_waking(&m, 1100, 1, 0, "b", 6);
	make_switch(&m, 1300, 0, "swapper", 0, 0, "c", 7);
	make_clock(&m, 1500, 1);
	run_expect(
		&r, &m,
		"6 unknown (blocked) 1000-1100 to waking by 0 at 1100 edge-start elsewhere\n"
		"7 unknown 1000-1300 to cpu edge-start elsewhere\n"
		"5 unknown (blocked) 1000-1500 to nothing edge-start edge-end neighbour elsewhere\n"
		"6 unknown (runnable) 1100-1500 to nothing cpu 1 woken by 0 at 1100 edge-end elsewhere\n"
		"7 running 1300-1500 to nothing cpu 0 edge-end\n");
}

/* A cut has no migrations: thread 5 may have run on CPU 1 from each of its switches on. */
Test(cpu_filter, only_running_is_known_in_a_cut_by_cpu)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_target(&m, "system", "cut", "cut --time 1s, then cut -C 0");
	make_waking(&m, 1050, 0, 8, "a", 5);
	make_switch(&m, 1100, 0, "x", 8, 1, "a", 5);
	make_switch(&m, 1200, 0, "a", 5, 0x100, "x", 8);
	make_switch(&m, 1300, 0, "x", 8, 1, "a", 5);
	make_switch(&m, 1400, 0, "a", 5, 1, "x", 8);
	make_waking(&m, 1500, 0, 8, "a", 5);
	make_switch(&m, 1600, 0, "x", 8, 1, "a", 5);
	make_switch(&m, 1700, 0, "a", 5, 1, "x", 8);
	make_clock(&m, 1900, 1);
	run_expect(&r, &m,
		   "5 unknown (blocked) 1000-1050 to waking by 8 at 1050 edge-start elsewhere\n"
		   "5 unknown (runnable) 1050-1100 to cpu cpu 0 woken by 8 at 1050 elsewhere\n"
		   "5 running 1100-1200 to preempted cpu 0\n"
		   "5 unknown (runnable) 1200-1300 to cpu cpu 0 preempted R elsewhere\n"
		   "5 running 1300-1400 to block cpu 0\n"
		   "5 unknown (blocked) 1400-1500 to waking cpu 0 by 8 at 1500 S elsewhere\n"
		   "5 unknown (runnable) 1500-1600 to cpu cpu 0 woken by 8 at 1500 elsewhere\n"
		   "5 running 1600-1700 to block cpu 0\n"
		   "5 unknown (blocked) 1700-1900 to nothing cpu 0 S edge-end elsewhere\n");
}

static void expect_switches_missing(const char *key, const char *value)
{
	struct run r = { .tid = 5 };
	struct make m;

	make_target(&m, "system", key, value);
	make_waking(&m, 1100, 0, 8, "a", 5);
	make_switch(&m, 1300, 0, "a", 5, 1, "x", 8);
	make_waking(&m, 1400, 0, 8, "a", 5);
	make_clock(&m, 1900, 1);
	run_expect(
		&r, &m,
		"5 unknown (blocked) 1000-1100 to waking by 8 at 1100 hole edge-start\n"
		"5 unknown (runnable) 1100-1300 to block cpu 0 woken by 8 at 1100 hole\n"
		"5 blocked 1300-1400 to waking cpu 0 by 8 at 1400 S\n"
		"5 unknown (runnable) 1400-1900 to nothing cpu 0 woken by 8 at 1400 hole edge-end\n");
}

/* Before its first wakeup, the thread may not exist. */
Test(cpu_filter, only_a_switch_out_with_its_wakeup_is_known_without_all_switches)
{
	expect_switches_missing("switches", "no");
	expect_switches_missing("switch_filter", "prev_pid == 5");
}
