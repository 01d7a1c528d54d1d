// SPDX-License-Identifier: BSD-2-Clause
/* The bytes of a block, as the documentation of ClickHouse's format Native has them. */
#include <criterion/criterion.h>
#include <zlib.h>

#include "ship/native_block.h"

static const struct native_def defs[] = {
	{ "d", NATIVE_DATE }, { "n", NATIVE_I32 },   { "s", NATIVE_TEXT },
	{ "a", NATIVE_U64S }, { "l", NATIVE_TEXTS },
};

static void expect_block(struct native_block *b, const void *want, size_t sz)
{
	unsigned char got[512];
	struct buf packed = { 0 };
	z_stream z = { 0 };

	native_block_write(b, &packed);
	z.next_in = (Bytef *)packed.data;
	z.avail_in = (uInt)packed.len;
	z.next_out = got;
	z.avail_out = sizeof(got);
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(z.total_out, sz, "%lu bytes, wanted %zu", z.total_out, sz);
	cr_expect_arr_eq(got, want, sz);
	inflateEnd(&z);
	buf_free(&packed);
}

Test(native_block, two_rows)
{
	static const char want[] = "\5\2"
				   "\1d\4Date\x2a\x00\x2a\x00"
				   "\1n\5Int32\xff\xff\xff\xff\7\0\0\0"
				   "\1s\6String\2hi\0"
				   "\1a\15Array(UInt64)"
				   "\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
				   "\1\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0"
				   "\1l\15Array(String)"
				   "\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"
				   "\3a=b\1c\3a=b\1c";
	const uint64_t list[] = { 1, 256 };
	const char *const labels[] = { "a=b", "c" };
	struct packer *packer = packer_new();
	struct native_block b;

	cr_assert_not_null(packer);
	native_block_init(&b, packer, defs, 5);
	native_block_set(&b, 0, 42);
	native_block_set_texts(&b, 4, labels, 2);
	for (int round = 0; round < 2; round++) {
		native_block_put(&b, 1, (uint64_t)-1);
		native_block_put_text(&b, 2, "hi", 2);
		native_block_put_u64s(&b, 3, list, 2);
		native_block_end_row(&b);
		native_block_put(&b, 1, 7);
		native_block_put_text(&b, 2, "", 0);
		native_block_put_u64s(&b, 3, NULL, 0);
		native_block_end_row(&b);
		expect_block(&b, want, sizeof(want) - 1);
		native_block_clear(&b);
		cr_expect_eq(native_block_bytes(&b), 0);
	}
	native_block_fini(&b);
	packer_free(packer);
}

/* The bytes of a column that are held in memory. */
static size_t memory_of(const struct native_block *b)
{
	size_t sum = 0;

	for (size_t i = 0; i < b->def_cnt; i++)
		sum += b->columns[i].data.plain.cap + b->columns[i].data.packed.cap +
		       b->columns[i].ends.plain.cap + b->columns[i].ends.packed.cap;
	return sum;
}

/* A column of many pieces, as gzip(1) reads it. */
Test(native_block, a_million_rows_take_little_memory)
{
	enum { ROWS = 1000000 };
	static const struct native_def many[] = { { "t", NATIVE_I64 }, { "s", NATIVE_TEXT } };
	const size_t heads = 1 + 3 + 2 + 6 + 2 + 7, sz = heads + (size_t)ROWS * (8 + 13);
	unsigned char *got = malloc(sz + 1);
	struct packer *packer = packer_new();
	struct buf packed = { 0 };
	struct native_block b;
	z_stream z = { 0 };
	size_t most = 0;

	native_block_init(&b, packer, many, 2);
	for (uint64_t i = 0; i < ROWS; i++) {
		native_block_put(&b, 0, i * 1000);
		native_block_put_text(&b, 1, "/user.slice/a", 12);
		native_block_end_row(&b);
		if (i % 1000 == 0 && memory_of(&b) > most)
			most = memory_of(&b);
	}
	cr_expect_eq(native_block_bytes(&b), (size_t)ROWS * (8 + 13));
	cr_expect_lt(most, 6u << 20, "%zu bytes", most);
	native_block_write(&b, &packed);
	z.next_in = (Bytef *)packed.data;
	z.avail_in = (uInt)packed.len;
	z.next_out = got;
	z.avail_out = (uInt)sz + 1;
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	/* checks the sum over all pieces and their length */
	cr_expect_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(z.total_out, sz, "%lu bytes, wanted %zu", z.total_out, sz);
	for (uint64_t i = 0; i < ROWS; i += 4999) {
		uint64_t t;

		memcpy(&t, got + 1 + 3 + 2 + 6 + 8 * i, 8);
		cr_expect_eq(t, i * 1000);
		cr_expect_arr_eq(got + heads + 8 * (size_t)ROWS + 13 * i, "\014/user.slice/", 13);
	}
	inflateEnd(&z);
	buf_free(&packed);
	native_block_fini(&b);
	packer_free(packer);
	free(got);
}

/* The value of all rows is compressed once for many rows. */
Test(native_block, constants_of_many_rows)
{
	enum { ROWS = 100001 };
	static const struct native_def one[] = { { "h", NATIVE_TEXT } };
	const size_t sz = 1 + 3 + 2 + 7 + 3 * (size_t)ROWS;
	unsigned char *got = malloc(sz + 1);
	struct packer *packer = packer_new();
	struct buf packed = { 0 };
	struct native_block b;
	z_stream z = { .next_out = got, .avail_out = (uInt)sz + 1 };

	native_block_init(&b, packer, one, 1);
	native_block_set_text(&b, 0, "hi", 2);
	for (int i = 0; i < ROWS; i++)
		native_block_end_row(&b);
	native_block_write(&b, &packed);
	z.next_in = (Bytef *)packed.data;
	z.avail_in = (uInt)packed.len;
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	cr_expect_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(z.total_out, sz);
	cr_expect_arr_eq(got + sz - 6, "\2hi\2hi", 6);
	inflateEnd(&z);
	buf_free(&packed);
	native_block_fini(&b);
	packer_free(packer);
	free(got);
}
