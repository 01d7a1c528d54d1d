/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_OFF_STACK_H
#define D9_PROFILE_SUMS_OFF_STACK_H

#include "profile/sched/intervals.h"

/* Switch-out stacks of threads. {0} is empty; grows with distinct threads. */
struct off_stack {
	struct hmap last; /* part << 32 | tid -> stack of its switch-out + 1 */
};

/*
 * The stack (of the engine) of a thread during an interval, or INTERVAL_NO_STACK. A thread that was
 * woken and waits for a CPU still has its switch-out stack. Accepts all intervals of a thread, in
 * order.
 */
uint32_t off_stack_of(struct off_stack *o, const struct interval *i);
void off_stack_fini(struct off_stack *o);

#endif /* D9_PROFILE_SUMS_OFF_STACK_H */
