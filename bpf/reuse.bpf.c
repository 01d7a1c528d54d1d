// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * reuse.bpf.c - which words of a stack a walk took, and whether they are the same
 *
 * A read costs as much as some kilobytes that it brings, so words that lie near each other are read together
 * with what is between them. Functions of their own, that the verifier checks once.
 */
#include "reuse.bpf.h"

enum {
	PAGE_SIZE = 4096,
	GAP = 2048, /* which is worth a read of its own */
	BELOW = 56, /* where a function keeps registers, from the return address down */
};

__attribute__((noinline)) int unwind_is_unchanged(const struct unwind_known *known,
						  struct unwind_stack *stack)
{
	__u64 changed = 0;
	__u32 i, at, sz;

	if (!known || !stack)
		return 0;
	for (i = 0; i < KNOWN_PIECES && i < known->piece_cnt; i++) {
		at = PROF_BOUND_INDEX(known->pieces[i].at, KNOWN_STACK);
		sz = known->pieces[i].sz;
		if (sz > 8 * KNOWN_STACK ||
		    bpf_probe_read_user(&stack->words[at], PROF_BOUND_SIZE(sz, 8 * KNOWN_STACK),
					(void *)known->pieces[i].from))
			return 0;
	}
	for (i = 0; i < PROF_WALK_SEEN && i < known->word_cnt; i++)
		changed |=
			stack->words[PROF_BOUND_INDEX(known->at[i], KNOWN_STACK)] ^ known->words[i];
	return !changed;
}

__attribute__((noinline)) int unwind_is_same(const struct unwind_known *known,
					     const struct orc_frames *frames, __u32 cnt)
{
	__u64 differ = 0;
	__u32 i;

	if (!known || !frames || cnt != known->frame_cnt)
		return 0;
	for (i = 0; i < KNOWN_FRAMES; i++)
		if (i < cnt)
			differ |= known->frames[i] ^ frames->at[i];
	return !differ;
}

/* The piece that has room for the word at @addr: the last one, or another. NULL: they are too many. */
static __always_inline struct unwind_piece *piece_for(struct unwind_known *known, __u64 addr)
{
	__u32 i = known->piece_cnt, at = 0;
	struct unwind_piece *p;

	if (i) {
		p = &known->pieces[PROF_BOUND_INDEX(i - 1, KNOWN_PIECES)];
		if (addr - p->from < p->sz + GAP)
			return p;
		at = p->at + p->sz / 8;
	}
	if (i >= KNOWN_PIECES)
		return NULL;
	p = &known->pieces[PROF_BOUND_INDEX(i, KNOWN_PIECES)];
	/* not of a page that is perhaps not there */
	p->from = addr % PAGE_SIZE < BELOW ? addr & -(__u64)PAGE_SIZE : addr - BELOW;
	p->sz = 0;
	p->at = at;
	known->piece_cnt = i + 1;
	return p;
}

__attribute__((noinline)) int unwind_note_word(struct unwind_known *known, __u64 addr, __u64 word)
{
	struct unwind_piece *p;
	__u32 i, sz;

	if (!known)
		return -1;
	i = known->word_cnt++;
	p = piece_for(known, addr);
	if (!p || i >= PROF_WALK_SEEN)
		return -1;
	sz = addr - p->from + 8;
	if (sz > p->sz)
		p->sz = sz;
	i = PROF_BOUND_INDEX(i, PROF_WALK_SEEN);
	known->at[i] = p->at + sz / 8 - 1;
	known->words[i] = word;
	return p->at + p->sz / 8 > KNOWN_STACK ? -1 : 0;
}
