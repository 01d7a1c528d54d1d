// SPDX-License-Identifier: BSD-2-Clause
/* Which intervals are CPU time, and of which thread. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "profile/sums/cpu_time.h"
#include "tests/profile/app.h"

static void add_time(struct cpu_time *c, uint32_t tid, uint32_t pid, uint32_t cpu, uint64_t ns,
		     enum interval_state state, unsigned int flags)
{
	const struct interval i = { .tid = tid,
				    .pid = pid,
				    .comm = NAMES_NONE,
				    .state = state,
				    .began_as = INTERVAL_RUNNING,
				    .flags = flags,
				    .start = 1000,
				    .end = 1000 + ns,
				    .cpu = cpu };

	cpu_time_add(c, &i, NAMES_NONE);
}

Test(cpu_time, counts_running_time_and_uncertain_time)
{
	struct cpu_time c = { 0 };

	add_time(&c, 1, 1, 0, 10, INTERVAL_RUNNING, 0);
	add_time(&c, 1, 1, 0, 200, INTERVAL_RUNNABLE, 0);
	add_time(&c, 1, 1, 0, 400, INTERVAL_BLOCKED, 0);
	add_time(&c, 1, 1, 0, 3000, INTERVAL_UNKNOWN, INTERVAL_LOSS);
	add_time(&c, 9, 9, 0, 50000, INTERVAL_UNKNOWN, INTERVAL_NEIGHBOUR);
	cr_expect_eq(c.run_ns, 10);
	cr_expect_eq(c.uncertain_ns, 3000);
	cr_expect_eq(c.tasks.rows.cnt, 1);
	cpu_time_fini(&c);
}

/*
 * Runnable, and then switched out: it was switched in during that time. Blocked, and then switched in: it need
 * not have run.
 */
Test(cpu_time, thread_that_left_a_cpu_was_running)
{
	struct cpu_time c = { 0 };
	struct interval i = { .tid = 1,
			      .pid = 1,
			      .state = INTERVAL_UNKNOWN,
			      .began_as = INTERVAL_RUNNABLE,
			      .flags = INTERVAL_HOLE,
			      .end_by = INTERVAL_TO_BLOCK,
			      .end = 70 };

	cpu_time_add(&c, &i, NAMES_NONE);
	cr_expect_eq(c.uncertain_ns, 70);
	i.began_as = INTERVAL_BLOCKED;
	i.end_by = INTERVAL_TO_CPU;
	cpu_time_add(&c, &i, NAMES_NONE);
	cr_expect_eq(c.uncertain_ns, 70);
	cpu_time_fini(&c);
}

Test(cpu_time, uncertain_time_is_at_most_the_possible_time)
{
	struct cpu_time c = { 0 };

	add_time(&c, 1, 1, 0, 10, INTERVAL_RUNNING, 0);
	add_time(&c, 1, 1, 0, 3000, INTERVAL_UNKNOWN, INTERVAL_LOSS);
	cpu_time_bound(&c, 3010);
	cr_expect_eq(c.uncertain_ns, 3000);
	cpu_time_bound(&c, 2010);
	cr_expect_eq(c.uncertain_ns, 2000);
	cpu_time_bound(&c, 9);
	cr_expect_eq(c.uncertain_ns, 0);
	cr_expect_eq(c.run_ns, 10);
	cpu_time_fini(&c);
}

/* Thread 11 has samples and 5 + 7 ns on two CPUs; thread 12 has 100 ns, and no sample. */
Test(cpu_time, joins_rows_of_samples_and_adds_rows_without_samples)
{
	struct names *n = make_names();
	struct names_task late = { .tid = 12,
				   .pid = 30,
				   .comm = name(n, "late"),
				   .exe = NAMES_NONE,
				   .cgroup = NAMES_NONE,
				   .recorded = true };
	struct profile_rows rows = { 0 };
	struct cpu_time c = { 0 };
	struct profile *p;

	profile_new(n, &p);
	add(p, 11, NULL, 0, 3);
	add_time(&c, 11, 10, 0, 5, INTERVAL_RUNNING, 0);
	add_time(&c, 11, 10, 1, 7, INTERVAL_RUNNING, 0);
	add_time(&c, 12, NAMES_NONE, 1, 100, INTERVAL_RUNNING, 0);
	names_task_learn(n, 0, &late);
	profile_flat(p, 1u << PROFILE_TID | 1u << PROFILE_PID, &rows);
	cpu_time_add_to_rows(&c, n, 1u << PROFILE_TID | 1u << PROFILE_PID, &rows);
	cr_assert_eq(rows.cnt, 2);
	cr_expect_eq(rows.v[0].tid, 12);
	cr_expect_eq(rows.v[0].pid, 30, "told later");
	cr_expect_eq(rows.v[0].run_ns, 100);
	cr_expect_eq(rows.v[0].self, 0);
	cr_expect_eq(rows.v[1].tid, 11);
	cr_expect_eq(rows.v[1].run_ns, 12);
	cr_expect_eq(rows.v[1].self, 3);
	free(rows.v);
	profile_flat(p, 1u << PROFILE_CPU, &rows);
	cpu_time_add_to_rows(&c, n, 1u << PROFILE_CPU, &rows);
	cr_assert_eq(rows.cnt, 3, "CPUs 1 and 0, and the samples of no known one");
	cr_expect_eq(rows.v[0].run_ns, 107);
	cr_expect_eq(rows.v[1].run_ns, 5);
	cr_expect_eq(rows.v[2].self, 3);
	free(rows.v);
	cpu_time_fini(&c);
	profile_free(p);
	names_free(n);
}
