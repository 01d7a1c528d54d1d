/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_THREAD_TIMES_H
#define D9_PROFILE_SUMS_THREAD_TIMES_H

#include "profile/sched/intervals.h"

/* How one thread spent its time. Nanoseconds. */
struct thread_times_task {
	uint32_t tid, pid, comm; /* pid TRACE_NONE and comm NAMES_NONE: unknown */
	uint64_t run, wait, off;
	uint64_t unknown; /* of which the trace does not say how it was spent */
	uint64_t switches, preempted; /* switches out; those of them while runnable */
};

/* {0} is empty. Grows with distinct threads. */
struct thread_times {
	struct hmap by_tid; /* tid -> index + 1 */
	struct thread_times_task *tasks;
	size_t cnt, cap;
	bool edges; /* set before the first: counts what began before the recording or outlasted it */
};

/* An interval_fn; @ctx is a struct thread_times. Threads that were only met beside others count not. */
void thread_times_add(void *ctx, const struct interval *i);
/* The sum over threads of the processes that are keys of @pids, or over all when it is NULL. */
void thread_times_sum(const struct thread_times *s, const struct hmap *pids,
		      struct thread_times_task *out);
/* Pids and names that were told only after the thread's first event. */
void thread_times_finish(struct thread_times *s, const struct names *n);
void thread_times_fini(struct thread_times *s);

#endif /* D9_PROFILE_SUMS_THREAD_TIMES_H */
