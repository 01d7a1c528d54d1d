// SPDX-License-Identifier: BSD-2-Clause
/* The bytes of a block, as the documentation of ClickHouse's format Native has them. */
#include <criterion/criterion.h>
#include <zlib.h>

#include "ship/native_block.h"

static const struct native_def defs[] = {
	{ "d", NATIVE_DATE }, { "n", NATIVE_I32 },   { "s", NATIVE_TEXT },
	{ "a", NATIVE_U64S }, { "l", NATIVE_TEXTS },
};

static void expect_block(const struct native_block *b, const void *want, size_t sz)
{
	unsigned char got[512];
	struct buf packed = { 0 };
	z_stream z = { 0 };

	cr_assert_eq(native_block_write(b, &packed), 0);
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
	struct native_block b;

	native_block_init(&b, defs, 5);
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
}
