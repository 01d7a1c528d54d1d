/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * repeat.bpf.h - omits the frames of a stack that the loader has already
 *
 * Most stacks of a CPU repeat, and frames are the largest part of a record. So each CPU stores its last stacks, and
 * numbers them by their place. The loader does the same with what it reads (stack_repeats.c). It reads a CPU's
 * records in order, and all of them: after a lost batch all places are empty (repeat_epoch). Stacks are compared word
 * by word, so that no other stack can be taken for this one.
 *
 * A program uses the places of its CPU only while it holds the stage.
 */
#ifndef D9_REPEAT_BPF_H
#define D9_REPEAT_BPF_H

#include "stage.bpf.h"

enum { REPEAT_WORDS_MIN = 3 }; /* less is not worth a number */

struct repeat_words {
	struct words_group groups[PROF_REPEAT_WORDS / WORDS_GROUP];
};

struct repeat_place {
	__u32 cnt; /* words; 0: empty */
	__u32 epoch;
	struct repeat_words words;
};

struct repeat_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct repeat_place);
};

extern struct repeat_map repeats SEC(".maps");
extern const volatile bool cfg_verify_stacks;
extern const volatile __u32 cfg_repeats; /* places: a power of two */

/* The stack's number, with PROF_REPEAT_SAME if its place has it; stores it there. Below 0: there is no place. */
int repeat_number(const struct repeat_words *stack, __u32 cnt, __u32 epoch);

/*
 * Appends the number of the stack of @cnt words at @frames to @rec, and omits the words if they repeat. Returns the
 * words that remain.
 */
static __always_inline __u32 repeat_omit(struct prof_stage *s, struct prof_rec *rec, __u64 *frames,
					 __u32 cnt)
{
	int number;

	if (cnt < REPEAT_WORDS_MIN || cnt > PROF_REPEAT_WORDS || rec->flags & PROF_REC_COPIED)
		return cnt;
	number = repeat_number((void *)frames, cnt, STAGE_PLAIN(s->repeat_epoch));
	if (number < 0)
		return cnt;
	if (number & PROF_REPEAT_SAME && !cfg_verify_stacks) {
		number |= PROF_REPEAT_OMITTED;
		cnt = 0;
	}
	rec->flags |= PROF_REC_NUMBERED;
	frames[PROF_BOUND_INDEX(cnt, 2 * PROF_REPEAT_WORDS)] = number;
	return cnt + 1;
}

#endif
