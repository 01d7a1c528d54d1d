/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_CPU_LOG_H
#define D9_PROFILE_SCHED_CPU_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Slices kept per CPU, and CPUs kept. A CPU can switch 100,000 times per second, and the intervals that matter last
 * for some tenths of a second.
 */
#define CPU_LOG_SLICES 65536
#define CPU_LOG_CPUS 4096

#define CPU_LOG_NOBODY UINT32_MAX /* unknown */
#define CPU_LOG_LATER (UINT32_MAX - 1) /* unknown until the next switch */

/* @tid was on the CPU from @from until the next slice. */
struct cpu_log_slice {
	uint64_t from;
	uint32_t tid;
};

/* The latest slices of one CPU, in a ring that grows to CPU_LOG_SLICES. */
struct cpu_log_cpu {
	struct cpu_log_slice *v;
	size_t cap; /* a power of two */
	uint64_t cnt; /* since the start; the newest is at (cnt - 1) % cap */
};

/* Who ran on each CPU. {0} is empty. */
struct cpu_log {
	struct cpu_log_cpu *cpus;
	size_t cpu_cap;
};

/*
 * Adds a switch on @cpu. Returns the thread that ran there according to the switch before,
 * CPU_LOG_NOBODY if unknown. If that is not @prev, the slice between the two switches becomes
 * CPU_LOG_NOBODY. @sure: @prev ran all the time since; otherwise other threads may have run too.
 */
uint32_t cpu_log_switch(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t prev,
			uint32_t next, bool sure);

/* The thread on @cpu; CPU_LOG_NOBODY or CPU_LOG_LATER if unknown. */
uint32_t cpu_log_on(const struct cpu_log *log, uint32_t cpu);

/* Since when; 0 if no switch of @cpu was added. */
uint64_t cpu_log_since(const struct cpu_log *log, uint32_t cpu);

/*
 * From @ts on, @tid (a TID or one of the constants above) is on @cpu and every switch is recorded.
 * The time from the last switch to @ts becomes CPU_LOG_NOBODY.
 */
void cpu_log_begin(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t tid);

/* The thread of the newest slice got another TID (exec). */
void cpu_log_rename(struct cpu_log *log, uint32_t cpu, uint32_t from, uint32_t to);

/*
 * Called for slices of one CPU, latest first. @open: no later switch confirms yet that @tid ran all
 * the time.
 */
typedef void (*cpu_log_fn)(void *ctx, uint32_t tid, uint64_t from, uint64_t to, bool open);

/*
 * Calls @fn for slices that cover the time from @from to @to; CPU_LOG_NOBODY where the thread is
 * unknown.
 */
void cpu_log_each(const struct cpu_log *log, uint32_t cpu, uint64_t from, uint64_t to,
		  cpu_log_fn fn, void *ctx);

void cpu_log_fini(struct cpu_log *log);

#endif /* D9_PROFILE_SCHED_CPU_LOG_H */
