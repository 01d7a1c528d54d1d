/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_MIX_H
#define D9_BASE_MIX_H

#include <stdint.h>

/*
 * Mixes a word into a hash: folds a 128-bit product, so every input bit reaches every output bit.
 */
static inline uint64_t mix(uint64_t h, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(h ^ word) * 0xd6e8feb86659fd93ULL;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Mixes all bits; not safe against chosen collisions. Results are the same in each run. */
static inline uint64_t hash_u64(uint64_t v)
{
	return mix(v, 0x9e3779b97f4a7c15ULL); /* the golden ratio */
}

#endif /* D9_BASE_MIX_H */
