// SPDX-License-Identifier: BSD-2-Clause
/* Run-queue latencies, summed: every number follows from the intervals that the test makes. */
#include <criterion/criterion.h>
#include <string.h>

#include "profile/sums/runq_delays.h"

TestSuite(runq_delays, .timeout = 60);

static struct interval make(uint32_t tid, enum interval_state state, uint64_t start, uint64_t ns)
{
	return (struct interval){ .tid = tid,
				  .pid = tid / 10,
				  .comm = tid % 10,
				  .state = state,
				  .start = start,
				  .end = start + ns,
				  .stack = INTERVAL_NO_STACK };
}

static void add(struct runq_delays *d, uint32_t tid, enum interval_state state, uint64_t start,
		uint64_t ns)
{
	const struct interval i = make(tid, state, start, ns);

	runq_delays_add(d, &i, NAMES_NONE);
}

static void finish(struct runq_delays *d, enum runq_delays_order order)
{
	struct names *names;

	cr_assert_eq(names_new(&names), 0);
	runq_delays_finish(d, names, order);
	names_free(names);
}

static void add_all(struct runq_delays *d)
{
	add(d, 51, INTERVAL_RUNNABLE, 100, 10);
	add(d, 51, INTERVAL_RUNNING, 110, 40);
	add(d, 51, INTERVAL_BLOCKED, 150, 1000);
	add(d, 51, INTERVAL_RUNNABLE, 1150, 30);
	add(d, 51, INTERVAL_RUNNING, 1180, 5);
	add(d, 61, INTERVAL_RUNNABLE, 200, 20);
	add(d, 52, INTERVAL_RUNNING, 200, 70);
	add(d, 52, INTERVAL_UNKNOWN, 270, 9);
}

Test(runq_delays, latencies_are_grouped_by_thread)
{
	struct runq_delays d = { .by = RUNQ_DELAYS_BY_TID };

	add_all(&d);
	finish(&d, RUNQ_DELAYS_BY_MAX);
	cr_assert_eq(d.cnt, 3);
	cr_expect_eq(d.rows[0].tid, 51);
	cr_expect_eq(d.rows[0].run_ns, 45);
	cr_expect_eq(d.rows[0].switches, 2);
	cr_expect_eq(d.rows[0].wait_ns, 40);
	cr_expect_eq(d.rows[0].max_ns, 30);
	cr_expect_eq(d.rows[0].max_start, 1150);
	cr_expect_eq(d.rows[0].latencies.cnt, 2);
	cr_expect_eq(d.rows[0].latencies.sum, 40);
	cr_expect_eq(d.rows[1].tid, 61);
	cr_expect_eq(d.wait_ns, 60);
	cr_expect_eq(d.run_ns, 115);
	cr_expect_eq(d.switches, 3);
	cr_expect_eq(d.unknown.ns, 9);
	cr_expect_eq(d.latencies.cnt, 3);
	runq_delays_fini(&d);
}

Test(runq_delays, latencies_are_grouped_by_process_and_name)
{
	struct runq_delays pid = { .by = RUNQ_DELAYS_BY_PID }, comm = { .by = RUNQ_DELAYS_BY_COMM };

	add_all(&pid);
	finish(&pid, RUNQ_DELAYS_BY_RUNTIME);
	cr_assert_eq(pid.cnt, 2, "5 and 6");
	cr_expect_eq(pid.rows[0].run_ns, 115);
	add_all(&comm);
	finish(&comm, RUNQ_DELAYS_BY_WAIT);
	cr_assert_eq(comm.cnt, 2, "1 and 2");
	cr_expect_eq(comm.rows[0].wait_ns, 60);
	cr_expect_eq(comm.rows[0].latencies.cnt, 3);
	runq_delays_fini(&pid);
	runq_delays_fini(&comm);
}

/* Latencies cut by the edges of a trace are no measure of their length. */
Test(runq_delays, cut_latencies_are_in_sums_and_not_in_quantiles)
{
	struct interval i = make(51, INTERVAL_RUNNABLE, 0, 7);
	struct runq_delays d = { 0 };

	i.flags = INTERVAL_EDGE_END;
	runq_delays_add(&d, &i, NAMES_NONE);
	i.state = INTERVAL_RUNNING;
	i.flags = INTERVAL_EDGE_START;
	runq_delays_add(&d, &i, NAMES_NONE);
	finish(&d, RUNQ_DELAYS_BY_MAX);
	cr_expect_eq(d.rows[0].cut, 1);
	cr_expect_eq(d.rows[0].latencies.cnt, 0);
	cr_expect_eq(d.rows[0].wait_ns, 7);
	cr_expect_eq(d.rows[0].max_ns, 7);
	cr_expect_eq(d.rows[0].switches, 0, "it was switched in before the trace began");
	runq_delays_fini(&d);
}

/* A thread whose first event is a switch in, without a wakeup, may have been woken by an unrecorded event. */
Test(runq_delays, time_before_the_first_event_of_a_thread_is_no_latency)
{
	struct interval i = make(51, INTERVAL_UNKNOWN, 0, 7);
	struct runq_delays d = { 0 };

	i.cpu = TRACE_NONE;
	i.flags = INTERVAL_EDGE_START | INTERVAL_UNSURE;
	runq_delays_add(&d, &i, NAMES_NONE);
	cr_expect_eq(d.unknown.ns, 7);
	cr_expect_eq(d.unknown.unsure_ns, 7);
	cr_expect_eq(d.cnt, 0);
	i.flags |= INTERVAL_LOSS;
	runq_delays_add(&d, &i, NAMES_NONE);
	cr_expect_eq(d.unknown.ns, 14);
	cr_expect_eq(d.unknown.unsure_ns, 7, "of the other a loss is the cause");
	runq_delays_fini(&d);
}

Test(runq_delays, threads_that_were_named_late_join_the_row_of_their_name)
{
	struct names_task task = { .tid = 51, .pid = 5, .cgroup = NAMES_NONE };
	struct interval i = make(51, INTERVAL_RUNNABLE, 0, 7);
	struct runq_delays d = { .by = RUNQ_DELAYS_BY_COMM };
	struct names *names;

	cr_assert_eq(names_new(&names), 0);
	task.comm = names_add(names, "late", 4);
	names_task_learn(names, 0, &task);
	i.comm = NAMES_NONE;
	runq_delays_add(&d, &i, NAMES_NONE);
	i = make(52, INTERVAL_RUNNABLE, 20, 5);
	i.comm = task.comm;
	runq_delays_add(&d, &i, NAMES_NONE);
	runq_delays_finish(&d, names, RUNQ_DELAYS_BY_MAX);
	cr_assert_eq(d.cnt, 1);
	cr_expect_eq(d.rows[0].comm, task.comm);
	cr_expect_eq(d.rows[0].latencies.cnt, 2);
	cr_expect_eq(d.rows[0].max_start, 0);
	runq_delays_fini(&d);
	names_free(names);
}

/* It is forked under the name of its parent, its process is not known yet, and it starts a thread. */
Test(runq_delays, process_has_the_last_name_of_its_main_thread)
{
	static const uint32_t tids[] = { 50, 50, 51, 50, 51 }, comms[] = { 1, 2, 3, 4, 5 };
	struct names_task task = { .tid = 50, .pid = 50, .comm = 1, .cgroup = NAMES_NONE };
	struct runq_delays d = { .by = RUNQ_DELAYS_BY_PID };
	struct names *names;

	cr_assert_eq(names_new(&names), 0);
	names_task_learn(names, 0, &task);
	for (size_t k = 0; k < 5; k++) {
		struct interval i = make(tids[k], INTERVAL_RUNNING, 10 * k, 10);

		i.pid = k ? 50 : TRACE_NONE;
		i.comm = comms[k];
		runq_delays_add(&d, &i, NAMES_NONE);
	}
	runq_delays_finish(&d, names, RUNQ_DELAYS_BY_MAX);
	cr_assert_eq(d.cnt, 1);
	cr_expect_eq(d.rows[0].run_ns, 50);
	cr_expect_eq(d.rows[0].comm, 4, "%u", d.rows[0].comm);
	runq_delays_fini(&d);
	names_free(names);
}

Test(runq_delays, longest_of_many_latencies_are_kept)
{
	struct runq_delays_heap h = { .max = 3 };
	struct interval i;
	struct intervals *iv = intervals_new(&(struct intervals_opts){ 0 });

	for (uint64_t k = 0; k < 100; k++) {
		i = make(51, INTERVAL_RUNNABLE, k, k * 37 % 101);
		i.cpu = TRACE_NONE;
		runq_delays_heap_add(&h, iv, &i);
	}
	runq_delays_heap_sort(&h);
	cr_assert_eq(h.cnt, 3);
	for (uint64_t k = 0; k < 3; k++)
		cr_expect_eq(h.v[k].ns, 100 - k, "%zu", (size_t)h.v[k].ns);
	cr_expect_eq(h.v[0].start * 37 % 101, 100);
	runq_delays_heap_fini(&h);
	intervals_free(iv);
}

Test(runq_delays, quantiles_of_several_rows_are_merged)
{
	struct quantile a = { 0 }, b = { 0 };

	quantile_add(&a, 0);
	quantile_add(&a, 5);
	quantile_add(&b, 63);
	quantile_add(&b, 64);
	quantile_add(&b, 1000000);
	quantile_merge(&a, &b);
	cr_expect_eq(a.cnt, 5);
	cr_expect_eq(a.max, 1000000);
	cr_expect_eq(a.sum, 1000132);
	cr_expect_eq(quantile_at(&a, 0.5), 63);
	cr_expect_eq(quantile_power(&a, 0), 1);
	cr_expect_eq(quantile_power(&a, 1), 0);
	cr_expect_eq(quantile_power(&a, 2), 1);
	cr_expect_eq(quantile_power(&a, 5), 1);
	cr_expect_eq(quantile_power(&a, 6), 1);
	cr_expect_eq(quantile_power(&a, 19), 1);
	quantile_fini(&a);
	quantile_fini(&b);
}
