/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_REPORT_DIFF_H
#define D9_CMD_REPORT_DIFF_H

#include "cmd/common/select.h"
#include "cmd/common/view.h"
#include "profile/sched/intervals.h"
#include "profile/sched/recorded_time.h"
#include "profile/sched/stack_table.h"
#include "profile/sums/delta.h"
#include "profile/sums/event_counts.h"

/* The words of the options in their order. */
enum diff_kind { DIFF_CPU, DIFF_OFFCPU, DIFF_LATENCY };
enum diff_compute { DIFF_DELTA_ABS, DIFF_DELTA, DIFF_RATIO };
enum diff_sort { DIFF_SORT_SYM_DSO, DIFF_SORT_SYM };
enum diff_normal { DIFF_BY_SAMPLES, DIFF_BY_TIME, DIFF_BY_NONE, DIFF_BY_DEFAULT };

struct diff_opts {
	struct select_opts sel; /* its input is not used */
	struct view_opts view;
	int kind, compute, normal, sort;
	const char *percentile;
	uint64_t limit;
	bool stacks, children, json;
};

/* One of the two traces. diff_side_fini() releases it. */
struct diff_side {
	const char *path;
	struct reader *reader;
	struct names *names;
	struct select sel;
	struct event_counts counts; /* the loss only */
	uint64_t observed; /* samples, or intervals */
	struct recorded_time_sum time; /* that was recorded in the window */
	double sum; /* of what was observed: ns, where it is timed */
	bool timed; /* all samples stand for times that are known */
	bool whole; /* each part is a command from start to end, and the window contains all of it */

	/* private: what was observed, by part and stack */
	struct hmap sums; /* part << 32 | stack -> struct delta_sum */
	struct stack_table stacks;
	struct intervals *intervals;
	struct recorded_time observed_time;
	double *weights; /* of sums by part: see struct recorded_time_opts */
	struct diff_part *parts; /* by part */
	size_t part_cap;
	uint8_t *windows; /* by clock: passed to the intervals */
	size_t window_cap;
	uint32_t part; /* of the event at hand */
};

struct diff {
	const struct diff_opts *opts;
	struct diff_side sides[DELTA_SIDES];
	struct delta *delta;
	double percentile; /* 0 to 1 */
	enum diff_normal normal; /* what --normalize says, or what suits both traces */
	struct view view;
	struct delta_scale scale;
	bool timed; /* values are times, else samples */
	bool total; /* rows are compared by their totals */
	struct delta_change *changes; /* in the order of printing */
	size_t change_cnt;
};

/* Reads a trace; @d has the options and the table that waits go to. An exit code of cmd.h. */
int diff_read(struct diff *d, enum delta_side side);
/* Puts what was observed into the table; @timed: by time, else by number. */
void diff_fold(struct diff *d, enum delta_side side, bool timed);
/* Whether a part of a struct diff_side has the compared data: samples, switches or off-CPU intervals. */
bool diff_has_part_data(const void *side, uint32_t part);
void diff_side_fini(struct diff_side *s);

/* The comparison, on standard output. */
void diff_print_text(const struct diff *d);
/* What is compared, as in "CPU samples". */
const char *diff_kind_of_thing(const struct diff *d);
void diff_print_json(const struct diff *d);

/* The words of --kind. */
extern const char *const diff_kinds[];
/* The words of --normalize. */
extern const char *const diff_normals[];

#endif /* D9_CMD_REPORT_DIFF_H */
