// SPDX-License-Identifier: BSD-2-Clause
/* The context of a wakeup, from its event. No state. */
#include "profile/sched/waker.h"

enum { SOFTIRQ_TIMER = 1 };

struct interval_waker waker_of(const struct trace_event *ev)
{
	static const enum interval_context contexts[PROF_CONTEXT_MASK + 1] = {
		[PROF_CONTEXT_TASK] = INTERVAL_BY_TASK,
		[PROF_CONTEXT_SOFTIRQ] = INTERVAL_BY_SOFTIRQ,
		[PROF_CONTEXT_HARDIRQ] = INTERVAL_BY_HARDIRQ,
		[PROF_CONTEXT_IPI] = INTERVAL_BY_IPI,
		[PROF_CONTEXT_TIMER] = INTERVAL_BY_TIMER,
	};
	uint64_t context = trace_u64_or(ev, ROLE_CONTEXT, PROF_CONTEXT_UNKNOWN), raw = context;
	uint64_t number = context >> PROF_CONTEXT_SHIFT;

	/* this softirq runs timer callbacks, too */
	if (context == (PROF_CONTEXT_SOFTIRQ | (SOFTIRQ_TIMER + 1) << PROF_CONTEXT_SHIFT))
		context = PROF_CONTEXT_TIMER;
	return (struct interval_waker){
		.context = contexts[context & PROF_CONTEXT_MASK],
		.number = number <= INT32_MAX ? (int32_t)number - 1 : -1,
		.raw = raw,
		.part = ev->part,
		.tid = ev->tid,
		.pid = ev->pid,
		.comm = ev->comm,
		.cpu = ev->cpu,
		.stack = INTERVAL_NO_STACK,
		.ts = ev->ts,
	};
}
