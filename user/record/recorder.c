// SPDX-License-Identifier: BSD-2-Clause
/*
 * recorder.c - a recording from start to end: prepare, start, record, finish
 *
 * One thread drains, on a timer: a wakeup for each record would cost the recorded programs many times what the
 * record does. At low rates the timer is slow, since a ring that fills up wakes the thread. Each pass takes the
 * records older than a few milliseconds, writes them in order of time and adds symbols that were found. The file is
 * complete up to the last flush, some passes ago at most: few large writes cost less than many small ones.
 *
 * recorder_setup.c makes the parts, pipeline.c is the path of a record.
 */
#include "record/recorder.h"

#include <errno.h>

#include "base/clock.h"
#include "kernel/realtime.h"
#include "record/capture/capture.h"
#include "record/capture/capture_cpus.h"
#include "record/control/drain_timer.h"
#include "record/control/load_shedding.h"
#include "record/control/notify.h"
#include "record/control/trigger_window.h"
#include "record/encode/kernel_summary.h"
#include "record/encode/segments.h"
#include "record/name_drain.h"
#include "record/output/stream.h"
#include "record/pipeline.h"
#include "record/recorder_impl.h"
#include "record/recorder_setup.h"
#include "record/target/launch.h"
#include "record/target/targets.h"
#include "symbol/broker/sym_client.h"

#define MS_NS 1000000ULL

enum {
	TICK_MS = 20,
	CALM_TICK_MS = 100, /* at low rates */
	CALM_PART = 16,
	BEGIN_MS = 2000, /* in which much is new */
	SUMMARY_TICK_MS = 100,
	RUSH_MS = 4,
	MARK_NS = 5 * 1000000, /* records younger than this may still arrive out of order */
	DRAIN_MS = 100, /* longest pass, and longest time between two flushes */
	PROGRESS_MS = 200,
	LOSS_MS = 1000, /* between two checks for new losses */
	CPUS_MS = 500, /* between two checks which CPUs are online */
	RUSH_PART = 8,
	FILLING_PART = 4, /* real-time priority helps */
	DELAYED_PERCENT = 5, /* of the queue: likewise */
};

/* ---- record ------------------------------------------------------------------------------------- */

static bool is_over(struct recorder *r, uint64_t now)
{
	const struct recorder_cfg *cfg = r->cfg;

	if (*cfg->stop || r->window.asked_to_stop) {
		r->result->end = RECORDER_STOPPED;
		return true;
	}
	if (now >= trigger_window_ends(&r->window)) {
		r->result->end = RECORDER_DURATION;
		return true;
	}
	if (segments_is_over(r->segments)) {
		r->result->end = RECORDER_OUTPUT_FULL;
		return true;
	}
	if (r->launch ? launch_ended(r->launch, &r->result->command_status) :
			targets_ended(r->targets)) {
		r->result->end = RECORDER_TARGET_EXITED;
		return true;
	}
	return false;
}

/*
 * At low rates a pass costs little more than its wakeup, and a ring that fills up wakes the thread. Short ticks are
 * needed for control requests, triggers and load shedding, and while records wait for symbols or tables.
 */
static bool is_calm(struct recorder *r, uint64_t now)
{
	const struct load_shedding_cfg *shedding = &r->cfg->load_shedding;

	return now - r->start_ns > BEGIN_MS * MS_NS && pipeline_is_drained(r->pipeline) &&
	       !r->trigger && !r->window.control &&
	       (r->window.pause.skips_slice ||
		(r->window.pause.recording && !load_shedding_may_skip(shedding))) &&
	       !capture_is_filled(r->capture, CALM_PART);
}

/* The earlier of two times; @due counts if it is in the future. */
static uint64_t earlier(uint64_t until, uint64_t due, uint64_t now)
{
	return due > now && due < until ? due : until;
}

static void wait_tick(struct recorder *r, uint64_t now)
{
	/* The records left after a pass are milliseconds old. If they fill an eighth of a ring, the ring would be
	 * full before the end of an ordinary tick. */
	const bool rush = capture_is_filled(r->capture, RUSH_PART);
	const bool calm = !r->summary && is_calm(r, now);
	const struct drain_timer_cfg cfg = {
		.targets = r->targets,
		.broker = r->broker,
		.unwinding = r->unwind,
		.rings = r->summary ? NULL : r->capture, /* a burst fills a ring within a tick */
		.sides = calm ? r->sideband : NULL,
		.hurry_ns = calm && !r->window.pause.skips_slice ? now + TICK_MS * MS_NS : 0,
	};
	const uint64_t ms = rush       ? RUSH_MS :
			    r->summary ? SUMMARY_TICK_MS :
			    calm       ? CALM_TICK_MS :
					 TICK_MS;
	uint64_t until = now + ms * MS_NS;

	until = earlier(until, load_shedding_due_ns(&r->shedding, &r->window.pause), now);
	until = earlier(until, r->flush_due_ns, now);
	until = earlier(until, trigger_window_ends(&r->window), now);
	drain_timer_wait(&cfg, now, until);
}

static void report_progress(struct recorder *r, uint64_t now)
{
	struct status_totals totals;

	if (!r->cfg->progress || !drain_timer_is_due(&r->progress_due_ns, now, PROGRESS_MS * MS_NS))
		return;
	status_totals(r->status, now, &totals);
	r->cfg->progress(r->cfg->progress_ctx, &totals);
}

static void report_loss(struct recorder *r, uint64_t now)
{
	struct status_totals totals;

	if (!r->cfg->losing || !drain_timer_is_due(&r->loss_due_ns, now, LOSS_MS * MS_NS))
		return;
	status_totals(r->status, now, &totals);
	if (totals.ring_lost)
		r->cfg->losing(r->cfg->progress_ctx, &totals);
}

/* Control requests and triggers are answered when what precedes them is written. */
static bool needs_flush(struct recorder *r, uint64_t now)
{
	return pipeline_is_cut(r->pipeline) || r->trigger || r->window.control ||
	       drain_timer_is_due(&r->flush_due_ns, now, DRAIN_MS * MS_NS);
}

static int record_until_over(struct recorder *r)
{
	uint64_t now = clock_mono_ns(), before, mark;
	bool blocked;
	int err;

	load_shedding_begin(&r->shedding, &r->cfg->load_shedding, r->capture, r->status, now);
	err = load_shedding_write(&r->shedding, r->status);
	if (!err)
		notify_ready(r->notify, r->result->file);
	while (!err && !is_over(r, now)) {
		if (!pipeline_is_cut(r->pipeline) && !pipeline_has_backlog(r->pipeline))
			wait_tick(r, now);
		before = now;
		now = clock_mono_ns();
		if (pipeline_is_blocked(r->pipeline))
			status_output_full(r->status, now - before);
		mark = now - MARK_NS;
		if (capture_is_filled(r->capture, FILLING_PART) || r->delayed > DELAYED_PERCENT)
			realtime_ask(&r->realtime);
		realtime_note_pass(&r->realtime, capture_ring_fill(r->capture), now);
		err = pipeline_pass(r->pipeline, &mark, now + DRAIN_MS * MS_NS);
		__atomic_store_n(&r->delayed, pipeline_delayed(r->pipeline), __ATOMIC_RELAXED);
		blocked = pipeline_is_blocked(r->pipeline);
		/* without room the counts are written later */
		if (!err && !blocked && (r->window.pause.recording || r->window.pause.skips_slice))
			err = status_tick(r->status, mark);
		if (!err && !blocked)
			err = kernel_summary_step(r->summary, now);
		if (!err)
			err = trigger_window_step(&r->window, r->status);
		if (!err)
			err = trigger_step(r->trigger, r->status, mark);
		if (!err)
			err = load_shedding_step(&r->shedding, &r->window.pause, r->status, now);
		if (!err)
			err = needs_flush(r, now) ? pipeline_flush(r->pipeline, mark) :
						    pipeline_check_output(r->pipeline, mark);
		recorder_limit_helpers(r, now);
		if (drain_timer_is_due(&r->cpus_due_ns, now, CPUS_MS * MS_NS))
			capture_follow_cpus(r->capture);
		report_loss(r, now);
		report_progress(r, now);
		notify_step(r->notify, now, r->status);
	}
	return err;
}

/* ---- finish ------------------------------------------------------------------------------------- */

static int finish_names(struct recorder *r)
{
	const struct name_drain_cfg cfg = {
		.broker = r->broker,
		.frames = r->frames,
		.wait_ns = r->cfg->names_wait_ns,
		.stop = r->cfg->stop,
		.waiting = r->cfg->waiting,
		.ctx = r->cfg->progress_ctx,
		.notify = r->notify,
	};

	return name_drain(&cfg, &r->result->names_cut);
}

static int finish(struct recorder *r)
{
	uint64_t now;
	int err;

	capture_stop(r->capture);
	/* not before: an ordinary thread may wait for a CPU until the rings are full */
	realtime_end(&r->realtime);
	status_end(r->status);
	notify_stopping(r->notify);
	/* records wait for unwind tables, too */
	sym_client_hurry(r->broker);
	err = pipeline_finish(r->pipeline, r->notify, &now);
	if (!err)
		err = kernel_summary_finish(r->summary, now);
	if (!err)
		err = pause_end(&r->window.pause, r->status);
	if (!err)
		err = trigger_end(r->trigger, r->status, now);
	if (!err)
		err = finish_names(r);
	if (!err)
		err = status_write_tail(r->status, now);
	if (!err)
		err = segments_finish(r->segments);
	status_totals(r->status, now, &r->result->totals);
	r->result->sampler = capture_sampler(r->capture);
	r->result->hz = capture_hz(r->capture);
	if (r->launch)
		r->result->command_ended = launch_ended(r->launch, &r->result->command_status);
	if (!err)
		status_check_balance(&r->result->totals);
	return err;
}

int recorder_run(const struct recorder_cfg *cfg, struct recorder_result *out)
{
	struct recorder r = { .cfg = cfg, .result = out, .tracefs_fd = -1 };
	int err, closed;

	*out = (struct recorder_result){ 0 };
	err = recorder_prepare(&r);
	if (!err)
		err = recorder_start(&r);
	if (!err)
		err = record_until_over(&r);
	if (r.status && !stream_is_gone(err)) {
		int finish_err = finish(&r);

		err = err ? err : finish_err;
	}
	recorder_cleanup(&r);
	closed = segments_close(r.segments);
	err = err ? err : closed;
	if (err == -EPIPE) {
		out->end = RECORDER_READER_GONE;
		return 0;
	}
	if (closed || (err && r.status))
		out->output_failed = true;
	return err;
}
