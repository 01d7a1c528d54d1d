// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `report` prints, to the byte. The trace is run_make_app()'s: 8 samples, 6 of them in leaf
 * inlined into hot under work under main, 2 at an address of libc without a name.
 */
#include "base/str.h"
#include "tests/cmd/pty.h"
#include "tests/cmd/run_cmd.h"
#include <sys/wait.h>

/* clang-format off */
#define HEAD "# standard input: CPU samples over 4.000 s\n"\
		  "# 8 samples of cpu-clock at 99 Hz, one per 10.101 ms of CPU time, 0.0808 s in total (timer instead of cycles: no PMU)\n"\
		  "# lost: 3 events (see dial9-prof info)\n"\
		  "# unresolved: 25.0% of samples in /lib/libc.so.6: unknown: not recorded\n"\
		  "# unresolved: 25.0% of samples: see dial9-prof symbolize\n"\
		  "#\n"

#define HEAD_EXACT "# standard input: CPU samples over 4.000 s\n"\
		  "# 8 samples of cpu-clock at 99 Hz, one per 10.101 ms of CPU time, 0.0808 s in total (timer instead of cycles: no PMU)\n"\
		  "# seconds are from context switches: 2.001 s in total\n"\
		  "# 4.000 s of CPU time may be missing: lost events\n"\
		  "# lost: 3 events (see dial9-prof info)\n"\
		  "# unresolved: 25.0% of samples in /lib/libc.so.6: unknown: not recorded\n"\
		  "# unresolved: 25.0% of samples: see dial9-prof symbolize\n"\
		  "#\n"

static const char flat[] = HEAD
		  "#     Self    Total  Samples   Seconds  Symbol          Module\n"
		  "    75.00%   75.00%        6     0.061  leaf (inlined)  app\n"
		  "    25.00%   25.00%        2     0.020  [unknown]       libc.so.6\n"
		  "     0.00%  100.00%        0     0.000  main            app\n"
		  "     0.00%   75.00%        0     0.000  hot             app\n"
		  "     0.00%   75.00%        0     0.000  work            app\n";

static const char with_children[] = HEAD
		  "#    Total     Self  Samples   Seconds  Symbol          Module\n"
		  "   100.00%    0.00%        8     0.081  main            app\n"
		  "    75.00%   75.00%        6     0.061  leaf (inlined)  app\n"
		  "    75.00%    0.00%        6     0.061  hot             app\n"
		  "    75.00%    0.00%        6     0.061  work            app\n"
		  "    25.00%   25.00%        2     0.020  [unknown]       libc.so.6\n";

static const char without_children[] = HEAD
		  "#     Self  Samples   Seconds  Symbol          Module\n"
		  "    75.00%        6     0.061  leaf (inlined)  app\n"
		  "    25.00%        2     0.020  [unknown]       libc.so.6\n";

static const char not_inlined[] = HEAD
		  "#     Self    Total  Samples   Seconds  Symbol     Module\n"
		  "    75.00%   75.00%        6     0.061  hot        app\n"
		  "    25.00%   25.00%        2     0.020  [unknown]  libc.so.6\n"
		  "     0.00%  100.00%        0     0.000  main       app\n"
		  "     0.00%   75.00%        0     0.000  work       app\n";

static const char tree[] = HEAD
		  "#    Total     Self  Samples   Seconds  Symbol, callees below\n"
		  "   100.00%    0.00%        8     0.081  main (app)\n"
		  "    75.00%    0.00%        6     0.061    work (app)\n"
		  "    75.00%    0.00%        6     0.061      hot (app)\n"
		  "    75.00%   75.00%        6     0.061        leaf (inlined) (app)\n"
		  "    25.00%   25.00%        2     0.020    [unknown] (libc.so.6)\n";

static const char callee[] = HEAD
		  "#    Total     Self  Samples   Seconds  Symbol, callers below\n"
		  "    75.00%   75.00%        6     0.061  leaf (inlined) (app)\n"
		  "    75.00%    0.00%        6     0.061    hot (app)\n"
		  "    75.00%    0.00%        6     0.061      work (app)\n";

static const char tree_of_threads[] = HEAD
		  "#    Total     Self  Samples   Seconds  Symbol, callees below\n"
		  "    75.00%    0.00%        6     0.061  app 10\n"
		  "    75.00%    0.00%        6     0.061    main (app)\n"
		  "    50.00%    0.00%        4     0.040      work (app)\n"
		  "    50.00%    0.00%        4     0.040        hot (app)\n"
		  "    50.00%   50.00%        4     0.040          leaf (inlined) (app)\n";

static const char chains[] = HEAD
		  "#     Self  Samples   Seconds  Stack, callers below\n"
		  "    75.00%        6     0.061  leaf (inlined) (app)\n"
		  "                               hot (app)\n"
		  "                               work (app)\n"
		  "                               main (app)\n"
		  "    25.00%        2     0.020  [unknown] (libc.so.6)\n"
		  "                               main (app)\n";

static const char folded[] = "app;main;[unknown] 2\n"
			     "app;main;work;hot;leaf (inlined) 4\n"
			     "pool;main;work;hot;leaf (inlined) 2\n";

static const char by_thread[] = HEAD
		  "#     Self    Total  Samples   Seconds  Thread  Tid  Module\n"
		  "    50.00%   75.00%        4     0.040  app     10   app\n"
		  "    25.00%   25.00%        2     0.020  app     10   libc.so.6\n"
		  "    25.00%   25.00%        2     0.020  pool    11   app\n";

/* 11 ran from the start, 10 s, to its switch; of 10 there is no switch, and a loss in between. */
static const char by_cpu[] = HEAD_EXACT
		  "#      CPU  Samples   Seconds  Cpu  Cgroup\n"
		  "   100.00%        6     2.001  1    /\n"
		  "         -        2         -  0    /\n";

static const char by_task[] = HEAD_EXACT
		  "#      CPU  Samples   Seconds  Tid  Thread\n"
		  "   100.00%        2     2.001  11   pool\n"
		  "         -        6         -  10   app\n";

static const char by_line[] = HEAD
		  "#     Self    Total  Samples   Seconds  Source     Symbol\n"
		  "    75.00%   75.00%        6     0.061  leaf.h:7   leaf (inlined)\n"
		  "    25.00%   25.00%        2     0.020  [unknown]  [unknown]\n"
		  "     0.00%  100.00%        0     0.000  app.c:5    main\n"
		  "     0.00%   75.00%        0     0.000  app.c:21   hot\n"
		  "     0.00%   75.00%        0     0.000  app.c:15   work\n";

static const char thread_11[] = "# standard input: CPU samples over 2.000 s\n"
		  "# 2 samples of cpu-clock at 99 Hz, one per 10.101 ms of CPU time, 0.0202 s in total (timer instead of cycles: no PMU)\n"
		  "# lost: nothing\n"
		  "#\n"
		  "#     Self    Total  Samples   Seconds  Symbol          Module\n"
		  "   100.00%  100.00%        2     0.020  leaf (inlined)  app\n"
		  "     0.00%  100.00%        0     0.000  hot             app\n"
		  "     0.00%  100.00%        0     0.000  main            app\n"
		  "     0.00%  100.00%        0     0.000  work            app\n";

#define LAST(over) "# standard input: CPU samples over " over " s\n"\
		  "# 2 samples of cpu-clock at 99 Hz, one per 10.101 ms of CPU time, 0.0202 s in total (timer instead of cycles: no PMU)\n"\
		  "# lost: 3 events (see dial9-prof info)\n"\
		  "# unresolved: 100.0% of samples in /lib/libc.so.6: unknown: not recorded\n"\
		  "# unresolved: 100.0% of samples: see dial9-prof symbolize\n"\
		  "#\n"\
		  "#     Self    Total  Samples   Seconds  Symbol     Module\n"\
		  "   100.00%  100.00%        2     0.020  [unknown]  libc.so.6\n"\
		  "     0.00%  100.00%        0     0.000  main       app\n"

static const char json[] = "{\"version\":2,\"file\":\"standard input\",\"sample_event\":\"cpu-clock\",\"sample_hz\":\"99\",\"samples\":8,\"lost\":3,\"lost_events\":3,\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"rows_not_shown\":0,\"rows\":[{\"self\":6,\"total\":6,\"self_ns\":60606060,\"total_ns\":60606060,\"sym\":\"leaf\",\"inlined\":true,\"dso\":\"/opt/app/bin/app\"},{\"self\":2,\"total\":2,\"self_ns\":20202020,\"total_ns\":20202020,\"sym\":null,\"dso\":\"/lib/libc.so.6\"},{\"self\":0,\"total\":8,\"self_ns\":0,\"total_ns\":80808080,\"sym\":\"main\",\"dso\":\"/opt/app/bin/app\"},{\"self\":0,\"total\":6,\"self_ns\":0,\"total_ns\":60606060,\"sym\":\"hot\",\"dso\":\"/opt/app/bin/app\"},{\"self\":0,\"total\":6,\"self_ns\":0,\"total_ns\":60606060,\"sym\":\"work\",\"dso\":\"/opt/app/bin/app\"}]}\n";
/* clang-format on */

#define APP(...) run_app((const char *[]){ __VA_ARGS__, NULL })

static struct run run_app(const char **w)
{
	struct make m;
	struct run r;

	run_make_app(&m);
	r = run_cmd(cmd_report, make_file(&m), "report", "-", w[0], w[0] ? w[1] : NULL,
		    w[0] && w[1] ? w[2] : NULL, NULL);
	make_fini(&m);
	return r;
}

Test(report, flat_report_is_grouped_by_function_and_module)
{
	run_expect(APP(NULL), 0, flat, "");
	run_expect(APP("-n", "-s", "sym,dso"), 0, flat, "");
	run_expect(APP("--stdio", "-s", "symbol,dso"), 0, flat, "");
}

Test(report, callees_are_included_or_excluded)
{
	run_expect(APP("--children"), 0, with_children, "");
	run_expect(APP("--no-children"), 0, without_children, "");
	run_expect(APP("--no-inline"), 0, not_inlined, "");
}

Test(report, call_trees_are_printed)
{
	run_expect(APP("-g"), 0, tree, "");
	run_expect(APP("--call-graph=callee", "--limit=3"), 0, callee, "");
	run_expect(APP("-G", "--limit=3"), 0, callee, "");
	run_expect(APP("-G", "-gcallee"), 0, tree, "");
	run_expect(APP("-g", "-scomm,tid", "--limit=5"), 0, tree_of_threads, "");
	run_expect(APP("-gnone"), 0, flat, "");
}

Test(report, stacks_are_printed_flat_or_folded)
{
	run_expect(APP("-gflat"), 0, chains, "");
	run_expect(APP("-gfolded"), 0, folded, "");
	run_expect(APP("-gfolded,30", "-stid"), 0, "10;main;work;hot;leaf (inlined) 4\n", "");
	run_expect(APP("-gfolded", "--limit=1", "--no-inline"), 0, "app;main;work;hot 4\n", "");
}

Test(report, stacks_are_printed_as_json)
{
	struct run r = APP("-gflat", "--json", "--limit=1");

	run_expect_in(r.out, ",\"chains\":[{\"self\":6,\"self_ns\":60606060,\"stack\":["
			     "{\"sym\":\"leaf\",\"dso\":\"/opt/app/bin/app\",\"inlined\":true},"
			     "{\"sym\":\"hot\",\"dso\":\"/opt/app/bin/app\"},"
			     "{\"sym\":\"work\",\"dso\":\"/opt/app/bin/app\"},"
			     "{\"sym\":\"main\",\"dso\":\"/opt/app/bin/app\"}]}],"
			     "\"rows_not_shown\":1}\n");
	run_free(&r);
	r = APP("-g", "-spid", "--json");
	run_expect_in(r.out, ",\"tree\":[{\"depth\":1,\"self\":0,\"total\":8,\"self_ns\":0,"
			     "\"total_ns\":80808080,\"pid\":10},{\"depth\":2,");
	run_free(&r);
	r = APP("-s", "tid", "--json");
	run_expect_in(
		r.out,
		",\"run_ns\":2001234567,\"doubtful_ns\":4000000000,\"rows_not_shown\":0,\"rows\":[{"
		"\"self\":2,\"total\":2,\"self_ns\":20202020,\"total_ns\":20202020,"
		"\"run_ns\":2001234567,\"tid\":11},");
	run_free(&r);
	r = APP("-s", "cpu,cgroup,srcline", "--json");
	run_expect_in(r.out, "\"cpu\":1,\"cgroup\":\"/\","
			     "\"srcline\":{\"file\":\"leaf.h\",\"line\":7}},");
	run_expect_in(r.out, "\"cpu\":0,\"cgroup\":\"/\",\"srcline\":null},");
	run_free(&r);
}

Test(report, rows_can_be_sorted_by_thread)
{
	run_expect(APP("-s", "comm,tid,dso"), 0, by_thread, "");
	run_expect(APP("-s", "cpu,cgroup"), 0, by_cpu, "");
	run_expect(APP("-s", "srcline,sym"), 0, by_line, "");
	run_expect(APP("-s", "tid,comm"), 0, by_task, "");
}

Test(report, report_is_printed_as_json)
{
	run_expect(APP("--json"), 0, json, "");
}

/* Thread 6 runs from 2 to 5 s on CPU 0, thread 7 from 3 s to the end, 8, on CPU 1; the trace begins at 1. */
static void make_exact(struct make *m, bool lost)
{
	make_init(m, NULL);
	make_task_in(m, 1 * RUN_SEC, 6, 6, "six", "/a");
	make_task_in(m, 1 * RUN_SEC, 7, 7, "seven", "/b");
	make_switch(m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
	make_switch(m, 3 * RUN_SEC, 1, "swapper/1", 0, 0, "seven", 7);
	make_switch(m, 5 * RUN_SEC, 0, "six", 6, 1, "swapper/0", 0);
	if (lost)
		make_lost(m, 8 * RUN_SEC, "ring_full", 1, 4 * RUN_SEC, 4 * RUN_SEC + 1);
	make_waking(m, 8 * RUN_SEC, 1, 7, "six", 6);
}

static void expect_exact(const char *opt, const char *value, bool lost, const char *want)
{
	struct make m;
	struct run r;

	make_exact(&m, lost);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", opt, value, "-", NULL);
	cr_expect(strstr(r.out, want), "%s %s: %s%s", opt, value, r.out, r.err);
	run_free(&r);
	make_fini(&m);
}

Test(report, seconds_of_tasks_come_from_switches)
{
	static const char both[] = "#      CPU  Samples   Seconds  Thread\n"
				   "    62.50%        0     5.000  seven\n"
				   "    37.50%        0     3.000  six\n";

	expect_exact("--limit", "9", false, both);
	expect_exact("--limit", "9", false,
		     "# standard input: CPU time over 6.000 s\n"
		     "# seconds are exact, from context switches: 8.000 s in total\n"
		     "# lost: nothing\n");
	expect_exact("-C", "0", false, "   100.00%        0     3.000  six\n");
	expect_exact("--cgroup", "/b", false, "   100.00%        0     5.000  seven\n");
	expect_exact("--comm", "si*", false, "   100.00%        0     3.000  six\n");
	expect_exact("--time", "3.5,4.25", false,
		     "    50.00%        0     0.750  six\n    50.00%        0     0.750  seven\n");
	/* from 2 to 8 s, with a loss in between */
	expect_exact("--time", "25%,50%", false, "     1.500  six\n");
	/* reported after the interval that it affects */
	expect_exact("--limit", "9", true, "# 8.000 s of CPU time may be missing");
}

/* One switch of a thread was recorded, and then only samples: these count. */
Test(report, samples_are_used_if_most_switches_are_missing)
{
	const uint64_t leaf = make_frame(1, 0x310);

	for (int enough = 0; enough < 2; enough++) {
		struct make m;
		struct run r;

		make_init(&m, NULL);
		make_metadata(&m, RUN_SEC,
			      (const char *const[]){ "sample_event", "cpu-clock",
						     "sample_period_ns", "1000000000", NULL });
		make_task_in(&m, RUN_SEC, 6, 6, "six", "/a");
		make_task_in(&m, RUN_SEC, 7, 7, "seven", "/b");
		make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "seven", 7);
		make_switch(&m, (enough ? 5 : 3) * RUN_SEC, 0, "seven", 7, 1, "six", 6);
		for (unsigned int i = 0; i < 3; i++)
			make_sample(&m, (6 + i) * RUN_SEC, 6, 6, PROF_SOURCE_SAMPLE, 0, &leaf, 1);
		make_lost(&m, 10 * RUN_SEC, "ring_full", 1, 6 * RUN_SEC, 9 * RUN_SEC);
		r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "-", NULL);
		run_expect_in(
			r.out,
			enough ?
				"# seconds are from context switches: 3.000 s in total\n" :
				"# shares refer to samples: context switches cover only 1.000 s\n");
		run_expect_in(r.out, enough ? "   100.00%        0     3.000  seven\n" :
					      "   100.00%  100.00%        3     3.000  six\n");
		run_free(&r);
		make_fini(&m);
	}
}

/* The name is reported after the loss, at which everything is counted again, and after the thread's events. */
Test(report, thread_that_is_named_late_is_in_its_cgroup)
{
	for (int lost = 0; lost < 2; lost++) {
		struct make m;
		struct run r;

		make_init(&m, NULL);
		make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
		make_switch(&m, 5 * RUN_SEC, 0, "six", 6, 1, "swapper/0", 0);
		make_switch(&m, 6 * RUN_SEC, 0, "swapper/0", 0, 0, "seven", 7);
		make_switch(&m, 7 * RUN_SEC, 0, "seven", 7, 1, "swapper/0", 0);
		if (lost)
			make_lost(&m, 9 * RUN_SEC, "ring_full", 1, 8 * RUN_SEC, 8 * RUN_SEC + 1);
		make_task_in(&m, 9 * RUN_SEC, 6, 6, "six", "/a");
		make_task_in(&m, 9 * RUN_SEC, 7, 7, "seven", "/b");
		r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "--cgroup", "/a",
			    "-", NULL);
		run_expect_in(r.out, "   100.00%        0     3.000  six\n");
		run_free(&r);
		make_fini(&m);
	}
}

/* On one CPU at most 6 s can be uncertain, even if many threads were switched in and not switched out. */
Test(report, uncertain_time_never_exceeds_the_time_of_the_cpus)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
	make_switch(&m, 3 * RUN_SEC, 0, "swapper/0", 0, 0, "seven", 7);
	make_switch(&m, 4 * RUN_SEC, 0, "swapper/0", 0, 0, "eight", 8);
	make_lost(&m, 8 * RUN_SEC, "ring_full", 9, 2 * RUN_SEC, 8 * RUN_SEC);
	make_waking(&m, 8 * RUN_SEC, 0, 8, "six", 6);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "-", NULL);
	run_expect_in(r.out, "# 6.000 s of CPU time may be missing: lost events");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "--time", "5,", "-", NULL);
	run_expect_in(r.out, "# 3.000 s of CPU time may be missing: lost events");
	run_free(&r);
	make_fini(&m);
}

/*
 * 11 ran for 2.001 s until its switch and was blocked until 13 s. After that events were lost, so it is unknown
 * whether it was runnable; of 10 nothing is known. Samples stand for 0.081 s.
 */
Test(report, wall_time_has_every_state)
{
	static const char head[] =
		"# all threads: running 2.001 s, runnable 0.000 s, blocked 0.999 s\n"
		"# running is estimated from samples; runnable and blocked are exact in the recorded 37.5%\n"
		"# unknown: 5.000 s (all threads): "
		"lost events\n"
		"# lost: 3 events (see dial9-prof info)\n"
		"#\n"
		"#    Total     Self    Times   Seconds  Symbol, callees below\n"
		"    82.24%    0.00%        2     5.000  unknown\n"
		"    82.24%   82.24%        2     5.000    [unknown] ([unknown])\n"
		"    16.43%    0.00%        1     0.999  blocked\n"
		"    16.43%    0.00%        1     0.999    main (app)\n"
		"    16.43%    0.00%        1     0.999      work (app)\n"
		"    16.43%   16.43%        1     0.999        schedule ([kernel.kallsyms])\n"
		"     1.33%    0.00%        8     0.081  running\n"
		"     1.33%    0.00%        8     0.081    main (app)\n";
	struct run r = APP("--wall");

	run_expect_in(r.out, head);
	run_free(&r);
	r = APP("--wall", "-stid", "--json");
	run_expect_in(
		r.out,
		",\"unknown_ns\":5000000000,\"running_ns\":2001234567,"
		"\"runnable_ns\":0,\"blocked_ns\":998765433,\"unsure_ns\":0,\"rows_not_shown\":0,\"rows\":[");
	run_expect_in(r.out, "\"self_ns\":998765433,\"total_ns\":998765433,"
			     "\"state\":\"blocked\",\"tid\":11}");
	run_free(&r);
}

/* Two samples of a thread are no proof that it ran between them. */
Test(report, times_are_not_exact_without_switches)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_sample(&m, 2 * RUN_SEC, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_sample(&m, 9 * RUN_SEC, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "tid", "-", NULL);
	cr_expect_null(strstr(r.out, "exact"), "%s", r.out);
	run_expect_in(r.out, "#     Self    Total  Samples  Tid\n"
			     "   100.00%  100.00%        2  1\n");
	run_free(&r);
	run_expect(run_cmd(cmd_report, make_file(&m), "report", "--wall", "-", NULL), 0,
		   "No times in standard input: it has no context switches.\n", "");
	make_fini(&m);
}

/* Without threads, a switch shows only that the recording went on; with threads, it names them. */
Test(report, switches_are_read_for_their_times_if_no_thread_is_shown)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, 1 * RUN_SEC, 0, "swapper/0", 0, 0, "worker", 7);
	make_sample(&m, 2 * RUN_SEC, 7, 7, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_switch(&m, 6 * RUN_SEC, 0, "worker", 7, 1, "swapper/0", 0);
	r = run_cmd(cmd_report, make_file(&m), "report", "-", NULL);
	run_expect_in(r.out, "# standard input: CPU samples over 5.000 s\n");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "-gfolded", "-", NULL);
	run_expect_in(r.out, "worker;");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "--comm", "worker", "-", NULL);
	run_expect_in(r.out, "   100.00%  100.00%        1");
	run_free(&r);
	make_fini(&m);
}

/* Three intervals of 1.5 us are 4.5: rounded down after the sum, not each alone. */
Test(report, folded_microseconds_add_up)
{
	struct make m;

	make_init(&m, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t frame = make_frame(1, 0x100 + i * 0x100), ts = 1000000 + i * 10000;

		make_wait(&m, ts, "app", &frame, 1);
		make_symbol(&m, ts, frame, 0, frame, i == 0 ? "a" : i == 1 ? "b" : "c", "", 0);
	}
	run_expect(run_cmd(cmd_report, make_done(&m), "report", "-gfolded", "--wall", "-", NULL),
		   CMD_OK,
		   "blocked;a 1\n"
		   "blocked;b 2\n"
		   "blocked;c 1\n"
		   "running;[unknown] 39\n",
		   "");
}

/* 1 s of sleep in main, and 2 s on the run queue of a CPU in the same place; without samples. */
Test(report, runnable_thread_has_the_stack_where_it_blocked)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, RUN_SEC, 1, "/bin/x", PROF_MODULE_ELF);
	make_symbol(&m, RUN_SEC, at, 0, at, "main", "", 0);
	make_task(&m, RUN_SEC, 6, 6, "six");
	make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
	make_switch(&m, 3 * RUN_SEC, 0, "six", 6, 1, "swapper/0", 0);
	make_sample(&m, 3 * RUN_SEC, 6, 6, PROF_SOURCE_SWITCH_OUT, 0, &at, 1);
	make_waking(&m, 4 * RUN_SEC, 0, 7, "six", 6);
	make_switch(&m, 6 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
	r = run_cmd(cmd_report, make_file(&m), "report", "--wall", "-t6", "--time=3,", "-", NULL);
	run_expect_in(r.out, "    66.67%    0.00%        1     2.000  runnable\n"
			     "    66.67%   66.67%        1     2.000    main (x)\n"
			     "    33.33%    0.00%        1     1.000  blocked\n"
			     "    33.33%   33.33%        1     1.000    main (x)\n");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "--wall", "-t6", "--time=4.5,5", "-",
		    NULL);
	run_expect_in(r.out, "   100.00%  100.00%        1     0.500    main (x)\n");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "state", "-t6", "-", NULL);
	/* whether it was runnable before its first switch in is unknown, too */
	run_expect_in(
		r.out,
		"\n# unknown: 1.000 s (all threads) runnable or blocked: wakeup not recorded\n");
	run_expect_in(r.out, "    40.00%   40.00%        1     2.000  runnable\n"
			     "    20.00%   20.00%        1     1.000  unknown\n"
			     "    20.00%   20.00%        1     1.000  running\n"
			     "    20.00%   20.00%        1     1.000  blocked\n");
	run_free(&r);
	make_fini(&m);
}

Test(report, report_can_be_limited_to_a_selection)
{
	run_expect(APP("-t", "11", "--time=,12"), 0, thread_11, "");
	run_expect(APP("--time", "+2,"), 0, LAST("2.000"), "");
	run_expect(APP("--time", "50%,100%"), 0, LAST("2.000"), "");
	run_expect(APP("--time", "12,13.000006"), 0, LAST("1.000"), "");
	run_expect(APP("--time", "2s,"), 0, LAST("2.000"), "");
	run_expect(APP("--time", "100,200"), CMD_USAGE, "",
		   "dial9-prof: no CPU samples in standard input: it covers 10.000000 to "
		   "14.000000, --time 100,200 is outside; the trace is 4.000 s long; use +1,+2 "
		   "for times from its start\n");
	run_expect(
		APP("--comm", "none*"), CMD_USAGE, "",
		"dial9-prof: no CPU samples in standard input: none match -p, -t, --comm, --cgroup, -C and --time\n");
	run_expect(APP("-C", "9"), CMD_USAGE, "",
		   "dial9-prof: no CPU samples in standard input: CPU 9 is not in the trace\n");
	run_expect(APP("-C", "9", "-stid"), CMD_USAGE, "",
		   "dial9-prof: no CPU samples in standard input: CPU 9 is not in the trace\n");
	run_expect(APP("-gfolded", "-t99"), CMD_USAGE, "",
		   "dial9-prof: no CPU samples in standard input: thread 99 is not in the trace\n");
	run_expect(APP("--wall", "-p99"), CMD_USAGE, "",
		   "dial9-prof: no times in standard input: process 99 is not in the trace\n");
}

/* ClockSyncEvent: 10 s on the trace's clock was 22:13:20 on 14 November 2023, UTC. */
Test(report, wall_clock_times_select_a_range)
{
	setenv("TZ", "UTC0", 1);
	run_expect(APP("--time", "22:13:22,22:13:24"), 0, LAST("2.000"), "");
}

Test(report, limit_limits_the_rows)
{
	struct run r = APP("--percent-limit", "80"), l = APP("--limit", "1");

	cr_assert(strstr(r.out, " main ") && !strstr(r.out, " leaf "));
	cr_assert(strstr(l.out, " leaf ") && !strstr(l.out, " main "));
	run_free(&r);
	run_free(&l);
	r = APP("-g", "--limit=2");
	l = APP("-g", "--json", "--limit=2");
	cr_assert(strstr(r.out, " work ") && !strstr(r.out, " hot "));
	cr_assert(strstr(l.out, "\"work\"") && !strstr(l.out, "\"hot\""));
	run_free(&r);
	run_free(&l);
}

static void expect_empty(const char *const *kv, bool with_switch, const char *why)
{
	char want[256];
	struct make m;

	make_init(&m, NULL);
	if (kv)
		make_metadata(&m, 1, kv);
	if (with_switch)
		make_switch(&m, 2, 0, "a", 5, 1, "b", 6);
	snprintf(want, sizeof(want), "No CPU samples in standard input: %s.\n", why);
	run_expect(run_cmd(cmd_report, make_file(&m), "report", "-", NULL), 0, want, "");
	make_fini(&m);
}

Test(report, input_without_samples_is_explained_with_a_remedy)
{
	static const char *const off[] = { "version", "0.1.0", NULL };
	static const char *const on[] = { "version", "0.1.0", "sample_hz", "99", NULL };

	expect_empty(off, true, "it was recorded with --no-samples; record without it");
	expect_empty(
		on, true,
		"the target used too little CPU time for a sample; see dial9-prof report -s comm,tid, or record for longer");
	expect_empty(NULL, true, "it was not recorded by dial9-prof; see dial9-prof info");
}

Test(report, file_truncated_before_the_first_sample_is_reported)
{
	const void *data;
	struct make m;
	size_t sz;

	make_init(&m, NULL);
	make_switch(&m, 2, 0, "a", 5, 1, "b", 6);
	data = dial9_enc_data(m.enc, &sz);
	cr_assert_gt(sz, 6);
	run_expect(run_cmd(cmd_report, make_fd(data, 6), "report", "-", NULL), 0,
		   "No CPU samples in standard input: the file ends before the first sample.\n",
		   "dial9-prof: standard input: the end is cut off after byte 5; everything before "
		   "it is used\n");
	make_fini(&m);
}

Test(report, bad_command_lines_are_usage_errors)
{
	run_expect(APP("-s", "sym,colour"), 1, "",
		   "dial9-prof: report: unknown sort key 'colour' (known: sym, dso, srcline, "
		   "comm, pid, tid, cpu, cgroup, part, state)\n");
	run_expect(APP("--percent-limit", "-1"), 1, "",
		   "dial9-prof: report: bad value '-1' for --percent-limit: expected 0 to 100\n");
	run_expect(
		APP("--time", "noon,"), 1, "",
		"dial9-prof: bad value 'noon,' for --time: expected A,B with seconds, +seconds, 100ms, "
		"10% or 12:34:56\n");
	run_expect(APP("--time", "5,1"), 1, "", "dial9-prof: --time 5,1 ends before it begins\n");
	run_expect(APP("--time", "10%,+0"), 1, "",
		   "dial9-prof: --time 10%,+0 ends before it begins in this trace\n");
	run_expect(
		APP("other.bin"), 1, "",
		"dial9-prof: report: unexpected argument 'other.bin': only one trace is read; see dial9-prof report --help\n");
}

Test(report, bad_input_is_one_clear_line_and_exit_status_5)
{
	run_expect(
		run_cmd(cmd_report, make_fd("PERFILE2", 8), "report", "-", NULL), 5, "",
		"dial9-prof: standard input is a perf.data file; use dial9-prof convert - -o FILE "
		"to convert it to dial9\n");
	run_expect(run_cmd(cmd_report, make_fd("MYTRACES", 8), "report", "-", NULL), 5, "",
		   "dial9-prof: standard input: not a dial9 trace: not a dial9 stream at byte 0; "
		   "dial9-prof convert reads some other formats\n");
	run_expect(
		run_cmd(cmd_report, make_fd("TRC\0\1\0", 6), "report", "-", NULL), 5, "",
		"dial9-prof: standard input: damaged: unknown frame tag at byte 5; no events before it "
		"(copy the file again)\n");
	run_expect(run_cmd(cmd_report, make_fd("", 0), "report", "/nonexistent/x", NULL), 5, "",
		   "dial9-prof: cannot open /nonexistent/x: No such file or directory\n");
	run_expect(run_cmd(cmd_report, make_fd("", 0), "report", "/", NULL), 5, "",
		   "dial9-prof: cannot read /: it is a directory (name a trace file in it)\n");
}

Test(report, truncated_tail_is_a_note_and_no_failure)
{
	const char *data;
	struct make m;
	struct run r;
	size_t sz;

	run_make_app(&m);
	data = dial9_enc_data(m.enc, &sz);
	r = run_cmd(cmd_report, make_fd(data, sz - 1), "report", "-", NULL);
	cr_assert_eq(r.code, 0);
	/* the last second is cut off */
	cr_assert(str_starts(r.out, "# standard input: CPU samples over 3.000 s\n"), "%s", r.out);
	cr_assert_str_eq(strchr(r.out, '\n'), strchr(flat, '\n'));
	cr_assert(strstr(r.err, "the end is cut off after byte"));
	run_free(&r);
	make_fini(&m);
}

/* A thread name may have an escape sequence; a terminal must not receive it. */
Test(report, control_characters_never_reach_the_output)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/\033]0;x\007", PROF_MODULE_ELF);
	make_symbol(&m, 1, at, 0, at, "a\033[31mred\n", "", 0);
	make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	r = run_cmd(cmd_report, make_file(&m), "report", "-", NULL);
	cr_assert(strstr(r.out, "a\\x1b[31mred\\x0a"));
	cr_assert_null(strchr(r.out, '\033'));
	cr_assert_null(strchr(r.out, '\007'));
	run_free(&r);
	make_fini(&m);
}

/* The same terms as in the last line of a recording and in info. */
Test(report, lost_events_and_samples_are_counted_apart_from_side_band_records)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_lost(&m, 3, "sideband", 1687, 1, 2);
	r = run_cmd(cmd_report, make_file(&m), "report", "-", NULL);
	run_expect_in(
		r.out,
		"# 1 sample\n"
		"# lost: nothing\n"
		"# process metadata incomplete: 1,687 records lost; some process names may be missing\n");
	run_free(&r);
	make_lost(&m, 4, "nested", 1, 1, 2);
	make_lost(&m, 4, "sample_ring_full", 1, 1, 2);
	make_lost(&m, 4, "sample_estimate", 1234, 1, 2);
	r = run_cmd(cmd_report, make_file(&m), "report", "-", NULL);
	run_expect_in(r.out, "# lost: 1 event and 1 sample, and an estimated 1,234 samples (see "
			     "dial9-prof info)\n");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "--json", "-", NULL);
	run_expect_in(r.out, "\"lost\":2,\"lost_events\":1,\"lost_samples\":1,"
			     "\"lost_sideband\":1687,");
	run_free(&r);
	make_fini(&m);
}

Test(report, label_is_shown_and_is_no_symbol)
{
	const uint64_t at[] = { make_frame(1, 0x10), make_frame(1, 0x20), 0x4000 };
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a.so", PROF_MODULE_ELF);
	for (int i = 0; i < 3; i++)
		make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at[i], 1);
	make_symbol(&m, 3, at[1], 0, at[1], "name", "", 0);
	for (int i = 0; i < 2; i++)
		make_label(&m, 4, at[i], "[a.so]");
	make_label(&m, 4, at[2], "[jit]");
	make_status(&m, 4, 1, "stripped", "");
	r = run_cmd(cmd_report, make_file(&m), "report", "-", NULL);
	run_expect_in(
		r.out,
		"# unresolved: 33.3% of samples in [unknown]: in no known mapping\n"
		"# unresolved: 33.3% of samples in /lib/a.so: the file has no symbols; install its debug symbols\n");
	run_expect_in(r.out, "        1  [a.so]  a.so\n");
	run_expect_in(r.out, "        1  [jit]   [unknown]\n");
	cr_expect(strstr(r.out, "        1  name    a.so\n"), "a label ousted a name: %s", r.out);
	run_free(&r);
	make_fini(&m);
}

/* A child prints it on a terminal of 50 columns; colours: 31 hot, 32 warm, 1 headings, 1;33 uncertain. */
static void print_on_terminal(struct pty *t, const char *opt)
{
	static const char name[] =
		"std::map<std::string, std::vector<int>>::find(std::string const&)";
	char *argv[] = { (char *)"report", (char *)opt, (char *)"-", NULL };
	const uint64_t at[] = { make_frame(1, 0x10), make_frame(1, 0x20) };
	struct make m;
	pid_t pid;
	int fd;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/x", PROF_MODULE_ELF);
	make_symbol(&m, 1, at[0], 0, at[0], name, "", 0);
	make_symbol(&m, 1, at[1], 0, at[1], "f", "", 0);
	for (int i = 0; i < 100; i++)
		make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at[i < 1], 1);
	make_lost(&m, 4, "nested", 1, 1, 2);
	make_lost(&m, 4, "sample_estimate", 1234567, 1, 2);
	fd = make_file(&m);
	pty_open(t, 24, 50);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setenv("TERM", "xterm", 1);
		unsetenv("NO_COLOR");
		dup2(fd, 0);
		dup2(t->slave, 1);
		close(t->master);
		_exit(cmd_report(3, argv));
	}
	close(t->slave);
	close(fd);
	while (pty_read(t))
		;
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	close(t->master);
	make_fini(&m);
}

Test(report, terminal_output_has_short_names_and_colours)
{
	struct pty t;

	print_on_terminal(&t, "-n");
	run_expect_in(t.text, "# \033[1;33mlost: 1 event, and an estimated 1,234,567 \033[0m\n"
			      "#   \033[1;33msamples (see dial9-prof info)\033[0m\n");
	run_expect_in(t.text, "\033[31m    99.00%\033[0m\033[31m   99.00%\033[0m       99  "
			      "std::map<..…  x\n");
	run_expect_in(t.text, "\033[32m     1.00%\033[0m\033[32m    1.00%\033[0m        1  f");
	print_on_terminal(&t, "--color=never");
	run_expect_in(t.text, "    99.00%   99.00%");
	cr_expect_null(strchr(t.text, '\033'));
	print_on_terminal(&t, "--json");
	run_expect_in(t.text, "::find(std::string const&)\"");
}

/* The user may have run the plain command already: the line names the options that find more. */
Test(report, remedy_names_the_options_that_find_files_elsewhere)
{
	const int fd = run_app_file();
	char path[32], want[192];
	struct run r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(
		want, sizeof(want),
		"# unresolved: 25.0%% of samples: dial9-prof symbolize %s adds symbols from debug files (see --symfs, --debuginfod)\n",
		path);
	r = run_cmd(cmd_report, dup(fd), "report", path, NULL);
	run_expect_in(r.out, want);
	run_free(&r);
	close(fd);
}
