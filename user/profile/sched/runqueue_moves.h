/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RUNQUEUE_MOVES_H
#define D9_PROFILE_SCHED_RUNQUEUE_MOVES_H

#include "profile/sched/cpu_log.h"
#include "profile/sched/preemptors.h"

/* only the latest are kept */
#define RUNQUEUE_MOVES_MAX 4

/* The thread is on the run queue of @cpu since then; TRACE_NONE: unknown CPU. */
struct runqueue_move {
	uint64_t since;
	uint32_t cpu;
};

/* The run queues of a runnable thread, in order. {0} is empty. */
struct runqueue_moves {
	struct runqueue_move v[RUNQUEUE_MOVES_MAX];
	uint8_t cnt;
};

/* @since must not decrease. */
void runqueue_moves_add(struct runqueue_moves *h, uint32_t cpu, uint64_t since);
/* The current run queue's CPU; TRACE_NONE: unknown. */
uint32_t runqueue_moves_cpu(const struct runqueue_moves *h);

/* Whether @tid, switched in last on a CPU, is known to be still running there. */
typedef bool (*runqueue_moves_running_fn)(const void *ctx, uint32_t tid);

struct runqueue_moves_preemptors {
	const struct cpu_log *cpus; /* borrowed */
	runqueue_moves_running_fn is_running;
	const void *ctx;
	/* added to: */
	struct preemptors preemptors; /* pid and comm not set */
	uint64_t unknown_ns; /* the running thread is unknown */
};

/* Adds the threads that ran during the runnable interval @i, on the queues @h. */
void runqueue_moves_preemptors(const struct runqueue_moves *h, const struct interval *i,
			       struct runqueue_moves_preemptors *b);

#endif /* D9_PROFILE_SCHED_RUNQUEUE_MOVES_H */
