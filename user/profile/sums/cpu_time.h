/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_CPU_TIME_H
#define D9_PROFILE_SUMS_CPU_TIME_H

#include "profile/sched/intervals.h"
#include "profile/sums/row_table.h"

/* CPU time of tasks in ns, from their intervals. {0} is empty. */
struct cpu_time {
	struct row_table tasks; /* by all task keys */
	uint64_t run_ns;
	/* on a CPU at its start or end, for an unknown time; not in run_ns */
	uint64_t uncertain_ns;
	struct intervals_holes holes; /* of uncertain_ns */
};

/*
 * Adds the interval of a thread in a control group (string id), if it was running. The caller has
 * clipped it.
 */
void cpu_time_add(struct cpu_time *c, const struct interval *i, uint32_t cgroup);

/* Call it at the end: limits uncertain_ns, because total CPU time is at most @ns. */
void cpu_time_bound(struct cpu_time *c, uint64_t ns);

/*
 * Adds the times to run_ns of rows grouped by @keys (of PROFILE_TASK_KEYS), and adds rows for new
 * tasks. Sorts by most time. Call it at the end of the trace, when all names are known.
 */
void cpu_time_add_to_rows(const struct cpu_time *c, const struct names *n, unsigned int keys,
			  struct profile_rows *rows);

/* Adds the times to a profile as running threads without stacks, for traces without samples. */
void cpu_time_to_profile(const struct cpu_time *c, struct profile *p);

void cpu_time_fini(struct cpu_time *c);

#endif /* D9_PROFILE_SUMS_CPU_TIME_H */
