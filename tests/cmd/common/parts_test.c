// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of several recordings: each keeps its own rate, threads, names and clock. Two hosts recorded at the
 * same time of their clocks: a slow one, 30 samples at 100 Hz, which are 0.3 s of CPU time, and a fast one, 100
 * samples at 1000 Hz, which are 0.1 s. The single thread of each has the same TID.
 */
#include "tests/cmd/run_cmd.h"

#include "rewrite/merge/merge.h"

#include "base/buf.h"
#include "trace/source/source.h"

TestSuite(parts, .timeout = 60);

struct recording {
	const char *host, *boot, *hz, *period, *comm, *path, *symbol;
	int samples;
	uint64_t step_ns, first_ns;
	bool switches; /* its thread ran for half a second without interruption */
};

static const struct recording slow = { "turtle", "b1", "100",	 "10000000",  "alpha", "/bin/app",
				       "f",	 30,   10000000, 5 * RUN_SEC, false };
static const struct recording fast = { "hare", "b2", "1000",  "1000000",   "beta", "/bin/other",
				       "g",    100,  1000000, 5 * RUN_SEC, false };

static void add_recording(struct buf *out, const struct recording *rec)
{
	const char *kv[] = { "host",
			     rec->host,
			     "boot_id",
			     rec->boot,
			     "sample_event",
			     "cpu-clock",
			     "start_realtime_ns",
			     "1",
			     "sample_hz",
			     rec->hz,
			     rec->period ? "sample_period_ns" : NULL,
			     rec->period,
			     NULL };
	const uint64_t at = make_frame(1, 0x10);
	const void *data;
	struct make m;
	size_t sz;

	make_init(&m, NULL);
	make_metadata(&m, rec->first_ns, kv);
	make_clock(&m, rec->first_ns, 1700000000 * RUN_SEC);
	make_module(&m, rec->first_ns, 1, rec->path, PROF_MODULE_ELF);
	make_task(&m, rec->first_ns, 7, 7, rec->comm);
	for (int i = 0; i < rec->samples; i++)
		make_sample(&m, rec->first_ns + (uint64_t)i * rec->step_ns, 7, 7,
			    PROF_SOURCE_SAMPLE, 0, &at, 1);
	if (rec->switches) {
		make_switch(&m, rec->first_ns, 0, "swapper/0", 0, 0, rec->comm, 7);
		make_switch(&m, rec->first_ns + RUN_SEC / 2, 0, rec->comm, 7, 1, "swapper/0", 0);
	}
	make_symbol(&m, rec->first_ns, at, 0, at, rec->symbol, "", 0);
	/* lost events make times uncertain */
	if (!rec->switches)
		make_lost(&m, rec->first_ns, "ring_full", (uint64_t)rec->samples, rec->first_ns,
			  rec->first_ns);
	make_stats(&m, rec->first_ns, 1000, (uint64_t)rec->samples);
	data = dial9_enc_data(m.enc, &sz);
	buf_add(out, data, sz);
	make_fini(&m);
}

static struct run run_both(run_fn cmd, const struct recording *a, const struct recording *b,
			   const char *option, const char *value)
{
	struct buf file = { 0 };
	struct run r;

	setenv("TZ", "UTC0", 1);
	add_recording(&file, a);
	add_recording(&file, b);
	r = run_cmd(cmd, make_fd(file.data, file.len), "cmd", "-", option, value, NULL);
	buf_free(&file);
	cr_expect_eq(r.code, 0, "%s", r.err);
	cr_expect_str_eq(r.err, "");
	return r;
}

Test(parts, sample_counts_for_the_period_of_its_own_recording)
{
	struct run r = run_both(cmd_report, &slow, &fast, NULL, NULL);

	run_expect_in(
		r.out,
		"# standard input: CPU samples of 2 recordings on 2 clocks\n"
		"# recording 1 (turtle) over 0.290 s: 30 samples of cpu-clock at 100 Hz, one per 10.000 ms of CPU time, 0.3 s in total (timer instead of cycles: no PMU)\n"
		"# recording 2 (hare) over 0.099 s: 100 samples of cpu-clock at 1000 Hz, one per 1.000 ms of CPU time, 0.1 s in total (timer instead of cycles: no PMU)\n"
		"# shares refer to CPU time: sampling periods differ between recordings\n"
		"# lost: 130 events (see dial9-prof info)\n");
	run_expect_in(r.out, "    75.00%   75.00%       30     0.300  f       app\n"
			     "    25.00%   25.00%      100     0.100  g       other\n");
	run_free(&r);
	r = run_both(cmd_report, &slow, &fast, "-g", NULL);
	run_expect_in(r.out, "    75.00%   75.00%       30     0.300  f (app)\n"
			     "    25.00%   25.00%      100     0.100  g (other)\n");
	run_free(&r);
	r = run_both(cmd_report, &slow, &fast, "--json", NULL);
	run_expect_in(r.out,
		      "\"parts\":[{\"sample_event\":\"cpu-clock\",\"sample_hz\":\"100\",\"part\":1,"
		      "\"clock\":1,\"samples\":30},{\"sample_event\":\"cpu-clock\",\"sample_hz\":"
		      "\"1000\",\"part\":2,\"clock\":2,\"samples\":100}],\"samples\":130,");
	run_expect_in(r.out,
		      "{\"self\":30,\"total\":30,\"self_ns\":300000000,\"total_ns\":300000000,"
		      "\"sym\":\"f\"");
	run_free(&r);
}

/* Clones of a machine may have the same boot id. */
Test(parts, processes_of_two_hosts_with_one_boot_id_are_two_rows)
{
	struct recording twin = fast;
	struct run r;

	twin.boot = slow.boot;
	r = run_both(cmd_report, &slow, &twin, "-s", "pid");
	run_expect_in(r.out, "# standard input: CPU samples of 2 recordings on 1 clock\n");
	run_expect_in(r.out, "   75.00%       30     0.300  7    1\n");
	run_expect_in(r.out, "   25.00%      100     0.100  7    2\n");
	run_free(&r);
}

Test(parts, missing_period_is_computed_from_the_rate)
{
	struct recording hz_only = fast, nothing = fast;
	struct run r;

	hz_only.period = NULL;
	r = run_both(cmd_report, &slow, &hz_only, NULL, NULL);
	run_expect_in(r.out, "    75.00%   75.00%       30     0.300  f       app\n");
	run_free(&r);
	nothing.period = NULL;
	nothing.hz = "";
	r = run_both(cmd_report, &slow, &nothing, NULL, NULL);
	run_expect_in(r.out, "# shares refer to samples: a recording has no sampling period\n");
	run_expect_in(r.out, "    76.92%   76.92%      100  g       other\n");
	run_free(&r);
}

Test(parts, equal_rates_need_no_weights)
{
	struct recording same = fast;
	struct run r;

	same.period = slow.period;
	r = run_both(cmd_report, &slow, &same, NULL, NULL);
	cr_expect_null(strstr(r.out, "shares refer to"));
	run_expect_in(r.out, "    76.92%   76.92%      100     1.000  g       other\n");
	run_free(&r);
}

Test(parts, threads_of_two_hosts_are_never_merged)
{
	struct recording again = fast;
	struct run r = run_both(cmd_report, &slow, &fast, "--sort=comm,tid", NULL);

	run_expect_in(r.out, "Samples   Seconds  Thread  Tid  Part\n"
			     "    75.00%   75.00%       30     0.300  alpha   7    1\n"
			     "    25.00%   25.00%      100     0.100  beta    7    2\n");
	run_free(&r);
	again.host = slow.host;
	again.boot = slow.boot;
	again.first_ns = 6 * RUN_SEC;
	r = run_both(cmd_report, &slow, &again, "--sort=tid", NULL);
	run_expect_in(r.out, "# standard input: CPU samples of 2 recordings on 1 clock\n");
	run_expect_in(r.out, "Samples   Seconds  Tid\n   100.00%  100.00%      130     0.400  7\n");
	run_free(&r);
}

Test(parts, script_prints_where_another_clock_begins)
{
	struct recording again = fast;
	struct run r = run_both(cmd_script, &slow, &fast, NULL, NULL);

	run_expect_in(r.out, "alpha       7/7       [000]     5.290000: cpu-clock:\n");
	run_expect_in(r.out, "# recording 2 (hare): its times are not comparable with those above\n"
			     "beta       7/7       [000]     5.000000: cpu-clock:\n");
	run_free(&r);
	again.boot = slow.boot;
	r = run_both(cmd_script, &slow, &again, NULL, NULL);
	run_expect_in(r.out, "# recording 2 (hare): on the clock of recording 1\n");
	run_free(&r);
	r = run_both(cmd_script, &slow, &fast, "--json", NULL);
	run_expect_in(r.out, "{\"version\":2,\"ts\":5290000000,\"part\":1,\"event\":\"cpu-clock\"");
	run_expect_in(r.out, "{\"version\":2,\"ts\":5099000000,\"part\":2,\"event\":\"cpu-clock\"");
	cr_expect_null(strstr(r.out, "#"));
	run_free(&r);
}

/* 0.05 s from its own start: 6 samples of the slow one, 51 of the fast one. */
Test(parts, each_clock_has_its_own_time_window)
{
	struct recording later = fast;
	struct run r;

	later.first_ns = 900 * RUN_SEC;
	r = run_both(cmd_report, &slow, &later, "--time", "+0,+0.05");
	run_expect_in(r.out, "       6     0.060  f       app\n");
	run_expect_in(r.out, "      51     0.051  g       other\n");
	run_free(&r);
	r = run_both(cmd_report, &slow, &later, "--time", "0%,50%");
	run_expect_in(r.out, "      15     0.150  f       app\n");
	run_expect_in(r.out, "      50     0.050  g       other\n");
	run_free(&r);
	r = run_both(cmd_report, &slow, &later, "--time", "22:13:20,22:13:20.1");
	run_expect_in(r.out, "      11     0.110  f       app\n");
	run_expect_in(r.out, "     100     0.100  g       other\n");
	run_free(&r);
}

Test(parts, info_lists_each_recording_with_its_properties)
{
	struct run r = run_both(cmd_info, &slow, &fast, NULL, NULL);

	run_expect_in(
		r.out,
		"recordings      2 in one file, on 2 clocks: times of different clocks are not comparable\n"
		"lost            130 events\n");
	run_expect_in(
		r.out,
		"\nRecording 1, from byte 0:\n"
		"host            turtle\n"
		"boot            b1\n"
		"sampled by      cpu-clock at 100 Hz\n"
		"start           2023-11-14 22:13:20.000 +0000\n"
		"span            0.290000 s (5.000000 to 5.290000)\n"
		"events          37, including 30 samples\n"
		"accounting      produced 1,000 = written 970 + lost 30\n"
		"lost            30 events dropped: ring buffer full (ring_full), between 5.000000 "
		"and 5.000000\n");
	run_expect_in(r.out, "host            hare\n"
			     "boot            b2\n"
			     "sampled by      cpu-clock at 1000 Hz\n");
	run_expect_in(r.out, "accounting      produced 1,000 = written 900 + lost 100\n");
	run_free(&r);
	r = run_both(cmd_info, &slow, &fast, "--json", NULL);
	run_expect_in(
		r.out,
		"\"parts\":[{\"part\":1,\"offset\":0,\"clock\":1,\"events\":37,\"samples\":30,"
		"\"switch_stacks\":0,\"metadata\":{\"host\":\"turtle\",");
	run_expect_in(r.out, "\"clock\":2,\"events\":107,\"samples\":100,");
	run_free(&r);
}

/* Addresses without a module belong to one process in each recording. */
Test(parts, raw_addresses_belong_to_their_own_recording)
{
	static const char *const names[] = { "here", "there" };
	static const char *const kv[][5] = { { "service", "a", NULL }, { "service", "b", NULL } };
	const uint64_t at[] = { 0x401000, 0x55aa00401000 };
	struct buf file = { 0 };
	const void *data;
	struct make m;
	struct run r;
	size_t sz;

	for (int i = 0; i < 2; i++) {
		make_init(&m, NULL);
		make_metadata(&m, 1, kv[i]);
		for (int k = 0; k < 2; k++) {
			make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at[k], 1);
			make_symbol(&m, 3, at[k], 0, at[k], names[i], "", 0);
		}
		data = dial9_enc_data(m.enc, &sz);
		buf_add(&file, data, sz);
		make_fini(&m);
	}
	r = run_cmd(cmd_report, make_fd(file.data, file.len), "report", "-", NULL);
	run_expect_in(r.out, "        2  here    [unknown]\n");
	run_expect_in(r.out, "        2  there   [unknown]\n");
	run_free(&r);
	buf_free(&file);
}

/* 72 samples of an application that does not record its sampling rate, and 30 of our own. */
Test(parts, trace_of_an_application_does_not_use_the_recorders_rate)
{
	const char *top = getenv("D9_TOP") ? getenv("D9_TOP") : ".";
	struct buf app = { 0 }, file = { 0 };
	struct source *src;
	char path[4096];
	struct run r;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/tokio-service.bin.gz", top);
	cr_assert_eq(source_open(path, &src), 0);
	while ((n = source_read(src, buf_reserve(&app, 65536), 65536)) > 0)
		app.len += (size_t)n;
	source_close(src);
	for (int ours_first = 0; ours_first < 2; ours_first++) {
		buf_clear(&file);
		if (ours_first)
			add_recording(&file, &slow);
		buf_add(&file, app.data, app.len);
		if (!ours_first)
			add_recording(&file, &slow);
		r = run_cmd(cmd_report, make_fd(file.data, file.len), "report", "-", NULL);
		run_expect_in(r.out, ": 72 samples\n");
		run_expect_in(
			r.out,
			": 30 samples of cpu-clock at 100 Hz, one per 10.000 ms of CPU time, 0.3 s in total");
		run_expect_in(r.out,
			      "# shares refer to samples: a recording has no sampling period");
		run_free(&r);
	}
	buf_free(&app);
	buf_free(&file);
}

/* Half a second on a CPU by the switches with 30 samples, and 100 samples without a sampling period. */
static struct run run_untimed(run_fn cmd, const char *word, const char *option, const char *value)
{
	struct recording exact = slow, app = fast;
	struct buf file = { 0 };
	struct run r;

	exact.switches = true;
	app.hz = "";
	app.period = NULL;
	add_recording(&file, &exact);
	add_recording(&file, &app);
	r = run_cmd(cmd, make_fd(file.data, file.len), "cmd", word, "-", option, value, NULL);
	buf_free(&file);
	cr_expect_eq(r.code, 0, "%s", r.err);
	return r;
}

Test(parts, samples_without_switches_have_no_exact_seconds_and_no_share)
{
	struct run r = run_untimed(cmd_report, "--sort=comm,tid", NULL, NULL);

	run_expect_in(
		r.out,
		"# seconds are exact, from context switches: 0.500 s in total\n"
		"# shares refer to these seconds\n"
		"# recording 2 has no context switches: its samples have no seconds and no share\n"
		"# lost: ");
	cr_expect_null(strstr(r.out, "shares refer to samples"));
	run_expect_in(r.out, "#      CPU  Samples   Seconds  Thread  Tid  Part\n"
			     "   100.00%       30     0.500  alpha   7    1\n"
			     "         -      100         -  beta    7    2\n");
	run_free(&r);
	r = run_untimed(cmd_report, "--sort=comm,tid", "--json", NULL);
	run_expect_in(r.out, "{\"self\":30,\"total\":30,\"run_ns\":500000000,\"comm\":\"alpha\"");
	run_expect_in(r.out, "{\"self\":100,\"total\":100,\"run_ns\":null,\"comm\":\"beta\"");
	run_free(&r);
}

Test(parts, samples_without_a_rate_have_no_seconds_next_to_times)
{
	struct run r = run_untimed(cmd_report, "--wall", "--sort=state,comm", NULL);

	run_expect_in(
		r.out,
		"# shares refer to the time of all threads\n"
		"# recording 2 has no sampling period: its samples have no seconds and no share\n"
		"# lost: ");
	cr_expect_null(strstr(r.out, "shares refer to samples"));
	cr_expect_null(strstr(r.out, "shares refer to CPU time"));
	run_expect_in(r.out, "        1     0.500  running  alpha\n"); /* from switches */
	run_expect_in(r.out, "         -        -      100         -  running  beta\n");
	run_free(&r);
	r = run_untimed(cmd_report, "--wall", "--sort=state,comm", "--json");
	run_expect_in(r.out, "{\"self\":100,\"total\":100,\"self_ns\":null,\"total_ns\":null,"
			     "\"state\":\"running\",\"comm\":\"beta\"}");
	run_free(&r);
}

#define UNTIMED(what)                                                                              \
	"dial9-prof: export: 100 samples of part 2 " what                                          \
	": their sampling period is not recorded\n"

Test(parts, exports_that_weigh_by_time_report_samples_without_time)
{
	struct run r = run_untimed(cmd_export, "speedscope", NULL, NULL);

	/* counted, in a separate profile */
	cr_expect_str_eq(r.err, UNTIMED("counted, without time"));
	run_expect_in(r.out, "\"name\":\"alpha 7/7 part 1\",\"unit\":\"nanoseconds\","
			     "\"startValue\":0,\"endValue\":300000000,");
	run_expect_in(r.out, "\"name\":\"beta 7/7 part 2\",\"unit\":\"none\","
			     "\"startValue\":0,\"endValue\":100,");
	run_free(&r);
	r = run_untimed(cmd_export, "pprof", NULL, NULL);
	cr_expect_str_eq(r.err, UNTIMED("without time"));
	run_free(&r);
	r = run_untimed(cmd_export, "folded", "--kind=wall", NULL);
	cr_expect_str_eq(r.err, UNTIMED("skipped"));
	run_free(&r);
	/* samples are samples */
	r = run_untimed(cmd_export, "folded", NULL, NULL);
	cr_expect_str_eq(r.err, "");
	cr_expect_str_eq(r.out, "alpha;f 30\nbeta;g 100\n");
	run_free(&r);
}

/* The name that this host's kernel has for state 1, and a switch to it. */
static int record_state(const char *host, const char *state, uint64_t ts)
{
	const char *kv[] = { "host", host, "boot_id", host, "start_realtime_ns", "5000000", NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_clock(&m, ts, 1700000000 * RUN_SEC + ts);
	make_tpsym(&m, ts, "sched:sched_switch", "prev_state", PROF_TP_SYMBOL, 1, state);
	make_switch(&m, ts + 10, 0, host, 7, 1, "swapper/0", 0);
	make_switch(&m, ts + 30, 0, host, 7, 1, "swapper/0", 0);
	return make_done(&m);
}

/* Kernels differ, and their symbols come in one stream. */
Test(parts, values_have_the_names_of_their_own_kernel)
{
	static const char *const hosts[] = { "turtle", "hare", "snail" };
	static const char *const states[] = { "Sleeps", "Naps", "Dozes" };
	const struct merge_opts opts = { 0 };
	char want[64], names[3][32];
	const char *paths[3];
	int fds[3], merged = make_fd("", 0);
	struct run r;

	for (int i = 0; i < 3; i++) {
		fds[i] = record_state(hosts[i], states[i], RUN_SEC + (uint64_t)i);
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
		paths[i] = names[i];
	}
	cr_assert_eq(merge_to_file(&opts, paths, 3, merged, NULL), CMD_OK);
	lseek(merged, 0, SEEK_SET);
	r = run_cmd(cmd_script, merged, "script", "-", NULL);
	for (int i = 0; i < 3; i++) {
		const char *at = r.out;
		int n = 0;

		snprintf(want, sizeof(want), "prev_comm=%s prev_pid=7", hosts[i]);
		for (; (at = strstr(at, want)); at += strlen(want), n++) {
			const char *state = strstr(at, "prev_state=");

			cr_assert_not_null(state);
			cr_expect_eq(strncmp(state + strlen("prev_state="), states[i],
					     strlen(states[i])),
				     0, "%s: %.20s", hosts[i], state);
		}
		cr_expect_eq(n, 2, "%s", r.out);
		close(fds[i]);
	}
	run_free(&r);
}
