// SPDX-License-Identifier: BSD-2-Clause
/* Running, runnable and off-CPU time from switches and wakeups; times are written next to each event. */
#include <criterion/criterion.h>

#include "profile/sums/thread_times.h"
#include "tests/support/read_trace.h"

/* Reads the trace in one pass, or with the gaps first. */
static void run(struct make *m, struct thread_times *s, bool gaps_first)
{
	struct reader *r = read_trace(make_done(m));
	struct trace_event ev;
	struct intervals *iv;

	iv = intervals_new(&(struct intervals_opts){ reader_names(r), thread_times_add, s });
	if (gaps_first) {
		while (reader_next(r, &ev) == 1)
			intervals_add_gaps(iv, reader_trace(r), &ev);
		cr_assert_eq(reader_rewind(r), 0);
	}
	while (reader_next(r, &ev) == 1)
		intervals_add(iv, reader_trace(r), &ev);
	intervals_finish(iv);
	intervals_free(iv);
	thread_times_finish(s, reader_names(r));
	reader_free(r);
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

Test(thread_times, running_runnable_and_off_cpu_times_are_counted)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5); /* a runs */
	make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0); /* ran 100, sleeps */
	make_waking(&m, 1400, 0, 0, "a", 5); /* off 300 */
	make_switch(&m, 1430, 0, "swapper", 0, 0, "a", 5); /* runnable 30 */
	make_switch(&m, 1500, 0, "a", 5, 0x100, "b", 6); /* ran 70, preempted */
	make_switch(&m, 1520, 0, "b", 6, 0, "a", 5); /* runnable 20; b ran 20 */
	make_switch(&m, 1525, 0, "a", 5, 0x10, "b", 6); /* ran 5, dead; b runnable 5 */
	run(&m, &s, false);
	expect(&s, 5, 175, 50, 300);
	expect(&s, 6, 20, 5, 0);
	cr_assert_eq(task(&s, 5)->switches, 3);
	cr_assert_eq(task(&s, 5)->preempted, 1);
	thread_times_fini(&s);
}

Test(thread_times, states_before_the_edges_are_not_guessed)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "a", 5, 1, "b", 6); /* how long a ran is unknown */
	make_switch(&m, 9000, 0, "b", 6, 1, "c",
		    7); /* a has slept since then for an unknown time */
	run(&m, &s, false);
	expect(&s, 5, 0, 0, 0);
	expect(&s, 6, 8000, 0, 0);
	expect(&s, 7, 0, 0, 0);
	thread_times_fini(&s);
}

static void make_end_at(struct make *m, uint64_t ts)
{
	make_clock(m, ts, ts);
}

Test(thread_times, states_at_the_edges_count_on_request)
{
	struct thread_times s = { .edges = true };
	struct thread_times_task sum;
	struct hmap pids = { 0 };
	struct make m;

	make_init(&m, NULL);
	for (uint32_t tid = 50; tid <= 54; tid++)
		make_task(&m, 1000, 5, tid, "t");
	make_task(&m, 1000, 6, 60, "another"); /* of another process: off, 1000 */
	make_switch(&m, 1100, 0, "ran", 50, 1, "came",
		    51); /* 50 ran 100, 51 was runnable or blocked */
	make_switch(&m, 1250, 0, "came", 51, 0, "x", 9); /* 51 ran 150, then runnable: 750 */
	make_waking(&m, 1300, 0, 9, "ran", 50); /* 50 slept 200, and is runnable to the end: 700 */
	make_waking(&m, 1400, 0, 9, "woken", 52); /* 52 had slept 400, and is runnable: 600 */
	make_sample(&m, 1500, 5, 53, PROF_SOURCE_SAMPLE, 0, NULL,
		    0); /* 53 is on a CPU throughout: 1000 */
	make_end_at(&m, 2000); /* 54 has no event at all: off, 1000 */
	run(&m, &s, false);
	cr_expect_eq(s.cnt, 7, "50 to 54, 60, and 9");
	expect(&s, 50, 100, 700, 200);
	expect(&s, 51, 150, 750, 0);
	cr_expect_eq(task(&s, 51)->unknown, 100);
	expect(&s, 52, 0, 600, 400);
	expect(&s, 53, 1000, 0, 0);
	expect(&s, 54, 0, 0, 1000);
	expect(&s, 9, 750, 0, 0);
	cr_expect_eq(task(&s, 9)->unknown, 250);
	hmap_set(&pids, 5, &pids);
	thread_times_sum(&s, &pids, &sum);
	hmap_fini(&pids);
	cr_expect_eq(sum.run + sum.wait + sum.off + sum.unknown, 5 * 1000);
	thread_times_fini(&s);
}

Test(thread_times, wakeup_of_an_unknown_thread_starts_its_run_queue_latency)
{
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_waking(&m, 100, 0, 9, "a", 5);
	make_waking(&m, 120, 0, 9, "a", 5); /* woken twice: the first one counts */
	make_switch(&m, 150, 0, "x", 9, 1, "a", 5);
	make_waking(&m, 170, 0, 9, "a", 5); /* it runs: a wakeup changes nothing */
	make_switch(&m, 180, 0, "a", 5, 1, "x", 9);
	run(&m, &s, false);
	expect(&s, 5, 30, 50, 0);
	thread_times_fini(&s);
}

Test(thread_times, intervals_across_a_gap_are_unknown)
{
	struct thread_times one = { 0 }, two = { 0 };
	struct make m;

	for (int pass = 0; pass < 2; pass++) {
		make_init(&m, NULL);
		make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
		make_switch(&m, 1100, 0, "a", 5, 1, "swapper", 0); /* ran 100 */
		make_waking(&m, 1500, 0, 0, "a", 5); /* off 400, across the gap */
		make_switch(&m, 1510, 0, "swapper", 0, 0, "a", 5); /* runnable 10 */
		make_lost(&m, 1600, "ring_full", 7, 1200, 1300);
		make_lost(&m, 1600, "sample_estimate", 7, 1000, 1600);
		make_lost(&m, 1600, "nested", 7, 1000, 1600);
		make_lost(&m, 1600, "sideband", 7, 1000, 1600);
		make_switch(&m, 1700, 0, "a", 5, 1, "swapper", 0); /* ran 190 */
		run(&m, pass ? &two : &one, pass);
	}
	expect(&two, 5, 290, 10, 0);
	cr_assert_eq(task(&two, 5)->unknown, 400);
	expect(&one, 5, 290, 10, 400);
	thread_times_fini(&one);
	thread_times_fini(&two);
}

Test(thread_times, sums_are_grouped_by_process)
{
	struct thread_times_task sum;
	struct hmap pids = { 0 };
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "x", 9, 1, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, 1, "b", 6);
	make_waking(&m, 1300, 0, 6, "x", 9);
	make_switch(&m, 1300, 0, "b", 6, 1, "x", 9);
	make_switch(&m, 1350, 0, "x", 9, 1, "swapper", 0);
	make_task(&m, 1400, 5, 5, "a"); /* reported late */
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

/* A gap from 1200 to 1300, and a thread that runs from one time to the other. */
static uint64_t spoilt(uint64_t from, uint64_t to)
{
	struct thread_times s = { 0 };
	struct make m;
	uint64_t n;

	make_init(&m, NULL);
	make_switch(&m, from, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, to, 0, "a", 5, 1, "swapper", 0);
	make_lost(&m, to, "ring_full", 7, 1200, 1300);
	make_lost(&m, to, "ring_full", 7, 2200, 2300);
	run(&m, &s, true);
	n = task(&s, 5)->unknown;
	cr_expect_eq(n + task(&s, 5)->run, to - from);
	thread_times_fini(&s);
	return n;
}

Test(thread_times, interval_that_overlaps_a_gap_is_unknown)
{
	cr_expect_eq(spoilt(1000, 1199), 0);
	cr_expect_eq(spoilt(1000, 1200), 200);
	cr_expect_eq(spoilt(1210, 1290), 80);
	cr_expect_eq(spoilt(1300, 1400), 100);
	cr_expect_eq(spoilt(1301, 1400), 0);
	cr_expect_eq(spoilt(1301, 2199), 0);
	cr_expect_eq(spoilt(1301, 2200), 899);
	cr_expect_eq(spoilt(2301, 2400), 0);
	cr_expect_eq(spoilt(1000, 9000), 8000);
}

/* Switched out in this state at 1100, woken and switched in again at 1500. */
static struct thread_times_task out_in_state(uint64_t state)
{
	struct thread_times s = { 0 };
	struct thread_times_task t;
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1000, 0, "swapper", 0, 0, "a", 5);
	make_switch(&m, 1100, 0, "a", 5, state, "swapper", 0);
	make_waking(&m, 1500, 0, 0, "a", 5);
	make_switch(&m, 1500, 0, "swapper", 0, 0, "a", 5);
	run(&m, &s, false);
	t = *task(&s, 5);
	cr_expect_eq(t.run, 100);
	cr_expect_eq(t.switches, 1);
	thread_times_fini(&s);
	return t;
}

Test(thread_times, prev_state_of_a_switch_determines_the_next_state)
{
	static const struct {
		uint64_t state, wait, off;
	} cases[] = {
		{ 0, 400, 0 },	  { 0x100, 400, 0 }, { 1, 0, 400 },  { 2, 0, 400 },
		{ 0x80, 0, 400 }, { 0x102, 0, 400 }, { 0x10, 0, 0 }, { 0x20, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct thread_times_task t = out_in_state(cases[i].state);

		cr_expect_eq(t.wait, cases[i].wait, "state %x", (unsigned int)cases[i].state);
		cr_expect_eq(t.off, cases[i].off, "state %x", (unsigned int)cases[i].state);
		cr_expect_eq(t.preempted, cases[i].wait > 0);
	}
}

Test(thread_times, thread_has_no_time_before_its_birth)
{
	struct thread_times s = { .edges = true };
	struct make m;

	make_init(&m, NULL);
	make_end_at(&m, 1000);
	MAKE_NUMBERS(&m, 1300, "sched:sched_wakeup_new", { "pid", 51 });
	make_waking(&m, 1300, 0, 9, "old", 52);
	make_switch(&m, 1400, 0, "old", 52, 0x10, "born", 51);
	make_end_at(&m, 2000);
	run(&m, &s, false);
	expect(&s, 51, 600, 100, 0);
	/* the state of 52 after its wakeup is unknown: it was never switched in, and then out */
	expect(&s, 52, 0, 0, 300);
	cr_expect_eq(task(&s, 52)->unknown, 100);
	thread_times_fini(&s);
}

Test(thread_times, impossible_tids_are_skipped)
{
	uint64_t none = 0xffffffff, large = 1ULL << 32, i;
	struct thread_times s = { 0 };
	struct make m;

	make_init(&m, NULL);
	for (i = 0; i < 3; i++) {
		make_switch(&m, 100, 0, "x", 0, 1, "swapper", 0);
		make_waking(&m, 100, 0, 0, "x", 0);
		make_sample(&m, 100, 0, 0, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	}
	make_switch(&m, 100, 0, "x", (uint32_t)none, 1, "y", (uint32_t)none);
	make_waking(&m, 100, 0, 0, "x", (uint32_t)none);
	make_sample(&m, 100, 7, (uint32_t)none, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(dial9_enc_begin(m.enc, m.sched_switch, 200), 0);
		dial9_enc_put_u64(m.enc, 0);
		dial9_enc_put_u64(m.enc, 0);
		make_str(&m, "x");
		dial9_enc_put_u64(m.enc, i ? large + 5 : 0);
		dial9_enc_put_u64(m.enc, 120);
		dial9_enc_put_u64(m.enc, 0);
		make_str(&m, "y");
		dial9_enc_put_u64(m.enc, i ? 0 : large + 6);
		dial9_enc_put_u64(m.enc, 120);
		make_end(&m);
	}
	run(&m, &s, false);
	cr_expect_eq(s.cnt, 0);
	thread_times_fini(&s);
}

Test(thread_times, sum_has_every_figure)
{
	struct thread_times_task v[] = {
		{ .tid = 1, .pid = 5, .run = 1, .wait = 20, .off = 300, .unknown = 4000 },
		{ .tid = 2, .pid = 6, .run = 7, .wait = 70, .off = 700, .unknown = 7000 },
		{ .tid = 3, .pid = 5, .run = 2, .wait = 30, .off = 400, .unknown = 5000 },
	};
	const struct thread_times s = { .tasks = v, .cnt = 3 };
	struct thread_times_task sum;
	struct hmap pids = { 0 };

	for (size_t i = 0; i < 3; i++) {
		v[i].switches = 10 + i;
		v[i].preempted = 1 + i;
	}
	hmap_set(&pids, 5, &pids);
	thread_times_sum(&s, &pids, &sum);
	hmap_fini(&pids);
	cr_expect(sum.run == 3 && sum.wait == 50 && sum.off == 700 && sum.unknown == 9000);
	cr_expect(sum.switches == 22 && sum.preempted == 4);
	cr_expect(sum.tid == TRACE_NONE && sum.pid == TRACE_NONE && sum.comm == NAMES_NONE);
	thread_times_sum(&s, NULL, &sum);
	cr_expect(sum.run == 10 && sum.wait == 120 && sum.off == 1400 && sum.unknown == 16000);
}

Test(thread_times, thread_keeps_its_first_name_and_gets_its_process_later)
{
	struct thread_times s = { 0 };
	struct trace_event ev;
	struct intervals *iv;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 100, 0, "swapper", 0, 0, "a", 5); /* a name, and no process */
	make_task(&m, 150, 50, 5, "a");
	make_switch(&m, 200, 0, "a", 5, 1, "swapper", 0);
	make_task(&m, 250, 50, 5, "b"); /* another program */
	make_switch(&m, 300, 0, "swapper", 0, 0, "b", 5);
	r = read_trace(make_done(&m));
	iv = intervals_new(&(struct intervals_opts){ reader_names(r), thread_times_add, &s });
	while (reader_next(r, &ev) == 1)
		intervals_add(iv, reader_trace(r), &ev);
	intervals_finish(iv);
	intervals_free(iv);
	cr_expect_eq(task(&s, 5)->pid, 50);
	cr_expect_str_eq(names_str(reader_names(r), task(&s, 5)->comm, NULL), "a");
	reader_free(r);
	thread_times_fini(&s);
}
