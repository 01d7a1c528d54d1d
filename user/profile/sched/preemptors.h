/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_PREEMPTORS_H
#define D9_PROFILE_SCHED_PREEMPTORS_H

#include "profile/sched/intervals.h"

/* So many are told apart while they are summed. */
#define PREEMPTORS_MAX 64

/* Those who ran while others waited. {0} is empty. */
struct preemptors {
	struct interval_preemptor v[PREEMPTORS_MAX];
	size_t cnt;
	uint64_t other_ns; /* of those who found no room, or were told of as others */
};

/* Adds a time to that of the same thread on the same CPU. */
void preemptors_add(struct preemptors *r, const struct interval_preemptor *one);
/*
 * Hands out those who ran longest, at most @max, longest first, and returns how many; the time of all
 * that are left joins r->other_ns.
 */
size_t preemptors_top(struct preemptors *r, struct interval_preemptor *out, size_t max);

#endif /* D9_PROFILE_SCHED_PREEMPTORS_H */
