// SPDX-License-Identifier: BSD-2-Clause
/* Who ran on a CPU, as far back as is kept. */
#include "profile/sched/cpu_log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(cpu_log, .timeout = 60);

static char text[1024];
static uint64_t reported_ns;

/* "5:100-150 ", and "5:100-150+ " for an open slice. */
static void print_slice(void *ctx, uint32_t tid, uint64_t from, uint64_t to, bool open)
{
	size_t n = strlen(text);

	(void)ctx;
	reported_ns += to - from;
	snprintf(text + n, sizeof(text) - n, "%d:%d-%d%s ", tid == CPU_LOG_NOBODY ? -1 : (int)tid,
		 (int)from, (int)to, open ? "+" : "");
}

static void expect(const struct cpu_log *log, uint32_t cpu, uint64_t from, uint64_t to,
		   const char *want)
{
	text[0] = '\0';
	reported_ns = 0;
	cpu_log_each(log, cpu, from, to, print_slice, NULL);
	cr_expect_str_eq(text, want, "%s", text);
	cr_expect_eq(reported_ns, to - from);
}

Test(cpu_log, returns_each_slice_latest_first)
{
	struct cpu_log log = { 0 };

	cr_expect_eq(cpu_log_switch(&log, 1, 100, 0, 5, true), CPU_LOG_NOBODY);
	cr_expect_eq(cpu_log_switch(&log, 1, 150, 5, 6, true), 5);
	cr_expect_eq(cpu_log_switch(&log, 1, 170, 6, 0, true), 6);
	cr_expect_eq(cpu_log_on(&log, 1), 0);
	cr_expect_eq(cpu_log_on(&log, 7), CPU_LOG_NOBODY);
	expect(&log, 1, 120, 180, "0:170-180+ 6:150-170 5:120-150 ");
	expect(&log, 1, 150, 170, "6:150-170 ");
	expect(&log, 1, 90, 110, "5:100-110 -1:90-100 ");
	expect(&log, 0, 90, 110, "-1:90-110 ");
	expect(&log, 7, 90, 110, "-1:90-110 ");
	cpu_log_fini(&log);
}

Test(cpu_log, slice_between_switches_that_do_not_match_is_unknown)
{
	struct cpu_log log = { 0 };

	cpu_log_switch(&log, 0, 100, 0, 5, true);
	cr_expect_eq(cpu_log_switch(&log, 0, 150, 6, 7, true), 5);
	cr_expect_eq(cpu_log_switch(&log, 0, 170, 7, 8, false), 7);
	/* a step back in time is ignored */
	cr_expect_eq(cpu_log_switch(&log, 0, 165, 8, 9, true), 8);
	expect(&log, 0, 100, 200, "9:170-200+ -1:150-170 -1:100-150 ");
	cpu_log_fini(&log);
}

Test(cpu_log, thread_may_get_another_number)
{
	struct cpu_log log = { 0 };

	cpu_log_rename(&log, 0, 5, 6);
	cpu_log_switch(&log, 0, 100, 0, 5, true);
	cpu_log_rename(&log, 0, 7, 8);
	cpu_log_rename(&log, 1, 5, 8);
	cpu_log_rename(&log, 0, 5, 6);
	cr_expect_eq(cpu_log_switch(&log, 0, 150, 6, 7, true), 6);
	expect(&log, 0, 100, 200, "7:150-200+ 6:100-150 ");
	cpu_log_fini(&log);
}

/* perf bench sched pipe on one CPU */
Test(cpu_log, reaches_half_a_second_at_100000_switches_per_second)
{
	struct cpu_log log = { 0 };

	for (uint32_t i = 0; i <= 50000; i++)
		cpu_log_switch(&log, 0, i * 10000, i, i + 1, true);
	expect(&log, 0, 10000, 25000, "3:20000-25000 2:10000-20000 ");
	cpu_log_fini(&log);
}

Test(cpu_log, drops_old_slices)
{
	struct cpu_log log = { 0 };
	uint32_t n = CPU_LOG_SLICES + 10;

	for (uint32_t i = 0; i < n; i++)
		cpu_log_switch(&log, 0, i, i, i + 1, true);
	expect(&log, 0, 5, 12, "12:11-12 11:10-11 -1:5-10 ");
	cr_expect_eq(cpu_log_switch(&log, CPU_LOG_CPUS, 1, 1, 2, true), CPU_LOG_NOBODY);
	expect(&log, CPU_LOG_CPUS, 1, 2, "-1:1-2 ");
	cpu_log_fini(&log);
}

Test(cpu_log, slices_before_a_beginning_are_unknown)
{
	struct cpu_log log = { 0 };

	cr_expect_eq(cpu_log_on(&log, 0), CPU_LOG_NOBODY);
	cpu_log_switch(&log, 0, 100, 5, 6, true);
	cpu_log_begin(&log, 0, 150, 7);
	cr_expect_eq(cpu_log_on(&log, 0), 7);
	cr_expect_eq(cpu_log_switch(&log, 0, 170, 7, 8, true), 7);
	expect(&log, 0, 100, 180, "8:170-180+ 7:150-170 -1:100-150 ");
	cpu_log_begin(&log, 0, 190, CPU_LOG_NOBODY);
	expect(&log, 0, 160, 200, "-1:190-200+ -1:170-190 7:160-170 ");
	cpu_log_begin(&log, CPU_LOG_CPUS, 190, 7);
	cr_expect_eq(cpu_log_on(&log, CPU_LOG_CPUS), CPU_LOG_NOBODY);
	cpu_log_fini(&log);
}

Test(cpu_log, thread_of_a_beginning_may_come_from_the_next_switch)
{
	struct cpu_log log = { 0 };

	cpu_log_begin(&log, 0, 100, CPU_LOG_LATER);
	expect(&log, 0, 90, 120, "-1:100-120+ -1:90-100 ");
	cr_expect_eq(cpu_log_switch(&log, 0, 130, 5, 6, true), CPU_LOG_NOBODY);
	expect(&log, 0, 100, 140, "6:130-140+ 5:100-130 ");
	cpu_log_begin(&log, 0, 150, CPU_LOG_LATER);
	cpu_log_switch(&log, 0, 160, 7, 8, false);
	expect(&log, 0, 150, 170, "8:160-170+ -1:150-160 ");
	/* no switch out before the next beginning */
	cpu_log_begin(&log, 0, 180, CPU_LOG_LATER);
	cpu_log_begin(&log, 0, 190, 9);
	expect(&log, 0, 180, 200, "9:190-200+ -1:180-190 ");
	cpu_log_fini(&log);
}
