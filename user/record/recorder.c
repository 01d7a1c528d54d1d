// SPDX-License-Identifier: BSD-2-Clause
/*
 * recorder.c - a recording from start to end: prepare, start, drain, finish
 *
 * One thread drains: on a timer, since a wakeup for each record would cost the recorded programs
 * many times what the record does; a slow one while little comes, for a ring that fills up wakes it
 * then. Each pass takes what is older than a few milliseconds, in order of time, writes it, adds names
 * that have been found meanwhile, and flushes: what the file holds is complete up to the last pass.
 *
 * The kernel's symbol table and the build-ids of what is mapped come after the start; what the rings hold
 * meanwhile is kept in memory.
 */
#include "record/recorder.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/str.h"
#include "base/sudo_user.h"
#include "dial9.h"
#include "events/emit.h"
#include "kernel/perf_side.h"
#include "kernel/privileges.h"
#include "kernel/proc.h"
#include "kernel/realtime.h"
#include "kernel/tracefs.h"
#include "record/capture/capture.h"
#include "record/capture/capture_cpus.h"
#include "record/capture/ring_merge.h"
#include "record/control/drain_timer.h"
#include "record/control/load_shedding.h"
#include "record/control/memory.h"
#include "record/control/notify.h"
#include "record/control/trigger_window.h"
#include "record/encode/kernel_summary.h"
#include "record/encode/segments.h"
#include "record/encode/startup_queue.h"
#include "record/encode/translate.h"
#include "record/name_drain.h"
#include "record/output/stream.h"
#include "record/process/proc_reader.h"
#include "record/process/tasks.h"
#include "record/recorder_capture.h"
#include "record/recorder_target.h"
#include "record/symbols/frames.h"
#include "record/symbols/kallsyms_thread.h"
#include "record/symbols/stacks.h"
#include "record/target/exec_probe.h"
#include "record/target/launch.h"
#include "record/target/recorder_caps.h"
#include "record/target/targets.h"
#include "record/unwind_maps/sideband_reader.h"
#include "record/unwind_maps/unwind_loader.h"
#include "record/unwind_maps/unwind_prefetch.h"
#include "record/write_targets.h"
#include "symbol/broker/sym_client.h"

#define MS_NS 1000000ULL

enum {
	TICK_MS = 20,
	CALM_TICK_MS = 100, /* while next to nothing comes */
	CALM_PART = 256,
	BEGIN_MS = 2000, /* in which much is met for the first time */
	SUMMARY_TICK_MS = 100,
	RUSH_MS = 4,
	MARK_NS = 5 * 1000000, /* records younger than this may still be overtaken */
	PASS_MAX = 4096, /* records between two looks at the clock */
	LOOK_EVERY = 256, /* records between two looks at what is mapped */
	DRAIN_MS = 100, /* between two flushes */
	NAMES_MAX = 4096,
	PROGRESS_MS = 200,
	CPUS_MS = 500, /* between looks which CPUs there are */
	IDENTIFY_MS = 500,
	NAMES_STEP_MS = 50,
	RUSH_PART = 8,
	PATIENT_PART = 4,
	TABLES_STEP_MS = 5,
	FILLING_PART = 16,
};

_Static_assert((int)PROF_HELPERS_MAX == (int)SYM_CLIENT_PIDS_MAX, "room for all");

struct recorder {
	const struct recorder_cfg *cfg;
	struct recorder_result *result;
	int tracefs_fd;
	struct eventset *events;
	struct targets *targets;
	struct prof_select select;
	struct notify *notify;
	struct launch *launch;
	struct exec_probe *scout; /* NULL: none is of use */
	struct segments *segments;
	struct capture *capture;
	struct kallsyms_thread *kallsyms; /* NULL: not begun */
	bool identified; /* build-ids are not waited for any longer */
	struct startup_queue *early; /* what comes until then */
	bool releasing; /* that */
	bool finishing; /* recording is over */
	bool full; /* the last pass ended for want of room */
	bool cut; /* the last pass ended where the next segment has to begin */
	bool take_all; /* however large the last segment becomes */
	struct sym_client *broker;
	uint32_t helpers[PROF_HELPERS_MAX]; /* as the trace has them; 0: no more */
	struct proc_reader *proc_reader; /* NULL: none */
	struct tasks *tasks;
	struct frames *frames;
	struct unwind_loader *unwinding; /* NULL: user stacks are not unwound */
	struct sideband_reader *sides; /* in its place, to be woken by; NULL: none */
	struct stacks *stacks;
	struct translate *translate;
	struct status *status;
	struct ring_merge *merge;
	struct trigger_window when;
	struct load_shedding thin;
	struct kernel_summary *summary; /* NULL: events */
	struct flight *flight; /* NULL: all is written as it comes */
	struct trigger *trigger; /* likewise */
	struct realtime realtime;
	struct memory memory;
	uint64_t privileges; /* what is kept of them */
	uint64_t start_ns, progress_due_ns, cpus_due_ns;
	uint64_t record_cnt;
};

/* ---- prepare ------------------------------------------------------------------------------------ */

/* The output belongs to the user behind sudo, so that reading it needs no sudo. */
static int open_output(struct recorder *r)
{
	struct segments_cfg cfg = {
		.level4 = r->cfg->level4,
		.told = r->select.by_task || recorder_target_has_family(r->cfg),
		.pool_bytes_max = memory_pool_max(r->cfg->mem_max),
	};
	struct sudo_user user;
	int err;

	err = sudo_user_read(&user);
	if (err)
		return err;
	err = flight_open(&r->cfg->flight, &r->cfg->output, &user, &cfg.outlet, &r->flight,
			  &r->result->file);
	if (!err)
		err = segments_new(&cfg, &r->segments);
	if (err)
		r->result->output_failed = true;
	return err;
}

/* A command exists as a process before anything else does, and waits. */
static int prepare_targets(struct recorder *r)
{
	const struct recorder_cfg *cfg = r->cfg;
	struct capture_cfg capture_cfg;
	uint32_t pid;
	int err;

	if (!cfg->command)
		return targets_new(cfg->pids, cfg->pid_cnt, cfg->tids, cfg->tid_cnt, &r->targets);
	err = launch_new(cfg->command, cfg->as_root, out_file_is_stdout(cfg->output.path),
			 &r->launch);
	if (err)
		return err;
	recorder_capture_cfg(cfg, NULL, NULL, &capture_cfg);
	if (capture_cfg.call_graph == PROF_CALL_GRAPH_AUTO &&
	    exec_probe_new(cfg->command[0], cfg->as_root, &r->scout))
		log_info("record: nothing looks ahead for the files of the command");
	pid = launch_pid(r->launch);
	r->result->command_pid = pid;
	return targets_new(&pid, 1, NULL, 0, &r->targets);
}

static int prepare_capture(struct recorder *r)
{
	struct capture_cfg cfg;
	int err;

	recorder_capture_cfg(r->cfg, r->events, &r->select, &cfg);
	memcpy(cfg.helpers, r->helpers, sizeof(cfg.helpers));
	if (cfg.call_graph == PROF_CALL_GRAPH_AUTO && !targets_numbers_are_kernels()) {
		log_warn("record: inside a pid namespace (a container) user stacks are walked by "
			 "frame pointers only: record on the host for whole ones");
		cfg.call_graph = PROF_CALL_GRAPH_FP;
	}
	err = capture_new(&cfg, &r->capture);
	return err ? err : capture_attach(r->capture);
}

static int prepare_frames(struct recorder *r)
{
	struct unwind_loader_cfg cfg = {
		.memory = capture_unwind(r->capture),
		.tasks = r->tasks,
		.broker = r->broker,
		.all = r->cfg->system_wide,
		.table_bytes = r->cfg->unwind_mem,
		.max_stack = r->cfg->max_stack,
		.capabilities = 1ULL << CAP_BPF,
	};
	int err = frames_new(segments_emit(r->segments), r->broker, !r->cfg->no_names, &r->frames);

	if (err)
		return err;
	if (segments_may_be_many(r->segments))
		frames_keep_names(r->frames);
	frames_limit_naming(r->frames, memory_naming_max(r->cfg->mem_max));
	cfg.frames = r->frames;
	cfg.sides = capture_sides(r->capture, &cfg.side_cnt);
	if (!cfg.memory)
		return sideband_reader_new(cfg.sides, cfg.side_cnt, &r->sides);
	err = unwind_loader_new(&cfg, &r->unwinding);
	if (err)
		log_error("record: cannot start: %s", strerror(-err));
	return err;
}

static void prepare_translation(struct recorder *r)
{
	size_t side_cnt, ring_cnt;
	struct ring *rings = capture_rings(r->capture, &ring_cnt);
	struct perf_ring **sides = capture_sides(r->capture, &side_cnt);
	struct trigger_self self = {
		.tasks = r->tasks,
		.pid = r->cfg->include_self ? 0 : recorder_target_pid(),
	};

	memcpy(self.helpers, r->helpers, sizeof(self.helpers));
	r->stacks = stacks_new(r->frames);
	r->memory = (struct memory){
		.max = r->cfg->mem_max,
		.tasks = r->tasks,
		.frames = r->frames,
		.stacks = r->stacks,
		.unwinding = r->unwinding,
	};
	r->translate = translate_new(&(struct translate_cfg){
		.enc = segments_enc(r->segments),
		.emit = segments_emit(r->segments),
		.events = r->events,
		.tasks = r->tasks,
		.stacks = r->stacks,
		.frames = r->frames,
		.tells_family = !r->select.by_task && recorder_target_has_family(r->cfg),
		.walk = r->unwinding ? unwind_loader_walk : NULL,
		.unwinding = r->unwinding,
	});
	r->merge = ring_merge_new(rings, ring_cnt, sides, side_cnt);
	r->trigger = trigger_new(&r->cfg->trigger, r->events, &self, r->capture, r->flight);
	r->when.trigger = r->trigger;
}

/* First of all, while there is one thread, little memory and no open file that they would inherit. */
static int prepare_helpers(struct recorder *r)
{
	const struct sym_client_cfg cfg = { 0 };
	int err = sym_client_new(&cfg, &r->broker);

	if (err)
		log_error("record: cannot fork: %s", strerror(-err));
	else if (recorder_target_pid())
		sym_client_pids(r->broker, r->helpers);
	return err;
}

static int prepare(struct recorder *r)
{
	int err = notify_new(&r->cfg->notify, &r->notify);

	if (!err)
		err = recorder_caps_check(!r->cfg->no_names, r->cfg->btf);
	if (err)
		return err;
	err = prepare_helpers(r);
	if (!err)
		err = selection_make(&r->cfg->selection, r->cfg->system_wide, &r->select);
	if (!err)
		err = prepare_targets(r);
	if (!err)
		err = tracefs_open(&r->tracefs_fd);
	if (!err)
		err = eventset_new(r->tracefs_fd, &r->cfg->events, &r->events);
	if (err)
		return err;
	err = trigger_window_prepare(&r->when, &r->cfg->when);
	if (!err)
		err = open_output(r);
	if (err)
		return err;
	/* What recording waits for at its start does not wait for its turn. Threads inherit this, so the
	 * command and the helper processes are made before. */
	realtime_begin(&r->realtime, &r->cfg->realtime);
	err = prepare_capture(r);
	return err ? err :
		     recorder_caps_reduce(r->capture, r->cfg->realtime.priority, &r->privileges);
}

/* ---- start -------------------------------------------------------------------------------------- */

static int write_metadata(struct recorder *r)
{
	return recorder_target_write_head(r->cfg, r->status,
					  &(struct status_head){
						  .command_pid = r->result->command_pid,
						  .recorder_pid = recorder_target_pid(),
						  .helpers = r->helpers,
						  .told = r->select.by_task,
						  .events = r->events,
						  .call_graph =
							  capture_config(r->capture)->call_graph,
					  });
}

static int write_head(void *ctx)
{
	struct recorder *r = ctx;
	int err = write_metadata(r);

	notify_reloaded(r->notify);
	kernel_summary_begin_segment(r->summary, segments_emit(r->segments));
	err = err ? err : load_shedding_write(&r->thin, r->status);
	return err ? err : write_targets_targets(r->targets, r->tasks, r->translate, r->cfg);
}

static int begin_trace(struct recorder *r)
{
	int err;

	r->status = status_new(&(struct status_cfg){
		.capture = r->capture,
		.translate = r->translate,
		.emit = segments_emit(r->segments),
		.tasks = r->tasks,
		.enc = segments_enc(r->segments),
		.realtime = &r->realtime,
		.memory_bytes = &r->memory.held,
		.forgotten = &r->memory.forgotten,
		.unwinding = r->unwinding,
		.start_ns = r->start_ns,
	});
	segments_serve(r->segments, &(struct segments_writers){
					    .translate = r->translate,
					    .frames = r->frames,
					    .status = r->status,
					    .broker = r->broker,
					    .head = write_head,
					    .ctx = r,
				    });
	segments_note(r->segments, r->start_ns);
	err = write_head(r);
	return err ? err : segments_flush(r->segments);
}

static int start(struct recorder *r)
{
	int err;

	r->tasks = tasks_new(r->cfg->system_wide);
	if (proc_reader_new(&r->proc_reader))
		log_warn("record: no thread reads /proc: a process that hangs may delay the start");
	tasks_set_reader(r->tasks, r->proc_reader);
	err = targets_seed(r->targets, r->capture, r->tasks,
			   r->cfg->pid_cnt && !r->cfg->no_inherit);
	if (!err)
		err = prepare_frames(r);
	if (err)
		return err;
	if (r->cfg->system_wide && !r->cfg->summary_ns)
		tasks_scan_all(r->tasks);
	unwind_prefetch_prepare(&(struct unwind_prefetch){
		.tasks = r->tasks,
		.frames = r->frames,
		.unwinding = r->unwinding,
		.launch = r->launch,
		.scout = r->scout,
		.settle = !r->cfg->system_wide,
	});
	r->start_ns = clock_mono_ns();
	trigger_window_begin(&r->when, r->capture, r->start_ns);
	r->early = startup_queue_new(memory_early_max(r->cfg->mem_max));
	r->kallsyms = kallsyms_thread_new(NULL, NULL);
	if (r->launch) {
		err = launch_go(r->launch);
		if (err)
			return err;
	}
	prepare_translation(r);
	r->summary =
		kernel_summary_new(capture_summary(r->capture), r->cfg->summary_ns, r->start_ns);
	err = begin_trace(r);
	if (!err)
		err = privileges_drop_all_but(r->privileges);
	return err ? err : privileges_suspend(CAPTURE_CPUS_RIGHTS);
}

/* ---- drain -------------------------------------------------------------------------------------- */

static int on_record(void *ctx, const struct prof_rec *rec)
{
	struct recorder *r = ctx;

	if ((!r->early || r->releasing) && !r->take_all && segments_is_full(r->segments)) {
		r->cut = true;
		return RING_MERGE_LATER;
	}
	segments_note(r->segments, rec->ts);
	if (r->unwinding && unwind_loader_lacks_list(rec))
		unwind_loader_missed(r->unwinding, rec->pid);
	if (r->unwinding && ++r->record_cnt % LOOK_EVERY == 0)
		unwind_loader_look(r->unwinding);
	if (r->unwinding)
		rec = unwind_loader_record(r->unwinding, rec);
	if (!r->early || r->releasing) {
		trigger_see(r->trigger, rec);
		return translate_record(r->translate, rec);
	}
	startup_queue_add(r->early, rec);
	return 0;
}

static int on_side(void *ctx, const struct perf_side *side)
{
	struct recorder *r = ctx;
	struct perf_side early;

	if (r->unwinding)
		unwind_loader_side(r->unwinding, side);
	if (r->early && !r->releasing) {
		early = *side;
		early.looked = true;
		startup_queue_add_side(r->early, &early);
		return 0;
	}
	tasks_side(r->tasks, side);
	frames_side(r->frames, side);
	return status_side_lost(r->status, side);
}

/*
 * What early records refer to: the kernel's symbols, and the build-ids of what is mapped; those are
 * not waited for long.
 */
static bool is_prepared(struct recorder *r)
{
	if (!sym_client_identifying(r->broker) ||
	    clock_mono_ns() - r->start_ns > IDENTIFY_MS * MS_NS)
		r->identified = true;
	return r->identified && kallsyms_thread_is_done(r->kallsyms);
}

/* Waits for the kernel's symbols, if it has to, and goes through what was kept for want of them.
 * RING_MERGE_LATER: up to a record that waits on. */
static int release_early(struct recorder *r, const struct ring_merge_sink *sink)
{
	int err;

	if (!r->early)
		return 0;
	frames_set_kallsyms(r->frames, kallsyms_thread_get(r->kallsyms));
	r->releasing = true;
	err = startup_queue_release(r->early, sink);
	r->releasing = false;
	if (err == RING_MERGE_LATER)
		return err;
	startup_queue_free(r->early);
	r->early = NULL;
	return err;
}

/* For more records: in memory before the start is over, and with who writes until the end. */
static bool has_room(const struct recorder *r)
{
	if (r->early && startup_queue_are_full(r->early))
		return false;
	return r->finishing || segments_have_room(r->segments);
}

/*
 * What names there are, then everything older than *mark. Ends earlier when that takes longer than
 * until the deadline (CLOCK_MONOTONIC, ns), and *mark is then how far it came.
 */
static int drain(struct recorder *r, uint64_t *mark, uint64_t deadline)
{
	const struct ring_merge_sink sink = { .record = on_record, .side = on_side, .ctx = r };
	uint64_t now;
	long n = 0;

	sym_client_step(r->broker);
	kallsyms_thread_renew(r->kallsyms, r->frames);
	n = has_room(r) ? frames_take_names(r->frames, NAMES_MAX) : 0;
	if (r->unwinding) {
		unwind_loader_look(r->unwinding);
		unwind_loader_step(r->unwinding);
		unwind_loader_be_patient(r->unwinding,
					 !capture_is_filled(r->capture, PATIENT_PART));
	}
	if (r->early && kallsyms_thread_is_done(r->kallsyms))
		capture_take_kallsyms(r->capture, kallsyms_thread_get(r->kallsyms));
	if (n >= 0)
		n = is_prepared(r) ? release_early(r, &sink) : 0;
	if (n < 0)
		return n;
	do {
		/* What there is no room for stays in the rings, where what is lost is counted. */
		r->full = !has_room(r);
		if (r->full) {
			*mark = ring_merge_reached(r->merge);
			break;
		}
		n = ring_merge_pass(r->merge, *mark, PASS_MAX, &sink);
		now = clock_mono_ns();
		realtime_within_pass(&r->realtime, now);
	} while (n == PASS_MAX && now < deadline && !ring_merge_waits(r->merge));
	if (n < 0)
		return n;
	if (n == PASS_MAX || ring_merge_waits(r->merge))
		*mark = ring_merge_reached(r->merge);
	sym_client_step(r->broker);
	if (!r->early)
		tasks_expire(r->tasks, *mark);
	memory_check(&r->memory);
	return 0;
}

static bool is_over(struct recorder *r, uint64_t now)
{
	const struct recorder_cfg *cfg = r->cfg;

	if (*cfg->stop || r->when.asked_to_stop) {
		r->result->end = RECORDER_STOPPED;
		return true;
	}
	if (now >= trigger_window_ends(&r->when)) {
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
 * A pass over next to nothing costs what waking up does, and who fills a ring wakes us. Short ticks are for who
 * turns something on and off, or waits for what a pass finds.
 */
static bool is_calm(struct recorder *r, uint64_t now)
{
	const struct load_shedding_cfg *thin = &r->cfg->thin;

	return now - r->start_ns > BEGIN_MS * MS_NS && !r->early && !r->full && !r->trigger &&
	       !r->when.control && r->when.gate.open && !thin->max_ppm && thin->one_in <= 1 &&
	       !ring_merge_waits(r->merge) && !capture_is_filled(r->capture, CALM_PART);
}

static void wait_tick(struct recorder *r, uint64_t now)
{
	/* What a pass leaves behind came in the last milliseconds: where that is an eighth of a ring, the
	 * ring would be full before an ordinary tick is over. */
	const bool rush = capture_is_filled(r->capture, RUSH_PART);
	const bool calm = !r->summary && is_calm(r, now);
	const struct drain_timer_cfg cfg = {
		.targets = r->targets,
		.broker = r->broker,
		.unwinding = r->unwinding,
		.rings = calm ? r->capture : NULL,
		.sides = calm ? r->sides : NULL,
		.hurry_ns = calm ? now + TICK_MS * MS_NS : 0,
	};
	uint64_t ms = rush ? RUSH_MS : r->summary ? SUMMARY_TICK_MS : calm ? CALM_TICK_MS : TICK_MS;
	uint64_t until = now + ms * MS_NS, end = trigger_window_ends(&r->when);

	drain_timer_wait(&cfg, now, end > now && end < until ? end : until);
}

static void report_progress(struct recorder *r, uint64_t now)
{
	struct status_totals totals;

	if (!r->cfg->progress || !drain_timer_is_due(&r->progress_due_ns, now, PROGRESS_MS * MS_NS))
		return;
	status_totals(r->status, now, &totals);
	r->cfg->progress(r->cfg->progress_ctx, &totals);
}

/* Early records are older than any mark: what was written last is how far they came. */
static int step_segments(struct recorder *r, uint64_t mark)
{
	int err;

	if (!r->cut)
		return r->early ? segments_flush(r->segments) : segments_step(r->segments, mark);
	err = segments_step(r->segments, r->early ? 0 : mark);
	/* there may be no other one for the moment */
	r->cut = !segments_is_full(r->segments);
	return err;
}

static int record_until_over(struct recorder *r)
{
	uint64_t now = clock_mono_ns(), before, mark;
	int err;

	load_shedding_begin(&r->thin, &r->cfg->thin, r->capture, r->status, now);
	err = load_shedding_write(&r->thin, r->status);
	if (!err)
		notify_ready(r->notify, r->result->file);
	while (!err && !is_over(r, now)) {
		if (!r->cut)
			wait_tick(r, now);
		r->cut = false;
		before = now;
		now = clock_mono_ns();
		if (r->full)
			status_output_full(r->status, now - before);
		mark = now - MARK_NS;
		realtime_before_pass(&r->realtime, now,
				     capture_is_filled(r->capture, FILLING_PART));
		err = drain(r, &mark, now + DRAIN_MS * MS_NS);
		/* what is counted meanwhile is written when there is room */
		if (!err && !r->full && (r->when.gate.open || r->when.gate.thinned))
			err = status_tick(r->status, mark);
		if (!err && !r->full)
			err = kernel_summary_step(r->summary, now);
		if (!err)
			err = trigger_window_step(&r->when, r->status);
		if (!err)
			err = trigger_step(r->trigger, r->status, mark);
		if (!err)
			err = load_shedding_step(&r->thin, &r->when.gate, r->status, now);
		if (!err)
			err = step_segments(r, mark);
		if (drain_timer_is_due(&r->cpus_due_ns, now, CPUS_MS * MS_NS))
			capture_follow_cpus(r->capture);
		report_progress(r, now);
		notify_step(r->notify, now, r->status);
	}
	realtime_end(&r->realtime);
	status_end(r->status);
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

/* A recording may be over before what it waits for is there. */
static int finish_identifying(struct recorder *r)
{
	long n = 0;

	kallsyms_thread_get(r->kallsyms);
	while (n >= 0 && !is_prepared(r)) {
		sym_client_wait(r->broker, clock_mono_ns() + NAMES_STEP_MS * MS_NS);
		n = frames_take_names(r->frames, NAMES_MAX);
	}
	return n < 0 ? n : 0;
}

/*
 * All that is left, also what waits for a table. Another segment that was asked for does not begin before early
 * records are written, so it is looked for once more where they were there to the end.
 */
static int finish_records(struct recorder *r, uint64_t now)
{
	const bool early = r->early;
	uint64_t mark = now;
	int err = drain(r, &mark, UINT64_MAX);

	while (!err && (r->early || ring_merge_waits(r->merge))) {
		if (r->cut) {
			err = step_segments(r, mark);
			r->take_all = !r->cut;
			r->cut = false;
		} else {
			sym_client_wait(r->broker, clock_mono_ns() + TABLES_STEP_MS * MS_NS);
		}
		mark = now;
		err = err ? err : drain(r, &mark, UINT64_MAX);
		notify_step(r->notify, clock_mono_ns(), NULL);
	}
	return err || !early ? err : segments_step(r->segments, now);
}

static int finish(struct recorder *r)
{
	uint64_t now;
	int err;

	notify_stopping(r->notify);
	capture_stop(r->capture);
	r->finishing = true;
	err = finish_identifying(r);
	now = clock_mono_ns();
	if (!err)
		err = finish_records(r, now);
	if (!err)
		err = kernel_summary_finish(r->summary, now);
	if (!err)
		err = pause_end(&r->when.gate, r->status);
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

static void cleanup(struct recorder *r)
{
	startup_queue_free(r->early);
	ring_merge_free(r->merge);
	kernel_summary_free(r->summary);
	status_free(r->status);
	translate_free(r->translate);
	trigger_free(r->trigger);
	stacks_free(r->stacks);
	unwind_loader_free(r->unwinding);
	sideband_reader_free(r->sides);
	frames_free(r->frames);
	proc_reader_free(r->proc_reader);
	tasks_free(r->tasks);
	capture_free(r->capture);
	kallsyms_thread_free(r->kallsyms);
	targets_free(r->targets);
	exec_probe_free(r->scout);
	launch_free(r->launch);
	eventset_free(r->events);
	if (r->tracefs_fd >= 0)
		close(r->tracefs_fd);
	sym_client_free(r->broker);
	trigger_window_fini(&r->when);
	notify_free(r->notify);
}

int recorder_run(const struct recorder_cfg *cfg, struct recorder_result *out)
{
	struct recorder r = { .cfg = cfg, .result = out, .tracefs_fd = -1 };
	int err, closed;

	*out = (struct recorder_result){ 0 };
	err = prepare(&r);
	if (!err)
		err = start(&r);
	if (!err)
		err = record_until_over(&r);
	if (r.status && !stream_is_gone(err)) {
		int finish_err = finish(&r);

		err = err ? err : finish_err;
	}
	cleanup(&r);
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
