/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_COUNTS_PAIR_SUMS_H
#define D9_PROFILE_COUNTS_PAIR_SUMS_H

/*
 * Times from start to end events, and of system calls, by name and thread. profile/explain/spans.h finds the pairs. Feed every event in order,
 * then call pair_sums_finish().
 *
 * Memory grows with rows, of which there are at most PAIR_SUMS_ROWS_MAX, and with pairs that are open at a time.
 */
#include "profile/counts/key_table.h"
#include "profile/explain/spans.h"
#include "profile/sched/gaps.h"

#define PAIR_SUMS_ROWS_MAX (1u << 16)

/* What rows are grouped by, in addition to the start event: bits. */
enum { PAIR_BY_COMM = 1, PAIR_BY_PID = 2, PAIR_BY_TID = 4 };

/* What rows are sorted by, highest first; then by time. */
enum pair_sums_order {
	PAIR_SUMS_TIME,
	PAIR_SUMS_MAX,
	PAIR_SUMS_AVG,
	PAIR_SUMS_P99,
	PAIR_SUMS_COUNT,
};

struct pair_sums_row {
	uint32_t name; /* string id of the start event, or of the system call; NAMES_NONE: a number without name */
	uint64_t call; /* its number; UINT64_MAX: unknown */
	uint32_t part; /* after pair_sums_finish(): NAMES_NONE unless rows are grouped by it */
	uint32_t comm, pid, tid; /* of the start; NAMES_NONE: unknown, or not grouped by */
	bool raw; /* from raw_syscalls */
	uint64_t cnt; /* pairs, with: */
	uint64_t cut; /* pairs in which events may be missing; the members below are without them */
	uint64_t errors; /* system calls that returned an error; also of cut ones */
	uint64_t ns;
	struct quantile lengths;
	double rank; /* what rows are sorted by */
};

struct pair_sums_opts {
	struct spans_pattern pattern; /* borrowed; not used for: */
	bool syscalls; /* rows by system call, from syscalls:* and raw_syscalls:* */
	const char *field; /* see spans_opts.field */
	unsigned int by; /* PAIR_BY_* */
	enum pair_sums_order order;
	bool (*is_wanted)(void *ctx, uint32_t tid, uint32_t cpu); /* as in struct spans_opts */
	bool by_thread;
	void *ctx;
};

/* Start with pair_sums_init(); it must not move. */
struct pair_sums {
	struct pair_sums_opts opts;
	struct spans_pattern patterns[2];
	struct spans spans; /* numbers of pairs that are not complete */
	struct gaps *gaps; /* by part */
	size_t gap_cap;
	struct key_table keys;
	struct pair_sums_row *rows;
	size_t row_cnt, row_cap;
	uint64_t cnt, cut; /* pairs in rows, and of these cut ones */
	uint64_t beyond; /* pairs of rows that did not fit */
	uint64_t twice; /* system calls from syscalls:* that are also there from raw_syscalls, or the reverse: counted once */
	struct quantile lengths; /* of all rows, after pair_sums_finish() */
	uint64_t ns;
	bool by_part;
};

void pair_sums_init(struct pair_sums *p, const struct pair_sums_opts *opts);
void pair_sums_fini(struct pair_sums *p);
/* Forgets pairs, and keeps gaps: for a second pass. */
void pair_sums_restart(struct pair_sums *p);

/*
 * Only learns where events may be missing. Without a first pass for that, a loss cuts only pairs that end after it was
 * reported. True: @ev reports a gap.
 */
bool pair_sums_add_gap(struct pair_sums *p, const struct trace *t, const struct trace_event *ev);
void pair_sums_add(struct pair_sums *p, const struct trace *t, const struct trace_event *ev);

/* Names the system calls, and sorts the rows. */
void pair_sums_finish(struct pair_sums *p, struct names *n);

#endif /* D9_PROFILE_COUNTS_PAIR_SUMS_H */
