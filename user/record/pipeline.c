// SPDX-License-Identifier: BSD-2-Clause
/*
 * pipeline.c - the path of a record from the rings to the segment
 *
 * Each record passes these stages once, by direct calls:
 *
 *	ring_merge	reads the rings in order of time
 *	segments	a full segment stops the pass: the record belongs to the next one
 *	unwind_loader	removes frames of replaced mappings, unwinds copied stacks
 *	record_queue	keeps records until the kernel's symbols and build-ids are known, and later all records from
 *			the first copied stack on that waits for an unwind table
 *	birth_queue	keeps metadata records of processes that start in a skipped time slice
 *	trigger		starts snapshots of the flight recorder
 *	translate	encodes the record as an event of the segment
 *
 * A pass ends with pipeline_flush(): segments give their bytes to segment_ops, and from there to the writer
 * thread. A stage that cannot take a record yet returns RING_MERGE_LATER: the record stays in its ring.
 */
#include "record/pipeline.h"

#include <stdlib.h>

#include "base/alloc.h"
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
#include "record/encode/record_queue.h"
#include "record/encode/status.h"
#include "record/encode/translate.h"
#include "record/process/birth_queue.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"
#include "record/symbols/frames.h"
#include "record/symbols/kallsyms_thread.h"
#include "record/unwind_maps/unwind_loader.h"
#include "symbol/broker/sym_client.h"

#define MS_NS 1000000ULL

enum {
	PASS_MAX = 4096, /* records between two reads of the clock */
	NAMES_MAX = 4096,
	IDENTIFY_MS = 500, /* the longest wait for build-ids */
	NAMES_STEP_MS = 50,
	TABLES_STEP_MS = 5,
	REPLAY_MS = 5, /* of the queue per pass: the rings fill up during that time */
};

struct pipeline {
	struct pipeline_cfg cfg;
	struct ring_merge *merge;
	struct record_queue *queue; /* if it has records, later ones go there, too */
	struct birth_queue *births; /* NULL: no time slices are skipped */
	bool started; /* symbols are known, records pass */
	bool held; /* records go to the queue */
	bool replaying; /* the queue's records */
	bool backlog; /* the queue has records that need not wait */
	bool skipped; /* the last pass was within a skipped time slice */
	bool identified; /* build-ids are known, or took too long */
	bool finishing;
	bool blocked;
	bool cut;
	bool oversize; /* the last segment may exceed its limit */
};

/* Only the programs know the process. */
static void on_dropped_birth(void *ctx, uint32_t pid)
{
	const struct pipeline *p = ctx;

	if (p->cfg.unwind)
		unwind_loader_ended(p->cfg.unwind, pid);
}

struct pipeline *pipeline_new(const struct pipeline_cfg *cfg)
{
	struct pipeline *p = xcalloc(1, sizeof(*p));
	size_t side_cnt, ring_cnt;
	struct ring *rings = capture_rings(cfg->capture, &ring_cnt);
	struct perf_ring **sides = capture_sides(cfg->capture, &side_cnt);

	p->cfg = *cfg;
	p->merge = ring_merge_new(rings, ring_cnt, sides, side_cnt);
	p->queue = record_queue_new(cfg->queue_bytes);
	p->births = cfg->pause ? birth_queue_new(on_dropped_birth, p) : NULL;
	return p;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	birth_queue_free(p->births);
	record_queue_free(p->queue);
	ring_merge_free(p->merge);
	free(p);
}

/* ---- the stages --------------------------------------------------------------------------------- */

static bool is_holding(const struct pipeline *p)
{
	return !p->started || record_queue_time(p->queue) != UINT64_MAX;
}

/* Applies a metadata record. 0 or -errno. */
static int apply_side(void *ctx, const struct perf_side *side)
{
	struct pipeline *p = ctx;
	uint64_t began;

	if (p->cfg.unwind)
		unwind_loader_side(p->cfg.unwind, side);
	began = clock_mono_ns();
	tasks_side(p->cfg.tasks, side);
	frames_side(p->cfg.frames, side);
	work_budget_charge_needed(tasks_work(p->cfg.tasks), side->pid, WORK_LISTS, began);
	return status_side_lost(p->cfg.status, side);
}

static bool skips_slice(const struct pipeline *p)
{
	return p->births && p->cfg.pause->skips_slice && !p->finishing;
}

static int release_births(struct pipeline *p)
{
	if (!p->births || birth_queue_is_empty(p->births))
		return 0;
	return birth_queue_release(p->births, apply_side, p);
}

static int on_record(void *ctx, const struct prof_rec *rec)
{
	struct pipeline *p = ctx;
	const struct prof_rec *ready;
	int err;

	if (!p->held && !p->oversize && segments_is_full(p->cfg.segments)) {
		p->cut = true;
		return RING_MERGE_LATER;
	}
	err = release_births(p);
	if (err)
		return err;
	segments_note(p->cfg.segments, rec->ts);
	ready = p->cfg.unwind ? unwind_loader_record(p->cfg.unwind, rec, !p->held) : rec;
	if (!ready && p->replaying)
		return RING_MERGE_LATER;
	if (p->held || !ready) {
		p->held = true;
		record_queue_add(p->queue, ready ? ready : rec);
		return 0;
	}
	trigger_check(p->cfg.trigger, ready);
	return translate_record(p->cfg.translate, ready);
}

static int on_side(void *ctx, const struct perf_side *side)
{
	struct pipeline *p = ctx;
	enum birth_queue_answer answer = BIRTH_QUEUE_RELEASE;
	struct perf_side early;
	int err = 0;

	if (p->held) {
		if (p->cfg.unwind)
			unwind_loader_side(p->cfg.unwind, side);
		early = *side;
		early.looked = true;
		record_queue_add_side(p->queue, &early);
		return 0;
	}
	if (skips_slice(p) && side->time >= p->cfg.pause->since_ns)
		answer = birth_queue_add(p->births, side);
	if (answer == BIRTH_QUEUE_HELD)
		return 0;
	if (answer == BIRTH_QUEUE_RELEASE)
		err = release_births(p);
	return err ? err : apply_side(p, side);
}

/* ---- the start ---------------------------------------------------------------------------------- */

/* Whether the kernel's symbols and the build-ids of mapped files are known. Build-ids are not waited for long. */
static bool is_prepared(struct pipeline *p)
{
	if (!sym_client_identifying(p->cfg.broker) ||
	    clock_mono_ns() - p->cfg.start_ns > IDENTIFY_MS * MS_NS)
		p->identified = true;
	return p->identified && kallsyms_thread_is_done(p->cfg.kallsyms);
}

static void start_if_prepared(struct pipeline *p)
{
	if (p->started || !is_prepared(p))
		return;
	frames_set_kallsyms(p->cfg.frames, kallsyms_thread_get(p->cfg.kallsyms));
	p->started = true;
}

/* Sends the records of the queue on, up to a record that has to wait. 0 or -errno. */
static int replay(struct pipeline *p, uint64_t deadline, const struct ring_merge_sink *sink)
{
	uint64_t now = clock_mono_ns();
	long n;

	if (!p->finishing && deadline > now + REPLAY_MS * MS_NS)
		deadline = now + REPLAY_MS * MS_NS;

	p->replaying = true;
	p->held = false;
	do {
		n = record_queue_release(p->queue, PASS_MAX, sink);
		now = clock_mono_ns();
	} while (n == PASS_MAX && now < deadline);
	p->replaying = false;
	p->backlog = n == PASS_MAX;
	return n < 0 ? n : 0;
}

/* ---- passes ------------------------------------------------------------------------------------- */

static bool may_write(const struct pipeline *p)
{
	return p->finishing || segments_have_room(p->cfg.segments);
}

static bool has_room(const struct pipeline *p)
{
	return !record_queue_is_full(p->queue) && may_write(p);
}

/* What records refer to: symbols, unwind tables. 0 or -errno. */
static int step_references(struct pipeline *p)
{
	struct unwind_loader *unwind = p->cfg.unwind;
	long n;

	sym_client_step(p->cfg.broker);
	kallsyms_thread_renew(p->cfg.kallsyms, p->cfg.frames);
	n = has_room(p) ? frames_receive_names(p->cfg.frames, NAMES_MAX) : 0;
	if (unwind) {
		unwind_loader_poll(unwind);
		unwind_loader_step(unwind);
		unwind_loader_be_patient(unwind, !record_queue_is_crowded(p->queue));
	}
	if (!p->started && kallsyms_thread_is_done(p->cfg.kallsyms))
		capture_set_kallsyms(p->cfg.capture, kallsyms_thread_get(p->cfg.kallsyms));
	start_if_prepared(p);
	return n < 0 ? n : 0;
}

static int drain_rings(struct pipeline *p, uint64_t *mark, uint64_t deadline,
		       const struct ring_merge_sink *sink)
{
	uint64_t now;
	long n;

	do {
		/* what has no room stays in the rings, where losses are counted */
		p->blocked = !has_room(p);
		if (p->blocked) {
			*mark = ring_merge_reached(p->merge);
			return 0;
		}
		p->held = is_holding(p);
		n = ring_merge_pass(p->merge, *mark, PASS_MAX, sink);
		now = clock_mono_ns();
	} while (n == PASS_MAX && now < deadline && !ring_merge_waits(p->merge));
	if (n == PASS_MAX || ring_merge_waits(p->merge))
		*mark = ring_merge_reached(p->merge);
	return n < 0 ? n : 0;
}

/* What the queue holds is not written yet. */
static void limit_mark(const struct pipeline *p, uint64_t *mark)
{
	const uint64_t first = record_queue_time(p->queue);

	if (p->started && first && first < *mark)
		*mark = first;
}

int pipeline_pass(struct pipeline *p, uint64_t *mark, uint64_t deadline)
{
	const struct ring_merge_sink sink = { .record = on_record, .side = on_side, .ctx = p };
	int err;

	p->cut = p->backlog = false;
	p->skipped = skips_slice(p);
	if (p->cfg.unwind)
		unwind_loader_be_idle(p->cfg.unwind, p->skipped);
	err = p->skipped ? 0 : release_births(p);
	if (!err)
		err = step_references(p);
	if (!err && p->started && may_write(p))
		err = replay(p, deadline, &sink);
	if (!err)
		err = drain_rings(p, mark, deadline, &sink);
	if (err)
		return err;
	limit_mark(p, mark);
	sym_client_step(p->cfg.broker);
	if (p->started)
		tasks_expire(p->cfg.tasks, *mark);
	cache_limit_enforce(p->cfg.memory);
	return 0;
}

/* Records of the start are older than any mark: until they are written a segment cannot end. */
int pipeline_flush(struct pipeline *p, uint64_t mark)
{
	int err;

	if (!p->cut)
		return p->started ? segments_step(p->cfg.segments, mark) :
				    segments_flush(p->cfg.segments);
	err = segments_step(p->cfg.segments, p->started ? mark : 0);
	/* the next segment may not be possible yet */
	p->cut = !segments_is_full(p->cfg.segments);
	return err;
}

int pipeline_check_output(struct pipeline *p, uint64_t mark)
{
	return p->started ? segments_check_output(p->cfg.segments, mark) : 0;
}

bool pipeline_is_blocked(const struct pipeline *p)
{
	return p->blocked;
}

bool pipeline_is_cut(const struct pipeline *p)
{
	return p->cut;
}

bool pipeline_has_backlog(const struct pipeline *p)
{
	return p->backlog || (p->skipped && !skips_slice(p));
}

unsigned int pipeline_delayed(const struct pipeline *p)
{
	return !p->started || p->backlog ? record_queue_fill(p->queue) : 0;
}

bool pipeline_is_drained(const struct pipeline *p)
{
	return !is_holding(p) && !p->blocked && !ring_merge_waits(p->merge);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static int finish_preparing(struct pipeline *p)
{
	long n = 0;

	kallsyms_thread_get(p->cfg.kallsyms);
	while (n >= 0 && !is_prepared(p)) {
		sym_client_wait(p->cfg.broker, clock_mono_ns() + NAMES_STEP_MS * MS_NS);
		n = frames_receive_names(p->cfg.frames, NAMES_MAX);
	}
	return n < 0 ? n : 0;
}

int pipeline_finish(struct pipeline *p, struct notify *notify, uint64_t *end_ns)
{
	const bool holding = is_holding(p);
	uint64_t now, mark;
	int err;

	p->finishing = true;
	err = finish_preparing(p);
	*end_ns = mark = now = clock_mono_ns();
	err = err ? err : pipeline_pass(p, &mark, UINT64_MAX);
	while (!err && (is_holding(p) || ring_merge_waits(p->merge))) {
		if (p->cut) {
			err = pipeline_flush(p, mark);
			p->oversize = !p->cut;
		} else {
			sym_client_wait(p->cfg.broker, clock_mono_ns() + TABLES_STEP_MS * MS_NS);
		}
		mark = now;
		err = err ? err : pipeline_pass(p, &mark, UINT64_MAX);
		notify_step(notify, clock_mono_ns(), NULL);
	}
	/* a segment that was due while records were held */
	return err || !holding ? err : segments_step(p->cfg.segments, now);
}
