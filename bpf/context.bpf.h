/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * context.bpf.h - the context in which a program runs: a task, or an interrupt, which has nothing to do with the
 * interrupted task
 *
 * The kernel's own count of it is out of reach where its kallsyms leave out data. So programs at the entry
 * and the exit of interrupts write down for their CPU where it is: interrupt.bpf.c.
 */
#ifndef D9_CONTEXT_BPF_H
#define D9_CONTEXT_BPF_H

#include "prof.bpf.h"
#include "prof_events.h"

enum { CONTEXT_NUMBER_MAX = 0x1fff };

extern struct prof_cpu_interrupt cpu_interrupts[PROF_CPUS_MAX];

/* NULL for a CPU without a place. */
static __always_inline struct prof_cpu_interrupt *context_interrupt(__u32 cpu)
{
	return cpu < PROF_CPUS_MAX ? &cpu_interrupts[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)] : NULL;
}

static __always_inline __u16 context_numbered(enum prof_context kind, __u32 number)
{
	return kind | (number <= CONTEXT_NUMBER_MAX ? number : 0) << PROF_CONTEXT_SHIFT;
}

/*
 * As PROF_F_CONTEXT says. The innermost counts: hard interrupts do not interrupt each other. Timers and what
 * other CPUs send come by lines of their own on some machines (arm64), and are what the line is for.
 */
static __always_inline __u16 context_now(__u32 cpu)
{
	const struct prof_cpu_interrupt *at = context_interrupt(cpu);

	if (!at)
		return PROF_CONTEXT_UNKNOWN;
	if (at->hard_timer)
		return PROF_CONTEXT_TIMER;
	if (at->ipi)
		return PROF_CONTEXT_IPI;
	if (at->irq)
		return context_numbered(PROF_CONTEXT_HARDIRQ, at->irq);
	if (at->soft_timer)
		return PROF_CONTEXT_TIMER;
	if (at->softirq)
		return context_numbered(PROF_CONTEXT_SOFTIRQ, at->softirq);
	return PROF_CONTEXT_TASK;
}

#endif
