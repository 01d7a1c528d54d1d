/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_EXPLAIN_H
#define D9_CMD_EXPLAIN_H

#include "cmd/timeline.h"
#include "cmd/view.h"
#include "profile/explain.h"

struct explain_opts {
	struct select_opts sel;
	struct view_opts view;
	uint32_t tid, pid; /* 0: not given */
	uint64_t limit, depth;
	bool worst, json;
};

/* What was found out, for the printers. */
struct explained {
	const struct explain_opts *opts;
	struct timeline timeline;
	struct view view;
	struct explain numbers;
	uint32_t id; /* of the thread or process asked for */
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

#endif /* D9_CMD_EXPLAIN_H */
