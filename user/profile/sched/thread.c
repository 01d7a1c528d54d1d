// SPDX-License-Identifier: BSD-2-Clause
/*
 * The open interval of a thread. Owns no memory; thread_state.c decides which event starts and ends
 * it.
 */
#include "profile/sched/thread.h"

void thread_begin(struct thread *th, enum interval_state state, uint64_t ts)
{
	if (ts > th->since || th->life != LIFE_ON)
		th->since = ts;
	th->life = LIFE_ON;
	th->state = state;
	th->flags = 0;
	th->why = INTERVAL_WHY_UNKNOWN;
	th->has_waker = false;
	th->woken_early = false;
	th->exec_cnt = 0;
	th->comm_was = th->comm;
	th->queues.cnt = 0;
	th->cpu = TRACE_NONE;
	th->prev_state = 0;
	th->stack = INTERVAL_NO_STACK;
	th->next_tid = TRACE_NONE;
}

struct interval thread_ended(const struct thread *th, uint32_t part, uint64_t ts,
			     enum interval_end end_by, uint32_t cpu, uint32_t taken_from)
{
	uint64_t to = ts > th->since ? ts : th->since;

	return (struct interval){
		.tid = th->tid,
		.pid = th->pid,
		.comm = th->comm,
		.part = part,
		.state = th->state,
		.began_as = th->state,
		.flags = th->flags,
		.end_by = end_by,
		.start = th->since,
		.end = to,
		.began = th->since,
		.ended = to,
		.cpu = cpu,
		.prev_state = th->prev_state,
		.stack = th->stack,
		.next_tid = th->next_tid,
		.prev_tid = taken_from,
		.why = th->state == INTERVAL_RUNNABLE ? th->why : INTERVAL_WHY_UNKNOWN,
		.waker = th->has_waker ? &th->waker : NULL,
		.execs = th->execs,
		.exec_cnt = th->exec_cnt,
	};
}

void thread_name(struct thread *th, const struct trace *t)
{
	const struct names_task *known = trace_task(t, th->tid);

	if (!known)
		return;
	if (known->pid != TRACE_NONE)
		th->pid = known->pid;
	if (known->comm == NAMES_NONE || known->comm == th->comm)
		return;
	th->comm_was = th->comm;
	th->comm = known->comm;
}
