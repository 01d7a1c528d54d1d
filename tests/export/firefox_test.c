// SPDX-License-Identifier: BSD-2-Clause
/* The Firefox Profiler's processed profile: tables of each thread, and columns of one length. */
#include "../cmd/run_cmd.h"

static void expect_part(const struct run *r, const char *part)
{
	cr_assert_eq(r->code, CMD_OK, "%s", r->err);
	run_expect_in(r->out, part);
}

/* Samples at 11.004 s and 11.005 s, blocked from 12.001234567 s to 13 s; the first event is at 10 s. */
Test(firefox, a_thread_with_its_tables)
{
	struct run r = run_cmd(cmd_export, run_app_file(), "export", "firefox", "-", NULL);

	expect_part(&r, "\"preprocessedProfileVersion\":49");
	expect_part(&r, "\"interval\":10.101010,\"startTime\":1700000000000.000000,"
			"\"profilingStartTime\":0,\"profilingEndTime\":4000.000000}");
	expect_part(&r, "{\"tid\":11,\"pid\":\"10\",\"isMainThread\":false,\"name\":\"pool\","
			"\"processName\":\"app\"");
	expect_part(&r, "\"samples\":{\"length\":2,\"weight\":null,\"weightType\":\"samples\","
			"\"stack\":[3,3],\"time\":[1004.000000,1005.000000]}");
	expect_part(&r,
		    "\"markers\":{\"length\":2,\"name\":[0,1],"
		    "\"startTime\":[2001.234567,3000.000000],\"endTime\":[3000.000000,4000.000000],"
		    "\"data\":[{\"type\":\"offcpu\",\"state\":\"blocked S\",\"waker\":\"app/10\","
		    "\"cause\":{\"stack\":4}},");
	expect_part(&r,
		    "\"stackTable\":{\"length\":5,\"prefix\":[null,0,1,2,1],"
		    "\"frame\":[0,1,2,3,4],\"category\":[1,1,1,1,2],\"subcategory\":[0,0,0,0,0]}");
	expect_part(&r,
		    "\"stringArray\":[\"blocked\",\"unknown\",\"main\",\"work\",\"hot\","
		    "\"leaf (inlined)\",\"schedule\",\"/opt/app/bin/app\",\"[kernel.kallsyms]\"]}");
	run_free(&r);
}

Test(firefox, hostile_names_stay_strings)
{
	const uint64_t frame = make_frame(1, 0x310);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "[anon]\"", PROF_MODULE_ANON);
	make_task(&m, 1, 10, 10, "\"},\n\x1b");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_symbol(&m, 7, frame, 0, frame, "a\"]\\", "", 0);
	r = run_cmd(cmd_export, make_done(&m), "export", "firefox", "-", "--kind=cpu", NULL);
	expect_part(&r, "\"name\":\"\\\"},\\\\x0a\\\\x1b\"");
	expect_part(&r, "\"category\":[3]");
	expect_part(&r, "\"stringArray\":[\"a\\\"]\\\\\",\"[anon]\\\"\"]}]}\n");
	run_free(&r);
}
