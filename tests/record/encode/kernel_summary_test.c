// SPDX-License-Identifier: BSD-2-Clause
/* Tables as filled by the programs, and the events made from them. */
#include "record/encode/kernel_summary.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/emit.h"
#include "record/capture/capture_summary.h"
#include "tests/record/support.h"

TestSuite(kernel_summary, .timeout = 60);

#define MS 1000000ULL

enum { CPUS = 2 };

struct bench {
	struct rig rig;
	uint32_t active;
	struct capture_summary tables;
	struct kernel_summary *summary;
};

static void bench_init(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	rig_init(&b->rig);
	b->tables = (struct capture_summary){
		.rows = calloc(2 * CPUS * PROF_SUMMARY_TABLE, sizeof(struct prof_summary_row)),
		.cpu_cnt = CPUS,
		.active = &b->active,
	};
	b->summary = kernel_summary_new(&b->tables, 1000 * MS, 5);
	kernel_summary_begin_segment(b->summary, b->rig.emit);
}

static void bench_fini(struct bench *b)
{
	kernel_summary_free(b->summary);
	free(b->tables.rows);
	rig_fini(&b->rig);
}

static struct prof_summary_row *put(struct bench *b, uint32_t cpu, uint32_t at, uint32_t tgid,
				    enum prof_summary_kind kind, uint32_t cnt, uint64_t ns)
{
	struct prof_summary_row *row = &capture_summary_table(&b->tables, b->active, cpu)[at];

	row->tgid = tgid;
	snprintf(row->comm, sizeof(row->comm), "p%u", tgid);
	row->hists[kind].sum_ns += cnt * ns;
	if (ns > row->hists[kind].max_ns)
		row->hists[kind].max_ns = ns;
	row->hists[kind].buckets[63 - __builtin_clzll(ns)] += cnt;
	return row;
}

static const char *end_period(struct bench *b, uint64_t now)
{
	cr_assert_eq(kernel_summary_step(b->summary, now), 0);
	cr_assert_eq(kernel_summary_step(b->summary, now + 100 * MS), 0);
	return rig_text(&b->rig, "SchedSummary");
}

Test(kernel_summary, rows_of_a_process_are_summed_over_all_cpus)
{
	struct bench b;

	bench_init(&b);
	put(&b, 0, 3, 5000007, PROF_SUMMARY_WAIT, 2, 5000)->unknown = 1;
	put(&b, 1, 200, 5000007, PROF_SUMMARY_WAIT, 1, 100);
	put(&b, 1, 200, 5000007, PROF_SUMMARY_RUN, 4, 64)->involuntary = 3;
	cr_expect_str_eq(
		end_period(&b, 1000 * MS + 5),
		"1000000005 SchedSummary pid=5000007 comm=\"p5000007\" kind=0 count=3 sum_ns=10100 "
		"max_ns=5000 period_ns=1000000000 involuntary=0 unknown=1 "
		"log2_ns={6:1,12:2}\n"
		"1000000005 SchedSummary pid=5000007 comm=\"p5000007\" kind=2 count=4 sum_ns=256 "
		"max_ns=64 period_ns=1000000000 involuntary=3 unknown=0 log2_ns={6:4}\n");
	bench_fini(&b);
}

Test(kernel_summary, rows_are_written_once_and_never_too_early)
{
	struct bench b;

	bench_init(&b);
	put(&b, 0, 0, 5000009, PROF_SUMMARY_RUN, 1, 8);
	cr_expect_str_eq(end_period(&b, 800 * MS), "");
	cr_assert_eq(kernel_summary_step(b.summary, 1100 * MS), 0);
	/* a program that had begun before the tables changed */
	b.active = !b.active;
	put(&b, 0, 0, 5000009, PROF_SUMMARY_RUN, 1, 8);
	b.active = !b.active;
	cr_assert_eq(kernel_summary_step(b.summary, 1150 * MS), 0);
	cr_expect_str_eq(rig_text(&b.rig, "SchedSummary"), "", "its programs may still write");
	put(&b, 1, 0, 5000009, PROF_SUMMARY_RUN, 5, 8);
	cr_assert_eq(kernel_summary_step(b.summary, 1200 * MS), 0);
	cr_expect_not_null(strstr(rig_text(&b.rig, "SchedSummary"), "count=2 "));
	cr_assert_eq(kernel_summary_finish(b.summary, 1500 * MS), 0);
	cr_expect_str_eq(
		rig_text(&b.rig, "SchedSummary"),
		"1500000000 SchedSummary pid=5000009 comm=\"p5000009\" kind=2 count=5 sum_ns=40 "
		"max_ns=8 period_ns=400000000 involuntary=0 unknown=0 log2_ns={3:5}\n");
	cr_assert_eq(kernel_summary_finish(b.summary, 1600 * MS), 0);
	cr_expect_str_eq(rig_text(&b.rig, "SchedSummary"), "");
	bench_fini(&b);
}

Test(kernel_summary, others_have_a_row_without_a_name)
{
	struct bench b;

	bench_init(&b);
	put(&b, 0, PROF_SUMMARY_ROWS, 0, PROF_SUMMARY_BLOCKED, 1, 16);
	put(&b, 1, PROF_SUMMARY_ROWS, 0, PROF_SUMMARY_BLOCKED, 1, 16);
	cr_expect_str_eq(
		end_period(&b, 1000 * MS + 5),
		"1000000005 SchedSummary pid=4294967295 comm=\"\" kind=1 count=2 sum_ns=32 "
		"max_ns=16 period_ns=1000000000 involuntary=0 unknown=0 log2_ns={4:2}\n");
	bench_fini(&b);
}

Test(kernel_summary, process_is_announced_once_and_again_with_another_name)
{
	struct bench b;

	bench_init(&b);
	for (uint64_t i = 1; i <= 3; i++) {
		struct prof_summary_row *row = put(&b, 0, 0, 5000009, PROF_SUMMARY_RUN, 1, 8);

		if (i == 3)
			strcpy(row->comm, "new");
		cr_assert_eq(kernel_summary_step(b.summary, 2000 * i * MS), 0);
		cr_assert_eq(kernel_summary_step(b.summary, (2000 * i + 100) * MS), 0);
	}
	cr_expect_str_eq(
		rig_text(&b.rig, "TaskEvent"),
		"2000000000 TaskEvent pid=5000009 tid=5000009 ppid=0 comm=\"p5000009\" exe=\"\" cgroup=\"\"\n"
		"6000000000 TaskEvent pid=5000009 tid=5000009 ppid=0 comm=\"new\" exe=\"\" cgroup=\"\"\n");
	kernel_summary_begin_segment(b.summary, b.rig.emit);
	strcpy(put(&b, 0, 0, 5000009, PROF_SUMMARY_RUN, 1, 8)->comm, "new");
	cr_assert_eq(kernel_summary_finish(b.summary, 7000 * MS), 0);
	cr_expect_str_eq(
		rig_text(&b.rig, "TaskEvent"),
		"7000000000 TaskEvent pid=5000009 tid=5000009 ppid=0 comm=\"new\" exe=\"\" cgroup=\"\"\n",
		"each segment has them all");
	bench_fini(&b);
}
