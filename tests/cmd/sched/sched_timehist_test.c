// SPDX-License-Identifier: BSD-2-Clause
/* `sched timehist`, and other commands, if a wakeup is missing or outside the window. */
#include "tests/cmd/run_cmd.h"

TestSuite(sched_timehist, .timeout = 60);

/* It leaves its CPU to block at 21 s, and returns at 23 s. */
static int unwoken(void)
{
	const uint64_t s = RUN_SEC, leaf = make_frame(1, 0x310);
	struct make m;

	make_init(&m, NULL);
	make_module(&m, 20 * s, 1, "/opt/app", PROF_MODULE_ELF);
	make_symbol(&m, 20 * s, leaf, 0, leaf, "lock", "", 0);
	make_task(&m, 20 * s, 10, 11, "worker");
	make_switch(&m, 20 * s, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, 21 * s, 0, "worker", 11, 1, "swapper/0", 0);
	make_sample(&m, 21 * s, 10, 11, PROF_SOURCE_SWITCH_OUT, 0, &leaf, 1);
	make_switch(&m, 23 * s, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, 24 * s, 0, "worker", 11, 0x10, "swapper/0", 0);
	return make_done(&m);
}

Test(sched_timehist, off_cpu_time_without_a_wakeup_is_not_blocked_time)
{
	struct run r = run_cmd(cmd_offcpu, unwoken(), "offcpu", "-", NULL);

	run_expect_in(
		r.out,
		"No blocked time in standard input: all off-CPU intervals are incomplete.\n"
		"# unknown: 2.000 s (all threads) runnable or blocked: wakeup not recorded\n");
	run_free(&r);
	r = run_cmd(cmd_sched, unwoken(), "sched", "timehist", "-", NULL);
	run_expect_in(r.out, "  worker[11/10]                    2000.000          -   1000.000\n");
	run_expect_in(
		r.out,
		"\n# unknown: 2.000 s (all threads) runnable or blocked: wakeup not recorded\n");
	run_free(&r);
	r = run_cmd(cmd_explain, unwoken(), "explain", "11", "-", "--time=21,23", NULL);
	run_expect_in(r.out, "unknown for 2.000 s: runnable or blocked, wakeup not recorded\n"
			     "                lock (app)\n");
	run_free(&r);
	r = run_cmd(cmd_explain, unwoken(), "explain", "11", "-", NULL);
	run_expect_in(r.out, "from 21.000000000 to 23.000000000:");
	run_free(&r);
}

/* Woken at 22.25 s. */
Test(sched_timehist, latency_that_the_window_cuts_has_a_star)
{
	const uint64_t s = RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 20 * s, 10, 11, "worker");
	make_switch(&m, 21 * s, 0, "worker", 11, 1, "swapper/0", 0);
	make_waking(&m, 22 * s + s / 4, 0, 0, "worker", 11);
	make_switch(&m, 22 * s + s / 2, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, 23 * s, 0, "worker", 11, 1, "swapper/0", 0);
	r = run_cmd(cmd_sched, make_done(&m), "sched", "timehist", "-", "--time=22.3,", NULL);
	run_expect_in(r.out, "  worker[11/10]                           -    200.000*   500.000\n");
	run_free(&r);
}
