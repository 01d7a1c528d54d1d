// SPDX-License-Identifier: BSD-2-Clause
/* Expressions of print fmt, one at a time: which of them become rows, and which rows. */
#include "kernel/tracefs/format.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static const char head[] =
	"name: made_up\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned int a;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:long b;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:char c[8];\toffset:24;\tsize:8;\tsigned:0;\n";

/* "a.mask 3 '', a.symbol 1 'one'" */
static void print_rows(const char *print_fmt, struct buf *out)
{
	static const char *const kinds[] = { "symbol", "flag", "mask",	  "shift",
					     "delim",  "zero", "nonzero", "hex" };
	struct format_event *ev = NULL;
	char text[2048];

	snprintf(text, sizeof(text), "%s\nprint fmt: %s\n", head, print_fmt);
	cr_assert_eq(format_parse(text, strlen(text), "x", &ev, NULL), 0, "%s", print_fmt);
	for (size_t i = 0; i < ev->symbol_cnt; i++) {
		const struct format_symbol *s = &ev->symbols[i];

		buf_printf(out, "%s%s.%s", i ? ", " : "", s->field, kinds[s->kind]);
		if (s->value || s->kind == FORMAT_SYM_SYMBOL)
			buf_printf(out, " %llx", (unsigned long long)s->value);
		if (*s->name || s->kind == FORMAT_SYM_DELIM)
			buf_printf(out, " '%s'", s->name);
	}
	format_free(ev);
}

struct fmt_case {
	const char *print_fmt, *rows;
};

static void check(const struct fmt_case *cases, size_t cnt)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < cnt; i++) {
		buf_clear(&b);
		print_rows(cases[i].print_fmt, &b);
		cr_expect_str_eq(buf_cstr(&b), cases[i].rows, "%s gives %s", cases[i].print_fmt,
				 buf_cstr(&b));
	}
	buf_free(&b);
}

#define CHECK(...)                                                                                 \
	do {                                                                                       \
		static const struct fmt_case cases[] = { __VA_ARGS__ };                            \
		check(cases, sizeof(cases) / sizeof(cases[0]));                                    \
	} while (0)
#define SYMBOLIC(expr) "\"%s\", __print_symbolic(" expr ", {1, \"one\"})"
#define ONE ", a.symbol 1 'one'"

Test(format_symbols, masks_are_computed_like_in_c)
{
	CHECK({ SYMBOLIC("(1 + 2) & REC->a"), "a.mask 3" ONE },
	      { SYMBOLIC("(7 - 2) & REC->a"), "a.mask 5" ONE },
	      { SYMBOLIC("(3 * 5) & REC->a"), "a.mask f" ONE },
	      { SYMBOLIC("(6 | 3) & REC->a"), "a.mask 7" ONE },
	      { SYMBOLIC("(6 & 3) & REC->a"), "a.mask 2" ONE },
	      { SYMBOLIC("(6 ^ 3) & REC->a"), "a.mask 5" ONE },
	      { SYMBOLIC("(3 << 4) & REC->a"), "a.mask 30" ONE },
	      { SYMBOLIC("(1 << 63) & REC->a"), "a.mask 8000000000000000" ONE },
	      { SYMBOLIC("(0x330 >> 4) & REC->a"), "a.mask 33" ONE },
	      { SYMBOLIC("(0x8000000000000000ULL >> 63) & REC->a"), "a.mask 1" ONE },
	      { SYMBOLIC("REC->a & ~1"), "a.mask fffffffffffffffe" ONE },
	      { SYMBOLIC("REC->a & 0x10UL"), "a.mask 10" ONE },
	      { SYMBOLIC("((u64)REC->a & (u64)3)"), "a.mask 3" ONE });
}

Test(format_symbols, expressions_that_cannot_be_computed_have_no_rows)
{
	CHECK({ SYMBOLIC("(8 / 2) & REC->a"), "" }, { SYMBOLIC("(1 << 64) & REC->a"), "" },
	      { SYMBOLIC("(256 >> 64) & REC->a"), "" }, { SYMBOLIC("REC->a & NAME"), "" },
	      { SYMBOLIC("REC->a & 0x10000000000000000"), "" }, { SYMBOLIC("REC->a | 4"), "" },
	      { SYMBOLIC("REC->a + 4"), "" }, { SYMBOLIC("REC->a == 4"), "" },
	      { SYMBOLIC("REC->a != 4"), "" }, { SYMBOLIC("REC->c"), "" });
}

Test(format_symbols, shifts_add_up_and_move_an_earlier_mask)
{
	CHECK({ SYMBOLIC("REC->a >> 4"), "a.mask ffffffffffffffff, a.shift 4" ONE },
	      { SYMBOLIC("(REC->a >> 4) & 15"), "a.mask f, a.shift 4" ONE },
	      { SYMBOLIC("(REC->a & 0xf0) >> 4"), "a.mask f, a.shift 4" ONE },
	      { SYMBOLIC("(REC->a >> 4) >> 2"), "a.mask ffffffffffffffff, a.shift 6" ONE },
	      { SYMBOLIC("REC->a >> 63"), "a.mask ffffffffffffffff, a.shift 3f" ONE },
	      { SYMBOLIC("REC->a >> 64"), "" }, { SYMBOLIC("(REC->a >> 60) >> 4"), "" });
}

#define FLAGS(expr, delim, list) "\"%s\", __print_flags(" expr ", \"" delim "\", " list ")"

Test(format_symbols, flags_have_a_delimiter_row_if_it_is_unusual)
{
	CHECK({ FLAGS("REC->a", "|", "{1, \"x\"}, {2, \"y\"}"), "a.flag 1 'x', a.flag 2 'y'" },
	      { FLAGS("REC->a", "", "{1, \"x\"}, {2, \"y\"}"),
		"a.delim '', a.flag 1 'x', a.flag 2 'y'" },
	      { FLAGS("REC->a", ",", "{1, \"x\"}"), "a.delim ',', a.flag 1 'x'" },
	      { FLAGS("REC->a", "|", "{1 << 3, \"x\"}, {0x10, \"y\"}"),
		"a.flag 8 'x', a.flag 10 'y'" });
}

Test(format_symbols, flag_with_value_0_has_no_row)
{
	CHECK({ FLAGS("REC->a", "|", "{0, \"none\"}, {2, \"y\"}"), "a.flag 2 'y'" },
	      { FLAGS("REC->a & 3", ",", "{0, \"none\"}"), "" },
	      { "\"%s\", __print_symbolic(REC->a, {0, \"none\"}, {2, \"y\"})",
		"a.symbol 0 'none', a.symbol 2 'y'" });
}

Test(format_symbols, list_with_one_repeated_value_has_no_rows)
{
	CHECK({ "\"%s\", __print_symbolic(REC->a, {1, \"x\"}, {1, \"y\"})", "" },
	      { "\"%s\", __print_symbolic(REC->a, {1, \"x\"}, {1, \"y\"}, {2, \"z\"})",
		"a.symbol 1 'x', a.symbol 1 'y', a.symbol 2 'z'" },
	      { "\"%s\", __print_symbolic(REC->a, {1, \"x\"})", "a.symbol 1 'x'" },
	      { "\"%s\", __print_symbolic(REC->b, {1, \"x\"}, {-1, \"y\"})",
		"b.symbol 1 'x', b.symbol ffffffffffffffff 'y'" });
}

Test(format_symbols, bit_shifted_by_a_field_is_a_symbol)
{
#define BITS ", \"|\", {1, \"x\"}, {8, \"y\"})"
	CHECK({ "\"%s\", __print_flags((1 << REC->a)" BITS, "a.symbol 0 'x', a.symbol 3 'y'" },
	      { "\"%s\", __print_flags((2 << REC->a)" BITS, "" },
	      { "\"%s\", __print_flags((1 << (REC->a & 3))" BITS, "" },
	      { "\"%s\", __print_flags((1 << (REC->a >> 3))" BITS, "" },
	      { "\"%s\", __print_flags((1 << REC->a) & 3" BITS, "" },
	      { "\"%s\", __print_flags(3 & (1 << REC->a)" BITS, "" },
	      { "\"%s\", __print_symbolic((1 << REC->a), {1, \"x\"}, {8, \"y\"})", "" },
	      { "\"%s\", (1 << REC->a) ? \"x\" : \"y\"", "" },
	      { FLAGS("(1 << REC->a)", "|", "{1, \"x\"}, {6, \"y\"}"), "" },
	      { FLAGS("(1 << REC->a)", "|", "{0, \"x\"}, {2, \"y\"}"), "" },
	      { "\"%s %s\", __print_symbolic(REC->a, {1, \"x\"}), __print_flags((1 << REC->a)" BITS,
		"a.symbol 1 'x'" });
}

Test(format_symbols, conditional_text_needs_string_constants)
{
	CHECK({ "\"%s\", REC->a ? \"x\" : \"\"", "a.nonzero 'x'" },
	      { "\"%s\", REC->a ? \"\" : \"y\"", "a.zero 'y'" },
	      { "\"%c\", REC->a ? 'x' : 'y'", "a.zero 'y', a.nonzero 'x'" },
	      { "\"%s\", (REC->a & 1) == 0 ? \"x\" : \"y\"",
		"a.mask 1, a.zero 'x', a.nonzero 'y'" },
	      { "\"%d\", REC->a ? 3 : 4", "" }, { "\"%s\", REC->c ? \"x\" : \"y\"", "" },
	      { "\"%s\", REC->a == 1 ? \"x\" : \"y\"", "" },
	      { "\"%s\", REC->a != 1 ? \"x\" : \"y\"", "" },
	      { "\"%s\", REC->a ? REC->b ? \"x\" : \"y\" : \"z\"", "" });
}

Test(format_symbols, condition_may_test_only_the_bits_that_it_prints)
{
#define IF(cond, expr)                                                                             \
	"\"%s\", " cond " ? "                                                                      \
	"__print_flags(" expr ", \"|\", {1, \"x\"}) : \"y\""
	CHECK({ IF("REC->a", "REC->a"), "a.zero 'y', a.flag 1 'x'" },
	      { IF("(REC->a & 3)", "REC->a & 3"), "a.mask 3, a.zero 'y', a.flag 1 'x'" },
	      { IF("(REC->a >> 3)", "REC->a >> 3"),
		"a.mask ffffffffffffffff, a.shift 3, a.zero 'y', a.flag 1 'x'" },
	      { IF("(REC->a & 3)", "REC->a & 2"), "" }, { IF("(REC->a >> 3)", "REC->a >> 4"), "" },
	      { IF("REC->b", "REC->a"), "" },
	      { "\"%s\", REC->a ? \"y\" : __print_flags(REC->a, \"|\", {1, \"x\"})", "" },
	      { "\"%s\", REC->a ? __print_flags(REC->a, \"|\", {1, \"x\"}) : REC->b", "" });
}

#define WORDS(mask, yes, no) "REC->a & " mask " ? \"" yes "\" : \"" no "\""
#define WORDS_1 "a.mask 1, a.zero 'y', a.nonzero 'x', a.mask 2"
#define WORDS_2 ", a.zero 'q', a.nonzero 'p'"

Test(format_symbols, parts_of_a_field_are_joined_by_the_text_between_them)
{
	CHECK({ "\"%s%s\", " WORDS("1", "x", "y") ", " WORDS("2", "p", "q"), WORDS_1 WORDS_2 },
	      { "\"%s, %s\", " WORDS("1", "x", "y") ", " WORDS("2", "p", "q"),
		WORDS_1 " ', '" WORDS_2 },
	      /* another value between them: the text would belong to it */
	      { "\"%s, %d: %s\", " WORDS("1", "x", "y") ", REC->b, " WORDS("2", "p", "q"),
		WORDS_1 " ' '" WORDS_2 },
	      { "\"%s%s\", " WORDS("1", "x", "y") ", REC->b & 2 ? \"p\" : \"q\"",
		"a.mask 1, a.zero 'y', a.nonzero 'x', b.mask 2, b.zero 'q', b.nonzero 'p'" });
}

Test(format_symbols, numbers_shown_in_hexadecimal_are_marked)
{
	CHECK({ "\"%x\", REC->a", "a.hex" }, { "\"%#d\", REC->a", "a.hex" },
	      { "\"%p\", REC->b", "b.hex" }, { "\"0x%08llX\", REC->b", "b.hex" },
	      { "\"%d %lx\", REC->a, (unsigned long)REC->b", "b.hex" },
	      { "\"%x %x\", REC->b, REC->a", "a.hex, b.hex" }, { "\"%d %d\", REC->a, REC->b", "" },
	      { "\"%x\", REC->c", "" },
	      /* names have priority */
	      { "\"%x %s\", REC->a, REC->a ? \"x\" : \"y\"", "a.zero 'y', a.nonzero 'x'" });
}

Test(format_symbols, conversions_and_arguments_are_matched_in_order)
{
	CHECK({ "\"%*d %x\", 5, REC->b, REC->a", "a.hex" },
	      { "\"%.*s %x\", 5, REC->c, REC->a", "a.hex" }, { "\"100%% %x\", REC->a", "a.hex" },
	      { "\"%%%x %d\", REC->a, REC->b", "a.hex" },
	      { "\"%-8.3d%x\", REC->b, REC->a", "a.hex" },
	      { "\"%s %d %x\", __print_symbolic(REC->b, {1, \"x\"}), REC->a, REC->a",
		"a.hex, b.symbol 1 'x'" });
}
