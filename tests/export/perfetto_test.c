// SPDX-License-Identifier: BSD-2-Clause
/* Perfetto's packets, field by field, by the numbers of its published messages. */
#include "../cmd/run_cmd.h"
#include "proto_read.h"

/* trace.packet: ftrace_events, process_tree, clock_snapshot, interned_data, system_info, perf_sample */
static const char *const messages[] = { "1",	    "1.1",	 "1.1.2",	"1.1.2.4",
					"1.1.2.20", "1.1.2.327", "1.1.2.327.2", "1.2",
					"1.2.1",    "1.2.2",	 "1.6",		"1.6.1",
					"1.12",	    "1.12.5",	 "1.12.6",	"1.12.7",
					"1.12.16",  "1.12.17",	 "1.12.19",	"1.45",
					"1.45.1",   "1.66",	 NULL };
static const char *const packed[] = { NULL };

static char *read_back(int fd, const char *kind, int code)
{
	const struct proto_read r = { messages, packed };
	char path[] = "/tmp/d9-perfetto-XXXXXX", option[64], *data;
	struct buf out = { 0 };
	struct run done;
	struct stat st;

	close(mkstemp(path));
	snprintf(option, sizeof(option), "-o%s", path);
	done = run_cmd(cmd_export, fd, "export", "perfetto", "-", option, kind, NULL);
	cr_assert_eq(done.code, code, "%s", done.err);
	run_free(&done);
	fd = open(path, O_RDONLY);
	cr_assert_eq(fstat(fd, &st), 0);
	data = run_slurp(fd);
	proto_read(&out, &r, data, (size_t)st.st_size);
	free(data);
	unlink(path);
	snprintf(option, sizeof(option), "%s.old", path);
	unlink(option);
	return buf_steal(&out);
}

Test(perfetto, scheduling_threads_and_samples)
{
	static const char *const kv[] = { "kernel", "Linux 6.18.0", NULL };
	const uint64_t stack[] = { make_frame(1, 0x310), make_frame(1, 0x110) };
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_metadata(&m, 1000, kv);
	make_clock(&m, 1000, 1700000000);
	make_module_with(&m, 1000, 1, "/bin/app", "\x12\x34", PROF_MODULE_ELF);
	make_task(&m, 1000, 10, 10, "app");
	make_sample(&m, 2000, 10, 10, PROF_SOURCE_SAMPLE, 1, stack, 2);
	make_sample(&m, 3000, 10, 10, PROF_SOURCE_SAMPLE, 1, stack, 2);
	make_switch(&m, 4000, 1, "app", 10, 1, "swapper/1", 0);
	make_waking(&m, 5000, 0, 0, "app", 10);
	make_symbol(&m, 6000, stack[0], 0, stack[0], "hot", "", 0);
	make_symbol(&m, 6000, stack[1], 0, stack[1], "main", "", 0);
	text = read_back(make_done(&m), NULL, CMD_OK);
	cr_assert_str_eq(
		text,
		"1 { 8: 1000 6 { 1 { 1: 6 2: 1000 } 1 { 1: 3 2: 1000 } 1 { 1: 1 2: 1700000000 } } }\n"
		"1 { 45 { 1 { 1: \"Linux\" 3: \"6.18.0\" 4: \"\" } } }\n"
		"1 { 2 { 1 { 1: 10 3: \"app\" } 2 { 1: 10 2: \"app\" 3: 10 } } }\n"
		"1 { 8: 2000 10: 1 13: 1 12 { 17 { 1: 2 2: \"/bin/app\" } 16 { 1: 2 2: \"\\x124\" }"
		" 19 { 1: 2 2: 2 7: 2 } 5 { 1: 1 2: \"main\" } 6 { 1: 1 2: 1 3: 2 4: 1 }"
		" 5 { 1: 2 2: \"hot\" } 6 { 1: 2 2: 2 3: 2 4: 2 } 7 { 1: 2 2: 1 2: 2 } }"
		" 66 { 1: 1 2: 10 3: 10 4: 2 5: 2 } }\n"
		"1 { 8: 3000 10: 1 13: 2 66 { 1: 1 2: 10 3: 10 4: 2 5: 2 } }\n"
		"1 { 1 { 1: 1 2 { 1: 4000 2: 10 4 { 1: \"app\" 2: 10 3: 120 4: 1 5: \"swapper/1\" 6: 0 7: 120 } } } }\n"
		"1 { 1 { 1: 0 2 { 1: 5000 2: 0 20 { 1: \"app\" 2: 10 3: 120 5: 0 } } } }\n",
		"%s", text);
	free(text);
}

Test(perfetto, any_tracepoint_with_typed_fields)
{
	struct dial9_schema *evil = MAKE_SCHEMA("a:\"}\n", { "common_cpu", DIAL9_VARINT },
						{ "common_pid", DIAL9_VARINT },
						{ "x", DIAL9_STRING }, { "n", DIAL9_I64 });
	struct make m;
	char *text;

	make_init(&m, NULL);
	dial9_enc_begin(m.enc, evil, 7001);
	dial9_enc_put_u64(m.enc, 3);
	dial9_enc_put_u64(m.enc, 10);
	make_str(&m, "\x1b\"");
	dial9_enc_put_i64(m.enc, -5);
	make_end(&m);
	dial9_schema_free(evil);
	text = read_back(make_done(&m), NULL, CMD_OK);
	cr_assert_str_eq(
		text,
		"1 { 2 { 2 { 1: 10 } } }\n"
		"1 { 1 { 1: 3 2 { 1: 7001 2: 10 327 { 1: \"a:\"}\\x0a\" 2 { 1: \"common_cpu\" 5: 3 }"
		" 2 { 1: \"common_pid\" 5: 10 } 2 { 1: \"x\" 3: \"\\x1b\"\" }"
		" 2 { 1: \"n\" 4: 18446744073709551611 } } } } }\n",
		"%s", text);
	free(text);
}

/* It tells by the switches who was blocked: there is nothing else to write. */
Test(perfetto, has_no_single_kind_of_times)
{
	struct make m;

	make_init(&m, NULL);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "perfetto", "-", "--kind=offcpu",
			   NULL),
		   CMD_USAGE, "",
		   "dial9-prof: export: perfetto has no times by themselves: it tells them by the "
		   "switches, without --kind offcpu\n");
}
