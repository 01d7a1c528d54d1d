// SPDX-License-Identifier: BSD-2-Clause
/* Sums over periods: every number follows from the events that the test makes. */
#include "profile/sums/offcpu_sums.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/support/make_trace.h"
#include "trace/source/source.h"

TestSuite(offcpu_sums, .timeout = 60);

static void sum(const struct make_sums *events, size_t cnt, struct offcpu_sums *s)
{
	struct trace_opts opts = { .read = source_read, .learn = true };
	struct trace_event ev;
	struct source *src;
	struct trace *t;
	struct make m;
	char path[32];

	make_init(&m, NULL);
	for (size_t i = 0; i < cnt; i++)
		make_sums(&m, 100, &events[i]);
	snprintf(path, sizeof(path), "/dev/fd/%d", make_file(&m));
	cr_assert_eq(names_new(&opts.names), 0);
	cr_assert_eq(source_open(path, &src), 0);
	opts.ctx = src;
	cr_assert_eq(trace_new(&opts, &t), 0);
	while (trace_next(t, &ev) == 1)
		if (ev.kind == TRACE_SUMMARY)
			offcpu_sums_add(s, opts.names, t, &ev);
	trace_free(t);
	source_close(src);
	names_free(opts.names);
	close(atoi(path + strlen("/dev/fd/")));
	make_fini(&m);
}

static double by_pid(const struct offcpu_sums_row *r, int order)
{
	return -(double)r->pid;
}

static const struct make_sums events[] = {
	{ 7, "a", PROF_SUMMARY_WAIT, 10, 1000, 200, 1, 2, "6", "10" },
	{ 9, "a", PROF_SUMMARY_WAIT, 1, 5, 5, 1, 2, "2", "1" },
	{ 7, "a", PROF_SUMMARY_WAIT, 2, 50, 40, 1, 2, "5", "2" },
	{ 7, "a", PROF_SUMMARY_RUN, 3, 60, 30, 1, 2, "4", "3" },
	/* impossible values */
	{ 7, "a", 77, 3, 60, 30, 1, 2, "4", "3" },
	{ 7, "a", PROF_SUMMARY_BLOCKED, 0, 0, 0, 1, 2, "64", "3" },
	{ 7, "a", PROF_SUMMARY_BLOCKED, 0, 0, 0, 1, 2, "4x", "3" },
	{ 7, "a", PROF_SUMMARY_BLOCKED, 0, 0, 0, 1, 2, "4", "-3" },
};

Test(offcpu_sums, periods_add_up_by_process)
{
	struct offcpu_sums s = { 0 };

	sum(events, sizeof(events) / sizeof(events[0]), &s);
	offcpu_sums_sort(&s, by_pid, 0);
	cr_assert_eq(s.cnt, 2);
	cr_expect_eq(s.rows[0].pid, 7);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_WAIT].cnt, 12);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_WAIT].sum_ns, 1050);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_WAIT].max_ns, 200);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_WAIT].powers[6], 10);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_WAIT].powers[5], 2);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_RUN].cnt, 3);
	cr_expect_eq(s.rows[1].hists[PROF_SUMMARY_WAIT].cnt, 1);
	cr_expect_eq(s.all.hists[PROF_SUMMARY_WAIT].cnt, 13);
	for (int k = 0; k < OFFCPU_SUMS_POWERS; k++)
		cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_BLOCKED].powers[k], 0);
	offcpu_sums_fini(&s);
}

Test(offcpu_sums, periods_add_up_by_name)
{
	struct offcpu_sums s = { .by_comm = true };

	sum(events, 4, &s);
	cr_assert_eq(s.cnt, 1);
	cr_expect_eq(s.rows[0].hists[PROF_SUMMARY_WAIT].cnt, 13);
	offcpu_sums_fini(&s);
	cr_expect(s.by_comm);
}

Test(offcpu_sums, percentile_is_the_end_of_its_bucket_or_the_maximum)
{
	struct offcpu_sums_hist h = { .max_ns = 150, .powers = { [3] = 98, [5] = 1, [7] = 1 } };

	cr_expect_eq(offcpu_sums_at_most(&h, 0.5), 16);
	cr_expect_eq(offcpu_sums_at_most(&h, 0.98), 16);
	cr_expect_eq(offcpu_sums_at_most(&h, 0.99), 64);
	cr_expect_eq(offcpu_sums_at_most(&h, 1), 150, "not 256");
	h = (struct offcpu_sums_hist){ .max_ns = UINT64_MAX, .powers = { [63] = 1 } };
	cr_expect_eq(offcpu_sums_at_most(&h, 0.5), UINT64_MAX);
	h = (struct offcpu_sums_hist){ 0 };
	cr_expect_eq(offcpu_sums_at_most(&h, 0.5), 0);
}
