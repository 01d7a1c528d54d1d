// SPDX-License-Identifier: BSD-2-Clause
/* `diff` of two small traces whose differences are known, to the byte. */
#include "tests/cmd/run_cmd.h"

TestSuite(diff, .timeout = 60);

#define MS 1000000ULL

struct build {
	uint32_t module; /* its module ID, and offsets: a comparison must not use these */
	uint64_t off;
	const char *path, *work;
	int work_cnt, rest_cnt;
};

static const struct build old_build = { 1, 0x100, "/opt/v1/app", "work", 80, 20 };
static const struct build new_build = { 9, 0x7700, "/opt/v2/app", "work.isra.0", 20, 80 };

/* Samples 10 ms apart; then one thread that blocks and is runnable, with the given number and durations. */
static int build_fd(const struct build *b, int waits, uint64_t blocked, uint64_t waiting)
{
	static const char *const kv[] = { "sample_event",     "cpu-clock", "sample_hz", "100",
					  "sample_period_ns", "10000000",  NULL };
	uint64_t work = make_frame(b->module, b->off), rest = work + 0x40, start = work + 0x80;
	const uint64_t a[] = { work, start }, c[] = { rest, start };
	uint64_t ts = RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_module(&m, ts, b->module, b->path, PROF_MODULE_ELF);
	make_task(&m, ts, 10, 10, "app");
	for (int i = 0; i < b->work_cnt + b->rest_cnt; i++, ts += 10 * MS)
		make_sample(&m, ts, 10, 10, PROF_SOURCE_SAMPLE, 0, i < b->work_cnt ? a : c, 2);
	make_switch(&m, ts, 0, "swapper/0", 0, 0, "app", 10);
	for (int i = 0; i < waits; i++) {
		ts += MS;
		make_switch(&m, ts, 0, "app", 10, 1, "swapper/0", 0);
		make_sample(&m, ts, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, c, 2);
		ts += blocked;
		make_waking(&m, ts, 0, 0, "app", 10);
		ts += waiting;
		make_switch(&m, ts, 0, "swapper/0", 0, 0, "app", 10);
	}
	make_symbol(&m, ts, work, 0, work, b->work, "", 0);
	make_symbol(&m, ts, rest, 0, rest, "rest", "", 0);
	make_symbol(&m, ts, start, 0, start, "main", "", 0);
	return make_done(&m);
}

/* OLD is standard input, NEW a file. */
static struct run diff(int old, int new, const char *a, const char *b, const char *c)
{
	char path[32];
	struct run r;

	snprintf(path, sizeof(path), "/dev/fd/%d", new);
	r = run_cmd(cmd_diff, old, "diff", "-", path, a, a ? b : NULL, b ? c : NULL, NULL);
	close(new);
	return r;
}

/* The lines after those with the file names. */
static void expect_rows(struct run r, const char *want)
{
	const char *at = strstr(r.out, "#\n");

	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	cr_assert_str_eq(r.err, "");
	cr_assert_not_null(at, "%s", r.out);
	cr_assert_str_eq(at + 2, want, "printed:\n%s\nwanted:\n%s", at + 2, want);
	run_free(&r);
}

Test(diff, shares_of_samples_are_compared_across_builds)
{
	int old = build_fd(&old_build, 0, 0, 0), new = build_fd(&new_build, 0, 0, 0);

	/* 2 * sqrt(0.8 * 0.2 / 100 * 2) = 11.31% */
	expect_rows(diff(old, new, NULL, NULL, NULL),
		    "#        Old        New      Delta         +-  Symbol (module)\n"
		    "      20.00%     80.00%    +60.00%     11.31%  rest (app)\n"
		    "      80.00%     20.00%    -60.00%     11.31%  work.isra.0 (app)\n");
}

Test(diff, callers_ratio_and_limit_are_printed)
{
	int old = build_fd(&old_build, 0, 0, 0), new = build_fd(&new_build, 0, 0, 0);

	/* 4 * 2 * sqrt(0.8 * 0.2 * 100 * (1 / 400 + 1 / 6400)) = 1.65 */
	expect_rows(diff(old, new, "-cratio", "--children", "-n2"),
		    "#        Old        New      Ratio         +-  Symbol (module)\n"
		    "      20.00%     80.00%      4.00x      1.65x  rest (app)\n"
		    "      80.00%     20.00%      0.25x      0.10x  work.isra.0 (app)\n");
	old = build_fd(&old_build, 0, 0, 0);
	new = build_fd(&old_build, 0, 0, 0);
	expect_rows(diff(old, new, "--normalize=none", "--children", NULL),
		    "#        Old        New      Delta         +-  Symbol (module)\n"
		    "~      1.000      1.000     +0.000      0.283  main (app)\n"
		    "~      0.800      0.800     +0.000      0.253  work (app)\n"
		    "~      0.200      0.200     +0.000      0.126  rest (app)\n");
}

Test(diff, header_has_the_inputs_and_the_losses)
{
	int old = build_fd(&old_build, 0, 0, 0);
	const uint64_t at = make_frame(1, 1);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_sample(&m, RUN_SEC, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_lost(&m, 2 * RUN_SEC, "ring_full", 3, RUN_SEC, RUN_SEC);
	r = diff(old, make_file(&m), NULL, NULL, NULL);
	cr_assert_eq(strncmp(r.out,
			     "# old: standard input: 100 CPU samples, over 1.000 s\n"
			     "# new: /dev/fd/",
			     68),
		     0, "%s", r.out);
	cr_assert_not_null(
		strstr(r.out,
		       ": 1 CPU sample, over 0.000 s\n# new lost: 3 events\n"
		       "# only 0.0% of old and 0.0% of new is in functions of both traces\n"
		       "# CPU in % of the total; +-: two standard deviations; ~: within noise; ?: noise unknown\n"),
		"%s", r.out);
	run_free(&r);
	make_fini(&m);
}

Test(diff, dropped_stacks_explain_differences)
{
	static const char *const kinds[] = { "stacks_thinned", "stacks_off" };
	const uint64_t at = make_frame(1, 1);

	for (int i = 0; i < 2; i++) {
		struct make m;
		struct run r;

		make_init(&m, NULL);
		make_sample(&m, RUN_SEC, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
		make_lost(&m, 2 * RUN_SEC, kinds[i], 1234, RUN_SEC, RUN_SEC);
		r = diff(build_fd(&old_build, 0, 0, 0), make_file(&m), NULL, NULL, NULL);
		/* stacks of switches are no CPU samples */
		cr_expect_eq(!!strstr(r.out, "\n# new: 1,234 stacks dropped under load: "
					     "differences may come from this only\n"),
			     i == 0, "%s", r.out);
		run_free(&r);
		make_fini(&m);
	}
}

Test(diff, functions_of_different_files_are_matched_by_symbol_on_request)
{
	static const struct build other = { 5, 0x4000, "/opt/app-2.1", "work", 20, 80 };
	const char *hint =
		"# only 0.0% of old and 0.0% of new is in functions of both traces; with "
		"-s sym 100.0% and 100.0%\n";
	int old = build_fd(&old_build, 0, 0, 0), new = build_fd(&other, 0, 0, 0);
	struct run r = diff(old, new, "-n1", NULL, NULL);

	/* neither name, build-id nor source file: a hint instead of silence */
	run_expect_in(r.out, hint);
	run_expect_in(r.out, "       0.00%     80.00%    +80.00% ");
	run_free(&r);
	old = build_fd(&old_build, 0, 0, 0);
	new = build_fd(&other, 0, 0, 0);
	r = diff(old, new, "-s", "sym", NULL);
	cr_assert_null(strstr(r.out, "only "));
	run_free(&r);
	old = build_fd(&old_build, 0, 0, 0);
	new = build_fd(&other, 0, 0, 0);
	expect_rows(diff(old, new, "-ssym", NULL, NULL),
		    "#        Old        New      Delta         +-  Symbol\n"
		    "      20.00%     80.00%    +60.00%     11.31%  rest\n"
		    "      80.00%     20.00%    -60.00%     11.31%  work\n");
	old = build_fd(&old_build, 0, 0, 0);
	new = build_fd(&other, 0, 0, 0);
	r = diff(old, new, "--json", "-ssym", NULL);
	run_expect_in(r.out, "\"sum_ns\":1e+09,\"matched_percent\":100,");
	run_expect_in(r.out, "{\"sym\":\"rest\",\"dso\":null,");
	run_free(&r);
}

Test(diff, rows_can_be_stacks)
{
	int old = build_fd(&old_build, 0, 0, 0), new = build_fd(&new_build, 0, 0, 0);

	expect_rows(diff(old, new, "-g", "-n1", NULL),
		    "#        Old        New      Delta         +-  Stack, leaf first\n"
		    "      20.00%     80.00%    +60.00%     11.31%  rest (app)\n"
		    "                                               main (app)\n");
}

Test(diff, blocked_time_is_compared)
{
	int old = build_fd(&old_build, 100, 2 * MS, MS),
	    new = build_fd(&old_build, 100, 6 * MS, MS);

	/* 100 blocks of 2 ms: 0.2 s, +- 2 * sqrt(100) * 2 ms; of 6 ms likewise: hypot(0.04, 0.12) */
	expect_rows(diff(old, new, "--kind=offcpu", "--normalize=none", NULL),
		    "#        Old        New      Delta         +-  Symbol (module)\n"
		    "       0.200      0.600     +0.400      0.126  rest (app)\n");
	old = build_fd(&old_build, 100, 2 * MS, MS);
	new = build_fd(&old_build, 100, 6 * MS, MS);
	expect_rows(diff(old, new, "--kind=offcpu", "--normalize=none", "--children"),
		    "#        Old        New      Delta         +-  Symbol (module)\n"
		    "       0.200      0.600     +0.400      0.126  main (app)\n"
		    "       0.200      0.600     +0.400      0.126  rest (app)\n");
	/* 10% more of each is within 2 * sqrt(100) * 2 ms, but it is each of them */
	old = build_fd(&old_build, 100, 2 * MS, MS);
	new = build_fd(&old_build, 100, 22 * MS / 10, MS);
	expect_rows(diff(old, new, "--kind=offcpu", "--normalize=none", NULL),
		    "#        Old        New      Delta         +-  Symbol (module)\n"
		    "       0.200      0.220     +0.020      0.000  rest (app)\n");
}

Test(diff, percentiles_of_run_queue_latency_are_compared)
{
	int old = build_fd(&old_build, 1000, MS, 50000), new = build_fd(&old_build, 1000, MS, 40);

	/* to the 0.8% of quantile.h */
	expect_rows(diff(old, new, "--kind=latency", "--percentile=90", NULL),
		    "#     Old     New    Old p50    New p50    Old p90    New p90      Delta"
		    "         +-  Thread\n"
		    "     1000    1000       50.0        0.0       50.0        0.0      -50.0"
		    "        0.0  app\n");
}

Test(diff, selections_apply_to_both_traces)
{
	int old = build_fd(&old_build, 0, 0, 0), new = build_fd(&new_build, 0, 0, 0);
	struct run r;

	/* the first half second */
	expect_rows(diff(old, new, "--time=+0,499ms", NULL, NULL),
		    "#        Old        New      Delta         +-  Symbol (module)\n"
		    "       0.00%     60.00%    +60.00%     14.42%  rest (app)\n"
		    "     100.00%     40.00%    -60.00%     13.86%  work.isra.0 (app)\n");
	old = build_fd(&old_build, 0, 0, 0);
	new = build_fd(&new_build, 0, 0, 0);
	run_expect(
		diff(old, new, "-p77", NULL, NULL), CMD_USAGE, "",
		"dial9-prof: nothing to compare: neither trace has CPU samples that match -p, -t, --comm, "
		"--cgroup, -C and --time\n");
	old = build_fd(&old_build, 0, 0, 0);
	new = build_fd(&new_build, 0, 0, 0);
	r = diff(old, new, "--time=900,901", NULL, NULL);
	run_expect_in(r.err, "dial9-prof: nothing to compare in ");
	run_expect_in(r.err, ", --time 900,901 is outside; the trace is 1.000 s long; use "
			     "+1,+2 for times from its start\n");
	run_free(&r);
}

Test(diff, json_has_exact_numbers)
{
	int old = build_fd(&old_build, 0, 0, 0), new = build_fd(&new_build, 0, 0, 0);
	struct run r = diff(old, new, "--json", "-n1", NULL);

	cr_assert_eq(r.code, CMD_OK);
	cr_assert_eq(strstr(r.out, "{\"version\":2,\"kind\":\"cpu\",\"unit\":\"percent\","), r.out);
	cr_assert_not_null(
		strstr(r.out, "\"observed\":100,\"span_ns\":1000000000,\"recorded_ns\":1000000000,"
			      "\"sum_ns\":1e+09,"));
	cr_assert_not_null(
		strstr(r.out,
		       "\"rows_not_shown\":1,\"rows\":[{\"sym\":\"rest\",\"dso\":\"app\",\"old_count\":20,\"old\":20,"
		       "\"new_count\":80,\"new\":80,\"delta\":60,\"error\":11.3137085,"
		       "\"ratio\":4,\"ratio_error\":1.6492422"),
		"%s", r.out);
	cr_assert_not_null(strstr(r.out, "\"within_noise\":false}]}\n"), "%s", r.out);
	run_free(&r);
}

/* A command that sleeps for 100 times 2 ms and is delayed by others for @held ns; @end: it ends itself. */
static int command_fd(uint64_t held, bool end)
{
	static const char *const kv[] = { "target", "command ./app", "target_pids", "10", NULL };
	const uint64_t work = make_frame(1, 0x100);
	uint64_t ts = RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_module(&m, ts, 1, "/opt/app", PROF_MODULE_ELF);
	make_exec(&m, ts, 10, 10);
	make_task(&m, ts, 10, 10, "app");
	make_switch(&m, ts, 0, "swapper/0", 0, 0, "app", 10);
	for (int i = 0; i < 100; i++) {
		make_switch(&m, ts, 0, "app", 10, 1, "swapper/0", 0);
		make_sample(&m, ts, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, &work, 1);
		ts += 2 * MS;
		make_waking(&m, ts, 0, 0, "app", 10);
		ts += held / 100;
		make_switch(&m, ts, 0, "swapper/0", 0, 0, "app", 10);
	}
	if (end)
		MAKE_NUMBERS(&m, ts, "sched:sched_process_exit", { "common_cpu", 0 },
			     { "common_pid", 10 }, { "pid", 10 });
	make_symbol(&m, ts, work, 0, work, "nap", "", 0);
	return make_done(&m);
}

Test(diff, blocked_time_of_whole_commands_is_not_normalized)
{
	struct run r =
		diff(command_fd(0, true), command_fd(RUN_SEC, true), "--kind=offcpu", NULL, NULL);

	run_expect_in(
		r.out,
		"# both traces are whole commands: times are totals (see --normalize time)\n");
	run_expect_in(r.out, "\n~      0.200      0.200     +0.000      ");
	run_free(&r);
	/* how long an unfinished command would have slept is unknown */
	r = diff(command_fd(0, true), command_fd(RUN_SEC, false), "--kind=offcpu", NULL, NULL);
	run_expect_in(r.out, "# times are per second of recorded time (see --normalize none)\n");
	run_expect_in(r.out, "    1000.000    166.667   -833.333 ");
	run_free(&r);
	r = diff(command_fd(0, true), command_fd(RUN_SEC, true), "--kind=offcpu", "--time=0%,90%",
		 "--json");
	run_expect_in(r.out, "\"unit\":\"s/s\",\"normalize\":\"time\",");
	run_free(&r);
}

/* One thread sleeps for 50 times 2 ms of each 4. */
static uint64_t sleep_awhile(struct make *m, uint64_t ts, const char *name, uint32_t tid)
{
	const uint64_t work = make_frame(1, 0x100);

	for (int i = 0; i < 50; i++, ts += 4 * MS) {
		make_switch(m, ts, 0, name, tid, 1, "swapper/0", 0);
		make_sample(m, ts, tid, tid, PROF_SOURCE_SWITCH_OUT, 0, &work, 1);
		make_waking(m, ts + 2 * MS, 0, 0, name, tid);
		make_switch(m, ts + 2 * MS, 0, "swapper/0", 0, 0, name, tid);
	}
	return ts;
}

static void begin_recording(struct make *m, uint64_t ts, const char *start, const char *name,
			    uint32_t tid)
{
	const uint64_t work = make_frame(1, 0x100);
	const char *const kv[] = { "host", "box", "boot_id", "1", "start_realtime_ns", start, NULL };

	make_init(m, NULL);
	make_metadata(m, ts, kv);
	make_clock(m, ts, 1000 * RUN_SEC + ts);
	make_module(m, ts, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(m, ts, tid, tid, name);
	make_symbol(m, ts, work, 0, work, "nap", "", 0);
}

/* 0.4 s of it, in two halves; between them nothing was recorded for @gap. */
static int napping_fd(const char *kind, uint64_t gap)
{
	uint64_t ts = RUN_SEC;
	struct make m;

	begin_recording(&m, ts, "1", "napper", 10);
	ts = sleep_awhile(&m, ts, "napper", 10);
	if (gap)
		make_lost(&m, ts + gap, kind, 1, ts - MS, ts + gap - MS);
	ts = sleep_awhile(&m, ts + gap, "napper", 10);
	make_switch(&m, ts, 0, "napper", 10, 0, "swapper/0", 0);
	return make_done(&m);
}

Test(diff, rates_refer_to_the_recorded_time)
{
	static const char *const kinds[] = { "thinned", "paused", "not_kept", "hole" };
	struct run r;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		r = diff(napping_fd(kinds[i], 3 * RUN_SEC), napping_fd(NULL, 0), "--kind=offcpu",
			 NULL, NULL);
		run_expect_in(r.out,
			      ": 100 off-CPU intervals, 0.2 s, over 3.400 s, 0.400 s recorded\n");
		run_expect_in(
			r.out,
			"\n# old not recorded: 3.000 s; intervals that reach into this time are missing\n");
		run_expect_in(r.out, ": 100 off-CPU intervals, 0.2 s, over 0.400 s\n");
		run_expect_in(r.out, "\n~    500.000    500.000     +0.000    ");
		run_free(&r);
	}
	/* and of the skipped time as far as it is inside the window: 201 ms of 400 */
	r = diff(napping_fd("paused", 400 * MS), napping_fd(NULL, 0), "--kind=offcpu",
		 "--time=0%,50%", "--json");
	run_expect_in(r.out,
		      "\"span_ns\":400000000,\"recorded_ns\":199000000,\"sum_ns\":100000000,");
	run_expect_in(r.out, "\"old_count\":50,\"old\":0.502512563,");
	run_free(&r);
}

/* The data of both files, one after the other. */
static int together(struct make *a, struct make *b)
{
	size_t n, k;
	const char *x = dial9_enc_data(a->enc, &n), *y = dial9_enc_data(b->enc, &k);
	char *all = malloc(n + k);
	int fd;

	memcpy(all, x, n);
	memcpy(all + n, y, k);
	fd = make_fd(all, n + k);
	free(all);
	make_fini(a);
	make_fini(b);
	return fd;
}

/* Two recordings of 0.4 s, the second @later than the first. */
static int two_fd(uint64_t later, const char *name, uint32_t tid)
{
	struct make a, b;
	uint64_t ts = RUN_SEC;

	begin_recording(&a, ts, "1", "napper", 10);
	ts = sleep_awhile(&a, sleep_awhile(&a, ts, "napper", 10), "napper", 10);
	make_switch(&a, ts, 0, "napper", 10, 0, "swapper/0", 0);
	ts = RUN_SEC + later;
	begin_recording(&b, ts, "2", name, tid);
	ts = sleep_awhile(&b, sleep_awhile(&b, ts, name, tid), name, tid);
	make_switch(&b, ts, 0, name, tid, 0, "swapper/0", 0);
	return together(&a, &b);
}

Test(diff, gap_between_consecutive_recordings_does_not_count)
{
	struct run r = diff(two_fd(7 * RUN_SEC, "napper", 10), napping_fd(NULL, 0), "--kind=offcpu",
			    NULL, NULL);

	run_expect_in(r.out, ": 200 off-CPU intervals, 0.4 s, over 0.800 s\n# new: ");
	run_expect_in(r.out, "\n~    500.000    500.000     +0.000    ");
	run_free(&r);
}

Test(diff, overlapping_recordings_have_their_own_durations)
{
	struct run r = diff(two_fd(200 * MS, "sleeper", 20), napping_fd(NULL, 0), "--kind=offcpu",
			    "--comm=napper", NULL);

	run_expect_in(
		r.out,
		": 100 off-CPU intervals, 0.2 s, over 0.600 s\n# old: recordings overlap, 0.800 s in total: values are scaled by their own recording\n");
	run_expect_in(r.out, "\n~    500.000    500.000 ");
	run_free(&r);
	/* recordings that only touch follow each other */
	r = diff(two_fd(380 * MS, "napper", 10), napping_fd(NULL, 0), "--kind=offcpu", "--json",
		 NULL);
	run_expect_in(r.out, "\"span_ns\":780000000,\"recorded_ns\":780000000,");
	run_expect_in(r.out, ",\"old\":0.512820513,");
	run_free(&r);
}

/* Sums of 5 s. */
static int sums_fd(void)
{
	const char *const kv[] = { "summary_ns", "1000000000", NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_task(&m, RUN_SEC, 10, 10, "napper");
	make_stats(&m, 6 * RUN_SEC, 0, 0);
	return make_done(&m);
}

Test(diff, sums_are_refused)
{
	const char *kinds[] = { "--kind=offcpu", "--kind=latency" };

	for (size_t i = 0; i < 2; i++) {
		run_expect(
			diff(sums_fd(), napping_fd(NULL, 0), kinds[i], NULL, NULL), CMD_USAGE, "",
			"dial9-prof: diff: cannot compare standard input: it has only sums (--summary); use sched latency or offcpu --hist\n");
		run_expect(
			diff(sums_fd(), sums_fd(), kinds[i], NULL, NULL), CMD_USAGE, "",
			"dial9-prof: diff: cannot compare standard input: it has only sums (--summary); use sched latency or offcpu --hist\n");
	}
}

static int off_cpu_fd(const char *min_ns)
{
	const char *const kv[] = { "off_cpu_min_ns", min_ns, NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	for (uint64_t ts = RUN_SEC; ts < 3 * RUN_SEC; ts += RUN_SEC)
		MAKE_NUMBERS(&m, ts, "dial9:off_cpu", { "common_cpu", 0 }, { "common_pid", 10 },
			     { "off_ns", 7 * MS }, { "blocked_ns", 7 * MS }, { "prev_state", 1 },
			     { "from_cpu", 0 }, { "woken", 1 }, { "unfinished", 0 });
	return make_done(&m);
}

Test(diff, different_limits_of_off_cpu_intervals_are_reported)
{
	static const char unlike[] =
		"\n# --min-block or --max-block differ: intervals that only one trace records look like changes\n";
	struct run r =
		diff(off_cpu_fd("5000000"), napping_fd(NULL, 0), "--kind=offcpu", NULL, NULL);

	run_expect_in(r.out, "\n# old switches: only off-CPU intervals of at least 5.000 ms\n");
	run_expect_in(r.out, unlike);
	run_free(&r);
	r = diff(off_cpu_fd("5000000"), off_cpu_fd("6000000"), "--kind=offcpu", NULL, NULL);
	run_expect_in(r.out, "\n# new switches: only off-CPU intervals of at least 6.000 ms\n");
	run_expect_in(r.out, unlike);
	run_free(&r);
	r = diff(off_cpu_fd("5000000"), off_cpu_fd("5000000"), "--kind=offcpu", NULL, NULL);
	cr_expect_null(strstr(r.out, "not alike"), "%s", r.out);
	run_free(&r);
}

Test(diff, unknown_significance_is_not_within_noise)
{
	struct run r = diff(build_fd(&old_build, 1, MS, 50000), build_fd(&old_build, 1, MS, 40),
			    "--kind=latency", NULL, NULL);

	run_expect_in(r.out, "\n?       1       1 ");
	run_free(&r);
	r = diff(build_fd(&old_build, 20, MS, 50000), build_fd(&old_build, 20, MS, 1500000),
		 "--kind=latency", NULL, NULL);
	run_expect_in(r.out, "\n       20      20 ");
	run_free(&r);
	r = diff(build_fd(&old_build, 1, MS, 50000), build_fd(&old_build, 1, MS, 40),
		 "--kind=latency", "--json", NULL);
	run_expect_in(r.out, "\"p50_error\":null,\"within_noise\":null}");
	run_free(&r);
}
