// SPDX-License-Identifier: BSD-2-Clause
/* Recordings without a context switch: none happened, none was recorded, or a cut removed them. */
#include "tests/cmd/run_cmd.h"

TestSuite(no_switches, .timeout = 60);

/* @kv: further metadata; the trace is 3 s long. @states: switches were recorded. */
static int input(const char *const *kv, bool states)
{
	const uint64_t t = 20 * RUN_SEC;
	const char *meta[16] = { "version", "0.1.0", "target", "pid 8" };
	size_t n = 4;
	struct make m;

	for (; kv && *kv; kv++)
		meta[n++] = *kv;
	make_init(&m, NULL);
	make_metadata(&m, t, meta);
	if (states)
		make_tpsym(&m, t, "sched:sched_switch", "prev_state", PROF_TP_FLAG, 1, "S");
	make_task(&m, t, 8, 8, "idler");
	make_clock(&m, t, 1);
	make_clock(&m, t + 3 * RUN_SEC, 2);
	return make_done(&m);
}

static const char *const sched_words[] = { "latency", "timehist", "map", "summary" };

static void expect_reason(const char *const *kv, const char *reason)
{
	struct run r = run_cmd(cmd_offcpu, input(kv, false), "offcpu", "-", NULL);

	run_expect_in(r.out, "No blocked time in standard input: ");
	run_expect_in(r.out, reason);
	run_free(&r);
	r = run_cmd(cmd_report, input(kv, false), "report", "--wall", "-", NULL);
	run_expect_in(r.out, "No times in standard input: ");
	run_expect_in(r.out, reason);
	run_free(&r);
	r = run_cmd(cmd_explain, input(kv, false), "explain", "8", "-", NULL);
	run_expect_in(r.out, reason);
	run_free(&r);
	for (size_t i = 0; i < sizeof(sched_words) / sizeof(sched_words[0]); i++) {
		r = run_cmd(cmd_sched, input(kv, false), "sched", sched_words[i], "-", NULL);
		run_expect_in(r.out, reason);
		run_free(&r);
	}
}

Test(no_switches, reason_follows_from_the_metadata)
{
	expect_reason(NULL, "it was recorded without context switches (--no-sched or -e).\n");
	expect_reason((const char *const[]){ "cut", "cut -p 8 -e sched:sched_waking", NULL },
		      "its context switches were removed by cut -e.\n");
	expect_reason((const char *const[]){ "cut", "cut -p 8", NULL },
		      "it has no context switches.\n");
	expect_reason((const char *const[]){ "switch_filter", "prev_prio < 100", NULL },
		      "none of its context switches passed --filter.\n");
}

Test(no_switches, of_some_cpus_the_others_are_unknown)
{
	static const char *const kv[] = { "recorded_cpus", "1", NULL };
	struct run r = run_cmd(cmd_offcpu, input(kv, true), "offcpu", "-", NULL);

	run_expect_in(r.out, "its threads did not switch on the recorded CPUs.\n");
	run_free(&r);
}

Test(no_switches, thread_without_a_switch_was_blocked_all_the_time)
{
	struct run r = run_cmd(cmd_offcpu, input(NULL, true), "offcpu", "--by", "comm", "-", NULL);

	run_expect_in(r.out, "# 1 off-CPU interval, 3.000 s in total; *: includes fragments (1)\n");
	run_expect_in(r.out, "    3.000 s* 100.00%        1    3.000 s    3.000 s  idler\n");
	run_free(&r);
	r = run_cmd(cmd_explain, input(NULL, true), "explain", "8", "-", NULL);
	run_expect_in(
		r.out,
		"blocked 3.000 s, started before the recording, not ended in the recording\n");
	run_free(&r);
	r = run_cmd(cmd_report, input(NULL, true), "report", "--wall", "-", NULL);
	run_expect_in(r.out, "running 0.000 s, runnable 0.000 s, blocked 3.000 s\n");
	run_free(&r);
	for (size_t i = 0; i < sizeof(sched_words) / sizeof(sched_words[0]); i++) {
		r = run_cmd(cmd_sched, input(NULL, true), "sched", sched_words[i], "-", NULL);
		run_expect_in(r.out, "its threads did not switch during the recording.\n");
		run_free(&r);
	}
}

/* Nothing is known of a thread that is not a target. */
Test(no_switches, other_threads_have_no_blocked_time)
{
	struct run r;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, (const char *const[]){ "target", "pid 9", NULL });
	make_tpsym(&m, RUN_SEC, "sched:sched_switch", "prev_state", PROF_TP_FLAG, 1, "S");
	make_task(&m, RUN_SEC, 8, 8, "idler");
	make_clock(&m, 4 * RUN_SEC, 2);
	r = run_cmd(cmd_offcpu, make_done(&m), "offcpu", "-", NULL);
	run_expect_in(r.out, "No blocked time in standard input: ");
	run_free(&r);
}

/* Of all processes, only those that ran are in the trace. */
Test(no_switches, reason_for_a_missing_process_of_a_system)
{
	struct run r;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, (const char *const[]){ "target", "system", NULL });
	make_task(&m, RUN_SEC, 8, 8, "app");
	make_switch(&m, 2 * RUN_SEC, 0, "app", 8, 1, "swapper/0", 0);
	r = run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-p", "99", "-", NULL);
	run_expect_in(r.err,
		      "dial9-prof: no blocked time in standard input: process 99 is not in the "
		      "trace: it did not exist, or did not run during the recording\n");
	run_free(&r);
	r = run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-t", "99", "-", NULL);
	run_expect_in(r.err, "thread 99 is not in the trace: it did not exist, ");
	run_free(&r);
	r = run_cmd(cmd_explain, make_file(&m), "explain", "99", "-", NULL);
	run_expect_in(r.err, "no thread or process 99 in standard input: it did not exist, ");
	run_free(&r);
	make_fini(&m);
}

/* Cuts by versions that did not write the key "switches": the wakeups alone give no states. */
Test(no_switches, wakeups_of_an_older_cut_give_no_blocked_time)
{
	const uint64_t t = 20 * RUN_SEC;
	struct run r;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, t,
		      (const char *const[]){ "target", "system", "cut", "cut -e sched:sched_waking",
					     NULL });
	make_waking(&m, t, 0, 13, "a", 12);
	make_waking(&m, t + 2 * RUN_SEC, 0, 13, "a", 11);
	r = run_cmd(cmd_offcpu, make_done(&m), "offcpu", "-t11", "-", NULL);
	run_expect_in(r.out, "No blocked time in standard input: its context switches were removed "
			     "by cut -e.\n");
	run_expect_in(r.out, "# unknown: 2.000 s (all threads): context switches not selected\n");
	run_free(&r);
}
