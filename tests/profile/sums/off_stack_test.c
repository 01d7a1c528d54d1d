// SPDX-License-Identifier: BSD-2-Clause
/* The stack of a thread while it does not run. */
#include <criterion/criterion.h>

#include "profile/sums/off_stack.h"

static uint32_t at(struct off_stack *o, uint32_t tid, enum interval_state state, uint32_t stack)
{
	const struct interval i = { .tid = tid, .state = state, .stack = stack };

	return off_stack_of(o, &i);
}

Test(off_stack, woken_thread_keeps_the_stack_where_it_blocked)
{
	struct off_stack o = { 0 };

	cr_expect_eq(at(&o, 1, INTERVAL_RUNNABLE, INTERVAL_NO_STACK), INTERVAL_NO_STACK);
	cr_expect_eq(at(&o, 1, INTERVAL_BLOCKED, 7), 7);
	cr_expect_eq(at(&o, 2, INTERVAL_RUNNABLE, INTERVAL_NO_STACK), INTERVAL_NO_STACK);
	cr_expect_eq(at(&o, 1, INTERVAL_RUNNABLE, INTERVAL_NO_STACK), 7);
	off_stack_fini(&o);
}

Test(off_stack, thread_off_cpu_without_a_wakeup_keeps_its_last_stack)
{
	struct off_stack o = { 0 };
	struct interval i = { .tid = 1, .flags = INTERVAL_UNSURE, .stack = 7 };

	cr_expect_eq(off_stack_of(&o, &i), 7);
	i.flags |= INTERVAL_LOSS;
	cr_expect_eq(off_stack_of(&o, &i), INTERVAL_NO_STACK);
	off_stack_fini(&o);
}

Test(off_stack, thread_that_ran_has_no_off_cpu_stack)
{
	struct off_stack o = { 0 };

	at(&o, 1, INTERVAL_BLOCKED, 7);
	cr_expect_eq(at(&o, 1, INTERVAL_RUNNING, INTERVAL_NO_STACK), INTERVAL_NO_STACK);
	cr_expect_eq(at(&o, 1, INTERVAL_RUNNABLE, INTERVAL_NO_STACK), INTERVAL_NO_STACK);
	at(&o, 1, INTERVAL_BLOCKED, 8);
	cr_expect_eq(at(&o, 1, INTERVAL_UNKNOWN, INTERVAL_NO_STACK), INTERVAL_NO_STACK);
	cr_expect_eq(at(&o, 1, INTERVAL_RUNNABLE, INTERVAL_NO_STACK), INTERVAL_NO_STACK);
	off_stack_fini(&o);
}
