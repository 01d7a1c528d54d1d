/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* leaf_arm64.bpf.h - the part of leaf.bpf.h for arm64 code; it checks the register lr */
#ifndef D9_LEAF_ARM64_BPF_H
#define D9_LEAF_ARM64_BPF_H

#include "unwind.bpf.h"

enum {
	INSN_SZ = 4,
	BTI_C = 0xd503245f,
	RET = 0xd65f03c0,
	RETAA = 0xd65f0bff,
	RETAB = 0xd65f0fff,
	AUTIASP = 0xd50323bf,
	AUTIBSP = 0xd50323ff,
};

/* Follows a stub of the procedure linkage table to the function. */
static __always_inline __u64 follow_stub(__u64 target)
{
	__u32 code[3] = {}, adrp, ldr;
	__u64 at = target, slot, page;

	if (bpf_probe_read_user(code, sizeof(code), (void *)target))
		return target;
	adrp = code[0];
	ldr = code[1];
	if (code[0] == BTI_C) {
		at += INSN_SZ;
		adrp = code[1];
		ldr = code[2];
	}
	/* adrp x16, page; ldr x17, [x16, #off] */
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return target;
	page = ((__s64)(__s32)((adrp & 0xffffe0) << 8) >> 11) | (adrp >> 29 & 3);
	slot = (at & ~4095ULL) + (page << 12) + (ldr >> 10 & 0xfff) * 8;
	return bpf_probe_read_user(&at, sizeof(at), (void *)slot) ? target : at;
}

/* Whether a call precedes @ret, and its target. */
static __always_inline bool find_call(struct call *c, __u64 ret)
{
	__u32 code;

	c->ret = ret;
	c->target = 0;
	if (ret < LOW || bpf_probe_read_user(&code, sizeof(code), (void *)(ret - INSN_SZ)))
		return false;
	if ((code & 0xfc000000) == 0x94000000) { /* bl target */
		c->target = follow_stub(ret - INSN_SZ + ((__s64)(__s32)(code << 6) >> 4));
		return true;
	}
	/* blr, without and with authentication */
	return (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800;
}

/* Whether an instruction saves lr on the stack: str, or stp with another register. */
static __always_inline bool keeps_lr(__u32 code)
{
	if ((code & 0xfe4003e0) == 0xa80003e0)
		return (code & 31) == 30 || (code >> 10 & 31) == 30;
	return (code & 0xffc003ff) == 0xf90003fe || (code & 0xffe00fff) == 0xf8000ffe;
}

/* Whether the code from @from up to the leaf's address saves the return address. */
static __always_inline int unwind_sets_up_frame(struct prof_walk *w, __u64 from)
{
	__u64 sz = w->ip - from;
	__u32 i;

	if (sz > SETUP_MAX)
		sz = SETUP_MAX;
	if (sz < INSN_SZ)
		return false;
	if (bpf_probe_read_user(w->code, PROF_BOUND_SIZE(sz, SETUP_MAX), (void *)from))
		return true;
	for (i = 0; i + INSN_SZ <= SETUP_MAX; i += INSN_SZ) {
		if (i + INSN_SZ > sz)
			break;
		if (keeps_lr(*(__u32 *)&w->code[i]))
			return true;
	}
	return false;
}

/* See leaf_x86_64.bpf.h; the stack pointer is the caller's. */
static __always_inline int leaf_candidate(struct prof_walk *w, struct call *c, bool *returning)
{
	__u32 code = 0;

	if (!find_call(c, prof_walk_code(w, w->lr)))
		return -1;
	bpf_probe_read_user(&code, sizeof(code), (void *)w->ip);
	*returning =
		code == RET || code == RETAA || code == RETAB || code == AUTIASP || code == AUTIBSP;
	return 0;
}

#endif
