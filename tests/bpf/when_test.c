// SPDX-License-Identifier: BSD-2-Clause
/*
 * When is recorded: what the clock and others ask for, against sleepers that are sent on while recording is on
 * and while it is not.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/sched/intervals.h"
#include "tests/bpf/control.h"
#include "tests/bpf/support.h"

TestSuite(when, .fini = live_cleanup);

enum { SLEEPERS = 4, NAPS = 40, SLEEPING = 1, PAUSES_MAX = 8 };

#define MS 1000000ULL
#define SECOND 1000000000ULL

/* ---- the trace ----------------------------------------------------------------------------------- */

struct gate {
	uint64_t from, to;
};

struct seen {
	uint32_t tids[SLEEPERS];
	uint64_t naps[SLEEPERS]; /* switches out to sleep */
	uint64_t switches[SLEEPERS]; /* out and in */
	struct gate pauses[PAUSES_MAX];
	size_t pause_cnt;
	uint64_t first_switch; /* of anybody */
	uint64_t over_pause, blocked_over_pause; /* intervals */
};

static void add_switch(struct seen *s, const struct trace_event *ev)
{
	if (!s->first_switch)
		s->first_switch = ev->ts;
	for (size_t i = 0; i < SLEEPERS; i++) {
		const bool out = live_int(ev, PROF_F_PREV_PID) == s->tids[i];

		s->naps[i] += out && live_int(ev, PROF_F_PREV_STATE) == SLEEPING;
		s->switches[i] += out || live_int(ev, PROF_F_NEXT_PID) == s->tids[i];
	}
}

static void add_event(struct seen *s, const struct live_trace *lt, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SCHED_SWITCH)
		add_switch(s, ev);
	if (!live_is(ev, PROF_EV_LOST) ||
	    strcmp(live_text(lt, ev, PROF_F_KIND), PROF_LOST_PAUSED) != 0)
		return;
	cr_assert_lt(s->pause_cnt, PAUSES_MAX);
	cr_expect_eq(live_int(ev, PROF_F_COUNT), 1);
	s->pauses[s->pause_cnt++] =
		(struct gate){ live_int(ev, PROF_F_FIRST_NS), live_int(ev, PROF_F_LAST_NS) };
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct seen *s = ctx;

	for (size_t p = 0; p < s->pause_cnt; p++) {
		if (i->ended < s->pauses[p].from || i->began > s->pauses[p].to)
			continue;
		s->over_pause++;
		s->blocked_over_pause += i->state != INTERVAL_UNKNOWN;
	}
}

static void read_window(const char *path, struct seen *s)
{
	struct trace_event ev;
	struct intervals *iv;
	struct live_trace lt;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	iv = intervals_new(&(struct intervals_opts){ lt.names, add_interval, s });
	while (live_event(&lt, &ev)) {
		add_event(s, &lt, &ev);
		/* a pause is recorded before later events */
		intervals_add(iv, lt.trace, &ev);
	}
	intervals_finish(iv);
	intervals_free(iv);
	live_close(&lt);
}

/* Until it sleeps again, which is a switch as well. */
static void go_and_settle(struct live_proc *sleeper)
{
	struct live_switches ignored;

	live_go(sleeper);
	live_read_switches(sleeper->pid, &ignored);
}

/* ---- */

Test(when, events_during_a_pause_are_absent_and_the_pause_is_no_blocked_time)
{
	struct live_proc sleepers[SLEEPERS];
	struct seen s = { .pause_cnt = 0 };
	struct live_control control;
	struct live_rec rec;
	char pids[128] = "";
	size_t i;

	live_control(&control);
	for (i = 0; i < SLEEPERS; i++) {
		live_stimulus(&sleepers[i], "sleeper", "40", "1000", NULL);
		s.tids[i] = (uint32_t)sleepers[i].pid;
		snprintf(pids + strlen(pids), sizeof(pids) - strlen(pids), "%s%d", i ? "," : "",
			 sleepers[i].pid);
	}
	live_record(&rec, "-p", pids, "-D", "-1", "--control", control.spec, NULL);
	live_request(&control, "ping");
	go_and_settle(&sleepers[0]);
	live_request(&control, "enable");
	live_go(&sleepers[1]);
	live_request(&control, "disable");
	go_and_settle(&sleepers[2]);
	live_request(&control, "enable");
	live_go(&sleepers[3]);
	live_request(&control, "stop");
	cr_assert_eq(live_finish(&rec), 0);
	for (i = 0; i < SLEEPERS; i++)
		live_end(&sleepers[i]);
	read_window(rec.path, &s);
	cr_expect_eq(s.switches[0], 0, "%lu before the first", (unsigned long)s.switches[0]);
	cr_expect_eq(s.switches[2], 0, "%lu in the pause", (unsigned long)s.switches[2]);
	cr_expect_geq(s.naps[1], NAPS);
	cr_expect_leq(s.naps[1], NAPS + 1);
	cr_expect_geq(s.naps[3], NAPS);
	cr_expect_leq(s.naps[3], NAPS + 1);
	cr_assert_eq(s.pause_cnt, 2);
	for (i = 0; i < 2; i++)
		cr_expect_gt(s.pauses[i].to - s.pauses[i].from, NAPS * MS, "one slept in it");
	cr_expect_gt(s.pauses[1].from - s.pauses[0].to, NAPS * MS);
	cr_expect_geq(s.over_pause, 4, "some thread's interval lies over each");
	cr_expect_eq(s.blocked_over_pause, 0, "%lu of %lu have a state",
		     (unsigned long)s.blocked_over_pause, (unsigned long)s.over_pause);
	live_control_fini(&control);
}

Test(when, delay_lets_the_command_run_and_then_records)
{
	struct seen s = { .pause_cnt = 0 };
	struct live_rec rec;

	live_record(&rec, "-D", "300", "--", live_built("stimuli/sleeper"), "--now", "60", "10000",
		    NULL);
	cr_assert_eq(live_finish(&rec), 0);
	read_window(rec.path, &s);
	cr_assert_eq(s.pause_cnt, 1);
	cr_expect_geq(s.pauses[0].to - s.pauses[0].from, 300 * MS);
	cr_expect_geq(s.first_switch, s.pauses[0].from + 300 * MS);
}

Test(when, metadata_of_the_user_is_in_the_trace_and_info_prints_pauses)
{
	struct live_proc sleeper;
	struct live_rec rec;
	struct buf text;

	live_stimulus(&sleeper, "sleeper", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), "-D", "50", "-d", "50ms", "--meta",
		    "release=4.2 b=c", "--meta", "ticket=", NULL);
	cr_assert_eq(live_finish(&rec), 0);
	live_kill(&sleeper);
	text = live_output((const char *const[]){ "info", rec.path, NULL });
	cr_expect(strstr(text.data, "\nrelease         4.2 b=c\n"), "%s", text.data);
	cr_expect(strstr(text.data, "\npaused          1 time range on purpose, 0."), "%s",
		  text.data);
	cr_expect(strstr(text.data, "\nlost            nothing\n"), "%s", text.data);
	buf_free(&text);
}

/* Where this machine was never suspended the two clocks are one, and their traces are on two all the same. */
Test(when, clock_that_counts_suspend_is_reported_and_differs_from_other_clocks)
{
	struct seen s = { .pause_cnt = 0 };
	struct timespec before, after;
	struct live_proc sleeper;
	struct live_rec recs[2];
	struct buf text;

	for (int i = 0; i < 2; i++) {
		live_stimulus(&sleeper, "sleeper", NULL);
		clock_gettime(CLOCK_BOOTTIME, &before);
		live_record(&recs[i], "-p", live_number(sleeper.pid), "-k", i ? "mono" : "boot",
			    NULL);
		live_recording(&recs[i]);
		live_go(&sleeper);
		cr_assert_eq(live_stop(&recs[i]), 0);
		clock_gettime(CLOCK_BOOTTIME, &after);
		live_end(&sleeper);
		if (i)
			break;
		read_window(recs[0].path, &s);
		cr_expect_geq(s.first_switch, (uint64_t)before.tv_sec * SECOND);
		cr_expect_leq(s.first_switch, (uint64_t)(after.tv_sec + 1) * SECOND);
	}
	text = live_output((const char *const[]){ "info", recs[0].path, NULL });
	cr_expect(strstr(text.data, "\nclock           CLOCK_BOOTTIME\n"), "%s", text.data);
	buf_free(&text);
	text = live_output((const char *const[]){ "merge", recs[0].path, recs[1].path, "-o",
						  live_path("both"), NULL });
	buf_free(&text);
	text = live_output((const char *const[]){ "info", live_path("both"), NULL });
	cr_expect(strstr(text.data, " on 2 clocks"), "%s", text.data);
	buf_free(&text);
}
