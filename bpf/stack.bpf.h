/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * stack.bpf.h - kernel stacks by our own walks or the kernel's helper, user stacks by our own walks
 */
#ifndef D9_STACK_BPF_H
#define D9_STACK_BPF_H

#include "orc.bpf.h"
#include "unwind.bpf.h"

enum {
	TRACING_FRAMES =
		2, /* our program and its caller; the loader strips further tracing frames */
};

/* Words of a record's stacks: offsets that the verifier can add. */
enum { KSTACK_WORDS = 128, USTACK_WORDS = 2048 };
_Static_assert(PROF_STACK_MAX < KSTACK_WORDS, "a kernel stack is shorter");
_Static_assert(PROF_COPY_REGS + PROF_COPY_WORDS < USTACK_WORDS, "a user stack is shorter");

static __always_inline __u32 kstack_words(const struct prof_rec *rec)
{
	return PROF_BOUND_INDEX(rec->kstack_cnt, KSTACK_WORDS);
}

static __always_inline __u32 ustack_words(const struct prof_rec *rec)
{
	return PROF_BOUND_INDEX(rec->ustack_cnt, USTACK_WORDS);
}

/* By the kernel's helper. @skip: leaf frames of the tracing itself. Returns the number of frames. */
static __always_inline __u32 kernel_stack_helped(void *ctx, __u64 *frames, __u32 skip, __u8 *flags)
{
	long n = bpf_get_stack(ctx, frames, PROF_STACK_MAX * sizeof(*frames), skip);

	if (n <= 0)
		return 0;
	if (n >= (long)(PROF_STACK_MAX * sizeof(*frames)) - 8 * (long)skip)
		*flags |= PROF_REC_KSTACK_CUT;
	return n / sizeof(*frames);
}

/* The current task's stack, in a tracepoint's program. @orc: this program may walk, see orc.bpf.h. */
static __always_inline __u32 kernel_stack(void *ctx, struct prof_rec *rec, __u64 *frames,
					  enum orc_from from, bool orc)
{
	struct prof_kstack_stat *stat = orc_stat(rec->cpu, from);
	__u32 n = 0;

	if (orc)
		n = orc_tracepoint_stack(ctx, (void *)frames, from, TRACING_FRAMES, stat);
	if (n) {
		stat->walked++;
		return n;
	}
	stat->helped++;
	return kernel_stack_helped(ctx, frames, TRACING_FRAMES, &rec->flags);
}

/*
 * Whether the current task has user memory. At each visit of a load of a pointer, the verifier searches all types of
 * the kernel several times. So programs check this before the kernel stack, whose outcomes multiply visits.
 */
static __always_inline bool has_user_stack(const struct task_struct *task)
{
	return !(task->flags & PF_KTHREAD) && task->mm;
}

/* Room for a copy, as an argument of global functions. */
struct user_stack {
	__u64 words[PROF_COPY_REGS + PROF_COPY_WORDS];
};

/*
 * Walk or copy the user stack of the current task, which has one. Return 0. Global functions: the verifier would check
 * them again for each outcome of the kernel stack. Only switches and wakeups reuse stacks; @walker: of all others.
 */
int user_stack(struct prof_rec *rec, struct user_stack *stack, __u32 walker);
int user_stack_of_switch(struct prof_rec *rec, struct user_stack *stack);

#endif
