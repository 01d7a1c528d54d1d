/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * unwind.bpf.h - user stacks by tables: prof_walk.h's steps for the programs
 *
 * A step is a global function (its argument needs Linux 5.12), which the verifier checks once instead of once per
 * frame. So neither bpf_loop() nor tail calls are needed, and programs load within milliseconds.
 */
#ifndef D9_UNWIND_BPF_H
#define D9_UNWIND_BPF_H

#include "unwind_maps.bpf.h"
#include "prof_walk.h"

/* Kinds of walks. A walk never interrupts another of its kind, but may interrupt other kinds. */
enum unwind_walker {
	UNWIND_OF_SAMPLE,
	UNWIND_OF_SWITCH,
	UNWIND_OF_EVENT, /* in extract.bpf.c */
	UNWIND_WALKERS,
};

enum { UNWIND_SHARES = 512 }; /* a power of two */

/* Copies of the processes that share a place by their hash */
struct unwind_share {
	__u32 interval; /* that `copied` belongs to */
	__u32 copied; /* words */
};

/* A CPU's walks, which are too large for a program's stack, and how much it copied. */
struct unwind_place {
	struct prof_walk walk;
	__u64 copied_since; /* start of the interval, ns */
	__u64 copied; /* words in this interval */
	struct unwind_share shares[UNWIND_SHARES];
};

struct unwind_walk_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_WALKERS);
	__type(key, __u32);
	__type(value, struct unwind_place);
};

extern struct unwind_walk_map unwind_walks SEC(".maps");
extern volatile __u32 unwind_generation, unwind_list_generation;

/* prof_walk_step() for a walk that unwind_start() prepared. */
int unwind_step(struct prof_walk *w);
/*
 * For a walk before its first step, if code shows that the leaf has no frame: bytes from the stack pointer up to
 * its return address, 0 if it is in a register. Below 0: it has a frame, or code does not show it. See leaf.bpf.h.
 */
int unwind_leaf(struct prof_walk *w);
/* Whose frame the frame pointer leads to, if it has this return address: enum prof_walk_owner. See owner.bpf.h. */
int unwind_owner(struct prof_walk *w, __u64 ret);
#ifdef PROF_MACHINE_X86_64
/*
 * After a step that ended: finds the caller on the stack, see search.bpf.h, if that can help. 0: the next step continues
 * there, or by the frame pointer; otherwise the walk has ended.
 */
int unwind_search(struct prof_walk *w);
#define UNWIND_SEARCHES 2
#else
/* A leaf of arm64 has its return address in lr; that alone does not show that it is still there. */
static __always_inline int unwind_search(struct prof_walk *w)
{
	return -1;
}
#define UNWIND_SEARCHES 0
#endif
/* Walks by tables, first from unwind_start()'s place. Returns the number of frames, at most @max or a part. */
int unwind_walk(struct prof_walk *w, struct stack_part *frames, __u32 max);

enum { UNWIND_PAIRS = (PROF_STACK_MAX - 1) / 9 };

struct unwind_pair_frames {
	__u64 at[UNWIND_PAIRS];
};

_Static_assert(UNWIND_PAIRS * 9 == PROF_STACK_MAX - 1, "all frames but the first");

/*
 * Walks by the frame pointer alone, unchecked; guesses for a leaf without one. Returns the number of frames, at most
 * @max or UNWIND_PAIRS.
 */
int unwind_pairs(struct prof_walk *w, struct unwind_pair_frames *frames, __u32 max);

static __always_inline struct unwind_place *unwind_place(enum unwind_walker walker)
{
	__u32 idx = walker;

	return bpf_map_lookup_elem(&unwind_walks, &idx);
}

/* Starts from the registers of the current task, whose process has @list. */
static __always_inline void unwind_start(struct prof_walk *w, struct pt_regs *regs, __u64 list)
{
	prof_walk_start(w, PTREGS_IP(regs), PTREGS_SP(regs), PTREGS_FP(regs), PTREGS_LR(regs), list,
			unwind_generation);
	w->regs = (__u64)regs;
	w->searches = UNWIND_SEARCHES;
}

#endif
