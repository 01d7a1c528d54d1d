// SPDX-License-Identifier: BSD-2-Clause
/* Sums of periods: the events of each, by function and by thread, with times written out here. */
#include <criterion/criterion.h>

#include "profile/sums/live.h"
#include "tests/support/read_trace.h"

#define MS 1000000ULL

struct feed {
	struct reader *r;
	struct live *l;
};

static void feed_open(struct feed *f, struct make *m)
{
	f->r = read_trace(make_done(m));
	f->l = live_new(reader_names(f->r));
}

/* Up to, and with, the event at that time. */
static void feed_until(struct feed *f, uint64_t ts)
{
	struct trace_event ev;
	int ret;

	while ((ret = reader_next(f->r, &ev)) == 1) {
		live_add(f->l, reader_trace(f->r), &ev);
		if (ev.ts >= ts)
			return;
	}
	cr_assert_eq(ret, 0);
}

static void feed_close(struct feed *f)
{
	live_free(f->l);
	reader_free(f->r);
}

static const char *name(const struct feed *f, uint32_t id)
{
	return names_str(reader_names(f->r), id, NULL);
}

Test(live, samples_are_counted_by_function_and_by_thread)
{
	const uint64_t hot = make_frame(1, 0x10), cold = make_frame(1, 0x20),
		       blank = make_frame(1, 0x30);
	struct live_rows rows = { 0 };
	struct feed f;
	struct make m;

	make_init(&m, NULL);
	make_module(&m, MS, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(&m, MS, 7, 7, "app");
	make_sample(&m, 2 * MS, 7, 7, PROF_SOURCE_SAMPLE, 0, &hot, 1);
	make_sample(&m, 3 * MS, 7, 7, PROF_SOURCE_SAMPLE, 0, &hot, 1);
	make_sample(&m, 4 * MS, 7, 8, PROF_SOURCE_SAMPLE, 0, &cold, 1);
	make_sample(&m, 5 * MS, 7, 8, PROF_SOURCE_SAMPLE, 0, &blank, 1);
	make_sample(&m, 6 * MS, 7, 7, PROF_SOURCE_SWITCH_OUT, 0, &cold, 1);
	make_symbol(&m, 6 * MS, hot, 0, hot, "outer", "", 0);
	make_symbol(&m, 6 * MS, hot, 1, hot, "hot", "", 0);
	make_symbol(&m, 6 * MS, cold, 0, cold, "cold", "", 0);
	make_clock(&m, 12 * MS, 1);
	feed_open(&f, &m);
	feed_until(&f, 12 * MS);
	cr_assert_eq(live_period(f.l), 10 * MS);
	cr_assert_eq(live_all(f.l)->samples, 4);
	live_functions(f.l, &rows);
	live_sort(&rows, false);
	cr_assert_eq(rows.cnt, 3);
	cr_assert_str_eq(name(&f, rows.v[0].at.sym), "hot");
	cr_assert_eq(rows.v[0].sum.samples, 2);
	cr_assert_eq(rows.v[1].sum.samples, 1);
	cr_assert_neq(rows.v[2].at.module, 0);
	free(rows.v);
	memset(&rows, 0, sizeof(rows));
	live_threads(f.l, &rows);
	live_sort(&rows, false);
	cr_assert_eq(rows.cnt, 2);
	cr_assert_eq(rows.v[0].tid, 7);
	cr_assert_str_eq(name(&f, rows.v[0].comm), "app");
	cr_assert_str_eq(name(&f, rows.v[0].at.sym), "hot");
	cr_assert_eq(rows.v[1].sum.samples, 2);
	free(rows.v);
	/* and nothing of it in the next period */
	live_next(f.l);
	cr_assert_eq(live_all(f.l)->samples, 0);
	cr_assert_eq(live_period(f.l), 0);
	memset(&rows, 0, sizeof(rows));
	live_threads(f.l, &rows);
	cr_assert_eq(rows.cnt, 0);
	free(rows.v);
	feed_close(&f);
}

/* Blocked from 110 to 150, of which 20 ms are after 130; then runnable for 5 ms. */
Test(live, blocked_time_counts_from_the_start_of_the_period)
{
	const uint64_t stack[] = { make_frame(2, 0x10) | PROF_FRAME_KERNEL, make_frame(1, 0x10) };
	struct live_rows rows = { 0 };
	struct feed f;
	struct make m;

	make_init(&m, NULL);
	make_module(&m, 100 * MS, 1, "/opt/app", PROF_MODULE_ELF);
	make_module(&m, 100 * MS, 2, "[kernel.kallsyms]", PROF_MODULE_KERNEL);
	make_task(&m, 100 * MS, 7, 7, "app");
	make_switch(&m, 100 * MS, 0, "swapper/0", 0, 0, "app", 7);
	make_switch(&m, 110 * MS, 0, "app", 7, 1, "swapper/0", 0);
	make_sample(&m, 110 * MS, 7, 7, PROF_SOURCE_SWITCH_OUT, 0, stack, 2);
	make_clock(&m, 130 * MS, 1);
	make_waking(&m, 150 * MS, 0, 0, "app", 7);
	make_switch(&m, 155 * MS, 0, "swapper/0", 0, 0, "app", 7);
	make_lost(&m, 160 * MS, "ring_full", 3, 159 * MS, 159 * MS);
	feed_open(&f, &m);
	feed_until(&f, 130 * MS);
	cr_assert_eq(live_all(f.l)->off_ns, 0);
	live_next(f.l);
	feed_until(&f, 160 * MS);
	cr_assert_eq(live_period(f.l), 30 * MS);
	cr_assert_eq(live_all(f.l)->off_ns, 20 * MS);
	cr_assert_eq(live_all(f.l)->wait_ns, 5 * MS);
	cr_assert_eq(loss_accounting_lost(live_lost(f.l)), 3);
	/* the innermost user function, not the kernel's */
	live_functions(f.l, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_assert_eq(rows.v[0].sum.off_ns, 20 * MS);
	cr_assert_eq(names_module(reader_names(f.r), rows.v[0].at.module)->id, 1);
	free(rows.v);
	memset(&rows, 0, sizeof(rows));
	live_threads(f.l, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_assert_eq(rows.v[0].sum.wait_ns, 5 * MS);
	cr_assert_eq(rows.v[0].at.module, 0, "it has no samples");
	cr_assert(rows.v[0].blocked);
	cr_assert_eq(names_module(reader_names(f.r), rows.v[0].off_at.module)->id, 1);
	free(rows.v);
	feed_close(&f);
}

Test(live, rows_are_sorted_by_blocked_time_on_request)
{
	struct live_row v[] = { { .tid = 1, .sum = { .samples = 9, .off_ns = 1 } },
				{ .tid = 2, .sum = { .samples = 1, .off_ns = 9 } },
				{ .tid = 3, .sum = { .samples = 9, .off_ns = 2 } } };
	struct live_rows rows = { .v = v, .cnt = 3 };

	live_sort(&rows, true);
	cr_assert_eq(v[0].tid, 2);
	cr_assert_eq(v[1].tid, 3);
	live_sort(&rows, false);
	cr_assert_eq(v[0].tid, 3);
	cr_assert_eq(v[1].tid, 1);
}

/* Some were on a CPU before the trace had their names. */
Test(live, threads_have_names_that_came_later)
{
	const uint64_t at = make_frame(1, 0x10);
	struct live_rows rows = { 0 };
	struct feed f;
	struct make m;

	make_init(&m, NULL);
	make_sample(&m, 2 * MS, 7, 8, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_task(&m, 3 * MS, 7, 8, "tokio-worker");
	make_clock(&m, 12 * MS, 1);
	feed_open(&f, &m);
	feed_until(&f, 12 * MS);
	live_threads(f.l, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_expect_eq(rows.v[0].tid, 8);
	cr_expect_str_eq(name(&f, rows.v[0].comm), "tokio-worker");
	free(rows.v);
	feed_close(&f);
}
