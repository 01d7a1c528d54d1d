// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=capture_rings,--wrap=capture_sides,--wrap=capture_is_filled */
/* LINK: -Wl,--wrap=capture_set_kallsyms,--wrap=ring_merge_pass,--wrap=ring_merge_waits */
/* LINK: -Wl,--wrap=ring_merge_reached,--wrap=sym_client_step,--wrap=sym_client_identifying */
/* LINK: -Wl,--wrap=sym_client_wait,--wrap=kallsyms_thread_is_done */
/* LINK: -Wl,--wrap=kallsyms_thread_get,--wrap=kallsyms_thread_renew */
/* LINK: -Wl,--wrap=frames_set_kallsyms,--wrap=frames_receive_names,--wrap=unwind_loader_poll */
/* LINK: -Wl,--wrap=unwind_loader_step,--wrap=unwind_loader_be_patient */
/* LINK: -Wl,--wrap=unwind_loader_record,--wrap=trigger_check,--wrap=translate_record */
/* LINK: -Wl,--wrap=segments_is_full,--wrap=segments_have_room,--wrap=segments_note */
/* LINK: -Wl,--wrap=segments_step,--wrap=segments_flush,--wrap=tasks_expire */
/* LINK: -Wl,--wrap=cache_limit_enforce,--wrap=notify_step,--wrap=unwind_loader_be_idle */
/* LINK: -Wl,--wrap=unwind_loader_ended,--wrap=segments_check_output */
/* LINK: -Wl,--wrap=unwind_loader_side,--wrap=tasks_side,--wrap=frames_side,--wrap=status_side_lost */
/* LINK: -Wl,--wrap=tasks_work,--wrap=work_budget_charge_needed */
/* The order of the stages, and what stops a pass. The stages are stubs that record their calls. */
#include "record/pipeline.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "record/capture/capture.h"
#include "record/ring/ring_merge.h"
#include "record/control/cache_limit.h"
#include "record/control/notify.h"
#include "record/control/pause.h"
#include "record/control/trigger.h"
#include "record/encode/segments.h"
#include "record/encode/status.h"
#include "record/encode/translate.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"
#include "record/symbols/frames.h"
#include "record/symbols/kallsyms_thread.h"
#include "record/unwind_maps/unwind_loader.h"
#include "symbol/broker/sym_client.h"

enum { RECORDS = 4 }; /* of times 0 to 3, and these tids */

static struct buf stages;
static int at, full_at, records = RECORDS;
static unsigned int written;
static uint64_t write_ns; /* time that writing a record takes */
static bool waits, identifying, table_missing, has_room;
static const struct perf_side *sides; /* passed before the first record */
static size_t side_cnt;
static struct pause paused;
static bool idle; /* no stacks are taken */
static struct pipeline *p;

struct ring *__wrap_capture_rings(struct capture *c, size_t *cnt);
struct perf_ring **__wrap_capture_sides(struct capture *c, size_t *cnt);
bool __wrap_capture_is_filled(struct capture *c, size_t parts);
void __wrap_capture_set_kallsyms(struct capture *c, const struct kallsyms *kallsyms);
long __wrap_ring_merge_pass(struct ring_merge *m, uint64_t mark, size_t max,
			    const struct ring_merge_sink *sink);
bool __wrap_ring_merge_waits(const struct ring_merge *m);
uint64_t __wrap_ring_merge_reached(const struct ring_merge *m);
void __wrap_sym_client_step(struct sym_client *b);
bool __wrap_sym_client_identifying(const struct sym_client *b);
void __wrap_sym_client_wait(struct sym_client *b, uint64_t until_ns);
bool __wrap_kallsyms_thread_is_done(struct kallsyms_thread *t);
const struct kallsyms *__wrap_kallsyms_thread_get(struct kallsyms_thread *t);
void __wrap_kallsyms_thread_renew(struct kallsyms_thread *t, struct frames *f);
void __wrap_frames_set_kallsyms(struct frames *f, const struct kallsyms *k);
long __wrap_frames_receive_names(struct frames *f, size_t max);
uint64_t __wrap_unwind_loader_poll(struct unwind_loader *u);
void __wrap_unwind_loader_step(struct unwind_loader *u);
void __wrap_unwind_loader_be_patient(struct unwind_loader *u, bool patient);
const struct prof_rec *__wrap_unwind_loader_record(struct unwind_loader *u,
						   const struct prof_rec *rec, bool walk);
void __wrap_trigger_check(struct trigger *t, const struct prof_rec *rec);
int __wrap_translate_record(struct translate *t, const struct prof_rec *rec);
bool __wrap_segments_is_full(const struct segments *s);
bool __wrap_segments_have_room(const struct segments *s);
void __wrap_segments_note(struct segments *s, uint64_t ts);
int __wrap_segments_step(struct segments *s, uint64_t mark_ns);
int __wrap_segments_flush(struct segments *s);
int __wrap_segments_check_output(struct segments *s, uint64_t mark_ns);
void __wrap_tasks_expire(struct tasks *t, uint64_t before_ns);
void __wrap_cache_limit_enforce(struct cache_limit *m);
void __wrap_notify_step(struct notify *n, uint64_t now_ns, struct status *s);
void __wrap_unwind_loader_be_idle(struct unwind_loader *u, bool be_idle);
void __wrap_unwind_loader_side(struct unwind_loader *u, const struct perf_side *side);
void __wrap_unwind_loader_ended(struct unwind_loader *u, uint32_t pid);
void __wrap_tasks_side(struct tasks *t, const struct perf_side *side);
void __wrap_frames_side(struct frames *f, const struct perf_side *side);
int __wrap_status_side_lost(struct status *s, const struct perf_side *side);
struct work_budget *__wrap_tasks_work(struct tasks *t);
void __wrap_work_budget_charge_needed(struct work_budget *b, uint32_t pid, enum work_kind kind,
				      uint64_t began_ns);

struct ring *__wrap_capture_rings(struct capture *c, size_t *cnt)
{
	*cnt = 0;
	return NULL;
}

struct perf_ring **__wrap_capture_sides(struct capture *c, size_t *cnt)
{
	*cnt = 0;
	return NULL;
}

bool __wrap_capture_is_filled(struct capture *c, size_t parts)
{
	return false;
}

void __wrap_capture_set_kallsyms(struct capture *c, const struct kallsyms *kallsyms)
{
}

long __wrap_ring_merge_pass(struct ring_merge *m, uint64_t mark, size_t max,
			    const struct ring_merge_sink *sink)
{
	long n = 0;
	int err = 0;

	for (; side_cnt && !err; side_cnt--)
		err = sink->side(sink->ctx, sides++);
	for (waits = false; at < records && (uint64_t)at < mark && !err;
	     at += !waits, n += !waits) {
		const struct prof_rec rec = { .size = sizeof(rec), .ts = at, .tid = at };

		err = sink->record(sink->ctx, &rec);
		waits = err == RING_MERGE_LATER;
	}
	return err && !waits ? err : n;
}

bool __wrap_ring_merge_waits(const struct ring_merge *m)
{
	return waits;
}

uint64_t __wrap_ring_merge_reached(const struct ring_merge *m)
{
	return at ? at - 1 : 0;
}

void __wrap_sym_client_step(struct sym_client *b)
{
}

bool __wrap_sym_client_identifying(const struct sym_client *b)
{
	return identifying;
}

void __wrap_sym_client_wait(struct sym_client *b, uint64_t until_ns)
{
	identifying = false;
	table_missing = false;
}

bool __wrap_kallsyms_thread_is_done(struct kallsyms_thread *t)
{
	return true;
}

const struct kallsyms *__wrap_kallsyms_thread_get(struct kallsyms_thread *t)
{
	return NULL;
}

void __wrap_kallsyms_thread_renew(struct kallsyms_thread *t, struct frames *f)
{
}

void __wrap_frames_set_kallsyms(struct frames *f, const struct kallsyms *k)
{
}

long __wrap_frames_receive_names(struct frames *f, size_t max)
{
	return 0;
}

uint64_t __wrap_unwind_loader_poll(struct unwind_loader *u)
{
	return UINT64_MAX;
}

void __wrap_unwind_loader_step(struct unwind_loader *u)
{
}

void __wrap_unwind_loader_be_patient(struct unwind_loader *u, bool patient)
{
}

const struct prof_rec *__wrap_unwind_loader_record(struct unwind_loader *u,
						   const struct prof_rec *rec, bool walk)
{
	buf_printf(&stages, walk ? "walk%u " : "hold%u ", rec->tid);
	return walk && table_missing && rec->tid == 2 ? NULL : rec;
}

void __wrap_trigger_check(struct trigger *t, const struct prof_rec *rec)
{
	buf_printf(&stages, "trigger%u ", rec->tid);
}

int __wrap_translate_record(struct translate *t, const struct prof_rec *rec)
{
	const uint64_t start = clock_mono_ns();

	buf_printf(&stages, "write%u ", rec->tid);
	while (write_ns && clock_mono_ns() - start < write_ns)
		;
	written++;
	return 0;
}

bool __wrap_segments_is_full(const struct segments *s)
{
	return at == full_at;
}

bool __wrap_segments_have_room(const struct segments *s)
{
	return has_room;
}

void __wrap_segments_note(struct segments *s, uint64_t ts)
{
}

int __wrap_segments_step(struct segments *s, uint64_t mark_ns)
{
	buf_addstr(&stages, "segment ");
	full_at = -1;
	return 0;
}

int __wrap_segments_flush(struct segments *s)
{
	buf_addstr(&stages, "flush ");
	return 0;
}

int __wrap_segments_check_output(struct segments *s, uint64_t mark_ns)
{
	buf_addstr(&stages, "check ");
	return 0;
}

void __wrap_tasks_expire(struct tasks *t, uint64_t before_ns)
{
}

void __wrap_cache_limit_enforce(struct cache_limit *m)
{
}

void __wrap_notify_step(struct notify *n, uint64_t now_ns, struct status *s)
{
}

void __wrap_unwind_loader_be_idle(struct unwind_loader *u, bool be_idle)
{
	idle = be_idle;
}

void __wrap_unwind_loader_ended(struct unwind_loader *u, uint32_t pid)
{
	buf_printf(&stages, "drop%u ", pid);
}

void __wrap_unwind_loader_side(struct unwind_loader *u, const struct perf_side *side)
{
}

void __wrap_tasks_side(struct tasks *t, const struct perf_side *side)
{
	buf_printf(&stages, side->type == PERF_SIDE_FORK ? "start%u " : "end%u ", side->pid);
}

void __wrap_frames_side(struct frames *f, const struct perf_side *side)
{
}

int __wrap_status_side_lost(struct status *s, const struct perf_side *side)
{
	return 0;
}

struct work_budget *__wrap_tasks_work(struct tasks *t)
{
	return NULL;
}

void __wrap_work_budget_charge_needed(struct work_budget *b, uint32_t pid, enum work_kind kind,
				      uint64_t began_ns)
{
}

static void setup(void)
{
	char unwind;

	full_at = -1;
	has_room = true;
	/* started now, so that build-ids are waited for */
	p = pipeline_new(&(struct pipeline_cfg){ .unwind = (struct unwind_loader *)&unwind,
						 .queue_bytes = 1 << 20,
						 .pause = &paused,
						 .start_ns = clock_mono_ns() });
}

static void teardown(void)
{
	pipeline_free(p);
	buf_free(&stages);
}

static void expect_pass(uint64_t mark, const char *want)
{
	buf_clear(&stages);
	cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect_str_eq(buf_cstr(&stages), want);
}

TestSuite(pipeline, .init = setup, .fini = teardown);

Test(pipeline, record_passes_each_stage_once_in_order)
{
	expect_pass(2, "walk0 trigger0 write0 walk1 trigger1 write1 ");
	cr_expect(pipeline_is_drained(p));
}

Test(pipeline, records_are_held_until_files_are_identified)
{
	identifying = true;
	expect_pass(2, "hold0 hold1 ");
	cr_expect_not(pipeline_is_drained(p));
	identifying = false;
	expect_pass(3, "walk0 trigger0 write0 walk1 trigger1 write1 walk2 trigger2 write2 ");
	cr_expect(pipeline_is_drained(p));
}

/* Until then, a segment cannot end. */
Test(pipeline, output_is_asked_between_two_flushes_when_records_pass)
{
	identifying = true;
	expect_pass(2, "hold0 hold1 ");
	cr_assert_eq(pipeline_check_output(p, 2), 0);
	cr_expect_str_eq(buf_cstr(&stages), "hold0 hold1 ");
	identifying = false;
	expect_pass(2, "walk0 trigger0 write0 walk1 trigger1 write1 ");
	buf_clear(&stages);
	cr_assert_eq(pipeline_check_output(p, 2), 0);
	cr_expect_str_eq(buf_cstr(&stages), "check ");
}

/* While held records are written, the rings fill up: later records join the queue. */
Test(pipeline, held_records_are_written_between_reads_of_the_rings)
{
	uint64_t mark = 6000;

	identifying = true;
	records = 6000;
	cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect_eq(at, 6000);
	cr_expect_eq(written, 0);
	cr_expect_geq(pipeline_delayed(p), 6000 * sizeof(struct prof_rec) * 100 >> 20);
	identifying = false;
	records = 6100;
	write_ns = 10000;
	mark = 6100;
	cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect(written && written < 6000, "%u written", written);
	cr_expect_eq(at, 6100, "the rings were read");
	cr_expect_gt(pipeline_delayed(p), 0);
	while (pipeline_has_backlog(p))
		cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect_eq(written, 6100);
	cr_expect(strstr(buf_cstr(&stages), "write5999 walk6000 trigger6000 write6000 "));
	cr_expect(pipeline_is_drained(p));
	cr_expect_eq(pipeline_delayed(p), 0);
}

/* Only a helper process can end this. */
Test(pipeline, records_that_wait_for_a_table_are_not_delayed_by_the_recorder)
{
	uint64_t mark = 6000;

	table_missing = true;
	records = 6000;
	cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect_eq(at, 6000);
	cr_expect_not(pipeline_is_drained(p));
	cr_expect_eq(pipeline_delayed(p), 0);
}

Test(pipeline, records_after_a_record_without_its_table_stay_in_memory_in_order)
{
	uint64_t mark = 3;

	table_missing = true;
	expect_pass(3, "walk0 trigger0 write0 walk1 trigger1 write1 walk2 ");
	cr_expect_not(pipeline_is_drained(p));
	cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect_eq(mark, 2, "the first record that is not written");
	expect_pass(4, "walk2 hold3 ");
	cr_expect_eq(at, RECORDS, "none stays in its ring");
	table_missing = false;
	has_room = false;
	expect_pass(4, "");
	has_room = true;
	expect_pass(4, "walk2 trigger2 write2 walk3 trigger3 write3 ");
	cr_expect(pipeline_is_drained(p));
}

Test(pipeline, full_segment_ends_the_pass_and_the_next_segment_begins_at_once)
{
	full_at = 1;
	expect_pass(4, "walk0 trigger0 write0 ");
	cr_expect(pipeline_is_cut(p));
	buf_clear(&stages);
	cr_assert_eq(pipeline_flush(p, 1), 0);
	cr_expect_str_eq(buf_cstr(&stages), "segment ");
	cr_expect(pipeline_is_cut(p));
	expect_pass(4, "walk1 trigger1 write1 walk2 trigger2 write2 walk3 trigger3 write3 ");
	cr_expect_not(pipeline_is_cut(p));
}

Test(pipeline, records_stay_in_the_ring_if_the_output_has_no_room)
{
	uint64_t mark = 4;

	expect_pass(2, "walk0 trigger0 write0 walk1 trigger1 write1 ");
	has_room = false;
	buf_clear(&stages);
	cr_assert_eq(pipeline_pass(p, &mark, UINT64_MAX), 0);
	cr_expect_eq(stages.len, 0);
	cr_expect_eq(mark, 1, "the last record written");
	cr_expect(pipeline_is_blocked(p));
}

Test(pipeline, end_writes_waiting_records_with_or_without_room)
{
	uint64_t end;

	identifying = table_missing = true;
	has_room = false;
	cr_assert_eq(pipeline_finish(p, NULL, &end), 0);
	cr_expect(strstr(buf_cstr(&stages), "walk3 trigger3 write3 "));
	cr_expect_eq(at, RECORDS);
}

/* Two processes; the second one lives, and starts long after the first one. */
static void pass_births(void)
{
	static const struct perf_side births[] = {
		{ .type = PERF_SIDE_FORK, .time = 5, .pid = 20, .tid = 20, .ppid = 2, .name = "" },
		{ .type = PERF_SIDE_EXIT, .time = 7, .pid = 20, .tid = 20, .ppid = 2, .name = "" },
		{ .type = PERF_SIDE_FORK,
		  .time = 1 << 30,
		  .pid = 30,
		  .tid = 30,
		  .ppid = 2,
		  .name = "" },
	};

	sides = births;
	side_cnt = sizeof(births) / sizeof(births[0]);
}

Test(pipeline, processes_that_start_in_a_skipped_slice_are_applied_when_it_ends)
{
	paused = (struct pause){ .skips_slice = true, .since_ns = 4 };
	records = 0;
	pass_births();
	expect_pass(10, "drop20 ");
	cr_expect(idle);
	cr_expect_not(pipeline_has_backlog(p));
	paused = (struct pause){ .recording = true };
	cr_expect(pipeline_has_backlog(p), "programs record again");
	expect_pass(10, "start30 ");
	cr_expect_not(idle);
	cr_expect_not(pipeline_has_backlog(p));
	pass_births();
	expect_pass(10, "start20 end20 start30 ");
}

Test(pipeline, processes_that_start_in_a_skipped_slice_are_applied_before_a_record)
{
	paused = (struct pause){ .skips_slice = true, .since_ns = 4 };
	pass_births();
	expect_pass(1, "drop20 start30 walk0 trigger0 write0 ");
}

Test(pipeline, processes_that_started_before_a_skipped_slice_are_applied_at_once)
{
	paused = (struct pause){ .skips_slice = true, .since_ns = 6 };
	records = 0;
	pass_births();
	expect_pass(10, "start20 end20 ");
}
