// SPDX-License-Identifier: BSD-2-Clause
/*
 * The recorder's own threads in tables, to the byte. In ms from 20 s: the recorder (50), its fork server (51)
 * and a worker of that (52), the command that it ran (60) with a child (61), and another child (70), which was
 * there before it. Each is woken at 1, runs from 2 to 3 on a CPU of its own, and blocks; is woken at 5, and
 * runs from 7.
 */
#include "tests/cmd/run_cmd.h"

enum { TASKS = 6 };

static const struct {
	uint32_t ppid, pid;
	const char *comm;
} tasks[TASKS] = {
	{ 1, 50, "dial9-prof" }, { 50, 51, "d9-spawner" }, { 51, 52, "d9-names" },
	{ 50, 60, "command" },	 { 60, 61, "child" },	   { 50, 70, "other" },
};

static void put_at(struct make *m, uint64_t t, unsigned int what)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		if (what == 0)
			make_child(m, t, tasks[i].ppid, tasks[i].pid, tasks[i].comm);
		else if (what == 1)
			make_waking(m, t, 7, 0, tasks[i].comm, tasks[i].pid);
		else if (what == 2)
			make_switch(m, t, i, "swapper", 0, 0, tasks[i].comm, tasks[i].pid);
		else
			make_switch(m, t, i, tasks[i].comm, tasks[i].pid, 1, "swapper", 0);
	}
}

/* The threads are named at @named, in ms. */
static int input_named(const char *recorder, unsigned int named)
{
	const char *const kv[] = {
		"target_pids", "60", recorder ? "recorder_helpers" : NULL, "49,51", "recorder_pid",
		recorder,      NULL
	};
	static const struct {
		unsigned int ms, what;
	} steps[] = { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 5, 1 }, { 7, 2 }, { 8, 3 } };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, 20 * RUN_SEC, kv);
	if (!named)
		put_at(&m, 20 * RUN_SEC, 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		put_at(&m, 20 * RUN_SEC + steps[i].ms * 1000000ULL, steps[i].what);
		if (named == steps[i].ms)
			put_at(&m, 20 * RUN_SEC + named * 1000000ULL, 0);
	}
	return make_done(&m);
}

static int input(const char *recorder)
{
	return input_named(recorder, 0);
}

#define LATENCY(...) run_cmd(cmd_sched, input("50"), "sched", "latency", "-", __VA_ARGS__)

/* clang-format off */
static const char hidden[] =
	"# standard input: run-queue latency over 0.007 s\n"
	"# lost: nothing\n"
	"# hidden: 3 threads of dial9-prof; --include-self shows them\n"
	"#\n"
	"#   Runtime  Switches   Count       Total        Avg        P50        P99        Max  Max at            Task\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         command 60\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         child 61\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         other 70\n";

static const char shown[] =
	"# standard input: run-queue latency over 0.007 s\n"
	"# lost: nothing\n"
	"#\n"
	"#   Runtime  Switches   Count       Total        Avg        P50        P99        Max  Max at            Task\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         dial9-prof 50\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         d9-spawner 51\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         d9-names 52\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         command 60\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         child 61\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         other 70\n";

static const char chosen[] =
	"# standard input: run-queue latency over 0.007 s\n"
	"# lost: nothing\n"
	"#\n"
	"#   Runtime  Switches   Count       Total        Avg        P50        P99        Max  Max at            Task\n"
	"   2.000 ms         2       2    3.000 ms   1.500 ms   1.000 ms   2.000 ms   2.000 ms  20.005000         d9-names 52\n";

static const char blocked[] =
	"# standard input: blocked time over 0.007 s\n"
	"# lost: nothing\n"
	"# hidden: 3 threads of dial9-prof; --include-self shows them\n"
	"# 9 off-CPU intervals, 9.000 ms in total; *: includes fragments (6)\n"
	"#\n"
	"#      Time    Share    Count        Avg        Max\n"
	"   3.000 ms*  33.33%        3   1.000 ms   2.000 ms  tid 60\n"
	"   3.000 ms*  33.33%        3   1.000 ms   2.000 ms  tid 61\n"
	"   3.000 ms*  33.33%        3   1.000 ms   2.000 ms  tid 70\n";

static const char woken[] =
	"# standard input: who woke whom over 0.007 s\n"
	"# lost: nothing\n"
	"# hidden: 3 threads of dial9-prof; --include-self shows them\n"
	"# 6 wakeups after 9.000 ms blocked in total; *: includes fragments\n"
	"#\n"
	"#   Blocked    Share  Wakeups        Avg        Max  waker -> wakee\n"
	"   3.000 ms*  33.33%        2   1.500 ms   2.000 ms  swapper? -> command\n"
	"   3.000 ms*  33.33%        2   1.500 ms   2.000 ms  swapper? -> child\n"
	"   3.000 ms*  33.33%        2   1.500 ms   2.000 ms  swapper? -> other\n";
/* clang-format on */

Test(self, recorder_is_hidden_in_latency)
{
	run_expect(LATENCY(NULL), CMD_OK, hidden, "");
}

Test(self, recorder_is_shown_on_request)
{
	run_expect(LATENCY("--include-self", NULL), CMD_OK, shown, "");
}

Test(self, recorder_is_shown_when_selected)
{
	run_expect(LATENCY("-p", "52", NULL), CMD_OK, chosen, "");
}

Test(self, recorder_is_shown_if_the_trace_does_not_identify_it)
{
	run_expect(run_cmd(cmd_sched, input(NULL), "sched", "latency", "-", NULL), CMD_OK, shown,
		   "");
}

Test(self, recorder_is_hidden_in_offcpu)
{
	run_expect(run_cmd(cmd_offcpu, input("50"), "offcpu", "-", "--by", "tid", NULL), CMD_OK,
		   blocked, "");
}

Test(self, recorder_is_hidden_in_wakeup)
{
	run_expect(run_cmd(cmd_wakeup, input("50"), "wakeup", "-", NULL), CMD_OK, woken, "");
}

/* Whenever the trace names the threads: a helper that sleeps as the recording begins is named after it woke. */
Test(self, recorder_is_hidden_before_its_name)
{
	static const unsigned int ms[] = { 1, 2, 3, 5, 7, 8 };

	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		run_expect(run_cmd(cmd_sched, input_named("50", ms[i]), "sched", "latency", "-",
				   NULL),
			   CMD_OK, hidden, "");
		run_expect(run_cmd(cmd_offcpu, input_named("50", ms[i]), "offcpu", "-", "--by",
				   "tid", NULL),
			   CMD_OK, blocked, "");
		run_expect(run_cmd(cmd_wakeup, input_named("50", ms[i]), "wakeup", "-", NULL),
			   CMD_OK, woken, "");
	}
}

Test(self, recorder_is_counted_in_json)
{
	struct run r = LATENCY("--json", NULL);

	run_expect_in(r.out,
		      "\"stacks_skipped\":0,\"recorder_threads_hidden\":3,\"run_ns\":6000000,");
	cr_expect_null(strstr(r.out, "d9-names"));
	run_free(&r);
}

/* A trace for a flame graph has everything. */
Test(self, recorder_is_in_folded_stacks)
{
	struct run r = run_cmd(cmd_offcpu, input("50"), "offcpu", "-", "--folded", "--by",
			       "comm,stack", NULL);

	run_expect_in(r.out, "d9-names");
	run_free(&r);
}
