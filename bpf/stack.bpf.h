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

/*
 * The stack of @task, which is the current one, into @frames, which has room for PROF_STACK_MAX. The
 * count is kept in memory, not in a register: the verifier then sees one way to go on after the
 * loop and not one for each number of frames, which is a tenth of the work at load.
 */
static __always_inline void user_stack(struct prof_rec *rec, struct task_struct *task,
				       __u64 *frames)
{
	volatile __u16 *cnt = &rec->ustack_cnt;
	struct {
		__u64 next;
		__u64 ret;
	} pair;
	struct pt_regs *regs;
	__u64 fp;
	__u32 i;

	if (task->flags & PF_KTHREAD || !task->mm)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	frames[0] = PTREGS_IP(regs);
	*cnt = 1;
	fp = PTREGS_IS_64BIT(regs) ? PTREGS_FP(regs) : 0;
	for (i = 1; i < PROF_STACK_MAX; i++) {
		if (fp < USER_FRAME_MIN || fp & 7 ||
		    bpf_probe_read_user(&pair, sizeof(pair), (void *)fp) ||
		    pair.ret < USER_FRAME_MIN)
			break;
		frames[i] = pair.ret;
		*cnt = i + 1;
		if (pair.next <= fp)
			break;
		fp = pair.next;
	}
	if (*cnt >= PROF_STACK_MAX)
		rec->flags |= PROF_REC_USTACK_CUT;
}

#endif
