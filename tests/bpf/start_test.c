// SPDX-License-Identifier: BSD-2-Clause
/* A program that runs all the time, before, during and after a recording: nothing is missing at either end. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/bpf/support.h"

TestSuite(start, .fini = live_cleanup);

/* The sleeper has one thread. */
struct seen {
	size_t outs; /* switches out */
	size_t tasks, programs, stacks, named;
};

static void check_event(const struct live_trace *lt, const struct trace_event *ev, int64_t pid,
			struct seen *s)
{
	if (ev->kind == TRACE_TASK && ev->tid == pid) {
		s->tasks++;
		s->programs += strstr(live_text(lt, ev, PROF_F_EXE), "/sleeper") != NULL;
	} else if (ev->kind == TRACE_SAMPLE && ev->tid == pid) {
		s->stacks++;
		s->named += live_stack_has(lt, ev, "sleep_times");
	}
	s->outs += live_is(ev, PROF_EV_SCHED_SWITCH) && live_int(ev, PROF_F_PREV_PID) == pid;
}

Test(start, busy_program_has_its_name_and_all_stacks_from_first_to_last_switch)
{
	struct seen seen = { 0 };
	struct live_proc sleeper;
	struct live_trace lt;
	struct live_rec rec;
	struct trace_event ev;
	pid_t pid;

	live_stimulus(&sleeper, "sleeper", "1000000000", "500", NULL);
	pid = sleeper.pid;
	cr_assert_gt(dprintf(sleeper.in, "\n"), 0);
	live_record(&rec, "-p", live_number(pid), "-d", "0.3", NULL);
	cr_assert_eq(live_finish(&rec), 0);
	live_kill(&sleeper);
	live_open(&lt, rec.path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev))
		check_event(&lt, &ev, pid, &seen);
	live_close(&lt);
	cr_expect_gt(seen.outs, 0);
	cr_expect_geq(seen.tasks, 1);
	cr_expect_eq(seen.programs, seen.tasks);
	cr_expect_geq(seen.stacks, seen.outs, "%zu of %zu", seen.stacks, seen.outs);
	cr_expect_eq(seen.named, seen.stacks, "%zu of %zu", seen.named, seen.stacks);
}
