// SPDX-License-Identifier: BSD-2-Clause
/* Text fit for a terminal: controls, columns, ellipses. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/text.h"
#include "prof_events.h"
#include "trace/names.h"

static void clean(const char *in, size_t n, const char *want)
{
	struct buf b = { 0 };

	text_clean(&b, in, n);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(text, controls_and_broken_utf8_are_spelled_out)
{
	clean("plain \xc3\xa9", 8, "plain \xc3\xa9");
	clean("\x1b[31m", 5, "\\x1b[31m");
	clean("a\0b\n\x7f", 5, "a\\x00b\\x0a\\x7f");
	clean("\xff", 1, "\\xff");
	clean("\xc2\x9b"
	      "x",
	      3, "\\xc2\\x9bx");
	clean("\xc2\xa9", 2, "\xc2\xa9");
	clean("", 0, "");
}

static void column(const char *s, size_t cols, bool cut, const char *want)
{
	struct buf b = { 0 };

	text_column(&b, s, strlen(s), cols, cut);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(text, columns_are_padded_and_cut_by_code_points)
{
	column("ab", 4, false, "ab  ");
	column("abcdef", 4, false, "abcdef");
	column("abcdef", 4, true, "abc…");
	column("\xc3\xa9\xc3\xa9\xc3\xa9", 3, true, "\xc3\xa9\xc3\xa9\xc3\xa9");
	column("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3, true, "\xc3\xa9\xc3\xa9…");
	cr_assert_eq(text_width("\xc3\xa9x", 3), 2);
}

static void path(const char *s, size_t cols, const char *want)
{
	struct buf b = { 0 };

	text_path(&b, s, strlen(s), cols);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(text, paths_keep_their_end)
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

static void module(const char *module_path, enum prof_module_kind kind, const char *want)
{
	struct names_module m = { .kind = kind, .announced = true };
	struct buf b = { 0 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	m.path = names_add(n, module_path, strlen(module_path));
	text_module_base(&b, n, names_module_add(n, &m));
	cr_expect_str_eq(buf_cstr(&b), want);
	buf_free(&b);
	names_free(n);
}

Test(text, a_file_does_not_look_like_the_kernel)
{
	module("[kernel.kallsyms]", PROF_MODULE_KERNEL, "[kernel.kallsyms]");
	module("/usr/lib/libc.so.6", PROF_MODULE_ELF, "libc.so.6");
	module("/tmp/[kernel.kallsyms]", PROF_MODULE_ELF, "/tmp/[kernel.kallsyms]");
	module("/tmp/[jit]", PROF_MODULE_ELF, "/tmp/[jit]");
	module("/tmp/", PROF_MODULE_ELF, "/tmp/");
}
