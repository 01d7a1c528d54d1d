/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_WAKER_H
#define D9_PROFILE_SCHED_WAKER_H

#include "profile/sched/intervals.h"

/* What a waking came from, by its event; without a stack. */
struct interval_waker waker_of(const struct trace_event *ev);

#endif /* D9_PROFILE_SCHED_WAKER_H */
