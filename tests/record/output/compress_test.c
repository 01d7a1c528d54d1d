// SPDX-License-Identifier: BSD-2-Clause
/* Compressed streams: the libraries themselves read the data of each flush. */
#include "record/output/compress.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "tests/support/chance.h"

enum { STACK_SZ = 140 };

static struct buf out;

static int append(void *ctx, const void *data, size_t sz)
{
	buf_add(&out, data, sz);
	return 0;
}

static bool is_full;

static int append_unless_full(void *ctx, const void *data, size_t sz)
{
	return is_full ? -ENOSPC : append(ctx, data, sz);
}

static int refuse(void *ctx, const void *data, size_t sz)
{
	return -ENOSPC;
}

/* As much as can be decompressed so far. */
static size_t unpack(enum compress_kind kind, char *to, size_t max)
{
	z_stream z = { .next_in = (Bytef *)out.data, .avail_in = (uInt)out.len };
	ZSTD_inBuffer in = { out.data, out.len, 0 };
	ZSTD_outBuffer o = { to, max, 0 };
	ZSTD_DCtx *d;

	if (kind == COMPRESS_ZSTD) {
		d = ZSTD_createDCtx();
		ZSTD_decompressStream(d, &o, &in);
		ZSTD_freeDCtx(d);
		return o.pos;
	}
	z.next_out = (Bytef *)to;
	z.avail_out = (uInt)max;
	inflateInit2(&z, 15 + 16);
	inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return max - z.avail_out;
}

static enum compress_kind kinds[] = { COMPRESS_GZIP, COMPRESS_ZSTD };

ParameterizedTestParameters(pack, flushed_data_can_be_read)
{
	return cr_make_param_array(enum compress_kind, kinds, 2);
}

ParameterizedTest(enum compress_kind *kind, pack, flushed_data_can_be_read)
{
	struct compress *p = compress_new(*kind, 0, append, NULL);
	char back[64] = "";
	size_t len;

	cr_assert_eq(compress_put(p, "one two three ", 14), 0);
	cr_assert_eq(compress_flush(p), 0);
	cr_expect_eq(unpack(*kind, back, sizeof(back)), 14);
	len = out.len;
	cr_assert_eq(compress_flush(p), 0);
	cr_expect_eq(out.len, len, "nothing is written for nothing");
	cr_assert_eq(compress_put(p, "four", 4), 0);
	cr_assert_eq(compress_end(p), 0);
	cr_expect_eq(unpack(*kind, back, sizeof(back)), 18);
	cr_expect_str_eq(back, "one two three four");
	compress_free(p);
	buf_free(&out);
}

ParameterizedTestParameters(pack, stream_truncated_at_a_flush_gets_an_end)
{
	return cr_make_param_array(enum compress_kind, kinds, 2);
}

static bool is_whole(enum compress_kind kind, char *to, size_t max)
{
	z_stream z = { .next_in = (Bytef *)out.data, .avail_in = (uInt)out.len };
	bool whole;

	if (kind == COMPRESS_ZSTD) {
		size_t n = ZSTD_decompress(to, max, out.data, out.len);

		return !ZSTD_isError(n) && n == 14;
	}
	z.next_out = (Bytef *)to;
	z.avail_out = (uInt)max;
	inflateInit2(&z, 15 + 16);
	whole = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && z.total_out == 14;
	inflateEnd(&z);
	return whole;
}

ParameterizedTest(enum compress_kind *kind, pack, stream_truncated_at_a_flush_gets_an_end)
{
	struct compress *p = compress_new(*kind, 0, append_unless_full, NULL);
	unsigned char end[COMPRESS_ENDING_MAX];
	char back[64] = "";
	size_t len, end_len;

	cr_assert_eq(compress_put(p, "one two three ", 14), 0);
	cr_assert_eq(compress_flush(p), 0);
	len = out.len;
	cr_assert_eq(compress_put(p, "four", 4), 0);
	cr_assert_eq(compress_set_pace(p, COMPRESS_STORE), 0);
	is_full = true;
	cr_assert_eq(compress_put(p, "five", 4), 0);
	cr_assert_eq(compress_flush(p), -ENOSPC);
	end_len = compress_ending(p, end);
	cr_assert_leq(end_len, sizeof(end));
	cr_expect_gt(out.len + (*kind == COMPRESS_ZSTD), len, "something has been written since");
	out.len = len;
	cr_expect(!is_whole(*kind, back, sizeof(back)));
	buf_add(&out, end, end_len);
	cr_expect(is_whole(*kind, back, sizeof(back)));
	cr_expect_str_eq(back, "one two three ");
	compress_free(p);
	buf_free(&out);
}

ParameterizedTestParameters(pack, tail_is_stored_uncompressed_at_the_end)
{
	return cr_make_param_array(enum compress_kind, kinds, 2);
}

ParameterizedTest(enum compress_kind *kind, pack, tail_is_stored_uncompressed_at_the_end)
{
	const size_t after = *kind == COMPRESS_GZIP ? 8 : 0;
	static const char tail[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct compress *p = compress_new(*kind, 0, append, NULL);
	unsigned char big[COMPRESS_TAIL_MAX + 1] = { 0 };
	char back[128] = "";
	size_t n;

	cr_assert_eq(compress_put(p, "one two three ", 14), 0);
	cr_expect_eq(compress_end_with(p, big, sizeof(big)), -EINVAL);
	cr_assert_eq(compress_end_with(p, tail, sizeof(tail)), 0);
	cr_assert_gt(out.len, sizeof(tail) + after);
	cr_expect_arr_eq(out.data + out.len - after - sizeof(tail), tail, sizeof(tail));
	n = unpack(*kind, back, sizeof(back));
	if (*kind == COMPRESS_ZSTD) {
		cr_expect_eq(n, 14, "the first frame");
		n = ZSTD_findFrameCompressedSize(out.data, out.len);
		memmove(out.data, out.data + n, out.len -= n);
		n = 14 + unpack(*kind, back + 14, sizeof(back) - 14);
	}
	cr_expect_eq(n, 14 + sizeof(tail));
	cr_expect_str_eq(back + 14, tail);
	compress_free(p);
	buf_free(&out);
}

ParameterizedTestParameters(pack, error_of_the_write_callback_is_returned)
{
	return cr_make_param_array(enum compress_kind, kinds, 2);
}

ParameterizedTest(enum compress_kind *kind, pack, error_of_the_write_callback_is_returned)
{
	struct compress *p = compress_new(*kind, 1, refuse, NULL);

	int err = compress_put(p, "one", 3);

	cr_expect_eq(err ? err : compress_flush(p), -ENOSPC);
	compress_free(p);
}

/* Like events with stacks: each has a new time, and one of a few stacks. */
static void put_events(struct compress *p, struct chance *c)
{
	uint8_t event[STACK_SZ + 4];

	for (int i = 0; i < 20000; i++) {
		struct chance stack = { chance_below(c, 40) };

		for (size_t k = 0; k < sizeof(event); k++)
			event[k] = (uint8_t)chance_below(&stack, 256);
		event[0] = (uint8_t)chance_below(c, 256);
		event[1] = (uint8_t)chance_below(c, 16);
		cr_assert_eq(compress_put(p, event, sizeof(event)), 0);
	}
}

/* The size of such events at a level, after a faster pace if @hurried. */
static size_t packed_sz(unsigned int level, bool hurried)
{
	struct compress *p = compress_new(COMPRESS_GZIP, level, append, NULL);
	struct chance c = { 1 };
	size_t before, sz;

	if (hurried) {
		cr_assert_eq(compress_set_pace(p, COMPRESS_QUICK), 0);
		put_events(p, &c);
		cr_assert_eq(compress_set_pace(p, COMPRESS_AS_ASKED), 0);
	}
	before = out.len;
	put_events(p, &c);
	cr_assert_eq(compress_flush(p), 0);
	sz = out.len - before;
	cr_assert_eq(compress_end(p), 0);
	compress_free(p);
	buf_free(&out);
	return sz;
}

Test(compress, default_settings_compress_better_than_library_defaults)
{
	cr_expect_lt(packed_sz(0, false), packed_sz(6, false));
	cr_expect_lt(packed_sz(0, true), packed_sz(6, true));
}

Test(compress, compress_none_returns_no_compressor)
{
	cr_expect_null(compress_new(COMPRESS_NONE, 0, append, NULL));
	compress_free(NULL);
	cr_expect_str_eq(compress_suffix(COMPRESS_NONE), "");
	cr_expect_str_eq(compress_suffix(COMPRESS_ZSTD), ".zst");
	cr_expect_eq(compress_level_max(COMPRESS_GZIP), 9);
}

/* Text that compresses well, at each pace in turn; the output is the same for each, and sizes show the pace. */
Test(compress, pace_may_change_in_the_middle)
{
	static const enum compress_pace paces[] = { COMPRESS_AS_ASKED, COMPRESS_STORE,
						    COMPRESS_QUICK, COMPRESS_STORE,
						    COMPRESS_AS_ASKED };
	enum { PIECE = 100000, CNT = sizeof(paces) / sizeof(paces[0]) };
	struct compress *p = compress_new(COMPRESS_GZIP, 0, append, NULL);
	static char text[PIECE * CNT], back[PIECE * CNT + 1];
	size_t i, before, grown[CNT];

	for (i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i / 7 % 23);
	for (i = 0; i < CNT; i++) {
		cr_assert_eq(compress_set_pace(p, paces[i]), 0);
		before = out.len;
		cr_assert_eq(compress_put(p, text + i * PIECE, PIECE), 0);
		cr_assert_eq(compress_flush(p), 0);
		grown[i] = out.len - before;
		cr_expect_eq(unpack(COMPRESS_GZIP, back, sizeof(back)), (i + 1) * PIECE);
	}
	cr_assert_eq(compress_end(p), 0);
	cr_expect_eq(unpack(COMPRESS_GZIP, back, sizeof(back)), sizeof(text));
	cr_expect_arr_eq(back, text, sizeof(text));
	cr_expect_gt(grown[1], PIECE, "stored");
	cr_expect_gt(grown[3], PIECE, "stored");
	cr_expect_lt(grown[0], PIECE / 2);
	cr_expect_lt(grown[2], PIECE / 2);
	cr_expect_lt(grown[4], PIECE / 2);
	compress_free(p);
	buf_free(&out);
}
