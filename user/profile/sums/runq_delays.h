/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_RUNQ_DELAYS_H
#define D9_PROFILE_SUMS_RUNQ_DELAYS_H

#include "base/hash.h"
#include "profile/sched/intervals.h"
#include "profile/sums/quantile.h"

enum runq_delays_by {
	RUNQ_DELAYS_BY_TID,
	RUNQ_DELAYS_BY_PID,
	RUNQ_DELAYS_BY_COMM,
	RUNQ_DELAYS_BY_CGROUP,
};

/* Run-queue latency of a thread, of a process, or of all threads of a name or a control group. */
struct runq_delays_row {
	uint32_t tid, pid; /* of its first thread; TRACE_NONE: unknown */
	uint32_t comm; /* the last name, of a process its main thread's; NAMES_NONE: unknown */
	uint32_t cgroup; /* path of the control group; NAMES_NONE: unknown. Only with BY_CGROUP */
	bool main; /* comm is the main thread's */
	uint64_t named_ns; /* time of that name */
	uint32_t part;
	uint64_t run_ns, switches; /* CPU time; times switched in */
	uint64_t wait_ns; /* total run-queue latency */
	uint64_t cut; /* clipped by an edge: in wait_ns, not in the quantiles */
	uint64_t max_ns, max_start; /* the longest, and its start */
	struct quantile latencies; /* without clipped ones */
};

/* Start with { .by = ... }. */
struct runq_delays {
	enum runq_delays_by by;
	struct hmap index; /* key -> row + 1 */
	struct runq_delays_row *rows;
	size_t cnt, cap;
	struct quantile latencies; /* of all rows */
	uint64_t run_ns, wait_ns, switches;
	struct intervals_unknown unknown; /* in no row's wait_ns */
};

enum runq_delays_order {
	RUNQ_DELAYS_BY_MAX,
	RUNQ_DELAYS_BY_AVG,
	RUNQ_DELAYS_BY_P99,
	RUNQ_DELAYS_BY_RUNTIME,
	RUNQ_DELAYS_BY_SWITCHES,
	RUNQ_DELAYS_BY_WAIT,
};

/* Accepts any interval. @cgroup: its thread's control group, or NAMES_NONE. */
void runq_delays_add(struct runq_delays *d, const struct interval *i, uint32_t cgroup);
/* Sets names that came late, and sorts, largest first. Call it once, after the last interval. */
void runq_delays_finish(struct runq_delays *d, const struct names *names,
			enum runq_delays_order order);
void runq_delays_fini(struct runq_delays *d);

/* One long runnable interval, with all its details. */
struct runq_delays_worst {
	uint32_t tid, pid, comm, cpu, stack, part;
	uint64_t start, ns;
	unsigned int flags;
	enum interval_why why;
	bool woken;
	struct interval_waker waker;
	struct interval_preemptor
		preemptors[4]; /* threads that ran on that CPU during it, longest first */
	struct interval_preemptor_sum sum;
};

/* The longest intervals so far: a heap of at most @max. Start with { .max = ... }. */
struct runq_delays_heap {
	size_t max, cnt;
	struct runq_delays_worst *v;
};

/* Adds a runnable interval within the engine's callback. */
void runq_delays_heap_add(struct runq_delays_heap *h, const struct intervals *iv,
			  const struct interval *i);
/* Sorts, longest first. Call it once, at the end. */
void runq_delays_heap_sort(struct runq_delays_heap *h);
void runq_delays_heap_fini(struct runq_delays_heap *h);

#endif /* D9_PROFILE_SUMS_RUNQ_DELAYS_H */
