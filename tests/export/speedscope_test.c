// SPDX-License-Identifier: BSD-2-Clause
/* speedscope: a profile for each thread over one table of frames. */
#include "tests/cmd/run_cmd.h"
#include "tests/support/exec_trace.h"

#define HEAD                                                                                       \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"exporter\":\"dial9-prof\",\"name\":\"standard input\",\"profiles\":[\n"

Test(speedscope, threads_have_their_stacks_outermost_first)
{
	run_expect(run_cmd(cmd_export, run_app_file(), "export", "speedscope", "-", NULL), CMD_OK,
		   HEAD "{\"type\":\"sampled\",\"name\":\"app 10/10\",\"unit\":\"nanoseconds\","
			"\"startValue\":0,\"endValue\":60606060,\"samples\":[[0,1,2,3],[0,4]],"
			"\"weights\":[40404040,20202020]},\n"
			"{\"type\":\"sampled\",\"name\":\"pool 10/11\",\"unit\":\"nanoseconds\","
			"\"startValue\":0,\"endValue\":20202020,\"samples\":[[0,1,2,3]],"
			"\"weights\":[20202020]}],\n"
			"\"shared\":{\"frames\":[\n"
			"{\"name\":\"main\",\"file\":\"app.c\"},\n"
			"{\"name\":\"work\",\"file\":\"app.c\"},\n"
			"{\"name\":\"hot\",\"file\":\"app.c\"},\n"
			"{\"name\":\"leaf (inlined)\",\"file\":\"leaf.h\"},\n"
			"{\"name\":\"[unknown]\",\"file\":\"/lib/libc.so.6\"}]}}\n",
		   "");
}

/* Five equal stacks are one sample; then two functions alternate, and the heavier one comes later. */
Test(speedscope, samples_are_in_the_order_of_the_trace)
{
	struct make m;
	struct run r;

	exec_trace_make(&m);
	r = run_cmd(cmd_export, make_done(&m), "export", "speedscope", "-", NULL);
	run_expect_in(r.out,
		      "{\"type\":\"sampled\",\"name\":\"thing 10/10\",\"unit\":\"nanoseconds\","
		      "\"startValue\":0,\"endValue\":80000000,"
		      "\"samples\":[[0],[1],[2],[1]],"
		      "\"weights\":[50000000,10000000,10000000,10000000]},");
	run_expect_in(r.out, "\"samples\":[[2]],\"weights\":[10000000]}],");
	run_free(&r);
}

/* Blocked for 1 ms, 3 ms and 2 ms, alternating between two stacks; between them the thread runs. */
Test(speedscope, intervals_are_in_the_order_of_the_trace)
{
	const uint64_t a = make_frame(1, 0x100), b = make_frame(1, 0x200);
	const uint64_t ms[] = { 1, 3, 2 };
	uint64_t ts = RUN_SEC;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, ts, 1, "/bin/app", PROF_MODULE_ELF);
	make_task(&m, ts, 10, 10, "app");
	make_switch(&m, ts, 0, "swapper/0", 0, 0, "app", 10);
	for (size_t i = 0; i < 3; i++, ts += 1000000) {
		make_switch(&m, ts, 0, "app", 10, 1, "swapper/0", 0);
		make_sample(&m, ts, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, i % 2 ? &b : &a, 1);
		ts += ms[i] * 1000000;
		make_waking(&m, ts, 0, 0, "app", 10);
		make_switch(&m, ts, 0, "swapper/0", 0, 0, "app", 10);
	}
	make_symbol(&m, ts, a, 0, a, "a", "", 0);
	make_symbol(&m, ts, b, 0, b, "b", "", 0);
	r = run_cmd(cmd_export, make_done(&m), "export", "speedscope", "-", "--kind=offcpu", NULL);
	run_expect_in(r.out, "\"endValue\":6000000,\"samples\":[[0],[1],[0]],"
			     "\"weights\":[1000000,3000000,2000000]}]");
	run_free(&r);
}

Test(speedscope, states_are_outermost_frames_when_kinds_are_mixed)
{
	struct run r = run_cmd(cmd_export, run_app_file(), "export", "speedscope", "-",
			       "--kind=wall", NULL);

	cr_expect_eq(r.code, CMD_OK);
	run_expect_in(r.out, "{\"name\":\"[running]\"}");
	run_expect_in(r.out, "{\"name\":\"[blocked]\"}");
	run_free(&r);
}

/* Samples without a rate are counted; names are JSON. */
Test(speedscope, samples_without_a_rate_are_counted_and_hostile_names_escaped)
{
	const uint64_t frame = make_frame(1, 0x310);
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "\"},\n\x1b");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_sample(&m, 6, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_sample(&m, 6, 10, 10, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	make_symbol(&m, 7, frame, 0, frame, "a\"]\\\n", "", 0);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "speedscope", "-", NULL), CMD_OK,
		   HEAD "{\"type\":\"sampled\",\"name\":\"\\\"},\\\\x0a\\\\x1b 10/10\","
			"\"unit\":\"none\",\"startValue\":0,\"endValue\":3,"
			"\"samples\":[[0],[]],\"weights\":[2,1]}],\n"
			"\"shared\":{\"frames\":[\n{\"name\":\"a\\\"]\\\\\\\\x0a\"}]}}\n",
		   "");
}

/* It is runnable before its first turn and before the trace names its process, and gets another name later. */
Test(speedscope, thread_is_one_profile_even_if_it_is_renamed)
{
	const char *at;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1 * RUN_SEC, 10, 10, "sh");
	make_waking(&m, 2 * RUN_SEC, 0, 10, "sh", 12);
	make_switch(&m, 4 * RUN_SEC, 0, "sh", 10, 1, "sh", 12);
	make_task(&m, 4 * RUN_SEC, 12, 12, "sh");
	make_exec(&m, 5 * RUN_SEC, 12, 12);
	make_task(&m, 5 * RUN_SEC, 12, 12, "ls");
	make_switch(&m, 6 * RUN_SEC, 0, "ls", 12, 0, "sh", 10);
	make_switch(&m, 7 * RUN_SEC, 0, "sh", 10, 1, "ls", 12);
	r = run_cmd(cmd_export, make_done(&m), "export", "speedscope", "-", "--kind=runq", NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	at = strstr(r.out, " 12");
	cr_assert(at, "%s", r.out);
	cr_expect(!strncmp(at - 2, "ls 12/12\"", 9), "%s", r.out);
	cr_expect(strstr(at, "\"endValue\":3000000000,"), "%s", r.out);
	cr_expect_not(strstr(at + 1, " 12"), "%s", r.out);
	run_free(&r);
}
