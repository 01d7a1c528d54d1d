// SPDX-License-Identifier: BSD-2-Clause
/* Run, wait and off-CPU time from switches and wakings; times are written out beside each event. */
#include <criterion/criterion.h>

#include "../support/make_trace.h"
#include "profile/thread_times.h"
#include "trace/reader.h"

/* Reads what was made in one pass, or with the gaps first. */
static void run(struct make *m, struct thread_times *s, bool gaps_first)
{
	struct trace_event ev;
	struct source *src;
	struct reader *r;

	cr_assert_eq(source_open_fd(make_file(m), "t", &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	if (gaps_first) {
		while (reader_next(r, &ev) == 1)
			thread_times_add_gaps(s, reader_trace(r), &ev);
		cr_assert_eq(reader_rewind(r), 0);
	}
	while (reader_next(r, &ev) == 1)
		thread_times_add(s, reader_trace(r), &ev);
	thread_times_finish(s, reader_names(r));
	reader_free(r);
	make_fini(m);
}

static const struct thread_times_task *task(const struct thread_times *s, uint32_t tid)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->tasks[i].tid == tid)
			return &s->tasks[i];
	cr_assert_fail("no thread %u", tid);
	return NULL;
}

static void expect(const struct thread_times *s, uint32_t tid, uint64_t runs, uint64_t wait,
		   uint64_t off)
{
	const struct thread_times_task *t = task(s, tid);

	cr_assert_eq(t->run, runs, "run %d", (int)t->run);
	cr_assert_eq(t->wait, wait, "wait %d", (int)t->wait);
	cr_assert_eq(t->off, off, "off %d", (int)t->off);
}

Test(thread_times, run_wait_and_off)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5); /* a runs */
	make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0); /* ran 100, sleeps */
	make_waking(&m, 1400, 0, 0, "a", 5); /* off 300 */
	make_switch(&m, 1430, 0, "swapper", 0, 0, "a", 5); /* waited 30 */
	make_switch(&m, 1500, 0, "a", 5, 0x100, "b", 6); /* ran 70, preempted */
	make_switch(&m, 1520, 0, "b", 6, 0, "a", 5); /* waited 20; b ran 20 */
	make_switch(&m, 1525, 0, "a", 5, 0x10, "b", 6); /* ran 5, dead; b waited 5 */
	run(&m, &s, false);
	expect(&s, 5, 175, 50, 300);
	expect(&s, 6, 20, 5, 0);
	cr_assert_eq(task(&s, 5)->switches, 3);
	cr_assert_eq(task(&s, 5)->preempted, 1);
	thread_times_fini(&s);
}

Test(thread_times, edges_of_the_window_are_not_guessed)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 1, "b", 6); /* how long a ran is unknown */
	make_switch(&m, 9000, 0, "b", 6, 1, "c",
		    7); /* a has slept on since, nobody knows how long */
	run(&m, &s, false);
	expect(&s, 5, 0, 0, 0);
	expect(&s, 6, 8000, 0, 0);
	expect(&s, 7, 0, 0, 0);
	thread_times_fini(&s);
}

Test(thread_times, edges_follow_where_the_trace_has_every_switch)
{
	struct hmap pids = { 0 };
	struct thread_times s = { 0 };
	struct names *n;
	struct make m;

	cr_assert_eq(names_new(&n), 0);
	make_init(&m, NULL);
	make_task(&m, 1000, 5, 50, "ran");
	make_switch(&m, 1100, 0, "ran", 50, 1, "came", 51); /* 50 ran 100, 51 had waited 100 */
	make_switch(&m, 1250, 0, "came", 51, 0, "x", 9); /* 51 ran 150, and waits to the end: 750 */
	make_waking(&m, 1300, 0, 9, "ran", 50); /* 50 slept 200, and waits to the end: 700 */
	make_waking(&m, 1400, 0, 9, "woken", 52); /* 52 had slept 400, and waits: 600 */
	make_sample(&m, 1500, 5, 53, PROF_SOURCE_SAMPLE, 0, NULL,
		    0); /* 53 is on a CPU throughout: 1000 */
	run(&m, &s, false);
	for (uint32_t tid = 50; tid <= 54; tid++) /* 54 has no event at all: off, 1000 */
		names_task_learn(n, 0, &(struct names_task){ .tid = tid, .pid = 5 });
	thread_times_finish(&s, n);
	hmap_set(&pids, 5, n);
	thread_times_close(&s, n, &pids, 1000, 2000);
	hmap_fini(&pids);
	expect(&s, 50, 100, 700, 200);
	expect(&s, 51, 150, 850, 0);
	expect(&s, 52, 0, 600, 400);
	expect(&s, 53, 1000, 0, 0);
	expect(&s, 54, 0, 0, 1000);
	expect(&s, 9, 0, 0, 0);
	thread_times_fini(&s);
	names_free(n);
}

Test(thread_times, a_waking_of_an_unknown_thread_starts_its_wait)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_waking(&m, 100, 0, 9, "a", 5);
	make_waking(&m, 120, 0, 9, "a", 5); /* woken twice: the first one counts */
	make_switch(&m, 150, 0, "x", 9, 1, "a", 5);
	make_waking(&m, 170, 0, 9, "a", 5); /* it runs: a waking changes nothing */
	make_switch(&m, 180, 0, "a", 5, 1, "x", 9);
	run(&m, &s, false);
	expect(&s, 5, 30, 50, 0);
	thread_times_fini(&s);
}

Test(thread_times, intervals_across_a_gap_are_put_aside)
{
	struct thread_times one = { 0 }, two = { 0 };
	struct make m;

	for (int pass = 0; pass < 2; pass++) {
		make_init(&m, NULL);
		make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
		make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0); /* ran 100 */
		make_waking(&m, 1500, 0, 0, "a", 5); /* off 400, across the gap */
		make_switch(&m, 1510, 0, "swapper", 0, 0, "a", 5); /* waited 10 */
		make_lost(&m, 1600, "ring_full", 7, 1200, 1300);
		make_lost(&m, 1600, "sample_estimate", 7, 1000, 1600);
		make_lost(&m, 1600, "nested", 7, 1000, 1600);
		make_lost(&m, 1600, "sideband", 7, 1000, 1600);
		make_switch(&m, 1700, 0, "a", 5, 1, "swapper", 0); /* ran 190 */
		run(&m, pass ? &two : &one, pass);
	}
	expect(&two, 5, 290, 10, 0);
	cr_assert_eq(task(&two, 5)->spoilt, 400);
	expect(&one, 5, 290, 10, 400);
	thread_times_fini(&one);
	thread_times_fini(&two);
}

Test(thread_times, sums_by_process)
{
	struct thread_times_task sum;
	struct hmap pids = { 0 };
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "x", 9, 1, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 1, "b", 6);
	make_switch(&m, 1300, 0, "b", 6, 1, "x", 9);
	make_switch(&m, 1350, 0, "x", 9, 1, "swapper", 0);
	make_task(&m, 1400, 5, 5, "a"); /* told late */
	make_task(&m, 1400, 5, 6, "b");
	run(&m, &s, false);
	hmap_set(&pids, 5, &s);
	thread_times_sum(&s, &pids, &sum);
	hmap_fini(&pids);
	cr_assert_eq(sum.run, 300);
	cr_assert_eq(sum.switches, 2);
	thread_times_sum(&s, NULL, &sum);
	cr_assert_eq(sum.run, 350);
	cr_assert_eq(sum.off, 1300 - 1000, "x slept until it was switched in");
	thread_times_fini(&s);
}

Test(thread_times, more_gaps_than_are_kept_only_widen_doubt)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	for (uint64_t i = 0; i < THREAD_TIMES_GAPS_MAX + 500; i++)
		make_lost(&m, 1, "ring_full", 1, 1000 * i, 1000 * i + 1);
	run(&m, &s, true);
	cr_assert_eq(s.gap_cnt, THREAD_TIMES_GAPS_MAX);
	for (size_t i = 1; i < s.gap_cnt; i++)
		cr_assert_lt(s.gaps[i - 1].to, s.gaps[i].from);
	cr_assert_eq(s.gaps[0].from, 0);
	cr_assert_eq(s.gaps[s.gap_cnt - 1].to, 1000 * (THREAD_TIMES_GAPS_MAX + 499) + 1);
	thread_times_fini(&s);
}
