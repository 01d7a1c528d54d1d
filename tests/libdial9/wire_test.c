// SPDX-License-Identifier: BSD-2-Clause
/* The limits of LEB128 and of UTF-8, at and around every boundary. */
#include "support.h"

#include "libdial9/wire.h"

static int get(const uint8_t *p, size_t n, uint64_t *v, size_t *used)
{
	const uint8_t *pos = p;
	int err = wire_get_varint(&pos, p + n, v);

	*used = (size_t)(pos - p);
	return err;
}

Test(wire, varint_boundaries_take_the_fewest_bytes_and_come_back)
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

Test(wire, varint_takes_needless_zero_groups_up_to_ten_bytes)
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

Test(wire, utf8_stops_at_the_first_byte_that_is_none)
{
	cr_assert_eq(valid(""), 0);
	cr_assert_eq(valid("plain ascii that is longer than a word"), 38);
	cr_assert_eq(valid("eight by\xff"), 8);
	cr_assert_eq(valid("\xc2\x80\xdf\xbf"), 4);
	cr_assert_eq(valid("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"), 12);
	cr_assert_eq(valid("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), 8);
	cr_assert_eq(dial9_utf8_valid_len("a\0b", 3), 3);
}

Test(wire, utf8_excludes_overlong_surrogates_and_beyond_unicode)
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

Test(wire, every_type_of_the_text_is_known_and_no_other)
{
	unsigned int type;

	for (type = 0; type < 256; type++)
		cr_assert_eq(wire_base_type((uint8_t)type),
			     (type & 0x7f) >= 1 && (type & 0x7f) <= 15 ? (type & 0x7f) : 0);
}
