/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * search.bpf.h - the callers of functions without unwind information, on x86-64
 *
 * Functions in assembler often have none, although their module has a table for its other code: codecs, cryptography.
 * They keep the stack pointer near their return address, and use the frame pointer for other values. So the first
 * words of the stack are checked, the lowest first. A word is the return address if
 *
 * - a call precedes it, and the call is indirect or its target has no row, like the leaf,
 * - it has a row, and the row leads to a return address that a call precedes, too. The target of that call is shortly
 *   before the word. Tail calls and cold parts have other targets, so without such a word any target will do.
 *
 * Other words are left over from earlier calls, or are data. The result is a guess, and the stack is flagged as such.
 *
 * The caller of such a leaf can be without information, too; code shows it only if the leaf has no frame (leaf.bpf.h).
 * Then its caller is searched likewise.
 */
#ifndef D9_SEARCH_BPF_H
#define D9_SEARCH_BPF_H

#include "unwind.bpf.h"

enum { SEARCH_WORDS = 64, SEARCH_PART = 16 };

/* Enters the mapping of an address. Its row; or the row of a place without information. Below 0: not code. */
__attribute__((noinline)) int unwind_row_at(struct prof_walk *w, __u64 addr)
{
	__u32 row = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT;

	if (!w || prof_walk_find_map(w, addr) || !w->in.table)
		return -1;
	if (prof_walk_row(w, addr - w->in.map.start + w->in.map.pgoff, &row))
		return -1;
	return row % (1U << PROF_UNWIND_ROW_PC_SHIFT);
}

/* Whether a row leads from the stack pointer to the return address of a call: 0. @strict: the call shows @callee. */
static __always_inline int leads_on(struct prof_walk *w, __u32 row, __u64 callee, int strict)
{
	__u64 cfa, ret;

	if (prof_walk_cfa(w, row, &cfa) || cfa <= w->sp || prof_walk_rare(w, cfa - 8, &ret))
		return -1;
	if (unwind_called(w, ret))
		return -1;
	return strict && w->call_target && callee - w->call_target > FUNCTION_MAX ? -1 : 0;
}

/* Whether the word at an address is the return address of the function at w->ip: 0. */
__attribute__((noinline)) int unwind_try(struct prof_walk *w, __u64 at, int strict)
{
	const int none = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT;
	__u64 ret, sp;
	int row;

	if (!w || prof_walk_word(w, at, &ret) || ret < LOW || ret >> USER_BITS ||
	    ret - w->sp < PROF_UNWIND_SP_MAX)
		return -1;
	row = unwind_row_at(w, ret - 1);
	if (row < 0 || row == none || unwind_called(w, ret))
		return -1;
	if (w->call_target && unwind_row_at(w, w->call_target) != none)
		return -1;
	prof_walk_find_map(w, ret - 1);
	sp = w->sp;
	w->sp = at + 8;
	if (!leads_on(w, row, ret, strict)) {
		w->ip = ret;
		return 0;
	}
	w->sp = sp;
	return -1;
}

/* The same for a part of the words of the stack. */
__attribute__((noinline)) int unwind_search_part(struct prof_walk *w, __u64 from, int strict)
{
	__u32 i;

	ROLLED
	for (i = 0; i < SEARCH_PART; i++)
		if (!unwind_try(w, from + 8 * i, strict))
			return 0;
	return -1;
}

__attribute__((noinline)) int unwind_search(struct prof_walk *w)
{
	__u8 left;
	__u64 sp;
	__u32 i;

	if (!w || w->end != PROF_END_NO_ROW || !w->searches)
		return -1;
	left = w->searches - 1;
	w->searches = 0;
	sp = w->sp;
	ROLLED
	for (i = 0; i < 2 * SEARCH_WORDS; i += SEARCH_PART)
		if (!unwind_search_part(w, sp + 8 * (i % SEARCH_WORDS), i < SEARCH_WORDS))
			break;
	if (i >= 2 * SEARCH_WORDS) {
		w->sp = sp;
		prof_walk_find_map(w, w->ip);
		return 0;
	}
	w->called = 1;
	w->searches = left;
	w->regs_at = PROF_WALK_REGS_NONE;
	w->stepped = 0;
	w->flags |= PROF_USER_GUESSED;
	return 0;
}

#endif
