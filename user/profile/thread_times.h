/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_THREAD_TIMES_H
#define D9_PROFILE_THREAD_TIMES_H

#include "trace/trace.h"

enum thread_times_state {
	THREAD_TIMES_UNKNOWN, /* before the first event of a thread, and after a gap */
	THREAD_TIMES_RUNNING,
	THREAD_TIMES_WAITING, /* runnable, without a CPU */
	THREAD_TIMES_OFF, /* blocked or asleep */
	THREAD_TIMES_GONE,
};

/* How one thread spent its time. Nanoseconds. */
struct thread_times_task {
	uint32_t tid, pid, comm; /* pid TRACE_NONE and comm NAMES_NONE: unknown */
	uint64_t run, wait, off;
	uint64_t spoilt; /* in intervals that a gap in the trace makes doubtful: in none of the above */
	uint64_t switches, preempted; /* switches out; those of them while runnable */
	enum thread_times_state state;
	uint64_t since;
	bool seen; /* a switch or waking of it */
	bool sampled; /* on a CPU, by the sampling clock */
	enum thread_times_state before; /* what it was up to when first seen */
	uint64_t first_ns;
};

struct thread_times_gap {
	uint64_t from, to;
};

/* {0} is empty. Grows with distinct threads; gaps are merged beyond THREAD_TIMES_GAPS_MAX. */
struct thread_times {
	struct hmap by_tid; /* tid -> index + 1 */
	struct thread_times_task *tasks;
	size_t cnt, cap;
	struct thread_times_gap *gaps; /* sorted, apart from each other */
	size_t gap_cnt, gap_cap;
};

#define THREAD_TIMES_GAPS_MAX 4096

/*
 * Takes switches and wakings. LostEvents of scheduler events add gaps: to find the intervals before
 * the report of a loss too, give all LostEvents first (thread_times_add_gaps() in a pass of its own).
 */
void thread_times_add(struct thread_times *s, const struct trace *t, const struct trace_event *ev);
/* Only the gaps that this event tells of; other events are ignored. */
void thread_times_add_gaps(struct thread_times *s, const struct trace *t,
			   const struct trace_event *ev);
/* The sum over threads of the processes that are keys of @pids, or over all but the idle ones when it
 * is NULL. */
void thread_times_sum(const struct thread_times *s, const struct hmap *pids,
		      struct thread_times_task *out);
/* Pids and names that were told only after the thread's first event. */
void thread_times_finish(struct thread_times *s, const struct names *n);
/*
 * For a recording that took every switch and waking of the threads of @pids from start_ns to end_ns:
 * their time before the first event and after the last one, which then follows, and that of threads
 * which had no event at all. Once, before thread_times_sum().
 */
void thread_times_close(struct thread_times *s, const struct names *n, const struct hmap *pids,
			uint64_t start_ns, uint64_t end_ns);
void thread_times_fini(struct thread_times *s);

#endif /* D9_PROFILE_THREAD_TIMES_H */
