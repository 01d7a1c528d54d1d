// SPDX-License-Identifier: BSD-2-Clause
/* Which threads are named when context switches are missing. */
#include <criterion/criterion.h>

#include "profile/sched/intervals.h"

static void add(struct intervals_holes *h, uint32_t tid, uint64_t ns, unsigned int flags)
{
	const struct interval i = {
		.tid = tid, .cpu = tid % 4, .start = 1000, .end = 1000 + ns, .flags = flags
	};

	intervals_holes_add(h, &i);
}

static void expect_hole(const struct intervals_holes *h, size_t i, uint32_t tid, uint64_t ns)
{
	cr_expect_eq(h->v[i].tid, tid, "%zu: %u", i, h->v[i].tid);
	cr_expect_eq(h->v[i].ns, ns, "%zu", i);
	cr_expect_eq(h->v[i].cpu, tid % 4);
}

Test(intervals_holes, three_threads_with_the_longest_time_are_kept)
{
	struct intervals_holes h = { 0 };

	add(&h, 1, 10, INTERVAL_HOLE);
	add(&h, 2, 30, INTERVAL_HOLE);
	add(&h, 3, 20, INTERVAL_HOLE);
	cr_expect_not(h.more);
	add(&h, 4, 5, INTERVAL_HOLE);
	cr_expect(h.more);
	add(&h, 5, 25, INTERVAL_HOLE);
	add(&h, 3, 15, INTERVAL_HOLE);
	cr_expect_eq(h.cnt, 3);
	expect_hole(&h, 0, 3, 35);
	expect_hole(&h, 1, 2, 30);
	expect_hole(&h, 2, 5, 25);
}

Test(intervals_holes, time_with_another_reason_is_not_one)
{
	struct intervals_holes h = { 0 };

	add(&h, 1, 10, 0);
	add(&h, 2, 10, INTERVAL_UNSURE);
	add(&h, 3, 10, INTERVAL_HOLE | INTERVAL_LOSS);
	add(&h, 4, 10, INTERVAL_HOLE | INTERVAL_NEIGHBOUR);
	add(&h, 5, 10, INTERVAL_HOLE | INTERVAL_ELSEWHERE);
	cr_expect_eq(h.cnt, 0);
}
