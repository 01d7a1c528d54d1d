/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_OFFCPU_INTERVAL_H
#define D9_PROFILE_SCHED_OFFCPU_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/sched/intervals.h"
#include "trace/read/trace.h"

/* A stay off the CPU that one event tells of: blocked, runnable, or the one and then the other. {0}: none. */
struct offcpu_interval {
	struct interval v[2];
	size_t cnt;
	uint64_t ts; /* of the event */
	struct interval_waker waker;
};

/* Reads an event of kind TRACE_OFF_CPU; one that names no thread is none. Intervals point into @s. */
void offcpu_interval_read(struct offcpu_interval *s, const struct trace *t,
			  const struct trace_event *ev);
/* Whether the stack @ev is that of the stay, with which its thread left. */
bool offcpu_interval_is_of(const struct offcpu_interval *s, const struct trace_event *ev);
void offcpu_interval_set_stack(struct offcpu_interval *s, uint32_t stack);

/*
 * Whether a part of a trace has stays in place of switches, and which: none shorter than *min_ns, and none longer
 * than *max_ns, unless that is 0. Either may be NULL.
 */
bool offcpu_interval_is_recorded(const struct names *names, uint32_t part, uint64_t *min_ns,
				 uint64_t *max_ns);

#endif /* D9_PROFILE_SCHED_OFFCPU_INTERVAL_H */
