/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_OFFCPU_INTERVAL_H
#define D9_PROFILE_SCHED_OFFCPU_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/sched/intervals.h"
#include "trace/read/trace.h"

/*
 * An off-CPU interval from one event: blocked, runnable, or first blocked and then runnable. {0}:
 * none.
 */
struct offcpu_interval {
	struct interval v[2];
	size_t cnt;
	uint64_t ts; /* of the event */
	struct interval_waker waker;
};

/*
 * Reads an event of kind TRACE_OFF_CPU; without a thread the result is empty. Intervals point into
 * @s.
 */
void offcpu_interval_read(struct offcpu_interval *s, const struct trace *t,
			  const struct trace_event *ev);
/* Whether @ev has the switch-out stack of this off-CPU interval. */
bool offcpu_interval_is_of(const struct offcpu_interval *s, const struct trace_event *ev);
void offcpu_interval_set_stack(struct offcpu_interval *s, uint32_t stack);

/*
 * Whether a recording has off-CPU intervals instead of switches. They last *min_ns or longer, and
 * at most *max_ns unless that is 0. Either pointer may be NULL.
 */
bool offcpu_interval_is_recorded(const struct names *names, uint32_t part, uint64_t *min_ns,
				 uint64_t *max_ns);

#endif /* D9_PROFILE_SCHED_OFFCPU_INTERVAL_H */
