/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_EXPORTER_H
#define D9_EXPORT_EXPORTER_H

/*
 * Export formats, each one file with one struct exporter.
 *
 * `dial9-prof export` (user/cmd/export/export.c) reads the trace, selects events and intervals, and
 * passes them to struct export (exporter.c), which calls the format. A format never asks what was
 * selected; it writes what it gets. There are three kinds of formats:
 *
 *   - sums, such as flame graphs: the format has profile(), which is called once, at the end, with
 *     sums by distinct stacks of distinct threads. The trace is read once.
 *   - streams, such as timelines: the format has some of sample(), interval() and event(). All names are
 *     known when they are called (on a pipe: as far as the look-ahead reaches); so a file is read twice.
 *
 *   - the trace itself: the format has bytes(), and no other data function.
 *
 * A format with `directory` is a stream that writes files of its own to x->dir, and nothing to x->out.
 *
 * To add a format NAME: write user/export/NAME.c with `const struct exporter export_NAME`, and add a
 * row to formats.h. Append the output to x->out, which is written out between calls. In a loop over
 * tables that may be large, call export_flush() now and then. Memory may grow with distinct threads,
 * stacks and symbols, not with the number of events: intern what must be kept for the end (struct
 * stack_table of profile/sched/stack_table.h, names' string ids, thread->idx).
 *
 * Names in a trace are untrusted, and a format must keep its syntax with any name: value_text_name()
 * and value_text_json_name() of export/value_text.h, str_json() of base/str.h. Times are
 * CLOCK_MONOTONIC nanoseconds; times of parts on different clocks (names_part()) cannot be
 * compared.
 */
#include "base/buf.h"
#include "profile/sums/profile.h"
#include "trace/read/reader.h"

struct event_counts;
struct interval;
struct intervals;
struct out_dir;
struct temp_lists;

/* What is exported: --kind. */
enum export_kind {
	EXPORT_CPU, /* CPU samples */
	EXPORT_OFFCPU, /* blocked or sleeping threads */
	EXPORT_RUNQ, /* run-queue latency */
	EXPORT_WALL, /* all three, and unaccounted time */
	/* streams only: also running intervals with their CPU, and the events of the trace */
	EXPORT_ALL,
};

extern const char *const export_kind_names[]; /* names for --kind; without EXPORT_ALL, NULL ends */

/* A thread when it is announced: an equal idx is the same thread, possibly renamed. */
struct export_thread {
	uint32_t idx; /* dense, from 0 */
	uint32_t part; /* the recording */
	uint32_t pid, tid; /* pid TRACE_NONE: unknown */
	uint32_t comm; /* string id, or NAMES_NONE */
};

/* One CPU sample. */
struct export_sample {
	const struct export_thread *thread;
	uint64_t ts; /* ns */
	uint64_t ns; /* CPU time that it stands for; 0: unknown */
	uint32_t cpu; /* TRACE_NONE: unknown */
	const uint64_t *frames; /* leaf first, see names_symbol(); borrowed for the call */
	uint32_t frame_cnt;
	const struct trace_event *raw;
};

/* An interval of a thread, clipped to the selected window. */
struct export_interval {
	const struct export_thread *thread;
	/* state, flags, cpu, waker, ...: see profile/sched/intervals.h */
	const struct interval *raw;
	const uint64_t *frames; /* switch-out stack, if not running; borrowed */
	uint32_t frame_cnt;
	/*
	 * The waker; for a blocked interval the waker at its end. NULL: none or unknown
	 * (raw->waker may still have an interrupt).
	 */
	const struct export_thread *waker;
};

struct exporter;

/* The current export, as its format sees it. */
struct export
{
	const struct exporter *format;
	enum export_kind kind;
	struct reader *reader; /* reader_trace() for the values of events; NULL with bytes() */
	const struct names *names; /* likewise */
	struct buf out; /* append here */
	void *state; /* of the format: format->state_sz zeroed bytes */
	const char *file; /* input name, for formats with a title */
	struct out_dir *dir; /* of a format with directory; the command frees it */
	bool any; /* something was selected so far, */
	uint64_t first_ts, last_ts; /* its time range; both 0 if nothing was */
	/* Of the selected range, if anything in it was selected; valid in profile() and end(). */
	uint64_t span_start, span_ns;
	/* Losses in the selected time range, of all threads and CPUs; valid in end(), NULL: not known. */
	const struct event_counts *losses;

	struct export_run *run; /* private to exporter.c */
};

/* Functions that a format does not need are NULL. They report errors with export_check_lists(). */
struct exporter {
	const char *name; /* on the command line */
	const char *brief; /* purpose in a few words */
	bool binary; /* not for terminals */
	bool one_axis; /* all times are on one axis, also times of clocks that cannot be compared */
	bool in_order; /* profile() calls export_each_in_order() */
	bool directory; /* the output is a directory of files; has all kinds */
	bool all_losses; /* event() gets losses whatever threads and CPUs are selected */
	size_t state_sz;
	/*
	 * Sums weighted by time: the message for samples without a known period, as in "3 samples
	 * of part 2 WORDS"; by kind, NULL: they are counted like others.
	 */
	const char *untimed[EXPORT_ALL];

	void (*begin)(struct export *x); /* before all others */
	/* ---- sums ---- */
	/*
	 * Weights are nanoseconds (profile_stack_weight()), 0 for samples without a known period;
	 * counts are samples or intervals. With EXPORT_WALL stacks are separate by state.
	 */
	void (*profile)(struct export *x, struct profile *p);
	/* ---- streams ---- */
	/* A thread, before its first use, and again when its name changes. */
	void (*thread)(struct export *x, const struct export_thread *t);
	void (*sample)(struct export *x, const struct export_sample *s);
	/*
	 * Intervals of one thread come in order, intervals of several threads in the order of their
	 * ends.
	 */
	void (*interval)(struct export *x, const struct export_interval *i);
	/*
	 * An event other than a CPU sample, in the order of the trace: tracepoints with typed
	 * fields (ev->schema->field_names, ev->values, value_text_json_field()), stacks of switches
	 * and wakeups, losses, events of applications; without those that only name things. @t: the
	 * current thread, NULL: unknown.
	 */
	void (*event)(struct export *x, const struct export_thread *t,
		      const struct trace_event *ev);

	/* ---- the trace itself ---- */
	/* The dial9 stream of the selection, in pieces. */
	void (*bytes)(struct export *x, const void *data, size_t sz);

	void (*end)(struct export *x); /* after all others */
	void (*fini)(struct export *x); /* frees what the state owns; always called */
};

/* ---- for formats ---- */

/*
 * Writes out x->out if it is large. Called between all calls of a format; formats call it in their
 * own long loops.
 */
void export_flush(struct export *x);

/*
 * An interval in the form of a sample at its end, with thread, CPU and stack, for printers of
 * events. It has no fields.
 */
struct trace_event export_interval_event(const struct export_interval *i);

/* The export fails with @err, for which a line was printed. */
void export_fail(struct export *x, int err);

/* If @lists has an error, prints one line, and the export fails. */
void export_check_lists(struct export *x, const struct temp_lists *lists);

/*
 * Calls back for each sample and interval of the sums, in the order of the trace: the number of its stack,
 * and its time (0: a sample). For formats with in_order, in profile().
 */
void export_each_in_order(struct export *x, void (*fn)(void *ctx, uint32_t stack, uint64_t ns),
			  void *ctx);

/* ---- for the command ---- */

struct export_opts {
	const struct exporter *format;
	enum export_kind kind;
	struct reader *reader; /* borrowed; NULL for a format with bytes() */
	const char *file;
	struct out_dir *dir; /* borrowed; for a format with directory */
	/* Writes all of it: 0 or -errno. After a failure nothing more is written. */
	int (*write)(void *ctx, const void *data, size_t sz);
	void *ctx;
};

/* Never NULL. Starts the export; free with export_free(). */
struct export *export_new(const struct export_opts *opts);
void export_free(struct export *x);

/*
 * Whether the trace can be read once, because names are needed only at the end: see export_reset().
 */
bool export_is_sum(const struct exporter *format);
/* Resets the sums, to read the trace again from its start. Sums only. */
void export_reset(struct export *x);

/* A selected event. Samples of any source are @ev->kind TRACE_SAMPLE. */
void export_event(struct export *x, const struct trace_event *ev);
/*
 * An interval. @wanted: it was selected; pass the others too, because stacks carry over to later
 * intervals. @cgroup as in cpu_time_add(). @iv is the engine that calls back with it.
 */
void export_interval(struct export *x, const struct intervals *iv, const struct interval *i,
		     uint32_t cgroup, bool wanted);
/* A piece of the stream, for a format with bytes(): 0, or the result of write() so far. */
int export_bytes(struct export *x, const void *data, size_t sz);
/* Ends, and writes out everything: 0 or the result of write(). */
int export_end(struct export *x);

#endif /* D9_EXPORT_EXPORTER_H */
