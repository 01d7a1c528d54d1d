// SPDX-License-Identifier: BSD-2-Clause
/* --event-stacks: each event of a tracepoint that -e names has the stack of its task, and readers keep both. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "tests/bpf/support.h"

TestSuite(event_stacks, .fini = live_cleanup);

#define EVENT "syscalls:sys_enter_getpriority"

enum { ROUNDS = 200 }; /* of the stimulus: as many such calls, all in main() */

static void record(const char *stacks, struct live_rec *rec)
{
	struct live_proc p;

	live_stimulus(&p, "filtered", NULL);
	live_record(rec, "-p", live_number(p.pid), "--no-samples", "-m", "16M", "-e",
		    EVENT ",task:task_rename", "--event-stacks", stacks, NULL);
	live_recording(rec);
	live_go(&p);
	cr_assert_eq(live_stop(rec), 0);
	live_end(&p);
}

struct seen {
	uint64_t calls, stacks, in_main, with_kernel, others;
};

static void read_stacks(const char *path, struct seen *s)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t ts = 0;
	uint32_t tid = 0;

	*s = (struct seen){ 0 };
	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, EVENT)) {
			s->calls++;
			ts = ev.ts;
			tid = ev.tid;
		}
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_EVENT)
			continue;
		if (ev.ts != ts || ev.tid != tid) {
			s->others++;
			continue;
		}
		s->stacks++;
		s->in_main += live_stack_has(&lt, &ev, "main");
		s->with_kernel += ev.frame_cnt && ev.frames[0] & PROF_FRAME_KERNEL;
	}
	live_close(&lt);
}

Test(event_stacks, each_event_that_a_pattern_names_has_a_stack)
{
	struct live_rec rec;
	struct seen s;

	record("both", &rec);
	read_stacks(rec.path, &s);
	cr_expect_eq(s.calls, ROUNDS);
	cr_expect_eq(s.stacks, ROUNDS, "%d", (int)s.stacks);
	cr_expect_eq(s.in_main, ROUNDS, "%d", (int)s.in_main);
	cr_expect_eq(s.with_kernel, ROUNDS, "%d", (int)s.with_kernel);
	/* stacks of the other event; forks and execs are recorded, but were not asked for by -e */
	cr_expect_eq(s.others, ROUNDS + 3, "%d", (int)s.others);
}

Test(event_stacks, user_stacks_only_are_recorded_on_request)
{
	struct live_rec rec;
	struct seen s;

	record("user", &rec);
	read_stacks(rec.path, &s);
	cr_expect_eq(s.in_main, ROUNDS, "%d", (int)s.in_main);
	cr_expect_eq(s.with_kernel, 0);
	record("none", &rec);
	read_stacks(rec.path, &s);
	cr_expect_eq(s.calls, ROUNDS);
	cr_expect_eq(s.stacks + s.others, 0);
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void expect_printed(const char *path)
{
	const char *text[] = { "script", "-e", EVENT, path, NULL };
	const char *json[] = { "script", "--json", "-e", EVENT, path, NULL };
	struct buf out = live_output(text);

	cr_expect_eq(count_of(out.data, EVENT ":"), ROUNDS);
	cr_expect_eq(count_of(out.data, " main+0x"), ROUNDS);
	cr_expect_eq(count_of(out.data, "event-stack"), 0, "a stack stands by itself");
	buf_free(&out);
	out = live_output(json);
	cr_expect_eq(count_of(out.data, "\n"), ROUNDS);
	cr_expect_eq(count_of(out.data, "\"main\""), ROUNDS);
	buf_free(&out);
}

Test(event_stacks, stacks_are_printed_and_cut_with_their_events)
{
	const char *cut[] = { "cut", "-e", EVENT, "-o", NULL, NULL, NULL };
	struct live_rec rec;
	struct buf out;

	record("both", &rec);
	expect_printed(rec.path);
	cut[4] = live_path("cut");
	cut[5] = rec.path;
	out = live_output(cut);
	buf_free(&out);
	expect_printed(live_path("cut"));
}
