// SPDX-License-Identifier: BSD-2-Clause
/* The growing byte string: always terminated, whatever was added. */
#include "base/buf.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(buf, empty_buffer_is_an_empty_string)
{
	struct buf b = { 0 };

	cr_assert_str_eq(buf_cstr(&b), "");
	cr_assert_eq(b.len, 0);
	buf_free(&b);
	cr_assert_null(b.data);
}

Test(buf, buffer_is_terminated_after_every_addition)
{
	struct buf b = { 0 };

	buf_addstr(&b, "ab");
	cr_assert_str_eq(b.data, "ab");
	buf_addch(&b, 'c');
	cr_assert_str_eq(b.data, "abc");
	buf_add(&b, "d\0e", 3);
	cr_assert_eq(b.len, 6);
	cr_assert_arr_eq(b.data, "abcd\0e", 7);
	buf_printf(&b, "%d%s", 17, "x");
	cr_assert_eq(b.len, 9);
	cr_assert_str_eq(b.data + 6, "17x");
	buf_clear(&b);
	cr_assert_str_eq(b.data, "");
	buf_free(&b);
}

Test(buf, printf_writes_whole_text_around_its_first_size_guess)
{
	char text[300];
	struct buf b = { 0 };

	for (size_t n = 0; n < sizeof(text); n++) {
		memset(text, 'a' + (int)(n % 26), n);
		text[n] = '\0';
		buf_clear(&b);
		buf_printf(&b, "%s", text);
		cr_assert_eq(b.len, n);
		cr_assert_str_eq(b.data, text);
	}
	buf_free(&b);
}

Test(buf, steal_returns_the_bytes_and_empties_the_buffer)
{
	struct buf b = { 0 };
	char *s;

	buf_addstr(&b, "mine");
	s = buf_steal(&b);
	cr_assert_str_eq(s, "mine");
	cr_assert_null(b.data);
	cr_assert_eq(b.cap, 0);
	free(s);
	s = buf_steal(&b);
	cr_assert_str_eq(s, "");
	free(s);
}

Test(buf, reader_fills_the_buffer_with_reserve_and_len)
{
	struct buf b = { 0 };

	memcpy(buf_reserve(&b, 100), "xyz", 3);
	b.len += 3;
	cr_assert_str_eq(buf_cstr(&b), "xyz");
	cr_assert_geq(b.cap, 101);
	buf_free(&b);
}

Test(buf, numbers_are_printed_like_by_printf)
{
	static const uint64_t some[] = {
		0,   1,	   9,	  10,	     99,	 100,	     101,
		999, 1000, 65535, INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 9
	};
	char expect[128];
	struct buf b = { 0 };
	uint64_t v;

	for (size_t i = 0; i < 1000; i++) {
		v = i < sizeof(some) / sizeof(some[0]) ? some[i] : 0x9e3779b97f4a7c15 * i >> i % 64;
		snprintf(expect, sizeof(expect), "%llu %lld %llx %5llu %09llu %16llx",
			 (unsigned long long)v, (long long)v, (unsigned long long)v,
			 (unsigned long long)v, (unsigned long long)v, (unsigned long long)v);
		buf_clear(&b);
		buf_addu(&b, v);
		buf_addch(&b, ' ');
		buf_addi(&b, (int64_t)v);
		buf_addch(&b, ' ');
		buf_addx(&b, v);
		buf_addch(&b, ' ');
		buf_addu_padded(&b, v, 5, ' ');
		buf_addch(&b, ' ');
		buf_addu_padded(&b, v, 9, '0');
		buf_addch(&b, ' ');
		buf_addx_padded(&b, v, 16, ' ');
		cr_assert_str_eq(b.data, expect);
		cr_assert_eq(b.len, strlen(expect));
	}
	buf_clear(&b);
	buf_fill(&b, '-', 3);
	buf_fill(&b, '+', 0);
	cr_assert_str_eq(b.data, "---");
	buf_free(&b);
}

Test(buf, printed_text_is_whole_and_freed)
{
	char text[16];
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct buf b = { 0 };

	buf_print(&b, f);
	buf_add(&b, "a\0b", 3);
	buf_print(&b, f);
	cr_assert_eq(ftell(f), 3);
	fclose(f);
	cr_assert_arr_eq(text, "a\0b", 3);
	cr_assert_null(b.data);
}
