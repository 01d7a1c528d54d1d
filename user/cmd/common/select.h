/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_SELECT_H
#define D9_CMD_COMMON_SELECT_H

#include "base/buf.h"
#include "base/hmap.h"
#include "base/opts.h"
#include "trace/read/reader.h"

struct interval;

/* The options that all reading commands share. */
struct select_opts {
	const char *input;
	struct opt_u32s pids, tids, cpus;
	struct opt_list comms, cgroups;
	const char *time;
};

/* Rows of an option table for a member `m` of type struct select_opts in struct `s`. */
#define SELECT_OPT_INPUT(s, m)                                                                     \
	{                                                                                          \
		.name = "input", .key = 'i', .kind = OPT_STR, .off = offsetof(s, m.input),         \
		.arg = "FILE", .help = "Trace to read; - is standard input (default dial9.bin)",   \
		.group = "Input"                                                                   \
	}
#define SELECT_OPTS(s, m)                                                                             \
	{ .name = "pid",                                                                              \
	  .key = 'p',                                                                                 \
	  .kind = OPT_PIDS,                                                                           \
	  .off = offsetof(s, m.pids),                                                                 \
	  .arg = "LIST",                                                                              \
	  .help = "Only these processes",                                                             \
	  .group = "Selection" },                                                                     \
		{ .name = "tid",                                                                      \
		  .key = 't',                                                                         \
		  .kind = OPT_PIDS,                                                                   \
		  .off = offsetof(s, m.tids),                                                         \
		  .arg = "LIST",                                                                      \
		  .help = "Only these threads" },                                                     \
		{ .name = "comm",                                                                     \
		  .kind = OPT_LIST,                                                                   \
		  .off = offsetof(s, m.comms),                                                        \
		  .arg = "GLOB",                                                                      \
		  .help = "Only threads with a matching name; may be repeated" },                     \
		{ .name = "cgroup",                                                                   \
		  .kind = OPT_LIST,                                                                   \
		  .off = offsetof(s, m.cgroups),                                                      \
		  .arg = "GLOB",                                                                      \
		  .help = "Only threads in matching control groups or below them; may be repeated" }, \
		{ .name = "cpu",                                                                      \
		  .key = 'C',                                                                         \
		  .kind = OPT_CPUS,                                                                   \
		  .off = offsetof(s, m.cpus),                                                         \
		  .arg = "LIST",                                                                      \
		  .help = "Only these CPUs, for example 0-3,8" },                                     \
	{                                                                                             \
		.name = "time", .kind = OPT_STR, .off = offsetof(s, m.time), .arg = "A,B",            \
		.help = "Only from A to B: seconds as script prints them; +1.5, 1500ms or 1s from "   \
			"the start; 10%; or 12:34:56; either may be empty"                            \
	}

/* A row for events, by names of export/script_line.h; @at: a struct opt_list, as in struct opt. */
#define SELECT_OPT_EVENT(at)                                                                       \
	{                                                                                          \
		.name = "event", .key = 'e', .kind = OPT_LIST, .off = (at), .arg = "GLOB",         \
		.help = "Only these events: for example 'sched:*', cpu-clock (samples), or the "   \
			"stacks " SCRIPT_SWITCH_OUT ", " SCRIPT_WAKER " and " SCRIPT_EVENT_STACK   \
			"; may be repeated"                                                        \
	}

/* Input and selection. */
#define SELECT_READ_OPTS(s, m) SELECT_OPT_INPUT(s, m), SELECT_OPTS(s, m)

/* One end of a time window before it is known what it means in this trace. */
struct select_time {
	enum { SELECT_NONE, SELECT_ABSOLUTE, SELECT_RELATIVE, SELECT_PERCENT, SELECT_CLOCK } kind;
	uint64_t value; /* ns; percent: millionths; clock: ns since midnight, local time */
};

/* What a time window comes to on one clock of the trace: see struct part. */
struct select_window {
	bool seen, resolved;
	uint64_t first_ts, last_ts; /* of what happened on that clock */
	uint64_t from_ns, to_ns;
};

/* A compiled selection; select_fini() releases it. */
struct select {
	const struct select_opts *opts;
	struct select_time from, to;
	bool has_time;
	struct select_window *windows; /* by clock */
	size_t window_cnt, window_cap;
	bool *cpus_seen; /* of those that are selected */
	size_t cpus_unseen;
	bool reversed; /* the window ends before it begins, which was seen only in the trace */
	struct hmap *cgroups; /* string id -> verdict; a cache, hence not part of the value */
};

/*
 * The input that the command line names: -i, else the positional word, else dial9.bin. NULL after
 * one printed line when there is more than one.
 */
const char *select_input(const struct select_opts *o, int argc, char **argv, int first_positional);

/*
 * A command that reads one trace: its options go from the command line to @opts, of which @sel is a part,
 * and fn gets them and the input. What fn returns, or another exit code of cmd.h where it is not called.
 */
int select_run(const struct opt_spec *spec, int argc, char **argv, void *opts,
	       const struct select_opts *sel, int (*fn)(const void *opts, const char *path));

/* Compiles @o, which must outlive @sel. 0, or -EINVAL after one printed line. */
int select_init(struct select *sel, const struct select_opts *o);
void select_fini(struct select *sel);

/* True when the trace must be read once before (select_scan()), since percentages are asked for. */
bool select_wants_scan(const struct select *sel);
/* Reads all of @r for its span and rewinds it. 0, or -errno after one printed line. */
int select_scan(struct select *sel, struct reader *r);

/* Whether --time is a window of the trace's clock that is known before anything is read. */
bool select_is_absolute(const struct select *sel, uint64_t *from_ns, uint64_t *to_ns);

/* Every event in order, wanted or not, before it is matched: times are resolved against them. */
void select_observe(struct select *sel, const struct reader *r, const struct trace_event *ev);

/*
 * After reading: whether the window ended before its start; then one line has been printed. Ends of different
 * kinds, such as 10%,+1, cannot be compared earlier.
 */
bool select_is_reversed(const struct select *sel);

/* What the options of SELECT_OPTS are called where nothing passes them: "-p, -t, ... and --time". */
#define SELECT_NAMES "-p, -t, --comm, --cgroup, -C and --time"

/*
 * "it covers 1.000000 to 2.000000, --time 3,4 is outside", after reading: where the window is outside
 * of the trace on all of its clocks. False, and nothing, where it is not.
 */
bool select_put_outside(const struct select *sel, struct buf *out);

/*
 * When the selection let nothing of @what through: says so in one line, and when the trace is, or which thread, process or CPU it
 * is that the trace does not have. Returns what to exit with, CMD_USAGE.
 */
int select_report_missing(const struct select *sel, const struct reader *r, const char *what);
/* Why a task may be missing, as the end of a message: "" if only targets were recorded. */
const char *select_why_no_task(const struct names *n);

/* Whether the event is wanted. */
bool select_match(const struct select *sel, const struct reader *r, const struct trace_event *ev);

/* Whether what a thread did on a CPU is wanted, whenever that was; @cpu may be TRACE_NONE: any. */
bool select_match_thread(const struct select *sel, const struct reader *r, uint32_t tid,
			 uint32_t cpu);

/* The same for a thread of which this is known. */
bool select_match_task(const struct select *sel, const struct names *n,
		       const struct names_task *task, uint32_t cpu);

/*
 * The task of an interval: its own names, and for unknown ones the current names of its thread. If these are only
 * guessed from a switch, the first written names are used. @now: the part of the current event, because a part's
 * last intervals arrive after the next part has begun.
 */
struct names_task select_interval_task(const struct reader *r, uint32_t now,
				       const struct interval *i);

/*
 * Reads all of @r for names and rewinds it, if threads are selected and a file can be read twice: the name of a
 * thread may follow its events. 0, or -errno after one printed line.
 */
int select_learn(const struct select *sel, struct reader *r);
/* The same whether or not threads are selected. */
int select_learn_tasks(struct reader *r);

/* Whether threads are selected: by -p, -t, --comm or --cgroup. */
bool select_by_thread(const struct select *sel);
/* Whether any of SELECT_NAMES was given. */
bool select_is_used(const struct select *sel);
/* The same of options, before a trace is open. */
bool select_opts_are_used(const struct select_opts *opts);

/*
 * The window on a clock (struct part); false: there is none. Only once an event on that clock was
 * seen; both ends belong to it.
 */
bool select_window(const struct select *sel, uint32_t clock, uint64_t *from, uint64_t *to);

/* Whether something between these times of a part touches the window. */
bool select_overlaps(const struct select *sel, const struct reader *r, uint32_t part,
		     uint64_t first, uint64_t last);

#endif /* D9_CMD_COMMON_SELECT_H */
