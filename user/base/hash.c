/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash function for byte strings.
 *
 * Keys are PIDs, addresses and names: short, with few differing bits. Each step mixes in eight
 * bytes with one multiplication. The contents of a trace bound the tables, so deliberate collisions
 * cost time but no memory.
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
