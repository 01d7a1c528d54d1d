// SPDX-License-Identifier: BSD-2-Clause
/* csv: a row for everything, and cells that stay cells. */
#include "tests/cmd/run_cmd.h"

#define HEAD "what,start_ns,end_ns,ns,cpu,pid,tid,thread,state,waker,waker_tid,fields,stack\n"

Test(csv, samples_and_times_are_exported)
{
	run_expect(
		run_cmd(cmd_export, run_app_file(), "export", "csv", "-", "-t11", "--kind=cpu",
			NULL),
		CMD_OK,
		HEAD
		"sample,11004000000,11004000000,10101010,1,10,11,pool,,,,,main;work;hot;leaf (inlined)\n"
		"sample,11005000000,11005000000,10101010,1,10,11,pool,,,,,main;work;hot;leaf (inlined)\n",
		"");
	run_expect(run_cmd(cmd_export, run_app_file(), "export", "csv", "-", "--kind=offcpu", NULL),
		   CMD_OK,
		   HEAD "blocked,12001234567,13000000000,998765433,1,10,11,pool,S,app/10,10,,"
			"main;work;schedule\n",
		   "");
}

Test(csv, function_inlined_into_itself_is_written_once)
{
	const uint64_t frame = make_frame(1, 0x310);
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "app");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_symbol(&m, 7, frame, 0, frame, "hot", "a.c", 3);
	make_symbol(&m, 7, frame, 1, frame, "hot", "a.c", 5);
	make_symbol(&m, 7, frame, 2, frame, "leaf", "a.c", 7);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "csv", "-", "--kind=cpu", NULL),
		   CMD_OK, HEAD "sample,5,5,,0,10,10,app,,,,,hot;leaf (inlined)\n", "");
}

Test(csv, events_have_their_fields)
{
	struct run r = run_cmd(cmd_export, run_app_file(), "export", "csv", "-",
			       "--time=12.001,12.002", NULL);

	run_expect_in(r.out, "\nsched:sched_switch,12001234567,12001234567,,1,10,11,pool,,,,"
			     "prev_comm=pool prev_pid=11 prev_prio=120 prev_state=S "
			     "next_comm=swapper/1 next_pid=0 next_prio=120,\n");
	run_expect_in(r.out, "\nswitch-out,12001234567,12001234567,,1,10,11,pool,,,,");
	run_expect_in(r.out, "\nrunning,12001000000,12001234567,234567,1,10,11,pool,,,,,\n");
	run_free(&r);
}

/* Commas, quotes and ends of lines stay within their cell, and none becomes a formula. */
Test(csv, hostile_names_are_escaped)
{
	const uint64_t frames[] = { make_frame(1, 0x310), make_frame(1, 0x110) };
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "=a(\"b\",1)\r\n");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, frames, 2);
	make_sample(&m, 6, 10, 10, PROF_SOURCE_SAMPLE, 0, frames, 2);
	make_symbol(&m, 7, frames[0], 0, frames[0], "f;\n,\"", "", 0);
	make_symbol(&m, 7, frames[1], 0, frames[1], "@main", "", 0);
	run_expect(
		run_cmd(cmd_export, make_done(&m), "export", "csv", "-", "--kind=cpu", NULL),
		CMD_OK,
		HEAD
		"sample,5,5,,0,10,10,\"'=a(\"\"b\"\",1)\\x0d\\x0a\",,,,,\"'@main;f:\\x0a,\"\"\"\n"
		"sample,6,6,,0,10,10,\"'=a(\"\"b\"\",1)\\x0d\\x0a\",,,,,\"'@main;f:\\x0a,\"\"\"\n",
		"");
}
