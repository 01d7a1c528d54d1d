// SPDX-License-Identifier: BSD-2-Clause
/* Times of other threads, summed: the expected values follow by arithmetic. */
#include "profile/sched/preemptors.h"

#include <criterion/criterion.h>

TestSuite(preemptors, .timeout = 60);

static void add(struct preemptors *r, uint32_t cpu, uint32_t tid, uint64_t from, uint64_t ns)
{
	preemptors_add(
		r, &(struct interval_preemptor){ .cpu = cpu, .tid = tid, .from = from, .ns = ns });
}

Test(preemptors, slices_of_one_thread_on_one_cpu_are_summed_up)
{
	struct interval_preemptor top[4];
	struct preemptors r = { 0 };

	add(&r, 0, 7, 50, 10);
	add(&r, 1, 7, 40, 15);
	add(&r, 0, 7, 20, 1);
	add(&r, 0, 8, 30, 4);
	cr_assert_eq(preemptors_top(&r, top, 4), 3);
	cr_expect_eq(top[0].cpu, 1);
	cr_expect_eq(top[0].ns, 15);
	cr_expect_eq(top[1].tid, 7);
	cr_expect_eq(top[1].cpu, 0);
	cr_expect_eq(top[1].ns, 11);
	cr_expect_eq(top[1].from, 20);
	cr_expect_eq(top[2].tid, 8);
	cr_expect_eq(r.other_ns, 0);
}

Test(preemptors, equal_times_are_sorted_by_tid_and_the_rest_is_others)
{
	struct interval_preemptor top[2];
	struct preemptors r = { .other_ns = 3 };

	add(&r, 0, 9, 0, 5);
	add(&r, 0, 3, 0, 5);
	add(&r, 0, 6, 0, 5);
	cr_assert_eq(preemptors_top(&r, top, 2), 2);
	cr_expect_eq(top[0].tid, 3);
	cr_expect_eq(top[1].tid, 6);
	cr_expect_eq(r.other_ns, 3 + 5);
	cr_expect_eq(preemptors_top(&r, top, 2), 0, "they were handed out");
}

Test(preemptors, threads_without_room_are_others)
{
	struct interval_preemptor top[PREEMPTORS_MAX];
	struct preemptors r = { 0 };

	for (uint32_t tid = 1; tid <= PREEMPTORS_MAX + 2; tid++)
		add(&r, 0, tid, 0, tid);
	add(&r, 0, 1, 0, 1000);
	cr_assert_eq(preemptors_top(&r, top, PREEMPTORS_MAX), PREEMPTORS_MAX);
	cr_expect_eq(top[0].tid, 1);
	cr_expect_eq(top[0].ns, 1001);
	cr_expect_eq(r.other_ns, PREEMPTORS_MAX + 1 + PREEMPTORS_MAX + 2);
}
