/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * reuse.bpf.h - reuses the user stack of an earlier walk
 *
 * Most threads leave the CPU at the same place as before, with the same stack. The result of a walk depends on the
 * registers at its start, the list of mappings, the tables, and the stack words that it uses. If all of these are
 * unchanged, the frames are the same. It does not matter which thread ran in between, or whether it is the same
 * thread or process. So the last walk from each place is stored, and one or two reads of the stack verify it, for
 * any number of frames.
 *
 * Only complete stacks are stored: others may have ended because a table or a page was missing and is available
 * later. A place is stored on its second use, because storing costs part of what it saves. No stack is stored for
 * long, because walks mark the tables that are in use.
 */
#ifndef D9_REUSE_BPF_H
#define D9_REUSE_BPF_H

#include "orc.bpf.h"
#include "unwind.bpf.h"

enum {
	KNOWN_GROUPS = 10,
	KNOWN_FRAMES = KNOWN_GROUPS * WORDS_GROUP,
	KNOWN_PIECES = 4,
	KNOWN_STACK = 1024, /* words in all pieces; a power of two */
	KNOWN_NS = 500000000,
};

/* A part of the stack that is read at once. */
struct unwind_piece {
	__u64 from;
	__u32 sz, at; /* bytes; index of its first word in struct unwind_stack */
};

struct unwind_known {
	__u64 ip, sp, fp, lr, list; /* registers and list at the start of the walk */
	__u64 ts; /* time of the walk */
	__u32 generation, list_generation; /* generations of the tables and of all lists */
	__u16 frame_cnt, word_cnt;
	__u8 piece_cnt, user_end;
	struct unwind_piece pieces[KNOWN_PIECES];
	/* whole groups: the first word follows the last one */
	__u16 at[PROF_WALK_SEEN]; /* index of each word in struct unwind_stack */
	__u64 words[PROF_WALK_SEEN];
	struct words_group frames[KNOWN_GROUPS];
};

/* Only for switches, which do not interrupt each other. */
struct unwind_known_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_known);
};

/* The words of all pieces; the last piece may have the size of all together. */
struct unwind_stack {
	__u64 words[2 * KNOWN_STACK];
};

struct unwind_stack_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_stack);
};

extern struct unwind_known_map unwind_knowns SEC(".maps");
extern struct unwind_stack_map unwind_stacks SEC(".maps");

/* Whether a new walk found the stored stack: 1 or 0. */
int unwind_is_same(const struct unwind_known *known, const struct stack_frames *frames, __u32 cnt);
/* Stores the words that the walk used, and its @cnt frames. 0, or -1 if there is no room. */
int unwind_keep(struct unwind_known *known, const struct prof_walk *w,
		const struct stack_frames *frames, __u32 cnt);

/* The place of a walk of this thread from here. Others may share it. */
static __always_inline struct unwind_known *unwind_known(struct pt_regs *regs, __u32 tid)
{
	__u64 hash = (PTREGS_IP(regs) * 31 + PTREGS_SP(regs)) * 31 + tid;
	__u32 idx = PROF_BOUND_MASK(hash * 0x9e3779b97f4a7c15ULL >> 40, cfg_unwind_knowns - 1);

	return bpf_map_lookup_elem(&unwind_knowns, &idx);
}

/* Reads the pieces of the stack: false if one is not there. */
static __always_inline bool read_pieces(const struct unwind_known *known,
					struct unwind_stack *stack)
{
	__u32 i, at, sz;

	for (i = 0; i < KNOWN_PIECES && i < known->piece_cnt; i++) {
		at = PROF_BOUND_INDEX(known->pieces[i].at, KNOWN_STACK);
		sz = known->pieces[i].sz;
		if (sz > 8 * KNOWN_STACK ||
		    bpf_probe_read_user(&stack->words[at], PROF_BOUND_SIZE(sz, 8 * KNOWN_STACK),
					(void *)known->pieces[i].from))
			return false;
	}
	return true;
}

/* Whether the words of the stack are unchanged since the walk. */
static __always_inline bool is_unchanged(const struct unwind_known *known,
					 struct unwind_stack *stack)
{
	__u64 changed = 0;
	__u32 i, k;

	if (!read_pieces(known, stack))
		return false;
	ROLLED
	for (i = 0; i < PROF_WALK_SEEN && i < known->word_cnt; i += WORDS_GROUP) {
#pragma unroll
		for (k = 0; k < WORDS_GROUP; k++)
			changed |= stack->words[PROF_BOUND_INDEX(known->at[i + k], KNOWN_STACK)] ^
				   known->words[i + k];
	}
	return !changed;
}

/* Writes the stored stack, if it is still valid. */
static __always_inline bool reuse_walk(struct prof_rec *rec, struct pt_regs *regs, __u64 list,
				       const struct unwind_known *known, __u64 *frames)
{
	__u32 zero = 0;
	struct unwind_stack *stack = bpf_map_lookup_elem(&unwind_stacks, &zero);

	if (!stack || known->ip != PTREGS_IP(regs) || known->sp != PTREGS_SP(regs) ||
	    known->fp != PTREGS_FP(regs) || known->lr != PTREGS_LR(regs) || known->list != list ||
	    known->generation != unwind_generation ||
	    known->list_generation != unwind_list_generation || rec->ts - known->ts >= KNOWN_NS ||
	    !is_unchanged(known, stack))
		return false;
	words_copy((void *)frames, known->frames, KNOWN_GROUPS, known->frame_cnt);
	rec->ustack_cnt = known->frame_cnt;
	rec->user_end = known->user_end;
	rec->flags |= PROF_REC_WALKED;
	cpu_stat(rec->cpu)->stacks_reused++;
	return true;
}

/* For --debug=verify-stacks: compares the stored stack with @rec's stack, which was walked anyway. */
static __always_inline void reuse_check(const struct prof_rec *rec,
					const struct unwind_known *known, __u64 *frames)
{
	struct prof_cpu_stat *stat = cpu_stat(rec->cpu);

	/* otherwise tables or lists were removed during that time, and the stored walk with them */
	if (known->generation != unwind_generation ||
	    known->list_generation != unwind_list_generation)
		return;
	stat->reused_compared++;
	if (known->user_end != rec->user_end ||
	    !unwind_is_same(known, (void *)frames, rec->ustack_cnt))
		stat->reused_differing++;
}

/* Stores a finished walk; @list_generation: from before the walk. */
static __always_inline void keep_walk(const struct prof_rec *rec, struct pt_regs *regs,
				      __u32 list_generation, struct unwind_known *known,
				      const struct prof_walk *w, const __u64 *frames)
{
	__u32 cnt = rec->ustack_cnt;

	if (w->end != PROF_END_COMPLETE || w->unseen || w->seen.cnt > PROF_WALK_SEEN ||
	    cnt > KNOWN_FRAMES)
		return;
	known->list = 0;
	if (known->ip != PTREGS_IP(regs) || known->sp != PTREGS_SP(regs)) {
		known->ip = PTREGS_IP(regs);
		known->sp = PTREGS_SP(regs);
		return;
	}
	if (unwind_keep(known, w, (const void *)frames, cnt))
		return;
	known->fp = PTREGS_FP(regs);
	known->lr = PTREGS_LR(regs);
	known->ts = rec->ts;
	known->generation = w->generation;
	known->list_generation = list_generation;
	known->user_end = rec->user_end;
	known->list = w->list;
}

#endif
