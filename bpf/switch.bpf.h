/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* switch.bpf.h - shared by programs at sched_switch: the state in which a task leaves its CPU, and its death */
#ifndef D9_SWITCH_BPF_H
#define D9_SWITCH_BPF_H

#include "select.bpf.h"

enum {
	TASK_UNINTERRUPTIBLE = 0x2,
	TASK_REPORT = 0x7f,
	TASK_REPORT_IDLE = 0x80,
	TASK_REPORT_MAX = 0x100,
	TASK_WAKING = 0x200,
	TASK_IDLE = 0x402,
	TASK_RTLOCK_WAIT = 0x1000,
	TASK_FROZEN = 0x8000,
};

/* The state as the tracepoint reports it: one bit, 0 for runnable, REPORT_MAX for preempted. */
static __always_inline __u64 report_state(bool preempt, __u32 state, __u32 exit_state)
{
	__u32 seen = (state | exit_state) & TASK_REPORT, bit = 0;

	if (preempt)
		return TASK_REPORT_MAX;
	if ((state & TASK_IDLE) == TASK_IDLE)
		seen = TASK_REPORT_IDLE;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		seen = TASK_UNINTERRUPTIBLE;
#pragma unroll
	for (int i = 0; i < 8; i++)
		if (seen & 1 << i)
			bit = 1 << i;
	return bit;
}

/* Forgets a task that will never run again, so that a new task can reuse its pid. */
static __always_inline void forget_dead(struct task_struct *prev, __u32 state)
{
	if (!(state & TASK_DEAD))
		return;
	if (cfg_select.by_task)
		select_forget(prev->pid);
	if (cfg_system_wide)
		return;
	if (task_bit(target_tids, prev->pid))
		task_bit_clear(target_tids, prev->pid);
	if (task_bit(target_tgids, prev->tgid) && BPF_CORE_READ(prev, signal, live.counter) == 0)
		task_bit_clear(target_tgids, prev->tgid);
}

#endif
