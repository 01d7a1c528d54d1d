/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_REPORT_REPORT_H
#define D9_CMD_REPORT_REPORT_H

#include "cmd/common/select.h"
#include "cmd/common/view.h"
#include "profile/sums/cpu_time.h"
#include "profile/sums/event_counts.h"
#include "profile/sums/off_stack.h"
#include "profile/sums/profile.h"
#include "profile/sums/stack_ends.h"

/* What `report` prints. The first ones are the words of -g in their order. */
enum report_graph {
	REPORT_CALLER, /* the call tree from main down */
	REPORT_CALLEE, /* from the leaf up */
	REPORT_CHAINS, /* each stack by itself, hottest first: "flat" */
	REPORT_FOLDED, /* the same, one a line in the order of the text, for flame graphs */
	REPORT_FLAT, /* no stacks: "none" */
};

struct report_opts {
	struct select_opts sel;
	struct view_opts view;
	const char *sort;
	const char *graph; /* NULL: no -g */
	const char *percent;
	uint64_t limit;
	uint64_t live_ns; /* 0: no */
	bool inverted; /* -G */
	bool children, no_children;
	bool no_inline;
	bool wall;
	bool json;
	bool habit; /* options of perf that change nothing here */
};

/* One part of the stream. */
struct report_part {
	uint64_t samples; /* that were counted */
	uint64_t first_ts, last_ts; /* of what happened in it; last_ts 0: nothing did */
	uint64_t span_ns; /* from the first to the last, as far as --time lets it through; known at the end */
	uint32_t cpus; /* that events were on: the highest, plus 1 */
	bool untimed; /* its samples do not say for how much time they stand */
};

/* One run of the command: options compiled, and what the trace gave. */
struct report {
	const struct report_opts *opts;
	struct reader *reader;
	struct names *names; /* of the reader */
	struct select sel;
	struct view view;
	struct profile *profile;
	struct event_counts counts; /* the loss only */
	struct stack_ends ends; /* of the samples that were counted */
	unsigned int keys; /* 1 << enum profile_key */
	enum profile_key key_order[PROFILE_KEY_CNT];
	size_t key_cnt;
	enum report_graph graph;
	double percent; /* limit for rows and subtrees; smaller ones are skipped */
	struct intervals *intervals; /* when rows are tasks */
	struct cpu_time cpu_time;
	uint32_t part; /* of the event at hand */
	uint64_t *switches; /* by part; they are what exact times are from */
	size_t switch_cap;
	bool exact; /* cpu_time has it, and rows their run_ns */
	bool inexact; /* switches are missing for most of the time, so samples are used */
	bool wall; /* stacks of all states, not only of running threads */
	bool running_is_exact; /* with wall: from switches, not from samples */
	struct off_stack off_stack; /* with wall */
	uint64_t state_ns[INTERVAL_STATE_CNT]; /* of what was selected; with wall */
	struct intervals_unknown unknown; /* likewise */
	uint64_t all_samples;
	struct report_part *parts; /* indexed by part, up to the last event's */
	size_t part_cnt, part_cap;
	uint64_t whole; /* what all samples weigh together */
	bool timed; /* weights are nanoseconds of CPU time */
	bool weighed; /* samples count the time that they stand for, for their parts differ in it */
	bool no_rate; /* parts differ, and one does not say: samples count as they are */
	bool untimed; /* some part is */
};

/* Of one row or node. */
struct report_numbers {
	uint64_t self, total, self_weight, total_weight, run_ns;
	bool sampled; /* next to rows of times, with --wall */
};

/* Which of them a table has, in which order. */
enum report_columns {
	REPORT_SELF_TOTAL, /* samples and seconds are of self */
	REPORT_SELF, /* --no-children */
	REPORT_EXACT, /* for tasks: shares and seconds of their CPU time */
	REPORT_TOTAL_SELF, /* --children, trees: samples and seconds are of total */
};

/* "sym", "dso" and so on. */
extern const char *const report_key_names[PROFILE_KEY_CNT];

/* ---- report_head.c ---- */

/* The lines above the table, on standard output. */
void report_print_head(const struct report *r);

/* ---- report_exact.c: CPU time of tasks, when rows are that; times in all states, with --wall ---- */

void report_exact_begin(struct report *r);
void report_exact_add(struct report *r, const struct trace_event *ev);
/* When all was read; @ns is all that CPUs had time for. 0, or -errno after one printed line. */
int report_exact_end(struct report *r, uint64_t ns);
/* Once it is known what the samples stand for: they go before switches of which most are missing. */
void report_exact_weigh(struct report *r);
/* How much more may have been on a CPU, and why that is not known: false, and nothing, where all is known. */
bool report_exact_doubt(const struct report *r, struct buf *out);
/* Whether a part has switches, or none because no target switched; and any part. */
bool report_exact_has_switches(const struct report *r, uint32_t part);
bool report_exact_has_states(const struct report *r);
void report_exact_fini(struct report *r);

/* ---- report_print.c ---- */

/* Percent of all samples. */
double report_share(const struct report *r, uint64_t weight);
/* Percent of the CPU time of all tasks. */
double report_run_share(const struct report *r, uint64_t run_ns);
struct report_numbers report_row_numbers(const struct report *r, const struct profile_row *row);
/*
 * Whether these samples or times have a known weight: samples of a part may have an unknown duration. And whether a
 * row with samples has times from switches.
 */
bool report_has_time(const struct report *r, const struct report_numbers *n, uint64_t cnt,
		     uint64_t weight);
bool report_has_run_time(const struct report_numbers *n);
/* The heads of the columns of numbers, and the numbers; both take as many columns. */
void report_put_heads(struct buf *line, const struct report *r, enum report_columns columns);
void report_put_numbers(struct buf *line, const struct report *r, enum report_columns columns,
			const struct report_numbers *n);
/* "f (inlined)" in at most @cols columns if that can be done; 0: as it is. */
void report_put_sym(struct buf *out, const struct report *r, uint32_t sym, bool inlined,
		    size_t cols);
/* The value of a key in a row. */
void report_put_cell(struct buf *out, const struct report *r, const struct profile_row *row,
		     enum profile_key key, size_t cols);
/* Appends nothing but ends the line, without blanks at its end. */
void report_end_line(struct buf *line);
/* The rows to be shown, in order, and how many, of how many that there are; free rows->v. */
size_t report_rows(const struct report *r, struct profile_rows *rows, size_t *all);
/* The body of a report of rows, on standard output. */
void report_print_flat(const struct report *r);

/* ---- report_tree.c ---- */

struct tree;

/* What a subtree must weigh to be shown. */
uint64_t report_tree_min(const struct report *r);
/* The tree that the options ask for; free with tree_free(). */
struct tree *report_tree(const struct report *r);
/* The nodes in which chains end that are to be shown, hottest first; free it. */
uint32_t *report_chains(const struct report *r, const struct tree *t, size_t *cnt);
/* The bodies, on standard output. */
void report_print_tree(const struct report *r);
void report_print_chains(const struct report *r);
void report_print_folded(const struct report *r);

/* ---- report_json.c ---- */

void report_print_json(const struct report *r);

#endif /* D9_CMD_REPORT_REPORT_H */
