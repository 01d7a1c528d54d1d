// SPDX-License-Identifier: BSD-2-Clause
/* Real time on a leash: by need, within a budget that nothing recorded can stretch, and survivable. */
#include "record/realtime.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "support.h"

TestSuite(realtime, .fini = live_cleanup, .timeout = 60);

#define SECOND_NS 1000000000ULL

enum { HOGS = 4 };

/* ---- the thread ------------------------------------------------------------------------------- */

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t until = cpu_ns() + ns;

	while (cpu_ns() < until)
		;
}

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

static void begin(struct realtime *rt, uint32_t priority)
{
	realtime_begin(rt, &(struct realtime_cfg){ .priority = priority, .nice = -3 });
}

Test(realtime, it_is_taken_when_rings_fill_and_given_back_when_they_do_not)
{
	struct sched_param param;
	struct realtime rt;
	int i;

	begin(&rt, 7);
	realtime_before_pass(&rt, 1, false);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_before_pass(&rt, 2, true);
	cr_expect_eq(policy(), SCHED_FIFO);
	sched_getparam(0, &param);
	cr_expect_eq(param.sched_priority, 7);
	for (i = 1; i < REALTIME_CALM_PASSES; i++)
		realtime_before_pass(&rt, 2 + i, false);
	cr_expect_eq(policy(), SCHED_FIFO, "a short calm does not count");
	realtime_before_pass(&rt, 100, false);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_end(&rt);
}

Test(realtime, the_budget_of_a_second_is_all_there_is)
{
	struct realtime rt;

	begin(&rt, 1);
	realtime_before_pass(&rt, 1, true);
	burn(REALTIME_BUDGET_NS / 2);
	realtime_within_pass(&rt, 2);
	cr_expect_eq(policy(), SCHED_FIFO, "half of it");
	nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
	burn(REALTIME_BUDGET_NS / 2);
	realtime_within_pass(&rt, 3);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_before_pass(&rt, SECOND_NS, true);
	cr_expect_eq(policy(), SCHED_OTHER, "the second is not over");
	realtime_before_pass(&rt, SECOND_NS + 1, true);
	cr_expect_eq(policy(), SCHED_FIFO);
	realtime_end(&rt);
	cr_expect_eq(policy(), SCHED_OTHER);
	cr_expect_geq(realtime_ns(&rt), (uint64_t)REALTIME_BUDGET_NS);
	cr_expect_lt(realtime_ns(&rt), 2ULL * REALTIME_BUDGET_NS);
}

/* A pass that does not look is made an ordinary one by the kernel's limit, and is not killed. */
Test(realtime, a_pass_that_never_looks_is_cut_by_the_limit)
{
	struct realtime rt;

	begin(&rt, 1);
	realtime_before_pass(&rt, 1, true);
	cr_expect_eq(policy(), SCHED_FIFO);
	burn(6ULL * REALTIME_BUDGET_NS);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_before_pass(&rt, 2, true);
	cr_expect_eq(policy(), SCHED_OTHER, "and its budget is used up");
	cr_expect_eq(realtime_ns(&rt), (uint64_t)REALTIME_BUDGET_NS);
	realtime_before_pass(&rt, SECOND_NS + 2, true);
	burn(6ULL * REALTIME_BUDGET_NS);
	cr_expect_eq(policy(), SCHED_OTHER, "the second time as well");
	realtime_end(&rt);
}

Test(realtime, a_limit_on_cpu_time_still_kills, .signal = SIGXCPU)
{
	struct realtime rt;

	begin(&rt, 1);
	raise(SIGXCPU);
}

Test(realtime, priority_zero_is_never)
{
	struct realtime rt;

	begin(&rt, 0);
	realtime_before_pass(&rt, 1, true);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_end(&rt);
	cr_expect_eq(realtime_ns(&rt), 0);
}

/* ---- recordings -------------------------------------------------------------------------------- */

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
	while (live_next(&lt, &ev)) {
		if (ev.kind != TRACE_STATS)
			continue;
		now = live_int(&ev, PROF_F_REALTIME_CPU_NS);
		if (now - f->realtime_ns > f->most_ns)
			f->most_ns = now - f->realtime_ns;
		f->realtime_ns = now;
		f->elapsed_ns = live_int(&ev, PROF_F_ELAPSED_NS);
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

Test(realtime, nothing_is_lost_beside_more_work_than_cpus)
{
	struct live_proc hogs[HOGS], copier;
	struct live_trace lt;
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
	live_open(&lt, rec.path, false);
	cr_expect_gt(lt.produced, 200000);
	cr_expect_eq(lt.ring_full, 0);
	live_close(&lt);
}
