/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_MIX_H
#define D9_BASE_MIX_H

#include <stdint.h>

/* One word into another: 128 bits of product, folded, so that every input bit reaches every output bit. */
static inline uint64_t mix(uint64_t h, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(h ^ word) * 0xd6e8feb86659fd93ULL;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Good mixing of all bits; not proof against keys chosen to collide. Stable between runs. */
static inline uint64_t hash_u64(uint64_t v)
{
	return mix(v, 0x9e3779b97f4a7c15ULL); /* the golden ratio */
}

#endif /* D9_BASE_MIX_H */
