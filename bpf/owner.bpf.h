/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * owner.bpf.h - whether the frame at the frame pointer belongs to the current function, in code without rows
 *
 * A function that does not set up a frame leaves the frame pointer of a caller in place, or uses the register for other
 * values. A step by the frame pointer then skips callers, or leads to a false one. Code shows it:
 *
 * - A call precedes the return address of each frame. Its target, if known, is the function that owns the frame. The
 *   current function must be there, or shortly after it.
 * - Between the stack pointer and the frame, a function with a frame has its local variables. If it has none, its
 *   return address lies there. The target of the call before it is after the owner, and shortly before the current
 *   address, and no instruction in between sets up a frame.
 *
 * After tail calls, any return address there leaves a doubt, as calls through registers do. The stack is flagged then.
 */
#ifndef D9_OWNER_BPF_H
#define D9_OWNER_BPF_H

#include "unwind.bpf.h"

/* Whether a call precedes an address: 0. The call's target goes to w->call_target. */
__attribute__((noinline)) int unwind_called(struct prof_walk *w, __u64 ret)
{
	struct call call;

	if (!w || !find_call(&call, ret))
		return -1;
	w->call_target = call.target;
	return 0;
}

#ifdef PROF_MACHINE_X86_64
enum { BARE_WORDS = 32, FRAME_WORDS = 64, OWNER_PART = 8 };

/*
 * Whether the word at an address is the return address of the current function, if the function at w->call_target does
 * not set up a frame. @owner: the function that the frame belongs to, 0 if unknown.
 */
__attribute__((noinline)) int unwind_bare_word(struct prof_walk *w, __u64 at, __u64 owner)
{
	bool near_owner, may_be;
	__u64 ip, ret;

	if (!w || prof_walk_word(w, at, &ret) || ret - w->sp < PROF_UNWIND_SP_MAX ||
	    unwind_called(w, ret))
		return PROF_WALK_OWNER_SELF;
	ip = w->ip - w->called;
	near_owner = owner && ip - owner <= FUNCTION_MAX;
	if (!w->call_target) {
		may_be = owner ? near_owner && ret - owner <= FUNCTION_MAX :
				 w->regs_at == PROF_WALK_REGS_START;
		return may_be ? PROF_WALK_OWNER_UNSURE : PROF_WALK_OWNER_SELF;
	}
	if (ip - w->call_target > (near_owner ? FUNCTION_MAX : SETUP_MAX) ||
	    (near_owner && w->call_target <= owner))
		return PROF_WALK_OWNER_SELF;
	w->bare_at = at;
	return PROF_WALK_OWNER_CALLER;
}

/* Whether the walk may search the stack instead of using the frame pointer. */
static __always_inline bool may_search(const struct prof_walk *w)
{
	return w->searches && w->in.map.slot != PROF_UNWIND_NO_SLOT;
}

/* Searches OWNER_PART words of the stack below the frame. */
__attribute__((noinline)) int unwind_bare_part(struct prof_walk *w, __u64 from, __u64 owner)
{
	int found = PROF_WALK_OWNER_SELF, one;
	__u32 i;

	ROLLED
	for (i = 0; w && i < OWNER_PART && from + 8 * i < w->fp; i++) {
		one = unwind_bare_word(w, from + 8 * i, owner);
		if (one == PROF_WALK_OWNER_CALLER && !unwind_sets_up_frame(w, w->call_target))
			return one;
		if (one == PROF_WALK_OWNER_UNSURE)
			found = one;
	}
	return found;
}

/* Searches the stack below the frame; of a leaf, which leaf.bpf.h has checked, the first word may do. */
static __always_inline int find_bare(struct prof_walk *w, __u64 owner)
{
	int found = PROF_WALK_OWNER_SELF, one;
	__u64 sp = w->sp;
	__u32 i;

	if (w->regs_at == PROF_WALK_REGS_START && !may_search(w)) {
		one = sp < w->fp ? unwind_bare_word(w, sp, owner) : found;
		if (one == PROF_WALK_OWNER_CALLER && unwind_sets_up_frame(w, w->call_target))
			return found;
		return one;
	}
	/* generated code is known to use frame pointers */
	if (w->in.map.slot == PROF_UNWIND_NO_SLOT)
		return found;
	ROLLED
	for (i = 0; i < BARE_WORDS && sp + 8 * i < w->fp; i += OWNER_PART) {
		one = unwind_bare_part(w, sp + 8 * i, owner);
		if (one == PROF_WALK_OWNER_CALLER)
			return one;
		if (one == PROF_WALK_OWNER_UNSURE)
			found = one;
	}
	return found;
}

/* Whether the word at an address is, or may be, the return address of a call. */
__attribute__((noinline)) int unwind_may_return(struct prof_walk *w, __u64 at)
{
	__u64 ret;

	if (!w || prof_walk_word(w, at, &ret))
		return 1;
	return !unwind_called(w, ret) && !prof_walk_find_map(w, ret - 1);
}

/* Whether one of OWNER_PART words below the frame is, or may be, the return address of a call. */
__attribute__((noinline)) int unwind_return_part(struct prof_walk *w, __u64 from)
{
	__u32 i;

	ROLLED
	for (i = 0; w && i < OWNER_PART && from + 8 * i < w->fp; i++)
		if (unwind_may_return(w, from + 8 * i))
			return 1;
	return 0;
}

/*
 * Whether the current function may have no frame: its return address is then between the stack pointer and the frame
 * pointer.
 */
static __always_inline bool may_be_bare(struct prof_walk *w)
{
	bool found = w->fp - w->sp > 8 * FRAME_WORDS;
	__u64 sp = w->sp;
	__u32 i;

	ROLLED
	for (i = 0; i < FRAME_WORDS && !found && sp + 8 * i < w->fp; i += OWNER_PART)
		found = unwind_return_part(w, sp + 8 * i);
	prof_walk_find_map(w, w->ip - w->called);
	return found;
}

/* Whether the function begins with the instructions that set up a frame. */
static __always_inline bool begins_with_frame(struct prof_walk *w, __u64 func)
{
	return !bpf_probe_read_user(w->code, 16, (void *)func) && unwind_sets_frame(w, 0, 16);
}

/*
 * While the walk may search the stack instead: whether the frame is the current function's beyond doubt. @owner: the
 * function that the frame belongs to; find_bare() has found no other return address below the frame.
 */
static __always_inline int find_known(struct prof_walk *w, __u64 owner)
{
	__u64 next;

	if (!may_search(w) || w->fp - w->sp > 8 * BARE_WORDS || prof_walk_rare(w, w->fp, &next) ||
	    next - w->fp >= PROF_UNWIND_SP_MAX || next == w->fp || !begins_with_frame(w, owner))
		return PROF_WALK_OWNER_SELF;
	return may_be_bare(w) ? PROF_WALK_OWNER_LIKELY : PROF_WALK_OWNER_KNOWN;
}
#else
static __always_inline int find_bare(struct prof_walk *w, __u64 owner)
{
	return PROF_WALK_OWNER_SELF;
}

static __always_inline bool may_be_bare(struct prof_walk *w)
{
	return true;
}

static __always_inline int find_known(struct prof_walk *w, __u64 owner)
{
	return PROF_WALK_OWNER_SELF;
}
#endif

/*
 * No call precedes the return address. Runtimes replace the return addresses of generated code that has become
 * invalid.
 */
static __always_inline int without_call(struct prof_walk *w, __u64 ret)
{
	bool generated = !prof_walk_find_map(w, ret - 1) && w->in.map.slot == PROF_UNWIND_NO_SLOT;

	prof_walk_find_map(w, w->ip - w->called);
	return generated ? PROF_WALK_OWNER_UNSURE : PROF_WALK_OWNER_NONE;
}

static __always_inline int read_owner(struct prof_walk *w, __u64 ret)
{
	__u64 func;
	int owner;

	if (unwind_called(w, ret))
		return without_call(w, ret);
	func = w->call_target;
	owner = find_bare(w, func);
	if (owner != PROF_WALK_OWNER_SELF || !func)
		return owner;
	if (w->ip - w->called - func > FUNCTION_MAX)
		return may_be_bare(w) ? PROF_WALK_OWNER_UNSURE : PROF_WALK_OWNER_SELF;
	return find_known(w, func);
}

/*
 * The code at two addresses of a process decides, so the result is kept among the rows, whose keys are smaller; the
 * lowest bit is whether find_known() had a part in it. A function without a frame has another result as soon as its
 * return address is found.
 */
__attribute__((noinline)) int unwind_owner(struct prof_walk *w, __u64 ret)
{
	struct prof_walk_rule *rule;
	__u32 first, owner;
	bool cached;
	__u64 key;

	if (!w)
		return PROF_WALK_OWNER_NONE;
	key = (w->ip * 0x9e3779b97f4a7c15ULL ^ ret ^ w->in.map.slot) * 0xff51afd7ed558ccdULL;
	key = (key & ~1ULL) | !!w->searches | 1ULL << 63;
	first = w->list >> 32;
	rule = &w->rules[PROF_BOUND_INDEX(key >> 20, PROF_WALK_RULES)];
	cached = w->regs_at != PROF_WALK_REGS_START;
	if (cached && rule->key == key && rule->row >> 2 == first &&
	    rule->generation == w->generation)
		return rule->row & 3;
	owner = read_owner(w, ret);
	if (cached && owner <= PROF_WALK_OWNER_KNOWN) {
		rule->key = key;
		rule->row = first << 2 | owner;
		rule->generation = w->generation;
	}
	return owner;
}

#endif
