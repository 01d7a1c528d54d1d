// SPDX-License-Identifier: BSD-2-Clause
/* Text for a terminal: columns, ellipses. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/common/report_text.h"

Test(report_text, unknown_name_is_printed_as_unknown)
{
	struct buf b = { 0 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	value_text_name(&b, n, names_add(n, "a\x1b", 2));
	buf_addch(&b, ' ');
	value_text_name(&b, n, NAMES_NONE);
	cr_assert_str_eq(buf_cstr(&b), "a\\x1b [unknown]");
	buf_free(&b);
	names_free(n);
}

static void column(const char *s, size_t cols, bool cut, const char *want)
{
	struct buf b = { 0 };

	report_text_column(&b, s, strlen(s), cols, cut);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(report_text, columns_are_padded_and_cut_by_code_points)
{
	column("ab", 4, false, "ab  ");
	column("abcdef", 4, false, "abcdef");
	column("abcdef", 4, true, "abc…");
	column("\xc3\xa9\xc3\xa9\xc3\xa9", 3, true, "\xc3\xa9\xc3\xa9\xc3\xa9");
	column("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3, true, "\xc3\xa9\xc3\xa9…");
	cr_assert_eq(value_text_width("\xc3\xa9x", 3), 2);
}

static void path(const char *s, size_t cols, const char *want)
{
	struct buf b = { 0 };

	report_text_path(&b, s, strlen(s), cols);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(report_text, long_paths_keep_their_end)
{
	path("/usr/lib/a.so", 13, "/usr/lib/a.so");
	path("/usr/lib/a.so", 12, "…/lib/a.so");
	path("/usr/lib/a.so", 6, "…/a.so");
	path("/usr/lib/a.so", 5, "…a.so");
	path("/usr/lib/a.so", 1, "…");
	path("/x/\xc3\xa9/\xc3\xa9.so", 7, "…/\xc3\xa9.so");
	path("[a-long-label]", 8, "…-label]");
	path("/usr/lib/", 5, "…lib/");
	path("", 1, "");
}
