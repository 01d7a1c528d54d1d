// SPDX-License-Identifier: BSD-2-Clause
/* export: selection and sums, and that these equal the output of the other commands. */
#include <sys/mman.h>

#include "tests/cmd/run_cmd.h"

#define EXPORT(...) run_cmd(cmd_export, run_app_file(), "export", __VA_ARGS__, NULL)

static const char folded[] = "app;main;[unknown] 2\n"
			     "app;main;work;hot;leaf (inlined) 4\n"
			     "pool;main;work;hot;leaf (inlined) 2\n";

Test(export, folded_counts_samples)
{
	run_expect(EXPORT("folded", "-"), CMD_OK, folded, "");
	run_expect(EXPORT("folded", "--kind=cpu", "-i", "-"), CMD_OK, folded, "");
}

/* Blocked from 12.001234567 s to 13 s; then run-queue latency, to the end at 14 s. */
Test(export, folded_times_are_in_microseconds)
{
	run_expect(EXPORT("folded", "-", "--kind=offcpu"), CMD_OK,
		   "pool;main;work;schedule 998765\n", "");
}

Test(export, one_thread_or_one_time_range_is_exported)
{
	run_expect(EXPORT("folded", "-", "-t11"), CMD_OK, "pool;main;work;hot;leaf (inlined) 2\n",
		   "");
	run_expect(EXPORT("folded", "-", "--time=12,13"), CMD_OK, "app;main;[unknown] 2\n", "");
	run_expect(EXPORT("folded", "-", "--kind=offcpu", "--time=12.5,12.75"), CMD_OK,
		   "pool;main;work;schedule 250000\n", "");
}

/* A trace with nothing but its metadata. */
static int empty(void)
{
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, 1000, 1700000000);
	return make_done(&m);
}

Test(export, empty_output_is_explained)
{
	run_expect(EXPORT("folded", "-", "-t12"), CMD_USAGE, "",
		   "dial9-prof: no CPU samples in standard input: thread 12 is not in the trace\n");
	run_expect(EXPORT("folded", "-", "--kind=offcpu", "-C5"), CMD_USAGE, "",
		   "dial9-prof: no blocked time in standard input: CPU 5 is not in the trace\n");
	run_expect(
		EXPORT("jsonl", "-", "--comm=nobody"), CMD_USAGE, "",
		"dial9-prof: no events in standard input: none match -p, -t, --comm, --cgroup, -C and --time\n");
	run_expect(
		run_cmd(cmd_export, empty(), "export", "folded", "-", NULL), CMD_OK, "",
		"dial9-prof: export: nothing to export in standard input; dial9-prof info lists the events\n");
}

/* The example, with bytes in it that no trace has. */
static int damaged(void)
{
	int fd = run_app_file(), copy = memfd_create("damaged", 0);
	static char data[1 << 20];
	ssize_t n = read(fd, data, sizeof(data));

	cr_assert_gt(n, 200);
	memset(data + n * 9 / 10, 0xff, 40);
	cr_assert_eq(write(copy, data, (size_t)n), n);
	lseek(copy, 0, SEEK_SET);
	close(fd);
	return copy;
}

static void expect_whole(const char *format, const char *tail)
{
	struct run r = run_cmd(cmd_export, damaged(), "export", format, "-", NULL);
	const size_t len = strlen(r.out);

	cr_expect_eq(r.code, CMD_INPUT, "%s", r.err);
	cr_expect(len > 100 && !strcmp(r.out + len - strlen(tail), tail), "%s: %s", format, r.out);
	run_free(&r);
}

Test(export, events_before_the_damage_are_written)
{
	expect_whole("jsonl", "}\n");
	expect_whole("chrome", "}}}\n");
}

/* From the output of a command: for each line with this beginning, the text before the last blank. */
static double sum_of(struct run r, const char *prefix)
{
	double sum = 0;

	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, prefix, strlen(prefix)))
			sum += strtod(strrchr(line, ' '), NULL);
	run_free(&r);
	return sum;
}

static double json_of(struct run r, const char *key)
{
	const char *at = strstr(r.out, key);
	double v;

	cr_assert(at, "no %s in %s", key, r.out);
	v = strtod(at + strlen(key), NULL);
	run_free(&r);
	return v;
}

/* A pool of threads that run, are runnable and are blocked for times that are no whole microseconds. */
static int busy(void)
{
	static const uint64_t stacks[][2] = { { 0x10000000310, 0x10000000110 },
					      { 0x10000000410, 0x10000000110 } };
	static const char *const kv[] = { "sample_period_ns", "10101010", NULL };
	uint64_t ts = 10 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	for (uint32_t i = 0; i < 600; i++) {
		const uint32_t tid = 100 + i % 7, next = 100 + (i + 1) % 7;
		const uint64_t *stack = stacks[i % 2];

		ts += 1234 + i * 37;
		if (i % 3 == 0)
			make_sample(&m, ts - 100, 99, tid, PROF_SOURCE_SAMPLE, 0, stack, 2);
		make_switch(&m, ts, 0, "pool", tid, i % 5 ? 1 : 0, "pool", next);
		make_sample(&m, ts, 99, tid, PROF_SOURCE_SWITCH_OUT, 0, stack, 2);
		if (i % 4 == 3)
			make_waking(&m, ts + 777, 0, next, "pool", 100 + (i + 5) % 7);
	}
	return make_done(&m);
}

Test(export, sums_equal_the_sums_of_the_other_commands)
{
	double off, wall = 0;

	/* nothing is missing in it, except the first state of its threads */
	cr_expect_eq(json_of(run_cmd(cmd_offcpu, busy(), "offcpu", "-", "--json", NULL),
			     "\"unknown_ns\":"),
		     json_of(run_cmd(cmd_offcpu, busy(), "offcpu", "-", "--json", NULL),
			     "\"unsure_ns\":"));
	off = json_of(run_cmd(cmd_offcpu, busy(), "offcpu", "-", "--json", NULL), ",\"ns\":");
	cr_expect_gt(off, 0);
	cr_expect_float_eq(
		sum_of(run_cmd(cmd_export, busy(), "export", "folded", "-", "--kind=offcpu", NULL),
		       ""),
		(double)((uint64_t)off / 1000), 0.5);
	cr_expect_float_eq(sum_of(run_cmd(cmd_export, busy(), "export", "folded", "-", NULL), ""),
			   json_of(run_cmd(cmd_report, busy(), "report", "-", "--json", NULL),
				   "\"samples\":"),
			   0.5);
	for (int i = 0; i < 3; i++) {
		static const char *const keys[] = { "\"runnable_ns\":", "\"blocked_ns\":",
						    "\"unknown_ns\":" };

		wall += json_of(run_cmd(cmd_report, busy(), "report", "-", "--wall", "--json",
					NULL),
				keys[i]);
	}
	wall += 200 * 10101010.0;
	cr_expect_float_eq(
		sum_of(run_cmd(cmd_export, busy(), "export", "folded", "-", "--kind=wall", NULL),
		       ""),
		(double)((uint64_t)wall / 1000), 0.5);
	cr_expect_float_eq(
		sum_of(run_cmd(cmd_export, busy(), "export", "folded", "-", "--kind=runq", NULL),
		       ""),
		json_of(run_cmd(cmd_report, busy(), "report", "-", "--wall", "--json", NULL),
			"\"runnable_ns\":") /
			1000,
		1);
}

Test(export, intervals_of_all_kinds_are_grouped_by_state)
{
	struct run r = run_cmd(cmd_export, busy(), "export", "folded", "-", "--kind=wall", NULL);

	run_expect_in(r.out, "pool;running;[unknown];[unknown] ");
	run_expect_in(r.out, "pool;runnable;[unknown];[unknown] ");
	run_expect_in(r.out, "pool;blocked;[unknown];[unknown] ");
	run_free(&r);
}

/* Times of centuries; each line is right even if the total overflows. */
Test(export, folded_sums_of_stacks_are_independent)
{
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 11, 11, "a");
	make_task(&m, 1, 12, 12, "b");
	make_switch(&m, 2, 0, "a", 11, 1, "swapper/0", 0);
	make_switch(&m, 2, 1, "b", 12, 1, "swapper/1", 0);
	make_waking(&m, 15000000000000000002ULL, 0, 0, "a", 11);
	make_waking(&m, 15000000000000000002ULL, 1, 0, "b", 12);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "folded", "--kind=offcpu", "-",
			   NULL),
		   CMD_OK, "a;[no stack] 15000000000000000\nb;[no stack] 15000000000000000\n", "");
}

/* With other clocks the first event is at 0. */
Test(export, sample_at_time_0_counts)
{
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 0, 10, 10, "app");
	make_sample(&m, 0, 10, 10, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "folded", "-", NULL), CMD_OK,
		   "app;[no stack] 1\n", "");
}

/* A waker with the TID of the thread that it woke, which belongs to another process by then. */
Test(export, tid_reused_between_a_wakeup_and_the_switch_is_another_thread)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1 * RUN_SEC, 10, 11, "a");
	make_switch(&m, 2 * RUN_SEC, 0, "a", 11, 1, "swapper/0", 0);
	make_waking(&m, 3 * RUN_SEC, 0, 11, "a", 11);
	make_task(&m, 4 * RUN_SEC, 20, 11, "b");
	make_switch(&m, 5 * RUN_SEC, 0, "swapper/0", 0, 0, "b", 11);
	r = run_cmd(cmd_export, make_done(&m), "export", "csv", "--kind=runq", "-", NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	run_expect_in(r.out, "\nrunnable,3000000000,5000000000,2000000000,0,20,11,b,,a/11,11,,\n");
	run_free(&r);
}

/* Until its exec the command is the recorder's own code: woken at 1 s, on a CPU from 3 s; then it sleeps. */
static int command(void)
{
	static const char *const kv[] = { "target", "command ./app", "target_pids", "10", NULL };
	const uint64_t nap = make_frame(1, 0x100);
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC / 2, kv);
	make_waking(&m, RUN_SEC, 0, 9, "dial9-prof", 10);
	make_switch(&m, 3 * RUN_SEC, 0, "swapper/0", 0, 0, "dial9-prof", 10);
	make_exec(&m, 4 * RUN_SEC, 10, 10);
	make_task(&m, 4 * RUN_SEC, 10, 10, "app");
	make_switch(&m, 5 * RUN_SEC, 0, "app", 10, 1, "swapper/0", 0);
	make_sample(&m, 5 * RUN_SEC, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, &nap, 1);
	make_waking(&m, 9 * RUN_SEC, 0, 0, "app", 10);
	make_switch(&m, 10 * RUN_SEC, 0, "swapper/0", 0, 0, "app", 10);
	return make_done(&m);
}

Test(export, streamed_formats_have_the_sums_of_the_other_formats)
{
	struct run r = run_cmd(cmd_export, command(), "export", "csv", "-", "--kind=wall", NULL);

	run_expect_in(r.out, "blocked,5000000000,9000000000,4000000000,");
	run_expect_in(r.out, "runnable,9000000000,10000000000,1000000000,");
	cr_expect_not(strstr(r.out, ",3000000000,"), "%s", r.out);
	run_free(&r);
	run_expect(run_cmd(cmd_export, command(), "export", "folded", "-", "--kind=wall", NULL),
		   CMD_OK,
		   "app;blocked;[unknown] 4000000\napp;runnable;[unknown] 1000000\n"
		   "app;running;[no stack] 2000000\n",
		   "");
	cr_expect_float_eq(
		json_of(run_cmd(cmd_report, command(), "report", "-", "--wall", "--json", NULL),
			"\"runnable_ns\":"),
		1e9, 0.5);
}
