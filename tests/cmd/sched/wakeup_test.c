// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `wakeup` prints, to the byte. A ring of three, in ms from 20 s: a (11) wakes b (12) at 1 and
 * blocks at 2, b runs from 1.5, wakes c (13) at 3 and blocks at 4, c runs from 3.5 and wakes a at 6, which
 * runs from 6.5 to 8.
 */
#include "tests/cmd/run_cmd.h"

static const uint64_t us = 1000;

static int input(void)
{
	const uint64_t take = make_frame(1, 0x210), root = make_frame(1, 0x110);
	const uint64_t stack[] = { take, root };
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_module(&m, t, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(&m, t, 11, 11, "a");
	make_task(&m, t, 12, 12, "b");
	make_task(&m, t, 13, 13, "c");
	make_switch(&m, t, 0, "swapper/0", 0, 0, "a", 11);
	make_waking(&m, t + 1000 * us, 1, 11, "b", 12);
	make_switch(&m, t + 1500 * us, 1, "swapper/1", 0, 0, "b", 12);
	make_switch(&m, t + 2000 * us, 0, "a", 11, 1, "swapper/0", 0);
	make_sample(&m, t + 2000 * us, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, stack, 2);
	make_waking(&m, t + 3000 * us, 2, 12, "c", 13);
	make_switch(&m, t + 3500 * us, 2, "swapper/2", 0, 0, "c", 13);
	make_switch(&m, t + 4000 * us, 1, "b", 12, 1, "swapper/1", 0);
	make_waking(&m, t + 6000 * us, 0, 13, "a", 11);
	make_switch(&m, t + 6500 * us, 0, "swapper/0", 0, 0, "a", 11);
	make_switch(&m, t + 7000 * us, 2, "c", 13, 1, "swapper/2", 0);
	make_switch(&m, t + 8000 * us, 0, "a", 11, 1, "swapper/0", 0);
	make_symbol(&m, t + 8000 * us, take, 0, make_frame(1, 0x200), "take", "", 0);
	make_symbol(&m, t + 8000 * us, root, 0, make_frame(1, 0x100), "main", "", 0);
	return make_done(&m);
}

#define WAKEUP(...) run_cmd(cmd_wakeup, input(), "wakeup", "-", __VA_ARGS__, NULL)

/* clang-format off */
#define LOST "\"lost_events\":0,\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0," \
	"\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,"

static const char edges[] =
	"# standard input: who woke whom over 0.008 s\n"
	"# lost: nothing\n"
	"# 3 wakeups after 8.000 ms blocked in total; *: includes fragments\n"
	"#\n"
	"#   Blocked    Share  Wakeups        Avg        Max  waker -> wakee\n"
	"   4.000 ms   50.00%        1   4.000 ms   4.000 ms  c? 13 -> a 11\n"
	"   3.000 ms*  37.50%        1   3.000 ms   3.000 ms  b? 12 -> c 13\n"
	"   1.000 ms*  12.50%        1   1.000 ms   1.000 ms  a? 11 -> b 12\n";

static const char stacks[] =
	"# standard input: who woke whom over 0.008 s\n"
	"# lost: nothing\n"
	"# 1 wakeup after 4.000 ms blocked in total\n"
	"#\n"
	"#   Blocked    Share  Wakeups        Avg        Max  waker -> wakee\n"
	"   4.000 ms  100.00%        1   4.000 ms   4.000 ms  c? -> a\n"
	"            -- off-CPU stack\n"
	"            take (app)\n"
	"            main (app)\n"
	"\n";

static const char json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":8000000," LOST
	"\"wakeups\":1,\"cut\":0,\"ns\":4000000,\"rows_not_shown\":0,\"rows\":[\n"
	"{\"ns\":4000000,\"wakeups\":1,\"cut\":0,\"max_ns\":4000000,\"max_start_ns\":20002000000,"
	"\"waker\":{\"context\":\"unknown\",\"name\":\"c?\"},\"waker_tid\":13,\"comm\":\"a\",\"tid\":11}]}\n";

#define HEAD \
	"# standard input: chain of wakeups of a 11 over 0.004 s\n" \
	"# lost: nothing\n" \
	"# at 20.006000000, blocked for 4.000 ms; latest wakeup first\n" \
	"\n" \
	"-       0 ns  a 11 woken by c? 13, blocked 4.000 ms (S)\n" \
	"                take (app)\n" \
	"                main (app)\n" \
	"\n" \
	"-   3.000 ms  c 13 woken by b? 12, blocked 1.000 ms in this range (?)\n" \
	"              then: runnable 500.000 us, running 2.500 ms\n"

static const char chain[] = HEAD
	"\n"
	"-   4.000 ms  b 12 was not blocked in this range: running 1.000 ms\n";

static const char short_chain[] = HEAD
	"\n"
	"# chain continues: --depth shows more\n";

static const char chain_json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":4000000," LOST
	"\"from_ns\":20002000000,\"to_ns\":20006000000,\"chain\":[\n"
	"{\"tid\":11,\"comm\":\"a\",\"woken_ns\":20006000000,\"woke_ns\":20006000000,\"running_ns\":0,"
	"\"runnable_ns\":0,\"unknown_ns\":0,\"blocked_start_ns\":20002000000,\"blocked_ns\":4000000,"
	"\"state\":\"S\",\"stack\":[{\"sym\":\"take\",\"dso\":\"/opt/app\"},{\"sym\":\"main\",\"dso\":\"/opt/app\"}],"
	"\"waker\":{\"context\":\"unknown\",\"name\":\"c?\"},\"waker_tid\":13,\"waker_stack\":[]},\n"
	"{\"tid\":13,\"comm\":\"c\",\"woken_ns\":20003000000,\"woke_ns\":20006000000,"
	"\"running_ns\":2500000,\"runnable_ns\":500000,\"unknown_ns\":0,"
	"\"blocked_start_ns\":20002000000,\"blocked_ns\":1000000,\"state\":\"?\",\"stack\":[],"
	"\"waker\":{\"context\":\"unknown\",\"name\":\"b?\"},\"waker_tid\":12,\"waker_stack\":[]},\n"
	"{\"tid\":12,\"comm\":\"b\",\"woken_ns\":20002000000,\"woke_ns\":20003000000,"
	"\"running_ns\":1000000,\"runnable_ns\":0,\"unknown_ns\":0}]}\n";
/* clang-format on */

Test(wakeup, edges_are_sorted_by_blocked_time)
{
	run_expect(WAKEUP("--by-tid"), CMD_OK, edges, "");
	run_expect(WAKEUP("--stacks", "-t", "11"), CMD_OK, stacks, "");
	run_expect(WAKEUP("--by-tid", "--json", "-t", "11"), CMD_OK, json, "");
}

Test(wakeup, chain_of_wakeups_may_be_a_ring)
{
	run_expect(WAKEUP("--chain", "11"), CMD_OK, chain, "");
	run_expect(WAKEUP("--chain", "11", "--depth", "1"), CMD_OK, short_chain, "");
	run_expect(WAKEUP("--chain", "11", "--json"), CMD_OK, chain_json, "");
}

/* The time is inside the blocked interval, or after it. */
Test(wakeup, chain_of_wakeups_at_a_time)
{
	run_expect(WAKEUP("--chain", "11@20.0035"), CMD_OK, chain, "");
	run_expect(WAKEUP("--chain", "11@7ms"), CMD_OK, chain, "");
	run_expect(WAKEUP("--chain", "11@20.001"), CMD_USAGE, "",
		   "dial9-prof: thread 11 was not woken in standard input before this time\n");
}

/* A pipe that ends after the trace. */
static int input_pipe(void)
{
	char data[4096];
	const int file = input();
	int fd[2];
	ssize_t n;

	cr_assert_eq(pipe(fd), 0);
	n = read(file, data, sizeof(data));
	cr_assert(n > 0 && n < (ssize_t)sizeof(data));
	cr_assert_eq(write(fd[1], data, (size_t)n), n);
	close(file);
	close(fd[1]);
	return fd[0];
}

Test(wakeup, chain_of_wakeups_needs_a_regular_file)
{
	static const char refused[] = "dial9-prof: cannot read a pipe twice; use a file\n";

	run_expect(run_cmd(cmd_wakeup, input_pipe(), "wakeup", "-", "--chain", "11", NULL),
		   CMD_USAGE, "", refused);
	run_expect(run_cmd(cmd_wakeup, input_pipe(), "wakeup", "-", "--chain", "11", "--time",
			   "0s,1s", NULL),
		   CMD_USAGE, "", refused);
}

Test(wakeup, empty_output_is_explained)
{
	run_expect(WAKEUP("-p", "99"), CMD_USAGE, "",
		   "dial9-prof: no wakeups in standard input: process 99 is not in the trace\n");
	run_expect(WAKEUP("--chain", "99"), CMD_USAGE, "",
		   "dial9-prof: thread 99 was not woken in standard input\n");
}

/* A thread ran, and nothing woke it. */
Test(wakeup, switches_without_wakeups_are_reported)
{
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 20 * RUN_SEC, 0, "swapper/0", 0, 0, "a", 11);
	run_expect(run_cmd(cmd_wakeup, make_done(&m), "wakeup", "-", NULL), CMD_OK,
		   "No wakeups in standard input.\n", "");
}

Test(wakeup, invalid_arguments_are_refused)
{
	run_expect(
		WAKEUP("--chain", "app"), CMD_USAGE, "",
		"dial9-prof: wakeup: bad value 'app' for --chain: expected TID or TID@TIME, such as 4711@123.456\n");
	run_expect(
		WAKEUP("--chain", "11@"), CMD_USAGE, "",
		"dial9-prof: wakeup: bad value '11@' for --chain: expected TID or TID@TIME, such as 4711@123.456\n");
	run_expect(WAKEUP("--chain", "11@20.1", "--time", "20,21"), CMD_USAGE, "",
		   "dial9-prof: wakeup: --chain 11@20.1 already has a time; remove --time\n");
}
