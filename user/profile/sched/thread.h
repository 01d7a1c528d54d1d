/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_THREAD_H
#define D9_PROFILE_SCHED_THREAD_H

/* One thread as thread_state.c knows it: what it does, since when, and what of that its interval will say. */
#include "profile/sched/intervals.h"
#include "profile/sched/runqueue_moves.h"

enum life {
	LIFE_UNSEEN, /* no switch or waking yet */
	LIFE_ON,
	LIFE_GONE,
};

struct thread {
	uint32_t tid, pid, comm;
	uint32_t comm_was; /* before it was named last in the open interval; an exec is told behind the new name */
	enum life life;
	enum interval_state state;
	enum interval_why why;
	unsigned int flags;
	bool is_target; /* it was so once; where that is told, it is so now */
	bool unrecorded_cpu; /* on a CPU that is not recorded, as far as is known */
	bool on_cpu; /* some event happened in it */
	bool has_waker, woken_early;
	uint64_t since;
	uint64_t from; /* of LIFE_UNSEEN: what its first event says is true since then, or the start */
	uint32_t cpu, prev_state, stack, next_tid;
	struct runqueue_moves queues; /* of the open interval, if runnable */
	struct interval_exec execs[INTERVAL_EXECS_MAX]; /* of the open interval, if running */
	uint32_t exec_cnt;
	struct interval_waker waker; /* of the open interval, or of the waking that came early */
};

/* Opens an interval; what was said of the one before is gone. Times that step back are no time. */
void thread_begin(struct thread *th, enum interval_state state, uint64_t ts);
/* The open interval, ended at @ts; what it points to is the thread's, until the next one begins. */
struct interval thread_ended(const struct thread *th, uint32_t part, uint64_t ts,
			     enum interval_end end_by, uint32_t cpu, uint32_t taken_from);
/* Takes over its process and its name, as far as the trace has told them. */
void thread_name(struct thread *th, const struct trace *t);

#endif /* D9_PROFILE_SCHED_THREAD_H */
