/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * leaf.bpf.h - the caller of a leaf that has no frame, where frame pointers are all there is
 *
 * Wrappers of system calls do not push a frame, nor do other functions before their first instruction and
 * behind their last but one. The frame pointer is then the caller's, and leads to the caller's caller. The
 * word at the stack pointer would be the missing return address; of a leaf that has a frame it is anything.
 * Code tells which:
 *
 * - Before a return address stands a call. Most say where they go: it must be shortly before where the
 *   leaf is, and in between nothing makes the stack pointer the frame pointer.
 * - The first return address by frame pointer has a call before it, too, and who was called there is whose
 *   frame it is. Where that function begins at or behind the other call's and before the leaf's
 *   place, the leaf is that function, and the word is what an earlier call left behind.
 *
 * It stays a guess, and the stack says so. x86-64 only.
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

/* Through the stub of a linkage table to the function. */
static __always_inline __u64 behind_stub(__u64 target)
{
	__u64 at = target, code, slot;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)at))
		return target;
	if ((__u32)code == 0xfa1e0ff3) { /* endbr64 */
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

/* ff /2, of any length: its operand may have a byte or four more, and one before these. */
static __always_inline bool is_indirect_call(__u64 code)
{
	return (code >> 48 & 0x38ff) == 0x10ff || (code >> 40 & 0x38ff) == 0x10ff ||
	       (code >> 32 & 0x38ff) == 0x10ff || (code >> 16 & 0x38ff) == 0x10ff ||
	       (code >> 8 & 0x38ff) == 0x10ff;
}

/* Whether there is a call before an address, and of what. */
static __always_inline bool find_call(struct call *c, __u64 ret)
{
	__u64 code;

	c->ret = ret;
	c->target = 0;
	if (ret < LOW || ret >> USER_BITS ||
	    bpf_probe_read_user(&code, sizeof(code), (void *)(ret - sizeof(code))))
		return false;
	if ((code >> 24 & 0xff) == 0xe8) { /* call target */
		c->target = behind_stub(ret + (__s32)(code >> 32));
		return true;
	}
	if ((code >> 16 & 0xffff) == 0x15ff && /* call *slot(%rip) */
	    bpf_probe_read_user(&c->target, sizeof(c->target), (void *)(ret + (__s32)(code >> 32))))
		c->target = 0;
	return c->target || is_indirect_call(code);
}

/* Whether code from @from on, up to where the leaf is, makes the stack pointer the frame pointer. */
static __always_inline bool sets_up_frame(struct prof_walk *w, __u64 from)
{
	__u64 sz = w->ip - from;
	__u32 code, i;

	if (sz > SETUP_MAX)
		sz = SETUP_MAX;
	if (sz < 4)
		return false;
	if (bpf_probe_read_user(w->code, sz, (void *)from))
		return true;
	for (i = 0; i + 4 <= SETUP_MAX; i++) {
		if (i + 4 > sz)
			break;
		code = w->code[i] | w->code[i + 1] << 8 | w->code[i + 2] << 16 |
		       (__u32)w->code[i + 3] << 24;
		if ((code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48 || /* mov */
		    code == 0x246c8d48 || code == 0x24ac8d48) /* lea n(%rsp), %rbp */
			return true;
	}
	return false;
}

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
	__u32 code = 0, off = 0;
	__u64 ret;

	/* one byte before the leaf's place, and three from there on */
	bpf_probe_read_user(&code, sizeof(code), (void *)(w->ip - 1));
	if (code == 0xe5894855) /* push %rbp was the last, mov %rsp, %rbp is the next */
		off = 8;
	if (prof_walk_word(w, w->sp + off, &ret) || !find_call(&call, ret))
		return -1;
	if ((code >> 8 & 0xff) == 0xc3) /* ret */
		return 0;
	if (w->fp - w->sp < PROF_UNWIND_SP_MAX && !prof_walk_word(w, w->fp + 8, &ret))
		find_call(&framed, ret);
	return is_callee(w, &call, &framed) ? (int)off : -1;
}

#endif
