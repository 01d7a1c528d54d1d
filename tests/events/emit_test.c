// SPDX-License-Identifier: BSD-2-Clause
/* The recorder's own events, as a reader of the bytes sees them. */
#include "events/emit.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/record/support.h"

TestSuite(emit, .timeout = 60);

Test(emit, module_status_has_a_name_and_a_text_for_people)
{
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_module_status(rig.emit, 5, 7, PROF_STATUS_GAVE_UP, "2 s of CPU time"), 0);
	cr_expect_eq(emit_module_status(rig.emit, 6, 7, PROF_STATUS_NAMED, NULL), 0);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "5 ModuleStatus module_id=7 status=\"gave_up\" "
			 "detail=\"2 s of CPU time\"\n"
			 "6 ModuleStatus module_id=7 status=\"named\" detail=\"\"\n");
	rig_fini(&rig);
}

/* Field names and their order are those that prof_events.h lists. */
Test(emit, sample_has_all_its_numbers)
{
	const uint64_t frames[] = { 0x1234, 0x8000010000000042 };
	struct emit_sample sample = {
		.ts = 100,
		.tid = 12,
		.pid = 11,
		.cpu = 3,
		.source = PROF_SOURCE_SWITCH_OUT,
		.thread_name = "worker",
		.frames = frames,
		.frame_cnt = 2,
		.flags = PROF_SAMPLE_KERNEL_TRUNCATED,
		.user_end = PROF_END_NO_MAPPING | PROF_USER_FRAME_POINTERS,
	};
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_sample(rig.emit, &sample), 0);
	sample.thread_name = NULL;
	cr_expect_eq(emit_sample(rig.emit, &sample), 0);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "100 CpuSampleEvent worker_id=255 tid=12 source=1 thread_name=\"worker\" "
			 "callchain=1234,8000010000000042 cpu=3 pid=11 flags=2 user_end=68\n"
			 "100 CpuSampleEvent worker_id=255 tid=12 source=1 thread_name=none "
			 "callchain=1234,8000010000000042 cpu=3 pid=11 flags=2 user_end=68\n");
	rig_fini(&rig);
}

Test(emit, sample_may_have_no_cpu)
{
	const uint64_t frames[] = { 0x1234 };
	struct emit_sample sample = {
		.ts = 100, .tid = 12, .pid = 11, .no_cpu = true, .frames = frames, .frame_cnt = 1
	};
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_sample(rig.emit, &sample), 0);
	sample.thread_name = "worker";
	cr_expect_eq(emit_sample(rig.emit, &sample), 0);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "100 CpuSampleEvent worker_id=255 tid=12 source=0 thread_name=none "
			 "callchain=1234 cpu=none pid=11 flags=0 user_end=0\n"
			 "100 CpuSampleEvent worker_id=255 tid=12 source=0 thread_name=\"worker\" "
			 "callchain=1234 cpu=none pid=11 flags=0 user_end=0\n");
	rig_fini(&rig);
}

/* With the maximum of each field, one sample after the other, at increasing and decreasing times. */
Test(emit, sample_without_a_name_is_written_as_sample_with_a_name)
{
	const uint64_t frames[] = { UINT64_MAX, 1, 0x8000010000000042 };
	const uint64_t times[] = { 100, 101, 50, 1ull << 40, (1ull << 40) + 7 };
	struct emit_sample sample = {
		.tid = UINT32_MAX,
		.pid = UINT32_MAX,
		.cpu = UINT32_MAX,
		.source = UINT8_MAX,
		.frames = frames,
		.flags = UINT8_MAX,
		.user_end = UINT8_MAX,
	};
	struct rig named, bare;
	char *text, *at;
	size_t i;

	rig_init(&named);
	rig_init(&bare);
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		sample.ts = times[i];
		sample.frame_cnt = i % 4;
		sample.thread_name = "none";
		cr_assert_eq(emit_sample(named.emit, &sample), 0);
		sample.thread_name = NULL;
		cr_assert_eq(emit_sample(bare.emit, &sample), 0);
	}
	text = xstrdup(rig_text(&named, ""));
	while ((at = strchr(text, '"')))
		memmove(at, at + 1, strlen(at));
	cr_expect_str_eq(rig_text(&bare, ""), text);
	free(text);
	rig_fini(&named);
	rig_fini(&bare);
}

/* ---- pooled stacks ------------------------------------------------------------------------------- */

/* @cnt samples at level 0.4. Their stacks repeat after @distinct, and have up to @longest frames. */
struct run {
	size_t cnt, distinct, longest;
	struct dial9_enc *enc;
	uint64_t *want; /* frames of one stack */
	struct emit_stack_id *ids; /* of the distinct stacks; may be NULL */
	size_t pooled; /* results: samples with a stack id */
	uint64_t stacks, addresses; /* and size of the pool */
};

/* Of sample @i, in r->want. Two stacks with equal numbers of frames differ in all of them. */
static size_t make_stack(const struct run *r, size_t i)
{
	const size_t number = i % r->distinct, cnt = r->longest - number % 5;

	for (size_t k = 0; k < cnt; k++)
		r->want[k] = (uint64_t)number << 32 | k;
	return cnt;
}

static void write_samples(const struct run *r)
{
	struct emit *emit;

	cr_assert_eq(emit_new(r->enc, true, &emit), 0);
	for (size_t i = 0; i < r->cnt; i++) {
		const struct emit_sample sample = {
			.ts = i,
			.tid = (uint32_t)i,
			.frame_cnt = make_stack(r, i),
			.frames = r->want,
			.stack_id = r->ids ? &r->ids[i % r->distinct] : NULL,
			.cpu = 3,
			.user_end = PROF_END_NO_MAPPING,
		};

		cr_assert_eq(emit_sample(emit, &sample), 0);
	}
	emit_free(emit);
}

static void check_sample(struct run *r, const struct dial9_dec *dec, const struct dial9_event *ev,
			 size_t i)
{
	const size_t cnt = make_stack(r, i);
	const uint8_t *raw;
	uint32_t got;

	cr_assert_eq(ev->ts, i);
	cr_assert_eq(ev->values[1].u64, i);
	cr_assert_eq(dial9_value_stack(dec, &ev->values[4], &raw, &got), 0);
	cr_assert_eq(got, cnt);
	for (uint32_t k = 0; k < got; k++)
		cr_assert_eq(dial9_frame_at(raw, k), r->want[k]);
	cr_assert_eq(ev->values[5].u64, 3);
	cr_assert_eq(ev->values[8].u64, PROF_END_NO_MAPPING);
	r->pooled += ev->values[4].type == DIAL9_POOLED_STACK;
}

static void check_samples(struct run *r)
{
	struct dial9_dec_opts d = { .sz = sizeof(d) };
	struct dial9_frame frame;
	struct dial9_dec *dec;
	const uint8_t *raw;
	uint32_t id, cnt;
	size_t i = 0;

	d.data = dial9_enc_data(r->enc, &d.data_sz);
	cr_assert_eq(dial9_dec_new(&d, &dec), 0);
	while (dial9_dec_next(dec, &frame) == 1) {
		if (frame.kind == DIAL9_FRAME_EVENT)
			check_sample(r, dec, &frame.event, i++);
		while (frame.kind == DIAL9_FRAME_STACKS &&
		       dial9_stacks_next(&frame.pool.iter, &id, &raw, &cnt) > 0) {
			r->stacks++;
			r->addresses += cnt;
		}
	}
	cr_assert_eq(i, r->cnt);
	dial9_dec_free(dec);
}

static void run_samples(struct run *r)
{
	const struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };

	cr_assert_eq(dial9_enc_new(&o, &r->enc), 0);
	r->want = xcalloc(r->longest + 1, sizeof(*r->want));
	write_samples(r);
	check_samples(r);
	free(r->want);
	dial9_enc_free(r->enc);
}

Test(emit, at_level_04_each_stack_is_written_once)
{
	struct run r = { .cnt = 10000, .distinct = 300, .longest = 20 };

	run_samples(&r);
	cr_expect_eq(r.pooled, r.cnt);
	cr_expect_eq(r.stacks, r.distinct);
}

Test(emit, stack_with_a_known_id_is_written_by_it_alone)
{
	struct emit_stack_id ids[300] = { 0 };
	struct run r = { .cnt = 10000, .distinct = 300, .longest = 20, .ids = ids };

	run_samples(&r);
	cr_expect_eq(r.pooled, r.cnt);
	cr_expect_eq(r.stacks, r.distinct);
	for (size_t i = 0; i < r.distinct; i++)
		cr_expect(ids[i].known && ids[i].id == i);
}

/* 64 MiB, and the excess of one stack */
Test(emit, readers_need_memory_for_64_MiB_of_stacks_at_most)
{
	struct run r = { .cnt = 120, .distinct = 110, .longest = 100000 };

	run_samples(&r);
	cr_expect_eq(r.stacks, r.pooled);
	cr_expect_lt(r.pooled, r.distinct);
	cr_expect_geq(r.addresses * 8, 64 << 20);
	cr_expect_lt(r.addresses * 8, (64 << 20) + r.longest * 8);
}

Test(emit, tasks_modules_and_mappings_have_all_their_fields)
{
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_task(rig.emit, 10,
			       &(struct own_task){ .pid = 1,
						   .tid = 2,
						   .ppid = 3,
						   .comm = own_text("name"),
						   .exe = own_text("/exe"),
						   .cgroup = own_text("/cg"),
						   .followed = 1 }),
		     0);
	cr_expect_eq(emit_module(rig.emit, 20, 7, "/lib/x", (const uint8_t *)"\xab\xcd", 2,
				 PROF_MODULE_VDSO),
		     0);
	cr_expect_eq(emit_map(rig.emit, 30, &(struct own_map){ 1, 0x1000, 0x3000, 0x200, 7 }), 0);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "10 TaskEvent pid=1 tid=2 ppid=3 comm=\"name\" exe=\"/exe\" "
			 "cgroup=\"/cg\"\n"
			 "20 ModuleEvent module_id=7 path=\"/lib/x\" build_id=<abcd> kind=4\n"
			 "30 ProcMapsEntry pid=1 start=4096 end=12288 offset=512 module_id=7\n");
	rig_fini(&rig);
}

Test(emit, tasks_have_a_followed_field_on_request)
{
	struct own_task task = {
		.pid = 1, .tid = 2, .ppid = 3, .comm = own_text("a"), .followed = 1
	};
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_include_followed(rig.emit), 0);
	cr_expect_eq(emit_task(rig.emit, 10, &task), 0);
	task.followed = 0;
	cr_expect_eq(emit_task(rig.emit, 11, &task), 0);
	cr_expect_str_eq(
		rig_text(&rig, ""),
		"10 TaskEvent pid=1 tid=2 ppid=3 comm=\"a\" exe=\"\" cgroup=\"\" followed=1\n"
		"11 TaskEvent pid=1 tid=2 ppid=3 comm=\"a\" exe=\"\" cgroup=\"\" followed=0\n");
	rig_fini(&rig);
}

/* A symbol has no time of its own, so it takes the time of the event before. */
Test(emit, symbol_takes_the_time_of_the_event_before_it)
{
	const struct emit_symbol symbol = { .addr = 0x10000000042,
					    .size = 16,
					    .name = "main and more",
					    .name_len = 4,
					    .depth = 1,
					    .file = "main.c or more",
					    .file_len = 6,
					    .line = 77,
					    .base = 0x10000000040 };
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_clock_sync(rig.emit, 500, 1700000000000000000), 0);
	cr_expect_eq(emit_symbol(rig.emit, &symbol), 0);
	cr_expect_eq(emit_symbol(rig.emit, &(struct emit_symbol){ .addr = 1, .file_len = 9 }), 0);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "500 ClockSyncEvent realtime_ns=1700000000000000000\n"
			 "500 SymbolTableEntry addr=1099511627842 size=16 symbol_name=\"main\" "
			 "inline_depth=1 source_file=\"main.c\" source_line=77 "
			 "base_addr=1099511627840\n"
			 "500 SymbolTableEntry addr=1 size=0 symbol_name=\"\" inline_depth=0 "
			 "source_file=\"\" source_line=0 base_addr=0\n");
	rig_fini(&rig);
}

static const char with_all_fields[] =
	"10 TracepointSymbol event=\"a:b\" field=\"state\" kind=4 value=6 "
	"name=\",\"\n"
	"20 LostEvents cpu=4294967295 kind=\"nested\" count=5 first_ns=11 "
	"last_ns=19\n"
	"30 RecorderStats elapsed_ns=1 produced=2 written=3 lost=4 samples=5 "
	"bpf_ns=6 bpf_runs=7 cpu_ns=8 rss_bytes=9 ring_fill_max_bytes=10 "
	"bytes_written=11 bpf_switch_ns=12 bpf_wakeup_ns=13 bpf_tracepoint_ns=14 "
	"bpf_sample_ns=15 closed=1 realtime_ns=17 end_cpu_ns=18 memory_bytes=19 "
	"forgotten=20 unwind_tables=21 unwind_evicted=22 unwind_tables_left_out=23 "
	"unwind_bytes=24 unwind_lists=25 unwind_lists_left_out=26 "
	"unwind_modules_left_out=27 kernel_stacks_walked=28 kernel_stacks_helped=29 "
	"user_stacks_reused=30 stacks_compared=31 stacks_differing=32 waited_ns=33 output_full_ns=34 "
	"helper_cpu_ns=35 helper_bytes=36 helpers=37";

Test(emit, loss_figures_and_tracepoint_symbols_have_all_their_fields)
{
	const struct own_stats stats = {
		.elapsed_ns = 1,
		.produced = 2,
		.written = 3,
		.lost = 4,
		.samples = 5,
		.bpf_ns = 6,
		.bpf_runs = 7,
		.cpu_ns = 8,
		.rss_bytes = 9,
		.ring_fill_max_bytes = 10,
		.bytes_written = 11,
		.bpf_switch_ns = 12,
		.bpf_wakeup_ns = 13,
		.bpf_tracepoint_ns = 14,
		.bpf_sample_ns = 15,
		.closed = true,
		.realtime_ns = 17,
		.end_cpu_ns = 18,
		.memory_bytes = 19,
		.forgotten = 20,
		.unwind_tables = 21,
		.unwind_evicted = 22,
		.unwind_tables_left_out = 23,
		.unwind_bytes = 24,
		.unwind_lists = 25,
		.unwind_lists_left_out = 26,
		.unwind_modules_left_out = 27,
		.kernel_stacks_walked = 28,
		.kernel_stacks_helped = 29,
		.user_stacks_reused = 30,
		.stacks_compared = 31,
		.stacks_differing = 32,
		.waited_ns = 33,
		.output_full_ns = 34,
		.helper_cpu_ns = 35,
		.helper_bytes = 36,
		.helpers = 37,
	};
	const char *text;
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_tp_symbol(rig.emit, 10, "a:b", "state", PROF_TP_DELIM, 6, ","), 0);
	cr_expect_eq(emit_lost(rig.emit, 20, PROF_LOST_ANY_CPU, PROF_LOST_NESTED, 5, 11, 19), 0);
	cr_expect_eq(emit_stats(rig.emit, 30, &stats), 0);
	text = rig_text(&rig, "");
	/* newer counters follow */
	cr_expect(!strncmp(text, with_all_fields, sizeof(with_all_fields) - 1), "%s", text);
	rig_fini(&rig);
}

Test(emit, invalid_utf8_is_escaped)
{
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_task(rig.emit, 1,
			       &(struct own_task){ .comm = own_text("a\xff"),
						   .exe = own_text("\xc3\xa9") }),
		     0);
	cr_expect_str_eq(rig_text(&rig, ""), "1 TaskEvent pid=0 tid=0 ppid=0 comm=\"a\\xff\" "
					     "exe=\"\xc3\xa9\" cgroup=\"\"\n");
	rig_fini(&rig);
}
