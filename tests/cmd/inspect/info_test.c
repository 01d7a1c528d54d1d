// SPDX-License-Identifier: BSD-2-Clause
/* What `info` prints, to the byte, of run_make_app()'s trace. */
#include "tests/cmd/run_cmd.h"

#include "base/buf.h"

/* clang-format off */
static const char text[] = "trace           standard input\n"
		  "format          dial9 0.3\n"
		  "host            box\n"
		  "kernel          Linux 6.18.0\n"
		  "command         dial9-prof -p 10\n"
		  "sampled by      cpu-clock at 99 Hz\n"
		  "flavour         mint\n"
		  "start           2023-11-14 22:13:20.000 +0000\n"
		  "span            4.000000 s (10.000000 to 14.000000)\n"
		  "events          33 in 2.6 kB (80.2 B/event), 1 segment\n                2 recorded events and 8 samples, as record counts them; the others are stacks, symbols and metadata\nstacks          8 samples, 1 off-CPU stacks\n"
		  "accounting      produced 13 = written 10 + lost 3\n"
		  "lost            3 events dropped: ring buffer full (ring_full), between 13.000005 and 13.000007\nwritten here    2 of these 10: the event accounting covers the whole recording; the other events are in files that were not read\n"
		  "overhead        BPF 0.50% + recorder 1.50% of one CPU over 2.0 s (0.20% at real-time priority), then 0.25 s of CPU time after the end; 1000 ns per BPF run; memory 5.0 MB, fullest ring buffer 65.5 kB\n"
		  "\n"
		  "     Bytes  B/event         Count  Event\n"
		  "     425 B     47.2             9  CpuSampleEvent\n"
		  "     186 B    186.0             1  SegmentMetadataEvent\n"
		  "     182 B     30.3             6  SymbolTableEntry\n"
		  "     142 B     20.3             7  TracepointSymbol\n"
		  "      95 B     31.7             3  ModuleEvent\n"
		  "      60 B     30.0             2  TaskEvent\n"
		  "      44 B     44.0             1  RecorderStats\n"
		  "      25 B     25.0             1  LostEvents\n"
		  "      21 B     21.0             1  sched:sched_switch\n"
		  "      15 B     15.0             1  ClockSyncEvent\n"
		  "      15 B     15.0             1  sched:sched_waking\n"
		  "    1.4 kB        -             -  (headers, schemas, pools, resets)\n"
		  "\n"
		  "Unresolved addresses by module:\n"
		  "  1 of 1  /lib/libc.so.6: unknown: not recorded\n";

static const char json[] = "{\"version\":2,\"file\":\"standard input\",\"level\":\"0.3\",\"level_features\":[],\"truncated\":false,\"newer\":false,\"damaged\":false,\"segments\":1,\"events\":33,\"recorded_events\":2,\"bytes\":2645,\"overhead_bytes\":1435,\"samples\":8,\"switch_stacks\":1,\"metadata\":{\"host\":\"box\",\"kernel\":\"Linux 6.18.0\",\"command_line\":\"dial9-prof -p 10\",\"sample_event\":\"cpu-clock\",\"sample_hz\":\"99\",\"sample_period_ns\":\"10101010\",\"flavour\":\"mint\"},\"first_ns\":10000000000,\"last_ns\":14000000000,\"start_realtime_ns\":1700000000000000000,\"lost\":[{\"kind\":\"ring_full\",\"count\":3,\"first_ns\":13000005000,\"last_ns\":13000007000}],\"accounting\":{\"verdict\":\"balanced\",\"lost_events\":3,\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,\"doubtful_stacks\":0,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0},\"stats\":{\"in_flight\":0,\"written_here\":2,\"balanced\":true,\"elapsed_ns\":2000000000,\"produced\":13,\"written\":10,\"lost\":3,\"samples\":20,\"bpf_ns\":10000000,\"bpf_runs\":10000,\"cpu_ns\":30000000,\"rss_bytes\":5000000,\"ring_fill_max_bytes\":65536,\"bytes_written\":123456,\"realtime_ns\":4000000,\"end_cpu_ns\":250000000},\"types\":[{\"name\":\"CpuSampleEvent\",\"events\":9,\"bytes\":425},{\"name\":\"SegmentMetadataEvent\",\"events\":1,\"bytes\":186},{\"name\":\"SymbolTableEntry\",\"events\":6,\"bytes\":182},{\"name\":\"TracepointSymbol\",\"events\":7,\"bytes\":142},{\"name\":\"ModuleEvent\",\"events\":3,\"bytes\":95},{\"name\":\"TaskEvent\",\"events\":2,\"bytes\":60},{\"name\":\"RecorderStats\",\"events\":1,\"bytes\":44},{\"name\":\"LostEvents\",\"events\":1,\"bytes\":25},{\"name\":\"sched:sched_switch\",\"events\":1,\"bytes\":21},{\"name\":\"ClockSyncEvent\",\"events\":1,\"bytes\":15},{\"name\":\"sched:sched_waking\",\"events\":1,\"bytes\":15}],\"modules\":[{\"path\":\"/lib/libc.so.6\",\"build_id\":\"2f6c69622f6c6962632e736f2e36\",\"addresses\":1,\"unnamed\":1,\"status\":null,\"detail\":null},{\"path\":\"/opt/app/bin/app\",\"build_id\":\"2f6f70742f6170702f62696e2f617070\",\"addresses\":3,\"unnamed\":0,\"status\":null,\"detail\":null},{\"path\":\"[kernel.kallsyms]\",\"build_id\":\"5b6b65726e656c2e6b616c6c73796d735d\",\"addresses\":1,\"unnamed\":0,\"status\":null,\"detail\":null}],\"workers\":{\"crashed\":0,\"hung\":0}}\n";
/* clang-format on */

static struct run run_app(const char *a, const char *b)
{
	struct make m;
	struct run r;

	setenv("TZ", "UTC0", 1);
	run_make_app(&m);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", a, b, NULL);
	make_fini(&m);
	return r;
}

Test(info, text_has_every_section)
{
	run_expect(run_app(NULL, NULL), 0, text, "");
}

Test(info, losses_are_coloured)
{
	struct run r = run_app("--color", NULL);

	run_expect_in(r.out,
		      "\n\033[1;33mlost            3 events dropped: ring buffer full (ring_full), "
		      "between 13.000005 and 13.000007\033[0m\n");
	cr_expect(strchr(r.out, '\033') && !strchr(strstr(r.out, "\033[0m") + 4, '\033'));
	run_free(&r);
}

Test(info, json_has_every_section)
{
	run_expect(run_app("--json", NULL), 0, json, "");
}

Test(info, schemas_and_modules_are_printed_on_request)
{
	struct run r = run_app("--schemas", "--modules");

	cr_assert(strstr(r.out,
			 "\n       3  [kernel.kallsyms]  5b6b65726e656c2e6b616c6c73796d735d\n"));
	cr_assert(strstr(r.out,
			 "\n  ModuleEvent  {module_id Varint, path PooledString, build_id Bytes, "
			 "kind U8}\n"));
	cr_assert(strstr(r.out, "thread_name PooledString?, callchain Stack"));
	run_free(&r);
}

Test(info, unbalanced_event_accounting_is_reported)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_figures(&m, 1, 100, 90, 9, true);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	cr_assert(strstr(r.out, "produced 100 = written 90 + lost 9  (DOES NOT ADD UP)\n"));
	run_free(&r);
	make_fini(&m);
}

static void make_cost(struct make *m, uint64_t ts, uint32_t pid, const char *comm,
		      const uint64_t ns[4])
{
	struct dial9_schema *s =
		MAKE_SCHEMA("RecorderCost", { "pid", DIAL9_U32 }, { "comm", DIAL9_POOLED_STRING },
			    { "copies_ns", DIAL9_VARINT }, { "lists_ns", DIAL9_VARINT },
			    { "tables_ns", DIAL9_VARINT }, { "symbols_ns", DIAL9_VARINT });

	dial9_enc_begin(m->enc, s, ts);
	dial9_enc_put_u64(m->enc, pid);
	make_str(m, comm);
	for (size_t i = 0; i < 4; i++)
		dial9_enc_put_u64(m->enc, ns[i]);
	make_end(m);
	dial9_schema_free(s);
}

/* The last event of a process counts, and three processes are shown. */
Test(info, most_expensive_processes_are_named)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_cost(&m, 1, 7, "cc1", (const uint64_t[]){ 0, 0, 47000000, 0 });
	make_cost(&m, 1, 8, "", (const uint64_t[]){ 10000, 3000000, 0, 0 });
	make_cost(&m, 1, 9, "cheap", (const uint64_t[]){ 2000000, 0, 0, 0 });
	make_cost(&m, 2, 10, "many\nmaps", (const uint64_t[]){ 1000000, 700000, 0, 100000 });
	make_cost(&m, 3, 10, "many\nmaps", (const uint64_t[]){ 20000000, 800000000, 0, 100000 });
	make_stats(&m, 4, 10, 0);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out,
		      "\nmost expensive  many\\x0amaps (PID 10) 820.1 ms: stack copies 20.0 ms, "
		      "mapping lists 800.0 ms, symbols 0.1 ms\n"
		      "                cc1 (PID 7) 47.0 ms: unwind tables 47.0 ms\n"
		      "                [unknown] (PID 8) 3.0 ms: mapping lists 3.0 ms\n\n");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, ",\"most_expensive\":[{\"pid\":10,\"comm\":\"many\\nmaps\","
			     "\"copies_ns\":20000000,\"lists_ns\":800000000,\"tables_ns\":0,"
			     "\"symbols_ns\":100000},{\"pid\":7,\"comm\":\"cc1\",");
	run_expect_in(r.out, "{\"pid\":8,\"comm\":null,");
	cr_expect_null(strstr(r.out, "cheap"));
	run_free(&r);
	make_fini(&m);
}

/* Its leader, or the thread with the lowest number, names a process that the recorder did not name. */
Test(info, expensive_processes_have_the_names_of_the_trace)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_cost(&m, 1, 7, "", (const uint64_t[]){ 0, 0, 47000000, 0 });
	make_cost(&m, 1, 8, "", (const uint64_t[]){ 0, 3000000, 0, 0 });
	make_task(&m, 2, 7, 6, "early");
	make_task(&m, 2, 7, 7, "leader");
	make_task(&m, 2, 8, 12, "second");
	make_task(&m, 2, 8, 11, "first");
	make_stats(&m, 4, 10, 0);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, "\nmost expensive  leader (PID 7) 47.0 ms: unwind tables 47.0 ms\n"
			     "                first (PID 8) 3.0 ms: mapping lists 3.0 ms\n\n");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, "{\"pid\":8,\"comm\":\"first\",");
	run_free(&r);
	make_fini(&m);
}

Test(info, truncated_tail_is_reported)
{
	const char *data;
	struct make m;
	struct run r;
	size_t sz;

	run_make_app(&m);
	data = dial9_enc_data(m.enc, &sz);
	r = run_cmd(cmd_info, make_fd(data, sz - 1), "info", "-", NULL);
	cr_assert_eq(r.code, 0);
	cr_assert(strstr(r.out, "the end is truncated"));
	run_free(&r);
	make_fini(&m);
}

Test(info, accounting_without_final_figures_is_incomplete)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_figures(&m, 1, 1314, 0, 1, false);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(
		r.out,
		"accounting      incomplete: the file ends before its last RecorderStats; so far produced 1,314, written 0, lost 1, in transit 1,313\n");
	cr_expect_null(strstr(r.out, "DOES NOT ADD UP"));
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, "\"accounting\":{\"verdict\":\"open\",");
	run_free(&r);
	make_fini(&m);
}

static struct run run_segments(const char *option, struct make *m, size_t cnt)
{
	struct buf all = { 0 };
	const char *data;
	struct run r;
	size_t sz;

	for (size_t i = 0; i < cnt; i++) {
		data = dial9_enc_data(m[i].enc, &sz);
		buf_add(&all, data, sz);
	}
	r = run_cmd(cmd_info, make_fd(all.data, all.len), "info", "-", option, NULL);
	for (size_t i = 0; i < cnt; i++)
		make_fini(&m[i]);
	buf_free(&all);
	return r;
}

Test(info, last_file_without_figures_does_not_use_figures_of_the_file_before)
{
	for (int events = 0; events < 2; events++) {
		struct make m[2];
		struct run r;

		run_make_segment(&m[0], 1000, 3, (const uint64_t[]){ 5, 3, 1, 2 });
		run_make_segment(&m[1], 2000, events, NULL);
		r = run_segments(NULL, m, 2);
		run_expect_in(
			r.out,
			"accounting      incomplete: the file ends before its last RecorderStats; so far produced 5, written 3, lost 1, in transit 1\n");
		if (events)
			run_expect_in(
				r.out,
				"written here    4, including those after the last RecorderStats\n");
		run_free(&r);
	}
}

Test(info, figures_of_one_of_several_files_cover_the_whole_recording)
{
	struct make m[2];
	struct run r;

	run_make_segment(&m[0], 1000, 2, (const uint64_t[]){ 11857, 11353, 0, 2 });
	r = run_segments(NULL, m, 1);
	run_expect_in(
		r.out,
		"accounting      complete, one of several files; from the start of the recording to the end of this file: produced 11,857, written 11,353, lost 0, in transit 504\nlost            nothing\nwritten here    2 of these 11,353: the event accounting covers the whole recording; the other events are in files that were not read\n");
	run_free(&r);
	run_make_segment(&m[0], 1000, 1, (const uint64_t[]){ 9, 8, 0, 2 });
	run_make_segment(&m[1], 2000, 1, (const uint64_t[]){ 10, 9, 1, 1 });
	r = run_segments(NULL, m, 2);
	run_expect_in(r.out, "accounting      produced 10 = written 9 + lost 1\n"
			     "lost            nothing\n"
			     "written here    2 of these 9: ");
	run_free(&r);
	run_make_segment(&m[0], 1000, 1, (const uint64_t[]){ 9, 7, 1, 2 });
	r = run_segments("--json", m, 1);
	run_expect_in(r.out, "{\"in_flight\":1,\"written_here\":1,\"balanced\":false");
	run_free(&r);
}

Test(info, pause_is_no_loss_and_is_printed_with_its_duration)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, 1, 0, "a", 11, 1, "b", 12);
	make_lost(&m, 1, "paused", 1, 1000000000, 1500000000);
	make_lost(&m, 1, "paused", 1, 3000000000, 3250000000);
	make_lost(&m, 1, "not_kept", 1, 4000000000, 4250000000);
	make_stats(&m, 1, 5, 0);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(
		r.out,
		"lost            nothing\npaused          2 time ranges on purpose, 0.750000 s in total, between "
		"1.000000 and 3.250000\nnot kept        1 time range between snapshots, 0.250000 s in total, "
		"between 4.000000 and 4.250000\n");
	run_free(&r);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-", NULL);
	run_expect_in(r.out, "# lost: nothing; 3 pauses\n");
	run_free(&r);
	make_fini(&m);
}

Test(info, dropped_stacks_are_reported_and_are_no_lost_events)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_switch(&m, 1, 0, "a", 11, 1, "b", 12);
	make_lost(&m, 1, "stacks_thinned", 1234, 1000000000, 1500000000);
	make_lost(&m, 1, "stacks_thinned", 1, 3000000000, 3250000000);
	make_stats(&m, 1, 5, 0);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(
		r.out,
		"lost            nothing\n"
		"dropped         1,235 stacks dropped while a ring buffer or the recorder's queue was nearly full; their events are recorded (stacks_thinned), between 1.000000 and 3.250000\n");
	run_free(&r);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-", NULL);
	run_expect_in(r.out, "# lost: nothing; 1,235 stacks dropped under load\n");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, "\"lost_events\":0,\"lost_samples\":0,");
	run_expect_in(r.out, "\"stacks_skipped\":1235}");
	run_free(&r);
	make_fini(&m);
}

Test(info, upper_bound_of_lost_events_is_printed_for_selected_events)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_lost(&m, 1, "nested_at_most", 21, 1000000000, 2000000000);
	make_lost(&m, 1, "sample_ring_full", 1, 1000000000, 2000000000);
	make_stats(&m, 1, 50, 21);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(
		r.out,
		"accounting      produced up to 50 = written 29 + lost up to 21\n"
		"lost            up to 21 events during the program of another event, if they were to be recorded (nested_at_most), between ");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, "\"lost_events\":21,");
	run_expect_in(r.out, ",\"lost_events_at_most\":21}");
	run_free(&r);
	make_switch(&m, 1, 0, "a", 11, 1, "b", 12);
	r = run_cmd(cmd_sched, make_file(&m), "sched", "latency", "-", NULL);
	run_expect_in(r.out, "# lost: up to 21 events and 1 sample (see");
	run_free(&r);
	make_fini(&m);
}

Test(info, side_band_records_are_not_events)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_lost(&m, 1, "sideband", 1687, 1000000000, 2000000000);
	make_lost(&m, 1, "sideband_stalled", 1, 1000000000, 3000000000);
	make_lost(&m, 1, "sideband_doubt", 12, 1000000000, 3000000000);
	make_stats(&m, 1, 5, 0);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(
		r.out,
		"lost            nothing\n"
		"metadata        1,687 records lost, 1 stall, 12 stacks uncertain; some process names may be missing or wrong\n"
		"                1,687 records dropped by the kernel (sideband), between "
		"1.000000 and 2.000000\n"
		"                1 stall of reading a CPU's records (sideband_stalled), "
		"between 1.000000 and 3.000000\n"
		"                12 stacks with mappings that may have changed "
		"(sideband_doubt), between 1.000000 and 3.000000\n");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(
		r.out,
		"\"accounting\":{\"verdict\":\"balanced\",\"lost_events\":0,"
		"\"lost_samples\":0,\"lost_sideband\":1687,\"sideband_stalls\":1,"
		"\"doubtful_stacks\":12,\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0}");
	run_free(&r);
	make_fini(&m);
}

/* Reported from a twentieth of the time on; the output in any case. */
static void expect_waits(const uint64_t values[3], const char *in_text, const char *in_json)
{
	const struct dial9_field fields[] = {
		{ "elapsed_ns", DIAL9_VARINT },
		{ "waited_ns", DIAL9_VARINT },
		{ "output_full_ns", DIAL9_VARINT },
	};
	struct dial9_schema *schema;
	struct make m;
	struct run r;
	size_t i;

	make_init(&m, NULL);
	cr_assert_eq(dial9_schema_new("RecorderStats", true, fields, 3, &schema), 0);
	dial9_enc_begin(m.enc, schema, 5);
	for (i = 0; i < 3; i++)
		dial9_enc_put_u64(m.enc, values[i]);
	make_end(&m);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, in_text);
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, in_json);
	run_free(&r);
	dial9_schema_free(schema);
	make_fini(&m);
}

Test(info, causes_of_a_late_recorder_are_printed)
{
	expect_waits((uint64_t[]){ 20000000000, 1000000000, 0 },
		     "of one CPU over 20.0 s; run-queue latency 1.0 s; memory",
		     ",\"waited_ns\":1000000000,\"output_full_ns\":0}");
	expect_waits((uint64_t[]){ 20000000000, 900000000, 2500000000 },
		     "of one CPU over 20.0 s; the output was too slow for 2.5 s; memory",
		     ",\"waited_ns\":900000000,\"output_full_ns\":2500000000}");
}

Test(info, unwinding_of_stacks_and_skipped_tables_are_printed)
{
	const struct dial9_field fields[] = {
		{ "elapsed_ns", DIAL9_VARINT },
		{ "unwind_tables", DIAL9_VARINT },
		{ "unwind_evicted", DIAL9_VARINT },
		{ "unwind_tables_left_out", DIAL9_VARINT },
		{ "unwind_bytes", DIAL9_VARINT },
		{ "unwind_lists", DIAL9_VARINT },
		{ "unwind_lists_left_out", DIAL9_VARINT },
		{ "unwind_modules_left_out", DIAL9_VARINT },
		{ "kernel_stacks_walked", DIAL9_VARINT },
		{ "kernel_stacks_helped", DIAL9_VARINT },
		{ "user_stacks_reused", DIAL9_VARINT },
		{ "stacks_compared", DIAL9_VARINT },
		{ "stacks_differing", DIAL9_VARINT },
	};
	const uint64_t values[] = { 1000000000, 53,    2,  3,	9600000, 1650, 1,
				    4,		99000, 12, 345, 6789,	 1 };
	struct dial9_schema *schema;
	struct make m;
	struct run r;
	size_t i;

	make_init(&m, NULL);
	cr_assert_eq(dial9_schema_new("RecorderStats", true, fields, 13, &schema), 0);
	dial9_enc_begin(m.enc, schema, 5);
	for (i = 0; i < 13; i++)
		dial9_enc_put_u64(m.enc, values[i]);
	make_end(&m);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(
		r.out,
		"unwinding       53 tables, 9.6 MB now, 2 removed, no space for 3 "
		"tables, no space for 1 list, no space for 4 modules; 1,650 mapping lists\nkernel stacks   99,000 walked, 12 from the kernel helper; 6,789 compared, "
		"1 different\n");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "--json", "-", NULL);
	run_expect_in(r.out, ",\"unwind_tables\":53,\"unwind_evicted\":2,"
			     "\"unwind_tables_left_out\":3,\"unwind_bytes\":9600000,"
			     "\"unwind_lists\":1650,\"unwind_lists_left_out\":1,"
			     "\"unwind_modules_left_out\":4,"
			     "\"kernel_stacks_walked\":99000,\"kernel_stacks_helped\":12,"
			     "\"user_stacks_reused\":345,\"stacks_compared\":6789,"
			     "\"stacks_differing\":1}");
	run_free(&r);
	dial9_schema_free(schema);
	make_fini(&m);
}

/* One address without a symbol in each module, and the recorded status of the module. */
static struct run run_statuses(const char *option, bool with_status, bool closed)
{
	static const char *const words[] = { "named",	     "stripped",  "gone",      "replaced",
					     "denied",	     "not_elf",	  "gave_up",   "crashed",
					     "hung",	     "no_answer", "pending",   "anonymous",
					     "no_map",	     "forgotten", "not_asked", "no_worker",
					     "map_not_read", "new" };
	struct make m;
	struct run r;
	char path[32];

	make_init(&m, NULL);
	for (uint32_t i = 0; i < 18; i++) {
		const uint64_t at = make_frame(i + 1, 0x10);

		snprintf(path, sizeof(path), "/lib/%s", words[i]);
		make_module(&m, 1, i + 1, path, i == 11 ? PROF_MODULE_ANON : PROF_MODULE_ELF);
		make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
		make_label(&m, 3, at, "[lib]");
		if (with_status && i < 17)
			make_status(&m, 3, i + 1, "pending", "");
		if (with_status)
			make_status(&m, 3, i + 1, words[i], i == 6 ? "2 s of CPU time" : "");
	}
	if (closed)
		make_stats(&m, 4, 0, 0);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", option, NULL);
	make_fini(&m);
	return r;
}

Test(info, unnamed_addresses_have_the_recorded_cause)
{
	static const char *const lines[] = {
		"/lib/named: no symbols at these addresses; debug symbols may have them",
		"/lib/stripped: the file has no symbols; install its debug symbols",
		"/lib/gone: the file was removed before it was read",
		"/lib/replaced: the file was replaced by another build",
		"/lib/denied: no permission to read the file",
		"/lib/not_elf: not an ELF file",
		"/lib/gave_up: reading its debug information reached a limit (2 s of CPU time)",
		"/lib/crashed: the symbol worker crashed on this file",
		"/lib/hung: the symbol worker hung on this file and was killed",
		"/lib/no_answer: opening the file never returned",
		"/lib/pending: the recording ended before its symbols were read",
		"/lib/anonymous: memory without a file",
		"/lib/no_map: generated code without a perf map (node: --perf-basic-prof; see dial9-prof-limits(7))",
		"/lib/forgotten: symbols dropped to stay below --mem-max",
		"/lib/not_asked: not looked up: too much code",
		"/lib/no_worker: no symbol worker was left to read the file",
		"/lib/map_not_read: the program exited before its perf map was opened",
		"/lib/new: new",
	};
	struct run r = run_statuses("--modules", true, true);
	char want[128];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(want, sizeof(want), "  1 of 1  %s\n", lines[i]);
		cr_expect(strstr(r.out, want), "no %sin %s", want, r.out);
	}
	run_expect_in(
		r.out,
		"symbol worker   crashed on 1 file, hung on 1 file; a new one read the other files\n");
	run_free(&r);
	r = run_statuses("--json", true, true);
	run_expect_in(r.out, "\"addresses\":1,\"unnamed\":1,\"status\":\"gave_up\",\"detail\":"
			     "\"2 s of CPU time\"}");
	cr_expect(strstr(r.out, "\"workers\":{\"crashed\":1,\"hung\":1}"));
	run_free(&r);
}

Test(info, module_properties_that_are_not_recorded_are_unknown)
{
	struct run r = run_statuses("--modules", false, false);

	run_expect_in(r.out, "/lib/named: unknown: not recorded\n");
	run_expect_in(r.out, "/lib/anonymous: memory without a file\n");
	cr_expect_null(strstr(r.out, "symbol worker"));
	run_free(&r);
	r = run_statuses("--modules", false, true);
	run_expect_in(r.out, "/lib/named: unknown: not recorded\n");
	run_free(&r);
}

Test(info, recordings_without_a_module_status_are_reported)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a", PROF_MODULE_ELF);
	make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	MAKE_NUMBERS(&m, 3, "RecorderStats", { "produced", 0 });
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, "/lib/a: unknown: recorded by an older version\n");
	run_free(&r);
	make_fini(&m);
}

Test(info, module_status_of_a_truncated_file_is_incomplete)
{
	const uint64_t at[] = { make_frame(1, 0x10), make_frame(2, 0x10), make_frame(3, 0x10) };
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a", PROF_MODULE_ELF);
	make_module(&m, 1, 2, "/lib/b", PROF_MODULE_ELF);
	make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, at, 3);
	make_status(&m, 3, 1, "stripped", "");
	make_figures(&m, 4, 1, 0, 0, false);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, "/lib/b: unknown: the file ends before the reason\n");
	run_expect_in(r.out, "  1 of 1  [unknown]: in no known mapping\n");
	run_free(&r);
	make_fini(&m);
}

/* Code generated at run time by several processes: a line for each cause, and one in the list of modules. */
Test(info, modules_with_the_same_name_share_a_line)
{
	struct make m;
	const char *at;
	struct run r;

	make_init(&m, NULL);
	for (uint32_t i = 1; i <= 3; i++) {
		const uint64_t frame = make_frame(i, 0x10);

		make_module(&m, 1, i, "[anon]", PROF_MODULE_ANON);
		make_sample(&m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &frame, 1);
		make_status(&m, 3, i, i == 2 ? "one" : "other", "");
	}
	r = run_cmd(cmd_info, make_file(&m), "info", "-", "--modules", NULL);
	run_expect_in(r.out, "  2 of 2  [anon]: other\n  1 of 1  [anon]: one\n");
	at = strstr(r.out, "\nModules:\n       1  [anon]  ");
	cr_assert(at, "%s", r.out);
	cr_expect_null(strstr(at, "\n       2  "), "%s", r.out);
	run_free(&r);
	make_fini(&m);
}

/* Modules 1 to cnt; the first has the most addresses without a symbol. */
static void make_unnamed(struct make *m, uint32_t cnt, const char *dir)
{
	uint64_t frames[32];
	char path[256];

	for (uint32_t i = 1; i <= cnt; i++) {
		for (uint32_t k = 0; k <= cnt - i; k++)
			frames[k] = make_frame(i, 0x10 * (k + 1));
		snprintf(path, sizeof(path), "%s/lib%u.so", dir, i);
		make_module(m, 1, i, path, PROF_MODULE_ELF);
		make_sample(m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, frames, cnt - i + 1);
	}
}

Test(info, worst_of_many_modules_without_names_are_listed)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_unnamed(&m, 12, "/usr/lib");
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, "module:\n  12 of 12  /usr/lib/lib1.so: unknown");
	run_expect_in(r.out, "  3 of 3  /usr/lib/lib10.so: unknown: not recorded\n"
			     "  and 2 more (--modules)\n");
	cr_expect_null(strstr(r.out, "lib11"));
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", "--modules", NULL);
	run_expect_in(r.out, "  1 of 1  /usr/lib/lib12.so: unknown");
	cr_expect_null(strstr(r.out, " more ("));
	run_free(&r);
	make_fini(&m);
}

Test(info, ten_modules_without_names_are_all_listed)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_unnamed(&m, 10, "/usr/lib");
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, "  1 of 1  /usr/lib/lib10.so: unknown");
	cr_expect_null(strstr(r.out, " more ("));
	run_free(&r);
	make_fini(&m);
}

Test(info, long_path_keeps_its_end)
{
	static const char dir[] = "/home/somebody/src/a-project-with-a-name/target/release/deps";
	char whole[128];
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_unnamed(&m, 1, dir);
	snprintf(whole, sizeof(whole), "  1 of 1  %s/lib1.so: ", dir);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", NULL);
	run_expect_in(r.out, "  1 of 1  …/target/release/deps/lib1.so: unknown");
	run_free(&r);
	r = run_cmd(cmd_info, make_file(&m), "info", "-", "--modules", NULL);
	run_expect_in(r.out, whole);
	run_free(&r);
	make_fini(&m);
}

/* Reasons of a snapshot; one has a thread that the trace announces. */
static struct run run_triggers(unsigned int cnt, const char *option)
{
	struct dial9_schema *s =
		MAKE_SCHEMA(PROF_EV_TRIGGER, { PROF_F_REASON, DIAL9_POOLED_STRING },
			    { PROF_F_EVENT, DIAL9_POOLED_STRING }, { PROF_F_PID, DIAL9_U32 },
			    { PROF_F_TID, DIAL9_U32 }, { PROF_F_DURATION_NS, DIAL9_VARINT },
			    { PROF_F_TOO_SOON, DIAL9_VARINT });
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1000, 10, 11, "pool");
	for (unsigned int i = 0; i < cnt; i++) {
		dial9_enc_begin(m.enc, s, 2000 + i);
		make_str(&m, i ? PROF_TRIGGER_END : PROF_TRIGGER_RUNQ);
		make_str(&m, "");
		dial9_enc_put_u64(m.enc, i ? 0 : 10);
		dial9_enc_put_u64(m.enc, i ? 0 : 11);
		dial9_enc_put_u64(m.enc, i ? 0 : 5000);
		dial9_enc_put_u64(m.enc, i ? 3 : 0);
		make_end(&m);
	}
	r = run_cmd(cmd_info, make_file(&m), "info", "-", option, NULL);
	dial9_schema_free(s);
	make_fini(&m);
	return r;
}

static void put_process(struct make *m, struct dial9_schema *s, uint64_t ts, uint32_t pid,
			const char *name, uint64_t cpu_ns, uint64_t pss, uint64_t peak)
{
	dial9_enc_begin(m->enc, s, ts);
	dial9_enc_put_u64(m->enc, pid);
	make_str(m, name);
	dial9_enc_put_u64(m->enc, cpu_ns);
	dial9_enc_put_u64(m->enc, pss);
	dial9_enc_put_u64(m->enc, peak);
	make_end(m);
}

/* Two processes; pid 8 is used a second time. */
static struct run run_processes(const char *option)
{
	struct dial9_schema *s =
		MAKE_SCHEMA(PROF_EV_RECORDER_PROCESS, { "pid", DIAL9_U32 },
			    { "name", DIAL9_POOLED_STRING }, { "cpu_ns", DIAL9_VARINT },
			    { "pss_bytes", DIAL9_VARINT }, { "peak_bytes", DIAL9_VARINT });
	struct make m;
	struct run r;

	make_init(&m, NULL);
	put_process(&m, s, 1000, 7, "dial9-prof", 1000000000, 50000000, 50000000);
	put_process(&m, s, 1000, 8, "d9-lines", 20000000, 9000000, 10000000);
	put_process(&m, s, 2000, 7, "dial9-prof", 1500000000, 40000000, 60000000);
	put_process(&m, s, 2000, 8, "d9-names\x1b", 10000000, 1000000, 2000000);
	MAKE_NUMBERS(&m, 3000, PROF_EV_STATS, { "elapsed_ns", 1000000000 });
	r = run_cmd(cmd_info, make_file(&m), "info", "-", option, NULL);
	dial9_schema_free(s);
	make_fini(&m);
	return r;
}

Test(info, each_process_of_the_recorder_has_a_row)
{
	struct run r = run_processes(NULL);

	run_expect_in(
		r.out,
		"\nprocesses       dial9-prof (7): CPU time 1.50 s, memory 40.0 MB, peak 60.0 MB\n"
		"                d9-lines (8): CPU time 0.02 s, memory 9.0 MB, peak 10.0 MB\n"
		"                d9-names\\x1b (8): CPU time 0.01 s, memory 1.0 MB, peak 2.0 MB\n");
	run_free(&r);
	r = run_processes("--json");
	run_expect_in(r.out, ",\"processes\":[{\"name\":\"dial9-prof\",\"pid\":7,"
			     "\"cpu_ns\":1500000000,\"pss_bytes\":40000000,"
			     "\"peak_bytes\":60000000,\"ts_ns\":2000},{\"name\":\"d9-lines\",");
	run_free(&r);
}

Test(info, triggers_are_printed_in_text_and_in_json)
{
	struct run r = run_triggers(2, NULL);

	run_expect_in(r.out, "\ntrigger         runq 5.000 us of thread 11 (pool) at 0.000002\n"
			     "                end at 0.000002\n"
			     "                3 ignored: too soon after a snapshot (--rearm)\n");
	run_free(&r);
	r = run_triggers(2, "--json");
	run_expect_in(r.out,
		      ",\"triggers\":{\"count\":2,\"too_soon\":3,\"first\":[{\"ts_ns\":2000,"
		      "\"reason\":\"runq\",\"duration_ns\":5000,\"tid\":11,"
		      "\"comm\":\"pool\"},{\"ts_ns\":2001,\"reason\":\"end\"}]},\"types\":[");
	run_free(&r);
	r = run_triggers(17, "--json");
	run_expect_in(r.out, ",\"triggers\":{\"count\":17,\"too_soon\":48,\"first\":[");
	run_expect_in(r.out, "{\"ts_ns\":2015,\"reason\":\"end\"}]},\"types\":[");
	run_free(&r);
	r = run_triggers(0, "--json");
	cr_expect_null(strstr(r.out, "triggers"), "%s", r.out);
	run_free(&r);
}
