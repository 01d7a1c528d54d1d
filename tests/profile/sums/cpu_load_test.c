// SPDX-License-Identifier: BSD-2-Clause
/* Activity of CPUs: every number follows from the intervals that the test makes. */
#include <criterion/criterion.h>

#include "profile/sums/cpu_load.h"

TestSuite(cpu_load, .timeout = 60);

static void add(struct cpu_load *l, uint32_t tid, uint32_t cpu, enum interval_state state,
		uint64_t start, uint64_t ns, unsigned int flags)
{
	const struct interval i = { .tid = tid,
				    .cpu = cpu,
				    .state = state,
				    .start = start,
				    .end = start + ns,
				    .flags = flags };

	cpu_load_add(l, &i);
}

Test(cpu_load, runtime_latency_and_migrations_are_counted)
{
	struct cpu_load l = { 0 };
	struct cpu_load_row sum;

	add(&l, 5, 0, INTERVAL_RUNNING, 0, 10, INTERVAL_EDGE_START);
	add(&l, 5, 2, INTERVAL_RUNNABLE, 10, 7, 0);
	add(&l, 5, 2, INTERVAL_RUNNING, 17, 20, 0);
	add(&l, 5, 2, INTERVAL_BLOCKED, 37, 100, 0);
	add(&l, 5, 2, INTERVAL_RUNNING, 137, 1, 0);
	add(&l, 6, 2, INTERVAL_RUNNABLE, 50, 9, 0);
	add(&l, 6, 2, INTERVAL_RUNNING, 59, 2, 0);
	cr_assert_eq(l.cnt, 3);
	cr_expect_eq(l.cpus[0].busy_ns, 10);
	cr_expect_eq(l.cpus[0].switches, 0, "it was there when the trace began");
	cr_expect_not(l.cpus[1].used);
	cr_expect_eq(l.cpus[2].busy_ns, 23);
	cr_expect_eq(l.cpus[2].switches, 3);
	cr_expect_eq(l.cpus[2].migrations, 1, "5 came from CPU 0, once; 6 was new");
	cr_expect_eq(l.cpus[2].wait_ns, 16);
	cr_expect_eq(l.cpus[2].wait_max_ns, 9);
	cr_expect_eq(l.cpus[2].wait_max_tid, 6);
	cr_expect_eq(l.cpus[2].wait_max_start, 50);
	sum = cpu_load_sum(&l);
	cr_expect_eq(sum.busy_ns, 33);
	cr_expect_eq(sum.switches, 3);
	cr_expect_eq(sum.wait_max_ns, 9);
	cpu_load_fini(&l);
}

/* An impossible CPU number must not allocate memory for all below it. */
Test(cpu_load, impossible_cpu_numbers_are_skipped)
{
	struct cpu_load l = { 0 };

	add(&l, 5, TRACE_NONE, INTERVAL_RUNNING, 0, 10, 0);
	add(&l, 5, 1u << 20, INTERVAL_RUNNABLE, 0, 10, 0);
	cr_expect_eq(l.cnt, 0);
	cr_expect_not(cpu_load_sum(&l).used);
	cpu_load_fini(&l);
}

/* A thread was preempted, and then the recording ended on its CPUs. */
Test(cpu_load, latency_on_an_unknown_cpu_counts_in_the_total)
{
	struct cpu_load l = { 0 };
	struct cpu_load_row sum;

	add(&l, 5, 1, INTERVAL_RUNNABLE, 0, 10, 0);
	add(&l, 6, TRACE_NONE, INTERVAL_RUNNABLE, 0, 30, 0);
	sum = cpu_load_sum(&l);
	cr_expect(sum.used);
	cr_expect_eq(sum.wait_ns, 40);
	cr_expect_eq(sum.wait_max_ns, 30);
	cr_expect_eq(sum.wait_max_tid, 6);
	cr_expect_eq(l.unknown_cpu.wait_ns, 30);
	cr_expect_eq(l.cpus[1].wait_ns, 10);
	cr_expect_not(l.cpus[0].used);
	cpu_load_fini(&l);
}
