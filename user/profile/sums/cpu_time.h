/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_CPU_TIME_H
#define D9_PROFILE_SUMS_CPU_TIME_H

#include "profile/sched/intervals.h"
#include "profile/sums/row_table.h"

/* How long tasks were on a CPU, to the nanosecond, from their intervals. {0} is empty. */
struct cpu_time {
	struct row_table tasks; /* told apart by all keys of tasks */
	uint64_t run_ns;
	uint64_t uncertain_ns; /* on a CPU at its start or end, and who knows how long; not in run_ns */
};

/*
 * Counts an interval of a thread in that control group (string id), if it was one on a CPU. The caller
 * has cut it to what it wants.
 */
void cpu_time_add(struct cpu_time *c, const struct interval *i, uint32_t cgroup);

/* When all was counted: no more than @ns of time on a CPU can have been, so the rest is in no doubt. */
void cpu_time_bound(struct cpu_time *c, uint64_t ns);

/*
 * Adds the times to rows told apart by @keys, of PROFILE_TASK_KEYS, in run_ns; tasks that have no row
 * there get one. Most time first. When the trace has ended: what was told late counts.
 */
void cpu_time_add_to_rows(const struct cpu_time *c, const struct names *n, unsigned int keys,
			  struct profile_rows *rows);

/*
 * Adds the times to a profile as those of running threads, without stacks: where there are no samples,
 * that is all that is known of where they ran.
 */
void cpu_time_to_profile(const struct cpu_time *c, struct profile *p);

void cpu_time_fini(struct cpu_time *c);

#endif /* D9_PROFILE_SUMS_CPU_TIME_H */
