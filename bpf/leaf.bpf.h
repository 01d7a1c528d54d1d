/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * leaf.bpf.h - the caller of a leaf that has no frame, where frame pointers are all there is
 *
 * Wrappers of system calls do not push a frame, nor do other functions before their first instruction and
 * behind their last but one. The frame pointer is then the caller's, and leads to the caller's caller. The
 * word at the stack pointer, or what is in the register for it, would be the missing return address; of a leaf
 * that has a frame it is anything. Code tells which:
 *
 * - Before a return address stands a call. Most say where they go: it must be shortly before where the
 *   leaf is, and in between nothing sets up a frame.
 * - The first return address by frame pointer has a call before it, too, and who was called there is whose
 *   frame it is. Where that function begins at or behind the other call's and before the leaf's
 *   place, the leaf is that function, and the word is what an earlier call left behind.
 *
 * It stays a guess, and the stack says so.
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
	__u64 target; /* 0: through a register or a word that moves */
};

#if defined(PROF_MACHINE_ARM64)
#include "leaf_arm64.bpf.h"
#else
#include "leaf_x86_64.bpf.h"
#endif

/* Whether the leaf is what was called there, as far as can be seen; @framed: by frame pointer. */
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
	return !sets_up_frame(w, c->target);
}

/* How many bytes above the stack pointer the return address is, before a walk's first step. Below 0: none. */
static __always_inline int find_leaf_return(struct prof_walk *w)
{
	struct call call, framed = {};
	bool returning = false;
	int off = leaf_candidate(w, &call, &returning);
	__u64 ret;

	if (off < 0 || returning)
		return off;
	if (w->fp - w->sp < PROF_UNWIND_SP_MAX && !prof_walk_word(w, w->fp + 8, &ret))
		find_call(&framed, prof_walk_code(w, ret));
	return is_callee(w, &call, &framed) ? off : -1;
}

#endif
