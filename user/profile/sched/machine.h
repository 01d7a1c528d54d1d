/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_MACHINE_H
#define D9_PROFILE_SCHED_MACHINE_H

/*
 * What the threads of one recording did: see intervals.h, which has one of these for each recording of a merged
 * stream, and one for all that follow each other.
 */
#include "profile/sched/gaps.h"
#include "profile/sched/intervals.h"
#include "profile/sched/stack_table.h"

struct machine;

struct machine_window {
	uint64_t from, to;
	bool set;
};

/* What they have in common. */
struct machine_shared {
	struct intervals_opts opts;
	bool skip_stacks;
	struct stack_table stacks;
	struct machine_window *windows; /* by clock */
	size_t window_cap;
	struct gaps *gaps; /* by part */
	size_t gaps_cap;
	const struct machine *telling; /* while opts.fn runs */
};

/* Never NULL; free with machine_free(). */
struct machine *machine_new(struct machine_shared *all);
void machine_free(struct machine *m);
/* The window of that clock is another one. */
void machine_window(struct machine *m, uint32_t clock);
/* Cuts to a window, if it is set: false when nothing is left. */
bool machine_clip(const struct machine_window *w, struct interval *i);
/* As intervals_restart() and so on. */
void machine_restart(struct machine *m);
void machine_add(struct machine *m, const struct trace *t, const struct trace_event *ev);
void machine_finish(struct machine *m);
struct interval_behind_sum machine_behind(const struct machine *m, const struct interval *i,
					  struct interval_behind *out, size_t max);

#endif /* D9_PROFILE_SCHED_MACHINE_H */
