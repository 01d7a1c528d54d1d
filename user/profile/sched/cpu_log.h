/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_CPU_LOG_H
#define D9_PROFILE_SCHED_CPU_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slices that are remembered of a CPU, and CPUs that are told apart. */
#define CPU_LOG_SLICES 4096
#define CPU_LOG_CPUS 4096

#define CPU_LOG_NOBODY UINT32_MAX /* it is not known who ran */
#define CPU_LOG_LATER (UINT32_MAX - 1) /* the next switch tells */

/* From this time on, to that of the next one, this thread was on the CPU. */
struct cpu_log_slice {
	uint64_t from;
	uint32_t tid;
};

/* The latest slices of one CPU, in a ring that grows to CPU_LOG_SLICES. */
struct cpu_log_cpu {
	struct cpu_log_slice *v;
	size_t cap; /* a power of two */
	uint64_t cnt; /* ever: the newest is at (cnt - 1) % cap */
};

/* Who ran on each CPU. {0} is empty. */
struct cpu_log {
	struct cpu_log_cpu *cpus;
	size_t cpu_cap;
};

/*
 * A switch on @cpu. Returns who was on it until now by the switch before, CPU_LOG_NOBODY when that is
 * unknown. When it is not @prev the slice between the two is nobody's. @sure: @prev was there all the
 * time since; else others may have been there, too.
 */
uint32_t cpu_log_switch(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t prev,
			uint32_t next, bool sure);

/* Who is on @cpu, as far as is known: CPU_LOG_NOBODY or CPU_LOG_LATER where it is not. */
uint32_t cpu_log_on(const struct cpu_log *log, uint32_t cpu);

/*
 * From @ts on @tid is on @cpu, a number or one of those above, and no switch is missing from there on; who
 * was there from the last switch until @ts is not known.
 */
void cpu_log_begin(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t tid);

/* From the newest switch of @cpu on it is another number that stands for the same thread. */
void cpu_log_rename(struct cpu_log *log, uint32_t cpu, uint32_t from, uint32_t to);

/*
 * Who ran how long: called for pieces of one CPU's time, latest first. @open: no switch has told yet that
 * @tid was there all the time.
 */
typedef void (*cpu_log_fn)(void *ctx, uint32_t tid, uint64_t from, uint64_t to, bool open);

/* Pieces that together make up the time from @from to @to; CPU_LOG_NOBODY for what is not known. */
void cpu_log_each(const struct cpu_log *log, uint32_t cpu, uint64_t from, uint64_t to,
		  cpu_log_fn fn, void *ctx);

void cpu_log_fini(struct cpu_log *log);

#endif /* D9_PROFILE_SCHED_CPU_LOG_H */
