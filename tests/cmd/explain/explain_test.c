// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `explain` prints, to the byte. In ms from 20 s: victim (11) runs on CPU 0 until it waits for a lock at
 * 4. Its holder (12) runs on CPU 1, is preempted by hog (20) from 5 to 9, and unlocks at 10; then victim is
 * runnable on CPU 1 until holder leaves it at 13. It runs to the end, at 16.
 */
#include "base/buf.h"
#include "tests/cmd/pty.h"
#include "tests/cmd/run_cmd.h"

static const uint64_t ms = 1000000;

/* The end of a system call. */
static void make_call(struct make *m, uint64_t ts, uint32_t tid, const char *name)
{
	MAKE_NUMBERS(m, ts, name, { "common_cpu", 0 }, { "common_pid", tid },
		     { "__syscall_nr", 74 });
}

static void make_enter(struct make *m, uint64_t ts, uint32_t tid)
{
	make_call(m, ts, tid, "syscalls:sys_enter_fsync");
}

static void make_exit(struct make *m, uint64_t ts, uint32_t tid)
{
	make_call(m, ts, tid, "syscalls:sys_exit_fsync");
}

/* The same, and fsync by each of the three: 11 ms, 4.9 and 0.5; one has no end, and one no start. */
static void make_stall(struct make *m)
{
	const uint64_t hot = make_frame(1, 0x310), lock = make_frame(1, 0x210),
		       root = make_frame(1, 0x110);
	const uint64_t busy[] = { hot, root }, other[] = { root }, wait[] = { lock, root };
	const uint64_t t = 20 * RUN_SEC;

	make_init(m, NULL);
	make_clock(m, t, 1700000000 * RUN_SEC);
	make_module(m, t, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(m, t, 11, 11, "victim");
	make_task(m, t, 11, 12, "holder");
	make_task(m, t, 20, 20, "hog");
	make_switch(m, t, 0, "swapper/0", 0, 0, "victim", 11);
	make_switch(m, t, 1, "swapper/1", 0, 0, "holder", 12);
	make_sample(m, t + 1 * ms, 11, 11, PROF_SOURCE_SAMPLE, 0, busy, 2);
	make_sample(m, t + 2 * ms, 11, 11, PROF_SOURCE_SAMPLE, 0, other, 1);
	make_exit(m, t + 2 * ms, 11);
	make_enter(m, t + 3 * ms, 11);
	make_sample(m, t + 3 * ms, 11, 11, PROF_SOURCE_SAMPLE, 0, busy, 2);
	make_switch(m, t + 4 * ms, 0, "victim", 11, 1, "swapper/0", 0);
	make_sample(m, t + 4 * ms, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, wait, 2);
	make_waking(m, t + 9 * ms / 2, 1, 0, "hog", 20);
	make_enter(m, t + 46 * ms / 10, 12);
	make_switch(m, t + 5 * ms, 1, "holder", 12, 0x100, "hog", 20);
	make_enter(m, t + 6 * ms, 20);
	make_exit(m, t + 13 * ms / 2, 20);
	MAKE_NUMBERS(m, t + 65 * ms / 10, "JobStart", { "tid", 11 }, { "job", 5 });
	make_sample(m, t + 7 * ms, 20, 20, PROF_SOURCE_SAMPLE, 1, other, 1);
	MAKE_NUMBERS(m, t + 8 * ms, "JobEnd", { "tid", 20 }, { "job", 5 });
	make_switch(m, t + 9 * ms, 1, "hog", 20, 1, "holder", 12);
	make_exit(m, t + 19 * ms / 2, 12);
	make_waking(m, t + 10 * ms, 1, 12, "victim", 11);
	make_switch(m, t + 13 * ms, 1, "holder", 12, 1, "victim", 11);
	make_symbol(m, t + 14 * ms, hot, 0, make_frame(1, 0x300), "hot", "", 0);
	make_symbol(m, t + 14 * ms, lock, 0, make_frame(1, 0x200), "lock", "", 0);
	make_symbol(m, t + 14 * ms, root, 0, make_frame(1, 0x100), "main", "", 0);
	make_exit(m, t + 14 * ms, 11);
	make_enter(m, t + 15 * ms, 11);
	make_switch(m, t + 16 * ms, 1, "victim", 11, 1, "swapper/1", 0);
}

static int input(void)
{
	struct make m;

	make_stall(&m);
	return make_done(&m);
}

/* clang-format off */
#define COLUMNS \
	"#    Running ms    Runnable ms     Blocked ms     Unknown ms      Absent ms  thread\n"

#define BLOCKED \
	"blocked 6.000 ms (S), woken by holder? 12 on CPU 1\n" \
	"                lock (app)\n" \
	"                main (app)\n" \
	"              during that time holder 12:\n" \
	"                ran 2.000 ms in 2 intervals\n" \
	"                runnable 4.000 ms on CPU 1, preempted in the kernel\n" \
	"                  ran instead: hog 20 4.000 ms\n"

static const char whole[] =
	"# standard input: what victim 11 did over 0.016 s\n"
	"# lost: nothing\n"
	"# from 20.000000000 to 20.016000000:      16.000000 ms\n"
	"#\n" COLUMNS
	"       9.000000       4.000000       3.000000       0.000000       0.000000  holder 12\n"
	"       7.000000       3.000000       6.000000       0.000000       0.000000  victim 11\n"
	"\n"
	"+       0 ns  ran 4.000 ms on CPU 0; 3 samples, 2 of them here\n"
	"                hot (app)\n"
	"                main (app)\n"
	"\n"
	"+   4.000 ms  " BLOCKED
	"\n"
	"+  10.000 ms  runnable 3.000 ms on CPU 1\n"
	"                ran instead: holder 12 3.000 ms\n"
	"\n"
	"+  13.000 ms  ran 3.000 ms on CPU 1\n";

static const char worst[] =
	"# standard input: what victim 11 did over 0.009 s\n"
	"# lost: nothing\n"
	"# from 20.004000000 to 20.013000000:       9.000000 ms\n"
	"#\n" COLUMNS
	"       0.000000       3.000000       6.000000       0.000000       0.000000  victim 11\n"
	"\n"
	"+       0 ns  " BLOCKED
	"\n"
	"+   6.000 ms  runnable 3.000 ms on CPU 1\n"
	"                ran instead: holder 12 3.000 ms\n";
/* clang-format on */

Test(explain, process_in_a_time_range_is_explained_in_text)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "11", "-", "--time", "20,", NULL),
		   CMD_OK, whole, "");
}

/* Lines of the tables; text is not cut. */
static void expect_tables(const char *const *words, const char *row, const char *row_with_room)
{
	struct pty t;
	char *story;

	pty_run(&t, 80, cmd_explain, input(), words);
	cr_expect_not_null(strstr(t.text, row), "%s", t.text);
	story = strstr(t.text, "\n\n");
	cr_assert_not_null(story);
	*story = '\0';
	cr_expect_leq(pty_widest(t.text), 80, "%s", t.text);
	pty_run(&t, 120, cmd_explain, input(), words);
	cr_expect_not_null(strstr(t.text, row_with_room), "%s", t.text);
}

Test(explain, tables_fit_their_terminal)
{
	static const char *const one[] = {
		"explain", "12", "-", "--time", "20,", "--no-pager", NULL
	};
	static const char *const pairs[] = { "explain", "--slowest", "3",	   "--span",
					     "fsync",	"-",	     "--no-pager", NULL };

	expect_tables(
		one,
		"#   Running   Runnable    Blocked    Unknown     Absent  thread\n"
		"   9.000 ms   4.000 ms   3.000 ms       0 ns       0 ns  holder 12\n",
		"       9.000000       4.000000       3.000000       0.000000       0.000000  "
		"holder 12\n");
	expect_tables(
		pairs,
		"#   Running   Runnable    Blocked    Unknown     Absent  pair\n"
		"   2.000 ms   3.000 ms   6.000 ms       0 ns       0 ns  1. fsync by victim 11\n",
		"       2.000000       3.000000       6.000000       0.000000       0.000000  "
		"1. fsync by victim 11\n");
}

Test(explain, one_more_thread_is_printed_in_the_singular)
{
	struct run r = run_cmd(cmd_explain, input(), "explain", "11", "-", "--time", "20,",
			       "--limit", "1", NULL);

	run_expect_in(r.out, "# 1 more thread with less runtime: --limit 0 shows all\n");
	run_free(&r);
}

Test(explain, default_is_the_longest_off_cpu_interval)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "-t", "11", "-", NULL), CMD_OK, worst,
		   "");
	run_expect(run_cmd(cmd_explain, input(), "explain", "-t", "11", "-", "--time", "20,",
			   "--worst", NULL),
		   CMD_OK, worst, "");
}

/* clang-format off */
static const char json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":9000000,\"lost_events\":0,"
	"\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,\"doubtful_stacks\":0,"
	"\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"tid\":11,\"from_ns\":20004000000,\"to_ns\":20013000000,"
	"\"complete\":true,\"threads\":[\n"
	"{\"tid\":11,\"pid\":11,\"comm\":\"victim\",\"unknown_ns\":0,\"running_ns\":0,"
	"\"runnable_ns\":3000000,\"blocked_ns\":6000000,\"absent_ns\":0}],\"steps\":[\n"
	"{\"start_ns\":20004000000,\"ns\":6000000,\"blocked_ns\":6000000,\"blocked\":1,"
	"\"longest_blocked\":{\"start_ns\":20004000000,\"ns\":6000000,\"state\":\"S\","
	"\"stack\":[{\"sym\":\"lock\",\"dso\":\"/opt/app\"},{\"sym\":\"main\",\"dso\":\"/opt/app\"}],"
	"\"waker\":{\"context\":\"unknown\",\"name\":\"holder?\"},\"waker_tid\":12,\"waker_stack\":[],"
	"\"waker_activity\":{\"start_ns\":20004000000,\"ns\":6000000,"
	"\"running_ns\":2000000,\"running\":2,\"runnable_ns\":4000000,\"runnable\":1,"
	"\"ran_instead\":[{\"tid\":20,\"comm\":\"hog\",\"ns\":4000000}],\"ran_instead_others_ns\":0,\"ran_instead_unknown_ns\":0}}},\n"
	"{\"start_ns\":20010000000,\"ns\":3000000,\"runnable_ns\":3000000,\"runnable\":1,"
	"\"ran_instead\":[{\"tid\":12,\"comm\":\"holder\",\"ns\":3000000}],\"ran_instead_others_ns\":0,\"ran_instead_unknown_ns\":0}]}\n";

static const char no_hops[] =
	"# standard input: what victim 11 did over 0.002 s\n"
	"# lost: nothing\n"
	"# from 20.005000000 to 20.007000000:       2.000000 ms\n"
	"#\n" COLUMNS
	"       0.000000       0.000000       2.000000       0.000000       0.000000  victim 11\n"
	"\n"
	"+       0 ns  blocked 2.000 ms (S), woken by holder? 12 on CPU 1\n"
	"                lock (app)\n"
	"                main (app)\n";
/* clang-format on */

Test(explain, output_is_one_json_object)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "-t", "11", "--json", "-", NULL),
		   CMD_OK, json, "");
}

/*
 * Without its main thread: thread 12 is explained, which ran most in total, also if the time range is one in
 * which 13 ran.
 */
Test(explain, explained_thread_stays_the_same_in_a_narrower_time_range)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_task(&m, t, 11, 12, "much");
	make_task(&m, t, 11, 13, "little");
	make_switch(&m, t, 0, "swapper/0", 0, 0, "much", 12);
	make_switch(&m, t + 10 * ms, 0, "much", 12, 2, "little", 13);
	make_waking(&m, t + 13 * ms, 0, 13, "much", 12);
	make_switch(&m, t + 13 * ms, 0, "little", 13, 1, "much", 12);
	make_switch(&m, t + 15 * ms, 0, "much", 12, 2, "swapper/0", 0);
	run_expect(run_cmd(cmd_explain, make_done(&m), "explain", "11", "-", NULL), CMD_OK,
		   "# standard input: what much 12 did over 0.003 s\n"
		   "# lost: nothing\n"
		   "# from 20.010000000 to 20.013000000:       3.000000 ms\n"
		   "#\n" COLUMNS "       3.000000       0.000000       0.000000       0.000000"
		   "       0.000000  little 13\n"
		   "       0.000000       0.000000       3.000000       0.000000       0.000000"
		   "  much 12\n"
		   "\n"
		   "+       0 ns  blocked 3.000 ms (D), woken by little? 13 on CPU 0\n"
		   "              during that time little 13:\n"
		   "                ran 3.000 ms on CPU 0\n",
		   "");
}

/* Switched out while runnable, outside the kernel: it may have been preempted or have yielded. */
Test(explain, end_of_a_turn_and_who_ran_instead_are_printed)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, t, 0, "swapper/0", 0, 0, "victim", 11);
	make_switch(&m, t + 1 * ms, 0, "victim", 11, 0, "hog", 20);
	make_switch(&m, t + 3 * ms, 0, "hog", 20, 1, "victim", 11);
	make_switch(&m, t + 4 * ms, 0, "victim", 11, 1, "swapper/0", 0);
	r = run_cmd(cmd_explain, make_done(&m), "explain", "-t", "11", "-", "--time", "20,", NULL);
	run_expect_in(r.out,
		      "\n+   1.000 ms  runnable 2.000 ms on CPU 0, time slice over or yielded\n"
		      "                ran instead: hog 20 2.000 ms\n");
	run_free(&r);
}

/* From 11 to 12 ms events were lost: states that seem to span that time are unknown. */
Test(explain, lost_time_is_unknown_and_reported)
{
	struct make m;

	make_stall(&m);
	make_lost(&m, 20 * RUN_SEC + 16 * ms, "ring_full", 3, 20 * RUN_SEC + 11 * ms,
		  20 * RUN_SEC + 12 * ms);
	run_expect(run_cmd(cmd_explain, make_done(&m), "explain", "-t", "11", "-", "--time",
			   "20.009,20.016", NULL),
		   CMD_OK,
		   "# standard input: what victim 11 did over 0.007 s\n"
		   "# lost: 3 events (see dial9-prof info)\n"
		   "# from 20.009000000 to 20.016000000:       7.000000 ms\n"
		   "#\n" COLUMNS "       3.000000       0.000000       1.000000       3.000000"
		   "       0.000000  victim 11\n"
		   "\n"
		   "+       0 ns  blocked 1.000 ms (S), woken by holder? 12 on CPU 1\n"
		   "                lock (app)\n"
		   "                main (app)\n"
		   "              during that time holder 12:\n"
		   "                unknown for 1.000 ms: missing events\n"
		   "\n"
		   "+   1.000 ms  unknown for 3.000 ms: missing events\n"
		   "\n"
		   "+   4.000 ms  ran 3.000 ms on CPU 1\n",
		   "");
}

Test(explain, depth_limits_the_hops)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "-t", "11", "-", "--depth", "0",
			   "--time", "20.005,20.007", NULL),
		   CMD_OK, no_hops, "");
}

Test(explain, thread_that_is_not_in_the_trace_is_reported)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "99", "-", NULL), CMD_USAGE, "",
		   "dial9-prof: explain: no thread or process 99 in standard input; "
		   "dial9-prof report -s comm,pid,tid lists them\n");
	run_expect(run_cmd(cmd_explain, input(), "explain", "11", "-", "--time", "1s,2s", NULL),
		   CMD_USAGE, "",
		   "dial9-prof: nothing to explain in standard input: it covers 20.000000 to "
		   "20.016000, --time 1s,2s is outside; the trace is 0.016 s long\n");
	run_expect(
		run_cmd(cmd_explain, input(), "explain", "-t", "99", "-", "--time", "20,", NULL),
		CMD_USAGE, "",
		"dial9-prof: explain: no thread 99 in standard input, or not in this time range; "
		"dial9-prof report -s comm,pid,tid lists them\n");
}

Test(explain, invalid_arguments_are_refused)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "app", "-", NULL), CMD_USAGE, "",
		   "dial9-prof: explain: unexpected argument 'app': expected a TID or PID\n");
	run_expect(run_cmd(cmd_explain, input(), "explain", "-t1", "-p1", "-", NULL), CMD_USAGE, "",
		   "dial9-prof: explain: give only one thread or process with -t or -p\n");
	run_expect(
		run_cmd(cmd_explain, input(), "explain", "1", "--depth", "9", NULL), CMD_USAGE, "",
		"dial9-prof: explain: bad value '9' for --depth: expected a number from 0 to 8\n");
}

static int pipe_of_stall(void)
{
	struct make m;
	const void *data;
	size_t sz;
	int fd[2];

	make_stall(&m);
	data = dial9_enc_data(m.enc, &sz);
	cr_assert_eq(pipe(fd), 0);
	cr_assert_eq(write(fd[1], data, sz), (ssize_t)sz);
	close(fd[1]);
	make_fini(&m);
	return fd[0];
}

Test(explain, pipe_is_explained_like_a_file)
{
	struct run r;

	run_expect(run_cmd(cmd_explain, pipe_of_stall(), "explain", "-t", "11", "-", NULL), CMD_OK,
		   worst, "");
	r = run_cmd(cmd_explain, pipe_of_stall(), "explain", "--span", "fsync", "--slowest=1", "-",
		    NULL);
	run_expect_in(r.out, "# standard input: the slowest 1 of 3 pairs of fsync over 0.016 s\n");
	run_expect_in(r.out, "# lost: nothing\n# all: 16.400 ms, median ");
	run_free(&r);
}

/* 100 intervals of 0.1 ms and one of 10 ms. */
Test(explain, small_fragments_are_summarized)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_task(&m, t, 11, 11, "victim");
	for (uint64_t k = 0; k < 50; k++) {
		make_switch(&m, t + k * 2 * ms / 10, 0, "swapper/0", 0, 0, "victim", 11);
		make_switch(&m, t + (k * 2 + 1) * ms / 10, 0, "victim", 11, 2, "swapper/0", 0);
		make_waking(&m, t + (k * 2 + 2) * ms / 10, 0, 0, "victim", 11);
	}
	make_switch(&m, t + 10 * ms, 0, "swapper/0", 0, 0, "victim", 11);
	make_switch(&m, t + 20 * ms, 0, "victim", 11, 0x10, "swapper/0", 0);
	make_switch(&m, t + 21 * ms, 0, "swapper/0", 0, 0, "other", 12);
	run_expect(
		run_cmd(cmd_explain, make_done(&m), "explain", "11", "-", "--time", "20,", NULL),
		CMD_OK,
		"# standard input: what victim 11 did over 0.021 s\n"
		"# lost: nothing\n"
		"# from 20.000000000 to 20.021000000:      21.000000 ms\n"
		"#\n" COLUMNS "      15.000000       0.000000       5.000000       0.000000"
		"       1.000000  victim 11\n"
		"\n"
		"+       0 ns  ran 5.000 ms in 50 intervals\n"
		"              blocked 5.000 ms in 50 intervals, the longest 100.000 us (D), woken by "
		"swapper? on CPU 0\n"
		"\n"
		"+  10.000 ms  ran 10.000 ms on CPU 0\n",
		"");
}

/* ---- the slowest of pairs ---------------------------------------------------------------------- */

/* clang-format off */
#define TIMES "#    Running ms    Runnable ms     Blocked ms     Unknown ms      Absent ms  pair\n"

#define HEAD(n) \
	"# standard input: the slowest " n " of fsync over 0.016 s\n" \
	"# lost: nothing\n"
#define CAUSES "#    Share      Total ms  Pairs  cause\n"

#define BY_VICTIM \
	". fsync by victim 11, from 20.003000000 to 20.014000000:      11.000000 ms\n" \
	"\n" \
	"+       0 ns  ran 1.000 ms on CPU 0; 1 sample\n" \
	"                hot (app)\n" \
	"                main (app)\n" \
	"\n" \
	"+   1.000 ms  " BLOCKED \
	"\n" \
	"+   7.000 ms  runnable 3.000 ms on CPU 1\n" \
	"                ran instead: holder 12 3.000 ms\n" \
	"\n" \
	"+  10.000 ms  ran 1.000 ms on CPU 1\n"

static const char slowest[] =
	HEAD("2 of 3 pairs")
	"# all: 16.400 ms, median 4.882 ms, p99 11.000 ms\n"
	"# 1 unmatched start\n"
	"# 1 unmatched end\n"
	"#\n"
	CAUSES
	"    37.74%       6.000000      1  blocked in lock\n"
	"    25.16%       4.000000      1  runnable, ran instead: hog 20\n"
	"    18.87%       3.000000      1  runnable, ran instead: holder 12\n"
	"    18.24%       2.900000      2  ran\n"
	"#\n"
	TIMES
	"       2.000000       3.000000       6.000000       0.000000       0.000000  1. fsync by victim 11\n"
	"       0.900000       4.000000       0.000000       0.000000       0.000000  2. fsync by holder 12\n"
	"\n"
	"# 1" BY_VICTIM
	"\n"
	"# 2. fsync by holder 12, from 20.004600000 to 20.009500000:       4.900000 ms\n"
	"\n"
	"+       0 ns  ran 400.000 us on CPU 1\n"
	"\n"
	"+ 400.000 us  runnable 4.000 ms on CPU 1, preempted in the kernel\n"
	"                ran instead: hog 20 4.000 ms\n"
	"\n"
	"+   4.400 ms  ran 500.000 us on CPU 1\n";

static const char of_hog[] =
	HEAD("1 of 1 pair")
	"# all: 500.000 us, median 500.000 us, p99 500.000 us\n"
	"#\n"
	CAUSES
	"   100.00%       0.500000      1  ran\n"
	"#\n"
	TIMES
	"       0.500000       0.000000       0.000000       0.000000       0.000000  1. fsync by hog 20\n"
	"\n"
	"# 1. fsync by hog 20, from 20.006000000 to 20.006500000:       0.500000 ms\n"
	"\n"
	"+       0 ns  ran 500.000 us on CPU 1\n";

static const char slowest_json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":16000000,\"lost_events\":0,"
	"\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,\"doubtful_stacks\":0,"
	"\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"pairs\":3,\"pairs_ns\":16400000,\"p50_ns\":4882432,"
	"\"p99_ns\":11000000,\"nested\":0,\"unmatched_starts\":1,\"unmatched_ends\":1,\"unassigned\":0,\"dropped\":0,"
	"\"inside\":0,\"kinds\":[\n"
	"{\"event\":\"syscalls:sys_enter_fsync\",\"pairs\":3,\"ns\":16400000}],"
	"\"switches\":true,\"complete\":true,\"causes\":[\n"
	"{\"kind\":\"blocked\",\"ns\":6000000,\"pairs\":1,\"dominant\":1,"
	"\"function\":\"lock\",\"under\":null,\"page_fault\":false},\n"
	"{\"kind\":\"runnable\",\"ns\":3000000,\"pairs\":1,\"dominant\":0,"
	"\"ran_instead\":{\"tid\":12,\"pid\":null,\"comm\":\"holder\"}},\n"
	"{\"kind\":\"running\",\"ns\":2000000,\"pairs\":1,\"dominant\":0}],\"slowest\":[\n"
	"{\"event\":\"syscalls:sys_enter_fsync\",\"tid\":11,\"pid\":11,\"comm\":\"victim\","
	"\"from_ns\":20003000000,\"to_ns\":20014000000,\"unknown_ns\":0,\"running_ns\":2000000,"
	"\"runnable_ns\":3000000,\"blocked_ns\":6000000,\"absent_ns\":0,\"steps\":[\n"
	"{\"start_ns\":20003000000,\"ns\":1000000,\"running_ns\":1000000,\"running\":1,"
	"\"samples\":1,\"hottest_samples\":1,"
	"\"hottest\":[{\"sym\":\"hot\",\"dso\":\"/opt/app\"},{\"sym\":\"main\",\"dso\":\"/opt/app\"}]},\n"
	"{\"start_ns\":20004000000,\"ns\":6000000,\"blocked_ns\":6000000,\"blocked\":1,"
	"\"longest_blocked\":{\"start_ns\":20004000000,\"ns\":6000000,\"state\":\"S\","
	"\"stack\":[{\"sym\":\"lock\",\"dso\":\"/opt/app\"},{\"sym\":\"main\",\"dso\":\"/opt/app\"}],"
	"\"waker\":{\"context\":\"unknown\",\"name\":\"holder?\"},\"waker_tid\":12,\"waker_stack\":[]}},\n"
	"{\"start_ns\":20010000000,\"ns\":3000000,\"runnable_ns\":3000000,\"runnable\":1,"
	"\"ran_instead\":[{\"tid\":12,\"comm\":\"holder\",\"ns\":3000000}],\"ran_instead_others_ns\":0,\"ran_instead_unknown_ns\":0},\n"
	"{\"start_ns\":20013000000,\"ns\":1000000,\"running_ns\":1000000,\"running\":1}]}]}\n";
/* clang-format on */

Test(explain, slowest_pairs_have_causes_and_timelines)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "--slowest", "2", "--span", "fsync",
			   "-", NULL),
		   CMD_OK, slowest, "");
}

Test(explain, slowest_pairs_are_one_json_object)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "--slowest", "1", "--span", "fsync",
			   "--json", "--depth", "0", "-", NULL),
		   CMD_OK, slowest_json, "");
}

static void expect_pairs(const char *span, const char *opt, const char *count)
{
	struct run r =
		run_cmd(cmd_explain, input(), "explain", "--json", "--span", span, opt, "-", NULL);

	cr_assert_eq(r.code, strcmp(count, "\"pairs\":0,") ? CMD_OK : CMD_USAGE);
	cr_expect(strstr(r.out, count), "--span %s: %s", span, r.out);
	run_free(&r);
}

/* Selected by thread, process or name; a time range selects the pairs inside it. */
Test(explain, slowest_pairs_are_selected_by_options)
{
	static const char *const ways[] = { "20", "-t20", "-p20", "--comm=h?g" };

	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
		run_expect(run_cmd(cmd_explain, input(), "explain", "--span", "fsync", ways[k], "-",
				   NULL),
			   CMD_OK, of_hog, "");
	expect_pairs("fsync", "--time=20.005,20.007", "\"pairs\":1,\"pairs_ns\":500000,");
	expect_pairs("fsync", "-C1", "\"pairs\":0,");
}

Test(explain, span_may_be_specified_in_several_ways)
{
	expect_pairs("f*c", "--no-pager", "\"pairs\":3,");
	expect_pairs("syscalls:sys_enter_fsync", "--no-pager", "\"pairs\":3,");
	expect_pairs("syscalls:sys_enter_fsync,syscalls:sys_exit_fsync", "--no-pager",
		     "\"pairs\":3,");
	/* any thread: each start replaces the one before until the first end */
	expect_pairs("syscalls:sys_enter_*,syscalls:sys_exit_*,__syscall_nr", "--no-pager",
		     "\"pairs\":1,");
	expect_pairs("poll", "--no-pager", "\"pairs\":0,");
}

/* One call has both kinds of events in the trace, raw_syscalls first; another call has only these. */
static int input_of_calls(void)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_task(&m, t, 11, 11, "worker");
	for (uint64_t nr = 74; nr <= 75; nr++) {
		const char *name = nr == 74 ? "fsync" : "fdatasync";

		make_tpsym(&m, t, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, nr, name);
		make_tpsym(&m, t, "raw_syscalls:sys_exit", "id", PROF_TP_SYMBOL, nr, name);
	}
	for (uint64_t k = 1; k < 5; k++) {
		const uint64_t at = t + k * ms, nr = k < 4 ? 74 : 75;

		MAKE_NUMBERS(&m, at, "raw_syscalls:sys_enter", { PROF_TP_COMMON_PID, 11 },
			     { "id", nr });
		if (nr == 74)
			MAKE_NUMBERS(&m, at + 1, "syscalls:sys_enter_fsync",
				     { PROF_TP_COMMON_PID, 11 }, { "__syscall_nr", nr });
		MAKE_NUMBERS(&m, at + 50, "raw_syscalls:sys_exit", { PROF_TP_COMMON_PID, 11 },
			     { "id", nr });
		if (nr == 74)
			MAKE_NUMBERS(&m, at + 71, "syscalls:sys_exit_fsync",
				     { PROF_TP_COMMON_PID, 11 }, { "__syscall_nr", nr });
	}
	return make_done(&m);
}

Test(explain, call_with_two_kinds_of_events_counts_once)
{
	static const char *const want[][2] = {
		{ "fsync", "\"pairs\":3,\"pairs_ns\":210," },
		{ "fdatasync", "\"pairs\":1,\"pairs_ns\":50," },
		{ "f*sync", "\"pairs\":4,\"pairs_ns\":260," },
	};

	for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		struct run r = run_cmd(cmd_explain, input_of_calls(), "explain", "--json", "--span",
				       want[k][0], "-", NULL);

		run_expect_in(r.out, want[k][1]);
		run_free(&r);
	}
}

/*
 * Between two threads, which continue before and after it: only its part counts. Who ran instead of holder is
 * not kept for that part.
 */
Test(explain, pair_may_end_in_another_thread)
{
	struct run r = run_cmd(cmd_explain, input(), "explain", "--span", "JobStart,JobEnd,job",
			       "-", NULL);
	const char *story = strstr(r.out, "\n# 1. ");

	cr_assert(story, "%s", r.out);
	cr_assert_str_eq(story + 1,
			 "# 1. JobStart job=5 by victim 11, ended by hog 20, from 20.006500000 to "
			 "20.008000000:       1.500000 ms\n"
			 "\n"
			 "+       0 ns  blocked 1.500 ms (S), woken by holder? 12 on CPU 1\n"
			 "                lock (app)\n"
			 "                main (app)\n"
			 "              during that time holder 12:\n"
			 "                runnable 1.500 ms on CPU 1, preempted in the kernel\n");
	run_free(&r);
}

Test(explain, missing_pairs_are_reported)
{
	run_expect(run_cmd(cmd_explain, input(), "explain", "--span", "read", "-", NULL), CMD_USAGE,
		   "",
		   "dial9-prof: explain: no event of read in standard input; record it with "
		   "-e syscalls:sys_enter_read -e syscalls:sys_exit_read\n");
	run_expect(run_cmd(cmd_explain, input(), "explain", "--span", "fsync", "99", "-", NULL),
		   CMD_USAGE, "",
		   "dial9-prof: explain: no pair of fsync in standard input in the selection\n");
	run_expect(run_cmd(cmd_explain, input(), "explain", "--span", "fsync", "--time", "20.0145,",
			   "-", NULL),
		   CMD_USAGE, "# 1 unmatched start\n",
		   "dial9-prof: explain: no pair of fsync in standard input in the selection\n");
}

/* An application's own trace after it, of one boot: it has the times, the switches before it have the causes. */
Test(explain, pairs_of_one_recording_use_switches_of_another)
{
	static const char *const ours[] = { "host", "box", "boot_id", "1", "start", "1", NULL },
				 *const app[] = { "host",    "box", "boot_id", "1",
						  "service", "app", NULL };
	const uint64_t t = 20 * RUN_SEC;
	struct dial9_schema *s[2];
	const void *data;
	struct make m, n;
	struct buf file = { 0 };
	struct run r;
	size_t sz;

	make_init(&m, NULL);
	make_metadata(&m, t, ours);
	make_clock(&m, t, 1700000000 * RUN_SEC);
	make_switch(&m, t, 0, "swapper/0", 0, 0, "app", 11);
	make_switch(&m, t + 4 * ms, 0, "app", 11, 1, "swapper/0", 0);
	make_waking(&m, t + 9 * ms, 0, 0, "app", 11);
	make_switch(&m, t + 9 * ms, 0, "swapper/0", 0, 0, "app", 11);
	make_switch(&m, t + 20 * ms, 0, "app", 11, 1, "swapper/0", 0);
	make_init(&n, NULL);
	make_metadata(&n, t, app);
	make_clock(&n, t, 1700000000 * RUN_SEC);
	s[0] = MAKE_SCHEMA("RequestStart", { "tid", DIAL9_U32 });
	s[1] = MAKE_SCHEMA("RequestEnd", { "tid", DIAL9_U32 });
	for (int k = 0; k < 2; k++) {
		cr_assert_eq(dial9_enc_begin(n.enc, s[k], t + (k ? 12 : 2) * ms), 0);
		dial9_enc_put_u64(n.enc, 11);
		make_end(&n);
		dial9_schema_free(s[k]);
	}
	data = dial9_enc_data(m.enc, &sz);
	buf_add(&file, data, sz);
	data = dial9_enc_data(n.enc, &sz);
	buf_add(&file, data, sz);
	r = run_cmd(cmd_explain, make_fd(file.data, file.len), "explain", "--span", "RequestStart",
		    "-", NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	run_expect_in(r.out, "       5.000000       0.000000       5.000000       0.000000"
			     "       0.000000  1. RequestStart by app 11\n");
	run_free(&r);
	buf_free(&file);
	make_fini(&m);
	make_fini(&n);
}

/* Of its 4 ms of run-queue latency on CPU 0, hog runs for two, and for the rest the trace has no data. */
Test(explain, who_ran_instead_is_unknown_where_latency_prints_unknown)
{
	const uint64_t t = 20 * RUN_SEC;
	struct run r;
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, t, 1700000000 * RUN_SEC);
	make_task(&m, t, 11, 11, "victim");
	make_switch(&m, t, 0, "swapper/0", 0, 0, "victim", 11);
	make_switch(&m, t + 2 * ms, 0, "victim", 11, 0x100, "hog", 20);
	make_switch(&m, t + 4 * ms, 0, "hog", 20, 1, "other", 30);
	make_switch(&m, t + 6 * ms, 0, "third", 40, 1, "victim", 11);
	make_switch(&m, t + 9 * ms, 0, "victim", 11, 1, "swapper/0", 0);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-t", "11", "--worst", "1", "-",
		    NULL);
	run_expect_in(
		r.out,
		"        2.000 ms  ran instead: hog 20 on CPU 0\n"
		"        2.000 ms  ran instead: unknown task (record with -a or --neighbours)\n");
	run_free(&r);
	r = run_cmd(cmd_explain, make_file(&m), "explain", "11", "--time", "20,21", "-", NULL);
	run_expect_in(
		r.out,
		"  ran instead: hog 20 2.000 ms\n"
		"                ran instead: unknown task (record with -a or --neighbours) 2.000 ms\n"
		"                replaced by: hog 20\n"
		"                ran before it returned: third 40\n");
	run_free(&r);
	make_fini(&m);
}

/* clang-format off */
static const char polled[] =
	"# standard input: the slowest 1 of 1 pair of poll over 0.010 s\n"
	"# lost: nothing\n"
	"# all: 10.000 ms, median 10.000 ms, p99 10.000 ms\n"
	"#\n"
	"# no context switches in the trace: only stacks show what threads did\n"
	"#        Took ms  pair\n"
	"      10.000000  1. PollStartEvent by worker 11\n"
	"\n"
	"# 1. PollStartEvent by worker 11, from 20.000000000 to 20.010000000:      10.000000 ms\n"
	"\n"
	"+   1.000 ms  was sampled; next seen 1.000 ms later\n"
	"                work (app)\n"
	"\n"
	"+   2.000 ms  left its CPU; next seen 7.800 ms later\n"
	"                lock (app)\n"
	"                work (app)\n"
	"\n"
	"# 1 stack skipped: the next one followed at once\n";
/* clang-format on */

static int input_of_poll(void)
{
	const uint64_t t = 20 * RUN_SEC, lock = make_frame(1, 0x110), work = make_frame(1, 0x210);
	const uint64_t wait[] = { lock, work };
	struct make m;

	make_init(&m, NULL);
	make_module(&m, t, 1, "/opt/app", PROF_MODULE_ELF);
	make_symbol(&m, t, lock, 0, make_frame(1, 0x100), "lock", "", 0);
	make_symbol(&m, t, work, 0, make_frame(1, 0x200), "work", "", 0);
	make_task(&m, t, 11, 11, "worker");
	MAKE_NUMBERS(&m, t, "PollStartEvent", { "worker_id", 3 });
	MAKE_NUMBERS(&m, t, "WorkerParkEvent", { "worker_id", 3 }, { "tid", 11 });
	make_sample(&m, t + 1 * ms, 11, 11, PROF_SOURCE_SAMPLE, 0, &work, 1);
	make_sample(&m, t + 2 * ms, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, wait, 2);
	make_sample(&m, t + 3 * ms, 12, 12, PROF_SOURCE_SAMPLE, 0, &work, 1);
	make_sample(&m, t + 98 * ms / 10, 11, 11, PROF_SOURCE_SAMPLE, 0, &lock, 1);
	MAKE_NUMBERS(&m, t + 10 * ms, "PollEndEvent", { "worker_id", 3 });
	return make_done(&m);
}

/* An application's trace alone: it has the stacks where its threads left their CPUs, but no off-CPU times. */
Test(explain, pairs_without_switches_have_stacks)
{
	struct run r;

	run_expect(run_cmd(cmd_explain, input_of_poll(), "explain", "--span", "poll", "-", NULL),
		   CMD_OK, polled, "");
	r = run_cmd(cmd_explain, input_of_poll(), "explain", "--span", "poll", "--json", "-", NULL);
	run_expect_in(r.out, "\"switches\":false,\"complete\":true,\"causes\":[]");
	run_expect_in(r.out, "\"steps\":[],\"stacks\":[\n"
			     "{\"at_ns\":20001000000,\"off_cpu\":false,\"stack\":["
			     "{\"sym\":\"work\",\"dso\":\"/opt/app\"}]},\n"
			     "{\"at_ns\":20002000000,\"off_cpu\":true,");
	run_free(&r);
}

Test(explain, invalid_pair_options_are_refused)
{
	static const struct {
		const char *words[2], *err;
	} bad[] = {
		{ { "--slowest=3" },
		  "--slowest needs --span, such as --span fsync or --span ENTER,EXIT" },
		{ { "--span=a,b", "--worst" }, "--worst and --span exclude each other" },
		{ { "--span=a," },
		  "bad value for --span: expected ENTER,EXIT or ENTER,EXIT,FIELD" },
		{ { "--span=a,b,c,d" },
		  "bad value for --span: expected ENTER,EXIT or ENTER,EXIT,FIELD" },
		{ { "--span=a:b,a:b" },
		  "bad value 'a:b' for --span: start and end must be different events" },
		{ { "--span=a:b" },
		  "bad value 'a:b' for --span: no end event given; use --span ENTER,EXIT" },
		{ { "--span=a,b,c", "--span=a,b,d" },
		  "--span: use the same field for all pairs, not c and d" },
		{ { "--comm=a" }, "--comm, --cgroup and -C need --span" },
	};
	char err[256];

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		snprintf(err, sizeof(err), "dial9-prof: explain: %s\n", bad[k].err);
		run_expect(run_cmd(cmd_explain, input(), "explain", bad[k].words[0],
				   bad[k].words[1] ? bad[k].words[1] : "--no-pager", "-", NULL),
			   CMD_USAGE, "", err);
	}
	run_expect(
		run_cmd(cmd_explain, input(), "explain", "--span=a,b", "--slowest=1001", NULL),
		CMD_USAGE, "",
		"dial9-prof: explain: bad value '1001' for --slowest: expected a number from 1 to 1000\n");
}
