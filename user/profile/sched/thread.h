/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_THREAD_H
#define D9_PROFILE_SCHED_THREAD_H

/* One thread of thread_state.c: its state, since when, and the data of its open interval. */
#include "profile/sched/intervals.h"
#include "profile/sched/runqueue_moves.h"

enum life {
	LIFE_UNSEEN, /* no switch or wakeup yet */
	LIFE_ON,
	LIFE_GONE,
};

struct thread {
	uint32_t tid, pid, comm;
	/* before the last rename in the open interval; an exec event follows the new name */
	uint32_t comm_was;
	enum life life;
	enum interval_state state;
	enum interval_why why;
	unsigned int flags;
	bool is_target; /* was a target once; with TaskEvents: is one now */
	bool unrecorded_cpu; /* on a CPU that is not recorded */
	bool on_cpu; /* some event happened in it */
	bool has_waker, woken_early;
	uint64_t since;
	/* LIFE_UNSEEN: its first event also describes the time from here, or from the start */
	uint64_t from;
	uint32_t cpu, prev_state, stack, next_tid;
	struct runqueue_moves queues; /* runnable: of the open interval */
	struct interval_exec execs[INTERVAL_EXECS_MAX]; /* running: of the open interval */
	uint32_t exec_cnt;
	struct interval_waker waker; /* of the open interval, or of an early wakeup */
};

/*
 * Starts an interval and clears the data of the one before. If time goes backwards, the old start
 * stays.
 */
void thread_begin(struct thread *th, enum interval_state state, uint64_t ts);
/* The open interval, ended at @ts. It points into @th, until the next thread_begin(). */
struct interval thread_ended(const struct thread *th, uint32_t part, uint64_t ts,
			     enum interval_end end_by, uint32_t cpu, uint32_t taken_from);
/* Updates process and name from the tasks of the trace. */
void thread_name(struct thread *th, const struct trace *t);

#endif /* D9_PROFILE_SCHED_THREAD_H */
