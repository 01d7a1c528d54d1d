// SPDX-License-Identifier: BSD-2-Clause
/*
 * The containers of apitrace: one stream in each of the four gives the same bytes, also when the file is cut,
 * and wrong lengths need no memory.
 */
#include "tests/formats/apitrace/support.h"

#include "formats/snapblock.h"

TestSuite(container, .init = quiet);

static struct buf packed(enum container_kind kind)
{
	static const char *const names[] = {
		[CONTAINER_SNAPPY] = "repack_snappy.trace",
		[CONTAINER_GZIP] = "repack_gzip.trace",
		[CONTAINER_ZSTD] = "repack_zstd_plain.trace",
		[CONTAINER_BROTLI] = "repack_brotli11.trace",
	};

	return load(names[kind], true);
}

Test(container, all_four_containers_have_the_same_stream)
{
	struct buf snappy = packed(CONTAINER_SNAPPY), want = unpack(&snappy, NULL, NULL);

	cr_expect_eq(want.len, 116124);
	for (enum container_kind kind = CONTAINER_SNAPPY; kind <= CONTAINER_BROTLI; kind++) {
		struct buf file = packed(kind), got;
		const char *reason;
		bool cut;

		cr_expect_eq(container_detect(file.data, file.len), kind);
		got = unpack(&file, &reason, &cut);
		cr_expect(got.len == want.len && !memcmp(got.data, want.data, want.len), "%s",
			  container_kind_name(kind));
		cr_expect(!reason && !cut, "%s", container_kind_name(kind));
		buf_free(&file);
		buf_free(&got);
	}
	buf_free(&snappy);
	buf_free(&want);
}

Test(container, truncated_file_is_read_up_to_its_end)
{
	struct buf snappy = packed(CONTAINER_SNAPPY), want = unpack(&snappy, NULL, NULL);

	for (enum container_kind kind = CONTAINER_SNAPPY; kind <= CONTAINER_BROTLI; kind++) {
		struct buf file = packed(kind), got;
		const char *reason;
		bool cut;

		file.len /= 2;
		got = unpack(&file, &reason, &cut);
		/* All of the zstd file is one block, and half a block cannot be read. */
		cr_expect_geq(got.len, kind == CONTAINER_ZSTD ? 0 : want.len / 8, "%s: %zu",
			      container_kind_name(kind), got.len);
		cr_expect(got.len < want.len && !memcmp(buf_cstr(&got), want.data, got.len), "%s",
			  container_kind_name(kind));
		cr_expect(!reason && cut, "%s: %s", container_kind_name(kind), reason);
		buf_free(&file);
		buf_free(&got);
	}
	buf_free(&snappy);
	buf_free(&want);
}

Test(container, written_data_reads_back_in_chunks_of_a_mebibyte)
{
	size_t sz = ((size_t)5 << 19) + 7;
	struct buf stream = { 0 }, file, back;
	const char *reason;
	uint32_t x = 1;
	bool cut;

	for (size_t i = 0; i < sz; i++) {
		x = x * 1664525 + 1013904223;
		buf_addch(&stream, (char)(x >> 24 & (i & 4096 ? 0xff : 1)));
	}
	file = pack(stream.data, stream.len);
	back = unpack(&file, &reason, &cut);
	cr_expect(!reason && !cut);
	cr_expect(back.len == sz && !memcmp(back.data, stream.data, sz));
	cr_expect_eq(memcmp(file.data, "at", 2), 0);
	buf_free(&stream);
	buf_free(&file);
	buf_free(&back);
}

Test(container, wrong_lengths_are_not_allocated)
{
	static const struct {
		const char *bytes;
		size_t sz;
		const char *reason;
		bool cut;
	} files[] = {
		{ "at\xff\xff\xff\xff", 6, "snappy: bad length", false },
		{ "at\xff\xff\xff\x0f\x05", 7, NULL, true },
		/* A block of four bytes that claims 4 GiB, and a block that claims 6 and has 1. */
		{ "at\x06\0\0\0\xff\xff\xff\xff\x0f\0", 12, "snappy: bad length", false },
		{ "at\x03\0\0\0\x06\0a", 9, "snappy: bad length", false },
		{ "at\x04\0\0\0\x0a\x09\x05\0", 10, "snappy: bad offset", false },
		{ "at\x01", 3, NULL, true },
		{ "at\0\0\0\0zz", 8, NULL, false },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct buf file = { .data = (char *)files[i].bytes, .len = files[i].sz }, got;
		const char *reason;
		bool cut;

		got = unpack(&file, &reason, &cut);
		cr_expect_leq(got.len, 1, "%zu", i);
		cr_expect_eq(!reason, !files[i].reason, "%zu", i);
		if (reason && files[i].reason)
			cr_expect_str_eq(reason, files[i].reason, "%zu", i);
		cr_expect_eq(cut, files[i].cut, "%zu", i);
		buf_free(&got);
	}
}

Test(container, bytes_after_the_end_are_counted)
{
	static const char file[] = "at\0\0\0\0zz";
	struct foreign_mem mem;
	struct foreign_input in;
	struct container *box;
	char c;

	foreign_mem_input(&mem, file, 8, &in);
	cr_assert_eq(container_open(&in, NULL, NULL, &box), 0);
	cr_expect_eq(container_read(box, &c, 1), 0);
	cr_expect_eq(container_trailing(box), 2);
	container_close(box);
}

/* Literals of all lengths and copies of all three kinds, truncated at every byte. */
Test(container, salvages_each_kind_of_element_up_to_the_cut)
{
	static const uint8_t block[] = {
		0x08, 'a',  'b',  'c', /* literal of 3 */
		0x01, 0x03, /* copy of 4, 3 back */
		0xf0, 0x02, 'x',  'y',	'z', /* literal, its length in a byte of its own */
		0x0e, 0x02, 0x00, /* copy of 4, 2 back, 16-bit offset */
		0x0b, 0x0a, 0x00, 0x00, 0x00, /* copy of 3, 10 back, 32-bit offset */
	};
	static const char want[] = "abcabcaxyzyzyzbca";
	uint8_t plain[32];
	size_t got = 0, last = 0;
	const char *reason = NULL;

	for (size_t sz = 0; sz < sizeof(block); sz++) {
		cr_expect_eq(snapblock_salvage(block, sz, plain, sizeof(want) - 1, &got, &reason),
			     SNAPBLOCK_CUT, "%zu", sz);
		cr_expect(got >= last && got < sizeof(want) - 1 && !memcmp(plain, want, got),
			  "%zu: %.*s", sz, (int)got, plain);
		last = got;
	}
	cr_expect_eq(snapblock_salvage(block, sizeof(block), plain, sizeof(want) - 1, &got,
				       &reason),
		     SNAPBLOCK_WHOLE);
	cr_expect(got == sizeof(want) - 1 && !memcmp(plain, want, got), "%.*s", (int)got, plain);
	cr_expect_eq(snapblock_salvage(block, sizeof(block), plain, got - 1, &got, &reason),
		     SNAPBLOCK_BAD);
}
