// SPDX-License-Identifier: BSD-2-Clause
/* Quantiles of known values: exact when small, to 0.8% when large, at the ends of the range, too. */
#include <criterion/criterion.h>
#include <math.h>

#include "profile/sums/quantile.h"

Test(quantile, quantile_of_nothing_is_0)
{
	struct quantile q = { 0 };
	double low, high;

	cr_assert_eq(quantile_at(&q, 0.5), 0);
	cr_assert_not(quantile_range(&q, 0.5, &low, &high));
	quantile_fini(&q);
}

Test(quantile, quantile_of_small_values_is_exact)
{
	struct quantile q = { 0 };

	for (uint64_t v = 0; v < 64; v++)
		quantile_add(&q, v);
	/* the smallest that half of them are not above */
	cr_assert_eq(quantile_at(&q, 0.5), 31);
	cr_assert_eq(quantile_at(&q, 0.99), 63);
	cr_assert_eq(quantile_at(&q, 1.0 / 64), 0);
	cr_assert_eq(q.max, 63);
	cr_assert_eq(q.sum, 63 * 64 / 2);
	quantile_fini(&q);
}

Test(quantile, quantile_of_large_values_is_right_to_a_percent)
{
	struct quantile q = { 0 };

	for (uint64_t v = 1; v <= 100000; v++)
		quantile_add(&q, v * 1000);
	for (double p = 0.01; p < 1; p += 0.01)
		cr_assert_lt(fabs(quantile_at(&q, p) / (p * 1e8) - 1), 0.009, "%g: %g", p,
			     quantile_at(&q, p));
	quantile_fini(&q);
}

/* Below 64 values are exact. The double next to 0.07 is above it. */
Test(quantile, ranks_of_decimal_shares_are_exact)
{
	struct quantile q = { 0 };

	for (uint64_t v = 0; v < 100; v++)
		quantile_add(&q, v < 60 ? v : 60);
	cr_expect_eq(quantile_at(&q, 0.07), 6);
	cr_expect_eq(quantile_at(&q, 0.14), 13);
	cr_expect_eq(quantile_at(&q, 0.55), 54);
	quantile_fini(&q);
}

/* The middles of their buckets are 69,730,304 and 18,284,544. */
Test(quantile, quantile_is_never_outside_the_range_of_values)
{
	struct quantile q = { 0 }, both = { 0 };

	quantile_add(&q, 70113000);
	cr_expect_eq(quantile_at(&q, 0.5), 70113000);
	cr_expect_eq(quantile_at(&q, 0.99), 70113000);
	quantile_merge(&both, &q);
	cr_expect_eq(quantile_at(&both, 0.5), 70113000);
	quantile_fini(&q);
	quantile_add(&q, 18407000);
	quantile_add(&q, 18407000);
	cr_expect_eq(quantile_at(&q, 0.5), 18407000);
	quantile_merge(&both, &q);
	cr_expect_eq(both.min, 18407000);
	cr_expect_eq(quantile_at(&both, 0), 18407000);
	cr_expect_eq(quantile_at(&both, 1), 70113000);
	quantile_fini(&q);
	quantile_merge(&both, &q);
	cr_expect_eq(both.min, 18407000, "nothing was added");
	quantile_fini(&both);
}

Test(quantile, quantile_of_the_smallest_and_largest_values_is_right)
{
	struct quantile q = { 0 };

	quantile_add(&q, UINT64_MAX);
	cr_assert_lt(fabs(quantile_at(&q, 0.5) / 18446744073709551615.0 - 1), 0.009);
	quantile_add(&q, 64);
	quantile_add(&q, 127);
	quantile_add(&q, 128);
	cr_assert_eq(quantile_at(&q, 0.25), 64);
	cr_assert_eq(quantile_at(&q, 0.5), 127);
	quantile_fini(&q);
}

/* Of 10,000 the median's rank is 5000 +- 2 * sqrt(10000 / 4) = 100. */
Test(quantile, confidence_range_has_binomial_ranks)
{
	struct quantile q = { 0 };
	double low, high;

	for (uint64_t v = 1; v <= 10000; v++)
		quantile_add(&q, v * 100);
	cr_assert(quantile_range(&q, 0.5, &low, &high));
	cr_assert_lt(fabs(low / 490000 - 1), 0.009);
	cr_assert_lt(fabs(high / 510000 - 1), 0.009);
	quantile_fini(&q);
}

/* The 99th percentile of 100: its rank may be 101, which is not there. */
Test(quantile, confidence_range_of_too_few_values_is_unknown)
{
	struct quantile q = { 0 };
	double low, high;

	for (uint64_t v = 1; v <= 100; v++)
		quantile_add(&q, v);
	cr_assert_not(quantile_range(&q, 0.99, &low, &high));
	cr_assert(quantile_range(&q, 0.5, &low, &high));
	quantile_fini(&q);
}
