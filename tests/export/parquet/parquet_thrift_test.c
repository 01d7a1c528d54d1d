// SPDX-License-Identifier: BSD-2-Clause
/* Thrift's compact protocol, by its specification: a field is (distance of ids << 4 | type), numbers are zigzag varints. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "export/parquet/parquet_thrift.h"

static void expect(struct buf *b, const void *want, size_t sz)
{
	cr_assert_eq(b->len, sz, "%zu bytes", b->len);
	cr_expect(!memcmp(b->data, want, sz));
	buf_free(b);
}

#define BYTES(s) (s), sizeof(s) - 1

Test(parquet_thrift, numbers_and_texts)
{
	struct buf b = { 0 };
	struct parquet_thrift t = { .out = &b };

	parquet_thrift_i32(&t, 1, 1); /* distance 1, type 5; 1 is 2 in zigzag */
	parquet_thrift_i64(&t, 3, -1); /* distance 2, type 6 */
	parquet_thrift_bool(&t, 4, true);
	parquet_thrift_bool(&t, 5, false);
	parquet_thrift_byte(&t, 6, 8);
	parquet_thrift_binary(&t, 7, "ab", 2);
	parquet_thrift_i32(&t, 8, 150); /* 300 = 0b10_0101100 */
	parquet_thrift_end(&t);
	expect(&b, BYTES("\x15\x02"
			 "\x26\x01"
			 "\x11"
			 "\x12"
			 "\x13\x08"
			 "\x18\x02"
			 "ab"
			 "\x15\xac\x02"
			 "\0"));
}

Test(parquet_thrift, ids_that_are_far_apart)
{
	struct buf b = { 0 };
	struct parquet_thrift t = { .out = &b };

	parquet_thrift_i32(&t, 15, 0); /* the largest distance that fits */
	parquet_thrift_i32(&t, 31, 0); /* 16: the id follows, 62 in zigzag */
	parquet_thrift_end(&t);
	expect(&b, BYTES("\xf5\0"
			 "\x05\x3e\0"
			 "\0"));
}

Test(parquet_thrift, ids_begin_again_in_each_struct)
{
	struct buf b = { 0 };
	struct parquet_thrift t = { .out = &b };

	parquet_thrift_struct(&t, 2);
	parquet_thrift_i32(&t, 1, 3);
	parquet_thrift_struct(&t, 3);
	parquet_thrift_end(&t);
	parquet_thrift_end(&t);
	parquet_thrift_i32(&t, 4, 5);
	parquet_thrift_end(&t);
	expect(&b, BYTES("\x2c"
			 "\x15\x06"
			 "\x2c\0"
			 "\0"
			 "\x25\x0a"
			 "\0"));
}

Test(parquet_thrift, lists)
{
	struct buf b = { 0 };
	struct parquet_thrift t = { .out = &b };

	parquet_thrift_list(&t, 1, PARQUET_THRIFT_I32, 2);
	parquet_thrift_element_i32(&t, 1);
	parquet_thrift_element_i32(&t, -2);
	parquet_thrift_list(&t, 2, PARQUET_THRIFT_BINARY, 1);
	parquet_thrift_element_binary(&t, "x", 1);
	parquet_thrift_list(&t, 3, PARQUET_THRIFT_STRUCT, 1);
	parquet_thrift_element(&t);
	parquet_thrift_bool(&t, 1, true);
	parquet_thrift_end(&t);
	/* from 15 elements on their number follows */
	parquet_thrift_list(&t, 4, PARQUET_THRIFT_I32, 15);
	expect(&b, BYTES("\x19\x25\x02\x03"
			 "\x19\x18\x01x"
			 "\x19\x1c\x11\0"
			 "\x19\xf5\x0f"));
}
