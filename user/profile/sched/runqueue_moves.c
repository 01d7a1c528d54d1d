// SPDX-License-Identifier: BSD-2-Clause
/*
 * Run queues that a thread was on while runnable, and who ran on those CPUs. Owns no memory, knows
 * no thread states. Only the last queues are kept; time before the first of them is unknown.
 */
#include "profile/sched/runqueue_moves.h"

#include <string.h>

void runqueue_moves_add(struct runqueue_moves *h, uint32_t cpu, uint64_t since)
{
	if (h->cnt == RUNQUEUE_MOVES_MAX)
		memmove(&h->v[0], &h->v[1], --h->cnt * sizeof(h->v[0]));
	h->v[h->cnt++] = (struct runqueue_move){ .since = since, .cpu = cpu };
}

uint32_t runqueue_moves_cpu(const struct runqueue_moves *h)
{
	return h->cnt ? h->v[h->cnt - 1].cpu : TRACE_NONE;
}

struct slice_sums {
	struct runqueue_moves_preemptors *sums;
	uint32_t cpu;
};

/* The thread switched in last is still running only if its switch-out cannot be missing. */
static void add_slice(void *ctx, uint32_t tid, uint64_t from, uint64_t to, bool open)
{
	const struct slice_sums *q = ctx;
	struct runqueue_moves_preemptors *b = q->sums;

	if (tid == CPU_LOG_NOBODY || (open && !b->is_running(b->ctx, tid))) {
		b->unknown_ns += to - from;
		return;
	}
	preemptors_add(&b->preemptors, &(struct interval_preemptor){ .cpu = q->cpu,
								     .tid = tid,
								     .pid = TRACE_NONE,
								     .comm = NAMES_NONE,
								     .ns = to - from,
								     .from = from });
}

void runqueue_moves_preemptors(const struct runqueue_moves *h, const struct interval *i,
			       struct runqueue_moves_preemptors *b)
{
	struct slice_sums q = { .sums = b };
	uint64_t to = i->end, from;

	for (size_t k = h->cnt; k-- && to > i->start; to = from < to ? from : to) {
		from = h->v[k].since > i->start ? h->v[k].since : i->start;
		q.cpu = h->v[k].cpu;
		/* moved to another CPU without an event */
		if (k + 1u == h->cnt && q.cpu != i->cpu)
			q.cpu = TRACE_NONE;
		cpu_log_each(b->cpus, q.cpu, from, to, add_slice, &q);
	}
	if (to > i->start)
		b->unknown_ns += to - i->start;
}
