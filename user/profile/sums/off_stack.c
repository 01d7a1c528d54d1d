// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of threads off the CPU. Owns the last switch-out stack of each thread. */
#include "profile/sums/off_stack.h"

uint32_t off_stack_of(struct off_stack *o, const struct interval *i)
{
	uint64_t key = (uint64_t)i->part << 32 | i->tid;
	uintptr_t last = (uintptr_t)hmap_get(&o->last, key);

	if (i->state == INTERVAL_RUNNING ||
	    (i->state == INTERVAL_UNKNOWN && !interval_is_unsure(i->flags))) {
		if (last)
			hmap_del(&o->last, key);
		return INTERVAL_NO_STACK;
	}
	if (i->stack == INTERVAL_NO_STACK)
		return last ? (uint32_t)(last - 1) : INTERVAL_NO_STACK;
	hmap_set(&o->last, key, (void *)((uintptr_t)i->stack + 1));
	return i->stack;
}

void off_stack_fini(struct off_stack *o)
{
	hmap_fini(&o->last);
}
