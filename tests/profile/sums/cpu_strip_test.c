// SPDX-License-Identifier: BSD-2-Clause
/* Columns of time: every number follows from the intervals that the test itself makes. */
#include <criterion/criterion.h>

#include "profile/sums/cpu_strip.h"

TestSuite(cpu_strip, .timeout = 60);

static void run(struct cpu_strip *s, uint32_t tid, uint32_t cpu, uint64_t start, uint64_t end)
{
	const struct interval i = { .tid = tid,
				    .cpu = cpu,
				    .comm = tid,
				    .state = INTERVAL_RUNNING,
				    .start = start,
				    .end = end };

	cpu_strip_add(s, &i);
}

static void expect(const struct cpu_strip *s, uint32_t cpu, uint32_t col, uint32_t tid,
		   uint64_t busy)
{
	uint64_t ns;

	cr_expect_eq(cpu_strip_top(s, cpu, col, &ns), tid, "CPU %u, column %u", cpu, col);
	cr_expect_eq(ns, busy, "CPU %u, column %u: %zu", cpu, col, (size_t)ns);
}

Test(cpu_strip, thread_that_ran_longest_in_a_column_is_shown)
{
	struct cpu_strip s = { .cols = 4, .start = 100 };

	run(&s, 5, 0, 100, 100 + 1024);
	run(&s, 6, 0, 100 + 1024, 100 + 1500);
	run(&s, 5, 0, 100 + 1500, 100 + 1600);
	run(&s, 7, 1, 100 + 4000, 100 + 4096);
	cpu_strip_finish(&s);
	cr_expect_eq(s.width_ns, 1024, "all that is needed, to the nanosecond");
	cr_expect_eq(s.cpus, 2);
	expect(&s, 0, 0, 5, 1024);
	expect(&s, 0, 1, 6, 576);
	expect(&s, 0, 2, TRACE_NONE, 0);
	expect(&s, 1, 3, 7, 96);
	expect(&s, 1, 0, TRACE_NONE, 0);
	cr_assert_eq(s.thread_cnt, 3);
	cr_expect_eq(s.threads[0].tid, 5);
	cr_expect_eq(s.threads[0].ns, 1124);
	cpu_strip_fini(&s);
}

Test(cpu_strip, columns_become_wider_over_time)
{
	struct cpu_strip s = { .cols = 4, .start = 0 };

	run(&s, 5, 0, 0, 1024);
	run(&s, 6, 0, 1024, 2048 + 10);
	run(&s, 5, 0, 2058, 4097);
	cpu_strip_finish(&s);
	cr_expect_eq(s.width_ns, 2048);
	expect(&s, 0, 0, 5, 2048);
	expect(&s, 0, 1, 5, 2048);
	expect(&s, 0, 2, 5, 1);
	cpu_strip_fini(&s);
}

/* Sums stay constant, for any length of the trace and its intervals. */
Test(cpu_strip, no_time_is_lost)
{
	struct cpu_strip s = { .cols = 10, .start = 1000 };
	uint64_t sum = 0, ns, at = 1000;

	for (uint32_t k = 1; k < 2000; k++) {
		run(&s, k % 7 + 1, k % 3, at, at + (uint64_t)k * k);
		sum += (uint64_t)k * k;
		at += (uint64_t)k * k / 2;
	}
	cpu_strip_finish(&s);
	for (uint32_t cpu = 0; cpu < s.cpus; cpu++) {
		for (uint32_t col = 0; col < s.cols; col++) {
			cpu_strip_top(&s, cpu, col, &ns);
			sum -= ns;
		}
	}
	cr_expect_eq(sum, 0);
	cpu_strip_fini(&s);
}

Test(cpu_strip, impossible_times_and_cpus_are_ignored)
{
	struct cpu_strip s = { .cols = 4096, .start = 10 };
	uint64_t ns;

	run(&s, 5, 1u << 20, 20, 30);
	run(&s, 5, 0, 1, 10);
	cr_expect_eq(s.cnt, 0);
	run(&s, 5, 0, 0, UINT64_MAX);
	cpu_strip_finish(&s);
	cr_expect_eq(cpu_strip_top(&s, 0, 0, &ns), 5);
	cr_expect_eq(ns, s.width_ns);
	cpu_strip_fini(&s);
}
