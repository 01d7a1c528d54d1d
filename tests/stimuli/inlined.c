// SPDX-License-Identifier: BSD-2-Clause
/*
 * Three levels of inlining, a static function that is split and cloned at will, and a jump table:
 * what a symbolizer has to see through in C. Runs for a moment and prints a number that depends on
 * all of it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t rotate(uint64_t v, unsigned int by)
{
	return v << (by & 63) | v >> (-by & 63);
}

INLINE uint64_t mix(uint64_t v)
{
	v ^= rotate(v, 13);
	v *= 0x9e3779b97f4a7c15ull;
	return v ^ rotate(v, 31);
}

INLINE uint64_t absorb(uint64_t state, const uint64_t *words, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		state = mix(state ^ words[i]);
	return state;
}

__attribute__((noinline)) uint64_t digest(const uint64_t *words, size_t cnt)
{
	uint64_t state = absorb(0, words, cnt / 2);

	return mix(absorb(state, words + cnt / 2, cnt - cnt / 2));
}

static uint64_t choose(uint64_t v)
{
	switch (v % 6) {
	case 0:
		return mix(v);
	case 1:
		return rotate(v, 7);
	case 2:
		return v / 3;
	case 3:
		return ~v;
	case 4:
		if (v > UINT64_MAX - 8) {
			fprintf(stderr, "a rare value\n");
			abort();
		}
		return v + 5;
	default:
		return v * v;
	}
}

static __attribute__((noinline)) uint64_t walk(uint64_t v, int depth)
{
	return depth ? choose(v) + walk(rotate(v, depth), depth - 1) : v;
}

int main(void)
{
	uint64_t words[64], sum = 0;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = mix(i);
	for (i = 0; i < 1000; i++)
		sum += digest(words, 64) + walk(i, 16);
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
