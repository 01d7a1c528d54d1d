// SPDX-License-Identifier: BSD-2-Clause
/* CPU samples against a program that knows by its own clock where its time went. */
/* ALONE: samples of CPU time */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/bpf/support.h"

TestSuite(sample, .fini = live_cleanup);

enum { HZ = 999, POINTS = 2 };

struct shares {
	uint64_t all, a, b;
	uint64_t to_main; /* of a and b, with the path down to main */
};

/* The clock counts interrupts to the function that they interrupt; so does the first user frame. */
static uint64_t first_user_frame(const struct trace_event *ev)
{
	uint32_t i;

	for (i = 0; i < ev->frame_cnt; i++)
		if (!(ev->frames[i] & PROF_FRAME_KERNEL))
			return ev->frames[i];
	return 0;
}

static void add_sample(struct live_trace *lt, struct shares *s, const struct trace_event *ev)
{
	uint64_t frame = first_user_frame(ev);
	bool a = live_frame_in(lt, frame, "hot_a"), b = live_frame_in(lt, frame, "hot_b");

	s->all++;
	s->a += a;
	s->b += b;
	s->to_main += (a || b) && live_stack_has(lt, ev, "work") && live_stack_has(lt, ev, "main");
}

static void read_shares(const char *path, pid_t pid, struct shares *s)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_SAMPLE)
			continue;
		cr_assert_eq(ev.pid, (uint32_t)pid);
		add_sample(&lt, s, &ev);
	}
	cr_assert_eq(s->all, lt.samples);
	live_assert_no_loss(&lt);
	live_close(&lt);
}

Test(sample, shares_of_two_functions_equal_the_programs_own_clock)
{
	struct shares s = { 0 };
	struct live_proc spinner;
	struct live_rec rec;
	double expected;

	live_stimulus(&spinner, "spinner", "70", "3000", NULL);
	live_record(&rec, "-F", "999", "-p", live_number(spinner.pid), NULL);
	live_recording(&rec);
	live_go(&spinner);
	cr_assert_eq(live_stop(&rec), 0);
	read_shares(rec.path, spinner.pid, &s);
	expected = live_truth(&spinner, "total_ns") * HZ / 1e9;
	cr_assert_gt(s.all, expected * 0.9, "%llu samples", (unsigned long long)s.all);
	cr_assert_lt(s.all, expected * 1.1, "%llu samples", (unsigned long long)s.all);
	cr_assert_lt(fabs(100.0 * s.a / s.all - live_truth(&spinner, "hot_a_percent")), POINTS,
		     "hot_a: %llu of %llu", (unsigned long long)s.a, (unsigned long long)s.all);
	cr_assert_lt(fabs(100.0 * s.b / s.all - live_truth(&spinner, "hot_b_percent")), POINTS,
		     "hot_b: %llu of %llu", (unsigned long long)s.b, (unsigned long long)s.all);
	cr_assert_geq(s.to_main, 0.99 * (s.a + s.b), "%llu of %llu", (unsigned long long)s.to_main,
		      (unsigned long long)(s.a + s.b));
	live_end(&spinner);
}
