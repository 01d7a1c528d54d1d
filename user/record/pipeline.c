// SPDX-License-Identifier: BSD-2-Clause
/*
 * pipeline.c - the path of a record from the rings to the segment
 *
 * Each record passes these stages once, by direct calls:
 *
 *	ring_merge	reads the rings in order of time
 *	segments	a full segment stops the pass: the record belongs to the next one
 *	unwind_loader	removes frames of replaced mappings, unwinds copied stacks
 *	record_queue	keeps records until the kernel's symbols and build-ids are known
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
#include "kernel/realtime.h"
#include "prof_abi.h"
#include "record/capture/capture.h"
#include "record/capture/ring_merge.h"
#include "record/control/memory.h"
#include "record/control/notify.h"
#include "record/control/trigger.h"
#include "record/encode/segments.h"
#include "record/encode/record_queue.h"
#include "record/encode/status.h"
#include "record/encode/translate.h"
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
	PATIENT_PART = 4, /* stacks wait for tables until a ring is filled by this part */
};

struct pipeline {
	struct pipeline_cfg cfg;
	struct ring_merge *merge;
	struct record_queue *queue; /* NULL: symbols are known, records pass */
	bool replaying; /* the startup queue's records */
	bool identified; /* build-ids are known, or took too long */
	bool finishing;
	bool blocked;
	bool cut;
	bool oversize; /* the last segment may exceed its limit */
};

struct pipeline *pipeline_new(const struct pipeline_cfg *cfg)
{
	struct pipeline *p = xcalloc(1, sizeof(*p));
	size_t side_cnt, ring_cnt;
	struct ring *rings = capture_rings(cfg->capture, &ring_cnt);
	struct perf_ring **sides = capture_sides(cfg->capture, &side_cnt);

	p->cfg = *cfg;
	p->merge = ring_merge_new(rings, ring_cnt, sides, side_cnt);
	p->queue = record_queue_new(cfg->queue_bytes);
	return p;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	record_queue_free(p->queue);
	ring_merge_free(p->merge);
	free(p);
}

/* ---- the stages --------------------------------------------------------------------------------- */

static bool is_held(const struct pipeline *p)
{
	return p->queue && !p->replaying;
}

static int on_record(void *ctx, const struct prof_rec *rec)
{
	struct pipeline *p = ctx;
	const bool held = is_held(p);

	if (!held && !p->oversize && segments_is_full(p->cfg.segments)) {
		p->cut = true;
		return RING_MERGE_LATER;
	}
	segments_note(p->cfg.segments, rec->ts);
	if (p->cfg.unwind)
		rec = unwind_loader_record(p->cfg.unwind, rec, !held);
	if (!rec)
		return RING_MERGE_LATER;
	if (held) {
		record_queue_add(p->queue, rec);
		return 0;
	}
	trigger_check(p->cfg.trigger, rec);
	return translate_record(p->cfg.translate, rec);
}

static int on_side(void *ctx, const struct perf_side *side)
{
	struct pipeline *p = ctx;
	struct perf_side early;
	uint64_t began;

	if (p->cfg.unwind)
		unwind_loader_side(p->cfg.unwind, side);
	if (is_held(p)) {
		early = *side;
		early.looked = true;
		record_queue_add_side(p->queue, &early);
		return 0;
	}
	began = clock_mono_ns();
	tasks_side(p->cfg.tasks, side);
	frames_side(p->cfg.frames, side);
	work_budget_charge_since(tasks_work(p->cfg.tasks), side->pid, WORK_LISTS, began);
	return status_side_lost(p->cfg.status, side);
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

/* Sends the records of the startup queue on. RING_MERGE_LATER: up to a record that has to wait. */
static int replay_startup(struct pipeline *p, const struct ring_merge_sink *sink)
{
	int err;

	if (!p->queue)
		return 0;
	frames_set_kallsyms(p->cfg.frames, kallsyms_thread_get(p->cfg.kallsyms));
	p->replaying = true;
	err = record_queue_release(p->queue, sink);
	p->replaying = false;
	if (err == RING_MERGE_LATER)
		return err;
	record_queue_free(p->queue);
	p->queue = NULL;
	return err;
}

/* ---- passes ------------------------------------------------------------------------------------- */

static bool has_room(const struct pipeline *p)
{
	if (p->queue && record_queue_is_full(p->queue))
		return false;
	return p->finishing || segments_have_room(p->cfg.segments);
}

/* What records refer to: symbols, unwind tables. Returns 0, -errno, or RING_MERGE_LATER. */
static long step_references(struct pipeline *p, const struct ring_merge_sink *sink)
{
	struct unwind_loader *unwind = p->cfg.unwind;
	long n;

	sym_client_step(p->cfg.broker);
	kallsyms_thread_renew(p->cfg.kallsyms, p->cfg.frames);
	n = has_room(p) ? frames_receive_names(p->cfg.frames, NAMES_MAX) : 0;
	if (unwind) {
		unwind_loader_poll(unwind);
		unwind_loader_step(unwind);
		unwind_loader_be_patient(unwind, !capture_is_filled(p->cfg.capture, PATIENT_PART));
	}
	if (p->queue && kallsyms_thread_is_done(p->cfg.kallsyms))
		capture_set_kallsyms(p->cfg.capture, kallsyms_thread_get(p->cfg.kallsyms));
	if (n < 0)
		return n;
	return is_prepared(p) ? replay_startup(p, sink) : 0;
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
		n = ring_merge_pass(p->merge, *mark, PASS_MAX, sink);
		now = clock_mono_ns();
		realtime_within_pass(p->cfg.realtime, now);
	} while (n == PASS_MAX && now < deadline && !ring_merge_waits(p->merge));
	if (n == PASS_MAX || ring_merge_waits(p->merge))
		*mark = ring_merge_reached(p->merge);
	return n < 0 ? n : 0;
}

int pipeline_pass(struct pipeline *p, uint64_t *mark, uint64_t deadline)
{
	const struct ring_merge_sink sink = { .record = on_record, .side = on_side, .ctx = p };
	long n;
	int err;

	p->cut = false;
	n = step_references(p, &sink);
	if (n < 0)
		return n;
	err = drain_rings(p, mark, deadline, &sink);
	if (err)
		return err;
	sym_client_step(p->cfg.broker);
	if (!p->queue)
		tasks_expire(p->cfg.tasks, *mark);
	memory_check(p->cfg.memory);
	return 0;
}

/* Held records are older than any mark: until they are written a segment cannot end. */
int pipeline_flush(struct pipeline *p, uint64_t mark)
{
	int err;

	if (!p->cut)
		return p->queue ? segments_flush(p->cfg.segments) :
				    segments_step(p->cfg.segments, mark);
	err = segments_step(p->cfg.segments, p->queue ? 0 : mark);
	/* the next segment may not be possible yet */
	p->cut = !segments_is_full(p->cfg.segments);
	return err;
}

bool pipeline_is_blocked(const struct pipeline *p)
{
	return p->blocked;
}

bool pipeline_is_cut(const struct pipeline *p)
{
	return p->cut;
}

bool pipeline_is_drained(const struct pipeline *p)
{
	return !p->queue && !p->blocked && !ring_merge_waits(p->merge);
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
	const bool queued = p->queue;
	uint64_t now, mark;
	int err;

	p->finishing = true;
	err = finish_preparing(p);
	*end_ns = mark = now = clock_mono_ns();
	err = err ? err : pipeline_pass(p, &mark, UINT64_MAX);
	while (!err && (p->queue || ring_merge_waits(p->merge))) {
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
	return err || !queued ? err : segments_step(p->cfg.segments, now);
}
