/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_PREEMPTORS_H
#define D9_PROFILE_SCHED_PREEMPTORS_H

#include "profile/sched/intervals.h"

/* distinct threads kept while summing */
#define PREEMPTORS_MAX 64

/* Threads that ran while others waited. {0} is empty. */
struct preemptors {
	struct interval_preemptor v[PREEMPTORS_MAX];
	size_t cnt;
	uint64_t other_ns; /* of threads beyond PREEMPTORS_MAX, or reported as others */
};

/* Adds to the row of the same thread and CPU. */
void preemptors_add(struct preemptors *r, const struct interval_preemptor *one);
/*
 * Copies at most @max threads to @out, longest first, and returns how many. The time of the others
 * is added to r->other_ns.
 */
size_t preemptors_top(struct preemptors *r, struct interval_preemptor *out, size_t max);

#endif /* D9_PROFILE_SCHED_PREEMPTORS_H */
