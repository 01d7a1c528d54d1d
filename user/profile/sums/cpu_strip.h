/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_CPU_STRIP_H
#define D9_PROFILE_SUMS_CPU_STRIP_H

#include "base/hash.h"
#include "profile/sched/intervals.h"

#define CPU_STRIP_COLS_MAX 4096

/* How long a thread ran on a CPU within a column. */
struct cpu_strip_cell {
	uint32_t cpu, col, tid;
	uint64_t ns;
};

struct cpu_strip_thread {
	uint32_t tid, comm; /* comm: string id or NAMES_NONE */
	uint64_t ns;
};

/*
 * Which thread ran on which CPU, in columns of equal time. Their width doubles as the trace gets
 * longer. Start with { .cols = ..., .start = ... }: an even number of columns, at most
 * CPU_STRIP_COLS_MAX.
 */
struct cpu_strip {
	uint32_t cols;
	uint64_t start; /* of the first column */
	uint64_t width_ns; /* of a column; 0 until the first interval */
	struct hmap index; /* hash of a cell -> number + 1 */
	struct cpu_strip_cell *cells;
	size_t cnt, cap;
	struct hmap by_tid; /* tid -> number + 1 */
	struct cpu_strip_thread *threads;
	size_t thread_cnt, thread_cap;
	uint32_t cpus; /* one more than the highest number */
};

/* Adds an INTERVAL_RUNNING interval. */
void cpu_strip_add(struct cpu_strip *s, const struct interval *i);
/* Sorts the threads: longest running first. Call it once, at the end. */
void cpu_strip_finish(struct cpu_strip *s);
/*
 * The thread that ran longest in a column, and the total of all threads; TRACE_NONE and 0: none
 * ran.
 */
uint32_t cpu_strip_top(const struct cpu_strip *s, uint32_t cpu, uint32_t col, uint64_t *busy_ns);
void cpu_strip_fini(struct cpu_strip *s);

#endif /* D9_PROFILE_SUMS_CPU_STRIP_H */
