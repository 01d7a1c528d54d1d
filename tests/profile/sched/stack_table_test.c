// SPDX-License-Identifier: BSD-2-Clause
/* Stacks by number. */
#include "profile/sched/stack_table.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/alloc.h"

TestSuite(stack_table, .timeout = 60);

Test(stack_table, keeps_each_stack_once)
{
	const uint64_t a[] = { 1, 2, 3 }, b[] = { 1, 2 }, c[] = { 1, 2, 4 };
	struct stack_table t = { 0 };
	const uint64_t *frames;
	uint32_t cnt;

	cr_expect_eq(stack_table_add(&t, a, 3), 0);
	cr_expect_eq(stack_table_add(&t, b, 2), 1);
	cr_expect_eq(stack_table_add(&t, NULL, 0), 2);
	cr_expect_eq(stack_table_add(&t, c, 3), 3);
	cr_expect_eq(stack_table_add(&t, a, 3), 0);
	cr_expect_eq(stack_table_add(&t, NULL, 0), 2);
	frames = stack_table_get(&t, 3, &cnt);
	cr_assert_eq(cnt, 3);
	cr_expect_arr_eq(frames, c, sizeof(c));
	cr_expect_null(stack_table_get(&t, 2, &cnt), "an empty one is nowhere");
	cr_expect_eq(cnt, 0);
	cr_expect_null(stack_table_get(&t, 4, &cnt));
	cr_expect_null(stack_table_get(&t, UINT32_MAX, &cnt));
	stack_table_fini(&t);
}

Test(stack_table, truncates_stacks_that_are_too_deep)
{
	uint64_t *deep = xcalloc(STACK_TABLE_DEPTH_MAX + 5, sizeof(*deep));
	struct stack_table t = { 0 };
	uint32_t cnt;

	cr_expect_eq(stack_table_add(&t, deep, STACK_TABLE_DEPTH_MAX + 5), 0);
	deep[STACK_TABLE_DEPTH_MAX] = 1;
	cr_expect_eq(stack_table_add(&t, deep, STACK_TABLE_DEPTH_MAX + 1), 0);
	stack_table_get(&t, 0, &cnt);
	cr_expect_eq(cnt, STACK_TABLE_DEPTH_MAX);
	stack_table_fini(&t);
	free(deep);
}
