// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small file, byte by byte as far as the compressed bytes of its pages, which libzstd unpacks. Headers and pages are
 * computed here from Parquet's parquet.thrift and Encodings.md.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/out_dir.h"
#include "export/parquet/parquet_file.h"
#include "tests/support/temp_dir.h"

#define BYTES(s) (s), sizeof(s) - 1

static const struct parquet_def defs[] = {
	{ "ts", PARQUET_I64, true, PARQUET_DELTA },
	{ "name", PARQUET_TEXT, true, PARQUET_PLAIN },
	{ "frames", PARQUET_LIST, false, PARQUET_PLAIN },
};

struct written {
	char dir[64];
	struct buf bytes;
};

/* What put() makes of the first columns, as a file. */
static struct written write_file(const struct parquet_def *d, size_t cnt, bool sorted,
				 void (*put)(struct parquet_file *f))
{
	struct parquet_file_opts opts = { .defs = d, .def_cnt = cnt, .sorted = sorted };
	const struct parquet_file_meta meta = { "key", "value" };
	struct written w = { 0 };
	struct parquet_file *f;
	struct out_dir *dir;
	char path[96];

	temp_dir_make(w.dir, sizeof(w.dir));
	cr_assert_eq(out_dir_open(w.dir, &dir), 0);
	cr_assert_eq(out_dir_file_new(dir, "x", &opts.out), 0);
	opts.pages = parquet_pages_new();
	f = parquet_file_new(&opts);
	put(f);
	cr_assert_eq(parquet_file_end(f, &meta, 1), 0);
	cr_assert_eq(out_dir_commit(dir), 0);
	parquet_file_free(f);
	parquet_pages_free(opts.pages);
	out_dir_free(dir);
	snprintf(path, sizeof(path), "%s/x", w.dir);
	cr_assert_eq(file_read(AT_FDCWD, path, SIZE_MAX, &w.bytes), 0);
	temp_dir_remove(w.dir);
	return w;
}

/* A varint at *at, which moves on. */
static uint64_t varint(const struct buf *b, size_t *at)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		const uint8_t byte = (uint8_t)b->data[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

/*
 * The page at *at: its header is i32 fields 1 to 3 (kind, size, compressed size) and @rest; its bytes, unpacked, are
 * @want.
 */
static void expect_page(const struct buf *b, size_t *at, uint64_t kind, const void *rest,
			size_t rest_sz, const void *want, size_t want_sz)
{
	char page[256];
	uint64_t sz;

	cr_assert_eq(b->data[(*at)++], 0x15);
	cr_assert_eq(varint(b, at), 2 * kind);
	cr_assert_eq(b->data[(*at)++], 0x15);
	cr_assert_eq(varint(b, at), 2 * want_sz);
	cr_assert_eq(b->data[(*at)++], 0x15);
	sz = varint(b, at) / 2;
	cr_assert(!memcmp(b->data + *at, rest, rest_sz), "header at %zu", *at);
	*at += rest_sz;
	cr_assert_eq(ZSTD_decompress(page, sizeof(page), b->data + *at, sz), want_sz);
	cr_expect(!memcmp(page, want, want_sz), "page at %zu", *at);
	*at += sz;
}

static void put_rows(struct parquet_file *f)
{
	static const uint64_t frames[] = { 7, 8 };

	parquet_file_put(f, 0, 10);
	parquet_file_put_text(f, 1, "ab", 2);
	parquet_file_put_list(f, 2, frames, 2);
	cr_assert_eq(parquet_file_row(f), 0);
	parquet_file_put(f, 0, 12);
	parquet_file_put_list(f, 2, NULL, 0);
	cr_assert_eq(parquet_file_row(f), 0);
	parquet_file_put_text(f, 1, "ab", 2);
	parquet_file_put_list(f, 2, frames + 1, 1);
	cr_assert_eq(parquet_file_row(f), 0);
}

/* Data pages: struct 5 { values, encoding, RLE, RLE }; dictionaries: struct 7 { values, PLAIN }. */
Test(parquet_file, pages)
{
	struct written w = write_file(defs, 3, false, put_rows);
	size_t at = 4;

	cr_assert(!memcmp(w.bytes.data, "PAR1", 4));
	/* ts: levels 1 1 0 (4 bytes length, a group of 0b011), then 10 12 by differences */
	expect_page(&w.bytes, &at, 0, BYTES("\x2c\x15\x06\x15\x0a\x15\x06\x15\x06\0\0"),
		    BYTES("\2\0\0\0\x03\x03"
			  "\x80\x01\x04\x02\x14\x04\0\0\0\0"));
	/* name: one text; levels 1 0 1; two indexes 0 with 1 bit */
	expect_page(&w.bytes, &at, 2, BYTES("\x4c\x15\x02\x15\0\0\0"), BYTES("\2\0\0\0ab"));
	expect_page(&w.bytes, &at, 0, BYTES("\x2c\x15\x06\x15\x10\x15\x06\x15\x06\0\0"),
		    BYTES("\2\0\0\0\x03\x05"
			  "\x01\x03\0"));
	/* frames: 7 8; [7 8] [] [8] begin at levels 0 1, 0, 0 and are 1 1, 0, 1; indexes 0 1 1 */
	expect_page(&w.bytes, &at, 2, BYTES("\x4c\x15\x04\x15\0\0\0"),
		    BYTES("\7\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0"));
	expect_page(&w.bytes, &at, 0, BYTES("\x2c\x15\x08\x15\x10\x15\x06\x15\x06\0\0"),
		    BYTES("\2\0\0\0\x03\x02"
			  "\2\0\0\0\x03\x0b"
			  "\x01\x03\x06"));
	/* the footer: version 2, ... */
	cr_expect(!memcmp(w.bytes.data + at, "\x15\x04\x19", 3));
	buf_free(&w.bytes);
}

static void put_unsorted(struct parquet_file *f)
{
	static const uint64_t ts[] = { 30, 10, 20 };

	for (size_t i = 0; i < 3; i++) {
		parquet_file_put(f, 0, ts[i]);
		cr_assert_eq(parquet_file_row(f), 0);
	}
}

Test(parquet_file, a_group_is_sorted)
{
	struct written w = write_file(defs, 1, true, put_unsorted);
	size_t at = 4;

	expect_page(&w.bytes, &at, 0, BYTES("\x2c\x15\x06\x15\x0a\x15\x06\x15\x06\0\0"),
		    BYTES("\2\0\0\0\x03\x07"
			  "\x80\x01\x04\x03\x14\x14\0\0\0\0"));
	buf_free(&w.bytes);
}

static void put_nothing(struct parquet_file *f)
{
}

/* All of a footer: a file without rows has no pages. */
Test(parquet_file, footer)
{
	static const char want[] = "PAR1"
				   "\x15\x04" /* version 2 */
				   "\x19\x6c" /* six nodes of the schema */
				   "\x48\6schema\x15\x06\0"
				   "\x15\x04\x25\x02\x18\2ts\0" /* INT64, optional */
				   "\x15\x0c\x25\x02\x18\4name\x25\0\x4c\x1c\0\0\0" /* UTF8 */
				   "\x35\0\x18\6frames\x15\x02\x15\x06\x4c\x3c\0\0\0" /* LIST */
				   "\x35\x04\x18\4list\x15\x02\0" /* repeated */
				   "\x15\x04\x25\0\x18\7element\0"
				   "\x16\0" /* rows */
				   "\x19\x0c" /* groups */
				   "\x19\x1c\x18\3key\x18\5value\0"
				   "\x18";
	struct written w = write_file(defs, 3, false, put_nothing);
	const char *end = w.bytes.data + w.bytes.len;
	uint32_t sz;

	cr_assert(!memcmp(w.bytes.data, want, sizeof(want) - 1));
	/* three column orders, the end, the length and the magic */
	cr_assert(!memcmp(end - 20, "\x19\x3c\x1c\0\0\x1c\0\0\x1c\0\0\0", 12));
	memcpy(&sz, end - 8, 4);
	cr_expect_eq(sz, w.bytes.len - 12);
	cr_expect(!memcmp(end - 4, "PAR1", 4));
	buf_free(&w.bytes);
}

static void put_many(struct parquet_file *f)
{
	for (uint64_t i = 0; i <= PARQUET_FILE_ROWS; i++) {
		parquet_file_put(f, 0, i);
		cr_assert_eq(parquet_file_row(f), 0);
		cr_assert_leq(parquet_file_bytes(f), PARQUET_FILE_ROWS * 9);
	}
	cr_assert_eq(parquet_file_bytes(f), 9, "one row is in the second group");
}

Test(parquet_file, a_full_group_is_written)
{
	struct written w = write_file(defs, 1, false, put_many);

	cr_expect_gt(w.bytes.len, 0);
	buf_free(&w.bytes);
}
