// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * reuse.bpf.c - stores the words of a stack that a walk used
 *
 * A read costs as much as copying some kilobytes. So neighbouring words are read together with the bytes between
 * them. Global functions: the verifier checks each once.
 */
#include "reuse.bpf.h"

enum {
	PAGE_SIZE = 4096,
	GAP = 2048, /* bytes; a larger gap is worth a separate read */
	BELOW = 56, /* bytes below the return address, where a function saves registers */
};

__attribute__((noinline)) int unwind_is_same(const struct unwind_known *known,
					     const struct stack_frames *frames, __u32 cnt)
{
	if (!known || !frames || cnt != known->frame_cnt)
		return 0;
	return words_are_same(known->frames, frames->groups, KNOWN_GROUPS, cnt);
}

/* The piece with room for the word at @addr: the last piece or a new one. NULL: there are too many. */
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
	/* do not read a page that may be missing */
	p->from = addr % PAGE_SIZE < BELOW ? addr & -(__u64)PAGE_SIZE : addr - BELOW;
	p->sz = 0;
	p->at = at;
	known->piece_cnt = i + 1;
	return p;
}

/* Stores the next word that the walk used. 0, or -1 if there is no room. */
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

/* Stores a group of the words that the walk used, likewise. Pads the last group by the first word. */
__attribute__((noinline)) int unwind_note_group(struct unwind_known *known,
						const struct prof_walk *w, __u32 first)
{
	__u32 i, n;

	if (!known || !w)
		return -1;
	ROLLED
	for (i = 0; i < WORDS_GROUP; i++) {
		n = PROF_BOUND_INDEX(first + i, PROF_WALK_SEEN);
		if (n >= w->seen.cnt) {
			known->at[n] = known->at[0];
			known->words[n] = known->words[0];
		} else if (unwind_note_word(known, w->seen.at[n], w->seen.words[n])) {
			return -1;
		}
	}
	return 0;
}

__attribute__((noinline)) int unwind_keep(struct unwind_known *known, const struct prof_walk *w,
					  const struct stack_frames *frames, __u32 cnt)
{
	__u32 i;

	if (!known || !w || !frames)
		return -1;
	known->piece_cnt = 0;
	known->word_cnt = 0;
	ROLLED
	for (i = 0; i < PROF_WALK_SEEN && i < w->seen.cnt; i += WORDS_GROUP)
		if (unwind_note_group(known, w, i))
			return -1;
	known->frame_cnt = cnt;
	words_copy(known->frames, frames->groups, KNOWN_GROUPS, cnt);
	return 0;
}
