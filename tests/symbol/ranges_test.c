// SPDX-License-Identifier: BSD-2-Clause
/* The owner of an address among overlapping ranges, compared with a linear search. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "symbol/ranges.h"
#include "tests/symbol/support.h"

/* By size, like functions. */
static void add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t id)
{
	cr_assert_eq(ranges_add(r, lo, hi, id, hi - lo, unbounded()), 0);
}

static uint64_t owner(const struct ranges *r, uint64_t addr)
{
	const struct range *found = ranges_find(r, addr);

	return found ? found->id : 0;
}

Test(ranges, lowest_rank_has_the_address)
{
	struct ranges r = { 0 };

	add(&r, 10, 100, 1);
	add(&r, 20, 30, 2);
	add(&r, 22, 24, 3);
	add(&r, 40, 50, 4);
	cr_assert_eq(ranges_settle(&r, unbounded()), 0);
	cr_expect_eq(owner(&r, 23), 3u);
	cr_expect_eq(owner(&r, 24), 2u);
	cr_expect_eq(owner(&r, 30), 1u);
	cr_expect_eq(owner(&r, 49), 4u);
	cr_expect_eq(owner(&r, 99), 1u);
	ranges_free(&r, unbounded());
}

Test(ranges, ends_are_exclusive_and_empty_ranges_are_ignored)
{
	struct ranges r = { 0 };

	add(&r, 10, 20, 1);
	add(&r, 15, 15, 2);
	add(&r, 18, 12, 3);
	cr_assert_eq(ranges_settle(&r, unbounded()), 0);
	cr_assert_eq(r.cnt, 1u);
	cr_expect_eq(owner(&r, 9), 0u);
	cr_expect_eq(owner(&r, 10), 1u);
	cr_expect_eq(owner(&r, 19), 1u);
	cr_expect_eq(owner(&r, 20), 0u);
	ranges_free(&r, unbounded());
}

Test(ranges, first_of_equal_ranges_wins)
{
	struct ranges r = { 0 };

	add(&r, 10, 20, 7);
	add(&r, 10, 20, 8);
	add(&r, 10, 20, 9);
	cr_assert_eq(ranges_settle(&r, unbounded()), 0);
	cr_expect_eq(owner(&r, 15), 7u);
	ranges_free(&r, unbounded());
}

static void settle_in_slices(struct ranges *r)
{
	struct budget *b = unbounded();
	int err;

	budget_enter(b);
	do {
		budget_slice(b, 0);
		err = ranges_settle(r, b);
	} while (err == -EAGAIN);
	cr_assert_eq(err, 0);
}

Test(ranges, agrees_with_a_linear_search)
{
	enum { CNT = 5000 };
	static uint64_t lo[CNT], hi[CNT], rank[CNT];
	struct ranges r = { 0 };
	uint64_t addr;
	size_t i;

	srandom(1);
	for (i = 0; i < CNT; i++) {
		lo[i] = random() % 10000;
		hi[i] = lo[i] + random() % 40;
		rank[i] = random() % 20;
		cr_assert_eq(ranges_add(&r, lo[i], hi[i], i + 1, rank[i], unbounded()), 0);
	}
	settle_in_slices(&r);
	for (addr = 0; addr < 10100; addr++) {
		size_t best = CNT;

		for (i = 0; i < CNT; i++) {
			if (addr < lo[i] || addr >= hi[i])
				continue;
			if (best == CNT || rank[i] < rank[best] ||
			    (rank[i] == rank[best] && lo[i] > lo[best]))
				best = i;
		}
		cr_assert_eq(owner(&r, addr), best == CNT ? 0 : best + 1);
	}
	ranges_free(&r, unbounded());
}

/* Each reaches over all that start later: a linear search would take n steps per lookup. */
Test(ranges, needs_no_more_time_if_all_overlap)
{
	enum { CNT = 200000 };
	struct ranges r = { 0 };
	size_t i;

	for (i = 0; i < CNT; i++)
		add(&r, 1 + i, 2 * CNT, i + 1);
	cr_assert_eq(ranges_settle(&r, unbounded()), 0);
	cr_expect_leq(r.span_cnt, 2u * CNT);
	for (i = 0; i < CNT; i++)
		cr_assert_eq(owner(&r, 1 + i), i + 1);
	cr_expect_eq(owner(&r, 2 * CNT - 1), (size_t)CNT);
	ranges_free(&r, unbounded());
}
