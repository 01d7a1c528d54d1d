/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_REPORT_H
#define D9_CMD_REPORT_H

#include "cmd/select.h"
#include "cmd/view.h"
#include "profile/event_counts.h"
#include "profile/profile.h"
#include "profile/stack_ends.h"

/* What `report` prints; the first ones are the choices of -g in their order. */
enum report_graph { REPORT_CALLER, REPORT_CALLEE, REPORT_FLAT };

struct report_opts {
	struct select_opts sel;
	struct view_opts view;
	const char *sort;
	const char *percent;
	int graph; /* enum report_graph */
	uint64_t limit;
	bool samples, json;
	bool habit; /* options of perf that change nothing here */
};

/* The samples of one part of the stream that were counted. */
struct report_part {
	uint64_t samples;
	uint64_t first_ts, last_ts;
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
	double percent; /* rows and subtrees with less are left out */
	uint64_t all_samples;
	struct report_part *parts; /* up to the last one with samples */
	size_t part_cnt, part_cap;
	bool weighed; /* samples count the time that they stand for, for their parts differ in it */
	bool no_rate; /* parts differ, and one does not say: samples count as they are */
};

/* "sym", "dso" and so on. */
const char *report_key_name(enum profile_key key);

/* The body of the report on standard output. */
void report_print_flat(const struct report *r);
void report_print_tree(const struct report *r);
void report_print_json(const struct report *r);

#endif /* D9_CMD_REPORT_H */
