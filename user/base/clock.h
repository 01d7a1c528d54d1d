/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_CLOCK_H
#define D9_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC: the clock of every timestamp in a trace. */
uint64_t clock_mono_ns(void);
/* CLOCK_REALTIME: nanoseconds since 1970. */
uint64_t clock_real_ns(void);

#endif /* D9_BASE_CLOCK_H */
