// SPDX-License-Identifier: BSD-2-Clause
/* Sums of blocked intervals: every number follows from the intervals that the test makes. */
#include <criterion/criterion.h>
#include <string.h>

#include "profile/sums/blocked.h"
#include "tests/support/chance.h"

TestSuite(blocked, .timeout = 60);

static const struct interval_waker timer = {
	.context = INTERVAL_BY_TIMER, .number = -1, .comm = 77, .stack = INTERVAL_NO_STACK
};
static const struct interval_waker net = {
	.context = INTERVAL_BY_SOFTIRQ, .number = 3, .comm = 78, .stack = INTERVAL_NO_STACK
};

static void block(struct blocked *w, uint32_t tid, uint32_t comm, uint32_t stack, uint64_t start,
		  uint64_t ns, const struct interval_waker *by)
{
	const struct interval i = { .tid = tid,
				    .pid = 5,
				    .comm = comm,
				    .state = INTERVAL_BLOCKED,
				    .start = start,
				    .end = start + ns,
				    .prev_state = 1,
				    .stack = stack,
				    .waker = by };

	blocked_add(w, &i, NAMES_NONE);
}

static void finish(struct blocked *w)
{
	struct names *names;

	cr_assert_eq(names_new(&names), 0);
	blocked_finish(w, names);
	names_free(names);
}

Test(blocked, row_per_stack_has_sum_and_maximum)
{
	struct blocked w = { .opts = { .keys = 1u << BLOCKED_STACK } };

	block(&w, 6, 1, 0, 100, 10, NULL);
	block(&w, 7, 2, 0, 200, 30, NULL);
	block(&w, 6, 1, 1, 300, 35, NULL);
	block(&w, 6, 1, 0, 400, 20, NULL);
	finish(&w);
	cr_assert_eq(w.cnt, 2);
	cr_expect_eq(w.rows[0].stack, 0);
	cr_expect_eq(w.rows[0].ns, 60);
	cr_expect_eq(w.rows[0].cnt, 3);
	cr_expect_eq(w.rows[0].max_ns, 30);
	cr_expect_eq(w.rows[0].max_start, 200);
	cr_expect_eq(w.rows[1].ns, 35);
	cr_expect_eq(w.ns, 95);
	cr_expect_eq(w.intervals, 4);
	blocked_fini(&w);
}

/* The thread that a timer or a network packet interrupted is irrelevant. */
Test(blocked, wakers_are_grouped_by_their_context)
{
	struct interval_waker other = timer, task = { .context = INTERVAL_BY_TASK, .comm = 9 };
	struct blocked w = { .opts = { .keys = 1u << BLOCKED_WAKER } };

	other.comm = 80;
	task.stack = INTERVAL_NO_STACK;
	block(&w, 6, 1, 0, 0, 1, &timer);
	block(&w, 6, 1, 0, 0, 1, &other);
	block(&w, 6, 1, 0, 0, 3, &net);
	block(&w, 6, 1, 0, 0, 4, &task);
	task.comm = 10;
	block(&w, 6, 1, 0, 0, 5, &task);
	block(&w, 6, 1, 0, 0, 6, NULL);
	finish(&w);
	cr_assert_eq(w.cnt, 5);
	cr_expect_not(w.rows[0].woken);
	cr_expect_eq(w.rows[1].waker_comm, 10);
	cr_expect_eq(w.rows[2].waker_comm, 9);
	cr_expect_eq(w.rows[3].number, 3);
	cr_expect_eq(w.rows[4].context, INTERVAL_BY_TIMER);
	cr_expect_eq(w.rows[4].cnt, 2);
	blocked_fini(&w);
}

Test(blocked, intervals_cut_at_an_edge_are_counted)
{
	struct blocked w = { .opts = { .keys = 1u << BLOCKED_STATE } };
	struct interval i = { .end = 5, .flags = INTERVAL_EDGE_END, .prev_state = 2 };

	blocked_add(&w, &i, NAMES_NONE);
	i.flags = 0;
	blocked_add(&w, &i, NAMES_NONE);
	i.flags = INTERVAL_EDGE_START;
	i.end = 1;
	blocked_add(&w, &i, NAMES_NONE);
	finish(&w);
	cr_assert_eq(w.cnt, 2);
	cr_expect_eq(w.rows[0].state, 'D');
	cr_expect_eq(w.rows[0].cut, 1);
	cr_expect_eq(w.rows[1].state, '?', "its switch-out is not in the trace");
	cr_expect_eq(w.cut, 2);
	blocked_fini(&w);
}

/* Thread 6 was named after it woke; 7 never. */
Test(blocked, threads_that_were_named_late_join_the_row_of_their_name)
{
	struct blocked w = { .opts = { .keys = 1u << BLOCKED_COMM, .buckets = true } };
	struct names_task task = { .tid = 6, .pid = 5, .cgroup = NAMES_NONE };
	struct names *names;

	cr_assert_eq(names_new(&names), 0);
	task.comm = names_add(names, "late", 4);
	names_task_learn(names, 0, &task);
	block(&w, 6, NAMES_NONE, 0, 10, 9, NULL);
	block(&w, 7, NAMES_NONE, 0, 10, 4, NULL);
	block(&w, 6, task.comm, 0, 30, 1, NULL);
	cr_expect_eq(w.cnt, 3);
	blocked_finish(&w, names);
	cr_assert_eq(w.cnt, 2);
	cr_expect_eq(w.rows[0].comm, task.comm);
	cr_expect_eq(w.rows[0].ns, 10);
	cr_expect_eq(w.rows[0].max_start, 10);
	cr_expect_eq(w.rows[0].buckets[0], 1);
	cr_expect_eq(w.rows[0].buckets[3], 1, "9 is between 8 and 16");
	cr_expect_eq(w.rows[1].comm, NAMES_NONE);
	blocked_fini(&w);
	names_free(names);
}

enum { SEEDS = 200, INTERVALS = 60, PARTS = 2, TIDS = 12, PIDS = 4 };

/* Of two recordings on different clocks. The last thread of each is never named. */
static void learn_threads(struct names *names)
{
	for (uint32_t part = 0; part < PARTS; part++) {
		parts_merged(&names->parts, part, part, part, 0);
		cr_assert_eq(names_part(names, part)->clock, part);
		for (uint32_t tid = 1; tid < TIDS; tid++)
			names_task_learn(names, part,
					 &(struct names_task){ .tid = tid,
							       .pid = 100 + (tid + part) % PIDS,
							       .comm = 200 + tid % 3,
							       .cgroup = 300 + tid % 2,
							       .recorded = true });
	}
}

/* Intervals that may lack what blocked_finish() will know; @ns: the sums by process, the last unknown. */
static void add_random(struct blocked *w, struct chance *c, const struct names *names,
		       uint64_t ns[PIDS + 1])
{
	for (unsigned int k = 0; k < INTERVALS; k++) {
		struct interval i = { .tid = 1 + chance_below(c, TIDS),
				      .part = chance_below(c, PARTS),
				      .pid = TRACE_NONE,
				      .comm = NAMES_NONE,
				      .state = INTERVAL_BLOCKED,
				      .end = 1 + chance_below(c, 1000),
				      .flags = chance_below(c, 2) ? INTERVAL_EDGE_START : 0,
				      .stack = INTERVAL_NO_STACK };
		const struct names_task *task = names_task_first(names, i.part, i.tid);

		if (task && chance_below(c, 2))
			i.pid = task->pid;
		if (task && chance_below(c, 2))
			i.comm = task->comm;
		blocked_add(w, &i, task && chance_below(c, 2) ? task->cgroup : NAMES_NONE);
		ns[task ? task->pid - 100 : PIDS] += i.end;
	}
}

/* Whatever else rows are grouped by, and whenever a thread's process becomes known. */
Test(blocked, each_process_has_its_own_time)
{
	static const unsigned int more[] = { 0,
					     1u << BLOCKED_COMM,
					     1u << BLOCKED_STATE,
					     1u << BLOCKED_TID,
					     1u << BLOCKED_CGROUP,
					     1u << BLOCKED_STACK };

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct blocked w = { .opts.keys = 1u << BLOCKED_PID | more[seed % 6] };
		uint64_t want[PIDS + 1] = { 0 }, got[PIDS + 1] = { 0 };
		struct chance c = { seed };
		struct names *names;

		cr_assert_eq(names_new(&names), 0);
		learn_threads(names);
		add_random(&w, &c, names, want);
		blocked_finish(&w, names);
		for (size_t i = 0; i < w.cnt; i++)
			got[w.rows[i].pid == TRACE_NONE ? PIDS : w.rows[i].pid - 100] +=
				w.rows[i].ns;
		cr_expect_arr_eq(got, want, sizeof(got), "seed %d", (int)seed);
		if (w.opts.keys == 1u << BLOCKED_PID)
			cr_expect_leq(w.cnt, PIDS + 1);
		blocked_fini(&w);
		names_free(names);
	}
}

Test(blocked, buckets_are_powers_of_two)
{
	cr_expect_eq(blocked_bucket(0), 0);
	cr_expect_eq(blocked_bucket(1), 0);
	cr_expect_eq(blocked_bucket(2), 1);
	cr_expect_eq(blocked_bucket(1023), 9);
	cr_expect_eq(blocked_bucket(1024), 10);
	cr_expect_eq(blocked_bucket(UINT64_MAX), 63);
}

Test(blocked, waker_tasks_with_one_name_are_grouped_by_tid)
{
	struct interval_waker task = {
		.context = INTERVAL_BY_TASK, .comm = 9, .tid = 20, .stack = INTERVAL_NO_STACK
	};
	struct blocked w = { .opts = { .keys = 1u << BLOCKED_WAKER | 1u << BLOCKED_WAKER_TID } };
	struct interval_waker other = timer;

	block(&w, 6, 1, 0, 0, 4, &task);
	task.tid = 21;
	block(&w, 6, 1, 0, 0, 5, &task);
	/* the thread that a timer interrupted does not count */
	other.tid = 22;
	block(&w, 6, 1, 0, 0, 1, &timer);
	block(&w, 6, 1, 0, 0, 1, &other);
	finish(&w);
	cr_assert_eq(w.cnt, 3);
	cr_expect_eq(w.rows[0].waker_tid, 21);
	cr_expect_eq(w.rows[1].waker_tid, 20);
	cr_expect_eq(w.rows[2].cnt, 2);
	blocked_fini(&w);
}
