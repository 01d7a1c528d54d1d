/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * stack.bpf.h - stacks: the kernel's by the kernel's helper, the user's by a walk of our own
 *
 * bpf_get_stack walks user frames too, but spends most of its time in faults on what libraries
 * built without frame pointers leave in the register. Our walk reads each pair {caller's frame,
 * return address} once and stops at the first one that cannot be true. An unwinder that does
 * without frame pointers has its place in user_stack().
 */
#ifndef D9_STACK_BPF_H
#define D9_STACK_BPF_H

#include "prof.bpf.h"

enum { USER_FRAME_MIN = 4096, EFAULT = 14 };

/* @skip: leaf frames that are the tracing's own. Returns the number of frames. */
static __always_inline __u32 kernel_stack(void *ctx, __u64 *frames, __u32 skip, __u8 *flags)
{
	long n = bpf_get_stack(ctx, frames, PROF_STACK_MAX * sizeof(*frames), skip);

	if (n <= 0)
		return 0;
	if (n >= (long)(PROF_STACK_MAX * sizeof(*frames)) - 8 * (long)skip)
		*flags |= PROF_REC_KSTACK_CUT;
	return n / sizeof(*frames);
}

/* The stack of @task, which is the current one. @frames has room for PROF_STACK_MAX. */
static __always_inline __u32 user_stack(struct task_struct *task, __u64 *frames, __u8 *flags)
{
	struct {
		__u64 next;
		__u64 ret;
	} pair;
	struct pt_regs *regs;
	__u64 fp;
	__u32 i;

	if (task->flags & PF_KTHREAD || !task->mm)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	frames[0] = PTREGS_IP(regs);
	fp = PTREGS_FP(regs);
	if (!PTREGS_IS_64BIT(regs))
		return 1;
	for (i = 1; i < PROF_STACK_MAX; i++) {
		if (fp < USER_FRAME_MIN || fp & 7)
			return i;
		if (bpf_probe_read_user(&pair, sizeof(pair), (void *)fp))
			return i;
		if (pair.ret < USER_FRAME_MIN)
			return i;
		frames[i] = pair.ret;
		if (pair.next <= fp)
			return i + 1;
		fp = pair.next;
	}
	*flags |= PROF_REC_USTACK_CUT;
	return PROF_STACK_MAX;
}

#endif
