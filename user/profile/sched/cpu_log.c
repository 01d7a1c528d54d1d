// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who ran on each CPU, as far back as a ring of slices reaches. Owns the rings; knows only thread
 * numbers. Each switch names the thread before and the thread after. If a switch does not continue
 * the one before it, a switch is missing, and the slice between them has no owner.
 */
#include "profile/sched/cpu_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { SLICES_FIRST = 16 };

static struct cpu_log_slice *slice(const struct cpu_log_cpu *c, uint64_t i)
{
	return &c->v[i & (c->cap - 1)];
}

static void append(struct cpu_log_cpu *c, uint64_t ts, uint32_t tid)
{
	size_t cap = c->cap ? c->cap * 2 : SLICES_FIRST;

	/* While the ring grows, no slice has been overwritten, so indices stay valid. */
	if (c->cnt == c->cap && cap <= CPU_LOG_SLICES) {
		c->v = xreallocarray(c->v, cap, sizeof(*c->v));
		c->cap = cap;
	}
	*slice(c, c->cnt++) = (struct cpu_log_slice){ ts, tid };
}

/* The latest slice of a CPU. NULL: none, or the CPU number is too large. */
static struct cpu_log_slice *latest(const struct cpu_log *log, uint32_t cpu)
{
	const struct cpu_log_cpu *c = cpu < log->cpu_cap ? &log->cpus[cpu] : NULL;

	return c && c->cnt ? slice(c, c->cnt - 1) : NULL;
}

uint32_t cpu_log_on(const struct cpu_log *log, uint32_t cpu)
{
	const struct cpu_log_slice *last = latest(log, cpu);

	return last ? last->tid : CPU_LOG_NOBODY;
}

uint64_t cpu_log_since(const struct cpu_log *log, uint32_t cpu)
{
	const struct cpu_log_slice *last = latest(log, cpu);

	return last ? last->from : 0;
}

static void begin_slice(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t tid)
{
	const struct cpu_log_slice *last = latest(log, cpu);

	if (cpu >= CPU_LOG_CPUS)
		return;
	log->cpus = array_reserve(log->cpus, &log->cpu_cap, (size_t)cpu + 1, sizeof(*log->cpus));
	append(&log->cpus[cpu], last && ts < last->from ? last->from : ts, tid);
}

uint32_t cpu_log_switch(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t prev,
			uint32_t next, bool sure)
{
	struct cpu_log_slice *last = latest(log, cpu);
	uint32_t was = CPU_LOG_NOBODY;

	if (last && last->tid == CPU_LOG_LATER) {
		last->tid = sure ? prev : CPU_LOG_NOBODY;
	} else if (last) {
		was = last->tid;
		if (was != prev || !sure)
			last->tid = CPU_LOG_NOBODY;
	}
	begin_slice(log, cpu, ts, next);
	return was;
}

void cpu_log_begin(struct cpu_log *log, uint32_t cpu, uint64_t ts, uint32_t tid)
{
	struct cpu_log_slice *last = latest(log, cpu);

	if (last)
		last->tid = CPU_LOG_NOBODY;
	begin_slice(log, cpu, ts, tid);
}

void cpu_log_rename(struct cpu_log *log, uint32_t cpu, uint32_t from, uint32_t to)
{
	struct cpu_log_slice *last = latest(log, cpu);

	if (last && last->tid == from)
		last->tid = to;
}

void cpu_log_each(const struct cpu_log *log, uint32_t cpu, uint64_t from, uint64_t to,
		  cpu_log_fn fn, void *ctx)
{
	const struct cpu_log_cpu *c = cpu < log->cpu_cap ? &log->cpus[cpu] : NULL;
	uint64_t cnt = c ? c->cnt : 0, oldest = c && cnt > c->cap ? cnt - c->cap : 0;

	for (uint64_t i = cnt; i > oldest && to > from; i--) {
		const struct cpu_log_slice *s = slice(c, i - 1);

		if (s->from >= to)
			continue;
		fn(ctx, s->tid == CPU_LOG_LATER ? CPU_LOG_NOBODY : s->tid,
		   s->from > from ? s->from : from, to, i == cnt);
		to = s->from;
	}
	if (to > from)
		fn(ctx, CPU_LOG_NOBODY, from, to, false);
}

void cpu_log_fini(struct cpu_log *log)
{
	for (size_t i = 0; i < log->cpu_cap; i++)
		free(log->cpus[i].v);
	free(log->cpus);
	memset(log, 0, sizeof(*log));
}
