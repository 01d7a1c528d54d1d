// SPDX-License-Identifier: BSD-2-Clause
/* The Firefox Profiler's processed profile: tables of each thread, and columns of one length. */
#include "tests/cmd/run_cmd.h"
#include "tests/support/exec_trace.h"

static void expect_part(const struct run *r, const char *part)
{
	cr_assert_eq(r->code, CMD_OK, "%s", r->err);
	run_expect_in(r->out, part);
}

/* Samples at 11.004 s and 11.005 s, blocked from 12.001234567 s to 13 s; the first event is at 10 s. */
Test(firefox, thread_has_its_tables)
{
	struct run r = run_cmd(cmd_export, run_app_file(), "export", "firefox", "-", NULL);

	expect_part(&r, "\"preprocessedProfileVersion\":49");
	expect_part(&r, "\"interval\":10.101010,\"startTime\":1700000000000.000000,"
			"\"profilingStartTime\":0,\"profilingEndTime\":4000.000000}");
	expect_part(&r, "{\"tid\":11,\"pid\":\"10\",\"isMainThread\":false,\"name\":\"pool\","
			"\"processName\":\"app\"");
	expect_part(&r, "\"samples\":{\"length\":2,\"weight\":null,\"weightType\":\"samples\","
			"\"stack\":[3,3],\"time\":[1004.000000,1005.000000],"
			"\"threadCPUDelta\":[10101010,10101010]}");
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

Test(firefox, exec_renames_a_process_and_its_threads)
{
	struct make m;
	struct run r;

	exec_trace_make(&m);
	r = run_cmd(cmd_export, make_done(&m), "export", "firefox", "-", NULL);
	expect_part(&r, "{\"tid\":10,\"pid\":\"10\",\"isMainThread\":true,\"name\":\"thing\","
			"\"processName\":\"thing\"");
	expect_part(&r, "{\"tid\":11,\"pid\":\"10\",\"isMainThread\":false,\"name\":\"helper\","
			"\"processName\":\"thing\"");
	run_free(&r);
}

/* Without a period the CPU time is not known; a period of zero would mean no CPU time. */
Test(firefox, samples_without_a_period_have_no_cpu_time)
{
	const uint64_t frame = make_frame(1, 0x310);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "app");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	r = run_cmd(cmd_export, make_done(&m), "export", "firefox", "-", "--kind=cpu", NULL);
	expect_part(&r, "\"threadCPUDelta\":[null]}");
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
	expect_part(&r, "\"stringArray\":[\"a\\\"]\\\\\",\"[anon]\\\"\"]}],\"meta\":{");
	run_free(&r);
}

/* At a time, with typed fields by their schema, of a thread or of none. */
Test(firefox, events_are_markers)
{
	struct dial9_schema *evil = MAKE_SCHEMA("a:\"}\n", { "common_cpu", DIAL9_VARINT },
						{ "common_pid", DIAL9_VARINT },
						{ "x{", DIAL9_STRING }, { "n", DIAL9_I64 });
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "app");
	dial9_enc_begin(m.enc, evil, 7000001);
	dial9_enc_put_u64(m.enc, 3);
	dial9_enc_put_u64(m.enc, 10);
	make_str(&m, "\x1b\"");
	dial9_enc_put_i64(m.enc, -5);
	make_end(&m);
	make_lost(&m, 8000001, PROF_LOST_RING_FULL, 7, 2, 3);
	r = run_cmd(cmd_export, make_done(&m), "export", "firefox", "-", NULL);
	dial9_schema_free(evil);
	expect_part(&r, "{\"tid\":10,\"pid\":\"10\"");
	expect_part(&r,
		    "\"name\":[0],\"startTime\":[0.000000],\"endTime\":[null],\"data\":["
		    "{\"type\":\"event0\",\"f0\":3,\"f1\":10,\"f2\":\"\\u001b\\\"\",\"f3\":-5}],"
		    "\"phase\":[0],\"category\":[5]}");
	expect_part(&r, "\"stringArray\":[\"a:\\\"}\\\\x0a\"]");
	expect_part(&r, "\"tableLabel\":\"n={marker.data.f3}\",\"data\":["
			"{\"key\":\"f0\",\"label\":\"common_cpu\",\"format\":\"string\"},");
	expect_part(&r, "\"name\":\"[no thread]\"");
	expect_part(&r, "{\"key\":\"f3\",\"label\":\"first_ns\",\"format\":\"nanoseconds\"}");
	run_free(&r);
}

/* As many fields as a record in the temporary file can have: no text of a trace is too long. */
Test(firefox, events_of_any_length_are_written)
{
	struct dial9_schema *s = MAKE_SCHEMA("a:b", { "n", DIAL9_VARINT }, { "text", DIAL9_STRING },
					     { "m", DIAL9_VARINT });
	char text[5001] = { 0 };
	struct make m;
	struct run r;

	make_init(&m, NULL);
	memset(text, 'x', sizeof(text) - 1);
	for (size_t len = 4500; len >= 3500; len -= 10) {
		text[len] = '\0';
		dial9_enc_begin(m.enc, s, 7000001 + len);
		dial9_enc_put_u64(m.enc, len);
		make_str(&m, text);
		dial9_enc_put_u64(m.enc, 1);
		make_end(&m);
	}
	r = run_cmd(cmd_export, make_done(&m), "export", "firefox", "-", NULL);
	dial9_schema_free(s);
	expect_part(&r, "{\"type\":\"event0\",\"f0\":4500},");
	expect_part(&r, "{\"type\":\"event0\",\"f0\":3500,\"f1\":\"xxx");
	expect_part(&r, "xxx\",\"f2\":1}],\"phase\"");
	run_free(&r);
}
