/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_LIVE_H
#define D9_PROFILE_SUMS_LIVE_H

#include "profile/sums/event_counts.h"

/* Sums of one period. */
struct live_sum {
	uint64_t samples; /* CPU samples */
	uint64_t wait_ns; /* run-queue latency that ended in the period */
	uint64_t off_ns; /* blocked time that ended in the period */
};

/* String id, or NAMES_NONE; index, or 0. */
struct live_function {
	uint32_t sym, module;
};

/* A function or a thread. */
struct live_row {
	struct live_function at; /* threads: the function with most samples */
	struct live_function off_at; /* threads: the function with most blocked time */
	bool blocked; /* off_at is set */
	uint32_t tid, pid, comm; /* threads only */
	struct live_sum sum;
};

struct live_rows {
	struct live_row *v;
	size_t cnt, cap;
};

/*
 * Sums of a trace that is still being written, period by period. A period starts where the one
 * before ended, at the time of the last event. What started before it counts from there.
 */
struct live;

/* @names is borrowed, and belongs to the trace that events come from. Never NULL. */
struct live *live_new(struct names *names);
void live_free(struct live *l);

void live_add(struct live *l, const struct trace *t, const struct trace_event *ev);

/* Length of the period so far in ns of the trace's clock, and the total of everything in it. */
uint64_t live_period(const struct live *l);
const struct live_sum *live_all(const struct live *l);
/* Losses since the start. */
const struct loss_accounting *live_lost(const struct live *l);

/*
 * Rows of the period by function or thread, with the current names. Blocked time counts for the
 * innermost function of user code; without one it is not counted. Free rows->v.
 */
void live_functions(const struct live *l, struct live_rows *rows);
void live_threads(const struct live *l, struct live_rows *rows);
/* Sorts by blocked time or samples, largest first. */
void live_sort(struct live_rows *rows, bool off);

/* Ends the period and starts the next. */
void live_next(struct live *l);

#endif /* D9_PROFILE_SUMS_LIVE_H */
