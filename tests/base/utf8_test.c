// SPDX-License-Identifier: BSD-2-Clause
/* Code points, and which of them are not printed as they are. */
#include "base/utf8.h"

#include <criterion/criterion.h>
#include <string.h>

/* Invisible characters and those that set the direction of text; neighbours that are printed. */
Test(utf8, unprintable_characters_are_found)
{
	static const uint32_t yes[] = { 0,	0x1b,	0x1f,	0x7f,	0x80,	0x9f,
					0x61c,	0x200b, 0x200e, 0x200f, 0x2028, 0x2029,
					0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xe0001 };
	static const uint32_t no[] = { ' ',    '~',    0xa0,   0xe9,   0x61b,  0x200c,
				       0x200d, 0x2010, 0x2027, 0x202f, 0x20ac, 0x1f600 };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		cr_expect(utf8_is_unprintable(yes[i]), "U+%04X", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		cr_expect(!utf8_is_unprintable(no[i]), "U+%04X", no[i]);
	cr_expect(utf8_is_unprintable(UTF8_INVALID) == false);
}

Test(utf8, code_points_are_decoded)
{
	static const struct {
		const char *s;
		uint32_t c;
		size_t len;
	} cases[] = {
		{ "a", 'a', 1 },
		{ "\xc3\xa9", 0xe9, 2 },
		{ "\xe2\x80\xae", 0x202e, 3 },
		{ "\xf0\x9f\x98\x80", 0x1f600, 4 },
		{ "\xff", UTF8_INVALID, 1 },
		{ "\xe2\x80", UTF8_INVALID, 1 },
		{ "\xed\xa0\x80", UTF8_INVALID, 1 },
	};
	size_t len;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(utf8_code_point(cases[i].s, strlen(cases[i].s), &len), cases[i].c);
		cr_expect_eq(len, cases[i].len);
	}
}
