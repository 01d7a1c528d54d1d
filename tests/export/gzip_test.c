// SPDX-License-Identifier: BSD-2-Clause
/* zlib decompresses the output to the input, for input in chunks of any size. */
#include "export/gzip.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"

static size_t pieces;

static void add_bytes(void *ctx, const void *data, size_t sz)
{
	cr_expect_gt(sz, 0);
	buf_add(ctx, data, sz);
	pieces++;
}

/* The expected output: all of it, and nothing after it. */
static void expect_unpacked(const struct buf *packed, const void *want, size_t sz)
{
	char *got = malloc(sz + 1);
	z_stream z = { .next_in = (Bytef *)packed->data,
		       .avail_in = (uInt)packed->len,
		       .next_out = (Bytef *)got,
		       .avail_out = (uInt)sz + 1 };

	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(z.avail_in, 0);
	cr_assert_eq(z.total_out, sz);
	cr_expect(!memcmp(got, want, sz));
	inflateEnd(&z);
	free(got);
}

Test(gzip, decompressed_text_equals_the_input)
{
	enum { ALL = 700000 };
	static uint8_t data[ALL];
	static const size_t steps[] = { 1, 0, 65536, 3, 300000 };
	uint64_t x = 88172645463325252;
	struct buf packed = { 0 };
	struct gzip *g = gzip_new(add_bytes, &packed);
	size_t at = 0;

	/* half of it is hard to compress, so that one call returns several chunks */
	for (size_t i = 0; i < ALL; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = i < ALL / 2 ? (uint8_t)x : 'a';
	}
	for (size_t k = 0; at < ALL; k++) {
		const size_t n = steps[k % 5] < ALL - at ? steps[k % 5] : ALL - at;

		gzip_put(g, data + at, n);
		at += n;
	}
	gzip_end(g);
	gzip_free(g);
	cr_expect_gt(pieces, 5);
	expect_unpacked(&packed, data, ALL);
	buf_free(&packed);
}

Test(gzip, empty_input_is_compressed)
{
	struct buf packed = { 0 };
	struct gzip *g = gzip_new(add_bytes, &packed);

	gzip_end(g);
	gzip_free(g);
	expect_unpacked(&packed, "", 0);
	buf_free(&packed);
}
