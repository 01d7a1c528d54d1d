// SPDX-License-Identifier: BSD-2-Clause
/* Each clock is in nanoseconds and reads the kernel's clock of its name. */
#include "base/clock.h"

#include <criterion/criterion.h>
#include <time.h>

Test(clock, each_clock_equals_the_kernels_clock_of_that_name)
{
	struct timespec ts;
	uint64_t before, after;

	before = clock_mono_ns();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	after = clock_mono_ns();
	cr_assert(before <= ts.tv_sec * 1000000000ULL + ts.tv_nsec);
	cr_assert(after >= ts.tv_sec * 1000000000ULL + ts.tv_nsec);

	before = clock_real_ns();
	clock_gettime(CLOCK_REALTIME, &ts);
	after = clock_real_ns();
	cr_assert(before <= ts.tv_sec * 1000000000ULL + ts.tv_nsec);
	cr_assert(after >= ts.tv_sec * 1000000000ULL + ts.tv_nsec);
}

Test(clock, suspend_counts_once_requested_and_timers_keep_their_clock)
{
	struct timespec ts;
	uint64_t before, after;

	cr_assert_eq(clock_mono_id(), CLOCK_MONOTONIC);
	clock_count_suspend();
	cr_assert_eq(clock_mono_id(), CLOCK_BOOTTIME);
	before = clock_mono_ns();
	clock_gettime(CLOCK_BOOTTIME, &ts);
	after = clock_mono_ns();
	cr_assert(before <= ts.tv_sec * 1000000000ULL + ts.tv_nsec);
	cr_assert(after >= ts.tv_sec * 1000000000ULL + ts.tv_nsec);
	before = clock_timer_ns();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	cr_assert(before <= ts.tv_sec * 1000000000ULL + ts.tv_nsec);
}
