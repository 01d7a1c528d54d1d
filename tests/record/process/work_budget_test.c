// SPDX-License-Identifier: BSD-2-Clause
/* Which process is charged for which time, and which is removed if there are more processes than entries. */
#include "record/process/work_budget.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000ULL
#define PERIOD (100 * MS)

static struct work_budget *b;
static uint64_t now_ns;

/* Processes of a hundred share a user. */
static uint64_t owner_of(pid_t pid)
{
	return (uint64_t)pid / 100 + 10;
}

static uint64_t get_now(void)
{
	return now_ns;
}

static void setup(void)
{
	now_ns = 1000 * PERIOD;
	b = work_budget_new(&(struct work_budget_cfg){ owner_of, get_now });
}

static void teardown(void)
{
	work_budget_free(b);
}

TestSuite(work_budget, .init = setup, .fini = teardown, .timeout = 60);

Test(work_budget, most_expensive_processes_come_first_with_their_kinds)
{
	const struct work_cost *top[3];

	work_budget_charge(b, 10, WORK_COPIES, 2 * MS);
	work_budget_charge(b, 11, WORK_LISTS, 5 * MS);
	work_budget_charge(b, 12, WORK_TABLES, 3 * MS);
	work_budget_charge(b, 13, WORK_SYMBOLS, 4 * MS);
	work_budget_charge(b, 10, WORK_SYMBOLS, 4 * MS);
	work_budget_charge(b, 10, WORK_COPIES, 1);
	cr_assert_eq(work_budget_top(b, top, 3), 3);
	cr_expect_eq(top[0]->pid, 10);
	cr_expect_eq(top[0]->ns[WORK_COPIES], 2 * MS + 1);
	cr_expect_eq(top[0]->ns[WORK_SYMBOLS], 4 * MS);
	cr_expect_eq(top[0]->ns[WORK_LISTS] + top[0]->ns[WORK_TABLES], 0);
	cr_expect_eq(work_cost_sum(top[0]), 6 * MS + 1);
	cr_expect_eq(top[1]->pid, 11);
	cr_expect_eq(top[2]->pid, 13);
}

Test(work_budget, cheap_processes_and_pid_0_are_not_included)
{
	const struct work_cost *top[3];

	work_budget_charge(b, 10, WORK_LISTS, MS - 1);
	work_budget_charge(b, 11, WORK_LISTS, MS);
	work_budget_charge(b, 0, WORK_LISTS, 9 * MS);
	cr_assert_eq(work_budget_top(b, top, 3), 1);
	cr_expect_eq(top[0]->pid, 11);
}

/* A process that forks all the time takes entries, but none of expensive processes. */
Test(work_budget, expensive_processes_survive_any_number_of_cheap_processes)
{
	const struct work_cost *top[3];

	work_budget_charge(b, 7, WORK_COPIES, 10 * MS);
	work_budget_charge(b, 8, WORK_COPIES, 20 * MS);
	for (uint32_t pid = 100; pid < 100000; pid++)
		work_budget_charge(b, pid, WORK_LISTS, MS);
	work_budget_charge(b, 7, WORK_COPIES, 1);
	cr_assert_eq(work_budget_top(b, top, 3), 3);
	cr_expect_eq(top[0]->pid, 8);
	cr_expect_eq(work_cost_sum(top[1]), 10 * MS + 1);
}

static void give_name(void *ctx, uint32_t pid, char comm[16])
{
	unsigned int *calls = ctx;

	++*calls;
	snprintf(comm, 16, "p%u", pid);
}

Test(work_budget, names_are_requested_once_per_charge_and_kept)
{
	const struct work_cost *top[3];
	unsigned int calls = 0;

	work_budget_charge(b, 10, WORK_LISTS, MS - 1);
	work_budget_charge(b, 11, WORK_LISTS, MS);
	work_budget_name(b, give_name, &calls);
	work_budget_name(b, give_name, &calls);
	cr_expect_eq(calls, 1);
	cr_assert_eq(work_budget_top(b, top, 3), 1);
	cr_expect_str_eq(top[0]->comm, "p11");
	work_budget_charge(b, 10, WORK_LISTS, 1);
	work_budget_name(b, give_name, &calls);
	cr_expect_eq(calls, 2);
}

/* The time during which a thread lost its CPU is not work. */
Test(work_budget, only_a_part_of_a_long_time_is_charged)
{
	const struct work_cost *top[1];

	work_budget_charge(b, 10, WORK_COPIES, MS);
	work_budget_charge_since(b, 10, WORK_COPIES, now_ns - 5000 * MS);
	cr_assert_eq(work_budget_top(b, top, 1), 1);
	cr_expect_gt(work_cost_sum(top[0]), MS);
	cr_expect_lt(work_cost_sum(top[0]), 2 * MS);
}

/* ---- limits ----------------------------------------------------------------------------------------- */

static bool may(uint32_t pid)
{
	return work_budget_may(b, pid, WORK_COPIES);
}

Test(work_budget, single_target_has_no_limit)
{
	work_budget_charge(b, 1, WORK_COPIES, 5000 * MS);
	cr_expect(may(1));
}

Test(work_budget, process_above_its_share_waits_while_the_recorder_is_loaded)
{
	work_budget_limit(b);
	work_budget_charge(b, 1, WORK_LISTS, 9 * MS);
	cr_expect(may(1));
	work_budget_charge(b, 1, WORK_COPIES, 4 * MS);
	cr_expect_not(may(1));
	cr_expect_not(work_budget_may(b, 1, WORK_LISTS));
	cr_expect(work_budget_may(b, 1, WORK_TABLES), "helpers are another share");
	cr_expect(may(201), "another process and user");
	now_ns += PERIOD;
	cr_expect(may(1), "the recorder is no longer loaded");
}

/* If no process overloads the recorder, a process with much work is not limited. */
Test(work_budget, below_a_tenth_of_a_cpu_there_are_no_limits)
{
	work_budget_limit(b);
	for (int i = 0; i < 100; i++, now_ns += PERIOD) {
		cr_expect(may(1), "period %d", i);
		work_budget_charge(b, 1, WORK_COPIES, 9 * MS);
	}
}

static uint64_t use_all(uint32_t pid, uint64_t step, int periods)
{
	uint64_t used = 0;

	for (int i = 0; i < periods; i++, now_ns += PERIOD)
		for (uint64_t ns = 0; ns < PERIOD && may(pid); ns += step, used += step)
			work_budget_charge(b, pid, WORK_COPIES, step);
	return used;
}

Test(work_budget, hog_gets_a_tenth_of_a_cpu_and_pays_a_single_long_task_only_for_a_while)
{
	work_budget_limit(b);
	cr_expect_lt(use_all(1, MS / 10, 100), 100 * 11 * MS);
	work_budget_charge(b, 1, WORK_LISTS, 60000 * MS);
	work_budget_charge(b, 2, WORK_LISTS, 1);
	cr_expect_not(may(1));
	now_ns += 40 * PERIOD;
	work_budget_charge(b, 501, WORK_LISTS, 11 * MS);
	cr_expect(may(1), "four seconds later");
}

/* Fifty processes of a user, each below the share of a process. */
Test(work_budget, processes_of_a_user_share_its_limit)
{
	uint64_t used = 0;

	work_budget_limit(b);
	for (int i = 0; i < 100; i++, now_ns += PERIOD) {
		for (uint32_t pid = 1; pid <= 50; pid++)
			for (int k = 0; k < 12 && may(pid); k++, used += MS / 10)
				work_budget_charge(b, pid, WORK_COPIES, MS / 10);
		cr_expect(may(60), "one of its processes costs little");
		work_budget_charge(b, 60, WORK_COPIES, MS / 10);
		for (int k = 0; k < 10; k++)
			if (may(201))
				work_budget_charge(b, 201, WORK_COPIES, MS / 10);
			else
				cr_expect_fail("an innocent process is limited in period %d", i);
	}
	cr_expect_lt(used, 100 * 50 * 2 * MS / 10 + 40 * MS, "%llu", (unsigned long long)used);
}

/* --max-overhead: also of a single target */
Test(work_budget, cap_limits_all_processes_together)
{
	uint64_t used = 0;

	work_budget_cap(b, 200 * MS);
	for (int i = 0; i < 100; i++, now_ns += PERIOD)
		for (uint32_t pid = 1; pid <= 50; pid++)
			if (may(pid)) {
				work_budget_charge(b, pid, WORK_COPIES, MS / 2);
				used += MS / 2;
			}
	cr_expect_leq(used, 10 * 25 * MS + 6 * MS, "an eighth of it in ten seconds");
	cr_expect_geq(used, 10 * 25 * MS - 6 * MS);
	cr_expect(work_budget_may(b, 1, WORK_TABLES));
	work_budget_charge(b, 1, WORK_SYMBOLS, 3 * MS);
	cr_expect_not(work_budget_may(b, 2, WORK_TABLES));
}

Test(work_budget, helper_time_delays_only_processes_that_used_much_of_it)
{
	work_budget_limit(b);
	work_budget_charge(b, 1, WORK_TABLES, 150 * MS);
	cr_expect(work_budget_may(b, 1, WORK_SYMBOLS));
	work_budget_charge(b, 1, WORK_SYMBOLS, 100 * MS);
	cr_expect_not(work_budget_may(b, 1, WORK_TABLES));
	cr_expect(work_budget_may(b, 2, WORK_TABLES));
	cr_expect(may(1));
}

/* A storm of metadata records must not keep others from their lists. */
Test(work_budget, needed_work_does_not_count_against_the_cap)
{
	const struct work_cost *top[1];

	work_budget_cap(b, 200 * MS);
	for (int i = 0; i < 1000; i++)
		work_budget_charge_needed(b, 1, WORK_LISTS, now_ns - 50000);
	cr_expect(work_budget_may(b, 0, WORK_LISTS));
	cr_assert_eq(work_budget_top(b, top, 1), 1);
	cr_expect_eq(work_cost_sum(top[0]), 50 * MS);
	work_budget_charge_since(b, 1, WORK_LISTS, now_ns - 50000);
	work_budget_charge(b, 1, WORK_LISTS, 10 * MS);
	cr_expect_not(work_budget_may(b, 0, WORK_LISTS));
}

/* A single file may take a helper seconds. */
Test(work_budget, helpers_wait_until_their_average_is_below_the_cap)
{
	int periods = 0;

	work_budget_cap(b, 200 * MS);
	work_budget_charge(b, 1, WORK_SYMBOLS, 250 * MS);
	for (; !work_budget_may(b, 2, WORK_TABLES); now_ns += PERIOD)
		periods++;
	cr_expect_eq(periods, 100, "%d", periods);
}

static unsigned int owner_calls;

static uint64_t count_owner(pid_t pid)
{
	owner_calls++;
	return owner_of(pid);
}

/* Reading an owner costs more than the records of a process that forks and ends. */
Test(work_budget, owners_of_cheap_processes_are_not_read)
{
	work_budget_free(b);
	b = work_budget_new(&(struct work_budget_cfg){ count_owner, get_now });
	work_budget_limit(b);
	for (uint32_t pid = 1000; pid < 2000; pid++)
		for (int i = 0; i < 8; i++)
			work_budget_charge(b, pid, WORK_LISTS, 5000);
	cr_expect_eq(owner_calls, 0);
	work_budget_charge(b, 2000, WORK_LISTS, MS);
	work_budget_charge(b, 2000, WORK_LISTS, MS);
	cr_expect_eq(owner_calls, 1);
}
