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

enum { HOGS = 4 };

struct figures {
	uint64_t elapsed_ns, realtime_ns;
	uint64_t most_ns; /* of real time between one report and the next */
};

static void read_figures(const char *path, uint64_t least_produced, struct figures *f)
{
	struct trace_event ev;
	struct live_trace lt;
	uint64_t now;

	*f = (struct figures){ 0 };
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_STATS)
			continue;
		now = live_int(&ev, "realtime_ns");
		if (now - f->realtime_ns > f->most_ns)
			f->most_ns = now - f->realtime_ns;
		f->realtime_ns = now;
		f->elapsed_ns = live_int(&ev, "elapsed_ns");
	}
	cr_assert_geq(lt.produced, least_produced);
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

Test(realtime, a_flood_gets_a_few_percent_of_a_cpu_and_no_more)
{
	struct figures f;

	record_flood("1", &f);
	cr_expect_gt(f.realtime_ns, 0);
	/* reports and budgets have seconds of their own, and a look comes after a batch */
	cr_expect_lt(f.most_ns, 5ULL * REALTIME_BUDGET_NS / 2);
	cr_expect_lt(f.realtime_ns, f.elapsed_ns / 10);
}

Test(realtime, none_is_taken_when_none_is_asked_for)
{
	struct figures f;

	record_flood("0", &f);
	cr_expect_eq(f.realtime_ns, 0);
}

Test(realtime, a_quiet_recording_needs_none)
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

/* What was lost by a report was lost when the budget of that second or the one before was used up. */
static void check_losses(const char *path)
{
	uint64_t used[3] = { 0 }, lost = 0;
	struct trace_event ev;
	struct live_trace lt;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_LOST &&
		    !strcmp(live_text(&lt, &ev, PROF_F_KIND), PROF_LOST_RING_FULL))
			lost += live_int(&ev, PROF_F_COUNT);
		if (ev.kind != TRACE_STATS)
			continue;
		used[2] = live_int(&ev, "realtime_ns");
		cr_expect(!lost || used[2] - used[0] >= REALTIME_BUDGET_NS / 2,
			  "%llu lost, and %llu ns of real time used", (unsigned long long)lost,
			  (unsigned long long)(used[2] - used[0]));
		used[0] = used[1];
		used[1] = used[2];
		lost = 0;
	}
	cr_expect_gt(lt.produced, 200000);
	live_close(&lt);
}

/* How much that is, is the machine's business; that nothing is lost while there is time left is ours. */
Test(realtime, beside_more_work_than_cpus_only_the_budget_loses)
{
	struct live_proc hogs[HOGS], copier;
	struct live_rec rec;
	size_t i;

	for (i = 0; i < HOGS; i++) {
		live_stimulus(&hogs[i], "spinner", "50", "600000", NULL);
		cr_assert_eq(write(hogs[i].in, "\n", 1), 1);
	}
	live_record(&rec, "-a", "--no-names", "-e", "raw_syscalls:*", NULL);
	live_recording(&rec);
	copy_bytes(&copier, "count=50000");
	cr_assert_eq(live_wait(&copier), 0);
	live_proc_fini(&copier);
	cr_assert_eq(live_stop(&rec), 0);
	for (i = 0; i < HOGS; i++) {
		kill(hogs[i].pid, SIGKILL);
		live_proc_fini(&hogs[i]);
	}
	check_losses(rec.path);
}
