/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * unwind.bpf.h - user stacks by tables: prof_walk.h's steps for the programs
 *
 * A step is a global function (Linux 5.12 for its argument), which the verifier checks once and not once
 * for each frame: neither bpf_loop() nor tail calls are needed, and programs load within milliseconds.
 */
#ifndef D9_UNWIND_BPF_H
#define D9_UNWIND_BPF_H

#include "unwind_maps.bpf.h"
#include "prof_walk.h"

/* Who walks: none of these interrupts another of its kind, but may another kind. */
enum unwind_walker {
	UNWIND_OF_SAMPLE,
	UNWIND_OF_SWITCH,
	UNWIND_OF_EVENT, /* by recipe.bpf.c */
	UNWIND_WALKERS,
};

/* A CPU's walks, too large for a program's stack, and how much it copied instead. */
struct unwind_place {
	struct prof_walk walk;
	__u64 copied_since; /* ns */
	__u64 copied; /* words */
};

struct unwind_walk_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_WALKERS);
	__type(key, __u32);
	__type(value, struct unwind_place);
};

extern struct unwind_walk_map unwind_walks SEC(".maps");
extern volatile __u32 unwind_generation, unwind_list_generation;

/* prof_walk_step() for a walk that unwind_start() gave. */
int unwind_step(struct prof_walk *w);
/*
 * Of a walk that has not made a step, where code tells that the leaf has no frame: how many bytes above the
 * stack pointer its return address is, 0 where it is in a register. Below 0: it has one, or nothing tells. See
 * leaf.bpf.h.
 */
int unwind_leaf(struct prof_walk *w);
/* By the frame pointer alone, unchecked, but for a leaf that has none: 0 and w->frame, a return address. */
int unwind_pair(struct prof_walk *w);

static __always_inline struct unwind_place *unwind_place(enum unwind_walker walker)
{
	__u32 idx = walker;

	return bpf_map_lookup_elem(&unwind_walks, &idx);
}

/* From the registers of the current task, whose process has @list, on. */
static __always_inline void unwind_start(struct prof_walk *w, struct pt_regs *regs, __u64 list)
{
	prof_walk_start(w, PTREGS_IP(regs), PTREGS_SP(regs), PTREGS_FP(regs), PTREGS_LR(regs), list,
			unwind_generation);
	w->regs = (__u64)regs;
}

#endif
