// SPDX-License-Identifier: BSD-2-Clause
/* The hash functions spread what this program hashes: small numbers, addresses, short names. */
#include "base/hash.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS 1024
#define KEYS (BUCKETS * 16)

/* With 16 expected in each of 1024 buckets, a random function almost never puts more than 48 into a bucket. */
static void assert_spread(const unsigned int *fill)
{
	for (int i = 0; i < BUCKETS; i++)
		cr_assert_lt(fill[i], 48, "bucket %d holds %u", i, fill[i]);
}

Test(hash, small_numbers_and_aligned_addresses_spread_over_the_low_bits)
{
	static const uint64_t strides[] = { 1, 8, 4096, 1ULL << 32, 1ULL << 40 };

	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		unsigned int fill[BUCKETS] = { 0 };

		for (uint64_t i = 0; i < KEYS; i++)
			fill[hash_u64(i * strides[s]) % BUCKETS]++;
		assert_spread(fill);
	}
}

Test(hash, names_that_differ_in_a_digit_spread)
{
	unsigned int fill[BUCKETS] = { 0 };
	char name[32];

	for (int i = 0; i < KEYS; i++) {
		int n = snprintf(name, sizeof(name), "worker-%d", i);

		fill[hash_bytes(name, n) % BUCKETS]++;
	}
	assert_spread(fill);
}

Test(hash, length_counts_even_when_the_bytes_are_zero)
{
	static const char zeros[64];

	for (size_t a = 0; a < sizeof(zeros); a++) {
		for (size_t b = 0; b < a; b++)
			cr_assert_neq(hash_bytes(zeros, a), hash_bytes(zeros, b));
	}
}

Test(hash, every_byte_counts_at_every_length)
{
	char text[40];

	for (size_t n = 1; n <= sizeof(text); n++) {
		memset(text, 'a', sizeof(text));
		uint64_t before = hash_bytes(text, n);

		for (size_t i = 0; i < n; i++) {
			text[i] ^= 1;
			cr_assert_neq(hash_bytes(text, n), before);
			text[i] ^= 1;
		}
		cr_assert_eq(hash_bytes(text, n), before);
	}
}
