// SPDX-License-Identifier: BSD-2-Clause
/* When counted work must pause, and when it must end. */
#include <criterion/criterion.h>
#include <errno.h>

#include "symbol/budget.h"

static const struct budget_max plenty = {
	.cpu_ns = UINT64_MAX,
	.mem = UINT64_MAX,
	.entries = UINT64_MAX,
};

/* Uses CPU time until step() returns something other than 0. */
static int work_until_stopped(struct budget *b)
{
	int err = 0;

	budget_enter(b);
	while (!err)
		err = budget_step(b, 1);
	budget_leave(b);
	return err;
}

Test(budget, pauses_at_the_end_of_a_slice_and_continues_in_the_next)
{
	struct budget b;
	uint64_t before;

	budget_init(&b, &plenty);
	budget_slice(&b, budget_clock_ns() + 2000000);
	cr_expect_eq(work_until_stopped(&b), -EAGAIN);
	cr_expect_geq(budget_clock_ns(), b.slice_end);
	before = b.entries;
	budget_slice(&b, budget_clock_ns() + 2000000);
	cr_expect_eq(work_until_stopped(&b), -EAGAIN);
	cr_expect_gt(b.entries, before);
	cr_expect_null(budget_reached(&b));
}

Test(budget, pauses_after_each_step_if_the_slice_is_0)
{
	struct budget b;

	budget_init(&b, &plenty);
	budget_slice(&b, 0);
	budget_enter(&b);
	cr_expect_eq(budget_step(&b, 1), -EAGAIN);
	cr_expect_eq(budget_work(&b, 1), -EAGAIN);
	budget_slice(&b, UINT64_MAX);
	cr_expect_eq(budget_step(&b, 1), 0);
	cr_expect_eq(b.entries, 2u);
}

Test(budget, ends_permanently_when_its_time_is_used_up)
{
	struct budget_max max = plenty;
	struct budget b;

	max.cpu_ns = 3000000;
	budget_init(&b, &max);
	cr_expect_eq(work_until_stopped(&b), -EDQUOT);
	cr_expect_str_eq(budget_reached(&b), "time");
	cr_expect_gt(b.cpu_ns, max.cpu_ns);
	cr_expect_eq(budget_step(&b, 1), -EDQUOT);
	cr_expect_eq(budget_work(&b, 1), -EDQUOT);
}

/* CPU time of the thread between leave and enter belongs to other work. */
Test(budget, counts_only_time_between_enter_and_leave)
{
	struct budget b, other;
	uint64_t used;

	budget_init(&b, &plenty);
	budget_init(&other, &plenty);
	budget_slice(&other, budget_clock_ns() + 5000000);
	budget_enter(&b);
	budget_leave(&b);
	used = b.cpu_ns;
	work_until_stopped(&other);
	budget_enter(&b);
	budget_leave(&b);
	cr_expect_lt(b.cpu_ns - used, 4000000u);
	cr_expect_geq(other.cpu_ns, 4000000u);
}

Test(budget, ends_at_its_number_of_entries)
{
	struct budget_max max = plenty;
	struct budget b;

	max.entries = 10;
	budget_init(&b, &max);
	budget_enter(&b);
	cr_expect_eq(budget_step(&b, 10), 0);
	cr_expect_eq(budget_step(&b, 1), -EDQUOT);
	cr_expect_str_eq(budget_reached(&b), "entries");
	/* the first limit that was reached stays the reported one */
	cr_expect_eq(budget_exhaust(&b, BUDGET_MEMORY), -EDQUOT);
	cr_expect_str_eq(budget_reached(&b), "entries");
}

Test(budget, reserves_memory_up_to_its_limit_and_again_after_a_release)
{
	struct budget_max max = plenty;
	struct budget b;

	max.mem = 100;
	budget_init(&b, &max);
	cr_expect_eq(budget_reserve(&b, 60), 0);
	cr_expect_eq(budget_reserve(&b, 41), -ENOMEM);
	cr_expect_eq(budget_reserve(&b, UINT64_MAX), -ENOMEM);
	cr_expect_eq(b.mem, 60u);
	budget_give_back(&b, 30);
	cr_expect_eq(budget_reserve(&b, 70), 0);
	cr_expect_null(budget_reached(&b));
	budget_give_back(&b, 1000);
	cr_expect_eq(b.mem, 0u);
}

Test(budget, arrays_grow_up_to_the_memory_limit)
{
	struct budget_max max = plenty;
	size_t cap = 0, cnt = 0;
	void *array = NULL;
	struct budget b;

	max.mem = 4096;
	budget_init(&b, &max);
	while (!budget_grow(&b, &array, &cap, cnt, sizeof(uint64_t)))
		((uint64_t *)array)[cnt++] = 1;
	cr_expect_eq(cnt, cap);
	cr_expect_leq(cap * sizeof(uint64_t), 4096u);
	cr_expect_gt(cap * sizeof(uint64_t), 2048u);
	cr_expect_eq(b.mem, cap * sizeof(uint64_t));
	budget_free(&b, array, cap, sizeof(uint64_t));
	cr_expect_eq(b.mem, 0u);
}
