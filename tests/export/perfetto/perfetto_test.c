// SPDX-License-Identifier: BSD-2-Clause
/* Perfetto's packets, field by field, by the numbers of its published messages. */
#include "tests/cmd/run_cmd.h"
#include "tests/export/proto_read.h"

/*
 * trace.packet: ftrace_events, process_tree, clock_snapshot, track_event, interned_data, system_info,
 * track_descriptor, perf_sample
 */
static const char *const messages[] = {
	"1",	  "1.1",    "1.1.2",   "1.1.2.4", "1.1.2.20", "1.1.2.327", "1.1.2.327.2", "1.2",
	"1.2.1",  "1.2.2",  "1.6",     "1.6.1",	  "1.11",     "1.11.4",	   "1.12",	  "1.12.5",
	"1.12.6", "1.12.7", "1.12.16", "1.12.17", "1.12.19",  "1.12.29",   "1.45",	  "1.45.1",
	"1.60",	  "1.60.4", "1.60.8",  "1.66",	  NULL,
};
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

Test(perfetto, scheduling_threads_and_samples_are_exported)
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
		"1 { 6 { 1 { 1: 3 2: 1000 } 1 { 1: 6 2: 1000 } 1 { 1: 1 2: 1700000000 } 2: 3 } }\n"
		"1 { 45 { 1 { 1: \"Linux\" 3: \"6.18.0\" 4: \"\" } } }\n"
		"1 { 2 { 1 { 1: 10 3: \"app\" } 2 { 1: 10 2: \"app\" 3: 10 } } }\n"
		"1 { 8: 2000 58: 3 10: 1 13: 1 12 { 17 { 1: 2 2: \"/bin/app\" } 16 { 1: 2 2: \"\\x124\" }"
		" 19 { 1: 2 2: 2 7: 2 } 5 { 1: 1 2: \"main\" } 6 { 1: 1 2: 1 3: 2 4: 1 }"
		" 5 { 1: 2 2: \"hot\" } 6 { 1: 2 2: 2 3: 2 4: 2 } 7 { 1: 2 2: 1 2: 2 } }"
		" 66 { 1: 1 2: 10 3: 10 4: 2 5: 2 } }\n"
		"1 { 8: 3000 58: 3 10: 1 13: 2 66 { 1: 1 2: 10 3: 10 4: 2 5: 2 } }\n"
		"1 { 1 { 1: 1 2 { 1: 4000 2: 10 4 { 1: \"app\" 2: 10 3: 120 4: 1 5: \"swapper/1\" 6: 0 7: 120 } } } }\n"
		"1 { 1 { 1: 0 2 { 1: 5000 2: 0 20 { 1: \"app\" 2: 10 3: 120 5: 0 } } } }\n"
		"1 { 8: 4000 58: 3 10: 1 13: 2 60 { 1: 5 4 { 1: 10 2: 10 } } }\n"
		"1 { 8: 4000 58: 3 10: 1 13: 2 60 { 1: 6 5: 5 2: \"off-CPU\" } }\n"
		"1 { 8: 4000 58: 3 10: 1 13: 2 11 { 9: 1 11: 6 22: \"off-CPU\" 23: \"blocked\""
		" 4 { 10: \"letter\" 6: \"S\" } 4 { 10: \"cpu\" 3: 1 } 4 { 10: \"waker\" 6: \"swapper/0\" } } }\n"
		"1 { 8: 5000 58: 3 10: 1 13: 2 11 { 9: 2 11: 6 } }\n",
		"%s", text);
	free(text);
}

Test(perfetto, any_tracepoint_has_typed_fields)
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
		"1 { 6 { 1 { 1: 3 2: 7001 } 1 { 1: 6 2: 7001 } 2: 3 } }\n"
		"1 { 2 { 2 { 1: 10 } } }\n"
		"1 { 1 { 1: 3 2 { 1: 7001 2: 10 327 { 1: \"a:\"}\\x0a\" 2 { 1: \"common_cpu\" 5: 3 }"
		" 2 { 1: \"common_pid\" 5: 10 } 2 { 1: \"x\" 3: \"\\x1b\"\" }"
		" 2 { 1: \"n\" 4: 18446744073709551611 } } } } }\n",
		"%s", text);
	free(text);
}

/* Blocked twice in the same place, which is written once; between the two it is runnable. */
Test(perfetto, intervals_of_one_kind_have_their_stacks)
{
	const uint64_t stack[] = { make_frame(1, 0x310), make_frame(1, 0x110) };
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_clock(&m, 1000, 1700000000);
	make_clock(&m, 2000, 1700001500);
	make_module_with(&m, 1000, 1, "/bin/app", "\x12\x34", PROF_MODULE_ELF);
	make_task(&m, 1000, 10, 10, "app");
	for (uint64_t ts = 3000; ts < 5000; ts += 1000) {
		make_switch(&m, ts, 1, "app", 10, 2, "swapper/1", 0);
		make_sample(&m, ts, 10, 10, PROF_SOURCE_SWITCH_OUT, 1, stack, 2);
		make_waking(&m, ts + 500, 0, 0, "app", 10);
		make_switch(&m, ts + 600, 1, "swapper/1", 0, 0, "app", 10);
	}
	make_symbol(&m, 6000, stack[0], 0, stack[0], "wait", "", 0);
	make_symbol(&m, 6000, stack[1], 0, stack[1], "main", "", 0);
	text = read_back(make_done(&m), "--kind=offcpu", CMD_OK);
	cr_assert_str_eq(
		text,
		"1 { 6 { 1 { 1: 3 2: 1000 } 1 { 1: 6 2: 1000 } 1 { 1: 1 2: 1700000000 } 2: 3 } }\n"
		"1 { 2 { 1 { 1: 10 3: \"app\" } 2 { 1: 10 2: \"app\" 3: 10 } } }\n"
		"1 { 8: 3000 58: 3 10: 1 13: 1 60 { 1: 5 4 { 1: 10 2: 10 } } }\n"
		"1 { 8: 3000 58: 3 10: 1 13: 2 60 { 1: 6 5: 5 2: \"off-CPU\" } }\n"
		"1 { 8: 3000 58: 3 10: 1 13: 2 12 { 17 { 1: 2 2: \"/bin/app\" } 16 { 1: 2 2: \"\\x124\" }"
		" 19 { 1: 2 2: 2 7: 2 } 5 { 1: 1 2: \"main\" } 6 { 1: 1 2: 1 3: 2 4: 1 }"
		" 5 { 1: 2 2: \"wait\" } 6 { 1: 2 2: 2 3: 2 4: 2 } 7 { 1: 2 2: 1 2: 2 }"
		" 29 { 1: 2 2: \"main;wait\" } }"
		" 11 { 9: 1 11: 6 22: \"off-CPU\" 23: \"blocked\" 4 { 10: \"letter\" 6: \"D\" }"
		" 4 { 10: \"cpu\" 3: 1 } 4 { 10: \"waker\" 6: \"swapper/0\" } 4 { 10: \"stack\" 17: 2 } 56: 2 } }\n"
		"1 { 8: 3500 58: 3 10: 1 13: 2 11 { 9: 2 11: 6 } }\n"
		"1 { 8: 4000 58: 3 10: 1 13: 2"
		" 11 { 9: 1 11: 6 22: \"off-CPU\" 23: \"blocked\" 4 { 10: \"letter\" 6: \"D\" }"
		" 4 { 10: \"cpu\" 3: 1 } 4 { 10: \"waker\" 6: \"swapper/0\" } 4 { 10: \"stack\" 17: 2 } 56: 2 } }\n"
		"1 { 8: 4500 58: 3 10: 1 13: 2 11 { 9: 2 11: 6 } }\n",
		"%s", text);
	free(text);
}

/*
 * Without switches, the run-queue latency of an off-CPU interval is a separate slice, like the blocked time
 * before it.
 */
Test(perfetto, off_cpu_interval_events_are_slices)
{
	static const char *const kv[] = { PROF_META_OFF_MIN_NS, "100", PROF_META_TARGET, "pid 10",
					  NULL };
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_metadata(&m, 1000, kv);
	make_task(&m, 1000, 10, 10, "app");
	MAKE_NUMBERS(&m, 3000, PROF_EV_OFF_CPU, { "common_cpu", 1 }, { "common_pid", 10 },
		     { PROF_F_OFF_NS, 500 }, { PROF_F_BLOCKED_NS, 400 }, { "prev_state", 1 },
		     { PROF_F_FROM_CPU, 1 }, { PROF_F_WOKEN, 1 });
	text = read_back(make_done(&m), NULL, CMD_OK);
	run_expect_in(
		text,
		"1 { 8: 2500 58: 3 10: 1 13: 2 11 { 9: 1 11: 6 22: \"off-CPU\" 23: \"blocked\" ");
	run_expect_in(text, "1 { 8: 2900 58: 3 10: 1 13: 2 11 { 9: 2 11: 6 } }\n"
			    "1 { 8: 2900 58: 3 10: 1 13: 2 11 { 9: 1 11: 6 22: \"off-CPU\" "
			    "23: \"runnable\" ");
	run_expect_in(text, "1 { 8: 3000 58: 3 10: 1 13: 2 11 { 9: 2 11: 6 } }\n");
	free(text);
}

/* All clock pairs of the trace, each once. */
Test(perfetto, every_clock_pair_is_exported_once)
{
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_clock(&m, 1000, 1700000000);
	make_clock(&m, 2000, 1700001500);
	text = read_back(make_done(&m), NULL, CMD_OK);
	cr_assert_str_eq(
		text,
		"1 { 6 { 1 { 1: 3 2: 1000 } 1 { 1: 6 2: 1000 } 1 { 1: 1 2: 1700000000 } 2: 3 } }\n"
		"1 { 6 { 1 { 1: 3 2: 2000 } 1 { 1: 6 2: 2000 } 1 { 1: 1 2: 1700001500 } 2: 3 } }\n",
		"%s", text);
	free(text);
}

Test(perfetto, clock_that_counts_suspend_is_named_so)
{
	static const char *const kv[] = { PROF_META_CLOCK, "CLOCK_BOOTTIME", NULL };
	struct make m;
	char *text;

	make_init(&m, NULL);
	make_metadata(&m, 1000, kv);
	make_clock(&m, 1000, 1700000000);
	make_sample(&m, 3000, 10, 10, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	text = read_back(make_done(&m), NULL, CMD_OK);
	cr_expect(strstr(text, "1 { 6 { 1 { 1: 6 2: 1000 } 1 { 1: 1 2: 1700000000 } 2: 6 } }\n"),
		  "%s", text);
	cr_expect(strstr(text, "1 { 8: 3000 58: 6 10: 1 "), "%s", text);
	free(text);
}

/* The same value of a queue twice: by a thread, and by none. */
static int queue(void)
{
	static const struct dial9_annotation output[] = {
		{ 2, { PROF_NOTE_KIND, 4 }, { PROF_KIND_GAUGE, 5 } },
		{ 2, { PROF_NOTE_UNIT, 4 }, { PROF_UNIT_BYTES, 5 } },
		{ 3, { PROF_NOTE_KIND, 4 }, { PROF_KIND_COUNTER, 7 } },
		{ 3, { PROF_NOTE_UNIT, 4 }, { "us", 2 } },
		{ 4, { PROF_NOTE_KIND, 4 }, { PROF_KIND_GAUGE, 5 } },
		{ 4, { PROF_NOTE_UNIT, 4 }, { "pages", 5 } },
	};
	const struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct dial9_schema *app = MAKE_SCHEMA("app:queue", { "common_cpu", DIAL9_VARINT },
					       { "common_pid", DIAL9_VARINT },
					       { "held", DIAL9_I64 }, { "spent", DIAL9_VARINT },
					       { "load", DIAL9_F64 }, { "n", DIAL9_VARINT });
	struct make m;
	int fd;

	make_init(&m, &opts);
	dial9_enc_annotate_all(m.enc, app, output, sizeof(output) / sizeof(output[0]));
	for (uint64_t ts = 7001; ts < 7003; ts++) {
		dial9_enc_begin(m.enc, app, ts);
		dial9_enc_put_u64(m.enc, 3);
		dial9_enc_put_u64(m.enc, ts == 7001 ? 10 : 0);
		dial9_enc_put_i64(m.enc, -5);
		dial9_enc_put_u64(m.enc, UINT64_MAX);
		dial9_enc_put_f64(m.enc, 0.5);
		dial9_enc_put_u64(m.enc, 1);
		make_end(&m);
	}
	fd = make_file(&m);
	make_fini(&m);
	dial9_schema_free(app);
	return fd;
}

/* Gauges and counters by their annotations, of a thread and of none; the recorder's own by their names. */
Test(perfetto, counters_are_fields_whose_kind_is_a_counter)
{
	char *text = read_back(queue(), NULL, CMD_OK);

	cr_assert_str_eq(
		text,
		"1 { 6 { 1 { 1: 3 2: 7001 } 1 { 1: 6 2: 7001 } 2: 3 } }\n"
		"1 { 2 { 2 { 1: 10 } } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 1 60 { 1: 5 4 { 1: 10 2: 10 } } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 2 60 { 1: 17179869191 5: 5 2: \"app:queue held\" 8 { 3: 3 }"
		" } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 2 11 { 9: 4 11: 17179869191 30: 18446744073709551611 } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 2 60 { 1: 34359738375 5: 5 2: \"app:queue spent\" 8 { 3: 1"
		" 4: 1000 } } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 2 11 { 9: 4 11: 34359738375 44: 0x43f0000000000000 } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 2 60 { 1: 51539607559 5: 5 2: \"app:queue load\" 8 { 6:"
		" \"pages\" } } }\n"
		"1 { 8: 7001 58: 3 10: 1 13: 2 11 { 9: 4 11: 51539607559 44: 0x3fe0000000000000 } }\n"
		"1 { 1 { 1: 3 2 { 1: 7001 2: 10 327 { 1: \"app:queue\" 2 { 1: \"common_cpu\" 5: 3 } 2 {"
		" 1: \"common_pid\" 5: 10 } 2 { 1: \"held\" 4: 18446744073709551611 } 2 { 1: \"spent\""
		" 5: 18446744073709551615 } 2 { 1: \"load\" 3: \"0.5 pages\" } 2 { 1: \"n\" 5: 1 } } } }"
		" }\n"
		"1 { 8: 7002 58: 3 10: 1 13: 2 60 { 1: 17179869187 2: \"app:queue held\" 8 { 3: 3 } } }\n"
		"1 { 8: 7002 58: 3 10: 1 13: 2 11 { 9: 4 11: 17179869187 30: 18446744073709551611 } }\n"
		"1 { 8: 7002 58: 3 10: 1 13: 2 60 { 1: 34359738371 2: \"app:queue spent\" 8 { 3: 1 4:"
		" 1000 } } }\n"
		"1 { 8: 7002 58: 3 10: 1 13: 2 11 { 9: 4 11: 34359738371 44: 0x43f0000000000000 } }\n"
		"1 { 8: 7002 58: 3 10: 1 13: 2 60 { 1: 51539607555 2: \"app:queue load\" 8 { 6:"
		" \"pages\" } } }\n"
		"1 { 8: 7002 58: 3 10: 1 13: 2 11 { 9: 4 11: 51539607555 44: 0x3fe0000000000000 } }\n"
		"1 { 1 { 1: 3 2 { 1: 7002 2: 0 327 { 1: \"app:queue\" 2 { 1: \"common_cpu\" 5: 3 } 2 {"
		" 1: \"common_pid\" 5: 0 } 2 { 1: \"held\" 4: 18446744073709551611 } 2 { 1: \"spent\" 5:"
		" 18446744073709551615 } 2 { 1: \"load\" 3: \"0.5 pages\" } 2 { 1: \"n\" 5: 1 } } } } }\n",
		"%s", text);
	free(text);
}
