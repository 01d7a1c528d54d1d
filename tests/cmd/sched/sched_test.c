// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `sched` prints, to the byte. On CPU 0 thread 11 runs from 20 s, is preempted by 12 at 21 s, is runnable
 * for 0.5 s, runs, sleeps from 22 s, is woken by 12 at 22.25 s and gets the CPU at 22.5 s.
 */
#include "tests/cmd/pty.h"
#include "tests/cmd/run_cmd.h"

#include "cmd/common/report_text.h"

static int input(void)
{
	const uint64_t s = RUN_SEC, at = make_frame(1, 0x310);
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, 20 * s, 1700000000 * s);
	make_module(&m, 20 * s, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(&m, 20 * s, 10, 11, "worker");
	make_task(&m, 20 * s, 12, 12, "hog");
	make_switch(&m, 20 * s, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, 21 * s, 0, "worker", 11, 0x100, "hog", 12);
	make_sample(&m, 21 * s, 10, 11, PROF_SOURCE_SWITCH_OUT, 0, &at, 1);
	make_switch(&m, 21 * s + s / 2, 0, "hog", 12, 0, "worker", 11);
	make_switch(&m, 22 * s, 0, "worker", 11, 1, "hog", 12);
	make_sample(&m, 22 * s, 10, 11, PROF_SOURCE_SWITCH_OUT, 0, &at, 1);
	make_waking(&m, 22 * s + s / 4, 0, 12, "worker", 11);
	make_switch(&m, 22 * s + s / 2, 0, "hog", 12, 0, "worker", 11);
	make_switch(&m, 23 * s, 0, "worker", 11, 1, "hog", 12);
	make_symbol(&m, 24 * s, at, 0, make_frame(1, 0x300), "work", "", 0);
	make_switch(&m, 24 * s, 0, "hog", 12, 1, "swapper/0", 0);
	return make_done(&m);
}

/* clang-format off */
#define HEAD "# standard input: run-queue latency over 4.000 s\n" \
	     "# lost: nothing\n" \
	     "#\n" \
	     "#   Runtime  Switches   Count       Total        Avg        P50        P99        Max  Max at            Task\n"

#define UNSURE "# standard input: run-queue latency over 4.000 s\n" \
	       "# lost: nothing\n" \
	       "# unknown: 1.000 s (all threads) runnable or blocked: wakeup not recorded\n" \
	       "#\n" \
	       "#   Runtime  Switches   Count       Total        Avg        P50        P99        Max  Max at            Task\n"

static const char latency[] = UNSURE
	"    2.000 s         3       2  750.000 ms 375.000 ms 250.000 ms 500.000 ms 500.000 ms  21.000000         worker 11\n"
	"    2.000 s         3       2     1.000 s 500.000 ms 500.000 ms 500.000 ms 500.000 ms  21.500000         hog 12\n";

static const char worst[] = HEAD
	"    2.000 s         3       2  750.000 ms 375.000 ms 250.000 ms 500.000 ms 500.000 ms  21.000000         worker 11\n"
	"#\n# Longest run-queue intervals\n"
	"21.000000  500.000 ms  worker 11  CPU 0  preempted in the kernel\n"
	"      500.000 ms  ran instead: hog 12 on CPU 0\n"
	"      off-CPU stack\n"
	"        work (app)\n"
	"22.250000  250.000 ms  worker 11  CPU 0  woken by hog?\n"
	"      250.000 ms  ran instead: hog 12 on CPU 0\n";

static const char timehist[] =
	"#           time    cpu  task[tid/pid]                  off-CPU ms    runq ms     run ms   state\n"
	"       21.000000 [0000]  worker[11/10]                           -          -   1000.000   R  next: hog[12]\n"
	"       22.000000 [0000]  worker[11/10]                     500.000      0.000    500.000   S  next: hog[12]\n"
	"       23.000000 [0000]  worker[11/10]                     500.000    250.000    500.000   S  next: hog[12]\n"
	"# lost: nothing\n";
/* clang-format on */

Test(sched, latency_is_printed_by_thread)
{
	run_expect(run_cmd(cmd_sched, input(), "sched", "latency", "-", NULL), CMD_OK, latency, "");
}

Test(sched, longest_latencies_have_who_ran_instead)
{
	run_expect(run_cmd(cmd_sched, input(), "sched", "latency", "-", "-t", "11", "--worst", "2",
			   NULL),
		   CMD_OK, worst, "");
}

Test(sched, rows_are_sorted_and_grouped_on_request)
{
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "latency", "-", "--by", "comm", "-s", "switch",
			"--limit", "1", NULL),
		CMD_OK,
		UNSURE
		"    2.000 s         3       2  750.000 ms 375.000 ms 250.000 ms 500.000 ms 500.000 ms  "
		"21.000000         worker\n"
		"# 1 more row: --limit 0 shows all\n",
		"");
}

/* Of two groups and one thread without; the group of 14 is known after its intervals. */
static int groups(void)
{
	const uint64_t s = RUN_SEC;
	struct make m;

	make_grouped_tasks(&m, s);
	for (uint32_t i = 0; i < 5; i++) {
		make_switch(&m, 2 * s, i, "x", 11 + i, 0x100, "y", 90 + i);
		make_switch(&m, (3 + i) * s, i, "y", 90 + i, 1, "x", 11 + i);
	}
	make_task_in(&m, 10 * s, 2, 14, "d", "/db");
	return make_done(&m);
}

Test(sched, latency_is_grouped_by_control_group)
{
	struct run r = run_cmd(cmd_sched, groups(), "sched", "latency", "-", "--by", "cgroup", "-t",
			       "11,12,13,14,15", NULL);

	run_expect_in(
		r.out,
		"1       1     5.000 s    5.000 s    5.000 s    5.000 s    5.000 s  2.000000          [unknown]\n");
	run_expect_in(
		r.out,
		"2       2     7.000 s    3.500 s    3.000 s    4.000 s    4.000 s  2.000000          /db\n");
	run_expect_in(
		r.out,
		"2       2     3.000 s    1.500 s    1.000 s    2.000 s    2.000 s  2.000000          /web\n");
	run_free(&r);
	r = run_cmd(cmd_sched, groups(), "sched", "latency", "-", "--by", "cgroup", "--json", NULL);
	run_expect_in(r.out, "\n{\"cgroup\":\"/db\",\"run_ns\":");
	run_expect_in(r.out, "\n{\"cgroup\":null,\"run_ns\":");
	run_free(&r);
}

Test(sched, output_is_one_json_object)
{
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "latency", "-", "--json", "-t", "11", NULL),
		CMD_OK,
		"{\"version\":2,\"file\":\"standard input\",\"span_ns\":4000000000,\"lost_events\":0,"
		"\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,"
		"\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"run_ns\":2000000000,"
		"\"switches\":3,\"runnable_ns\":750000000,\"unknown_ns\":0,\"unsure_ns\":0,\"rows_not_shown\":0,\"rows\":[\n"
		"{\"comm\":\"worker\",\"tid\":11,\"pid\":10,\"run_ns\":2000000000,\"switches\":3,"
		"\"intervals\":2,\"cut\":0,\"runnable_ns\":750000000,\"p50_ns\":250000000,"
		"\"p99_ns\":500000000,\"max_ns\":500000000,\"max_start_ns\":21000000000}],"
		"\"worst\":[]}\n",
		"");
}

/* In text and in JSON, in each table. */
Test(sched, missing_threads_cpus_and_events_are_reported)
{
	static const char *const words[][2] = {
		{ "latency", "run-queue latency" },
		{ "timehist", "threads that ran" },
		{ "map", "threads that ran" },
		{ "summary", "threads that ran" },
	};
	char want[200];

	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
		snprintf(want, sizeof(want),
			 "dial9-prof: no %s in standard input: CPU 9 is not in the trace\n",
			 words[k][1]);
		run_expect(run_cmd(cmd_sched, input(), "sched", words[k][0], "-", "-C", "9", NULL),
			   CMD_USAGE, "", want);
	}
	struct run r =
		run_cmd(cmd_sched, input(), "sched", "summary", "-", "-t", "99", "--json", NULL);

	cr_expect_eq(r.code, CMD_USAGE);
	cr_expect_str_eq(
		r.err,
		"dial9-prof: no threads that ran in standard input: thread 99 is not in the trace\n");
	run_expect_in(r.out, ",\"cpus\":[]}\n");
	run_free(&r);
}

static int input_of_samples(void)
{
	const uint64_t t = 20 * RUN_SEC, work = make_frame(1, 0x210);
	struct make m;

	make_init(&m, NULL);
	make_task(&m, t, 11, 11, "worker");
	for (uint64_t k = 0; k < 3; k++)
		make_sample(&m, t + k * 1000000, 11, 11, PROF_SOURCE_SAMPLE, 0, &work, 1);
	return make_done(&m);
}

/* Without switches a sampled thread would seem to run all the time. */
Test(sched, samples_alone_give_no_times)
{
#define WHY " in standard input: it has no context switches.\n"
	struct run r;

	run_expect(run_cmd(cmd_sched, input_of_samples(), "sched", "latency", "-", NULL), CMD_OK,
		   "No run-queue latency" WHY, "");
	run_expect(run_cmd(cmd_sched, input_of_samples(), "sched", "timehist", "-", NULL), CMD_OK,
		   "No thread ran" WHY, "");
	run_expect(run_cmd(cmd_sched, input_of_samples(), "sched", "map", "-", NULL), CMD_OK,
		   "No thread ran" WHY, "");
	run_expect(run_cmd(cmd_explain, input_of_samples(), "explain", "11", "-", NULL), CMD_OK,
		   "Nothing to explain of thread or process 11" WHY, "");
	run_expect(run_cmd(cmd_explain, input_of_samples(), "explain", "11", "--time", "20,", "-",
			   NULL),
		   CMD_OK, "Nothing to explain of thread or process 11" WHY, "");
	r = run_cmd(cmd_sched, input_of_samples(), "sched", "latency", "-", "--json", NULL);
	run_expect_in(
		r.out,
		"\"run_ns\":0,\"switches\":0,\"runnable_ns\":0,\"unknown_ns\":0,\"unsure_ns\":0,"

		"\"rows_not_shown\":0,\"rows\":[],\"worst\":[]}");
	run_free(&r);
#undef WHY
}

/* Nothing was lost by the recorder, but a switch is missing. */
Test(sched, time_without_switches_from_the_kernel_is_unknown)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, t, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, t + RUN_SEC, 0, "hog", 12, 1, "worker", 11);
	r = run_cmd(cmd_sched, make_done(&m), "sched", "latency", "-", "-t", "11", NULL);
	run_expect_in(
		r.out,
		"# lost: nothing\n"
		"# unknown: 1.000 s (all threads): the kernel did not emit some context switches: worker 11 (CPU 0)\n");
	run_free(&r);
}

/* The first line about unknown time, if these kinds of events were lost. */
static void expect_why(const char *kind, const char *other, const char *why)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, t, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, t + RUN_SEC, 0, "hog", 12, 1, "worker", 11);
	make_lost(&m, t + RUN_SEC, kind, 1, t + 1000, t + 2000);
	make_lost(&m, t + RUN_SEC, other, 1, t + 3000, t + 4000);
	r = run_cmd(cmd_sched, make_done(&m), "sched", "latency", "-", "-t", "11", NULL);
	run_expect_in(r.out, why);
	run_free(&r);
}

/* 6 was switched out twice and in once, without a reported loss. */
Test(sched, missing_switch_makes_seconds_uncertain)
{
	static const char why[] = "the kernel did not emit some context switches: six 6 (CPU 0)\n";
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
	make_switch(&m, 3 * RUN_SEC, 0, "six", 6, 0, "seven", 7);
	make_switch(&m, 5 * RUN_SEC, 0, "six", 6, 1, "swapper/0", 0);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "--comm", "six", "-", NULL);
	run_expect_in(r.out, "# seconds are from context switches: 1.000 s in total\n"
			     "# 2.000 s of CPU time may be missing: ");
	run_expect_in(r.out, why);
	run_free(&r);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "timehist", "--comm", "six", "-", NULL);
	run_expect_in(r.out, "# unknown: 2.000 s (all threads): ");
	run_expect_in(r.out, why);
	run_free(&r);
	make_fini(&m);
}

/* The first event of 12 is its switch in, 2 s after the start. */
static int late(void)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, t, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, t + 2 * RUN_SEC, 0, "worker", 11, 1, "late", 12);
	make_switch(&m, t + 3 * RUN_SEC, 0, "late", 12, 1, "swapper/0", 0);
	return make_done(&m);
}

#define LATE "unknown: 2.000 s (all threads) runnable or blocked: wakeup not recorded\n"

Test(sched, first_switch_in_without_a_wakeup_ends_no_run_queue_latency)
{
	struct run r = run_cmd(cmd_sched, late(), "sched", "latency", "-", "--worst", "3", NULL);

	run_expect_in(r.out, "\n# " LATE);
	cr_expect_null(strstr(r.out, "since before"), "%s", r.out);
	run_free(&r);
}

/* It is no run-queue latency in the other commands either. */
Test(sched, time_before_a_first_switch_in_is_unknown_in_all_commands)
{
	struct run r = run_cmd(cmd_sched, late(), "sched", "timehist", "-", NULL);

	run_expect_in(r.out, "\n# " LATE);
	run_free(&r);
	r = run_cmd(cmd_sched, late(), "sched", "summary", "-", "--json", NULL);
	run_expect_in(r.out, ",\"runnable_ns\":0,");
	run_expect_in(r.out, ",\"unknown_ns\":2000000000,\"unsure_ns\":2000000000,");
	run_free(&r);
	r = run_cmd(cmd_offcpu, late(), "offcpu", "-", NULL);
	run_expect_in(r.out, "\n# " LATE);
	run_free(&r);
	r = run_cmd(cmd_report, late(), "report", "--wall", "-", NULL);
	run_expect_in(r.out, ": running 3.000 s, runnable 0.000 s, blocked 1.000 s\n");
	run_expect_in(r.out, "\n# " LATE);
	run_free(&r);
	r = run_cmd(cmd_export, late(), "export", "csv", "-", "--kind=runq", NULL);
	cr_expect_null(strstr(r.out, "late"), "%s", r.out);
	run_free(&r);
	r = run_cmd(cmd_explain, late(), "explain", "12", "-", "--time=,2s", NULL);
	run_expect_in(r.out, "unknown for 2.000 s: runnable or blocked, wakeup not recorded\n");
	run_free(&r);
}

/* A filter selected the switches: nothing was lost, but times of threads are wrong. */
Test(sched, times_of_filtered_switches_are_reported_as_unreliable)
{
	static const char *const kv[] = { "switch_filter", "prev_comm ~ \"w*\"", "waking_filter",
					  "pid == 11", NULL };
	static const char note[] =
		"\n# filtered: only context switches with prev_comm ~ \"w*\"; times per state are unreliable\n";
	const uint64_t t = 20 * RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, t, kv);
	make_switch(&m, t, 0, "worker", 11, 1, "hog", 12);
	make_switch(&m, t + RUN_SEC, 0, "worker", 11, 1, "hog", 12);
	make_waking(&m, t + 2 * RUN_SEC, 0, 12, "worker", 11);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-", NULL);
	run_expect_in(r.out, note);
	run_expect_in(
		r.out,
		"\n# filtered: only wakeups with pid == 11; blocked time may include run-queue latency\n");
	run_expect_in(r.out, "(all threads): switches excluded by --filter\n");
	run_free(&r);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "timehist", "-", NULL);
	run_expect_in(r.out, note);
	run_free(&r);
	r = run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", NULL);
	run_expect_in(r.out, note);
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "--wall", "-", NULL);
	run_expect_in(r.out, note);
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "-", NULL);
	run_expect_in(r.out, "of CPU time may be missing: switches excluded by --filter\n");
	run_free(&r);
	make_fini(&m);
}

/* The options would be ignored, and the sums include all threads. */
Test(sched, selections_of_threads_and_cpus_are_refused_for_sums)
{
	static const char *const kv[] = { "summary_ns", "1000000000", NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_clock(&m, 2 * RUN_SEC, 1);
#define SUMS ": standard input has only sums per process (recorded with --summary); remove -t, -C"
	run_expect(run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-", "-C", "0", NULL),
		   CMD_USAGE, "", "dial9-prof: sched latency" SUMS ", --worst and --by cgroup\n");
	run_expect(run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-", "--worst", "3", NULL),
		   CMD_USAGE, "", "dial9-prof: sched latency" SUMS ", --worst and --by cgroup\n");
	run_expect(run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", "--by", "comm", NULL),
		   CMD_USAGE, "",
		   "dial9-prof: offcpu" SUMS
		   ", --min, --max, --state, --folded, and --by with keys other than pid\n");
	run_expect(run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", "-t", "7", NULL), CMD_USAGE,
		   "",
		   "dial9-prof: offcpu" SUMS
		   ", --min, --max, --state, --folded, and --by with keys other than pid\n");
#undef SUMS
	make_fini(&m);
}

Test(sched, skipped_time_is_printed_with_its_cause)
{
	expect_why("hole", "hole", "(all threads): missing files\n");
	expect_why("ring_full", "ring_full", "(all threads): lost events\n");
	expect_why("paused", "paused", "(all threads): pauses\n");
	expect_why("thinned", "thinned", "(all threads): skipped time slices\n");
	expect_why("paused", "thinned", "(all threads): pauses, skipped time slices\n");
	expect_why("ring_full", "paused", "(all threads): lost events, pauses\n");
}

/* Of 4 s three slices of half a second are skipped, from 2 s on. */
static void expect_skipped(const char *max_overhead, const char *want)
{
	const char *const kv[] = { "dial9.profile", "1", PROF_META_MAX_OVERHEAD_PPM, max_overhead,
				   NULL };
	const uint64_t t = 20 * RUN_SEC, half = RUN_SEC / 2;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, t,
		      max_overhead ? kv : (const char *const[]){ "dial9.profile", "1", NULL });
	make_switch(&m, t, 0, "swapper/0", 0, 0, "worker", 11);
	for (uint64_t i = 0; i < 3; i++)
		make_lost(&m, t + RUN_SEC * 4, "thinned", 1,
			  t + RUN_SEC * 2 + i * (half + half / 3),
			  t + RUN_SEC * 2 + i * (half + half / 3) + half);
	make_switch(&m, t + RUN_SEC * 4, 0, "worker", 11, 1, "swapper/0", 0);
	r = run_cmd(cmd_sched, make_done(&m), "sched", "latency", "-", NULL);
	run_expect_in(r.out, want);
	run_free(&r);
}

/* A factor for counts is right only if one slice in N was recorded all the time. */
Test(sched, skipped_time_has_a_factor_only_if_it_is_evenly_spread)
{
	expect_skipped(
		NULL,
		"# skipped: 37.5% of the time; multiply sums by 1.60; intervals longer than a slice "
		"are missing\n");
	expect_skipped(
		"10000",
		"# skipped: 37.5% of the time, between 22.000000 and 23.833333 (81.8% of it); "
		"sums are too low\n");
}

Test(sched, subcommand_is_required)
{
	run_expect(
		run_cmd(cmd_sched, input(), "sched", NULL), CMD_USAGE, "",
		"dial9-prof: sched: no subcommand given (latency, timehist, map or summary); see dial9-prof sched --help\n");
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "latenzy", NULL), CMD_USAGE, "",
		"dial9-prof: sched: unknown subcommand 'latenzy' (did you mean latency?); see dial9-prof sched --help\n");
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "latency", "-s", "tid", NULL), CMD_USAGE, "",
		"dial9-prof: sched latency: bad value 'tid' for -s: expected one of max, avg, p99, runtime, switch, "
		"wait\n");
}

/* CPU 0: both threads run 2 s; worker is runnable twice, hog until its first turn and twice more. */
Test(sched, summary_of_cpus_is_printed)
{
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "summary", "-", NULL), CMD_OK,
		"# standard input: CPU utilization over 4.000 s\n"
		"# lost: nothing\n"
		"# unknown: 1.000 s (all threads) runnable or blocked: wakeup not recorded\n"
		"#\n"
		"#CPU       Busy   Busy %  Switches  Migrated    Runnable   Queue    Longest\n"
		"   0    4.000 s 100.00%         6         0     1.750 s   0.438 500.000 ms of 11 "
		"at 21.000000\n"
		" all    4.000 s 100.00%         6         0     1.750 s   0.438 500.000 ms of 11 "
		"at 21.000000\n",
		"");
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "summary", "--json", "-t", "11", "-", NULL),
		CMD_OK,
		"{\"version\":2,\"file\":\"standard input\",\"span_ns\":4000000000,\"lost_events\":0,"
		"\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,"
		"\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"recorded_ns\":4000000000,\"busy_ns\":2000000000,"
		"\"switches\":3,\"migrated\":0,\"runnable_ns\":750000000,\"runnable_max_ns\":500000000,"
		"\"runnable_max_start_ns\":21000000000,\"runnable_max_tid\":11,\"unknown_ns\":0,\"unsure_ns\":0,\"cpus\":[\n"
		"{\"cpu\":0,\"recorded_ns\":4000000000,\"busy_ns\":2000000000,\"switches\":3,\"migrated\":0,"
		"\"runnable_ns\":750000000,\"runnable_max_ns\":500000000,"
		"\"runnable_max_start_ns\":21000000000,\"runnable_max_tid\":11}]}\n",
		"");
}

/* Of 4 s two are skipped. */
Test(sched, shares_of_cpus_refer_to_the_recorded_time)
{
	static const char *const kinds[] = { "thinned", "paused", "not_kept", "hole" };
	const uint64_t t = 20 * RUN_SEC;
	struct run r;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct make m;

		make_init(&m, NULL);
		make_switch(&m, t, 0, "swapper/0", 0, 0, "worker", 11);
		make_switch(&m, t + RUN_SEC, 0, "worker", 11, 1, "swapper/0", 0);
		make_lost(&m, t + 3 * RUN_SEC, kinds[i], 1, t + RUN_SEC + 1, t + 3 * RUN_SEC + 1);
		make_switch(&m, t + 4 * RUN_SEC, 0, "swapper/0", 0, 0, "worker", 11);
		r = run_cmd(cmd_sched, make_file(&m), "sched", "summary", "-", NULL);
		run_expect_in(r.out,
			      "\n# Busy % and Queue refer to the 2.000 s that were recorded\n");
		run_expect_in(r.out, "\n   0    1.000 s  50.00%         2 ");
		run_expect_in(r.out, "\n all    1.000 s  50.00%         2 ");
		run_free(&r);
		/* as far as it is inside the window */
		r = run_cmd(cmd_sched, make_done(&m), "sched", "summary", "-", "--time=0%,50%",
			    "--json", NULL);
		run_expect_in(r.out, "\"span_ns\":2000000000,");
		run_expect_in(r.out, "\"recorded_ns\":1000000001,\"busy_ns\":1000000000,");
		run_free(&r);
	}
}

static void make_side(struct make *m, const char *cpus, const char *start, uint32_t cpu,
		      uint64_t from, uint64_t to)
{
	const char *const kv[] = {
		"host", "box",		 "boot_id", "1", "start_realtime_ns", start, "cpus",
		"2",	"recorded_cpus", cpus,	    NULL
	};

	make_init(m, NULL);
	make_metadata(m, from, kv);
	make_clock(m, from, 1000 * RUN_SEC + from);
	make_switch(m, from, cpu, "swapper", 0, 0, "worker", 11 + cpu);
	make_switch(m, from + RUN_SEC, cpu, "worker", 11 + cpu, 1, "swapper", 0);
	make_switch(m, to, cpu, "swapper", 0, 0, "other", 21 + cpu);
}

Test(sched, shares_of_a_cpu_refer_to_the_recordings_that_have_it)
{
	struct make m[2];
	size_t n[2];
	char *all;
	struct run r;

	make_side(&m[0], "0", "1", 0, 20 * RUN_SEC, 22 * RUN_SEC);
	make_side(&m[1], "1", "2", 1, 30 * RUN_SEC, 34 * RUN_SEC);
	all = malloc(1 << 16);
	for (int i = 0, at = 0; i < 2; at += (int)n[i++]) {
		const void *data = dial9_enc_data(m[i].enc, &n[i]);

		memcpy(all + at, data, n[i]);
	}
	r = run_cmd(cmd_sched, make_fd(all, n[0] + n[1]), "sched", "summary", "-", NULL);
	run_expect_in(r.out, "\n# Busy % and Queue refer to the 6.000 s that were recorded\n");
	run_expect_in(r.out, "\n   0    1.000 s  50.00% ");
	run_expect_in(r.out, "\n   1    1.000 s  25.00% ");
	run_expect_in(r.out, "\n all    2.000 s  33.33% ");
	run_free(&r);
	free(all);
	make_fini(&m[0]);
	make_fini(&m[1]);
}

/* Appends a recording whose metadata has one more entry; NULL: none. */
static int add_kind(char *at, const char *key, const char *value, const char *start)
{
	const char *const kv[] = { "host", "box", "boot_id", "1", "start_realtime_ns",
				   start,  key,	  value,     NULL };
	const uint64_t t = 20 * RUN_SEC;
	const void *data;
	struct make m;
	size_t n;

	make_init(&m, NULL);
	make_metadata(&m, t, kv);
	make_clock(&m, t, 1000 * RUN_SEC + t);
	make_switch(&m, t, 0, "worker", 11, 1, "swapper/0", 0);
	make_waking(&m, t + RUN_SEC, 0, 0, "worker", 11);
	make_switch(&m, t + RUN_SEC, 0, "swapper/0", 0, 0, "worker", 11);
	make_stats(&m, t + 2 * RUN_SEC, 0, 0);
	data = dial9_enc_data(m.enc, &n);
	memcpy(at, data, n);
	make_fini(&m);
	return (int)n;
}

static void expect_note(run_fn fn, const char *word, const char *option, const char *want)
{
	static const char *const kinds[][2] = { { "summary_ns", "1000000000" },
						{ "off_cpu_min_ns", "5000000" },
						{ "off_cpu_min_ns", "5000000" },
						{ NULL, NULL } };
	char *all = malloc(1 << 16), start[2] = "1";
	struct run r;
	int n = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++, start[0]++)
		n += add_kind(all + n, kinds[i][0], kinds[i][1], start);
	r = run_cmd(fn, make_fd(all, (size_t)n), word, option, "-", NULL);
	run_expect_in(r.out, want);
	run_free(&r);
	free(all);
}

Test(sched, recordings_without_switches_are_reported)
{
	static const char with[] =
		"\n# switches: recording 1: only sums (--summary), not shown; recordings 2-3: "
		"only off-CPU intervals of at least 5.000 ms; recording 4: all\n";
	static const char without[] =
		"\n# switches: recording 1: only sums (--summary), not shown; recordings 2-3: "
		"only off-CPU intervals of at least 5.000 ms, not shown; recording 4: "
		"all\n";

	expect_note(cmd_sched, "sched", "latency", with);
	expect_note(cmd_sched, "sched", "summary", without);
	expect_note(cmd_offcpu, "offcpu", "--hist", with);
	expect_note(cmd_report, "report", "--wall", without);
}

/* 4 s in columns of 0.537 s: A ran to 1 s, B to 1.5 s, A to 2 s, B to 2.5 s, A to 3 s. */
Test(sched, map_of_cpus_is_printed)
{
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "map", "--cols", "10", "-", NULL), CMD_OK,
		"# standard input: who ran on which CPU over 4.000 s\n"
		"# lost: nothing\n"
		"# one column is 536.871 ms; its letter is the thread that ran longest; . is idle or unknown\n#\n"
		"CPU 0  AABABABB\n"
		"#\n"
		"# A    2.000 s  worker 11\n"
		"# B    2.000 s  hog 12\n",
		"");
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "map", "--cols", "10", "-", "--json", NULL),
		CMD_OK,
		"{\"version\":2,\"file\":\"standard input\",\"span_ns\":4000000000,"
		"\"lost_events\":0,\"lost_samples\":0,\"lost_sideband\":0,"
		"\"sideband_stalls\":0,\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,"
		"\"start_ns\":20000000000,\"column_ns\":536870912,\"cpus\":[\n"
		"{\"cpu\":0,\"tids\":[11,11,12,11,12,11,12,12],\"busy_ns\":[536870912,"
		"536870912,536870912,536870912,536870912,536870912,536870912,241903616]}],"
		"\"threads\":[\n{\"tid\":11,\"comm\":\"worker\",\"ns\":2000000000},\n"
		"{\"tid\":12,\"comm\":\"hog\",\"ns\":2000000000}]}\n",
		"");
	run_expect(
		run_cmd(cmd_sched, input(), "sched", "map", "--cols", "9", "-", NULL), CMD_USAGE,
		"",
		"dial9-prof: sched map: bad value 9 for --cols: expected an even number from 10 to 4096\n");
}

/* Thread 11 is announced after its first turn, like threads that start during the recording. */
Test(sched, thread_that_is_named_late_belongs_to_its_process_from_the_start)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 20 * RUN_SEC, 12, 12, "hog");
	make_switch(&m, 20 * RUN_SEC, 0, "hog", 12, 0, "worker", 11);
	make_switch(&m, 21 * RUN_SEC, 0, "worker", 11, 1, "hog", 12);
	make_task(&m, 21 * RUN_SEC, 10, 11, "worker");
	make_switch(&m, 22 * RUN_SEC, 0, "hog", 12, 1, "swapper/0", 0);
	r = run_cmd(cmd_sched, make_done(&m), "sched", "latency", "-", "--json", "-p", "10", NULL);
	cr_expect_eq(r.code, CMD_OK);
	run_expect_in(r.out, "\"tid\":11,\"pid\":10,\"run_ns\":1000000000");
	run_free(&r);
}

Test(sched, timehist_prints_each_turn)
{
	run_expect(run_cmd(cmd_sched, input(), "sched", "timehist", "-", "-t", "11", "--state",
			   "-n", NULL),
		   CMD_OK, timehist, "");
}

/*
 * The switch in of worker at 21 s is missing, its switch out is there: as when a thread execs and gets the TID
 * of a leader that died before.
 */
Test(sched, timehist_counts_a_switch_out_without_a_switch_in)
{
	const uint64_t s = RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 20 * s, 10, 11, "worker");
	make_switch(&m, 20 * s, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, 20 * s + s / 4, 0, "worker", 11, 0x10, "thread", 12);
	make_switch(&m, 21 * s, 0, "worker", 11, 1, "swapper/0", 0);
	make_waking(&m, 21 * s + s / 2, 0, 0, "worker", 11);
	make_switch(&m, 21 * s + 3 * s / 4, 0, "swapper/0", 0, 0, "worker", 11);
	make_switch(&m, 22 * s, 0, "worker", 11, 1, "swapper/0", 0);
	run_expect(
		run_cmd(cmd_sched, make_done(&m), "sched", "timehist", "-", "-t", "11", NULL),
		CMD_OK,
		"#           time    cpu  task[tid/pid]                  off-CPU ms    runq ms     "
		"run ms\n"
		"       20.250000 [0000]  worker[11/10]                           -          -    "
		"250.000\n"
		"       22.000000 [0000]  worker[11/10]                     750.000    250.000    "
		"250.000\n"
		"# lost: nothing\n",
		"");
}

/* Names of 15 characters, numbers of seven digits, weeks after boot. */
static int wide_input(void)
{
	static const char one[] = "worker-of-names", two[] = "another-of-them";
	const uint64_t s = RUN_SEC, t = 4000000 * s;
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, t, 1700000000 * s);
	make_task(&m, t, 4100010, 4100011, one);
	make_task(&m, t, 4100010, 4100012, two);
	make_switch(&m, t, 0, "swapper/0", 0, 0, one, 4100011);
	make_switch(&m, t + s, 0, one, 4100011, 0x100, two, 4100012);
	make_switch(&m, t + 3 * s / 2, 0, two, 4100012, 0, one, 4100011);
	make_switch(&m, t + 2 * s, 0, one, 4100011, 1, two, 4100012);
	make_waking(&m, t + 9 * s / 4, 0, 4100012, one, 4100011);
	make_switch(&m, t + 5 * s / 2, 0, two, 4100012, 0, one, 4100011);
	make_switch(&m, t + 3 * s, 0, one, 4100011, 1, two, 4100012);
	make_switch(&m, t + 4 * s, 0, two, 4100012, 1, "swapper/0", 0);
	return make_done(&m);
}

static void on_terminal(struct pty *t, unsigned short cols, const char *const *words)
{
	pty_run(t, cols, strcmp(words[0], "sched") ? cmd_wakeup : cmd_sched, wide_input(), words);
}

Test(sched, tables_fit_their_terminal)
{
	static const char *const words[][5] = {
		{ "sched", "latency", "-" },
		{ "sched", "summary", "-" },
		{ "sched", "timehist", "-" },
		{ "sched", "timehist", "--state", "-" },
		{ "wakeup", "-" },
		{ "wakeup", "--by-tid", "-" },
	};
	struct pty t;

	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
		on_terminal(&t, 80, words[k]);
		cr_expect(pty_widest(t.text) <= 80 && pty_widest(t.text) > 60, "%zu: %s",
			  pty_widest(t.text), t.text);
	}
	/* with enough room the output equals that in a pipe */
	on_terminal(&t, 130, words[0]);
	run_expect(run_cmd(cmd_sched, wide_input(), "sched", "latency", "-", NULL), CMD_OK, t.text,
		   "");
	/* the total needs less room than the time of the longest */
	on_terminal(&t, 100, words[0]);
	cr_expect_leq(pty_widest(t.text), 100);
	cr_expect(strstr(t.text, " Total ") && !strstr(t.text, "Max at"), "%s", t.text);
	on_terminal(&t, 120, words[1]);
	run_expect(run_cmd(cmd_sched, wide_input(), "sched", "summary", "-", NULL), CMD_OK, t.text,
		   "");
}

/* Kernel threads that ran before they were announced. */
Test(sched, who_ran_instead_has_the_name_that_came_later)
{
	const uint64_t ms = 1000000, t = 20 * 1000 * ms;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, t, 11, 11, "victim");
	make_switch(&m, t, 0, "swapper/0", 0, 0, "victim", 11);
	make_switch(&m, t + 2 * ms, 0, "victim", 11, 0x100, "", 20);
	make_switch(&m, t + 6 * ms, 0, "", 20, 1, "victim", 11);
	make_switch(&m, t + 9 * ms, 0, "victim", 11, 1, "swapper/0", 0);
	make_task(&m, t + 9 * ms, 2, 20, "kworker/0:1");
	r = run_cmd(cmd_explain, make_file(&m), "explain", "11", "--time", "20,", "-", "--json",
		    NULL);
	run_expect_in(r.out,
		      "\"ran_instead\":[{\"tid\":20,\"comm\":\"kworker/0:1\",\"ns\":4000000}]");
	run_free(&r);
	r = run_cmd(cmd_explain, make_file(&m), "explain", "11", "--time", "20,", "-", NULL);
	run_expect_in(r.out, "ran instead: kworker/0:1 20 4.000 ms\n");
	run_free(&r);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "--worst", "1", "-", "--json",
		    NULL);
	run_expect_in(r.out, "\"tid\":20,\"comm\":\"kworker/0:1\"");
	run_free(&r);
	make_fini(&m);
}

/* -a with --comm and similar options is not the whole system. */
Test(sched, partial_recording_gets_a_hint_how_to_record_the_whole_system)
{
	static const char *const parts[][5] = {
		{ "target", "system", NULL }, { "target", "system", "selection", "--comm p", NULL }
	};
	struct run r;
	struct make m;

	for (size_t i = 0; i < 2; i++) {
		make_init(&m, NULL);
		make_metadata(&m, RUN_SEC, parts[i]);
		make_task(&m, RUN_SEC, 11, 11, "victim");
		make_switch(&m, 2 * RUN_SEC, 0, "victim", 11, 0x100, "other", 30);
		make_switch(&m, 6 * RUN_SEC, 0, "third", 40, 1, "victim", 11);
		make_switch(&m, 9 * RUN_SEC, 0, "victim", 11, 1, "swapper/0", 0);
		r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-t", "11", "--worst",
			    "1", "-", NULL);
		run_expect_in(r.out, i ? "unknown task (record with -a or --neighbours)\n" :
					 "unknown task\n");
		run_free(&r);
		make_fini(&m);
	}
}
