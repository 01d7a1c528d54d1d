/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_EXPORTER_H
#define D9_EXPORT_EXPORTER_H

/*
 * Formats that a trace is exported to, each one file with one struct exporter.
 *
 * `dial9-prof export` (user/cmd/export/export.c) reads the trace, selects, and tells struct export (exporter.c)
 * of events and intervals; that one calls the format. A format never asks what was selected: it writes
 * what it is told of. There are three sorts:
 *
 *   - sums, such as flame graphs: the format has profile(), which is called once, at the end, with all
 *     that was summed by distinct stacks of distinct threads. The trace is read once.
 *   - streams, such as timelines: the format has some of sample(), interval() and event(). All names are
 *     known when they are called (on a pipe: as far as could be waited for), a file is read twice for that.
 *
 *   - the trace itself: the format has bytes(). It is told of nothing else.
 *
 * To add a format NAME: write user/export/NAME.c with `const struct exporter export_NAME`, and add a row to formats.h.
 * A format appends its output to x->out, which is written out between calls. Within a loop over tables that may be
 * large it calls export_flush() now and then. Memory may grow with distinct threads, stacks and symbols, never with
 * the number of events: what must be kept for the end is
 * interned (struct stack_table of profile/sched/stack_table.h, names' string ids, thread->idx).
 *
 * Names in a trace are hostile, and a format must stay within its grammar whatever they are: name_text_name()
 * and name_text_json_name() of export/name_text.h, str_json() of base/str.h. Times are CLOCK_MONOTONIC nanoseconds;
 * those of parts of the stream on other clocks (names_part()) do not compare.
 */
#include "base/buf.h"
#include "profile/sums/profile.h"
#include "trace/read/reader.h"

struct interval;
struct intervals;

/* What is exported: --kind. */
enum export_kind {
	EXPORT_CPU, /* CPU samples */
	EXPORT_OFFCPU, /* the times in which threads were blocked or asleep */
	EXPORT_RUNQ, /* those in which they waited for a CPU */
	EXPORT_WALL, /* all three, and times of which the trace does not tell */
	EXPORT_ALL, /* streams only: also on which CPU they ran, and the events of the trace */
};

extern const char *const export_kind_names[]; /* as --kind has them; EXPORT_ALL is none, NULL ends */

/* A thread, as it is when it is told of: the same idx is the same thread, also under another name. */
struct export_thread {
	uint32_t idx; /* dense, from 0 */
	uint32_t part; /* of the stream */
	uint32_t pid, tid; /* pid TRACE_NONE: unknown */
	uint32_t comm; /* string id, or NAMES_NONE */
};

/* One CPU sample. */
struct export_sample {
	const struct export_thread *thread;
	uint64_t ts; /* ns */
	uint64_t ns; /* of CPU time for which it stands; 0: the trace does not say */
	uint32_t cpu; /* TRACE_NONE: unknown */
	const uint64_t *frames; /* leaf first, see names_symbol(); borrowed for the call */
	uint32_t frame_cnt;
	const struct trace_event *raw;
};

/* What a thread did from when to when, cut to the selected window. */
struct export_interval {
	const struct export_thread *thread;
	const struct interval *raw; /* state, flags, cpu, waker, ...: see profile/sched/intervals.h */
	const uint64_t *frames; /* where it was switched out, of what is not running; borrowed */
	uint32_t frame_cnt;
	/* The task that woke it: of a blocked one at its end. NULL: none, or it is not known (raw->waker may
	 * still name an interrupt). */
	const struct export_thread *waker;
};

struct exporter;

/* One export under way, as its format sees it. */
struct export
{
	const struct exporter *format;
	enum export_kind kind;
	struct reader *reader; /* reader_trace() for the values of events; NULL with bytes() */
	const struct names *names; /* likewise */
	struct buf out; /* append here */
	void *state; /* of the format: format->state_sz zeroed bytes */
	const char *file; /* what was read, for formats that have a title */
	bool any; /* something was selected so far, */
	uint64_t first_ts, last_ts; /* from when to when; both 0 of nothing */
	/* Of what was looked at, whether anything in it was selected; known to profile() and end(). */
	uint64_t span_start, span_ns;

	struct export_run *run; /* exporter.c's own */
};

/* A function that a format does not need is NULL. None of them fails, unless by export_fail(). */
struct exporter {
	const char *name; /* the word of the command line */
	const char *brief; /* what it is for, in a few words */
	bool binary; /* nothing for a terminal */
	bool one_axis; /* all times lie on it, also those of clocks that do not compare */
	size_t state_sz;
	/*
	 * Of sums that weigh by time, what becomes of samples that stand for no known time, as in "3 samples of
	 * part 2 WORDS"; by kind, NULL: it counts them like all others.
	 */
	const char *untimed[EXPORT_ALL];

	void (*begin)(struct export *x); /* before all others */
	/* ---- sums ---- */
	/*
	 * Weights are nanoseconds (profile_stack_weight()), of samples without a known rate 0; counts are
	 * samples or intervals. With EXPORT_WALL stacks are told apart by state.
	 */
	void (*profile)(struct export *x, struct profile *p);
	/* ---- streams ---- */
	/* A thread, before it is first told of, and again when its name changes. */
	void (*thread)(struct export *x, const struct export_thread *t);
	void (*sample)(struct export *x, const struct export_sample *s);
	/* Intervals of one thread come in order, those of several in the order of their ends. */
	void (*interval)(struct export *x, const struct export_interval *i);
	/*
	 * An event that is no CPU sample, in the order of the trace: tracepoints with typed fields
	 * (ev->schema->field_names, ev->values, name_text_json_field()), stacks of switches and wakings, losses,
	 * events of applications; none that only names things. @t: the current thread, NULL: unknown.
	 */
	void (*event)(struct export *x, const struct export_thread *t,
		      const struct trace_event *ev);

	/* ---- the trace itself ---- */
	/* The dial9 stream of what was selected, piece by piece. */
	void (*bytes)(struct export *x, const void *data, size_t sz);

	void (*end)(struct export *x); /* after all others */
	void (*fini)(struct export *x); /* releases what the state holds; always called */
};

/* ---- for formats ---- */

/*
 * Writes out what is in x->out if it is much. Called between all calls of a format; formats call it in
 * their own long loops.
 */
void export_flush(struct export *x);

/*
 * An interval in the shape of a sample at its end, with thread, CPU and stack, for printers of events.
 * It has no fields.
 */
struct trace_event export_interval_event(const struct export_interval *i);

/* What a format needs beside its output is out of order: one line is printed, and the export has failed. */
void export_fail(struct export *x, const char *what, int err);

/* ---- for the command ---- */

struct export_opts {
	const struct exporter *format;
	enum export_kind kind;
	struct reader *reader; /* borrowed; NULL for a format with bytes() */
	const char *file;
	/* Writes all of it: 0 or -errno. After a failure nothing more is written. */
	int (*write)(void *ctx, const void *data, size_t sz);
	void *ctx;
};

/* Never NULL. Begins; free with export_free(). */
struct export *export_new(const struct export_opts *opts);
void export_free(struct export *x);

/* Whether the trace may be read once and its names come last: see export_reset(). */
bool export_is_sum(const struct exporter *format);
/* Drops what was summed so far: the trace is read from its start again. Of sums only. */
void export_reset(struct export *x);

/* An event that was selected. @ev->kind TRACE_SAMPLE of any source among them. */
void export_event(struct export *x, const struct trace_event *ev);
/*
 * An interval that was selected; @cgroup as in cpu_time_add(); @iv, from which it comes, is at it. Also
 * those that were not must be told of, with @wanted false: stacks are inherited.
 */
void export_interval(struct export *x, const struct intervals *iv, const struct interval *i,
		     uint32_t cgroup, bool wanted);
/* A piece of the stream, for a format with bytes(): 0, or what write() returned so far. */
int export_bytes(struct export *x, const void *data, size_t sz);
/* Ends, and writes out all: 0 or what write() returned. */
int export_end(struct export *x);

#endif /* D9_EXPORT_EXPORTER_H */
