/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * leaf.bpf.h - the caller of a leaf function without a frame, for walks by frame pointers only
 *
 * Wrappers of system calls do not push a frame. Other functions have none before their first instruction and after
 * their last but one. The frame pointer is then the caller's and leads to the caller's caller. The word at the
 * stack pointer, or the link register, would be the missing return address. If the leaf has a frame, that word can
 * be anything. The code decides:
 *
 * - A call precedes a return address. Most calls show their target. It must be shortly before the leaf's address,
 *   and no instruction in between may set up a frame.
 * - A call also precedes the first return address found by frame pointer. Its target is the function that owns the
 *   frame. If that function begins at or after the target of the first call, and before the leaf's address, the
 *   leaf belongs to that function. The word is then left over from an earlier call.
 *
 * The result is a guess, and the stack is flagged as such, except if the next instruction returns there, or if it is
 * the function's first: a call from there leads to it, or padding is before it.
 */
#ifndef D9_LEAF_BPF_H
#define D9_LEAF_BPF_H

#include "unwind.bpf.h"

enum {
	LOW = 65536, /* nothing is mapped below */
	USER_BITS = 47,
	SETUP_MAX = 256, /* bytes of a function that are searched */
	FUNCTION_MAX = 65536,
};

struct call {
	__u64 ret;
	__u64 target; /* 0: an indirect call through a register or a word that changes */
};

#if defined(PROF_MACHINE_ARM64)
#include "leaf_arm64.bpf.h"
#else
#include "leaf_x86_64.bpf.h"
#endif

/* Whether the leaf belongs to the called function, as far as the code shows; @framed: found by frame pointer. */
static __always_inline bool is_callee(struct prof_walk *w, const struct call *c,
				      const struct call *framed)
{
	__u64 max = framed->target ? FUNCTION_MAX : SETUP_MAX;
	bool in_framed = w->ip - framed->target <= FUNCTION_MAX;

	if (c->ret == framed->ret)
		return false;
	if (!c->target)
		return framed->target && !in_framed && c->ret - framed->target <= FUNCTION_MAX;
	if (w->ip - c->target > max)
		return false;
	if (framed->target && in_framed && framed->target >= c->target)
		return false;
	return !unwind_sets_up_frame(w, c->target);
}

/* Bytes from the stack pointer up to the return address, before a walk's first step. Below 0: none. */
static __always_inline int find_leaf_return(struct prof_walk *w)
{
	struct call call, framed = {};
	bool returning = false;
	int off = leaf_candidate(w, &call, &returning);
	__u64 ret;

	if (off < 0 || returning)
		return off;
	if (w->fp - w->sp < PROF_UNWIND_SP_MAX && !prof_walk_rare(w, w->fp + 8, &ret))
		find_call(&framed, prof_walk_code(w, ret));
	return is_callee(w, &call, &framed) ? off : -1;
}

#endif
