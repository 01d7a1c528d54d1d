// SPDX-License-Identifier: BSD-2-Clause
/* Values as users type them, names as a hostile process writes them, numbers as people read them. */
#include "base/str.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define UNTOUCHED 0xdeadbeefULL

Test(str, parse_u64_accepts_whole_numbers_only)
{
	static const struct {
		const char *text;
		uint64_t max;
		int err;
		uint64_t v;
	} cases[] = {
		{ "0", 10, 0, 0 },
		{ "10", 10, 0, 10 },
		{ "11", 10, -ERANGE, 0 },
		{ "0x1F", UINT64_MAX, 0, 31 },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999999", UINT64_MAX, -ERANGE, 0 },
		{ "0x", 10, -EINVAL, 0 },
		{ "", 10, -EINVAL, 0 },
		{ " 1", 10, -EINVAL, 0 },
		{ "1 ", 10, -EINVAL, 0 },
		{ "-1", 10, -EINVAL, 0 },
		{ "+1", 10, -EINVAL, 0 },
		{ "1a", 10, -EINVAL, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t v = UNTOUCHED;

		cr_expect_eq(str_parse_u64(cases[i].text, cases[i].max, &v), cases[i].err, "'%s'",
			     cases[i].text);
		cr_expect_eq(v, cases[i].err ? UNTOUCHED : cases[i].v, "'%s'", cases[i].text);
	}
}

Test(str, parse_days)
{
	static const struct {
		const char *text;
		int err;
		uint64_t days;
	} cases[] = {
		{ "7", 0, 7 },		 { "7d", 0, 7 },	{ "36500d", 0, 36500 },
		{ "0", -EINVAL, 1 },	 { "", -EINVAL, 1 },	{ "d", -EINVAL, 1 },
		{ "7dd", -EINVAL, 1 },	 { "7h", -EINVAL, 1 },	{ "-7", -EINVAL, 1 },
		{ "36501", -ERANGE, 1 }, { "0x7", -EINVAL, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t days = 1;

		cr_expect_eq(str_parse_days(cases[i].text, &days), cases[i].err, "'%s'",
			     cases[i].text);
		cr_expect_eq(days, cases[i].days, "'%s'", cases[i].text);
	}
}

Test(str, parse_size_knows_powers_of_1024)
{
	static const struct {
		const char *text;
		int err;
		uint64_t v;
	} cases[] = {
		{ "4096", 0, 4096 },	     { "4096B", 0, 4096 },
		{ "64K", 0, 65536 },	     { "64k", 0, 65536 },
		{ "64KB", 0, 65536 },	     { "64KiB", 0, 65536 },
		{ "4M", 0, 4 << 20 },	     { "1G", 0, 1 << 30 },
		{ "2T", 0, 2ULL << 40 },     { "16777215T", 0, 16777215ULL << 40 },
		{ "16777216T", -ERANGE, 0 }, { "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },	     { "4Ki", -EINVAL, 0 },
		{ "4iB", -EINVAL, 0 },	     { "4X", -EINVAL, 0 },
		{ "4KBB", -EINVAL, 0 },	     { "1.5M", -EINVAL, 0 },
		{ "-4K", -EINVAL, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t v = UNTOUCHED;

		cr_expect_eq(str_parse_size(cases[i].text, &v), cases[i].err, "'%s'",
			     cases[i].text);
		cr_expect_eq(v, cases[i].err ? UNTOUCHED : cases[i].v, "'%s'", cases[i].text);
	}
}

Test(str, parse_duration_reads_seconds_unless_a_unit_is_given)
{
	static const struct {
		const char *text;
		int err;
		uint64_t v;
	} cases[] = {
		{ "10", 0, 10000000000ULL },
		{ "1.5", 0, 1500000000 },
		{ "1.5s", 0, 1500000000 },
		{ "500ms", 0, 500000000 },
		{ "20us", 0, 20000 },
		{ "7ns", 0, 7 },
		{ "5m", 0, 300000000000ULL },
		{ "5min", 0, 300000000000ULL },
		{ "2h", 0, 7200000000000ULL },
		{ "1.5d", 0, 129600000000000ULL },
		{ "1M", -EINVAL, 0 },
		{ "0.000000001", 0, 1 },
		{ "0.0000000019999999", 0, 1 },
		{ "18446744073", 0, 18446744073000000000ULL },
		{ "18446744074", -ERANGE, 0 },
		{ "99999999999999999999h", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ ".5", 0, 500000000 },
		{ ".", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },
		{ "10 s", -EINVAL, 0 },
		{ "10sec", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t v = UNTOUCHED;

		cr_expect_eq(str_parse_duration(cases[i].text, &v), cases[i].err, "'%s'",
			     cases[i].text);
		cr_expect_eq(v, cases[i].err ? UNTOUCHED : cases[i].v, "'%s'", cases[i].text);
	}
}

Test(str, duration_that_requires_a_unit_refuses_a_plain_number)
{
	uint64_t v = UNTOUCHED;

	cr_expect_eq(str_parse_unit_duration("1.5ms", &v), 0);
	cr_expect_eq(v, 1500000);
	v = UNTOUCHED;
	cr_expect_eq(str_parse_unit_duration("1.5", &v), -EINVAL);
	cr_expect_eq(str_parse_unit_duration("15", &v), -EINVAL);
	cr_expect_eq(str_parse_unit_duration("", &v), -EINVAL);
	cr_expect_eq(str_parse_unit_duration("ms", &v), -EINVAL);
	cr_expect_eq(v, UNTOUCHED);
}

Test(str, parse_list_appends_all_or_nothing)
{
	static const uint32_t want[] = { 1, 22, 4294967295U, 7 };
	uint32_t *v = NULL;
	size_t cnt = 0;

	cr_assert_eq(str_parse_list_u32("1,22,4294967295", &v, &cnt), 0);
	cr_assert_eq(str_parse_list_u32("7", &v, &cnt), 0);
	cr_assert_eq(str_parse_list_u32("8,", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_list_u32("8,,9", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_list_u32("", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_list_u32("1-3", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_list_u32("8,4294967296", &v, &cnt), -ERANGE);
	cr_assert_eq(cnt, 4);
	cr_assert_arr_eq(v, want, sizeof(want));
	free(v);
}

Test(str, parse_ranges_expands_ranges_and_refuses_huge_ones)
{
	static const uint32_t want[] = { 0, 1, 2, 3, 8, 65535 };
	uint32_t *v = NULL;
	size_t cnt = 0;

	cr_assert_eq(str_parse_ranges_u32("0-3,8,65535", &v, &cnt), 0);
	cr_assert_eq(str_parse_ranges_u32("3-1", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_ranges_u32("1-", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_ranges_u32("-1", &v, &cnt), -EINVAL);
	cr_assert_eq(str_parse_ranges_u32("0-65536", &v, &cnt), -ERANGE);
	cr_assert_eq(cnt, 6);
	cr_assert_arr_eq(v, want, sizeof(want));
	free(v);
}

Test(str, ranges_cannot_be_repeated_into_a_huge_list)
{
	struct buf text = { 0 };
	uint32_t *v = NULL;
	size_t cnt = 0;

	for (int i = 0; i < 1000; i++)
		buf_addstr(&text, i ? ",0-65535" : "0-65535");
	cr_assert_eq(str_parse_ranges_u32(text.data, &v, &cnt), -ERANGE);
	cr_assert_eq(cnt, 0);
	buf_free(&text);
}

Test(str, glob_matches_like_a_shell)
{
	static const struct {
		const char *pattern, *s;
		bool want;
	} cases[] = {
		{ "sched:*", "sched:sched_switch", true },
		{ "sched:*", "block:x", false },
		{ "*", "", true },
		{ "", "", true },
		{ "", "a", false },
		{ "?", "", false },
		{ "a?c", "abc", true },
		{ "*a*b", "xxaxxab", true },
		{ "*a*b", "xxaxxabc", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false },
		{ "[!a-c]x", "dx", true },
		{ "[]]", "]", true },
		{ "[ab", "[ab", true },
		{ "[a-", "[a-", true },
		{ "\\*", "*", true },
		{ "\\*", "x", false },
		{ "a\\", "a\\", true },
		{ "**a", "ba", true },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		cr_expect_eq(str_glob(cases[i].pattern, cases[i].s), cases[i].want, "%s on %s",
			     cases[i].pattern, cases[i].s);
}

Test(str, glob_with_many_stars_is_not_exponential, .timeout = 5)
{
	char pattern[201], s[10001];

	for (int i = 0; i < 200; i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	pattern[200] = '\0';
	memset(s, 'a', sizeof(s) - 1);
	s[sizeof(s) - 2] = 'b';
	s[sizeof(s) - 1] = '\0';
	cr_assert_not(str_glob(pattern, s));
}

/* Lengths of the valid prefix, from the tables of the Unicode standard (3.9, table 3-7). */
Test(str, utf8_valid_len_follows_table_3_7)
{
	static const struct {
		const char *s;
		size_t n, want;
	} cases[] = {
		{ "abc", 3, 3 },
		{ "a\0b", 3, 3 },
		{ "\xc3\xa9", 2, 2 },
		{ "\xe2\x82\xac", 3, 3 },
		{ "\xf0\x9f\x98\x80", 4, 4 },
		{ "a\xc3", 2, 1 },
		{ "a\xe2\x82", 3, 1 },
		{ "\x80", 1, 0 },
		{ "\xc0\xaf", 2, 0 }, /* overlong */
		{ "\xe0\x9f\xbf", 3, 0 }, /* overlong */
		{ "\xe0\xa0\x80", 3, 3 },
		{ "\xed\xa0\x80", 3, 0 }, /* surrogate */
		{ "\xed\x9f\xbf", 3, 3 },
		{ "\xf0\x8f\xbf\xbf", 4, 0 }, /* overlong */
		{ "\xf4\x8f\xbf\xbf", 4, 4 },
		{ "\xf4\x90\x80\x80", 4, 0 }, /* beyond U+10FFFF */
		{ "\xf5\x80\x80\x80", 4, 0 },
		{ "\xff", 1, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		cr_expect_eq(str_utf8_valid_len(cases[i].s, cases[i].n), cases[i].want, "case %zu",
			     i);
}

Test(str, escape_utf8_changes_only_invalid_text)
{
	struct buf b = { 0 };

	str_escape_utf8(&b, "a\\b\xc3\xa9\n\xff\0z\xe2\x82", 11);
	cr_assert_str_eq(buf_cstr(&b), "a\\b\xc3\xa9\n\\xff\\x00z\\xe2\\x82");
	cr_assert_eq(str_utf8_valid_len(b.data, b.len), b.len);
	buf_clear(&b);
	str_escape_utf8(&b, "", 0);
	cr_assert_eq(b.len, 0);
	buf_free(&b);
}

Test(str, escape_invalid_keeps_a_nul)
{
	static const char want[] = "a\\b\xc3\xa9\n\\xff\0z\\xe2\\x82";
	struct buf b = { 0 };

	str_escape_invalid(&b, "a\\b\xc3\xa9\n\xff\0z\xe2\x82", 11);
	cr_assert_eq(b.len, sizeof(want) - 1);
	cr_assert_eq(memcmp(b.data, want, b.len), 0);
	cr_assert_eq(str_utf8_valid_len(b.data, b.len), b.len);
	buf_clear(&b);
	str_escape_invalid(&b, "", 0);
	cr_assert_eq(b.len, 0);
	buf_free(&b);
}

Test(str, json_escapes_unprintable_characters)
{
	struct buf b = { 0 };

	str_json(&b, "\xe2\x80\xae\xc2\x9b\xe2\x80\xa8\xf3\xa0\x80\x81\xe2\x82\xac", 15);
	cr_assert_str_eq(buf_cstr(&b), "\"\\u202e\\u009b\\u2028\\udb40\\udc01\xe2\x82\xac\"");
	buf_free(&b);
}

Test(str, json_is_always_valid)
{
	struct buf b = { 0 };

	str_json(&b, "a\"\\/\b\f\n\r\t\x01\x7f\xc3\xa9\xff\0z", 16);
	cr_assert_str_eq(buf_cstr(&b), "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\xc3\xa9"
				       "\xef\xbf\xbd\\u0000z\"");
	buf_clear(&b);
	str_json(&b, "", 0);
	cr_assert_str_eq(buf_cstr(&b), "\"\"");
	buf_free(&b);
}

Test(str, hex_has_two_digits_per_byte)
{
	struct buf b = { 0 };

	str_hex(&b, "", 0);
	cr_expect_str_eq(buf_cstr(&b), "");
	str_hex(&b, "\0\x9f\xff", 3);
	str_hex(&b, "a", 1);
	cr_expect_str_eq(b.data, "009fff61");
	cr_expect_eq(b.len, 8);
	buf_free(&b);
}

Test(str, count_groups_by_thousands)
{
	static const struct {
		uint64_t v;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1204332, "1,204,332" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	char out[32];

	for (size_t i = 0; i < COUNT(cases); i++) {
		str_count(out, cases[i].v);
		cr_expect_str_eq(out, cases[i].want);
	}
}

Test(str, counted_noun_is_singular_for_1_only)
{
	static const struct {
		uint64_t v;
		const char *noun, *want;
	} cases[] = {
		{ 0, "sample", "0 samples" },
		{ 1, "sample", "1 sample" },
		{ 1204332, "event", "1,204,332 events" },
		{ 1, "entry", "1 entry" },
		{ 2, "entry", "2 entries" },
		{ 2, "key", "2 keys" },
		{ 1, "process", "1 process" },
		{ 3, "process", "3 processes" },
		{ 2, "switch", "2 switches" },
	};
	struct buf out = { 0 };

	for (size_t i = 0; i < COUNT(cases); i++) {
		buf_clear(&out);
		str_counted(&out, cases[i].v, cases[i].noun);
		cr_expect_str_eq(buf_cstr(&out), cases[i].want);
	}
	buf_free(&out);
}

Test(str, bytes_has_one_decimal_and_no_four_digit_overflow)
{
	static const struct {
		uint64_t v;
		const char *want;
	} cases[] = {
		{ 0, "0 B" },
		{ 999, "999 B" },
		{ 1000, "1.0 kB" },
		{ 999949, "999.9 kB" },
		{ 999950, "1.0 MB" },
		{ 18400000, "18.4 MB" },
		{ UINT64_MAX, "18.4 EB" },
	};
	char out[32];

	for (size_t i = 0; i < COUNT(cases); i++) {
		str_bytes(out, cases[i].v);
		cr_expect_str_eq(out, cases[i].want);
	}
}

Test(str, plain_text_is_text_that_no_escaping_changes)
{
	char text[40];

	for (size_t n = 0; n < sizeof(text); n++) {
		for (unsigned int c = 0; c < 256; c++) {
			for (size_t at = 0; at < n; at++) {
				memset(text, 'a' + (int)(n + at) % 26, sizeof(text));
				text[at] = (char)c;
				cr_assert_eq(str_is_plain(text, n),
					     c >= 0x20 && c < 0x7f && c != '"' && c != '\\',
					     "%u at %zu of %zu", c, at, n);
			}
		}
		memset(text, '~', sizeof(text));
		text[n < sizeof(text) ? n : 0] = '\n';
		cr_assert(!n || str_is_plain(text, n), "what is behind does not count");
	}
	cr_assert(str_is_plain("", 0));
}
