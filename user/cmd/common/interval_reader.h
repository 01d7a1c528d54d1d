/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_INTERVAL_READER_H
#define D9_CMD_COMMON_INTERVAL_READER_H

#include "cmd/common/progress.h"
#include "cmd/common/select.h"
#include "profile/sched/intervals.h"
#include "profile/sched/recorded_time.h"
#include "profile/sched/recorder_tasks.h"
#include "profile/sums/event_counts.h"

/*
 * Reads a trace for a command about the states of threads. Its events go through the interval engine, cut to the
 * window of --time. The command gets the intervals and the requested events.
 */
struct interval_reader_opts {
	const struct select_opts *sel; /* borrowed */
	interval_fn
		fn; /* intervals of all threads of parts with switches: see interval_reader_wants() */
	/* Each event, before the engine takes it. May be NULL. */
	void (*event)(void *ctx, const struct trace *t, const struct trace_event *ev);
	/*
	 * Resets all sums: reading starts again, because a loss was found and earlier times must be evaluated
	 * again, or because a thread to hide was named after its first interval. NULL: the command prints while
	 * reading, so losses are searched first.
	 */
	void (*reset)(void *ctx);
	void *ctx;
	struct source *src; /* read in place of a path, and taken over; NULL: none */
	/* Reading fails without a line after *stop is set. NULL: not. */
	const volatile sig_atomic_t *stop;
	/*
	 * The command needs complete thread states: a trace with off-CPU intervals in place of switches
	 * (PROF_EV_OFF_CPU) counts as a trace without switches.
	 */
	bool each_switch;
	/*
	 * Hides and counts threads of the recorder and its helper processes, unless threads are selected by
	 * identity: they would head tables of blocked threads.
	 */
	bool hide_recorder;
	bool no_stacks; /* intervals and events of switches come without: it is faster */
};

struct interval_reader {
	struct interval_reader_opts opts;
	struct select sel;
	struct reader *reader;
	struct progress *progress;
	struct names *names; /* of the reader */
	struct intervals *intervals;
	struct event_counts losses; /* in the window: see event_counts_add_loss() */
	struct recorded_time observed; /* all of the trace: see interval_reader_observed() */
	bool any; /* something happened in the trace, */
	uint64_t first_ts, last_ts; /* from when to when; both 0 when nothing did; */
	uint32_t first_clock; /* on which all that is */
	/* of interval_reader_again(): */
	bool narrowed;
	uint32_t clock;
	uint64_t from, to;
	bool learnt; /* losses and names, by a reading before */
	uint32_t part; /* of the event at hand */
	uint64_t switches; /* or off-CPU intervals in the whole trace; without: interval_reader_has_states() */
	struct hmap hidden; /* threads hidden by opts.hide_recorder: clock << 32 | tid */
	struct hmap shown; /* with it: all others with an interval so far; the same -> part + 1 */
	struct recorder_tasks recorder;
	struct hmap switched; /* see interval_reader_has_switches() */
};

/*
 * Reads all of @path, which is NULL with opts->src. CMD_OK, or an exit code after one printed line; interval_reader_fini() must follow either
 * way. Within fn and event r->intervals and r->reader are at that event.
 */
int interval_reader_run(struct interval_reader *r, const struct interval_reader_opts *opts,
			const char *path);
/*
 * Once more, after interval_reader_run() with a reset, and only from @from to @to on one clock: an exit code as
 * there. A pipe cannot do that; the line then ends with @instead, such as ", or ...".
 */
int interval_reader_again(struct interval_reader *r, uint32_t clock, uint64_t from, uint64_t to,
			  const char *instead);
/* The same with the previous window. */
int interval_reader_reread(struct interval_reader *r);
void interval_reader_fini(struct interval_reader *r);

/* Whether a part of the stream has switches, as far as it was ever read, or none because no target switched. */
bool interval_reader_has_switches(const struct interval_reader *r, uint32_t part);
/* The same of any part. */
bool interval_reader_has_states(const struct interval_reader *r);
/*
 * Whether it has off-CPU intervals in place of switches, with the limits of the first such part: see
 * offcpu_interval_is_recorded(). Their threads' states in between are unknown.
 */
bool interval_reader_stays(const struct interval_reader *r, uint64_t *min_ns, uint64_t *max_ns);
/* Whether opts.hide_recorder leaves this thread out; counts it if so. @pid TRACE_NONE: as the thread was named. */
bool interval_reader_hides(struct interval_reader *r, uint32_t part, uint32_t pid, uint32_t tid);
/* Whether the time of an event that has one is in the window. */
bool interval_reader_has_time(const struct interval_reader *r, const struct trace_event *ev);

/* Whether the trace has thread states, but options of select.h restrict them. */
bool interval_reader_is_chosen(const struct interval_reader *r);
/* Start and length of the window, on the first clock of the trace. */
uint64_t interval_reader_start_ns(const struct interval_reader *t);
uint64_t interval_reader_span_ns(const struct interval_reader *t);
/*
 * The recorded time in the window in parts with switches, on one CPU; TRACE_NONE: on any. Equals
 * interval_reader_span_ns() for a single part without losses and pauses.
 */
struct recorded_time_sum interval_reader_observed(const struct interval_reader *t, uint32_t cpu);
/* Whether -p, -t, -C, --comm and --cgroup let an interval through, on this CPU; TRACE_NONE: on any. */
bool interval_reader_wants(const struct interval_reader *r, const struct interval *i, uint32_t cpu);

#endif /* D9_CMD_COMMON_INTERVAL_READER_H */
