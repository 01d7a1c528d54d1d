/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_CHANCE_H
#define D9_TESTS_SUPPORT_CHANCE_H

/* Pseudo-random numbers, reproducible from a seed. */
#include <stdint.h>

struct chance {
	uint64_t state;
};

static inline uint64_t chance_next(struct chance *c)
{
	uint64_t v = c->state += 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

static inline uint32_t chance_below(struct chance *c, uint32_t n)
{
	return (uint32_t)(chance_next(c) >> 32) % n;
}

/* Of any width, with a preference for edges of widths. */
static inline uint64_t chance_number(struct chance *c)
{
	uint64_t v = chance_next(c) >> chance_below(c, 64);

	switch (chance_below(c, 4)) {
	case 0:
		return 1ull << (v & 63);
	case 1:
		return (1ull << (v & 63)) - 1;
	default:
		return v;
	}
}

#endif /* D9_TESTS_SUPPORT_CHANCE_H */
