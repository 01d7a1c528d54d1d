// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * repeat.bpf.c - the places of the stacks that the loader has already
 *
 * The loops handle whole groups, then the words of the last one. After a loop, the verifier knows the number of words
 * for each number of iterations. The next loop gets that number from memory, so that it is checked once.
 */
#include "repeat.bpf.h"

enum { GROUPS = PROF_REPEAT_WORDS / WORDS_GROUP };

/* The words of the last group, if it is incomplete. */
static __always_inline const __u64 *last_words(const struct repeat_words *stack, __u32 cnt)
{
	return stack->groups[PROF_BOUND_INDEX(cnt / WORDS_GROUP, GROUPS)].at;
}

/* Equal stacks have the same index. */
static __always_inline __u32 index_of(const struct repeat_words *stack, __u32 cnt)
{
	const __u64 *last = last_words(stack, cnt);
	__u64 sum = 0, sums = 0;
	__u32 i, k;

	ROLLED
	for (i = 0; i < WORDS_GROUP && i < cnt % WORDS_GROUP; i++) {
		sum += last[i];
		sums += sum;
	}
	ROLLED
	for (i = 0; i < GROUPS && (i + 1) * WORDS_GROUP <= cnt; i++) {
#pragma unroll
		for (k = 0; k < WORDS_GROUP; k++) {
			sum += stack->groups[i].at[k];
			sums += sum;
		}
	}
	return PROF_BOUND_MASK(sums * 0x9e3779b97f4a7c15ULL >> 40, cfg_repeats - 1);
}

static __always_inline bool is_same(const struct repeat_words *a, const struct repeat_words *b,
				    __u32 cnt)
{
	const __u64 *last_a = last_words(a, cnt), *last_b = last_words(b, cnt);
	__u64 differ = 0;
	__u32 i, k;

	ROLLED
	for (i = 0; i < WORDS_GROUP && i < cnt % WORDS_GROUP; i++)
		differ |= last_a[i] ^ last_b[i];
	ROLLED
	for (i = 0; i < GROUPS && (i + 1) * WORDS_GROUP <= cnt; i++) {
#pragma unroll
		for (k = 0; k < WORDS_GROUP; k++)
			differ |= a->groups[i].at[k] ^ b->groups[i].at[k];
	}
	return !differ;
}

__attribute__((noinline)) int repeat_number(const struct repeat_words *stack, __u32 cnt,
					    __u32 epoch)
{
	struct repeat_place *p;
	__u32 idx;

	if (!stack)
		return -1;
	idx = index_of(stack, cnt);
	p = bpf_map_lookup_elem(&repeats, &idx);
	if (!p)
		return -1;
	if (p->cnt == cnt && p->epoch == epoch && is_same(&p->words, stack, STAGE_PLAIN(p->cnt)))
		return idx | PROF_REPEAT_SAME;
	p->cnt = cnt;
	p->epoch = epoch;
	words_copy(p->words.groups, stack->groups, GROUPS, STAGE_PLAIN(p->cnt));
	return idx;
}
