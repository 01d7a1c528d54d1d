/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_WAKER_H
#define D9_PROFILE_SCHED_WAKER_H

#include "profile/sched/intervals.h"

/* The context of a wakeup, without a stack. */
struct interval_waker waker_of(const struct trace_event *ev);

#endif /* D9_PROFILE_SCHED_WAKER_H */
