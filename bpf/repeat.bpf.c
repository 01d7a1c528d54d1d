// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * repeat.bpf.c - the places of the stacks that the loader has already
 *
 * A global function: the verifier checks it once.
 */
#include "repeat.bpf.h"

__attribute__((noinline)) int repeat_number(const struct repeat_words *stack, __u32 cnt,
					    __u32 epoch)
{
	__u64 sum = 0, sums = 0, differ;
	struct repeat_place *p;
	__u32 i, idx;

	if (!stack)
		return -1;
	for (i = 0; i < PROF_REPEAT_WORDS && i < cnt; i++) {
		sum += stack->at[i];
		sums += sum;
	}
	idx = PROF_BOUND_MASK(sums * 0x9e3779b97f4a7c15ULL >> 40, cfg_repeats - 1);
	p = bpf_map_lookup_elem(&repeats, &idx);
	if (!p)
		return -1;
	differ = (p->cnt ^ cnt) | (p->epoch ^ epoch);
	for (i = 0; i < PROF_REPEAT_WORDS && i < cnt; i++)
		differ |= p->words.at[i] ^ stack->at[i];
	if (!differ)
		return idx | PROF_REPEAT_SAME;
	p->cnt = cnt;
	p->epoch = epoch;
	for (i = 0; i < PROF_REPEAT_WORDS && i < cnt; i++)
		p->words.at[i] = stack->at[i];
	return idx;
}
