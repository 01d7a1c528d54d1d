/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* leaf_x86_64.bpf.h - the part of leaf.bpf.h for x86-64 code; it checks the word at the stack pointer */
#ifndef D9_LEAF_X86_64_BPF_H
#define D9_LEAF_X86_64_BPF_H

#include "unwind.bpf.h"

#define ENDBR64 0xfa1e0ff3

/* Follows a stub of the procedure linkage table to the function. */
static __always_inline __u64 follow_stub(__u64 target)
{
	__u64 at = target, code, slot;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)at))
		return target;
	if ((__u32)code == ENDBR64) {
		at += 4;
		code = 0;
		bpf_probe_read_user(&code, sizeof(code), (void *)at);
	}
	if ((code & 0xff) == 0xf2) { /* bnd */
		at++;
		code >>= 8;
	}
	if ((code & 0xffff) != 0x25ff) /* jmp *slot(%rip) */
		return target;
	slot = at + 6 + (__s32)(code >> 16);
	return bpf_probe_read_user(&at, sizeof(at), (void *)slot) ? target : at;
}

/* ff /2 of any length: the operand may have 1 or 4 more bytes, and a SIB byte before them. */
static __always_inline bool is_indirect_call(__u64 code)
{
	return (code >> 48 & 0x38ff) == 0x10ff || (code >> 40 & 0x38ff) == 0x10ff ||
	       (code >> 32 & 0x38ff) == 0x10ff || (code >> 16 & 0x38ff) == 0x10ff ||
	       (code >> 8 & 0x38ff) == 0x10ff;
}

/* Whether a call precedes @ret, and its target. */
static __always_inline bool find_call(struct call *c, __u64 ret)
{
	__u64 code;

	c->ret = ret;
	c->target = 0;
	if (ret < LOW || ret >> USER_BITS ||
	    bpf_probe_read_user(&code, sizeof(code), (void *)(ret - sizeof(code))))
		return false;
	if ((code >> 24 & 0xff) == 0xe8) { /* call target */
		c->target = follow_stub(ret + (__s32)(code >> 32));
		return true;
	}
	if ((code >> 16 & 0xffff) == 0x15ff && /* call *slot(%rip) */
	    bpf_probe_read_user(&c->target, sizeof(c->target), (void *)(ret + (__s32)(code >> 32))))
		c->target = 0;
	return c->target || is_indirect_call(code);
}

/*
 * Whether one of the instructions that begin in word @n of w->code, which has @sz bytes from there on, makes the stack
 * pointer the frame pointer. A global function: the verifier checks it once instead of once per word.
 */
__attribute__((noinline)) int unwind_sets_frame(const struct prof_walk *w, __u32 n, __u32 sz)
{
	const __u64 *words;
	__u32 i, insn;
	__u64 code, next;

	if (!w)
		return 0;
	words = (const void *)w->code;
	code = words[PROF_BOUND_INDEX(n, SETUP_MAX / 8)];
	next = words[PROF_BOUND_INDEX(n + 1, SETUP_MAX / 8)];
	for (i = 0; i < sizeof(code) && i + 4 <= sz; i++) {
		insn = code;
		if ((insn & 0xffffff) == 0xe58948 || (insn & 0xffffff) == 0xec8b48 || /* mov */
		    insn == 0x246c8d48 || insn == 0x24ac8d48) /* lea n(%rsp), %rbp */
			return 1;
		code = code >> 8 | next << 56;
		next >>= 8;
	}
	return 0;
}

/* Whether the code from @from up to the leaf's address makes the stack pointer the frame pointer. */
__attribute__((noinline)) int unwind_sets_up_frame(struct prof_walk *w, __u64 from)
{
	__u64 sz;
	__u32 i;

	if (!w)
		return 1;
	sz = PROF_BOUND_SIZE(w->ip - from, SETUP_MAX);
	if (sz < 4)
		return 0;
	if (bpf_probe_read_user(w->code, PROF_BOUND_SIZE(sz, SETUP_MAX), (void *)from))
		return 1;
	ROLLED
	for (i = 0; i < SETUP_MAX / 8 && 8 * i < sz; i++)
		if (unwind_sets_frame(w, i, sz - 8 * i))
			return 1;
	return 0;
}

/* Whether the called function begins at the leaf's address, or before its first push: @off is 8. */
static __always_inline bool starts_at(const struct prof_walk *w, __u64 target, int off)
{
	__u64 sz = w->ip - target - !!off;
	__u32 code = 0;

	if (!sz || sz != sizeof(code))
		return !sz;
	bpf_probe_read_user(&code, sizeof(code), (void *)target);
	return code == ENDBR64;
}

/* Whether the leaf is at its function's start, or after its first push: aligned code follows int3 as padding. */
static __always_inline bool is_at_start(const struct prof_walk *w, int off)
{
	__u64 start = w->ip - !!off;
	__u16 padding = 0;

	if (start & 31)
		return false;
	bpf_probe_read_user(&padding, sizeof(padding), (void *)(start - sizeof(padding)));
	return padding == 0xcccc;
}

/*
 * Finds the return address that a leaf without a frame would have, and the call before it. Returns its distance
 * above the stack pointer in bytes; below 0: none. *returning: the next instruction is a return, or the function's
 * first: it is aligned and follows an int3, which compilers of run-time code use as padding.
 */
static __always_inline int leaf_candidate(struct prof_walk *w, struct call *c, bool *returning)
{
	__u32 code = 0, off = 0;
	__u64 ret;

	/* one byte before the leaf's address, and three from there on */
	bpf_probe_read_user(&code, sizeof(code), (void *)(w->ip - 1));
	if (code == 0xe5894855) /* after push %rbp, before mov %rsp, %rbp */
		off = 8;
	if (prof_walk_word(w, w->sp + off, &ret) || !find_call(c, ret))
		return -1;
	w->leaf_known = (code >> 8 & 0xfe) == 0xc2 || /* ret, ret $n */
			starts_at(w, c->target, off) || is_at_start(w, off);
	*returning = w->leaf_known || ((code & 0xff) == 0xcc && !(w->ip & 31));
	return off;
}

#endif
