/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RUNQUEUE_MOVES_H
#define D9_PROFILE_SCHED_RUNQUEUE_MOVES_H

#include "profile/sched/cpu_log.h"
#include "profile/sched/preemptors.h"

/* So many are remembered, the latest. */
#define RUNQUEUE_MOVES_MAX 4

/* A CPU on whose queue a thread waits, from a time on; TRACE_NONE: unknown which. */
struct runqueue_move {
	uint64_t since;
	uint32_t cpu;
};

/* The queues on which a thread waits, one after the other. {0} is empty. */
struct runqueue_moves {
	struct runqueue_move v[RUNQUEUE_MOVES_MAX];
	uint8_t cnt;
};

/* Times do not step back. */
void runqueue_moves_add(struct runqueue_moves *h, uint32_t cpu, uint64_t since);
/* The CPU that it waits for now; TRACE_NONE: unknown. */
uint32_t runqueue_moves_cpu(const struct runqueue_moves *h);

/* Whether @tid, who was switched in last on a CPU, is known to be there still. */
typedef bool (*runqueue_moves_running_fn)(const void *ctx, uint32_t tid);

struct runqueue_moves_preemptors {
	const struct cpu_log *cpus; /* borrowed */
	runqueue_moves_running_fn is_running;
	const void *ctx;
	/* added to: */
	struct preemptors preemptors; /* who ran; pid and comm are not known */
	uint64_t unknown_ns; /* when it is not known who did */
};

/* Behind whom a thread waited during the interval @i, of which @h are the queues. */
void runqueue_moves_preemptors(const struct runqueue_moves *h, const struct interval *i,
			       struct runqueue_moves_preemptors *b);

#endif /* D9_PROFILE_SCHED_RUNQUEUE_MOVES_H */
