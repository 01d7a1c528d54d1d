/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clocks, as nanoseconds in 64 bits, which lasts until the year 2554.
 *
 * Traces run on CLOCK_MONOTONIC because Tokio's dial9 does, and because bpf_ktime_get_ns() is the
 * same clock; or on CLOCK_BOOTTIME, where suspend is to count. These calls cannot fail on Linux.
 */
#include "base/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static clockid_t mono = CLOCK_MONOTONIC;

void clock_count_suspend(void)
{
	mono = CLOCK_BOOTTIME;
}

clockid_t clock_mono_id(void)
{
	return mono;
}

uint64_t clock_mono_ns(void)
{
	return read_clock(mono);
}

uint64_t clock_timer_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}
