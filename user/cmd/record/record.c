// SPDX-License-Identifier: BSD-2-Clause
/*
 * record.c - dial9-prof record: the command line becomes a recording
 *
 * Checks that the options make sense together, sets up signals, and shows progress and the summary.
 * The summary's hottest functions are read back from the file that was just written.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/out_file.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/record/app_trace.h"
#include "cmd/record/block_opts.h"
#include "cmd/record/end_summary.h"
#include "cmd/record/event_opts.h"
#include "cmd/record/flight_opts.h"
#include "cmd/record/output_opts.h"
#include "cmd/record/record.h"
#include "cmd/record/record_signals.h"
#include "cmd/record/ship_child.h"
#include "cmd/record/target.h"
#include "cmd/record/load_shedding_opts.h"
#include "record/control/control.h"
#include "record/encode/user_metadata.h"
#include "record/output/stream.h"
#include "record/recorder.h"

#define SUMMARY_MIN_NS 200000000ULL
#define SUMMARY_MAX_NS 600000000000ULL
#define MS_NS 1000000ULL
#define NAMES_WAIT_NS (10000 * MS_NS)
#define LIMITED_NAMES_WAIT_NS (500 * MS_NS) /* with --max-overhead */

static const char *const stack_choices[] = { "none", "user", "both", NULL };
static const char *const call_graph_choices[] = { "auto", "fp", "no", "dwarf", NULL };
static const uint32_t call_graphs[] = { PROF_CALL_GRAPH_AUTO, PROF_CALL_GRAPH_FP,
					PROF_CALL_GRAPH_NO, PROF_CALL_GRAPH_AUTO };
static const char *const clock_choices[] = { "mono", "boot", NULL };
static const char *const spec_choices[] = { "0.3", "0.4", NULL };

enum { STACKS_NONE, STACKS_USER, STACKS_BOTH };
enum { SPEC_0_3, SPEC_0_4 };
enum {
	MEM_MIN = 32 << 20,
	UNWIND_MEM_MIN = 1 << 20,
	UNWIND_MEM_MAX = 1 << 30,
	RING_MIN = 4096,
	RING_MAX = 1 << 30,
	HZ_MAX = 100000,
	PRIORITY_MAX = 99,
	STACK_KIB_MIN = 128
};

struct record_opts {
	struct recorder_cfg
		cfg; /* options go here as they are, or become part of it when all are known */
	struct target_opts target;
	bool neighbours;
	struct block_opts block;
	struct load_shedding_opts load_shedding;
	struct opt_list events;
	struct opt_list filters; /* of the events */
	bool sched;
	int switch_stacks;
	int wakeup_stacks;
	int event_stacks;
	int call_graph;
	struct output_opts output;
	struct flight_opts flight;
	struct flight_events triggers;
	struct ship_child_opts ship;
	const char *app_trace;
	int spec;
	const char *delay;
	const char *debug;
	uint32_t ready_fd;
	int clock;
	struct opt_list meta;
	struct user_metadata_entry entries[USER_METADATA_MAX];
	bool quiet;
	bool habit;
	int verbose;
	bool progress;
	bool no_progress;
};

#define AT(member) offsetof(struct record_opts, member)

static const struct opt record_table[] = {
	TARGET_OPTS(struct record_opts, target),
	{ .name = "neighbours",
	  .kind = OPT_FLAG,
	  .off = AT(neighbours),
	  .help = "Also record context switches of all tasks on a CPU while a target is runnable there" },

	{ .name = "event",
	  .key = 'e',
	  .kind = OPT_LIST,
	  .off = AT(events),
	  .arg = "SYS:EVENT",
	  .group = "Events",
	  .help = "Also record this tracepoint (see dial9-prof list); globs, comma lists, repeatable" },
	{ .name = "filter",
	  .kind = OPT_LIST_OF,
	  .off = AT(filters),
	  .of = AT(events),
	  .of_what = "-e",
	  .arg = "EXPR",
	  .help = "Record the events of the preceding -e only if EXPR is true: "
		  "prev_state == 2 && next_comm ~ \"kworker*\"" },
	{ .name = "no-sched",
	  .kind = OPT_NOT,
	  .off = AT(sched),
	  .help = "Do not record scheduler events" },
	{ .name = "summary",
	  .kind = OPT_DURATION,
	  .off = AT(cfg.summary_ns),
	  .arg = "SEC",
	  .implied = "1",
	  .min = 1,
	  .help = "Record no events and no samples, but sums of run-queue, blocked and run time "
		  "per process, every SEC (default 1; 200ms to 10m)" },
	BLOCK_OPTS(struct record_opts, block),
	{ .name = "no-samples",
	  .kind = OPT_NOT,
	  .off = AT(cfg.capture.samples),
	  .help = "Do not take CPU samples" },
	{ .name = "freq",
	  .key = 'F',
	  .kind = OPT_U32,
	  .off = AT(cfg.capture.hz),
	  .arg = "HZ",
	  .min = 1,
	  .max = HZ_MAX,
	  .help = "CPU samples per second on each CPU (default 99)" },
	{ .name = "switch-stacks",
	  .kind = OPT_CHOICE,
	  .off = AT(switch_stacks),
	  .choices = stack_choices,
	  .help = "Record stacks of threads that leave the CPU (default both)" },
	{ .name = "waker-stacks",
	  .kind = OPT_CHOICE,
	  .off = AT(wakeup_stacks),
	  .choices = stack_choices,
	  .help = "Record waker stacks (default none)" },
	{ .name = "waking-stacks",
	  .kind = OPT_CHOICE,
	  .off = AT(wakeup_stacks),
	  .choices = stack_choices },
	{ .name = "event-stacks",
	  .kind = OPT_CHOICE,
	  .off = AT(event_stacks),
	  .choices = stack_choices,
	  .help = "Record stacks of the tracepoints of -e (default none)" },
	{ .name = "call-graph",
	  .kind = OPT_CHOICE,
	  .off = AT(call_graph),
	  .choices = call_graph_choices,
	  .help = "How to walk user stacks: auto and dwarf with unwind tables, fp with frame "
		  "pointers only, no: only the current address (default auto)" },
	{ .name = "max-stack",
	  .kind = OPT_U32,
	  .off = AT(cfg.capture.max_stack),
	  .arg = "N",
	  .min = 1,
	  .max = PROF_STACK_MAX,
	  .help = "Maximum frames of a user stack (default and maximum 127)" },
	{ .name = "unwind-mem",
	  .kind = OPT_SIZE,
	  .off = AT(cfg.unwind_mem),
	  .min = UNWIND_MEM_MIN,
	  .max = UNWIND_MEM_MAX,
	  .help = "Kernel memory for unwind tables (default 128M; 1M to 1G)" },
	{ .name = "no-names",
	  .kind = OPT_FLAG,
	  .off = AT(cfg.no_names),
	  .help = "Do not look up symbols of user code" },
	{ .name = "names-wait",
	  .kind = OPT_DURATION,
	  .off = AT(cfg.names_wait_ns),
	  .arg = "SEC",
	  .help = "At the end, wait up to SEC for pending symbol lookups (default 10; 0.5 with "
		  "--max-overhead)" },

	OUTPUT_OPTS(struct record_opts, output),
	{ .name = "app-trace",
	  .kind = OPT_STR,
	  .off = AT(app_trace),
	  .arg = "DIR",
	  .help = "At the end, merge the dial9 traces that the application wrote to DIR" },
	{ .name = "spec",
	  .kind = OPT_CHOICE,
	  .off = AT(spec),
	  .choices = spec_choices,
	  .help = "dial9 level of the file (default 0.4); readers of 0.3 alone need 0.3, "
		  "which is about twice as large" },
	{ .name = "annotate",
	  .kind = OPT_FLAG,
	  .off = AT(cfg.annotate),
	  .help = "Describe fields in the file: units, kinds and names of values; "
		  "some readers of 0.4 stop there" },
	{ .name = "duration",
	  .key = 'd',
	  .kind = OPT_DURATION,
	  .off = AT(cfg.when.duration_ns),
	  .min = 1,
	  .help = "Stop after DUR: 10 (seconds), 500ms, 5m, 1h" },
	{ .name = "delay",
	  .key = 'D',
	  .kind = OPT_STR,
	  .off = AT(delay),
	  .arg = "MS",
	  .help = "Start recording after MS milliseconds; -1: when --control requests it" },
	{ .name = "clockid",
	  .key = 'k',
	  .kind = OPT_CHOICE,
	  .off = AT(clock),
	  .choices = clock_choices,
	  .help = "Clock of the trace; boot also counts while the machine is suspended (default mono)" },
	{ .name = "control",
	  .kind = OPT_STR,
	  .off = AT(cfg.when.control),
	  .arg = "fifo:PATH[,PATH]|fd:N[,N]",
	  .help = "Read enable, disable, snapshot, ping and stop from a FIFO or descriptor, one per line; write ack to the second" },
	{ .name = "ready-fd",
	  .kind = OPT_U32,
	  .off = AT(ready_fd),
	  .arg = "FD",
	  .min = NOTIFY_FD_MIN,
	  .max = INT_MAX,
	  .help = "When recording runs, write a newline to descriptor FD and close it" },
	{ .name = "meta",
	  .kind = OPT_LIST,
	  .off = AT(meta),
	  .arg = "KEY=VALUE",
	  .help = "Add this metadata, which info prints; repeatable" },
	{ .name = "ring-size",
	  .key = 'm',
	  .kind = OPT_SIZE,
	  .off = AT(cfg.capture.ring_bytes),
	  .min = RING_MIN,
	  .max = RING_MAX,
	  .help = "Ring buffer of each CPU (default 4M)" },
	{ .name = "mem-max",
	  .kind = OPT_SIZE,
	  .off = AT(cfg.mem_max),
	  .min = MEM_MIN,
	  .help = "Memory for names, mappings and stacks of programs (default 256M)" },

	FLIGHT_OPTS(struct record_opts, flight),
	SHIP_CHILD_OPTS(struct record_opts, ship),
	{ .name = "realtime",
	  .key = 'r',
	  .kind = OPT_U32,
	  .off = AT(cfg.realtime.priority),
	  .arg = "PRIO",
	  .max = PRIORITY_MAX,
	  .group = "Recorder",
	  .help = "Real-time priority while a ring buffer fills (default 1; 0 for none)" },
	{ .name = "nice",
	  .kind = OPT_INT,
	  .off = AT(cfg.realtime.nice),
	  .int_min = -20,
	  .int_max = 19,
	  .help = "Nice value of the recorder at other times (default -15)" },

	LOAD_SHEDDING_OPTS(struct record_opts, load_shedding),
	{ .name = "btf",
	  .kind = OPT_STR,
	  .off = AT(cfg.capture.btf),
	  .arg = "FILE",
	  .help = "Read the types of this kernel from FILE, if /sys/kernel/btf/vmlinux is hidden" },
	{ .name = "debug",
	  .kind = OPT_STR,
	  .off = AT(debug),
	  .arg = "WORD,...",
	  .help = "no-orc: take kernel stacks with the kernel's helper, the same frames but slower; "
		  "verify-stacks: check each walked, reused or repeated stack against the slow method; "
		  "one-ring: use one ring buffer for all CPUs" },

	{ .name = "quiet",
	  .key = 'q',
	  .kind = OPT_FLAG,
	  .off = AT(quiet),
	  .group = "Messages",
	  .help = "Print errors only" },
	{ .name = "verbose",
	  .key = 'v',
	  .kind = OPT_COUNT,
	  .off = AT(verbose),
	  .help = "Report which kernel features are missing and what is used instead; -vv adds libbpf's messages" },
	{ .name = "progress",
	  .kind = OPT_FLAG,
	  .off = AT(progress),
	  .help = "Print progress and summary even if standard error is not a terminal" },
	{ .name = "no-progress",
	  .kind = OPT_FLAG,
	  .off = AT(no_progress),
	  .help = "Do not print progress and summary" },
	/* what perf's users type out of habit: stacks are always recorded */
	{ .key = 'g', .kind = OPT_FLAG, .off = AT(habit) },
	OPT_ROW_HELP,
};

static const struct opt_spec record_spec = {
	.name = "record",
	.usage = "dial9-prof [record] [OPTIONS] [-- COMMAND [ARG...]]",
	.brief = "Record a process, a command or the system until it ends, -d expires, or Ctrl-C.",
	OPT_ROWS(record_table),
	.stop_at_word = true,
	.examples = "  sudo dial9-prof -p 1234 -d 10\n"
		    "  sudo dial9-prof -a -e 'block:*' -o disk.bin\n"
		    "  sudo dial9-prof -F 999 -- ./server --port 80\n"
		    "  sudo dial9-prof -p 1234 -o - | dial9-prof report -\n",
};

static int usage_error(const char *text)
{
	log_error("record: %s; see dial9-prof record --help", text);
	return -EINVAL;
}

/* Not everybody's switches are recorded anyway. */
static bool is_some(const struct record_opts *o, bool command)
{
	const struct selection_cfg selection = target_selection(&o->target);

	return !target_is_system(&o->target, command) || selection_is_by_task(&selection);
}

static int check(const struct record_opts *o, bool command)
{
	const char *wrong = target_conflict(&o->target, command);
	struct output_cfg output;

	if (wrong)
		return usage_error(wrong);
	if (o->neighbours && (!is_some(o, command) || !o->sched))
		return usage_error("--neighbours needs -p, -t or COMMAND, and scheduler events");
	if (o->cfg.summary_ns && (o->events.cnt || o->neighbours || !o->sched || o->app_trace))
		return usage_error("--summary cannot be combined with -e, --no-sched, "
				   "--neighbours or --app-trace");
	if (o->cfg.summary_ns &&
	    (o->cfg.summary_ns < SUMMARY_MIN_NS || o->cfg.summary_ns > SUMMARY_MAX_NS))
		return usage_error("bad value for --summary: expected 200ms to 10m");
	if (o->cfg.summary_ns && o->target.cpus.cnt)
		return usage_error("--summary cannot be combined with -C");
	if (o->neighbours && o->target.cpus.cnt)
		return usage_error("--neighbours cannot be combined with -C");
	if (out_file_is_stdout(o->output.path) && isatty(STDOUT_FILENO))
		return usage_error("-o - needs a pipe or a file; standard output is a terminal");
	if (o->ready_fd && out_file_is_descriptor(o->output.path, (int)o->ready_fd))
		return usage_error("--ready-fd and -o use the same descriptor; choose another one");
	if (o->app_trace && (output_opts_is_stream(&o->output) || o->output.switching ||
			     o->output.stamp || o->output.compress))
		return usage_error("--app-trace needs one uncompressed file: -o FILE");
	if (o->cfg.annotate && o->spec != SPEC_0_4)
		return usage_error("--annotate needs --spec 0.4");
	wrong = output_opts_read(&o->output, NULL, &output);
	if (wrong)
		return usage_error(wrong);
	if (!o->sched && !o->cfg.capture.samples && !o->events.cnt)
		return usage_error("nothing to record with --no-sched and --no-samples; add "
				   "events with -e");
	wrong = event_opts_wrong(&o->events, &o->filters);
	return wrong ? usage_error(wrong) : 0;
}

/* Where a value makes no sense one line says so. */
static int bad_value(const char *option, const char *value, const char *why)
{
	log_error("record: bad value '%s' for %s: %s", value, option, why);
	return -EINVAL;
}

static int check_shedding(struct record_opts *o)
{
	o->cfg.load_shedding.has_stacks = o->switch_stacks || o->wakeup_stacks;
	if (load_shedding_opts_read(&o->load_shedding, &o->cfg.load_shedding))
		return -EINVAL;
	if (o->cfg.names_wait_ns == UINT64_MAX)
		o->cfg.names_wait_ns =
			o->cfg.load_shedding.max_ppm ? LIMITED_NAMES_WAIT_NS : NAMES_WAIT_NS;
	if (o->cfg.load_shedding.one_in > 1 && o->cfg.summary_ns)
		return usage_error("--sched-sample cannot be combined with --summary");
	return 0;
}

/* Off-CPU intervals replace switches and wakeups, which some options need. */
static int check_block(struct record_opts *o)
{
	if (!block_opts_are_used(&o->block))
		return 0;
	if (!o->sched || o->neighbours || o->cfg.summary_ns || o->wakeup_stacks)
		return usage_error(
			"--min-block and --max-block cannot be combined with --no-sched, "
			"--neighbours, --summary or --waker-stacks");
	if (o->cfg.load_shedding.one_in > 1 || o->cfg.load_shedding.max_ppm)
		return usage_error("--min-block and --max-block cannot be combined with "
				   "--sched-sample or --max-overhead");
	return block_opts_read(&o->block, &o->cfg.capture.off_cpu);
}

static int check_debug(struct record_opts *o)
{
	static const char *const words[] = { "no-orc", "verify-stacks", "one-ring" };
	struct capture_cfg *capture = &o->cfg.capture;
	bool *const set[] = { &capture->no_orc, &capture->verify_stacks, &capture->one_ring };

	for (const char *at = o->debug, *comma; at; at = comma ? comma + 1 : NULL) {
		const int word = opts_word(at, strcspn(at, ","), words, 3);

		if (word < 0)
			return bad_value("--debug", at,
					 "expected no-orc, verify-stacks or one-ring");
		*set[word] = true;
		comma = strchr(at, ',');
	}
	return 0;
}

/* Milliseconds, or a time with its unit. */
static int parse_delay(const char *text, uint64_t *ns)
{
	if (str_parse_u64(text, UINT64_MAX / MS_NS / 2, ns))
		return str_parse_unit_duration(text, ns);
	*ns *= MS_NS;
	return 0;
}

static int check_when(struct record_opts *o)
{
	struct trigger_window_cfg *when = &o->cfg.when;

	when->hold = o->delay && !strcmp(o->delay, "-1");
	if (o->delay && !when->hold && parse_delay(o->delay, &when->delay_ns))
		return bad_value("-D", o->delay,
				 "expected milliseconds, such as 500, a time with a unit, or -1");
	if (when->hold && !o->cfg.when.control)
		return usage_error("-D -1 needs --control");
	if (o->cfg.when.control && control_check(o->cfg.when.control))
		return bad_value("--control", o->cfg.when.control,
				 "expected fifo:PATH[,PATH] or fd:N[,N]");
	return 0;
}

static int check_meta(struct record_opts *o)
{
	struct user_metadata_entry *meta = o->entries;
	const char *why = "too many entries";
	size_t i;

	for (i = 0; i < o->meta.cnt; i++)
		if (i == USER_METADATA_MAX ||
		    user_metadata_parse(o->meta.v[i], meta, i, &meta[i], &why))
			return bad_value("--meta", o->meta.v[i], why);
	return 0;
}

static size_t power_of_two(uint64_t v)
{
	size_t p = RING_MIN;

	while (p < v)
		p <<= 1;
	return p;
}

static uint32_t stacks_of(int choice)
{
	if (choice == STACKS_NONE)
		return 0;
	return choice == STACKS_USER ? PROF_STACKS_USER : PROF_STACKS_USER | PROF_STACKS_KERNEL;
}

static int check_command(const struct record_opts *o, const char *command)
{
	const char *option = command ? output_opts_before(&o->output, command) : NULL;

	if (!option)
		return 0;
	log_error("record: %s needs '=' before its value; use %s=%s, or ./%s if it is the command",
		  option, option, command, command);
	return -EINVAL;
}

static int check_flight(struct record_opts *o)
{
	const char *wrong =
		flight_opts_read(&o->flight, &o->cfg.flight, &o->cfg.trigger, &o->triggers);

	o->cfg.flight.stop = &record_signals_stops;
	o->cfg.trigger.asked = &record_signals_switches;
	if (wrong)
		return usage_error(wrong);
	if (o->flight.keep && (o->output.switching || o->output.max_bytes || o->app_trace ||
			       out_file_is_stdout(o->output.path) || stream_is(o->output.path)))
		return usage_error("--flight cannot be combined with a stream, --switch-output, "
				   "--max-size or --app-trace");
	if (o->output.disk_budget && o->output.disk_budget < o->cfg.flight.bytes)
		return usage_error("--disk-budget is less than the memory of --flight");
	return 0;
}

static void join_words(struct buf *out, int argc, char **argv)
{
	int i;

	buf_addstr(out, "dial9-prof");
	for (i = 1; i < argc; i++)
		buf_printf(out, " %s", argv[i]);
}

static int exit_code(int err, const struct recorder_result *res)
{
	if (err && res->output_failed)
		return CMD_OUTPUT;
	if (err)
		return CMD_START;
	return res->command_ended ? res->command_status : CMD_OK;
}

static void set_stacks(const struct record_opts *o, struct capture_cfg *capture)
{
	capture->switch_stacks = stacks_of(o->switch_stacks);
	capture->wakeup_stacks = stacks_of(o->wakeup_stacks);
	capture->event_stacks = stacks_of(o->event_stacks);
	capture->call_graph = call_graphs[o->call_graph];
	capture->ring_bytes = power_of_two(capture->ring_bytes);
}

static void set_events(const struct record_opts *o, struct recorder_cfg *cfg)
{
	cfg->events = (struct eventset_cfg){
		.sched = o->sched,
		.neighbours = o->neighbours,
		.off_cpu = block_opts_are_used(&o->block),
	};
	event_opts_set(&o->events, &o->filters, &o->triggers, &cfg->events, &cfg->capture);
}

static void set_output(const struct record_opts *o, struct recorder_cfg *cfg)
{
	output_opts_read(&o->output, &record_signals_switches, &cfg->output);
	cfg->output.stop = &record_signals_stops;
	cfg->output.nice = cfg->realtime.nice;
}

/* Sums need no rings, stacks or names. */
static void set_summary(struct recorder_cfg *cfg)
{
	struct capture_cfg *capture = &cfg->capture;

	capture->summary = true;
	cfg->events.sched = false;
	capture->samples = false;
	capture->switch_stacks = capture->wakeup_stacks = capture->event_stacks = 0;
	capture->call_graph = PROF_CALL_GRAPH_NO;
	cfg->no_names = true;
	capture->ring_bytes = RING_MIN;
}

/* @cfg has its command. */
static void set_target(const struct target_opts *o, struct recorder_cfg *cfg)
{
	cfg->capture.system_wide = target_is_system(o, cfg->command != NULL);
	cfg->pids = o->pids.v;
	cfg->pid_cnt = o->pids.cnt;
	cfg->tids = o->tids.v;
	cfg->tid_cnt = o->tids.cnt;
	cfg->as_root = o->as_root;
	cfg->no_inherit = o->no_inherit;
	cfg->selection = target_selection(o);
	cfg->capture.include_self = o->include_self;
}

/* To be ended with event_opts_fini() of its events. */
static void make_cfg(const struct record_opts *o, char **command, struct recorder_cfg *cfg)
{
	*cfg = o->cfg;
	cfg->command = command;
	cfg->notify = (struct notify_cfg){ .ready_fd = (int)o->ready_fd,
					   .reload_asked = &record_signals_switches };
	cfg->meta = o->entries;
	cfg->meta_cnt = o->meta.cnt;
	cfg->level4 = o->spec == SPEC_0_4;
	cfg->stop = &record_signals_stops;
	set_target(&o->target, cfg);
	set_stacks(o, &cfg->capture);
	set_events(o, cfg);
	set_output(o, cfg);
	if (cfg->summary_ns)
		set_summary(cfg);
}

/* A stack overflow has no other message. */
static bool has_stack(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_STACK, &lim) || lim.rlim_cur / 1024 >= STACK_KIB_MIN)
		return true;
	log_error("record: a stack of %ju KiB is too small; raise \"ulimit -s\" to at least %d",
		  (uintmax_t)lim.rlim_cur / 1024, STACK_KIB_MIN);
	return false;
}

static void print_end(const struct record_opts *o, bool show, const struct end_summary *summary,
		      const struct recorder_result *result)
{
	if (show)
		end_summary_print(summary, summary->cfg, result);
	else if (!o->quiet && !o->no_progress)
		end_summary_print_line(summary, summary->cfg, &result->totals);
}

/* The exit code of the recording counts, unless it is a success. */
static int end_ship(struct ship_child *ship, int code)
{
	const int shipped = ship_child_finish(ship, &record_signals_stops);

	return code == CMD_OK ? shipped : code;
}

static int record(struct record_opts *o, char **command, const char *command_line)
{
	bool show = !o->quiet && !o->no_progress && (o->progress || isatty(STDERR_FILENO));
	struct end_summary summary = { .on_terminal = isatty(STDERR_FILENO) };
	struct recorder_cfg cfg;
	struct recorder_result result;
	struct app_trace *app = NULL;
	struct ship_child *ship = NULL;
	int err, code;

	if (!has_stack())
		return CMD_START;
	if (o->ship.to && ship_child_start(&o->ship, &o->output, o->quiet, &ship))
		return CMD_START;
	if (o->app_trace && app_trace_begin(o->app_trace, o->output.path, &app))
		return CMD_START;
	make_cfg(o, command, &cfg);
	cfg.command_line = command_line;
	cfg.helper = (uint32_t)ship_child_pid(ship);
	summary.shipped = ship != NULL;
	cfg.progress = show && summary.on_terminal ? end_summary_progress : NULL;
	cfg.losing = o->quiet ? NULL : end_summary_loss;
	cfg.waiting = show && summary.on_terminal ? end_summary_waiting : NULL;
	cfg.progress_ctx = &summary;
	summary.cfg = &cfg;
	if (cfg.flight.ns && !o->quiet)
		end_summary_flight(&cfg.flight);
	err = recorder_run(&cfg, &result);
	event_opts_fini(&cfg.events);
	if (summary.on_terminal && cfg.progress)
		end_summary_clear_progress();
	summary.file = result.file;
	/* the rest of the figures is unknown, and the reader has enough */
	if (!err && result.end != RECORDER_READER_GONE) {
		print_end(o, show, &summary, &result);
		end_summary_warn_nothing(&cfg, &result.totals);
	}
	if (!err && o->cfg.capture.verify_stacks)
		end_summary_print_stacks(&result.totals, o->quiet);
	code = exit_code(err, &result);
	free(result.file);
	if (err)
		app_trace_abandon(app);
	else if (app && app_trace_finish(app, !show) != CMD_OK && code == CMD_OK)
		code = CMD_INPUT;
	return end_ship(ship, code);
}

static const struct record_opts defaults = {
	.cfg = {
		.capture = {
			.samples = true,
			.hz = 99,
			.max_stack = PROF_STACK_MAX,
			.ring_bytes = 4 << 20,
		},
		.names_wait_ns = UINT64_MAX, /* not given */
		.unwind_mem = 128 << 20,
		.mem_max = 256 << 20,
		.realtime = { .priority = 1, .nice = -15 },
	},
	.sched = true,
	.switch_stacks = STACKS_BOTH,
	.spec = SPEC_0_4,
	.output = { .path = CMD_DEFAULT_FILE, .on_full = OUTPUT_OPTS_DEFAULT },
	.flight.rearm_ns = FLIGHT_REARM_UNSAID,
};

static int check_ship(struct record_opts *o)
{
	const char *wrong = ship_child_check(&o->ship, &o->output, defaults.output.path);

	return wrong ? usage_error(wrong) : 0;
}

/* As opts_parse(), with what options together come to. To be ended with end(). */
static int parse(int argc, char **argv, struct record_opts *o, int *first)
{
	int err;

	*o = defaults;
	err = opts_parse(&record_spec, argc, argv, o, first);
	o->output.snapshots = o->flight.keep;
	if (!err && (check_ship(o) || check(o, *first < argc) || check_when(o) || check_meta(o) ||
		     check_flight(o) || check_shedding(o) || check_block(o) || check_debug(o) ||
		     check_command(o, *first < argc ? argv[*first] : NULL)))
		err = -EINVAL;
	return err;
}

static void end(struct record_opts *o)
{
	flight_opts_fini(&o->triggers);
	opts_fini(&record_spec, o);
}

int record_configured(int argc, char **argv, int (*use)(const struct recorder_cfg *, void *),
		      void *ctx)
{
	struct record_opts o;
	struct recorder_cfg cfg;
	int first, err = parse(argc, argv, &o, &first);

	if (!err) {
		make_cfg(&o, first < argc ? argv + first : NULL, &cfg);
		err = use(&cfg, ctx);
		event_opts_fini(&cfg.events);
	}
	end(&o);
	return err;
}

int cmd_record(int argc, char **argv)
{
	struct record_opts o;
	struct buf command_line = { 0 };
	int first, code = CMD_USAGE, err;

	record_signals_catch_switch();
	join_words(&command_line, argc, argv);
	err = parse(argc, argv, &o, &first);
	if (err == 1)
		code = CMD_OK;
	if (!err) {
		log_set_level(o.quiet	    ? LOG_LEVEL_QUIET :
			      o.verbose > 1 ? LOG_LEVEL_DEBUG :
			      o.verbose	    ? LOG_LEVEL_INFO :
					      LOG_LEVEL_WARN);
		if (!strcmp(clock_choices[o.clock], "boot"))
			clock_count_suspend();
		record_signals_catch(o.output.switching);
		code = record(&o, first < argc ? argv + first : NULL, buf_cstr(&command_line));
	}
	end(&o);
	buf_free(&command_line);
	return code;
}
