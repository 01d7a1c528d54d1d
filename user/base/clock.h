/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_CLOCK_H
#define D9_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * The clock of every timestamp in a trace: CLOCK_MONOTONIC, or, after clock_count_suspend(), which is for the
 * whole process and for its children, CLOCK_BOOTTIME.
 */
uint64_t clock_mono_ns(void);
clockid_t clock_mono_id(void);
/* Before threads start. */
void clock_count_suspend(void);
/* CLOCK_MONOTONIC, always: what waits by the kernel's timers. */
uint64_t clock_timer_ns(void);
/* CLOCK_REALTIME: nanoseconds since 1970. */
uint64_t clock_real_ns(void);

#endif /* D9_BASE_CLOCK_H */
