/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_THREAD_TIMES_H
#define D9_PROFILE_SUMS_THREAD_TIMES_H

#include "profile/sched/intervals.h"

/* Times of one thread, in ns. */
struct thread_times_task {
	uint32_t tid, pid, comm; /* pid TRACE_NONE and comm NAMES_NONE: unknown */
	uint64_t run, wait, off;
	uint64_t unknown; /* unaccounted */
	uint64_t switches, preempted; /* switch-outs; switch-outs while runnable */
};

/* {0} is empty. Grows with distinct threads. */
struct thread_times {
	struct hmap by_tid; /* tid -> index + 1 */
	struct thread_times_task *tasks;
	size_t cnt, cap;
	/*
	 * set before the first interval: also counts what started before the recording or did not
	 * end in it
	 */
	bool edges;
};

/* An interval_fn; @ctx is a struct thread_times. Ignores threads that are not targets. */
void thread_times_add(void *ctx, const struct interval *i);
/* The sum over threads of the processes in @pids (keys), or over all if it is NULL. */
void thread_times_sum(const struct thread_times *s, const struct hmap *pids,
		      struct thread_times_task *out);
/* Sets PIDs and names that came after a thread's first event. */
void thread_times_finish(struct thread_times *s, const struct names *n);
void thread_times_fini(struct thread_times *s);

#endif /* D9_PROFILE_SUMS_THREAD_TIMES_H */
