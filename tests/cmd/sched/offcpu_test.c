// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `offcpu` prints, to the byte. Thread 11 sleeps from 20 s to 21 s until 12 wakes it and from
 * 22 s to 22.5 s, and 12 is in the disk from 20.2 s to 20.7 s and once more, to the end, from 23 s.
 */
#include "tests/cmd/run_cmd.h"

static void make_waits(struct make *m)
{
	const uint64_t leaf = make_frame(1, 0x310), root = make_frame(1, 0x110);
	const uint64_t nap[] = { leaf, root }, read[] = { root };
	const uint64_t s = RUN_SEC;

	make_init(m, NULL);
	make_clock(m, 20 * s, 1700000000 * s);
	make_module(m, 20 * s, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(m, 20 * s, 10, 11, "napper");
	make_task(m, 20 * s, 10, 12, "reader");
	make_switch(m, 20 * s, 0, "napper", 11, 1, "reader", 12);
	make_sample(m, 20 * s, 10, 11, PROF_SOURCE_SWITCH_OUT, 0, nap, 2);
	make_switch(m, 20 * s + s / 5, 0, "reader", 12, 2, "swapper/0", 0);
	make_sample(m, 20 * s + s / 5, 10, 12, PROF_SOURCE_SWITCH_OUT, 0, read, 1);
	make_waking(m, 20 * s + 7 * s / 10, 0, 13, "reader", 12);
	make_switch(m, 20 * s + 7 * s / 10, 0, "swapper/0", 0, 0, "reader", 12);
	make_waking(m, 21 * s, 0, 12, "napper", 11);
	make_switch(m, 21 * s, 1, "swapper/1", 0, 0, "napper", 11);
	make_switch(m, 22 * s, 1, "napper", 11, 1, "swapper/1", 0);
	make_sample(m, 22 * s, 10, 11, PROF_SOURCE_SWITCH_OUT, 1, nap, 2);
	make_waking(m, 22 * s + s / 2, 0, 12, "napper", 11);
	make_switch(m, 22 * s + s / 2, 1, "swapper/1", 0, 0, "napper", 11);
	make_switch(m, 23 * s, 0, "reader", 12, 2, "swapper/0", 0);
	make_sample(m, 23 * s, 10, 12, PROF_SOURCE_SWITCH_OUT, 0, read, 1);
	make_symbol(m, 24 * s, leaf, 0, make_frame(1, 0x300), "nap", "", 0);
	make_symbol(m, 24 * s, root, 0, make_frame(1, 0x100), "main", "", 0);
	make_switch(m, 24 * s, 1, "napper", 11, 0, "swapper/1", 0);
}

/* clang-format off */
#define HEAD "# standard input: blocked time over 4.000 s\n" \
	     "# lost: nothing\n"
#define COLUMNS "#\n#      Time    Share    Count        Avg        Max\n"

static const char all[] = HEAD
	"# 4 off-CPU intervals, 3.000 s in total; *: includes fragments (1)\n" COLUMNS
	"    1.500 s   50.00%        2 750.000 ms    1.000 s  napper  S  woken by reader?\n"
	"            nap (app)\n"
	"            main (app)\n"
	"\n"
	"    1.000 s*  33.33%        1    1.000 s    1.000 s  reader  D  woken by -\n"
	"            main (app)\n"
	"\n"
	" 500.000 ms   16.67%        1 500.000 ms 500.000 ms  reader  D  woken by [unknown]?\n"
	"            main (app)\n"
	"\n";

static const char by_thread[] = HEAD
	"# 4 off-CPU intervals, 3.000 s in total; *: includes fragments (1)\n" COLUMNS
	"    1.500 s   50.00%        2 750.000 ms    1.000 s  pid 10  tid 11\n"
	"    1.500 s*  50.00%        2 750.000 ms    1.000 s  pid 10  tid 12\n";

static const char hist[] = HEAD
	"# 2 off-CPU intervals, 1.500 s in total\n" COLUMNS
	"    1.500 s  100.00%        2 750.000 ms    1.000 s  napper\n"
	"            268.435 ms        1 |****************************************\n"
	"            536.871 ms        1 |****************************************\n"
	"\n";

static const char json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":4000000000,\"lost_events\":0,"
	"\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,\"doubtful_stacks\":0,"
	"\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"intervals\":2,\"cut\":0,\"ns\":1500000000,\"unknown_ns\":0,\"unsure_ns\":0,\"rows_not_shown\":0,\"rows\":[\n"
	"{\"ns\":1500000000,\"intervals\":2,\"cut\":0,\"max_ns\":1000000000,\"max_start_ns\":20000000000,"
	"\"comm\":\"napper\",\"state\":\"S\",\"waker\":{\"context\":\"unknown\",\"name\":\"reader?\"},"
	"\"stack\":[{\"sym\":\"nap\",\"dso\":\"/opt/app\"},{\"sym\":\"main\",\"dso\":\"/opt/app\"}],"
	"\"log2_ns\":{\"28\":1,\"29\":1}}]}\n";
/* clang-format on */

static int input(void)
{
	struct make m;

	make_waits(&m);
	return make_done(&m);
}

#define OFFCPU(...) run_cmd(cmd_offcpu, input(), "offcpu", "-", __VA_ARGS__, NULL)

Test(offcpu, stacks_are_sorted_by_time_with_their_wakers)
{
	run_expect(run_cmd(cmd_offcpu, input(), "offcpu", "-", NULL), CMD_OK, all, "");
}

Test(offcpu, rows_have_keys_and_histograms)
{
	run_expect(OFFCPU("--by", "pid,tid"), CMD_OK, by_thread, "");
	run_expect(OFFCPU("--by", "comm", "--hist", "--state", "S"), CMD_OK, hist, "");
}

/* Of two groups and one thread without; the last two threads get their name and group after their intervals. */
static int groups(void)
{
	const uint64_t s = RUN_SEC;
	struct make m;

	make_grouped_tasks(&m, s);
	for (uint32_t i = 0; i < 6; i++) {
		make_switch(&m, 2 * s, i, "x", 11 + i, 1, "swapper", 0);
		make_waking(&m, (3 + i) * s, i, 99, "x", 11 + i);
		make_switch(&m, (3 + i) * s + s / 4, i, "swapper", 0, 0, "x", 11 + i);
	}
	make_task_in(&m, 10 * s, 2, 14, "d", "/db");
	return make_done(&m);
}

Test(offcpu, rows_are_grouped_by_control_group)
{
	run_expect(run_cmd(cmd_offcpu, groups(), "offcpu", "-", "--by", "cgroup", NULL), CMD_OK,
		   "# standard input: blocked time over 7.250 s\n"
		   "# lost: nothing\n"
		   "# 6 off-CPU intervals, 21.000 s in total\n" COLUMNS
		   "   11.000 s   52.38%        2    5.500 s    6.000 s  [unknown]\n"
		   "    7.000 s   33.33%        2    3.500 s    4.000 s  /db\n"
		   "    3.000 s   14.29%        2    1.500 s    2.000 s  /web\n",
		   "");
	struct run r =
		run_cmd(cmd_offcpu, groups(), "offcpu", "-", "--by", "cgroup", "--json", NULL);

	run_expect_in(r.out, "\"max_start_ns\":2000000000,\"cgroup\":null,");
	run_expect_in(r.out, "\"max_start_ns\":2000000000,\"cgroup\":\"/db\",");
	run_free(&r);
}

/* Three threads, asleep since before the recording, are named after they woke. */
Test(offcpu, processes_that_are_named_late_have_their_own_rows)
{
	const uint64_t s = RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, s, 1700000000 * s);
	make_task(&m, s, 10, 10, "first");
	make_switch(&m, s, 3, "first", 10, 0, "swapper/3", 0);
	for (uint32_t i = 0; i < 3; i++) {
		make_waking(&m, (2 + i) * s, i, 0, "late", 11 + i);
		make_switch(&m, (2 + i) * s, i, "swapper", 0, 0, "late", 11 + i);
	}
	make_task(&m, 5 * s, 11, 11, "late");
	make_task(&m, 5 * s, 12, 12, "late");
	make_task(&m, 5 * s, 12, 13, "late");
	run_expect(run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", "--by", "pid,state", NULL),
		   CMD_OK,
		   "# standard input: blocked time over 3.000 s\n"
		   "# lost: nothing\n"
		   "# 3 off-CPU intervals, 6.000 s in total; *: includes fragments (3)\n" COLUMNS
		   "    5.000 s*  83.33%        2    2.500 s    3.000 s  pid 12  ?\n"
		   "    1.000 s*  16.67%        1    1.000 s    1.000 s  pid 11  ?\n",
		   "");
	make_fini(&m);
}

Test(offcpu, excluded_intervals_do_not_count)
{
	run_expect(OFFCPU("--by", "comm", "--max", "600ms", "-q"), CMD_USAGE, "",
		   "dial9-prof: offcpu: unknown option -q; see dial9-prof offcpu --help\n");
	run_expect(OFFCPU("--by", "comm", "--max", "600ms", "--limit", "1"), CMD_OK,
		   HEAD "# 2 off-CPU intervals, 1.000 s in total\n" COLUMNS
			" 500.000 ms   50.00%        1 500.000 ms 500.000 ms  napper\n"
			"# 1 more row with less time: --limit 0 shows all\n",
		   "");
}

Test(offcpu, window_cuts_intervals)
{
	run_expect(OFFCPU("--by", "comm", "--time", "20.5,20.6"), CMD_OK,
		   "# standard input: blocked time over 0.100 s\n"
		   "# lost: nothing\n"
		   "# 2 off-CPU intervals, 200.000 ms in total; *: includes fragments (2)\n" COLUMNS
		   " 100.000 ms*  50.00%        1 100.000 ms 100.000 ms  napper\n"
		   " 100.000 ms*  50.00%        1 100.000 ms 100.000 ms  reader\n",
		   "");
}

Test(offcpu, folded_stacks_are_in_microseconds)
{
	run_expect(OFFCPU("--folded"), CMD_OK, "napper;main;nap 1500000\nreader;main 1500000\n",
		   "");
	run_expect(OFFCPU("--folded", "-K"), CMD_OK,
		   "napper;[no stack] 1500000\nreader;[no stack] 1500000\n", "");
}

/* Two stacks that differ only in addresses are one line; 1.5 us twice are 3, and inlined functions are marked. */
Test(offcpu, folded_stacks_that_look_equal_are_one_line)
{
	struct make m;

	make_init(&m, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t frame = make_frame(1, 0x100 + i * 8), ts = 1000000 + i * 10000;

		make_wait(&m, ts, "app", &frame, 1);
		make_symbol(&m, ts, frame, 0, make_frame(1, 0x100), "read", "", 0);
		make_symbol(&m, ts, frame, 1, make_frame(1, 0x100), "read", "", 0);
		make_symbol(&m, ts, frame, 2, make_frame(1, 0x100), "wait", "", 0);
	}
	run_expect(run_cmd(cmd_offcpu, make_done(&m), "offcpu", "-f", "-", NULL), CMD_OK,
		   "app;read;wait (inlined) 3\n", "");
}

Test(offcpu, output_is_one_json_object)
{
	run_expect(OFFCPU("--json", "--comm", "napper"), CMD_OK, json, "");
}

/* Threads with 25 names, each blocked once. */
static int many_names(void)
{
	struct make m;
	char comm[16];

	make_init(&m, NULL);
	make_clock(&m, RUN_SEC, 1700000000 * RUN_SEC);
	for (uint32_t i = 0; i < 25; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		make_task(&m, RUN_SEC, 100, 100 + i, comm);
	}
	for (uint32_t i = 0; i < 25; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		make_switch(&m, 2 * RUN_SEC, i, comm, 100 + i, 1, "swapper", 0);
		make_waking(&m, 3 * RUN_SEC, i, 99, comm, 100 + i);
		make_switch(&m, 3 * RUN_SEC, i, "swapper", 0, 0, comm, 100 + i);
	}
	return make_done(&m);
}

static size_t times_in(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

Test(offcpu, json_has_all_rows_unless_limit_is_given)
{
	struct run r = run_cmd(cmd_offcpu, many_names(), "offcpu", "-", NULL);

	run_expect_in(r.out, "# 5 more rows with less time: --limit 0 shows all\n");
	run_free(&r);
	r = run_cmd(cmd_offcpu, many_names(), "offcpu", "-", "--json", NULL);
	run_expect_in(r.out, ",\"rows_not_shown\":0,\"rows\":[");
	cr_expect_eq(times_in(r.out, "{\"ns\":1000000000,"), 25);
	run_free(&r);
	r = run_cmd(cmd_offcpu, many_names(), "offcpu", "-", "--json", "--limit", "3", NULL);
	run_expect_in(r.out, ",\"rows_not_shown\":22,\"rows\":[");
	cr_expect_eq(times_in(r.out, "{\"ns\":1000000000,"), 3);
	run_free(&r);
}

Test(offcpu, empty_output_is_explained)
{
	run_expect(
		OFFCPU("--min", "1h"), CMD_USAGE, "",
		"dial9-prof: no blocked time in standard input: no off-CPU interval matches --min, --max and --state\n");
	run_expect(
		OFFCPU("-p", "99"), CMD_USAGE, "",
		"dial9-prof: no blocked time in standard input: process 99 is not in the trace\n");
	run_expect(
		OFFCPU("--comm", "nobody*"), CMD_USAGE, "",
		"dial9-prof: no blocked time in standard input: none match -p, -t, --comm, --cgroup, -C and --time\n");
}

Test(offcpu, invalid_arguments_are_refused)
{
	run_expect(
		OFFCPU("--by", "stack,colour"), CMD_USAGE, "",
		"dial9-prof: offcpu: unknown key 'colour' in --by (known: stack, comm, pid, tid, "
		"cgroup, state, waker, wstack)\n");
	run_expect(
		OFFCPU("--state", "Q"), CMD_USAGE, "",
		"dial9-prof: offcpu: bad value 'Q' for --state: expected letters of RSDTtXZPI, such as S,D\n");
	run_expect(OFFCPU("-KU"), CMD_USAGE, "",
		   "dial9-prof: offcpu: -K and -U exclude each other; use only one of them\n");
	run_expect(OFFCPU("-m", "2ms", "-M", "1ms"), CMD_USAGE, "",
		   "dial9-prof: offcpu: --min is greater than --max\n");
}

Test(offcpu, symbols_that_symbolize_may_add_are_reported)
{
	static const char note[] =
		"# unresolved symbols in 100.0% of blocked time: see dial9-prof symbolize\n";
	const uint64_t leaf = make_frame(1, 0x310);

	for (int has_id = 0; has_id < 2; has_id++) {
		struct make m;
		struct run r;

		make_init(&m, NULL);
		make_module_with(&m, RUN_SEC, 1, "/opt/app", has_id ? "id" : "", PROF_MODULE_ELF);
		make_task(&m, RUN_SEC, 10, 11, "napper");
		make_switch(&m, RUN_SEC, 0, "napper", 11, 1, "swapper/0", 0);
		make_sample(&m, RUN_SEC, 10, 11, PROF_SOURCE_SWITCH_OUT, 0, &leaf, 1);
		make_waking(&m, 2 * RUN_SEC, 0, 0, "napper", 11);
		make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "napper", 11);
		r = run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", NULL);
		cr_assert_eq(r.code, CMD_OK, "%s", r.err);
		cr_expect_eq(strstr(r.out, note) != NULL, has_id, "%s", r.out);
		run_free(&r);
		make_fini(&m);
	}
}

/* A sleep with a pause of the recording inside: whether the thread came back during the pause is unknown. */
Test(offcpu, thread_blocked_across_a_gap_is_not_counted_as_running)
{
	struct make m;

	make_init(&m, NULL);
	make_task(&m, RUN_SEC, 10, 11, "napper");
	make_switch(&m, RUN_SEC, 0, "napper", 11, 1, "swapper/0", 0);
	make_lost(&m, 4 * RUN_SEC, "paused", 1, RUN_SEC + 1000, 3 * RUN_SEC);
	make_switch(&m, 4 * RUN_SEC, 0, "swapper/0", 0, 0, "napper", 11);
	run_expect(run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", NULL), CMD_OK,
		   "No blocked time in standard input: all off-CPU intervals are incomplete.\n"
		   "# unknown: 3.000 s (all threads): "
		   "pauses\n",
		   "");
	make_fini(&m);
}

/* Two intervals of one process in a second, 3 ms and 1 ms long, as `record --summary` has them. */
static int sums_input(uint8_t kind)
{
	static const char *const kv[] = { "summary_ns", "1000000000", NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_clock(&m, RUN_SEC, 1);
	make_sums(&m, 2 * RUN_SEC,
		  &(struct make_sums){ .pid = 7,
				       .comm = "app",
				       .kind = kind,
				       .cnt = 2,
				       .sum_ns = 4000000,
				       .max_ns = 3000000,
				       .power = "20",
				       .in_power = "2" });
	return make_done(&m);
}

Test(offcpu, sums_have_the_same_columns_and_colours)
{
	static const char text[] =
		"# standard input: blocked time over 1.000 s\n"
		"# lost: nothing\n"
		"# sums per process, recorded every 1.000 s (--summary); percentiles are upper bounds\n"
		"# 2 off-CPU intervals, 4.000 ms in total\n"
		"#\n#      Time    Share    Count        Avg        Max\n"
		"   4.000 ms  100.00%        2   2.000 ms   3.000 ms  app 7\n";
	struct run r;

	run_expect(run_cmd(cmd_offcpu, sums_input(PROF_SUMMARY_BLOCKED), "offcpu", "-", NULL),
		   CMD_OK, text, "");
	r = run_cmd(cmd_offcpu, sums_input(PROF_SUMMARY_BLOCKED), "offcpu", "-", "--color=always",
		    NULL);
	run_expect_in(r.out, "\33[31m 100.00%\33[0m");
	run_free(&r);
	r = run_cmd(cmd_offcpu, sums_input(PROF_SUMMARY_BLOCKED), "offcpu", "-", "--json", NULL);
	run_expect_in(r.out, "\"summary_ns\":1000000000,\"intervals\":2,\"ns\":4000000,"
			     "\"unknown_intervals\":0,\"rows_not_shown\":0,\"rows\":[\n"
			     "{\"ns\":4000000,\"intervals\":2,\"max_ns\":3000000,"
			     "\"comm\":\"app\",\"pid\":7,\"log2_ns\":{\"20\":2}}]}\n");
	run_free(&r);
}

Test(offcpu, latency_of_sums_has_a_total)
{
	struct run r =
		run_cmd(cmd_sched, sums_input(PROF_SUMMARY_WAIT), "sched", "latency", "-", NULL);

	run_expect_in(
		r.out,
		"#   Runtime  Switches Preempted   Count       Total        Avg     P50 <=     P99 <=        Max  Process\n"
		"       0 ns         0         0       2    4.000 ms   2.000 ms   2.097 ms   2.097 ms   3.000 ms  app 7\n");
	run_free(&r);
}

/* Preempted threads, recorded with --min-block and --max-block: others may have blocked for shorter or longer. */
Test(offcpu, without_blocked_time_the_recorded_intervals_are_reported)
{
	static const char *const kv[] = { PROF_META_OFF_MIN_NS, "50000", PROF_META_OFF_MAX_NS,
					  "5000000", NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_task(&m, RUN_SEC, 10, 11, "spinner");
	MAKE_NUMBERS(&m, 2 * RUN_SEC, PROF_EV_OFF_CPU, { "common_cpu", 0 }, { "common_pid", 11 },
		     { "off_ns", 100000 }, { "blocked_ns", 0 }, { "prev_state", 0 },
		     { "waker_pid", 0 }, { "context", 0 }, { "from_cpu", 0 }, { "woken", 0 },
		     { "unfinished", 0 });
	run_expect(run_cmd(cmd_offcpu, make_file(&m), "offcpu", "-", NULL), CMD_OK,
		   "No blocked time in standard input: not all off-CPU intervals were recorded.\n"
		   "# switches: only off-CPU intervals from 50.000 us to 5.000 ms\n",
		   "");
	make_fini(&m);
}
