/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_CPU_LOAD_H
#define D9_PROFILE_SUMS_CPU_LOAD_H

#include "base/hash.h"
#include "profile/sched/intervals.h"

/* What a CPU did with the threads of a trace. Nanoseconds. */
struct cpu_load_row {
	bool seen;
	uint64_t busy_ns; /* a thread ran on it */
	uint64_t wait_ns; /* that threads waited for it, together */
	uint64_t switches; /* threads switched in */
	uint64_t migrations; /* of those, threads that had run on another CPU before */
	uint64_t wait_max_ns, wait_max_start; /* the longest wait that ended on it */
	uint32_t wait_max_tid;
};

/* {0} is empty; grows with CPUs and threads. */
struct cpu_load {
	struct cpu_load_row *cpus; /* by number */
	size_t cnt, cap;
	struct cpu_load_row unknown_cpu; /* waits of which it is not known for which CPU */
	struct hmap last; /* part << 32 | tid -> CPU + 1 on which it ran last */
};

/* Takes any interval. */
void cpu_load_add(struct cpu_load *l, const struct interval *i);
/* All CPUs together; wait_max of the longest. */
struct cpu_load_row cpu_load_sum(const struct cpu_load *l);
void cpu_load_fini(struct cpu_load *l);

#endif /* D9_PROFILE_SUMS_CPU_LOAD_H */
