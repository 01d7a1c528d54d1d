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
