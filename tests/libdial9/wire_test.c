// SPDX-License-Identifier: BSD-2-Clause
/* The limits of LEB128 and of UTF-8, at and around every boundary. */
#include "tests/libdial9/support.h"

#include "libdial9/wire.h"

static int get(const uint8_t *p, size_t n, uint64_t *v, size_t *used)
{
	const uint8_t *pos = p;
	int err = wire_get_varint(&pos, p + n, v);

	*used = (size_t)(pos - p);
	return err;
}

Test(wire, varint_boundaries_have_the_shortest_encoding_and_survive_a_round_trip)
{
	uint8_t buf[16];
	uint64_t v, back;
	size_t used, n;
	int bits, off;

	for (bits = 0; bits <= 64; bits++) {
		for (off = -1; off <= 1; off++) {
			v = (bits == 64 ? 0 : 1ull << bits) + (uint64_t)off;
			n = (size_t)(wire_put_varint(buf, v) - buf);
			cr_assert_eq(get(buf, n, &back, &used), 0);
			cr_assert_eq(back, v);
			cr_assert_eq(used, n);
			cr_assert_eq(n, v ? (size_t)(63 - __builtin_clzll(v)) / 7 + 1 : 1);
			cr_assert_eq(get(buf, n - 1, &back, &used), -ENODATA);
		}
	}
}

Test(wire, varint_accepts_needless_zero_groups_up_to_ten_bytes)
{
	const uint8_t zero[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 };
	uint64_t v = 1;
	size_t used;

	cr_assert_eq(get(zero, sizeof(zero), &v, &used), 0);
	cr_assert_eq(v, 0);
	cr_assert_eq(used, 10);
}

Test(wire, varint_beyond_bit_63_and_an_eleventh_byte_are_corrupt)
{
	uint8_t buf[11];
	uint64_t v;
	size_t used;

	memset(buf, 0xff, sizeof(buf));
	buf[9] = 0x01;
	cr_assert_eq(get(buf, 10, &v, &used), 0);
	cr_assert_eq(v, UINT64_MAX);
	buf[9] = 0x02;
	cr_assert_eq(get(buf, 10, &v, &used), -EBADMSG);
	buf[9] = 0x81;
	cr_assert_eq(get(buf, 10, &v, &used), -EBADMSG);
	memset(buf, 0x80, sizeof(buf));
	cr_assert_eq(get(buf, 11, &v, &used), -EBADMSG);
}

static size_t valid(const char *s)
{
	return dial9_utf8_valid_len(s, strlen(s));
}

Test(wire, utf8_validation_stops_at_the_first_invalid_byte)
{
	cr_assert_eq(valid(""), 0);
	cr_assert_eq(valid("plain ascii that is longer than a word"), 38);
	cr_assert_eq(valid("eight by\xff"), 8);
	cr_assert_eq(valid("\xc2\x80\xdf\xbf"), 4);
	cr_assert_eq(valid("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"), 12);
	cr_assert_eq(valid("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), 8);
	cr_assert_eq(dial9_utf8_valid_len("a\0b", 3), 3);
}

Test(wire, utf8_validation_refuses_overlong_surrogate_and_too_large_code_points)
{
	cr_assert_eq(valid("\xc0\x80"), 0);
	cr_assert_eq(valid("\xc1\xbf"), 0);
	cr_assert_eq(valid("\xe0\x9f\xbf"), 0);
	cr_assert_eq(valid("\xed\xa0\x80"), 0);
	cr_assert_eq(valid("\xf0\x8f\xbf\xbf"), 0);
	cr_assert_eq(valid("\xf4\x90\x80\x80"), 0);
	cr_assert_eq(valid("\xf5\x80\x80\x80"), 0);
	cr_assert_eq(valid("\x80"), 0);
	cr_assert_eq(valid("ok\xe2\x82"), 2);
	cr_assert_eq(valid("ok\xe2\x28\xa1"), 2);
}

/* A code point's bytes, by the table of the standard; 0 if it has none. */
static size_t utf8_bytes(uint32_t cp, uint8_t *out)
{
	const size_t len = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t i;

	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	for (i = len; i-- > 1; cp /= 64)
		out[i] = (uint8_t)(0x80 + cp % 64);
	out[0] = (uint8_t)(first[len] + cp);
	return len;
}

Test(wire, every_code_point_is_valid_text)
{
	uint8_t s[4];
	uint32_t cp;
	size_t n;

	for (cp = 0; cp <= 0x10ffff; cp++) {
		n = utf8_bytes(cp, s);
		if (n)
			cr_assert_eq(dial9_utf8_valid_len((char *)s, n), n, "U+%X", cp);
	}
}

/* There are as many valid sequences of each length as code points, so no other sequence is valid. */
Test(wire, byte_sequences_without_a_code_point_are_invalid)
{
	static const uint8_t last[] = { 0x7f, 0x80, 0xbf, 0xc0 };
	size_t two = 0, three = 0, four = 0;
	uint32_t i, j;
	uint8_t s[4];

	for (i = 0; i < 1u << 24; i++) {
		s[0] = (uint8_t)(i >> 16);
		s[1] = (uint8_t)(i >> 8);
		s[2] = (uint8_t)i;
		if (s[0] < 0x80)
			continue;
		if (!s[2])
			two += dial9_utf8_valid_len((char *)s, 2) == 2;
		if (s[0] >= 0xe0)
			three += dial9_utf8_valid_len((char *)s, 3) == 3;
		for (j = 0; s[0] >= 0xf0 && j < 4; j++) {
			s[3] = last[j];
			four += dial9_utf8_valid_len((char *)s, 4) == 4;
		}
	}
	cr_expect_eq(two, 0x800 - 0x80);
	cr_expect_eq(three, 0x10000 - 0x800 - 0x800);
	cr_expect_eq(four, 0x100000 / 64 * 2, "of those that end with the first or last byte");
}

Test(wire, only_the_types_of_the_specification_are_known)
{
	unsigned int type;

	for (type = 0; type < 256; type++)
		cr_assert_eq(wire_base_type((uint8_t)type),
			     (type & 0x7f) >= 1 && (type & 0x7f) <= 15 ? (type & 0x7f) : 0);
}

Test(wire, utf8_validation_finds_an_invalid_byte_at_each_place_of_each_length)
{
	char text[150];
	size_t len, at;

	memset(text, 'a', sizeof(text));
	for (len = 0; len <= 140; len++) {
		cr_assert_eq(dial9_utf8_valid_len(text, len), len);
		for (at = 0; at < len; at++) {
			text[at] = (char)0x80;
			cr_assert_eq(dial9_utf8_valid_len(text, len), at);
			text[at] = (char)0xc3;
			cr_assert_eq(dial9_utf8_valid_len(text, len), at);
			text[at + 1] = (char)0xa9;
			cr_assert_eq(dial9_utf8_valid_len(text, len), at + 1 < len ? len : at);
			text[at] = text[at + 1] = 'a';
		}
	}
}
