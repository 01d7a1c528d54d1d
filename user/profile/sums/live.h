/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_LIVE_H
#define D9_PROFILE_SUMS_LIVE_H

#include "profile/sums/event_counts.h"

/* What happened in one period. */
struct live_sum {
	uint64_t samples; /* of the CPU */
	uint64_t wait_ns; /* for a CPU, of waits that ended in it */
	uint64_t off_ns; /* blocked, of blocks that ended in it */
};

/* String id, or NAMES_NONE; index, or 0. */
struct live_function {
	uint32_t sym, module;
};

/* One function, or one thread. */
struct live_row {
	struct live_function at; /* of a thread: its hottest one */
	struct live_function off_at; /* of a thread: the one in which it was blocked longest */
	bool blocked; /* there is that one */
	uint32_t tid, pid, comm; /* of a thread */
	struct live_sum sum;
};

struct live_rows {
	struct live_row *v;
	size_t cnt, cap;
};

/*
 * Sums of a trace that is still being written, one period after the other. A period begins where the
 * one before ended, at the time of the last event; what began before it counts from there.
 */
struct live;

/* @names is borrowed, and that of the trace that events come from. Never NULL. */
struct live *live_new(struct names *names);
void live_free(struct live *l);

void live_add(struct live *l, const struct trace *t, const struct trace_event *ev);

/* The period so far: ns by the clock of the trace, and the sum of all in it. */
uint64_t live_period(const struct live *l);
const struct live_sum *live_all(const struct live *l);
/* What was lost since the beginning. */
const struct loss_accounting *live_lost(const struct live *l);

/*
 * Rows of the period, by function or by thread; named now. Blocks count for the first function of user
 * code, and nowhere when there is none. Free rows->v.
 */
void live_functions(const struct live *l, struct live_rows *rows);
void live_threads(const struct live *l, struct live_rows *rows);
/* Most blocked first, or most samples. */
void live_sort(struct live_rows *rows, bool off);

/* Ends the period and begins the next. */
void live_next(struct live *l);

#endif /* D9_PROFILE_SUMS_LIVE_H */
