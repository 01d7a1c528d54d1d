// SPDX-License-Identifier: BSD-2-Clause
/* The schemas of own events are a file format: names, order, types, units and kinds are pinned here. */
#include "events/own_events.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "base/buf.h"
#include "dial9.h"
#include "events/emit.h"

TestSuite(own_events, .timeout = 60);

/* As version 1.0 wrote them, in the form of `info --schemas`. A new field is added after the others here too. */
static const struct {
	const char *name, *fields;
} pinned[] = {
	{ "CpuSampleEvent",
	  "worker_id Varint, tid U32 (tid), source U8, thread_name PooledString?, "
	  "callchain Stack (addr), cpu Varint? (cpu), pid U32 (pid), flags U8, user_end U8" },
	{ "TaskEvent", "pid U32 (pid), tid U32 (tid), ppid U32 (pid), comm PooledString, "
		       "exe PooledString, cgroup PooledString, followed U8" },
	{ "ModuleEvent", "module_id Varint, path PooledString, build_id Bytes, kind U8" },
	{ "ModuleStatus", "module_id Varint, status PooledString, detail PooledString" },
	{ "ProcMapsEntry",
	  "pid U32 (pid), start Varint (addr), end Varint (addr), offset Varint (bytes), "
	  "module_id Varint" },
	{ "SymbolTableEntry", "addr Varint (addr), size Varint (bytes), symbol_name PooledString, "
			      "inline_depth Varint, source_file PooledString, source_line Varint, "
			      "base_addr Varint (addr)" },
	{ "ClockSyncEvent", "realtime_ns Varint (ns)" },
	{ "SegmentMetadataEvent", "entries StringMap" },
	{ "TracepointSymbol",
	  "event PooledString, field PooledString, kind U8, value Varint, name PooledString" },
	{ "LostEvents", "cpu U32 (cpu), kind PooledString, count Varint, first_ns Varint (ns), "
			"last_ns Varint (ns)" },
	{ "RecorderStats",
	  "elapsed_ns Varint (counter, ns), produced Varint (counter), "
	  "written Varint (counter), lost Varint (counter), samples Varint (counter), "
	  "bpf_ns Varint (counter, ns), bpf_runs Varint (counter), "
	  "cpu_ns Varint (counter, ns), rss_bytes Varint (gauge, bytes), "
	  "ring_fill_max_bytes Varint (gauge, bytes), "
	  "bytes_written Varint (counter, bytes), bpf_switch_ns Varint (counter, ns), "
	  "bpf_wakeup_ns Varint (counter, ns), bpf_tracepoint_ns Varint (counter, ns), "
	  "bpf_sample_ns Varint (counter, ns), closed Varint, "
	  "realtime_ns Varint (counter, ns), end_cpu_ns Varint (counter, ns), "
	  "memory_bytes Varint (gauge, bytes), forgotten Varint (counter), "
	  "unwind_tables Varint (counter), unwind_evicted Varint (counter), "
	  "unwind_tables_left_out Varint (counter), unwind_bytes Varint (gauge, bytes), "
	  "unwind_lists Varint (counter), unwind_lists_left_out Varint (counter), "
	  "unwind_modules_left_out Varint (counter), "
	  "kernel_stacks_walked Varint (counter), kernel_stacks_helped Varint (counter), "
	  "user_stacks_reused Varint (counter), stacks_compared Varint (counter), "
	  "stacks_differing Varint (counter), waited_ns Varint (counter, ns), "
	  "output_full_ns Varint (counter, ns), helper_cpu_ns Varint (counter, ns), "
	  "helper_bytes Varint (gauge, bytes), helpers Varint (gauge)" },
	{ "RecorderCost", "pid U32 (pid), comm PooledString, copies_ns Varint (counter, ns), "
			  "lists_ns Varint (counter, ns), tables_ns Varint (counter, ns), "
			  "symbols_ns Varint (counter, ns)" },
	{ "SchedSummary",
	  "pid U32 (pid), comm PooledString, kind U8, count Varint, sum_ns Varint (ns), "
	  "max_ns Varint (ns), period_ns Varint (ns), involuntary Varint, unknown Varint, "
	  "log2_ns StringMap" },
	{ "Trigger", "reason PooledString, event PooledString, pid U32 (pid), tid U32 (tid), "
		     "duration_ns Varint (ns), too_soon Varint" },
	{ "ThinningEvent", "one_in Varint, stacks Bool, overhead_ppm Varint" },
	{ "RecorderProcess", "pid U32 (pid), name PooledString, cpu_ns Varint (counter, ns), "
			     "pss_bytes Varint (gauge, bytes), peak_bytes Varint (gauge, bytes)" },
	{ "SegmentEnd", "first_ns I64 (ns), last_ns I64 (ns), bytes_before I64 (bytes), mark I64" },
	{ "MergedPart", "dial9:part Varint, clock Varint, shift_ns I64" },
};

static void add_field(struct buf *out, const struct dial9_schema *s, size_t i)
{
	const struct dial9_str field = dial9_schema_field_name_n(s, i);
	const struct field_note note = own_event_note(dial9_schema_name_n(s), field);

	buf_printf(out, "%s%.*s %s", i ? ", " : "", (int)field.len, field.ptr,
		   dial9_type_name(dial9_schema_field_type(s, i)));
	if (note.kind || note.unit)
		buf_printf(out, " (%s%s%s)", note.kind ? note.kind : "",
			   note.kind && note.unit ? ", " : "", note.unit ? note.unit : "");
}

Test(own_events, schemas_never_change)
{
	struct dial9_schema *const *schemas;
	struct dial9_enc *enc;
	struct emit *emit;
	struct buf text = { 0 };
	size_t cnt;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(emit_new(enc, false, &emit), 0);
	cr_assert_eq(emit_include_followed(emit), 0);
	schemas = emit_schemas(emit, &cnt);
	cr_assert_eq(cnt, sizeof(pinned) / sizeof(pinned[0]));
	for (size_t i = 0; i < cnt; i++) {
		buf_clear(&text);
		for (size_t f = 0; f < dial9_schema_field_cnt(schemas[i]); f++)
			add_field(&text, schemas[i], f);
		cr_expect_str_eq(dial9_schema_name(schemas[i]), pinned[i].name);
		cr_expect_str_eq(buf_cstr(&text), pinned[i].fields);
		cr_expect(dial9_schema_has_timestamp(schemas[i]), "%s", pinned[i].name);
	}
	buf_free(&text);
	emit_free(emit);
	dial9_enc_free(enc);
}

/* Differences by the options of a recording. */
Test(own_events, schemas_have_followed_and_pooled_stacks_on_request)
{
	struct dial9_schema *const *schemas;
	struct dial9_enc *enc;
	struct emit *emit;
	size_t cnt;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(emit_new(enc, true, &emit), 0);
	schemas = emit_schemas(emit, &cnt);
	cr_expect_eq(dial9_schema_field_cnt(schemas[OWN_TASK]), own_event(OWN_TASK)->cnt - 1);
	cr_expect_eq(dial9_schema_find(schemas[OWN_TASK], "followed"), -ENOENT);
	cr_expect_eq(dial9_schema_field_type(schemas[OWN_SAMPLE], 4), DIAL9_POOLED_STACK);
	emit_free(emit);
	dial9_enc_free(enc);
}

Test(own_events, events_and_notes_are_found_by_name)
{
	cr_expect_eq(own_event_find(own_text("TaskEvent")), own_event(OWN_TASK));
	cr_expect_eq(own_event_find(own_text("RecorderStats")), own_event(OWN_STATS));
	cr_expect_null(own_event_find(own_text("TaskEvents")));
	cr_expect_null(own_event_find(own_text("")));
	cr_expect_str_eq(own_event_note(own_text("LostEvents"), own_text("last_ns")).unit, "ns");
	cr_expect_null(own_event_note(own_text("LostEvents"), own_text("pid")).kind);
	cr_expect_null(own_event_note(own_text("Other"), own_text("last_ns")).unit);
	cr_expect_str_eq(own_event_note(own_text("a:b"), own_text("common_pid")).kind, "tid");
	cr_expect_null(own_event_note(own_text("ab"), own_text("common_pid")).kind);
	cr_expect_str_eq(own_event_note(own_text("dial9:off_cpu"), own_text("off_ns")).unit, "ns");
}
