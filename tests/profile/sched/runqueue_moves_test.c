// SPDX-License-Identifier: BSD-2-Clause
/* Runnable intervals on the queues of CPUs whose running threads are known: the times follow by arithmetic. */
#include "profile/sched/runqueue_moves.h"

#include <criterion/criterion.h>

TestSuite(runqueue_moves, .timeout = 60);

static bool only_6_stays(const void *ctx, uint32_t tid)
{
	(void)ctx;
	return tid == 6;
}

/* Who ran on CPU 0: 5 from 100 on, 6 from 150; on CPU 1: 7 from 100, 8 from 180. */
static void find_preemptors(const struct runqueue_moves *h, uint64_t start, uint64_t end,
			    uint32_t cpu, struct runqueue_moves_preemptors *b)
{
	const struct interval i = { .start = start, .end = end, .cpu = cpu };
	struct cpu_log log = { 0 };

	cpu_log_switch(&log, 0, 100, 0, 5, true);
	cpu_log_switch(&log, 0, 150, 5, 6, true);
	cpu_log_switch(&log, 1, 100, 0, 7, true);
	cpu_log_switch(&log, 1, 180, 7, 8, true);
	*b = (struct runqueue_moves_preemptors){ .cpus = &log, .is_running = only_6_stays };
	runqueue_moves_preemptors(h, &i, b);
	cpu_log_fini(&log);
}

static void is(const struct interval_preemptor *r, uint32_t cpu, uint32_t tid, uint64_t from,
	       uint64_t ns)
{
	cr_expect_eq(r->cpu, cpu);
	cr_expect_eq(r->tid, tid);
	cr_expect_eq(r->from, from);
	cr_expect_eq(r->ns, ns);
}

Test(runqueue_moves, preemptors_come_from_each_queue_while_the_thread_was_in_it)
{
	struct interval_preemptor top[4];
	struct runqueue_moves h = { 0 };
	struct runqueue_moves_preemptors b;

	cr_expect_eq(runqueue_moves_cpu(&h), TRACE_NONE);
	runqueue_moves_add(&h, 1, 110);
	runqueue_moves_add(&h, 0, 140);
	cr_expect_eq(runqueue_moves_cpu(&h), 0);
	find_preemptors(&h, 110, 200, 0, &b);
	cr_assert_eq(preemptors_top(&b.preemptors, top, 4), 3);
	is(&top[0], 0, 6, 150, 50);
	is(&top[1], 1, 7, 110, 30);
	is(&top[2], 0, 5, 140, 10);
	cr_expect_eq(b.unknown_ns, 0);
}

/* 8 was switched in last and may have left; times before the log are unknown. */
Test(runqueue_moves, thread_that_may_have_left_is_unknown)
{
	struct interval_preemptor top[4];
	struct runqueue_moves h = { 0 };
	struct runqueue_moves_preemptors b;

	runqueue_moves_add(&h, 1, 90);
	find_preemptors(&h, 90, 200, 1, &b);
	cr_assert_eq(preemptors_top(&b.preemptors, top, 4), 1);
	is(&top[0], 1, 7, 100, 80);
	cr_expect_eq(b.unknown_ns, 10 + 20);
}

Test(runqueue_moves, time_on_a_queue_with_an_unrecorded_departure_is_unknown)
{
	struct interval_preemptor top[4];
	struct runqueue_moves h = { 0 };
	struct runqueue_moves_preemptors b;

	runqueue_moves_add(&h, 0, 120);
	runqueue_moves_add(&h, 1, 130);
	find_preemptors(&h, 120, 170, 0, &b);
	cr_assert_eq(preemptors_top(&b.preemptors, top, 4), 1);
	is(&top[0], 0, 5, 120, 10);
	cr_expect_eq(b.unknown_ns, 40);
}

Test(runqueue_moves, only_the_latest_queues_are_kept)
{
	struct interval_preemptor top[4];
	struct runqueue_moves h = { 0 };
	struct runqueue_moves_preemptors b;

	for (uint64_t k = 0; k < RUNQUEUE_MOVES_MAX + 2; k++)
		runqueue_moves_add(&h, k % 2, 110 + k);
	cr_expect_eq(runqueue_moves_cpu(&h), 1);
	find_preemptors(&h, 110, 110 + RUNQUEUE_MOVES_MAX + 2, 1, &b);
	cr_assert_eq(preemptors_top(&b.preemptors, top, 4), 2);
	is(&top[0], 0, 5, 112, RUNQUEUE_MOVES_MAX / 2);
	is(&top[1], 1, 7, 113, RUNQUEUE_MOVES_MAX / 2);
	cr_expect_eq(b.unknown_ns, 2);
}
