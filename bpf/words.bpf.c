// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* words.bpf.c - the part of words.bpf.h that is a global function */
#include "words.bpf.h"

__attribute__((noinline)) int words_group_is_same(const struct words_group *a,
						  const struct words_group *b, __u32 cnt)
{
	__u64 differ = 0;
	__u32 i;

	if (!a || !b)
		return 0;
	ROLLED
	for (i = 0; i < WORDS_GROUP && i < cnt; i++)
		differ |= a->at[i] ^ b->at[i];
	return !differ;
}
