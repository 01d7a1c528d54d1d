// SPDX-License-Identifier: BSD-2-Clause
/* Look-ups among overlapping ranges, checked against trying every range. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "symbol/ranges.h"

Test(ranges, finds_what_contains_an_address_latest_start_first)
{
	struct ranges r = { 0 };
	size_t pos = SIZE_MAX;

	ranges_add(&r, 10, 100, 1);
	ranges_add(&r, 20, 30, 2);
	ranges_add(&r, 22, 24, 3);
	ranges_add(&r, 40, 50, 4);
	ranges_sort(&r);
	cr_assert_eq(ranges_next(&r, 23, &pos)->id, 3u);
	cr_assert_eq(ranges_next(&r, 23, &pos)->id, 2u);
	cr_assert_eq(ranges_next(&r, 23, &pos)->id, 1u);
	cr_assert_null(ranges_next(&r, 23, &pos));
	cr_assert_null(ranges_next(&r, 23, &pos));
	ranges_free(&r);
}

Test(ranges, ends_are_outside_and_empty_ranges_nowhere)
{
	struct ranges r = { 0 };

	ranges_add(&r, 10, 20, 1);
	ranges_add(&r, 15, 15, 2);
	ranges_add(&r, 18, 12, 3);
	ranges_sort(&r);
	cr_assert_eq(r.cnt, 1u);
	cr_assert_null(ranges_smallest(&r, 9));
	cr_assert_eq(ranges_smallest(&r, 10)->id, 1u);
	cr_assert_eq(ranges_smallest(&r, 19)->id, 1u);
	cr_assert_null(ranges_smallest(&r, 20));
	ranges_free(&r);
}

Test(ranges, of_equal_ranges_the_first_added_wins)
{
	struct ranges r = { 0 };

	ranges_add(&r, 10, 20, 7);
	ranges_add(&r, 10, 20, 8);
	ranges_add(&r, 10, 20, 9);
	ranges_sort(&r);
	cr_assert_eq(ranges_smallest(&r, 15)->id, 7u);
	ranges_free(&r);
}

Test(ranges, agrees_with_trying_them_all)
{
	struct ranges r = { 0 };
	uint64_t lo[500], hi[500], addr;
	size_t i;

	srandom(1);
	for (i = 0; i < 500; i++) {
		lo[i] = random() % 1000;
		hi[i] = lo[i] + random() % 40;
		ranges_add(&r, lo[i], hi[i], i);
	}
	ranges_sort(&r);
	for (addr = 0; addr < 1100; addr++) {
		uint64_t best = UINT64_MAX;
		const struct range *found = ranges_smallest(&r, addr);
		size_t pos = SIZE_MAX, expected = 0, got = 0;

		for (i = 0; i < 500; i++) {
			if (addr < lo[i] || addr >= hi[i])
				continue;
			expected++;
			if (hi[i] - lo[i] < best)
				best = hi[i] - lo[i];
		}
		while (ranges_next(&r, addr, &pos))
			got++;
		cr_assert_eq(got, expected);
		cr_assert_eq(!found, !expected);
		cr_assert(!found || found->hi - found->lo == best);
	}
	ranges_free(&r);
}
