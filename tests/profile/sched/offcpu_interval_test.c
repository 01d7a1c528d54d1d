// SPDX-License-Identifier: BSD-2-Clause
/* Intervals from off-CPU interval events: each expected line follows from the event above it. */
#include "tests/profile/intervals_run.h"

TestSuite(offcpu_interval, .timeout = 60);

enum { SLEEPS = 1, PREEMPTED = 0x100 };

enum { WOKEN = 1, UNFINISHED };

struct off_cpu {
	uint64_t ts, off, blocked, state;
	unsigned int how; /* WOKEN, UNFINISHED */
};

static void make_begin(struct make *m)
{
	static const char *const kv[] = { PROF_META_OFF_MIN_NS, "100", PROF_META_TARGET, "pid 5",
					  NULL };

	make_init(m, NULL);
	make_metadata(m, 900, kv);
	make_task(m, 900, 5, 5, "a");
}

/* Of thread 5, which left CPU 2 for CPU 3 and was woken by 7. */
static void make_offcpu(struct make *m, const struct off_cpu *s)
{
	MAKE_NUMBERS(m, s->ts, "dial9:off_cpu", { "common_cpu", 3 }, { "common_pid", 5 },
		     { "off_ns", s->off }, { "blocked_ns", s->blocked }, { "prev_state", s->state },
		     { "waker_pid", 7 }, { "context", PROF_CONTEXT_TASK }, { "from_cpu", 2 },
		     { "woken", s->how & WOKEN }, { "unfinished", s->how / UNFINISHED });
}

Test(offcpu_interval, interval_is_blocked_and_then_runnable_with_its_own_stack)
{
	const uint64_t frames[] = { make_frame(1, 0x10) };
	struct run r = { 0 };
	struct make m;

	make_begin(&m);
	make_offcpu(&m, &(struct off_cpu){ 2000, 500, 400, SLEEPS, WOKEN });
	make_sample(&m, 2000, 5, 5, PROF_SOURCE_EVENT, 3, frames, 1);
	make_offcpu(&m, &(struct off_cpu){ 3000, 300, 300, SLEEPS, 0 });
	run_expect(&r, &m,
		   "5 blocked 1500-1900 to waking cpu 2 by 7 at 1900 S stack 0\n"
		   "5 runnable 1900-2000 to cpu cpu 3 woken by 7 at 1900\n"
		   "5 unknown (blocked) 2700-3000 to cpu cpu 2 S unsure\n");
}

Test(offcpu_interval, interval_of_a_preempted_thread_is_run_queue_latency)
{
	struct run r = { 0 };
	struct make m;

	make_begin(&m);
	make_offcpu(&m, &(struct off_cpu){ 2000, 500, 0, PREEMPTED, 0 });
	make_offcpu(&m, &(struct off_cpu){ 3000, 500, 0, 0, 0 });
	make_offcpu(&m, &(struct off_cpu){ 4000, 500, 0, SLEEPS, WOKEN });
	run_expect(&r, &m,
		   "5 runnable 1500-2000 to cpu cpu 3 preempted R\n"
		   "5 runnable 2500-3000 to cpu cpu 3 gave way\n"
		   "5 runnable 3500-4000 to cpu cpu 3 early by 7 at 3500 S\n");
}

Test(offcpu_interval, unfinished_interval_ends_with_the_recording)
{
	struct run r = { 0 };
	struct make m;

	make_begin(&m);
	make_offcpu(&m, &(struct off_cpu){ 2000, 500, 500, SLEEPS, UNFINISHED });
	make_offcpu(&m, &(struct off_cpu){ 3000, 500, 200, SLEEPS, WOKEN | UNFINISHED });
	run_expect(&r, &m,
		   "5 blocked 1500-2000 to nothing cpu 2 S edge-end\n"
		   "5 blocked 2500-2700 to waking cpu 2 by 7 at 2700 S\n"
		   "5 runnable 2700-3000 to nothing cpu 2 woken by 7 at 2700 edge-end\n");
}

/*
 * For the time in between, and for a thread without intervals, nothing is reported; nor does a loss make an
 * interval uncertain.
 */
Test(offcpu_interval, time_between_intervals_is_not_reported)
{
	struct run r = { .gaps_first = true };
	struct make m;

	make_begin(&m);
	make_task(&m, 900, 6, 6, "b");
	make_lost(&m, 1000, "ring_full", 3, 1600, 1700);
	make_offcpu(&m, &(struct off_cpu){ 2000, 500, 500, SLEEPS, 0 });
	make_clock(&m, 9000, 9000);
	run_expect(&r, &m, "5 unknown (blocked) 1500-2000 to cpu cpu 2 S unsure\n");
}

Test(offcpu_interval, interval_is_cut_to_the_window)
{
	struct run r = { .from = 1600, .to = 1950 };
	struct make m;

	make_begin(&m);
	make_offcpu(&m, &(struct off_cpu){ 1550, 300, 300, SLEEPS, 0 });
	make_offcpu(&m, &(struct off_cpu){ 2000, 500, 400, SLEEPS, WOKEN });
	run_expect(&r, &m,
		   "5 blocked 1600-1900 to waking cpu 2 by 7 at 1900 S clip-start\n"
		   "5 runnable 1900-1950 to cpu cpu 3 woken by 7 at 1900 clip-end\n");
}

/* Impossible times, and an impossible thread. */
Test(offcpu_interval, invalid_events_are_read_as_far_as_possible)
{
	struct run r = { 0 };
	struct make m;

	make_begin(&m);
	make_offcpu(&m, &(struct off_cpu){ 2000, UINT64_MAX, UINT64_MAX, SLEEPS, WOKEN });
	MAKE_NUMBERS(&m, 3000, "dial9:off_cpu", { "common_cpu", 3 }, { "common_pid", 0 },
		     { "off_ns", 100 });
	MAKE_NUMBERS(&m, 4000, "dial9:off_cpu", { "common_cpu", 3 }, { "common_pid", 5 });
	run_expect(&r, &m,
		   "5 blocked 0-2000 to waking cpu 2 by 7 at 2000 S\n"
		   "5 runnable 2000-2000 to cpu cpu 3 woken by 7 at 2000\n"
		   "5 runnable 4000-4000 to cpu cpu 3 gave way\n");
}
