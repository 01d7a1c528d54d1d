/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * stack.bpf.h - stacks: the kernel's by walks of our own or its helper, the user's by walks of our own
 *
 * A process whose mappings are known is unwound by tables. Of another, and for --call-graph fp, the walk
 * reads each pair {caller's frame, return address} once and stops at the first one that cannot be true.
 * bpf_get_stack does the same, but spends most of its time in faults on what libraries built without
 * frame pointers leave in the register.
 */
#ifndef D9_STACK_BPF_H
#define D9_STACK_BPF_H

#include "orc.bpf.h"
#include "reuse.bpf.h"

enum {
	TRACING_FRAMES =
		2, /* our program and what runs it; the loader strips what else is the tracing's */
	EFAULT = 14,
	USER_PAGE = 4096, /* the smallest that there is; larger ones are multiples */
	COPY_PAGES = 4, /* of a stack */
	COPIED_MAX = 32768, /* words of stacks, on a CPU in each: */
	COPIED_NS = 10000000,
};

/* The words of a record's stacks, as offsets that the verifier can add. */
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

/* By the kernel's helper. @skip: leaf frames that are the tracing's own. Returns the number of frames. */
static __always_inline __u32 kernel_stack_helped(void *ctx, __u64 *frames, __u32 skip, __u8 *flags)
{
	long n = bpf_get_stack(ctx, frames, PROF_STACK_MAX * sizeof(*frames), skip);

	if (n <= 0)
		return 0;
	if (n >= (long)(PROF_STACK_MAX * sizeof(*frames)) - 8 * (long)skip)
		*flags |= PROF_REC_KSTACK_CUT;
	return n / sizeof(*frames);
}

/* Of the current task, in a tracepoint's program. @orc: one that may walk; see orc.bpf.h. */
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
 * By frame pointers, from @regs on, into @frames, which has room for PROF_STACK_MAX. The count is kept
 * in memory, not in a register: the verifier then sees one way to go on after the loop and not one for
 * each number of frames, which is a tenth of the work at load.
 */
static __always_inline void walk_frame_pointers(struct prof_rec *rec, struct pt_regs *regs,
						struct prof_walk *w, __u64 *frames)
{
	volatile __u16 *cnt = &rec->ustack_cnt;
	__u32 i;

	prof_walk_start(w, PTREGS_IP(regs), PTREGS_SP(regs), PTREGS_FP(regs), PTREGS_LR(regs), 0,
			0);
	frames[0] = PTREGS_IP(regs);
	*cnt = 1;
	for (i = 1; i < PROF_STACK_MAX && i < cfg_max_stack; i++) {
		if (unwind_pair(w))
			break;
		frames[i] = w->frame;
		*cnt = i + 1;
	}
	rec->user_end |= w->flags;
	if (*cnt >= cfg_max_stack)
		rec->flags |= PROF_REC_USTACK_CUT;
}

/* By tables, from where unwind_start() stands, likewise. */
static __always_inline void walk_tables(struct prof_rec *rec, struct prof_walk *w, __u64 *frames)
{
	volatile __u16 *cnt = &rec->ustack_cnt;
	__u32 i;

	for (i = 0; i < PROF_STACK_MAX && i < cfg_max_stack; i++) {
		if (unwind_step(w))
			break;
		frames[i] = w->frame;
		*cnt = i + 1;
	}
	rec->flags |= PROF_REC_WALKED;
	if (*cnt >= cfg_max_stack && !unwind_step(w)) {
		rec->flags |= PROF_REC_USTACK_CUT;
		w->end = PROF_END_FULL;
	}
	rec->user_end = w->end | w->flags;
}

/* The list of the current process's mappings; 0: not known. */
static __always_inline __u64 unwind_list(__u32 tgid)
{
	struct prof_unwind_proc *p = unwind_proc_find(tgid);

	return p ? *(volatile __u64 *)&p->list : 0;
}

/* A copy takes forty times the room of a walk, in the ring: whole rings of them are no use to anybody. */
static __always_inline bool may_copy(struct unwind_place *place, __u64 now)
{
	if (now - place->copied_since >= COPIED_NS) {
		place->copied_since = now;
		place->copied = 0;
	}
	return place->copied < COPIED_MAX;
}

/*
 * What the loader walks later, when it has heard of the mappings that this task has now and has their
 * tables: its registers, and its stack up to PROF_COPY_WORDS or the end of the last page that is there. What
 * needs the code to be told, whether the leaf has no frame, is told here.
 */
static __always_inline bool copy_stack(struct prof_rec *rec, struct pt_regs *regs,
				       struct unwind_place *place, __u64 *words)
{
	__u64 sp = PTREGS_SP(regs), sz;
	__u32 pages;

	if (sp & 7 || bpf_probe_read_kernel(words, 8 * PROF_COPY_REGS, regs))
		return false;
	words += PROF_COPY_REGS;
	for (pages = COPY_PAGES; pages; pages--) {
		sz = PROF_BOUND_SIZE(pages * USER_PAGE - (sp & (USER_PAGE - 8)),
				     8 * PROF_COPY_WORDS);
		if (!bpf_probe_read_user(words, PROF_BOUND_SIZE(sz, 8 * PROF_COPY_WORDS),
					 (void *)sp))
			break;
	}
	if (!pages)
		return false;
	rec->ustack_cnt = PROF_COPY_REGS + sz / 8;
	rec->flags = (rec->flags & ~PROF_REC_WALKED) | PROF_REC_COPIED;
	unwind_start(&place->walk, regs, 0);
	rec->user_end &= PROF_USER_END_MASK;
	if (!unwind_leaf(&place->walk))
		rec->user_end |= PROF_USER_GUESSED;
	place->copied += rec->ustack_cnt;
	return true;
}

/* Whether a walk ended for want of a table that may still come, and a copy would reach as far. */
static __always_inline bool is_early(const struct prof_walk *w, struct pt_regs *regs)
{
	__u32 slot = w->in.map.slot;
	struct prof_unwind_module *m;

	if (w->end != PROF_END_NO_TABLE || w->sp - PTREGS_SP(regs) >= 8 * PROF_COPY_WORDS)
		return false;
	m = bpf_map_lookup_elem(&unwind_modules, &slot);
	return !m || (!m->without && !m->left_out);
}

/*
 * By tables, or a copy where too little is known of the process or of a file in it. False: neither
 * could be.
 */
static __always_inline bool unwind(struct prof_rec *rec, struct pt_regs *regs,
				   struct unwind_place *place, __u64 *frames,
				   enum unwind_walker walker)
{
	__u64 list = unwind_list(rec->pid);
	__u32 list_generation = unwind_list_generation;
	struct unwind_known *known = NULL;
	bool reused;

	rec->user_end = PROF_END_NO_LIST;
	if (list) {
		if (walker == UNWIND_OF_SWITCH)
			known = unwind_known(regs, rec->tid);
		reused = known && reuse_walk(rec, regs, list, known, frames);
		if (reused && !cfg_verify_stacks)
			return true;
		unwind_start(&place->walk, regs, list);
		walk_tables(rec, &place->walk, frames);
		if (reused)
			reuse_check(rec, known, frames);
		else if (known)
			keep_walk(rec, regs, list_generation, known, &place->walk, frames);
		if (place->walk.end != PROF_END_NO_MAPPING && !is_early(&place->walk, regs))
			return true;
	}
	if (may_copy(place, rec->ts)) {
		if (copy_stack(rec, regs, place, frames))
			return true;
		/* which has written over the walk's */
		frames[0] = PROF_UNWIND_RAW | PTREGS_IP(regs);
		rec->ustack_cnt = 1;
	}
	return list;
}

/* The stack of @task, which is the current one, into @frames, which has room for a copy. */
static __always_inline void user_stack(struct prof_rec *rec, struct task_struct *task,
				       __u64 *frames, enum unwind_walker walker)
{
	struct unwind_place *place = unwind_place(walker);
	struct pt_regs *regs;

	if (!place || task->flags & PF_KTHREAD || !task->mm)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (cfg_call_graph == PROF_CALL_GRAPH_NO || !PTREGS_IS_64BIT(regs)) {
		frames[0] = PTREGS_IP(regs);
		rec->ustack_cnt = 1;
		if (cfg_call_graph != PROF_CALL_GRAPH_NO)
			rec->user_end = PROF_END_32BIT;
		return;
	}
	if (cfg_call_graph == PROF_CALL_GRAPH_AUTO) {
		if (unwind(rec, regs, place, frames, walker))
			return;
	} else {
		rec->user_end = PROF_END_UNCHECKED;
	}
	walk_frame_pointers(rec, regs, &place->walk, frames);
}

#endif
