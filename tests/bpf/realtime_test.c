// SPDX-License-Identifier: BSD-2-Clause
/* Real-time priority while rings fill, within a share that nothing recorded can exceed. */
/* ALONE: CPU share */
#include "kernel/realtime.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(realtime, .fini = live_cleanup);

enum { HOGS = 8, PAIRS = 4 };

#define ROUNDS "20000"

struct figures {
	uint64_t elapsed_ns, realtime_ns;
	uint64_t lost; /* because a ring was full */
	uint64_t produced;
};

static void read_figures(const char *path, uint64_t least_produced, struct figures *f)
{
	struct trace_event ev;
	struct live_trace lt;

	*f = (struct figures){ 0 };
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_LOST &&
		    !strcmp(live_text(&lt, &ev, PROF_F_KIND), PROF_LOST_RING_FULL))
			f->lost += live_int(&ev, PROF_F_COUNT);
		if (ev.kind != TRACE_STATS)
			continue;
		f->realtime_ns = live_int(&ev, "realtime_ns");
		f->elapsed_ns = live_int(&ev, "elapsed_ns");
	}
	cr_assert_geq(lt.produced, least_produced);
	f->produced = lt.produced;
	live_close(&lt);
}

/* System calls one after the other: more than anything else can. */
static void copy_bytes(struct live_proc *p, const char *count)
{
	const char *argv[] = { "/bin/dd", "if=/dev/zero", "of=/dev/null",
			       "bs=1",	  "status=none",  count,
			       NULL };

	live_spawn(p, argv, NULL);
}

static void record_flood(const char *priority, struct figures *f)
{
	struct live_proc copier;
	struct live_rec rec;

	copy_bytes(&copier, NULL);
	live_record(&rec, "-p", live_number(copier.pid), "-m", "1M", "-d", "3", "-r", priority,
		    "-e", "raw_syscalls:*", NULL);
	cr_assert_eq(live_finish(&rec), 0);
	kill(copier.pid, SIGKILL);
	live_proc_fini(&copier);
	read_figures(rec.path, 100000, f);
}

Test(realtime, flood_of_events_gets_only_its_share_of_a_cpu)
{
	struct figures f;

	record_flood("1", &f);
	cr_expect_gt(f.realtime_ns, 0);
	/* threads are measured once per two milliseconds, and may run on several CPUs */
	cr_expect_lt(f.realtime_ns, f.elapsed_ns / 100 * (REALTIME_SHARE_MAX + 20));
}

Test(realtime, realtime_is_not_used_if_it_is_off)
{
	struct figures f;

	record_flood("0", &f);
	cr_expect_eq(f.realtime_ns, 0);
}

Test(realtime, quiet_recording_needs_no_realtime)
{
	struct live_proc sleeper;
	struct live_rec rec;
	struct figures f;

	live_stimulus(&sleeper, "sleeper", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), "-d", "1", NULL);
	cr_assert_eq(live_finish(&rec), 0);
	kill(sleeper.pid, SIGKILL);
	live_proc_fini(&sleeper);
	read_figures(rec.path, 0, &f);
	cr_expect_eq(f.realtime_ns, 0);
}

/*
 * Processes that switch as fast as possible, and others that never sleep. The recorder has no better nice value than
 * they, and a ring holds some hundredths of a second.
 */
Test(realtime, nothing_is_lost_next_to_more_load_than_cpus)
{
	struct live_proc hogs[HOGS], pairs[PAIRS];
	struct live_rec rec;
	struct figures f;
	size_t i;

	for (i = 0; i < HOGS; i++) {
		live_stimulus(&hogs[i], "spinner", "50", "600000", NULL);
		cr_assert_eq(write(hogs[i].in, "\n", 1), 1);
	}
	live_record(&rec, "-a", "--no-names", "--nice", "0", NULL);
	live_recording(&rec);
	for (i = 0; i < PAIRS; i++) {
		live_stimulus(&pairs[i], "pingpong", ROUNDS, NULL);
		cr_assert_eq(write(pairs[i].in, "\n", 1), 1);
	}
	for (i = 0; i < PAIRS; i++) {
		cr_assert_eq(live_wait(&pairs[i]), 0);
		live_proc_fini(&pairs[i]);
	}
	cr_assert_eq(live_stop(&rec), 0);
	for (i = 0; i < HOGS; i++) {
		kill(hogs[i].pid, SIGKILL);
		live_proc_fini(&hogs[i]);
	}
	read_figures(rec.path, 200000, &f);
	cr_log_info("%llu produced, %llu ns real-time of %llu", (unsigned long long)f.produced,
		    (unsigned long long)f.realtime_ns, (unsigned long long)f.elapsed_ns);
	cr_expect_eq(f.lost, 0, "%llu of %llu lost", (unsigned long long)f.lost,
		     (unsigned long long)f.produced);
}
