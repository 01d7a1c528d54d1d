/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * words.bpf.h - loops over arrays of words that the verifier checks quickly
 *
 * The verifier follows a loop through each iteration, but checks a global function once. A loop that calls a global
 * function for each part of an array costs it the sum of both loops, not their product. For the program a call costs as
 * much as a dozen words, because kernels protect returns. So loops that most switches run make no calls, and take a
 * group of words at a time.
 */
#ifndef D9_WORDS_BPF_H
#define D9_WORDS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

enum { WORDS_GROUP = 8 };

/*
 * Before a loop: the compiler must not unroll it. If the loop calls a global function, this would multiply the
 * verifier's work, which follows each path of calls through the whole program to add up stack sizes.
 */
#define ROLLED _Pragma("clang loop unroll(disable)")

struct words_group {
	__u64 at[WORDS_GROUP];
};

/* Whether the first @cnt words of two groups, at most all, are equal: 1 or 0. */
int words_group_is_same(const struct words_group *a, const struct words_group *b, __u32 cnt);

/* Whether the first @cnt words of two arrays are equal; @groups: the size of both, a constant. Makes calls. */
static __always_inline bool words_are_same(const struct words_group *a, const struct words_group *b,
					   __u32 groups, __u32 cnt)
{
	__u32 i;

	ROLLED
	for (i = 0; i < groups && i * WORDS_GROUP < cnt; i++)
		if (!words_group_is_same(a + i, b + i, cnt - i * WORDS_GROUP))
			return false;
	return true;
}

/* Copies the groups that have the first @cnt words, as a whole. */
static __always_inline void words_copy(struct words_group *to, const struct words_group *from,
				       __u32 groups, __u32 cnt)
{
	__u32 i;

	ROLLED
	for (i = 0; i < groups && i * WORDS_GROUP < cnt; i++)
		to[i] = from[i];
}

#endif
