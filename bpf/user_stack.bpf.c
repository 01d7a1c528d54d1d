// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * user_stack.bpf.c - user stacks: walks by tables, by frame pointers, and copies
 *
 * Processes with known mappings are unwound by tables. For other processes, and for --call-graph fp, the walk reads
 * each pair {caller's frame, return address} once. It stops at the first pair that cannot be valid. bpf_get_stack()
 * does the same, but wastes most of its time on faults if libraries without frame pointers use that register for
 * other values.
 */
#include "reuse.bpf.h"
#include "stack.bpf.h"

enum {
	COPIED_MAX = 32768, /* words of copied stacks per CPU and interval: */
	COPIED_NS = 10000000,
	COPIED_SHARE = 8192, /* of a process, if others have used these words */
	COPIED_INTERVAL_SHIFT = 20, /* two intervals differ in the bits above */
};

/* From memory, where the verifier does not know how often the loop that counted the frames has run. */
static __always_inline __u32 frame_cnt(const struct prof_rec *rec)
{
	return *(const volatile __u16 *)&rec->ustack_cnt;
}

/* Walks frame pointers from @regs on into @frames, which has room for PROF_STACK_MAX. */
static __always_inline void walk_frame_pointers(struct prof_rec *rec, struct pt_regs *regs,
						struct prof_walk *w, __u64 *frames)
{
	__u32 i, cnt;

	prof_walk_start(w, PTREGS_IP(regs), PTREGS_SP(regs), PTREGS_FP(regs), PTREGS_LR(regs), 0,
			0);
	frames[0] = PTREGS_IP(regs);
	rec->ustack_cnt = 1;
	ROLLED
	for (i = 1; i < PROF_STACK_MAX && i < cfg_max_stack; i += UNWIND_PAIRS) {
		cnt = unwind_pairs(w, (void *)(frames + i), cfg_max_stack - i);
		rec->ustack_cnt = i + cnt;
		if (cnt < UNWIND_PAIRS)
			break;
	}
	rec->user_end |= w->flags;
	if (frame_cnt(rec) >= cfg_max_stack)
		rec->flags |= PROF_REC_USTACK_CUT;
}

/*
 * Walks by tables from unwind_start()'s place on, likewise. The calls of a walk are nested as deep as the kernel
 * permits.
 */
static __always_inline void walk_tables(struct prof_rec *rec, struct prof_walk *w,
					struct stack_part *frames)
{
	__u32 i, cnt;

	ROLLED
	for (i = 0; i < STACK_PARTS && i * STACK_PART < cfg_max_stack; i++) {
		cnt = unwind_walk(w, frames + i, cfg_max_stack - i * STACK_PART);
		rec->ustack_cnt = i * STACK_PART + cnt;
		if (cnt < STACK_PART)
			break;
	}
	rec->flags |= PROF_REC_WALKED;
	if (frame_cnt(rec) >= cfg_max_stack && !unwind_step(w)) {
		rec->flags |= PROF_REC_USTACK_CUT;
		w->end = PROF_END_FULL;
	}
	if (w->surplus && frame_cnt(rec))
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
		walk_tables(rec, &place->walk, (void *)frames);
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

static __always_inline void put_user_stack(struct prof_rec *rec, struct user_stack *stack,
					   enum unwind_walker walker)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct unwind_place *place = unwind_place(walker);
	struct pt_regs *regs;

	if (!place)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (cfg_call_graph == PROF_CALL_GRAPH_NO || !PTREGS_IS_64BIT(regs)) {
		stack->words[0] = PTREGS_IP(regs);
		rec->ustack_cnt = 1;
		if (cfg_call_graph != PROF_CALL_GRAPH_NO)
			rec->user_end = PROF_END_32BIT;
		return;
	}
	if (cfg_call_graph == PROF_CALL_GRAPH_AUTO) {
		if (unwind(rec, task, regs, place, stack->words, walker))
			return;
	} else {
		rec->user_end = PROF_END_UNCHECKED;
	}
	walk_frame_pointers(rec, regs, &place->walk, stack->words);
}

__attribute__((noinline)) int user_stack(struct prof_rec *rec, struct user_stack *stack,
					 __u32 walker)
{
	if (rec && stack && walker != UNWIND_OF_SWITCH)
		put_user_stack(rec, stack, walker);
	return 0;
}

__attribute__((noinline)) int user_stack_of_switch(struct prof_rec *rec, struct user_stack *stack)
{
	if (rec && stack)
		put_user_stack(rec, stack, UNWIND_OF_SWITCH);
	return 0;
}
