/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_TRACE_INPUT_H
#define D9_QUERY_TRACE_INPUT_H

#include <signal.h>

#include "base/buf.h"
#include "base/hash.h"
#include "profile/sched/intervals.h"
#include "profile/sched/recorder_tasks.h"
#include "profile/sched/stack_table.h"
#include "profile/sums/event_counts.h"
#include "trace/read/reader.h"

/* Opens the bytes of a trace once more. 0, or -errno after one line. */
struct trace_input_again {
	int (*open)(void *ctx, struct source **out);
	void *ctx;
};

/* A recording of a trace: a row of the table `traces`. */
struct trace_input_part {
	int64_t number; /* over all traces, from 1: column `trace` */
	int64_t clock; /* over all traces, from 1: equal numbers have comparable times */
	const char *host; /* NULL: unknown */
	size_t host_len;
	uint32_t host_string; /* 1 + its number in the names; 0: unknown */
	bool any; /* an event with a time */
	uint64_t first_ts, last_ts;
	bool switches; /* context switches, or off-CPU intervals in their place */
	bool samples; /* CPU samples */
	uint64_t period_ns; /* of a CPU sample; 0: unknown */
};

/* The last known name of a thread of a process. */
struct trace_input_task {
	uint32_t part;
	struct names_task task;
};

/* A trace after one pass. Names are complete, and each scan reads it again. */
struct trace_input {
	uint32_t index;
	struct trace_input_again again;
	struct reader *first; /* has the names */
	struct names *names;
	struct intervals *gaps; /* an engine that only knows the gaps */
	struct event_counts losses;
	struct trace_input_part *parts; /* by part */
	size_t part_cnt, part_cap;
	struct trace_input_task *tasks; /* by TID */
	size_t task_cnt, task_cap;
	struct hmap task_index; /* hash of part, PID and TID -> index + 1 */
	struct stack_table stacks; /* that queries returned */
	struct recorder_tasks recorder;
	struct buf text; /* a value of a table in memory */
	uint64_t events; /* estimated, for the planner */
	bool damaged; /* only what comes before the damage can be read */
	bool torn; /* the end of the file is missing, as after a crash */
};

/* All traces of a query. */
struct trace_inputs {
	struct trace_input **v;
	size_t cnt, cap;
	const volatile sig_atomic_t *stop;
	int64_t part_cnt;
};

/* Reads a trace once and adds it. Owns @r, also on failure. 0, -EINTR, or -errno if it is no trace. */
int trace_inputs_add(struct trace_inputs *all, struct reader *r,
		     const struct trace_input_again *again);
void trace_inputs_fini(struct trace_inputs *all);
bool trace_inputs_is_stopped(const struct trace_inputs *all);

/* A reader at the first event, with all names. Free with reader_free(). 0, or -errno after one line. */
int trace_input_read(const struct trace_input *in, uint64_t from, uint64_t to, struct reader **out);
/* The recording of an event. */
const struct trace_input_part *trace_input_part(const struct trace_input *in, uint32_t part);
/* ns since 1970; false: the recording has no wall-clock time. */
bool trace_input_wall(const struct trace_input *in, uint32_t part, uint64_t ts, int64_t *out);
/* The number of a stack in SQL, -1 for an empty one; and back. NULL: no such stack. */
int64_t trace_input_add_stack(struct trace_input *in, const uint64_t *frames, uint32_t cnt);
const uint64_t *trace_inputs_stack(const struct trace_inputs *all, int64_t stack,
				   struct trace_input **in, uint32_t *cnt);
/* Losses that concern numbers: see report. */
const struct loss_accounting *trace_input_losses(const struct trace_input *in, uint32_t part);

#endif /* D9_QUERY_TRACE_INPUT_H */
