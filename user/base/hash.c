/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash functions for the tables of this directory.
 *
 * Keys here are pids, addresses and names: short, and alike in most bits. Eight bytes at a time are
 * multiplied into 128 bits and folded, which lets every input bit reach every output bit and costs
 * one multiplication a word. The tables are bounded by what a trace holds, so collisions made on
 * purpose cost time but not memory.
 */
#include "base/hash.h"

#include <string.h>

#define K0 0x9e3779b97f4a7c15ULL /* the golden ratio */
#define K1 0xd6e8feb86659fd93ULL

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_u64(uint64_t v)
{
	return fold(v ^ K0, K1);
}

uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = fold(n ^ K0, K1);
	uint64_t word;

	for (; n >= 8; n -= 8, s += 8) {
		memcpy(&word, s, 8);
		h = fold(h ^ word, K1);
	}
	if (n) {
		word = 0;
		memcpy(&word, s, n);
		h = fold(h ^ word, K1);
	}
	return h;
}
