// SPDX-License-Identifier: BSD-2-Clause
/* Time ranges joined: the expected ranges follow from the added ones. */
#include "profile/sched/gaps.h"

#include <criterion/criterion.h>

TestSuite(gaps, .timeout = 60);

Test(gaps, gaps_above_the_limit_are_merged_into_larger_gaps)
{
	struct gaps g = { 0 };

	for (uint64_t i = 0; i < GAPS_MAX + 500; i++)
		gaps_add(&g, 1000 * i, 1000 * i + 1);
	cr_assert_eq(g.cnt, GAPS_MAX);
	for (size_t i = 1; i < g.cnt; i++)
		cr_assert_lt(g.v[i - 1].to, g.v[i].from);
	cr_assert_eq(g.v[0].from, 0);
	cr_assert_eq(g.v[g.cnt - 1].to, 1000 * (GAPS_MAX + 499) + 1);
	gaps_fini(&g);
}

/* Gaps added in any order, and the expected gaps. */
static void check_gaps(const uint64_t (*told)[2], size_t cnt, const uint64_t (*want)[2],
		       size_t want_cnt)
{
	struct gaps g = { 0 };

	for (size_t i = 0; i < cnt; i++)
		gaps_add(&g, told[i][0], told[i][1]);
	cr_expect_eq(g.cnt, want_cnt);
	for (size_t i = 0; i < g.cnt && i < want_cnt; i++)
		cr_expect(g.v[i].from == want[i][0] && g.v[i].to == want[i][1], "%llu to %llu",
			  (unsigned long long)g.v[i].from, (unsigned long long)g.v[i].to);
	gaps_fini(&g);
}

#define GAPS(...)                                                                                  \
	(const uint64_t[][2])                                                                      \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define CHECK_GAPS(told, want)                                                                     \
	check_gaps(told, sizeof(told) / sizeof((told)[0]), want, sizeof(want) / sizeof((want)[0]))

Test(gaps, gaps_are_kept_sorted_and_separate)
{
	CHECK_GAPS(GAPS({ 50, 60 }, { 10, 20 }, { 30, 40 }),
		   GAPS({ 10, 20 }, { 30, 40 }, { 50, 60 }));
	CHECK_GAPS(GAPS({ 10, 20 }, { 20, 30 }), GAPS({ 10, 30 }));
	CHECK_GAPS(GAPS({ 20, 30 }, { 10, 20 }), GAPS({ 10, 30 }));
	CHECK_GAPS(GAPS({ 10, 20 }, { 21, 30 }), GAPS({ 10, 20 }, { 21, 30 }));
	CHECK_GAPS(GAPS({ 10, 50 }, { 20, 30 }), GAPS({ 10, 50 }));
	CHECK_GAPS(GAPS({ 20, 30 }, { 10, 50 }), GAPS({ 10, 50 }));
	CHECK_GAPS(GAPS({ 10, 20 }, { 30, 40 }, { 50, 60 }, { 70, 80 }, { 35, 55 }),
		   GAPS({ 10, 20 }, { 30, 60 }, { 70, 80 }));
	CHECK_GAPS(GAPS({ 10, 20 }, { 30, 40 }, { 50, 60 }, { 0, 100 }), GAPS({ 0, 100 }));
	CHECK_GAPS(GAPS({ 10, 20 }, { 30, 40 }, { 15, 15 }, { 25, 25 }),
		   GAPS({ 10, 20 }, { 25, 25 }, { 30, 40 }));
	/* backwards: not a time */
	CHECK_GAPS(GAPS({ 10, 20 }, { 40, 30 }), GAPS({ 10, 20 }));
}

Test(gaps, closest_gaps_are_merged_above_the_limit)
{
	struct gaps g = { 0 };
	uint64_t at = 0;

	/* 100 apart, except two that are 7 apart in the middle, and 8 at the end */
	for (uint64_t i = 0; i <= GAPS_MAX; i++) {
		at += i == 1000 ? 7 : i == GAPS_MAX ? 8 : 100;
		gaps_add(&g, at, at);
	}
	cr_assert_eq(g.cnt, GAPS_MAX);
	cr_expect_eq(g.v[998].from, 99900);
	cr_expect_eq(g.v[998].to, 99900);
	cr_expect_eq(g.v[999].from, 100000);
	cr_expect_eq(g.v[999].to, 100007);
	cr_expect_eq(g.v[1000].from, 100107);
	cr_expect_eq(g.v[GAPS_MAX - 1].from, at);
	gaps_fini(&g);
}

Test(gaps, gaps_include_both_their_ends)
{
	struct gaps g = { 0 };

	cr_expect(!gaps_touch(&g, 0, UINT64_MAX), "there are none");
	gaps_add(&g, 1200, 1300);
	gaps_add(&g, 2200, 2300);
	cr_expect(!gaps_touch(&g, 1000, 1199));
	cr_expect(gaps_touch(&g, 1000, 1200));
	cr_expect(gaps_touch(&g, 1210, 1290));
	cr_expect(gaps_touch(&g, 1300, 1400));
	cr_expect(!gaps_touch(&g, 1301, 2199));
	cr_expect(!gaps_touch(&g, 2301, 2400));
	cr_expect(gaps_touch(&g, 1000, 9000));
	gaps_fini(&g);
}
