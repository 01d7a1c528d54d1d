// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interrupt.bpf.c - which interrupt a CPU is in
 *
 * Wakeups by interrupts record it; see context.bpf.h. Nothing is written to a ring. On one CPU interrupt lines do
 * not interrupt each other, nor do softirqs. A timer's callback may run in either.
 */
#include "context.bpf.h"

/* The cost is counted as for other programs, with fewer reads of the clock. */
static __always_inline __u64 mark_start(__u32 cpu)
{
	struct prof_prog_stat *s = &cpu_stat(cpu)->progs[PROF_PROG_MARK];

	return s->runs++ % PROF_TIMED_RUNS ? 0 : clock_now();
}

static __always_inline void mark_end(__u32 cpu, __u64 start)
{
	struct prof_prog_stat *s = &cpu_stat(cpu)->progs[PROF_PROG_MARK];

	if (!start)
		return;
	s->timed_ns += clock_now() - start;
	s->timed_runs++;
}

/* A program at a tracepoint. The block after MARK() is its body, which updates *at. */
#define MARK(tracepoint)                                                                           \
	static __always_inline void note_##tracepoint(struct prof_cpu_interrupt *at,               \
						      const __u64 *ctx);                           \
                                                                                                   \
	SEC("?tp_btf/" #tracepoint)                                                                \
	int prof_mark_##tracepoint(__u64 *ctx)                                                     \
	{                                                                                          \
		__u32 cpu = bpf_get_smp_processor_id();                                            \
		struct prof_cpu_interrupt *at = context_interrupt(cpu);                            \
		__u64 start;                                                                       \
                                                                                                   \
		if (!recording || !at)                                                             \
			return 0;                                                                  \
		start = mark_start(cpu);                                                           \
		note_##tracepoint(at, ctx);                                                        \
		mark_end(cpu, start);                                                              \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	static __always_inline void note_##tracepoint(struct prof_cpu_interrupt *at,               \
						      const __u64 *ctx)

/* clang-format off */
MARK(irq_handler_entry) { at->irq = (__u32)ctx[0] + 1; }
MARK(irq_handler_exit) { at->irq = 0; }
MARK(softirq_entry) { at->softirq = (__u32)ctx[0] + 1; }
MARK(softirq_exit) { at->softirq = 0; }
MARK(irq_work_entry) { at->ipi = 1; }
MARK(irq_work_exit) { at->ipi = 0; }
MARK(call_function_entry) { at->ipi = 1; }
MARK(call_function_exit) { at->ipi = 0; }
MARK(call_function_single_entry) { at->ipi = 1; }
MARK(call_function_single_exit) { at->ipi = 0; }
/* clang-format on */

/* A timer that fires in its softirq may be interrupted by a timer that fires in the timer interrupt. */
MARK(hrtimer_expire_entry)
{
	const struct hrtimer *timer = (void *)ctx[0];

	if (timer->is_soft)
		at->soft_timer = 1;
	else
		at->hard_timer = 1;
}

/* The callback may have freed the timer. */
MARK(hrtimer_expire_exit)
{
	if (at->hard_timer)
		at->hard_timer = 0;
	else
		at->soft_timer = 0;
}
