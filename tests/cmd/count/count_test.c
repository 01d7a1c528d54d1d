// SPDX-License-Identifier: BSD-2-Clause
/* What `count` prints, to the byte; the numbers follow from the events that the test writes. */
#include "tests/cmd/run_cmd.h"

static void work(struct make *m, const char *event, uint64_t ts, uint32_t tid)
{
	MAKE_NUMBERS(m, ts, event, { "common_cpu", 0 }, { "common_pid", tid });
}

/* Switches of two threads over 4 s, one of them negative in a field, with names of their states. */
static int input(void)
{
	const uint64_t s = RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 20 * s, 10, 11, "worker");
	make_task(&m, 20 * s, 12, 12, "hog");
	make_prev_state(&m, 20 * s);
	make_switch(&m, 20 * s, 0, "worker", 11, 1, "hog", 12);
	make_switch(&m, 21 * s, 0, "hog", 12, 0, "worker", 11);
	make_switch(&m, 22 * s, 0, "worker", 11, 1, "hog", 12);
	make_waking(&m, 23 * s, 0, 12, "worker", 11);
	make_switch(&m, 24 * s, 0, "hog", 12, 0x100, "worker", 11);
	return make_done(&m);
}

/* clang-format off */
#define HEAD(what) "# standard input: " what " over 4.000 s\n" \
		   "# lost: nothing\n"

static const char by_state[] = HEAD("4 events")
	"#\n"
	"#      Count   Share  prev_comm  prev_state\n"
	"           2  50.00%  worker     S\n"
	"           1  25.00%  hog        R\n"
	"           1  25.00%  hog        R+\n";

static const char by_tid[] = HEAD("5 events")
	"#\n"
	"#      Count   Share  event               tid\n"
	"           2  40.00%  sched:sched_switch  11\n"
	"           2  40.00%  sched:sched_switch  12\n"
	"# 1 more row with fewer events: --top 0 shows all\n";

static const char lacking[] = HEAD("1 event")
	"# not counted: 4 events without these fields\n"
	"#\n"
	"#      Count   Share  args.pid\n"
	"           1 100.00%  11\n";

static const char json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":4000000000,"
	"\"lost_events\":0,\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,"
	"\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,"
	"\"events\":4,\"events_without_fields\":0,\"events_without_time\":0,\"events_beyond_rows\":0,"
	"\"rows_not_shown\":1,\"rows\":[\n"
	"{\"by\":{\"prev_state\":1},\"text\":{\"prev_state\":\"S\"},\"count\":2,\"percent\":50},\n"
	"{\"by\":{\"prev_state\":0},\"text\":{\"prev_state\":\"R\"},\"count\":1,\"percent\":25}]}\n";

static const char pairs[] =
	"# /dev/stdin: 2 pairs over 0.010 s\n"
	"# lost: 2 events (see dial9-prof info)\n"
	"# unmatched: 1 start event, 1 end event\n"
	"# * 1 pair with lost events in between: not in the times\n"
	"#\n"
	"#     Total    Share     Pairs     Average         p50         p99     Maximum      Tid  Start event\n"
	"   1.000 ms  100.00%         2*   1.000 ms    1.000 ms    1.000 ms    1.000 ms        7  app:start\n"
	"#\n# Pairs by time, from the one given up to twice as much:\n"
	" 524.288 us         1 |****************************************\n";

static const char none_cut[] =
	"   8.000 ms  100.00%         2    4.000 ms    1.000 ms    7.000 ms    7.000 ms  app:start\n";
/* clang-format on */

Test(count, rows_with_the_kernels_names)
{
	run_expect(run_cmd(cmd_count, input(), "count", "-", "-e", "sched:sched_switch", "--by",
			   "prev_comm,prev_state", NULL),
		   CMD_OK, by_state, "");
}

Test(count, the_first_rows)
{
	run_expect(run_cmd(cmd_count, input(), "count", "-", "--by", "event,tid", "--top", "2",
			   NULL),
		   CMD_OK, by_tid, "");
}

Test(count, a_field_with_the_name_of_a_word)
{
	run_expect(run_cmd(cmd_count, input(), "count", "-", "--by", "args.pid", NULL), CMD_OK,
		   lacking, "");
}

Test(count, as_json)
{
	run_expect(run_cmd(cmd_count, input(), "count", "-", "-e", "sched:sched_switch", "--by",
			   "prev_state", "--json", "--top", "2", NULL),
		   CMD_OK, json, "");
}

/* Two boots, whose clocks both begin at 0: a share belongs to an interval of one recording. */
Test(count, intervals_of_two_clocks)
{
	const uint64_t s = RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	for (uint64_t i = 0; i < 2; i++) {
		const char *const kv[] = { "host", "box", "boot_id", i ? "two" : "one", NULL };

		if (i)
			dial9_enc_reset(m.enc);
		make_metadata(&m, s, kv);
		work(&m, "app:a", 2 * s, 7);
		work(&m, i ? "app:a" : "app:b", 2 * s + 1, 7);
		if (i)
			work(&m, "app:a", 5 * s, 7);
	}
	r = run_cmd(cmd_count, make_done(&m), "count", "-", "-e", "app:*", "--interval", "2", NULL);
	run_expect_in(r.out, "#           Time       Count   Share  Recording  event\n"
			     "        2.000000           1  50.00%          1  app:a\n"
			     "        2.000000           1  50.00%          1  app:b\n"
			     "        2.000000           2 100.00%          2  app:a\n"
			     "        4.000000           1 100.00%          2  app:a\n");
	run_free(&r);
}

/* A switch belongs to both threads, as in script. */
Test(count, selected_threads)
{
	struct run r = run_cmd(cmd_count, input(), "count", "-", "--comm", "hog", NULL);

	run_expect_in(r.out, "           4  80.00%  sched:sched_switch\n");
	run_expect_in(r.out, "           1  20.00%  sched:sched_waking\n");
	run_free(&r);
}

Test(count, a_time_range)
{
	struct run r = run_cmd(cmd_count, input(), "count", "-", "--time", "21,23", NULL);

	run_expect_in(r.out, "# standard input: 3 events over 2.000 s\n");
	run_expect_in(r.out, "           2  66.67%  sched:sched_switch\n");
	run_free(&r);
}

/* The gap from 3 to 4 ms is written after the pair that it cuts. */
static void write_pairs(struct make *m)
{
	const uint64_t ms = 1000000, at = 20 * RUN_SEC;

	make_init(m, NULL);
	work(m, "app:end", at, 7);
	work(m, "app:start", at + ms, 7);
	work(m, "app:end", at + 8 * ms, 7);
	make_lost(m, at + 8 * ms, "ring_full", 2, at + 3 * ms, at + 4 * ms);
	work(m, "app:start", at + 8 * ms, 7);
	work(m, "app:end", at + 9 * ms, 7);
	work(m, "app:start", at + 10 * ms, 7);
}

Test(count, a_pair_over_a_gap)
{
	struct make m;

	write_pairs(&m);
	run_expect(run_cmd(cmd_count, make_done(&m), "count", "/dev/stdin", "--pair",
			   "app:start,app:end", "--by", "tid", NULL),
		   CMD_OK, pairs, "");
}

/* From a pipe: the gap is known too late. */
Test(count, a_pair_over_a_gap_from_a_pipe)
{
	struct make m;
	struct run r;
	const void *data;
	int fds[2];
	size_t sz;

	write_pairs(&m);
	data = dial9_enc_data(m.enc, &sz);
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], data, sz), (ssize_t)sz);
	close(fds[1]);
	r = run_cmd(cmd_count, fds[0], "count", "-", "--pair", "app:start,app:end", NULL);
	run_expect_in(r.out, none_cut);
	run_free(&r);
	make_fini(&m);
}

Test(count, events_of_the_recorder_are_reported_if_rows_are_threads)
{
	const char *const kv[] = { "recorder_pid", "49", NULL };
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_task(&m, RUN_SEC, 49, 50, "dial9-prof");
	make_task(&m, RUN_SEC, 7, 7, "app");
	for (uint64_t i = 0; i < 3; i++)
		make_waking(&m, (2 + i) * RUN_SEC, 0, i ? 50 : 7, "x", 8);
	r = run_cmd(cmd_count, make_file(&m), "count", "--by", "comm", "-", NULL);
	run_expect_in(r.out, "# lost: nothing\n# includes 2 events in threads of the recorder\n");
	run_free(&r);
	r = run_cmd(cmd_count, make_file(&m), "count", "--by", "comm", "--json", "-", NULL);
	run_expect_in(r.out, "\"recorder_events\":2");
	run_free(&r);
	r = run_cmd(cmd_count, make_file(&m), "count", "-", NULL);
	cr_expect_null(strstr(r.out, "recorder"));
	run_free(&r);
	make_fini(&m);
}

Test(count, names_of_threads_may_follow_their_events)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	work(&m, "app:start", RUN_SEC, 7);
	make_task(&m, RUN_SEC, 7, 7, "late");
	work(&m, "app:start", RUN_SEC, 7);
	r = run_cmd(cmd_count, make_done(&m), "count", "/dev/stdin", "--by", "comm", NULL);
	run_expect_in(r.out, "           2 100.00%  late\n");
	run_free(&r);
}

/* Only pairs that start and end in it. */
Test(count, pairs_of_a_time_range)
{
	struct make m;
	struct run r;

	write_pairs(&m);
	r = run_cmd(cmd_count, make_done(&m), "count", "-", "--pair", "app:start,app:end", "--time",
		    "20.0075,20.0095", NULL);
	run_expect_in(r.out, "# unmatched: 1 end event\n");
	run_expect_in(r.out, "   1.000 ms  100.00%         1 ");
	run_free(&r);
}

Test(count, hidden_rows_are_lower_in_the_sorted_column)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	work(&m, "app:start", RUN_SEC, 7);
	work(&m, "app:end", RUN_SEC + 10, 7);
	work(&m, "app:start", RUN_SEC + 20, 7);
	work(&m, "app:end", RUN_SEC + 30, 7);
	work(&m, "app:start", RUN_SEC + 40, 8);
	work(&m, "app:end", RUN_SEC + 90, 8);
	r = run_cmd(cmd_count, make_done(&m), "count", "-", "--pair", "app:start,app:end", "--by",
		    "tid", "--sort", "count", "--top", "1", NULL);
	run_expect_in(r.out, "# 1 more row with a lower count: --top 0 shows all\n");
	run_free(&r);
}

/* A stack belongs to the switch before it, unless it is named itself. */
Test(count, stacks_of_other_events_only_by_name)
{
	struct make m;
	struct run r;

	run_make_app(&m);
	r = run_cmd(cmd_count, make_file(&m), "count", "-", NULL);
	run_expect_in(r.out, "           8  72.73%  cpu-clock\n");
	cr_expect_null(strstr(r.out, "switch-out"));
	run_free(&r);
	r = run_cmd(cmd_count, make_done(&m), "count", "-", "-e", "switch-out", NULL);
	run_expect_in(r.out, "           1 100.00%  switch-out\n");
	run_free(&r);
}

static void sampled_by(struct make *m, uint64_t ts, const char *clock)
{
	const char *const kv[] = { "host", clock, "boot_id", clock, "sample_event", clock, NULL };

	make_metadata(m, ts, kv);
	make_clock(m, ts, ts);
	make_sample(m, ts, 7, 7, PROF_SOURCE_SAMPLE, 0, NULL, 0);
}

Test(count, samples_have_the_clock_of_their_recording)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	sampled_by(&m, RUN_SEC, "cycles");
	dial9_enc_reset(m.enc);
	sampled_by(&m, 9000 * RUN_SEC, "cpu-clock");
	r = run_cmd(cmd_count, make_done(&m), "count", "-", NULL);
	run_expect_in(r.out, "           1  50.00%  cycles\n");
	run_expect_in(r.out, "           1  50.00%  cpu-clock\n");
	run_free(&r);
}
