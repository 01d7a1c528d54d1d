// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * repeat.bpf.c - the places of the stacks that the loader has already
 *
 * Each loop is a global function, which the verifier checks once. In one function it would check the second loop for
 * each length at which the first one may end.
 */
#include "repeat.bpf.h"

/* Equal stacks have the same index. */
__attribute__((noinline)) int repeat_index(const struct repeat_words *stack, __u32 cnt)
{
	__u64 sum = 0, sums = 0;
	__u32 i;

	if (!stack)
		return 0;
	for (i = 0; i < PROF_REPEAT_WORDS && i < cnt; i++) {
		sum += stack->at[i];
		sums += sum;
	}
	return PROF_BOUND_MASK(sums * 0x9e3779b97f4a7c15ULL >> 40, cfg_repeats - 1);
}

__attribute__((noinline)) int repeat_is_same(const struct repeat_place *p,
					     const struct repeat_words *stack, __u32 cnt)
{
	__u64 differ = 0;
	__u32 i;

	if (!p || !stack)
		return 0;
	for (i = 0; i < PROF_REPEAT_WORDS && i < cnt; i++)
		differ |= p->words.at[i] ^ stack->at[i];
	return !differ;
}

__attribute__((noinline)) int repeat_store(struct repeat_place *p, const struct repeat_words *stack,
					   __u32 cnt)
{
	__u32 i;

	if (!p || !stack)
		return -1;
	p->cnt = cnt;
	for (i = 0; i < PROF_REPEAT_WORDS && i < cnt; i++)
		p->words.at[i] = stack->at[i];
	return 0;
}

__attribute__((noinline)) int repeat_number(const struct repeat_words *stack, __u32 cnt,
					    __u32 epoch)
{
	struct repeat_place *p;
	__u32 idx;

	if (!stack)
		return -1;
	idx = repeat_index(stack, cnt);
	p = bpf_map_lookup_elem(&repeats, &idx);
	if (!p)
		return -1;
	if (p->cnt == cnt && p->epoch == epoch && repeat_is_same(p, stack, cnt))
		return idx | PROF_REPEAT_SAME;
	if (repeat_store(p, stack, cnt))
		return -1;
	p->epoch = epoch;
	return idx;
}
