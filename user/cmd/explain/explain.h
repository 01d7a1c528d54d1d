/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_EXPLAIN_EXPLAIN_H
#define D9_CMD_EXPLAIN_EXPLAIN_H

#include "cmd/common/interval_report.h"
#include "cmd/common/view.h"
#include "profile/explain/causes.h"
#include "profile/explain/explain.h"
#include "profile/explain/spans.h"
#include "profile/explain/tokio_polls.h"
#include "profile/sched/gaps.h"

/* An interval shorter than this part of the window is described together with its neighbours. */
#define EXPLAIN_SMALL_PART 40

struct explain_opts {
	struct select_opts sel;
	struct view_opts view;
	struct opt_list spans;
	uint32_t tid, pid; /* the one thread or process; 0: not given */
	uint64_t slowest; /* 0: not given */
	uint64_t limit, depth;
	bool worst, json;
};

/* Members of the row for depth; @at as in struct opt. */
#define EXPLAIN_OPT_DEPTH(at)                                                                      \
	.name = "depth", .kind = OPT_U64, .off = (at), .arg = "N", .max = 8,                       \
	.help = "Follow at most N wakers (default 2, at most 8)"

/* What was found out, for the printers. */
struct explained {
	const struct explain_opts *opts;
	struct interval_reader timeline;
	struct view view;
	struct explain numbers;
	uint32_t id; /* of the thread or process asked for; 0: of all */
	uint32_t chosen; /* the thread that the first reading chose; 0: there was but one reading */
	/* of the story; NULL: the trace has no such thread in this time */
	const struct explain_thread *thread;
	const struct explain_thread **threads; /* of the table; owned */
	size_t thread_cnt;
	uint64_t from, to;
	struct explain_step *steps; /* owned */
	size_t step_cnt, step_cap;
};

/* The answer on standard output. */
void explain_print(const struct explained *x);
void explain_json(const struct explained *x);

/* ---- the slowest of pairs of events ---- */

/* Why a pair has no description: index of enum explain_untold. */
enum explain_untold {
	EXPLAIN_KNOWN,
	EXPLAIN_NO_THREAD, /* no thread is known to have been its worker */
	EXPLAIN_NOT_ITS_THREAD, /* the thread of that number was on no CPU when it began, or ended */
	EXPLAIN_NOT_RECORDED, /* no recording of its boot has anything of its thread then */
	EXPLAIN_NOT_KEPT, /* see EXPLAIN_MAX */
	EXPLAIN_UNKNOWN_CNT,
};

struct explain_known {
	uint32_t part; /* in which the pair was found */
	enum explain_untold why;
};

/*
 * The longest pairs, and what their threads did. Start with x, word, spans.opts but for patterns, and what is
 * wanted of title, members and wants_polled; explain_slowest_add() the pairs, then explain_slowest_find().
 */
struct explain_slowest {
	struct explained *x; /* of the pair at hand: times and steps */
	const char *word; /* of the command */
	/* What a pair is called, and more members of its JSON object. NULL: as `explain` does it. */
	void (*title)(struct buf *out, const struct explain_slowest *s, const struct span *p);
	void (*members)(struct buf *out, const struct explain_slowest *s, const struct span *p);
	bool wants_order; /* find nothing in what is not in order of time */
	bool unsorted; /* which was so */
	uint32_t last_part; /* of the last event of an application, and its time */
	uint64_t last_ts;
	bool wants_polled; /* the application's data about its polls; and only described pairs are summed */
	struct tokio_polls polled;
	struct spans_pattern *patterns; /* owned, as their strings are */
	size_t pattern_cnt;
	struct spans spans; /* once described: of the part with the switches of their threads */
	bool telling; /* in the second reading */
	bool switches; /* the trace has some; else there are stacks at best */
	struct gaps *windows; /* when they were, by clock */
	size_t window_cap;
	struct explain_known *known; /* of each of spans.v; NULL: there are no switches */
	uint64_t unknown[EXPLAIN_UNKNOWN_CNT];
	struct causes causes;
};

/* All of --span, over a trace: an exit code. */
int explain_slowest(struct explained *x, const char *path);
/* Looks for these as well, as --span has them. 0, or -EINVAL after one printed line. */
int explain_slowest_add(struct explain_slowest *s, const char *span);
/*
 * Reads a trace, @path or, if there is one, @src, which is taken over: for pairs, and again for what happened at their
 * times. An exit code.
 */
int explain_slowest_find(struct explain_slowest *s, const char *path, struct source *src);
void explain_slowest_fini(struct explain_slowest *s);

void explain_slowest_print(struct explain_slowest *s);
void explain_slowest_json(struct explain_slowest *s);
/* One line about why there is none. */
void explain_slowest_report_missing(const struct explain_slowest *s);

/* Parts of both: what --span says; lines of counts; in words where time went. */
void explain_slowest_put_spans(struct buf *out, const struct explained *x);
void explain_slowest_put_counts(struct buf *out, const struct names *names, const struct spans *s);
void explain_slowest_put_cause(struct buf *out, const struct explain_slowest *s,
			       const struct cause *c);
/* Of a span the path of its function, of other events the name. */
void explain_slowest_put_kind(struct buf *out, const struct names *names, uint32_t name);
/* The first @cnt pairs: a line of times each, under @noun, then their stories. */
void explain_slowest_put_pairs(struct buf *out, struct explain_slowest *s, size_t cnt,
			       const char *noun);
/* "tid 11" and the name of that thread, or that it is unknown. */
void explain_slowest_put_thread(struct buf *out, const struct explain_slowest *s, uint32_t part,
				uint32_t tid, uint32_t comm);
/* "# all: 1.234 s, median 1.234 ms, p99 2.345 ms" */
void explain_slowest_put_lengths(struct buf *out, const struct spans *s);
/* Members of an object, each with a comma in front: pairs and their lengths, and what is wrong; where time went; pairs. */
void explain_slowest_json_counts(struct buf *out, const struct names *names, const struct spans *s);
void explain_slowest_json_causes(struct buf *out, const struct explain_slowest *s);
void explain_slowest_json_pairs(struct buf *out, struct explain_slowest *s, size_t cnt);

/* ---- what both print ---- */

/* In milliseconds, to the nanosecond: a row adds up to the whole. */
void explain_print_ms(struct buf *out, uint64_t ns);
/* The times of a thread, as exact where there is room; and the line above, of rows that go on with @noun. */
void explain_print_times(struct buf *out, const struct explained *x,
			 const uint64_t ns[INTERVAL_STATE_CNT], uint64_t absent);
void explain_print_times_head(struct buf *out, const struct explained *x, const char *noun);
/* Ends the line that begins at @start of @out; on a terminal it is cut to its width. */
void explain_print_end(struct buf *out, const struct explained *x, size_t start);
/* The name of a thread where it was not known yet when something happened. */
uint32_t explain_print_comm(const struct explained *x, uint32_t part, uint32_t tid, uint32_t comm);
/* "replaced by: comm tid" and "ran before it returned: comm tid", those that are known, each between two texts. */
void explain_print_own_switches(struct buf *out, const struct explained *x, uint32_t part,
				const struct explain_own_switches *own, const char *before,
				const char *after);
/* "from A to B: 1.234567 ms" */
void explain_print_window(struct buf *out, uint64_t from, uint64_t to);
/* "comm tid"; comm NAMES_NONE: the comm of the thread, if known. */
void explain_print_name(struct buf *out, const struct explained *x, uint32_t comm, uint32_t tid);
/* Start of a line: time after the start of the story. */
void explain_print_at(struct buf *out, uint64_t ns);
/* The stack below such a line. */
void explain_print_sample(struct buf *out, const struct explained *x,
			  const struct explain_sample *sample);
/* x->steps in words. */
void explain_print_timeline(struct buf *out, const struct explained *x);
/* "tid":1,"pid":2,"comm":"name" */
void explain_json_thread(struct buf *out, const struct explained *x, uint32_t tid, uint32_t pid,
			 uint32_t comm);
/* Members with the tasks that are known: "replaced_by" and "ran_before_return". */
void explain_json_own_switches(struct buf *out, const struct explained *x, uint32_t part,
			       const struct explain_own_switches *own);
/* ,"running_ns":1, and so on. */
void explain_json_times(struct buf *out, const uint64_t ns[INTERVAL_STATE_CNT], uint64_t absent);
/* "story":[...] of x->steps. */
void explain_json_timeline(struct buf *out, const struct explained *x);

#endif /* D9_CMD_EXPLAIN_EXPLAIN_H */
