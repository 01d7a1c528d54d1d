// SPDX-License-Identifier: BSD-2-Clause
/*
 * recorder_setup.c - makes the parts of a recording and connects them
 *
 * The order matters: helper processes fork while there is one thread and no open file, the output is opened before
 * privileges are dropped, and the clock of the recording starts after the programs are attached.
 */
#include "record/recorder_setup.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/sudo_user.h"
#include "kernel/privileges.h"
#include "kernel/realtime.h"
#include "kernel/task_limit.h"
#include "kernel/tracefs/tracefs.h"
#include "record/capture/capture.h"
#include "record/capture/capture_cpus.h"
#include "record/control/load_shedding.h"
#include "record/control/cache_limit.h"
#include "record/control/notify.h"
#include "record/control/trigger.h"
#include "record/control/trigger_window.h"
#include "record/encode/kernel_summary.h"
#include "record/encode/segments.h"
#include "record/encode/status.h"
#include "record/encode/translate.h"
#include "record/pipeline.h"
#include "record/process/proc_reader.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"
#include "record/recorder_capture.h"
#include "record/recorder_impl.h"
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

/* The allowed cost by these is allowed for each reader of /proc, and for each kind of content of files. */
enum { PROC_PARTS = 32, FILE_PARTS = 16 };

#define UNLIMITED_NS 1000000000ULL /* everything is new; the limit holds after two seconds */

_Static_assert((int)PROF_HELPERS_MAX == (int)SYM_CLIENT_PIDS_MAX, "room for all");

/* ---- prepare ------------------------------------------------------------------------------------ */

static uint64_t max_cost_ns(const struct recorder_cfg *cfg)
{
	return (uint64_t)cfg->load_shedding.max_ppm * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) *
	       1000;
}

/* The output belongs to the user who called sudo, so that reading it needs no sudo. */
static int open_output(struct recorder *r)
{
	struct segments_cfg cfg = {
		.level4 = r->cfg->level4,
		.followed = r->select.by_task || recorder_target_has_family(r->cfg),
		.pool_bytes_max = cache_limit_pool_max(r->cfg->mem_max),
	};
	struct output_cfg output = r->cfg->output;
	struct sudo_user user;
	int err;

	err = sudo_user_read(&user);
	if (err)
		return err;
	output.realtime = &r->realtime;
	err = flight_open(&r->cfg->flight, &output, &user, &cfg.outlet, &r->flight,
			  &r->result->file);
	if (!err)
		err = segments_new(&cfg, &r->segments);
	if (err)
		r->result->output_failed = true;
	return err;
}

/* A command exists as a process before all other parts, and waits. */
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
	    exec_probe_new(cfg->command[0], cfg->as_root, &r->exec_probe))
		log_info("record: cannot predict which files the command maps");
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
			 "frame pointers only; record on the host for complete stacks");
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
		.all = r->cfg->capture.system_wide,
		.table_bytes = r->cfg->unwind_mem,
		.max_stack = r->cfg->capture.max_stack,
		.proc_ns_per_s = r->max_cost_ns / PROC_PARTS,
		.capabilities = 1ULL << CAP_BPF,
	};
	int err = frames_new(segments_emit(r->segments), r->broker, !r->cfg->no_names, &r->frames);

	if (err)
		return err;
	if (segments_may_be_many(r->segments))
		frames_keep_names(r->frames);
	frames_limit_naming(r->frames, cache_limit_naming_max(r->cfg->mem_max));
	cfg.frames = r->frames;
	cfg.sides = capture_sides(r->capture, &cfg.side_cnt);
	if (!cfg.memory)
		return sideband_reader_new(cfg.sides, cfg.side_cnt, &r->sideband);
	err = unwind_loader_new(&cfg, &r->unwind);
	if (err)
		task_limit_error("record: cannot start", err);
	return err;
}

static void prepare_translation(struct recorder *r)
{
	struct trigger_self self = {
		.tasks = r->tasks,
		.pid = r->cfg->capture.include_self ? 0 : recorder_target_pid(),
	};

	memcpy(self.helpers, r->helpers, sizeof(self.helpers));
	r->stacks = stacks_new(r->frames);
	r->memory = (struct cache_limit){
		.max = r->cfg->mem_max,
		.tasks = r->tasks,
		.frames = r->frames,
		.stacks = r->stacks,
		.unwinding = r->unwind,
	};
	r->translate = translate_new(&(struct translate_cfg){
		.enc = segments_enc(r->segments),
		.emit = segments_emit(r->segments),
		.events = r->events,
		.tasks = r->tasks,
		.stacks = r->stacks,
		.frames = r->frames,
		.family_followed = !r->select.by_task && recorder_target_has_family(r->cfg),
	});
	r->trigger = trigger_new(&r->cfg->trigger, r->events, &self, r->capture, r->flight);
	r->window.trigger = r->trigger;
}

/* Runs first: while there is one thread, little memory, and no open file to inherit. */
static int prepare_helpers(struct recorder *r)
{
	const struct sym_client_cfg cfg = {
		.nice = r->cfg->realtime.nice,
		.mem_max = cache_limit_helpers_max(r->cfg->mem_max),
		.lines_ns_per_s = r->max_cost_ns / FILE_PARTS,
	};
	int err = sym_client_new(&cfg, &r->broker);
	size_t cnt;

	if (err)
		task_limit_error("record: cannot fork", err);
	if (err || !recorder_target_pid())
		return err;
	cnt = sym_client_pids(r->broker, r->helpers);
	if (cnt < PROF_HELPERS_MAX)
		r->helpers[cnt] = r->cfg->helper;
	return 0;
}

static int watch_rings(void *ctx, int epoll_fd)
{
	const struct recorder *r = ctx;

	return capture_watch_rings(r->capture, epoll_fd);
}

/* From half of the queue on, stacks are dropped: it counts as full. */
static unsigned int fill_percent(void *ctx)
{
	const struct recorder *r = ctx;
	const unsigned int rings = capture_ring_fill(r->capture);
	const unsigned int queue = 2 * __atomic_load_n(&r->delayed, __ATOMIC_RELAXED);

	return queue > rings ? queue : rings;
}

/* Summaries use no rings. */
static void start_realtime(struct recorder *r)
{
	const struct realtime_need need = {
		.watch = watch_rings,
		.fill = fill_percent,
		.ctx = r,
	};

	if (!r->cfg->summary_ns)
		realtime_start(&r->realtime, &need);
}

int recorder_prepare(struct recorder *r)
{
	int err = notify_new(&r->cfg->notify, &r->notify);

	r->max_cost_ns = max_cost_ns(r->cfg);
	if (!err)
		err = recorder_caps_check(!r->cfg->no_names, r->cfg->capture.btf);
	if (err)
		return err;
	err = prepare_helpers(r);
	if (!err)
		err = selection_make(&r->cfg->selection, r->cfg->capture.system_wide, &r->select);
	if (!err)
		err = prepare_targets(r);
	if (!err)
		err = tracefs_open(&r->tracefs_fd);
	if (!err)
		err = eventset_new(r->tracefs_fd, &r->cfg->events, &r->events);
	if (err)
		return err;
	err = trigger_window_prepare(&r->window, &r->cfg->when);
	/* Threads inherit the nice value, so the command and the helper processes were started before. */
	realtime_begin(&r->realtime, &r->cfg->realtime);
	if (!err)
		err = open_output(r);
	if (err)
		return err;
	err = prepare_capture(r);
	if (err)
		return err;
	/* while there are capabilities; the thread keeps CAP_SYS_NICE */
	start_realtime(r);
	return recorder_caps_reduce(r->capture, &r->capabilities);
}

/* ---- start -------------------------------------------------------------------------------------- */

static int write_metadata(struct recorder *r)
{
	return recorder_target_write_head(r->cfg, r->status,
					  &(struct status_head){
						  .command_pid = r->result->command_pid,
						  .recorder_pid = recorder_target_pid(),
						  .helpers = r->helpers,
						  .by_task = r->select.by_task,
						  .events = r->events,
					  });
}

static int write_head(void *ctx)
{
	struct recorder *r = ctx;
	int err = write_metadata(r);

	notify_reloaded(r->notify);
	kernel_summary_begin_segment(r->summary, segments_emit(r->segments));
	err = err ? err : load_shedding_write(&r->shedding, r->status);
	return err ? err : write_targets_all(r->targets, r->tasks, r->translate, r->cfg);
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
		.unwinding = r->unwind,
		.helpers = r->helpers,
		.start_ns = r->start_ns,
	});
	r->pipeline = pipeline_new(&(struct pipeline_cfg){
		.capture = r->capture,
		.unwind = r->unwind,
		.tasks = r->tasks,
		.frames = r->frames,
		.trigger = r->trigger,
		.translate = r->translate,
		.status = r->status,
		.segments = r->segments,
		.broker = r->broker,
		.kallsyms = r->kallsyms,
		.memory = &r->memory,
		.pause = load_shedding_may_skip(&r->cfg->load_shedding) ? &r->window.pause : NULL,
		.queue_bytes = cache_limit_waiting_max(r->cfg->mem_max),
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

static enum work_kind helper_work(enum sym_client_work work)
{
	return work == SYM_CLIENT_TABLES ? WORK_TABLES : WORK_SYMBOLS;
}

static void charge_helpers(void *ctx, pid_t pid, enum sym_client_work work, uint64_t ns)
{
	work_budget_charge(ctx, (uint32_t)pid, helper_work(work), ns);
}

static bool may_use_helpers(void *ctx, pid_t pid, enum sym_client_work work)
{
	return work_budget_may(ctx, (uint32_t)pid, helper_work(work));
}

void recorder_limit_helpers(struct recorder *r, uint64_t now_ns)
{
	if (now_ns - r->start_ns >= UNLIMITED_NS)
		sym_client_limit_reading(r->broker, r->max_cost_ns / FILE_PARTS);
}

/* The first state of all processes was read without a limit of time. */
static void limit_work(struct recorder *r)
{
	if (!r->max_cost_ns)
		return;
	work_budget_cap(tasks_work(r->tasks), r->max_cost_ns);
	if (r->proc_reader)
		proc_reader_limit(r->proc_reader, r->max_cost_ns / PROC_PARTS);
}

/* A user who has cancelled the recording does not want the command either. */
static int start_command(struct recorder *r)
{
	if (!r->launch)
		return 0;
	if (!*r->cfg->stop)
		return launch_go(r->launch);
	log_error("record: interrupted before '%s' was started", r->cfg->command[0]);
	return -EINTR;
}

int recorder_start(struct recorder *r)
{
	int err;

	r->tasks = tasks_new(r->cfg->capture.system_wide);
	if (proc_reader_new(&r->proc_reader))
		log_warn("record: no thread reads /proc: a process that hangs may delay the start");
	else if (r->max_cost_ns)
		proc_reader_limit(r->proc_reader, 0);
	tasks_set_reader(r->tasks, r->proc_reader);
	if (r->cfg->capture.system_wide)
		work_budget_limit(tasks_work(r->tasks));
	sym_client_limit(r->broker, &(struct sym_client_limiter){ charge_helpers, may_use_helpers,
								  tasks_work(r->tasks) });
	err = targets_seed(r->targets, r->capture, r->tasks,
			   r->cfg->pid_cnt && !r->cfg->no_inherit);
	if (!err)
		err = prepare_frames(r);
	if (err)
		return err;
	if (r->cfg->capture.system_wide && !r->cfg->summary_ns)
		tasks_scan_all(r->tasks);
	unwind_prefetch_prepare(&(struct unwind_prefetch){
		.tasks = r->tasks,
		.frames = r->frames,
		.unwinding = r->unwind,
		.launch = r->launch,
		.exec_probe = r->exec_probe,
		.all = r->cfg->capture.system_wide,
	});
	r->start_ns = clock_mono_ns();
	trigger_window_begin(&r->window, r->capture, r->start_ns);
	if (recorder_capture_has_kernel_code(r->cfg, r->events))
		r->kallsyms = kallsyms_thread_new(NULL, NULL, &r->realtime);
	err = start_command(r);
	if (err)
		return err;
	limit_work(r);
	prepare_translation(r);
	r->summary =
		kernel_summary_new(capture_summary(r->capture), r->cfg->summary_ns, r->start_ns);
	err = begin_trace(r);
	if (err)
		log_error("record: cannot write the head of the trace: %s", strerror(-err));
	if (!err)
		err = privileges_drop_all_but(r->capabilities);
	return err ? err : privileges_suspend(CAPTURE_CPUS_RIGHTS);
}

/* ---- the end ------------------------------------------------------------------------------------ */

void recorder_cleanup(struct recorder *r)
{
	realtime_end(&r->realtime);
	pipeline_free(r->pipeline);
	kernel_summary_free(r->summary);
	status_free(r->status);
	translate_free(r->translate);
	trigger_free(r->trigger);
	stacks_free(r->stacks);
	unwind_loader_free(r->unwind);
	sideband_reader_free(r->sideband);
	frames_free(r->frames);
	proc_reader_free(r->proc_reader);
	tasks_free(r->tasks);
	capture_free(r->capture);
	kallsyms_thread_free(r->kallsyms);
	targets_free(r->targets);
	exec_probe_free(r->exec_probe);
	launch_free(r->launch);
	eventset_free(r->events);
	if (r->tracefs_fd >= 0)
		close(r->tracefs_fd);
	sym_client_free(r->broker);
	trigger_window_fini(&r->window);
	notify_free(r->notify);
}
