// SPDX-License-Identifier: BSD-2-Clause
/* Bytes on the wire: the examples of the format's own description. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "export/proto.h"

#define BYTES(s) (s), sizeof(s) - 1

static void expect(struct buf *b, const char *want, size_t sz)
{
	cr_assert_eq(b->len, sz, "%zu bytes", b->len);
	cr_expect(!memcmp(b->data, want, sz));
	buf_free(b);
}

Test(proto, numbers_texts_and_messages_are_encoded)
{
	struct buf b = { 0 };
	size_t begun;

	proto_u64(&b, 1, 150);
	expect(&b, BYTES("\x08\x96\x01"));
	proto_bytes(&b, 2, "testing", 7);
	expect(&b, BYTES("\x12\x07testing"));
	begun = proto_begin(&b, 3);
	proto_u64(&b, 1, 150);
	proto_end(&b, begun);
	expect(&b, BYTES("\x1a\x03\x08\x96\x01"));
	proto_packed(&b, 6, (const uint64_t[]){ 3, 270, 86942 }, 3);
	expect(&b, BYTES("\x32\x06\x03\x8e\x02\x9e\xa7\x05"));
	proto_u64(&b, 1, (uint64_t)-2);
	expect(&b, BYTES("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	proto_fixed64(&b, 1, 0x0102030405060708);
	expect(&b, BYTES("\x09\x08\x07\x06\x05\x04\x03\x02\x01"));
	proto_double(&b, 2, 1.0);
	expect(&b, BYTES("\x11\0\0\0\0\0\0\xf0\x3f"));
	proto_u64(&b, 16, 0);
	expect(&b, BYTES("\x80\x01\0"));
}

/* The length takes one, two and three bytes, and the bytes after it do not change. */
Test(proto, long_messages_are_moved_for_their_length)
{
	static const struct {
		size_t sz, head;
	} cases[] = { { 0, 2 }, { 127, 2 }, { 128, 3 }, { 16383, 3 }, { 16384, 4 } };
	static const char x[16384] = { 'a', [16383] = 'z' };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };
		size_t begun = proto_begin(&b, 1), sz = cases[i].sz;

		buf_add(&b, x + sizeof(x) - sz, sz);
		proto_end(&b, begun);
		cr_assert_eq(b.len, cases[i].head + sz);
		cr_expect(!memcmp(b.data + cases[i].head, x + sizeof(x) - sz, sz));
		buf_free(&b);
	}
}
