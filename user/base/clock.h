/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_CLOCK_H
#define D9_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * The clock of all timestamps in a trace: CLOCK_MONOTONIC, or CLOCK_BOOTTIME after
 * clock_count_suspend().
 */
uint64_t clock_mono_ns(void);
clockid_t clock_mono_id(void);
/* Selects CLOCK_BOOTTIME for this process and its children. Call before threads start. */
void clock_count_suspend(void);
/* Always CLOCK_MONOTONIC, the clock of the kernel's timers. */
uint64_t clock_timer_ns(void);
/* CLOCK_REALTIME: nanoseconds since 1970. */
uint64_t clock_real_ns(void);
/* CPU time of the calling thread. Takes a system call. */
uint64_t clock_thread_cpu_ns(void);

#endif /* D9_BASE_CLOCK_H */
