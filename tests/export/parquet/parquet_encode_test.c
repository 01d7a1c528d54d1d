// SPDX-License-Identifier: BSD-2-Clause
/* Encodings of numbers. The bytes are from the examples in Encodings.md of Parquet, or computed here by its rules. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "export/parquet/parquet_encode.h"

static void expect(struct buf *b, const void *want, size_t sz)
{
	cr_assert_eq(b->len, sz, "%zu bytes", b->len);
	for (size_t i = 0; i < sz; i++)
		cr_expect_eq(b->data[i], ((const char *)want)[i], "byte %zu is %02x", i,
			     (unsigned char)b->data[i]);
	buf_free(b);
}

#define BYTES(s) (s), sizeof(s) - 1
#define CNT(v) (sizeof(v) / sizeof((v)[0]))

Test(parquet_encode, varints)
{
	struct buf b = { 0 };

	parquet_encode_varint(&b, 0);
	parquet_encode_varint(&b, 127);
	parquet_encode_varint(&b, 300);
	parquet_encode_varint(&b, UINT64_MAX);
	expect(&b, BYTES("\0\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

Test(parquet_encode, widths)
{
	cr_expect_eq(parquet_encode_width(0), 1);
	cr_expect_eq(parquet_encode_width(1), 1);
	cr_expect_eq(parquet_encode_width(7), 3);
	cr_expect_eq(parquet_encode_width(8), 4);
	cr_expect_eq(parquet_encode_width(UINT64_MAX), 64);
}

/* The numbers 0 to 7 with 3 bits: 10001000 11000110 11111010. */
Test(parquet_encode, a_group_is_packed_from_its_lowest_bit)
{
	static const uint32_t v[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct buf b = { 0 };

	parquet_encode_hybrid(&b, v, CNT(v), 3);
	expect(&b, BYTES("\x03\x88\xc6\xfa"));
}

Test(parquet_encode, a_run_is_its_length_and_value)
{
	uint32_t v[100];
	struct buf b = { 0 };

	for (size_t i = 0; i < CNT(v); i++)
		v[i] = 300;
	parquet_encode_hybrid(&b, v, 100, 9); /* 200 = 0b1_1001000 */
	parquet_encode_hybrid(&b, v, 8, 9);
	expect(&b, BYTES("\xc8\x01\x2c\x01"
			 "\x10\x2c\x01"));
}

/* 0 1 2 3 and four of the sevens are a group: 8 + 2*64 + 3*512 + 7*(2^12 + 2^15 + 2^18 + 2^21) = 0xfff688. */
Test(parquet_encode, a_run_fills_the_group_before_it)
{
	uint32_t v[24];
	struct buf b = { 0 };

	for (uint32_t i = 0; i < CNT(v); i++)
		v[i] = i < 4 ? i : 7;
	parquet_encode_hybrid(&b, v, CNT(v), 3);
	expect(&b, BYTES("\x03\x88\xf6\xff"
			 "\x20\x07"));
}

Test(parquet_encode, the_last_group_is_filled_with_zeros)
{
	static const uint32_t v[] = { 1, 0, 1 }, ten[] = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 1 };
	struct buf b = { 0 };

	parquet_encode_hybrid(&b, v, CNT(v), 1);
	parquet_encode_hybrid(&b, ten, CNT(ten), 1);
	parquet_encode_hybrid(&b, ten, 0, 1);
	expect(&b, BYTES("\x03\x05"
			 "\x05\x55\x03"));
}

/* 32 bits, which do not end where words do. */
Test(parquet_encode, wide_indexes)
{
	static const uint32_t v[] = { 0x80000001, 2, 0xffffffff };
	struct buf b = { 0 };

	parquet_encode_hybrid(&b, v, CNT(v), 32);
	expect(&b, BYTES("\x03"
			 "\x01\0\0\x80"
			 "\x02\0\0\0"
			 "\xff\xff\xff\xff"
			 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
}

/* 1 2 3 4 5: all differences are 1, so no bits are needed. */
Test(parquet_encode, equal_differences)
{
	static const uint64_t v[] = { 1, 2, 3, 4, 5 };
	struct buf b = { 0 };

	parquet_encode_delta(&b, v, CNT(v));
	expect(&b, BYTES("\x80\x01\x04\x05\x02"
			 "\x02\0\0\0\0"));
}

/* 7 5 3 1 2 3 4 5: the smallest difference is -2, and above it are 0 0 0 3 3 3 3, with 2 bits: 11000000 00111111. */
Test(parquet_encode, differences_above_the_smallest)
{
	static const uint64_t v[] = { 7, 5, 3, 1, 2, 3, 4, 5 };
	struct buf b = { 0 };

	parquet_encode_delta(&b, v, CNT(v));
	expect(&b, BYTES("\x80\x01\x04\x08\x0e"
			 "\x03\x02\0\0\0"
			 "\xc0\x3f\0\0\0\0\0\0"));
}

/* 33 equal numbers, then one more by 1: of the second miniblock the first difference is 1. */
Test(parquet_encode, miniblocks_have_their_own_width)
{
	uint64_t v[34] = { 0 };
	struct buf b = { 0 };

	v[33] = 1;
	parquet_encode_delta(&b, v, CNT(v));
	expect(&b, BYTES("\x80\x01\x04\x22\0"
			 "\0\0\x01\0\0"
			 "\x01\0\0\0"));
}

Test(parquet_encode, blocks_have_their_own_smallest_difference)
{
	uint64_t v[130];
	struct buf b = { 0 };

	for (size_t i = 0; i < CNT(v); i++)
		v[i] = i * 3;
	v[129] = v[128] + 10;
	parquet_encode_delta(&b, v, CNT(v)); /* 130 = 0b1_0000010 */
	expect(&b, BYTES("\x80\x01\x04\x82\x01\0"
			 "\x06\0\0\0\0"
			 "\x14\0\0\0\0"));
}

/* From the largest to the smallest number it is one step. */
Test(parquet_encode, differences_wrap_around)
{
	const uint64_t v[] = { INT64_MAX, (uint64_t)INT64_MIN };
	struct buf b = { 0 };

	parquet_encode_delta(&b, v, CNT(v));
	expect(&b, BYTES("\x80\x01\x04\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			 "\x02\0\0\0\0"));
}

Test(parquet_encode, one_number_and_none_have_no_block)
{
	static const uint64_t v[] = { 5 };
	struct buf b = { 0 };

	parquet_encode_delta(&b, v, 1);
	parquet_encode_delta(&b, v, 0);
	expect(&b, BYTES("\x80\x01\x04\x01\x0a"
			 "\x80\x01\x04\0\0"));
}

Test(parquet_encode, booleans_are_bits)
{
	static const uint64_t v[] = { 1, 0, 1, 1, 0, 0, 0, 0, 1 };
	struct buf b = { 0 };

	parquet_encode_bits(&b, v, CNT(v));
	expect(&b, BYTES("\x0d\x01"));
}
