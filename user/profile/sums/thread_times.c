// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time of threads: running, runnable, or neither. Owns the sums; intervals come from intervals.c.
 * Numbers only.
 */
#include "profile/sums/thread_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct thread_times_task *task_of(struct thread_times *s, uint32_t tid)
{
	uintptr_t at = (uintptr_t)hmap_get(&s->by_tid, tid);

	if (at)
		return &s->tasks[at - 1];
	s->tasks = array_reserve(s->tasks, &s->cap, s->cnt + 1, sizeof(*s->tasks));
	s->tasks[s->cnt++] =
		(struct thread_times_task){ .tid = tid, .pid = TRACE_NONE, .comm = NAMES_NONE };
	hmap_set(&s->by_tid, tid, (void *)(uintptr_t)s->cnt);
	return &s->tasks[s->cnt - 1];
}

static void add_time(struct thread_times_task *task, enum interval_state state, uint64_t ns)
{
	switch (state) {
	case INTERVAL_RUNNING:
		task->run += ns;
		break;
	case INTERVAL_RUNNABLE:
		task->wait += ns;
		break;
	case INTERVAL_BLOCKED:
		task->off += ns;
		break;
	case INTERVAL_UNKNOWN:
	case INTERVAL_STATE_CNT:
		task->unknown += ns;
		break;
	}
}

void thread_times_add(void *ctx, const struct interval *i)
{
	struct thread_times *s = ctx;
	struct thread_times_task *task;

	if (i->flags & INTERVAL_NEIGHBOUR)
		return;
	task = task_of(s, i->tid);
	if (task->pid == TRACE_NONE)
		task->pid = i->pid;
	if (task->comm == NAMES_NONE)
		task->comm = i->comm;
	task->switches += i->end_by >= INTERVAL_TO_BLOCK;
	task->preempted += i->end_by == INTERVAL_TO_PREEMPTED || i->end_by == INTERVAL_TO_RESCHED;
	if (s->edges || !(i->flags & (INTERVAL_EDGE_START | INTERVAL_EDGE_END)))
		add_time(task, i->state, i->end - i->start);
}

void thread_times_finish(struct thread_times *s, const struct names *n)
{
	for (size_t i = 0; i < s->cnt; i++) {
		struct thread_times_task *t = &s->tasks[i];

		names_task_fill(n, 0, t->tid, &t->pid, &t->comm);
	}
}

void thread_times_sum(const struct thread_times *s, const struct hmap *pids,
		      struct thread_times_task *out)
{
	*out = (struct thread_times_task){ .tid = TRACE_NONE,
					   .pid = TRACE_NONE,
					   .comm = NAMES_NONE };
	for (size_t i = 0; i < s->cnt; i++) {
		const struct thread_times_task *task = &s->tasks[i];

		if (pids && !hmap_get(pids, task->pid))
			continue;
		out->run += task->run;
		out->wait += task->wait;
		out->off += task->off;
		out->unknown += task->unknown;
		out->switches += task->switches;
		out->preempted += task->preempted;
	}
}

void thread_times_fini(struct thread_times *s)
{
	hmap_fini(&s->by_tid);
	free(s->tasks);
	memset(s, 0, sizeof(*s));
}
