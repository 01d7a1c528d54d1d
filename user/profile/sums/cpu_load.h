/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_CPU_LOAD_H
#define D9_PROFILE_SUMS_CPU_LOAD_H

#include "base/hash.h"
#include "profile/sched/intervals.h"

/* What threads of the trace did on one CPU. Nanoseconds. */
struct cpu_load_row {
	bool used;
	uint64_t busy_ns; /* a thread was running */
	uint64_t wait_ns; /* total run-queue latency */
	uint64_t switches; /* threads switched in */
	uint64_t migrations; /* of those, threads that ran on another CPU before */
	uint64_t wait_max_ns, wait_max_start; /* the longest run-queue latency that ended here */
	uint32_t wait_max_tid;
};

/* {0} is empty; grows with CPUs and threads. */
struct cpu_load {
	struct cpu_load_row *cpus; /* by number */
	size_t cnt, cap;
	struct cpu_load_row unknown_cpu; /* run-queue latency on an unknown CPU */
	struct hmap last; /* part << 32 | tid -> last CPU + 1 */
};

/* Accepts any interval. */
void cpu_load_add(struct cpu_load *l, const struct interval *i);
/* The sum over all CPUs; wait_max is the longest of them. */
struct cpu_load_row cpu_load_sum(const struct cpu_load *l);
void cpu_load_fini(struct cpu_load *l);

#endif /* D9_PROFILE_SUMS_CPU_LOAD_H */
