/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clocks, in nanoseconds (64 bits suffice until the year 2554).
 *
 * Traces use CLOCK_MONOTONIC, like Tokio's dial9 and bpf_ktime_get_ns(), or CLOCK_BOOTTIME to
 * include suspend. These calls cannot fail on Linux.
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

uint64_t clock_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
