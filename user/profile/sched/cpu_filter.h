/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_CPU_FILTER_H
#define D9_PROFILE_SCHED_CPU_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct names;

/* CPUs that a recording has events of. {0}: all. A cut by CPU sets only is_cut. */
struct cpu_filter {
	uint64_t *bits; /* NULL: all */
	bool is_cut; /* by CPU: moves of threads to and from other CPUs are not in the trace */
};

/*
 * Reads the filter of a recording from its metadata; ignores a malformed list. Does nothing if @r
 * is already set.
 */
void cpu_filter_learn(struct cpu_filter *r, const struct names *n, uint32_t part);
/* Whether events of some CPUs are not in the trace. */
bool cpu_filter_is_some(const struct cpu_filter *r);
bool cpu_filter_has(const struct cpu_filter *r, uint64_t cpu);
void cpu_filter_fini(struct cpu_filter *r);

#endif /* D9_PROFILE_SCHED_CPU_FILTER_H */
