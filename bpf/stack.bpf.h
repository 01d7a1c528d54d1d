/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * stack.bpf.h - kernel stacks by our own walks or the kernel's helper, user stacks by our own walks
 *
 * Processes with known mappings are unwound by tables. For other processes, and for --call-graph fp, the walk reads
 * each pair {caller's frame, return address} once. It stops at the first pair that cannot be valid. bpf_get_stack()
 * does the same, but wastes most of its time on faults if libraries without frame pointers use that register for
 * other values.
 */
#ifndef D9_STACK_BPF_H
#define D9_STACK_BPF_H

#include "orc.bpf.h"
#include "reuse.bpf.h"

enum {
	TRACING_FRAMES =
		2, /* our program and its caller; the loader strips further tracing frames */
	EFAULT = 14,
	COPIED_MAX = 32768, /* words of copied stacks per CPU and interval: */
	COPIED_NS = 10000000,
	COPIED_SHARE = 8192, /* of a process, if others have used these words */
	COPIED_INTERVAL_SHIFT = 20, /* two intervals differ in the bits above */
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

/* Walks frame pointers from @regs on into @frames, which has room for PROF_STACK_MAX. */
static __always_inline void walk_frame_pointers(struct prof_rec *rec, struct pt_regs *regs,
						struct prof_walk *w, __u64 *frames)
{
	prof_walk_start(w, PTREGS_IP(regs), PTREGS_SP(regs), PTREGS_FP(regs), PTREGS_LR(regs), 0,
			0);
	frames[0] = PTREGS_IP(regs);
	rec->ustack_cnt = unwind_pairs(w, (void *)frames);
	rec->user_end |= w->flags;
	if (rec->ustack_cnt >= cfg_max_stack)
		rec->flags |= PROF_REC_USTACK_CUT;
}

/* Walks by tables from unwind_start()'s place on, likewise. */
static __always_inline void walk_tables(struct prof_rec *rec, struct prof_walk *w, __u64 *frames)
{
	rec->ustack_cnt = unwind_walk(w, (void *)frames);
	rec->flags |= PROF_REC_WALKED;
	if (rec->ustack_cnt >= cfg_max_stack && !unwind_step(w)) {
		rec->flags |= PROF_REC_USTACK_CUT;
		w->end = PROF_END_FULL;
	}
	if (w->surplus && rec->ustack_cnt)
		rec->ustack_cnt--;
	rec->user_end = w->end | w->flags;
}

/* The mapping list of the current process; 0: unknown. */
static __always_inline __u64 unwind_list(__u32 tgid)
{
	struct prof_unwind_proc *p = unwind_proc_find(tgid);

	return p ? *(volatile __u64 *)&p->list : 0;
}

static __always_inline struct unwind_share *unwind_share(struct unwind_place *place, __u32 tgid)
{
	return &place->shares[PROF_BOUND_MASK(prof_unwind_hash(tgid), UNWIND_SHARES - 1)];
}

/*
 * A copy needs forty times the room of a walk in the ring: rings full of copies are useless. A process that has
 * copied little may do so even if others have used the words of the interval.
 */
static __always_inline bool may_copy(struct unwind_place *place, const struct prof_rec *rec)
{
	struct unwind_share *share = unwind_share(place, rec->pid);
	__u32 interval;

	if (rec->ts - place->copied_since >= COPIED_NS) {
		place->copied_since = rec->ts;
		place->copied = 0;
	}
	interval = place->copied_since >> COPIED_INTERVAL_SHIFT;
	if (share->interval != interval) {
		share->interval = interval;
		share->copied = 0;
	}
	return place->copied < COPIED_MAX ||
	       (share->copied < COPIED_SHARE && place->copied < 4 * COPIED_MAX);
}

/*
 * Copies what the loader needs to walk the stack later, when it has the task's current mappings and their tables.
 * These are the registers and the stack, up to PROF_COPY_WORDS or the end of the last mapped page. Whether the leaf
 * has a frame needs its code, so it is decided here.
 */
static __always_inline bool copy_stack(struct prof_rec *rec, struct pt_regs *regs,
				       struct unwind_place *place, __u64 *words)
{
	__u64 sp = PTREGS_SP(regs), sz;
	__u32 pages;

	if (sp & 7 || bpf_probe_read_kernel(words, 8 * PROF_COPY_REGS, regs))
		return false;
	words += PROF_COPY_REGS;
	for (pages = PROF_COPY_PAGES; pages; pages--) {
		sz = PROF_BOUND_SIZE(PROF_COPY_BYTES(sp, pages), 8 * PROF_COPY_WORDS);
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
	unwind_share(place, rec->pid)->copied += rec->ustack_cnt;
	return true;
}

/* Whether a walk ended because a table is not loaded yet, and a copy would reach that frame. */
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
 * Whether an incomplete walk is due to execve(): the task has the memory of the new program, but the registers of the
 * old one. Before that the stack is valid, so a complete one is kept.
 */
static __always_inline bool is_cut_by_exec(struct task_struct *task, __u8 end)
{
	return (end == PROF_END_READ_FAILED || end == PROF_END_NO_MAPPING ||
		end == PROF_END_NO_PROGRESS || end == PROF_END_NO_RETURN) &&
	       BPF_CORE_READ_BITFIELD(task, in_execve);
}

/* The stack remains as far as it was walked: its leaf at least. */
static __always_inline void refuse_copy(struct prof_rec *rec, struct pt_regs *regs, __u64 list,
					__u64 *frames)
{
	if (!list) {
		frames[0] = PTREGS_IP(regs);
		rec->ustack_cnt = 1;
	}
	rec->user_end = PROF_END_OVER_BUDGET | (rec->user_end & ~PROF_USER_END_MASK);
}

/*
 * Walks by tables, or copies the stack if too little is known of the process or of one of its files. Returns false
 * if neither was possible.
 */
static __always_inline bool unwind(struct prof_rec *rec, struct task_struct *task,
				   struct pt_regs *regs, struct unwind_place *place, __u64 *frames,
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
		if (is_cut_by_exec(task, place->walk.end)) {
			rec->user_end = PROF_END_EXEC | place->walk.flags;
			return true;
		}
		if (place->walk.end != PROF_END_NO_MAPPING && !is_early(&place->walk, regs))
			return true;
	}
	if (!may_copy(place, rec)) {
		if (cfg_system_wide)
			refuse_copy(rec, regs, list, frames);
		return list || cfg_system_wide; /* targets have no share */
	}
	if (copy_stack(rec, regs, place, frames))
		return true;
	/* the copy has overwritten the walk's frames */
	frames[0] = PROF_UNWIND_RAW | PTREGS_IP(regs);
	rec->ustack_cnt = 1;
	if (BPF_CORE_READ_BITFIELD(task, in_execve))
		rec->user_end = PROF_END_EXEC;
	return list;
}

/*
 * Whether the current task has user memory. At each visit of a load of a pointer, the verifier searches all types of
 * the kernel several times. So programs check this before the kernel stack, whose outcomes multiply visits.
 */
static __always_inline bool has_user_stack(const struct task_struct *task)
{
	return !(task->flags & PF_KTHREAD) && task->mm;
}

/* The stack of @task, the current task, if it has one, into @frames, which has room for a copy. */
static __always_inline void user_stack(struct prof_rec *rec, struct task_struct *task,
				       __u64 *frames, enum unwind_walker walker)
{
	struct unwind_place *place = unwind_place(walker);
	struct pt_regs *regs;

	if (!place)
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
		if (unwind(rec, task, regs, place, frames, walker))
			return;
	} else {
		rec->user_end = PROF_END_UNCHECKED;
	}
	walk_frame_pointers(rec, regs, &place->walk, frames);
}

#endif
