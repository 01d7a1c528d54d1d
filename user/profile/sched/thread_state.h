/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_THREAD_STATE_H
#define D9_PROFILE_SCHED_THREAD_STATE_H

/*
 * What the threads of one recording did. intervals.h has one of these for each recording of a
 * merged stream, and one for all successive recordings.
 */
#include "profile/sched/gaps.h"
#include "profile/sched/intervals.h"
#include "profile/sched/stack_table.h"

struct thread_state;

struct thread_state_window {
	uint64_t from, to;
	bool set;
};

/* Shared by all recordings. */
struct thread_state_shared {
	struct intervals_opts opts;
	bool skip_stacks;
	struct stack_table stacks;
	struct thread_state_window *windows; /* by clock */
	size_t window_cap;
	struct gaps *gaps; /* by part */
	size_t gaps_cap;
	const struct thread_state *reporting; /* during opts.fn */
};

/* Never NULL; free with thread_state_free(). */
struct thread_state *thread_state_new(struct thread_state_shared *all);
void thread_state_free(struct thread_state *m);
/* The window of @clock has changed. */
void thread_state_window(struct thread_state *m, uint32_t clock);
/* Clips to a window, if it is set. False: nothing is left. */
bool thread_state_clip(const struct thread_state_window *w, struct interval *i);
/* See intervals_restart() and the functions of the same name. */
void thread_state_restart(struct thread_state *m);
void thread_state_add(struct thread_state *m, const struct trace *t, const struct trace_event *ev);
void thread_state_finish(struct thread_state *m);
struct interval_preemptor_sum thread_state_preemptors(const struct thread_state *m,
						      const struct interval *i,
						      struct interval_preemptor *out, size_t max);

#endif /* D9_PROFILE_SCHED_THREAD_STATE_H */
