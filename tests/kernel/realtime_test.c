// SPDX-License-Identifier: BSD-2-Clause
/* The share of a CPU that the kernel's limit for real-time tasks leaves. */
#include "kernel/realtime.h"

#include <criterion/criterion.h>

TestSuite(realtime_share, .timeout = 60);

Test(realtime_share, share_stays_below_the_kernels_limit)
{
	cr_expect_eq(realtime_share_max(950000, 1000000), REALTIME_SHARE_MAX);
	cr_expect_eq(realtime_share_max(-1, 1000000), REALTIME_SHARE_MAX, "no limit");
	cr_expect_eq(realtime_share_max(300000, 1000000), 25);
	cr_expect_eq(realtime_share_max(20000, 100000), 15);
}

Test(realtime_share, share_is_0_if_the_kernel_would_throttle_the_threads)
{
	cr_expect_eq(realtime_share_max(0, 1000000), 0);
	cr_expect_eq(realtime_share_max(90000, 1000000), 0);
	cr_expect_eq(realtime_share_max(100000, 1000000), REALTIME_SHARE_MIN);
}

Test(realtime_rest, buffer_is_half_full_after_it)
{
	const uint64_t ms = 1000000;

	/* 10% in 10 ms: the other 40% take 40 ms */
	cr_expect_eq(realtime_rest_ns(10, 10 * ms), 40 * ms);
	cr_expect_eq(realtime_rest_ns(25, 4 * ms), 4 * ms);
}

Test(realtime_rest, rest_is_neither_shorter_than_2_ms_nor_longer_than_50)
{
	cr_expect_eq(realtime_rest_ns(50, 1000000000), 2000000);
	cr_expect_eq(realtime_rest_ns(100, 1000000000), 2000000);
	cr_expect_eq(realtime_rest_ns(49, 49000000), 2000000);
	cr_expect_eq(realtime_rest_ns(0, 0), 2000000);
	cr_expect_eq(realtime_rest_ns(1, 1000000000), 50000000);
	cr_expect_eq(realtime_rest_ns(0, 1000000), 50000000);
}
