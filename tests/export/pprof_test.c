// SPDX-License-Identifier: BSD-2-Clause
/* pprof: the message field by field, by the numbers of profile.proto. */
#include <zlib.h>

#include "tests/cmd/run_cmd.h"
#include "tests/export/proto_read.h"
#include "tests/support/exec_trace.h"

static const char *const messages[] = { "1", "2", "2.3", "3", "4", "4.4", "5", "11", NULL };
static const char *const packed[] = { "2.1", "2.2", NULL };

/* The output of the command, decompressed and as text. */
static char *read_back(int fd, const char *kind)
{
	const struct proto_read r = { messages, packed };
	static uint8_t raw[1 << 16];
	char path[] = "/tmp/d9-pprof-XXXXXX", option[64];
	struct buf out = { 0 };
	struct run done;
	gzFile gz;
	int n;

	close(mkstemp(path));
	snprintf(option, sizeof(option), "-o%s", path);
	done = run_cmd(cmd_export, fd, "export", "pprof", "-", kind, option, NULL);
	cr_assert_eq(done.code, CMD_OK, "%s", done.err);
	run_free(&done);
	gz = gzopen(path, "rb");
	cr_assert(!gzdirect(gz), "not gzipped");
	n = gzread(gz, raw, sizeof(raw));
	cr_assert_gt(n, 0);
	gzclose(gz);
	unlink(path);
	snprintf(option, sizeof(option), "%s.old", path);
	unlink(option);
	proto_read(&out, &r, raw, (size_t)n);
	return buf_steal(&out);
}

Test(pprof, samples_have_addresses_functions_and_mappings)
{
	struct make m;
	char *text;

	run_make_app(&m);
	text = read_back(make_done(&m), "--kind=cpu");
	/* 4 samples of 10.10101 ms each; values, then thread, pid and tid */
	cr_assert_str_eq(
		text,
		"1 { 1: 1 2: 2 }\n"
		"1 { 1: 3 2: 4 }\n"
		"14: 3\n"
		"11 { 1: 3 2: 4 }\n"
		"12: 10101010\n"
		"2 { 1 [1,2,3] 2 [4,40404040] 3 { 1: 6 2: 5 } 3 { 1: 7 3: 10 } 3 { 1: 8 3: 10 } }\n"
		"2 { 1 [1,2,3] 2 [2,20202020] 3 { 1: 6 2: 9 } 3 { 1: 7 3: 10 } 3 { 1: 8 3: 11 } }\n"
		"2 { 1 [4,3] 2 [2,20202020] 3 { 1: 6 2: 5 } 3 { 1: 7 3: 10 } 3 { 1: 8 3: 10 } }\n"
		"5 { 1: 1 2: 10 3: 10 4: 11 }\n"
		"5 { 1: 2 2: 12 3: 12 4: 13 }\n"
		"4 { 1: 1 2: 1 3: 1099511628560 4 { 1: 2 2: 7 } 4 { 1: 1 2: 21 } }\n"
		"5 { 1: 3 2: 14 3: 14 4: 11 }\n"
		"4 { 1: 2 2: 1 3: 1099511628304 4 { 1: 3 2: 15 } }\n"
		"5 { 1: 4 2: 15 3: 15 4: 11 }\n"
		"4 { 1: 3 2: 1 3: 1099511628048 4 { 1: 4 2: 5 } }\n"
		"4 { 1: 4 2: 2 3: 2199023257872 }\n"
		"3 { 1: 1 2: 1099511627776 3: 1099511628561 5: 16 6: 17 7: 1 8: 1 9: 1 10: 1 }\n"
		"3 { 1: 2 2: 2199023255552 3: 2199023257873 5: 18 6: 19 7: 0 8: 0 9: 0 10: 0 }\n"
		/* of the recording, from 10 s to 14 s */
		"9: 1700000000000000000\n"
		"10: 4000000000\n"
		"13: 20\n"
		"6: \"\"\n"
		"6: \"samples\"\n"
		"6: \"count\"\n"
		"6: \"cpu\"\n"
		"6: \"nanoseconds\"\n"
		"6: \"app\"\n"
		"6: \"thread\"\n"
		"6: \"pid\"\n"
		"6: \"tid\"\n"
		"6: \"pool\"\n"
		"6: \"hot\"\n"
		"6: \"app.c\"\n"
		"6: \"leaf\"\n"
		"6: \"leaf.h\"\n"
		"6: \"work\"\n"
		"6: \"main\"\n"
		"6: \"/opt/app/bin/app\"\n"
		"6: \"2f6f70742f6170702f62696e2f617070\"\n"
		"6: \"/lib/libc.so.6\"\n"
		"6: \"2f6c69622f6c6962632e736f2e36\"\n"
		"6: \"dial9-prof -p 10\"\n",
		"%s", text);
	free(text);
}

/* Only the line of the inner function. */
Test(pprof, function_inlined_into_itself_is_written_once)
{
	const uint64_t frame = make_frame(1, 0x310);
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "app");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_symbol(&m, 7, frame, 0, frame, "hot", "a.c", 3);
	make_symbol(&m, 7, frame, 1, frame, "hot", "a.c", 5);
	text = read_back(make_done(&m), "--kind=cpu");
	run_expect_in(text, "\n4 { 1: 1 3: 1099511628560 4 { 1: 1 2: 5 } }\n");
	free(text);
}

static void expect_first_mapping(struct make *m, const char *want)
{
	char *text = read_back(make_done(m), "--kind=cpu"), *at = strstr(text, "\n3 {");

	cr_assert_not_null(at, "%s", text);
	cr_assert_eq(strncmp(at, want, strlen(want)), 0, "not %s in %s", want, text);
	free(text);
}

/* Mapping 1 is the shell's, which has most samples; 2 is the executable of the target. */
Test(pprof, executable_of_the_target_comes_first)
{
	struct make m;

	exec_trace_make(&m);
	expect_first_mapping(&m, "\n3 { 1: 2 ");
}

/* Without a target: the program with most samples. */
Test(pprof, program_with_most_samples_comes_first)
{
	const uint64_t few = make_frame(1, 0x10), lib = make_frame(2, 0x10),
		       most = make_frame(3, 0x10);
	struct make m;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/few", PROF_MODULE_ELF);
	make_module(&m, 1, 2, "/lib/lib.so", PROF_MODULE_ELF);
	make_module(&m, 1, 3, "/bin/most", PROF_MODULE_ELF);
	make_sample(&m, 5, 1, 1, PROF_SOURCE_SAMPLE, 0, &few, 1);
	for (uint64_t i = 0; i < 5; i++)
		make_sample(&m, 6 + i, 2, 2, PROF_SOURCE_SAMPLE, 0, &lib, 1);
	for (uint64_t i = 0; i < 2; i++)
		make_sample(&m, 20 + i, 3, 3, PROF_SOURCE_SAMPLE, 0, &most, 1);
	expect_first_mapping(&m, "\n3 { 1: 3 ");
}

/* The name is a label, an empty stack has a location too, and kinds have their own units. */
Test(pprof, hostile_names_and_missing_stacks_are_exported)
{
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_wait(&m, 1000000, "a\"\n\x1b", NULL, 0);
	text = read_back(make_done(&m), "--kind=offcpu");
	cr_assert_str_eq(text,
			 "1 { 1: 1 2: 2 }\n"
			 "1 { 1: 3 2: 4 }\n"
			 "14: 3\n"
			 "2 { 1 [1] 2 [1,1500] 3 { 1: 6 2: 5 } 3 { 1: 7 3: 10 } }\n"
			 "5 { 1: 1 2: 8 3: 8 }\n"
			 "4 { 1: 1 4 { 1: 1 } }\n"
			 "10: 1600\n"
			 "6: \"\"\n"
			 "6: \"waits\"\n"
			 "6: \"count\"\n"
			 "6: \"offcpu\"\n"
			 "6: \"nanoseconds\"\n"
			 "6: \"a\"\\x0a\\x1b\"\n"
			 "6: \"thread\"\n"
			 "6: \"tid\"\n"
			 "6: \"[no stack]\"\n",
			 "%s", text);
	free(text);
}
