// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording in segments: each is a complete trace, and together they have every event once. The kernel side,
 * with its counters, is empty here.
 */
/* ALONE: capture_*() */
#include "record/encode/segments.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dial9.h"
#include "events/emit.h"
#include "kernel/realtime.h"
#include "prof_abi.h"
#include "record/capture/capture.h"
#include "record/control/cache_limit.h"
#include "record/encode/status.h"
#include "record/encode/translate.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/symbols/frames_impl.h"
#include "record/symbols/stacks.h"
#include "record/tracepoint/event.h"
#include "symbol/broker/sym_client.h"
#include "tests/record/support.h"

#define START 1000000000000ULL
#define TID NO_SUCH_TID
#define ADDR 0x401000

struct ring *capture_rings(struct capture *c, size_t *cnt)
{
	*cnt = 0;
	return NULL;
}

const struct capture_cfg *capture_config(const struct capture *c)
{
	static const struct capture_cfg none;

	return &none;
}

const char *capture_sampler(const struct capture *c)
{
	return NULL;
}

uint32_t capture_hz(const struct capture *c)
{
	return 0;
}

void capture_count(struct capture *c, struct capture_counts *out)
{
	*out = (struct capture_counts){ 0 };
}

size_t capture_cpu_cnt(const struct capture *c)
{
	return 0;
}

bool capture_lost(struct capture *c, size_t cpu, enum capture_loss kind, uint64_t *cnt,
		  uint64_t *first_ns, uint64_t *last_ns)
{
	return false;
}

/* ---- an output in memory --------------------------------------------------------------------------- */

enum { SEGMENTS_MAX = 32 };

static struct store {
	struct buf bytes;
	bool ended;
} store[SEGMENTS_MAX];
static size_t begun;
static enum segment_request request;
static int begin_err;

static int store_begin(void *ctx, void **segment)
{
	if (begin_err)
		return begin_err;
	cr_assert_lt(begun, SEGMENTS_MAX);
	*segment = &store[begun++];
	return 0;
}

static int store_write(void *segment, const void *data, size_t sz)
{
	struct store *s = segment;

	cr_assert(!s->ended);
	buf_add(&s->bytes, data, sz);
	return 0;
}

static int store_end(void *segment)
{
	((struct store *)segment)->ended = true;
	return 0;
}

static enum segment_request store_request(void *ctx, uint64_t now_ns, uint64_t bytes)
{
	return request;
}

static uint64_t segment_max = UINT64_MAX; /* bytes */

static uint64_t store_left(void *ctx, uint64_t bytes)
{
	return bytes < segment_max ? segment_max - bytes : 0;
}

/* ---- the encoder before it --------------------------------------------------------------------------- */

static struct rig rig;
static struct cache_limit memory;
static struct realtime realtime;
static struct status *status;
static struct segments *segments;
static struct sym_client *broker;
static uint16_t event;

static int head(void *ctx)
{
	return status_write_head(status, &(struct status_head){ .command_line = "dial9-prof",
								.target = "system",
								.events = &rig.events });
}

static void setup(void)
{
	const struct segments_cfg cfg = {
		.outlet = { .many = true,
			    .begin = store_begin,
			    .write = store_write,
			    .end = store_end,
			    .request = store_request,
			    .left = store_left,
			    .ends = true },
	};

	rig = (struct rig){ 0 };
	cr_assert_eq(segments_new(&cfg, &segments), 0);
	rig.enc = segments_enc(segments);
	rig.emit = segments_emit(segments);
	cr_assert_eq(sym_client_new(&(struct sym_client_cfg){ .no_dwarf = true }, &broker), 0);
	cr_assert_eq(frames_new(rig.emit, broker, true, &rig.frames), 0);
	frames_keep_names(rig.frames);
	rig.tasks = tasks_new(true);
	rig.stacks = stacks_new(rig.frames);
	rig.translate = translate_new(&(struct translate_cfg){
		.enc = rig.enc,
		.emit = rig.emit,
		.events = &rig.events,
		.tasks = rig.tasks,
		.stacks = rig.stacks,
		.frames = rig.frames,
	});
	event = rig_add(&rig, support_event_of("made", "\tfield:unsigned int seq;\toffset:8;\t"
						       "size:4;\tsigned:0;\n"));
	status = status_new(&(struct status_cfg){
		.translate = rig.translate,
		.emit = rig.emit,
		.tasks = rig.tasks,
		.enc = rig.enc,
		.realtime = &realtime,
		.memory_bytes = &memory.held,
		.forgotten = &memory.forgotten,
		.start_ns = START,
	});
	segments_serve(segments, &(struct segments_writers){
					 .translate = rig.translate,
					 .frames = rig.frames,
					 .status = status,
					 .head = head,
				 });
	cr_assert_eq(head(NULL), 0);
	rig_task(&rig, TID, TID, "made");
	rig_map(&rig, TID, 0x400000, 0x402000, 0, "/nowhere/made");
}

static void teardown(void)
{
	size_t i;

	status_free(status);
	translate_free(rig.translate);
	stacks_free(rig.stacks);
	frames_free(rig.frames);
	tasks_free(rig.tasks);
	sym_client_free(broker);
	cr_expect_eq(segments_close(segments), 0);
	for (i = 0; i < begun; i++) {
		cr_expect(store[i].ended);
		buf_free(&store[i].bytes);
	}
	for (i = 0; i < rig.events.cnt; i++)
		event_def_free(rig.events.defs[i]);
	free(rig.events.defs);
}

TestSuite(segments, .init = setup, .fini = teardown, .timeout = 60);

static void record(uint32_t seq)
{
	const uint32_t raw[] = { 0, TID, seq };
	const uint64_t stack[] = { ADDR };
	struct prof_rec *rec = support_rec(&(struct rec_parts){
		.event = event,
		.flags = PROF_REC_STACKS,
		.ts = START + 1000 + seq,
		.pid = TID,
		.tid = TID,
		.raw = raw,
		.raw_len = sizeof(raw),
		.ustack = stack,
		.ustack_cnt = 1,
	});

	cr_assert_eq(translate_record(rig.translate, rec), 0);
	free(rec);
}

static void step(enum segment_request now, uint64_t seq)
{
	request = now;
	cr_assert_eq(segments_step(segments, START + 1000 + seq), 0);
}

/* Events of one name in a segment, and the value of a field of the last of them. */
static size_t count(size_t segment, const char *name, const char *field, uint64_t *last)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts),
				       .data = store[segment].bytes.data,
				       .data_sz = store[segment].bytes.len };
	struct dial9_frame f;
	struct dial9_dec *dec;
	uint64_t ts = 0;
	size_t n = 0;
	int got;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((got = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		cr_expect_geq(f.event.ts, ts, "in order of time");
		ts = f.event.ts;
		if (strcmp(dial9_schema_name(f.event.schema), name))
			continue;
		n++;
		if (field)
			*last = f.event.values[dial9_schema_find(f.event.schema, field)].u64;
	}
	cr_expect_eq(got, 0, "segment %zu does not decode: %d", segment, got);
	dial9_dec_free(dec);
	return n;
}

static size_t has(size_t segment, const char *name)
{
	return count(segment, name, NULL, NULL);
}

Test(segments, each_segment_is_a_complete_trace)
{
	static const char *const names[] = { PROF_EV_METADATA,	PROF_EV_CLOCK_SYNC, PROF_EV_TASK,
					     PROF_EV_MODULE,	PROF_EV_PROC_MAPS,  "made:made",
					     PROF_EV_CPU_SAMPLE };
	size_t i, k;

	for (i = 0; i < 3; i++) {
		record(i);
		step(SEGMENT_OPS_NEXT, i);
	}
	record(3);
	step(SEGMENT_OPS_GO_ON, 3);
	cr_assert_eq(begun, 4);
	for (i = 0; i < 4; i++)
		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			cr_expect_geq(has(i, names[k]), 1, "%s in %zu", names[k], i);
}

Test(segments, every_event_is_in_exactly_one_segment)
{
	uint32_t seq = 0;
	size_t i, sum = 0, n;
	uint64_t last = 0;

	for (i = 0; i < 20; i++) {
		for (n = 0; n < i; n++)
			record(seq++);
		step(i % 3 == 1 ? SEGMENT_OPS_NEXT : SEGMENT_OPS_GO_ON, seq);
	}
	cr_assert_eq(begun, 8);
	for (i = 0; i < begun; i++) {
		n = count(i, "made:made", "seq", &last);
		sum += n;
		if (n)
			cr_expect_eq(last + 1, sum, "segment %zu", i);
	}
	cr_expect_eq(sum, seq);
}

Test(segments, segment_ends_on_request_only)
{
	record(0);
	step(SEGMENT_OPS_GO_ON, 0);
	step(SEGMENT_OPS_STOP, 0);
	cr_expect_eq(begun, 1);
	cr_expect(segments_is_over(segments));
}

/* At a high rate, megabytes are written between two flushes. */
Test(segments, requests_of_the_output_do_not_wait_for_a_flush)
{
	size_t flushed;

	step(SEGMENT_OPS_GO_ON, 0);
	flushed = store[0].bytes.len;
	record(0);
	request = SEGMENT_OPS_GO_ON;
	cr_assert_eq(segments_check_output(segments, START), 0);
	cr_expect_eq(store[0].bytes.len, flushed, "that is no flush");
	request = SEGMENT_OPS_NEXT;
	cr_assert_eq(segments_check_output(segments, START + 1000), 0);
	cr_expect_eq(begun, 2);
	cr_expect_eq(has(0, "made:made"), 1);
	request = SEGMENT_OPS_STOP;
	cr_assert_eq(segments_check_output(segments, START + 1000), 0);
	cr_expect(segments_is_over(segments));
}

enum { OWN_BYTES = 32 << 10, LARGE = 64 << 10 };

Test(segments, segment_is_full_when_it_has_its_maximum_size)
{
	uint32_t seq = 0;

	segment_max = LARGE;
	step(SEGMENT_OPS_GO_ON, 0);
	while (!segments_is_full(segments))
		record(seq++);
	step(SEGMENT_OPS_GO_ON, seq);
	cr_expect_leq(store[0].bytes.len, LARGE);
	cr_expect_geq(store[0].bytes.len, LARGE - 1000);
	cr_expect(segments_is_full(segments));
	step(SEGMENT_OPS_NEXT, seq);
	cr_expect(!segments_is_full(segments));
	cr_expect_eq(begun, 2);
}

/* However small: otherwise each record would begin another segment. */
Test(segments, segment_contains_records_after_its_header)
{
	uint32_t seq = 0;

	segment_max = 1;
	step(SEGMENT_OPS_NEXT, 0);
	cr_expect_eq(begun, 2);
	while (!segments_is_full(segments))
		record(seq++);
	step(SEGMENT_OPS_GO_ON, seq);
	cr_expect_geq(store[1].bytes.len, OWN_BYTES);
	cr_expect_leq(store[1].bytes.len, 2 * OWN_BYTES);
}

Test(segments, space_is_reserved_for_pending_symbols)
{
	const uint64_t other = ADDR + 16;
	uint64_t before;

	record(0);
	step(SEGMENT_OPS_GO_ON, 0);
	before = frames_pending_bytes(rig.frames);
	frames_add_to_segment(rig.frames, other);
	cr_expect_gt(frames_pending_bytes(rig.frames), before + 50);
	cr_assert_eq(frames_write_name(rig.frames, &(struct emit_symbol){ .addr = other,
									  .name = "f",
									  .name_len = 1 }),
		     0);
	cr_expect_eq(frames_pending_bytes(rig.frames), before);
}

static uint64_t end_field(size_t segment, const char *field)
{
	uint64_t value = 0;

	cr_expect_eq(count(segment, PROF_EV_SEGMENT_END, field, &value), 1);
	return value;
}

Test(segments, last_event_of_a_segment_has_its_time_range)
{
	const struct store *s = &store[0];
	uint64_t mark;

	record(5);
	segments_note(segments, START + 1005);
	segments_note(segments, START + 900);
	segments_note(segments, START + 1000);
	step(SEGMENT_OPS_GO_ON, 5);
	cr_expect_eq(has(0, PROF_EV_SEGMENT_END), 0, "more may come");
	step(SEGMENT_OPS_NEXT, 5);
	record(6);
	segments_note(segments, START + 1006);
	step(SEGMENT_OPS_GO_ON, 6);
	cr_expect_eq(end_field(0, PROF_F_FIRST_NS), START + 900);
	cr_expect_geq(end_field(0, PROF_F_LAST_NS), START + 1005);
	cr_expect_lt(end_field(0, PROF_F_BYTES_BEFORE), s->bytes.len - PROF_SEGMENT_END_SIZE);
	cr_expect_geq(end_field(0, PROF_F_BYTES_BEFORE), s->bytes.len - PROF_SEGMENT_END_MAX);
	memcpy(&mark, s->bytes.data + s->bytes.len - 8, 8);
	cr_expect_eq(mark, PROF_SEGMENT_END_MARK);
	cr_expect_eq(has(1, PROF_EV_SEGMENT_END), 0);
	cr_assert_eq(segments_finish(segments), 0);
	cr_expect_eq(end_field(1, PROF_F_LAST_NS), START + 1006);
}

Test(segments, segment_ends_with_figures_and_the_wall_clock)
{
	record(0);
	step(SEGMENT_OPS_GO_ON, 0);
	cr_expect_eq(has(0, PROF_EV_STATS), 0);
	step(SEGMENT_OPS_NEXT, 0);
	cr_expect_eq(has(0, PROF_EV_STATS), 1);
	cr_expect_eq(has(0, PROF_EV_CLOCK_SYNC), 2);
}

Test(segments, failed_begin_of_a_segment_ends_the_recording)
{
	record(0);
	begin_err = -ENOSPC;
	request = SEGMENT_OPS_NEXT;
	cr_expect_eq(segments_step(segments, START), -ENOSPC);
	begin_err = 0;
	cr_expect_eq(has(0, "made:made"), 1);
}

/* ---- names ------------------------------------------------------------------------------------------- */

static uint64_t frame(void)
{
	return frames_user(rig.frames, tasks_process(rig.tasks, TID), ADDR);
}

static void name(uint64_t addr, uint32_t depth, const char *text)
{
	const struct emit_symbol sym = {
		.addr = addr,
		.base = addr,
		.depth = depth,
		.name = text,
		.name_len = strlen(text),
	};

	cr_assert_eq(frames_write_name(rig.frames, &sym), 0);
}

Test(segments, symbol_is_written_to_segments_that_have_the_frame)
{
	uint64_t addr;

	record(0);
	addr = frame();
	request = SEGMENT_OPS_NEXT;
	name(addr, 0, "outer");
	name(addr, 1, "inlined");
	step(SEGMENT_OPS_NEXT, 0);
	cr_expect_eq(has(0, PROF_EV_SYMBOL), 2);
	step(SEGMENT_OPS_NEXT, 0);
	cr_expect_eq(has(1, PROF_EV_SYMBOL), 0, "nobody was there");
	record(1);
	step(SEGMENT_OPS_NEXT, 1);
	cr_expect_eq(has(2, PROF_EV_SYMBOL), 2);
}

Test(segments, unresolved_frame_has_a_label_in_each_segment)
{
	record(0);
	step(SEGMENT_OPS_NEXT, 0);
	record(1);
	step(SEGMENT_OPS_NEXT, 1);
	step(SEGMENT_OPS_GO_ON, 1);
	cr_expect(store[0].ended && store[1].ended, "nobody said that names may come");
	cr_expect_eq(has(0, PROF_EV_SYMBOL), 1);
	cr_expect_eq(has(1, PROF_EV_SYMBOL), 1);
}

Test(segments, late_symbol_is_written_to_the_waiting_segment)
{
	struct emit *next = NULL;
	uint64_t addr;

	record(0);
	addr = frame();
	cr_assert_eq(emit_new(segments_enc(segments), false, &next), 0);
	/* like segments while they wait */
	frames_next_segment(rig.frames, next);
	name(addr, 0, "late");
	cr_assert_eq(frames_seal(rig.frames), 0);
	cr_assert_eq(segments_flush(segments), 0);
	cr_expect_eq(has(0, PROF_EV_SYMBOL), 1, "the name, and no label");
	cr_expect_eq(frame(), addr);
	cr_assert_eq(segments_flush(segments), 0);
	cr_expect_eq(has(0, PROF_EV_SYMBOL), 2, "the next one had it when it was met");
	emit_free(next);
}
