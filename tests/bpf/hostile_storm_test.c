// SPDX-License-Identifier: BSD-2-Clause
/*
 * A busy machine, with other profilers on it. $D9_STORM_SECONDS (30) is how long the storm lasts; five
 * minutes are for a run by hand.
 */
/* ALONE: time and memory next to a hostile program */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bpf/fault.h"

TestSuite(fault_storm, .fini = live_cleanup, .timeout = 900);

#define SECOND_NS 1000000000ULL

enum { SECONDS = 30, WARM_S = 10, OTHERS_EVERY_S = 5 };

/*
 * Another profiler that comes, stays for three seconds, and goes; the next one comes later, and is
 * perf, if it is installed, or ours in turn. The kernel's records about programs grow with each that listens, and
 * end in what was there before.
 */
struct others {
	struct live_proc proc;
	uint64_t next_ns;
	unsigned int cnt;
};

static void come_and_go(void *ctx, struct fault *f)
{
	const char *ours[] = { live_program(), "record",    "-q", "-a", "-d", "3",
			       "-o",	       "/dev/null", NULL };
	const char *perf[] = { "/usr/bin/perf", "record", "-q",	   "-a", "-o",
			       "/dev/null",	"--",	  "sleep", "3",	 NULL };
	struct others *o = ctx;
	uint64_t now = clock_mono_ns();

	(void)f;
	if (now < o->next_ns)
		return;
	if (o->cnt)
		live_proc_fini(&o->proc);
	live_spawn(&o->proc, o->cnt % 2 && !access(perf[0], X_OK) ? perf : ours, NULL);
	o->cnt++;
	o->next_ns = now + OTHERS_EVERY_S * SECOND_NS;
}

/* Returns how many of its processes ended. */
static uint64_t end_storm(struct live_proc *storm)
{
	uint64_t forks;

	close(storm->in);
	storm->in = -1;
	live_read_until(storm, "done");
	forks = live_truth(storm, "forks");
	live_end(storm);
	return forks;
}

Test(fault_storm, symbols_are_right_and_memory_stays_constant)
{
	const char *text = getenv("D9_STORM_SECONDS");
	struct others others = { 0 };
	struct fault_exits exits;
	struct live_proc storm;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&storm, "storm", NULL);
	fault_record(&f, text ? atoi(text) : SECONDS, NULL);
	cr_assert_eq(write(storm.in, "\n", 1), 1);
	fault_watch(&f, come_and_go, &others);
	live_proc_fini(&others.proc);
	cr_expect_gt(end_storm(&storm), 0);
	cr_expect_gt(others.cnt, 1);
	fault_check(&f);
	fault_check_exits(&f, &exits);
	fault_check_flat(&f, WARM_S);
	fault_end(&f);
}
