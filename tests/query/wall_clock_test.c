// SPDX-License-Identifier: BSD-2-Clause
#include "query/wall_clock.h"

#include <criterion/criterion.h>

static int64_t at(const struct wall_clock *w, uint64_t mono)
{
	int64_t out = -1;

	cr_assert(wall_clock_at(w, mono, &out));
	return out;
}

Test(wall_clock, without_a_point_there_is_no_time)
{
	const struct wall_clock w = { 0 };
	int64_t out;

	cr_expect_not(wall_clock_at(&w, 5, &out));
}

Test(wall_clock, times_are_interpolated_between_points)
{
	struct wall_clock w = { 0 };

	/* the wall clock gains 10 ns in 100 */
	wall_clock_add(&w, 1000, 50000);
	wall_clock_add(&w, 1100, 50110);
	wall_clock_add(&w, 1200, 50210);
	cr_expect_eq(at(&w, 1000), 50000);
	cr_expect_eq(at(&w, 1050), 50055);
	cr_expect_eq(at(&w, 1100), 50110);
	cr_expect_eq(at(&w, 1150), 50160);
	wall_clock_fini(&w);
}

Test(wall_clock, outside_of_the_points_the_distance_stays)
{
	struct wall_clock w = { 0 };

	wall_clock_add(&w, 1000, 50000);
	wall_clock_add(&w, 1100, 50110);
	cr_expect_eq(at(&w, 900), 49900);
	cr_expect_eq(at(&w, 1300), 50310);
	wall_clock_fini(&w);
}

Test(wall_clock, a_wall_clock_that_is_set_back_is_followed)
{
	struct wall_clock w = { 0 };

	wall_clock_add(&w, 1000, 50000);
	wall_clock_add(&w, 2000, 40000);
	cr_expect_eq(at(&w, 1500), 45000);
	wall_clock_fini(&w);
}

Test(wall_clock, points_before_the_last_and_impossible_times_are_ignored)
{
	struct wall_clock w = { 0 };

	wall_clock_add(&w, 1000, 50000);
	wall_clock_add(&w, 900, 60000);
	wall_clock_add(&w, 1000, 60000);
	wall_clock_add(&w, 2000, UINT64_MAX);
	cr_expect_eq(w.cnt, 1);
	wall_clock_fini(&w);
}

Test(wall_clock, memory_is_bounded_and_both_ends_stay)
{
	struct wall_clock w = { 0 };
	const uint64_t n = WALL_CLOCK_MAX * 3;

	for (uint64_t i = 1; i <= n; i++)
		wall_clock_add(&w, i * 10, i * 10 + 7);
	cr_expect_leq(w.cnt, WALL_CLOCK_MAX);
	cr_expect_eq(w.v[0].mono, 10);
	cr_expect_eq(w.v[w.cnt - 1].mono, n * 10);
	for (uint64_t i = 1; i <= n; i += 997)
		cr_expect_eq(at(&w, i * 10 + 3), (int64_t)(i * 10 + 10));
	wall_clock_fini(&w);
}
