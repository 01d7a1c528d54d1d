// SPDX-License-Identifier: BSD-2-Clause
/* Ranks of quantiles, compared with integers. */
#include "base/rank.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(rank, .timeout = 60);

Test(rank, all_decimal_shares_of_all_small_counts)
{
	for (uint64_t thousandths = 0; thousandths <= 1000; thousandths++) {
		char text[16];
		double q;

		snprintf(text, sizeof(text), "%u.%03u", (unsigned int)thousandths / 1000,
			 (unsigned int)thousandths % 1000);
		q = strtod(text, NULL);
		for (uint64_t cnt = 1; cnt <= 2000; cnt++) {
			const uint64_t up = (thousandths * cnt + 999) / 1000, want = up ? up : 1;

			cr_assert_eq(rank_of_quantile(q, cnt), want, "%s of %u", text,
				     (unsigned int)cnt);
		}
	}
}

Test(rank, limits)
{
	cr_expect_eq(rank_of_quantile(0.5, 0), 0);
	cr_expect_eq(rank_of_quantile(0, 9), 1);
	cr_expect_eq(rank_of_quantile(1, 9), 9);
	cr_expect_eq(rank_of_quantile(1e-300, 9), 1);
	cr_expect_eq(rank_of_quantile(1, UINT64_MAX), UINT64_MAX);
	cr_expect_eq(rank_of_quantile(0.5, 1ULL << 40), 1ULL << 39);
	cr_expect_eq(rank_of_quantile(0.500000001, 1000000000), 500000001);
	cr_expect_eq(rank_of_quantile(0.999999, 1000001), 1000000, "999999.999999");
}
