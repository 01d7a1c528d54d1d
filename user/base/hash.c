/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash function of bytes for the tables of this directory.
 *
 * Keys here are pids, addresses and names: short, and alike in most bits. Eight bytes at a time are
 * mixed in, which costs one multiplication a word. The tables are bounded by what a trace holds, so
 * collisions made on purpose cost time but not memory.
 */
#include "base/hash.h"

#include <string.h>

uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = hash_u64(n);
	uint64_t word;

	for (; n >= 8; n -= 8, s += 8) {
		memcpy(&word, s, 8);
		h = mix(h, word);
	}
	if (n) {
		word = 0;
		memcpy(&word, s, n);
		h = mix(h, word);
	}
	return h;
}
