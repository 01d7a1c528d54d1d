// SPDX-License-Identifier: BSD-2-Clause
/* Values as shown by the kernel's print fmt; the expected texts follow from the kernel's rules. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "prof_events.h"
#include "trace/read/tp_symbols.h"

static void add(struct tp_symbols *ts, uint64_t segment, uint8_t kind, uint64_t value,
		const char *name)
{
	struct tp_symbols_row row = {
		.kind = kind, .value = value, .name = name, .name_len = strlen(name)
	};

	tp_symbols_add(ts, segment, &row);
}

static void expect(const struct tp_symbols *ts, uint64_t x, const char *want)
{
	struct buf b = { 0 };

	cr_assert(tp_symbols_render(ts, x, &b));
	cr_assert_str_eq(buf_cstr(&b), want, "value 0x%llx gives '%s', not '%s'",
			 (unsigned long long)x, buf_cstr(&b), want);
	buf_free(&b);
}

static void add_prev_state(struct tp_symbols *ts, uint64_t segment)
{
	add(ts, segment, PROF_TP_MASK, 0xff, "");
	add(ts, segment, PROF_TP_FLAG, 1, "S");
	add(ts, segment, PROF_TP_FLAG, 2, "D");
	add(ts, segment, PROF_TP_FLAG, 0x10, "X");
	add(ts, segment, PROF_TP_ZERO, 0, "R");
	add(ts, segment, PROF_TP_MASK, 0x100, "");
	add(ts, segment, PROF_TP_NONZERO, 0, "+");
}

Test(tp_symbols, prev_state_is_printed_like_by_the_kernel)
{
	struct tp_symbols ts = { 0 };

	add_prev_state(&ts, 1);
	expect(&ts, 0, "R");
	expect(&ts, 0x100, "R+");
	expect(&ts, 1, "S");
	expect(&ts, 2, "D");
	expect(&ts, 3, "S|D");
	expect(&ts, 0x101, "S+");
	expect(&ts, 0x81, "S|0x80");
	expect(&ts, 0x80, "0x80");
	tp_symbols_fini(&ts);
}

Test(tp_symbols, symbols_print_one_name_or_the_number)
{
	struct tp_symbols ts = { 0 };

	add(&ts, 1, PROF_TP_SYMBOL, 0, "HI");
	add(&ts, 1, PROF_TP_SYMBOL, 9, "RCU");
	add(&ts, 1, PROF_TP_SYMBOL, UINT64_MAX, "NONE");
	expect(&ts, 0, "HI");
	expect(&ts, 9, "RCU");
	expect(&ts, UINT64_MAX, "NONE");
	expect(&ts, 17, "0x11");
	tp_symbols_fini(&ts);
}

Test(tp_symbols, delimiters_shifts_and_hexadecimal_are_printed)
{
	struct tp_symbols flags = { 0 }, shifted = { 0 }, hex = { 0 };

	add(&flags, 1, PROF_TP_DELIM, 0, ", ");
	add(&flags, 1, PROF_TP_FLAG, 1, "one");
	add(&flags, 1, PROF_TP_FLAG, 6, "six");
	expect(&flags, 7, "one, six");
	expect(&flags, 5, "one, 0x4");
	expect(&flags, 0, "");
	add(&shifted, 1, PROF_TP_MASK, 0xf, "");
	add(&shifted, 1, PROF_TP_SHIFT, 4, "");
	add(&shifted, 1, PROF_TP_SYMBOL, 3, "three");
	add(&shifted, 1, PROF_TP_MASK, 0xf, ":");
	add(&shifted, 1, PROF_TP_SYMBOL, 1, "low");
	expect(&shifted, 0x31, "three:low");
	add(&hex, 1, PROF_TP_HEX, 0, "");
	expect(&hex, 255, "0xff");
	tp_symbols_fini(&flags);
	tp_symbols_fini(&shifted);
	tp_symbols_fini(&hex);
}

Test(tp_symbols, rows_repeated_by_a_later_segment_change_nothing)
{
	struct tp_symbols ts = { 0 };

	add_prev_state(&ts, 1);
	add_prev_state(&ts, 2);
	cr_assert_eq(ts.cnt, 7);
	add(&ts, 3, PROF_TP_MASK, 0xff, "");
	expect(&ts, 0x100, "R+");
	add(&ts, 3, PROF_TP_FLAG, 1, "sleeping");
	expect(&ts, 1, "sleeping");
	cr_assert_eq(ts.cnt, 2);
	tp_symbols_fini(&ts);
}

Test(tp_symbols, number_without_rows_is_left_to_the_caller)
{
	struct tp_symbols ts = { 0 };
	struct buf b = { 0 };

	cr_assert_not(tp_symbols_render(&ts, 1, &b));
	cr_assert_eq(b.len, 0);
}

Test(tp_symbols, strange_rows_are_harmless)
{
	struct tp_symbols ts = { 0 };

	add(&ts, 1, 200, 1, "from the future");
	add(&ts, 1, PROF_TP_SHIFT, 4, "not behind a mask");
	add(&ts, 1, PROF_TP_MASK, UINT64_MAX, "");
	add(&ts, 1, PROF_TP_SHIFT, 64, "");
	add(&ts, 1, PROF_TP_ZERO, 0, "zero");
	expect(&ts, 5, "zero");
	tp_symbols_fini(&ts);
}

Test(tp_symbols, decimals_may_be_parts_of_a_device_number)
{
	struct tp_symbols ts = { 0 };

	add(&ts, 1, PROF_TP_MASK, 0xfff, "");
	add(&ts, 1, PROF_TP_SHIFT, 20, "");
	add(&ts, 1, PROF_TP_DECIMAL, 0, "");
	add(&ts, 1, PROF_TP_MASK, 0xfffff, ":");
	add(&ts, 1, PROF_TP_DECIMAL, 0, "");
	expect(&ts, 0, "0:0");
	expect(&ts, 8 << 20 | 17, "8:17");
	expect(&ts, 0xffffffff, "4095:1048575");
	tp_symbols_fini(&ts);
}

Test(tp_symbols, errors_have_a_number_and_a_name)
{
	struct tp_symbols ts = { 0 }, address = { 0 };

	add(&ts, 1, PROF_TP_ERRNO, 0, "");
	add(&ts, 1, PROF_TP_DECIMAL, 0, "");
	expect(&ts, 0, "0");
	expect(&ts, 4096, "4096");
	expect(&ts, (uint64_t)-1, "-1 EPERM");
	expect(&ts, (uint64_t)-2, "-2 ENOENT");
	expect(&ts, (uint64_t)-512, "-512 ERESTARTSYS");
	expect(&ts, (uint64_t)-516, "-516 ERESTART_RESTARTBLOCK");
	expect(&ts, (uint64_t)-517, "-517");
	expect(&ts, (uint64_t)-4095, "-4095");
	expect(&ts, (uint64_t)-4096, "-4096");
	tp_symbols_fini(&ts);
	add(&address, 1, PROF_TP_ERRNO, 0, "");
	add(&address, 1, PROF_TP_SYMBOL, 0, "0x0");
	expect(&address, (uint64_t)-12, "-12 ENOMEM");
	expect(&address, 0, "0x0");
	expect(&address, 0x7f0000001000, "0x7f0000001000");
	tp_symbols_fini(&address);
}

static void expect_array(uint64_t unit, size_t sz, const char *want)
{
	static const uint8_t bytes[] = { 1, 2, 0, 0, 0, 0, 0, 0x80, 0xff, 0, 0, 0, 0, 0, 0, 0 };
	struct tp_symbols ts = { 0 };
	struct buf b = { 0 };

	add(&ts, 1, PROF_TP_ARRAY, unit, "");
	cr_expect_eq(tp_symbols_render_array(&ts, bytes, sz, &b), want != NULL);
	cr_expect_str_eq(buf_cstr(&b), want ? want : "");
	cr_expect_not(tp_symbols_render(&ts, 1, &b), "a number is no array");
	buf_free(&b);
	tp_symbols_fini(&ts);
}

Test(tp_symbols, array_elements_have_their_size)
{
	struct tp_symbols none = { 0 };
	struct buf b = { 0 };

	expect_array(8, 16, "[0x8000000000000201,0xff]");
	expect_array(4, 8, "[0x201,0x80000000]");
	expect_array(2, 4, "[0x201,0x0]");
	expect_array(8, 0, "[]");
	expect_array(8, 12, NULL);
	expect_array(0, 8, NULL);
	expect_array(3, 3, NULL);
	expect_array(UINT64_MAX, 8, NULL);
	cr_expect_not(tp_symbols_render_array(&none, (const uint8_t *)"", 0, &b));
	add(&none, 1, PROF_TP_HEX, 8, "");
	cr_expect_not(tp_symbols_render_array(&none, (const uint8_t *)"12345678", 8, &b));
	tp_symbols_fini(&none);
}

static void expect_parsed(const char *text, uint64_t x, const char *want)
{
	struct tp_symbols ts = { 0 };

	tp_symbols_parse(&ts, text, strlen(text));
	expect(&ts, x, want);
	tp_symbols_fini(&ts);
}

Test(tp_symbols, lines_of_an_enum_are_parsed)
{
	static const char state[] = "&0xff=\nzero=R\n|0x1=S\n|0x2=D\n|0x10=X\n&0x100=\nnonzero=+";
	static const char device[] = "&0xfff\n>>20\ndec\n&0xfffff=:\ndec";

	expect_parsed("0=HI\n1=TIMER\n-1=none", 1, "TIMER");
	expect_parsed("0=HI\n1=TIMER\n-1=none", UINT64_MAX, "none");
	expect_parsed("0=HI\n1=TIMER", 2, "0x2");
	expect_parsed("0x10=a=b", 16, "a=b");
	expect_parsed("0=\n1=x", 0, "");
	expect_parsed("|0x1=a\n|0x2=b", 3, "a|b");
	expect_parsed("delim=, \n|1=a\n|2=b", 7, "a, b, 0x4");
	expect_parsed("hex", 255, "0xff");
	expect_parsed("errno\ndec", (uint64_t)-2, "-2 ENOENT");
	expect_parsed("errno\ndec", 5, "5");
	expect_parsed(device, 259 << 20 | 7, "259:7");
	expect_parsed(state, 0, "R");
	expect_parsed(state, 0x100, "R+");
	expect_parsed(state, 3, "S|D");
	expect_parsed("1=last line with its end\n", 1, "last line with its end");
}

Test(tp_symbols, malformed_lines_are_skipped)
{
	static const char *const none[] = {
		"",	   "\n\n",  "=x",
		"x=y",	   "1.5=x", "0x=x",
		"--1=x",   "| 1=x", "hex1=",
		"zero1=x", "|=x",   "99999999999999999999=x",
		"&",	   ">>x",   "1111111111111111111111111111111111111111111111=x"
	};
	static const char zeros[] = "1=a\0b\n2=c";
	struct tp_symbols ts = { 0 };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		tp_symbols_parse(&ts, none[i], strlen(none[i]));
		cr_expect_eq(ts.cnt, 0, "'%s'", none[i]);
	}
	tp_symbols_parse(&ts, zeros, sizeof(zeros) - 1);
	cr_assert_eq(ts.cnt, 2);
	cr_expect_eq(ts.rows[0].name_len, 3);
	cr_expect_eq(ts.rows[1].value, 2);
	tp_symbols_fini(&ts);
}

Test(tp_symbols, array_in_an_enum_ends_with_its_element_size)
{
	struct tp_symbols ts = { 0 };
	struct buf b = { 0 };

	tp_symbols_parse(&ts, "array4", 6);
	cr_expect(tp_symbols_render_array(&ts, (const uint8_t *)"\1\0\0\0\2\0\0", 8, &b));
	cr_expect_str_eq(buf_cstr(&b), "[0x1,0x2]");
	buf_free(&b);
	tp_symbols_fini(&ts);
}

Test(tp_symbols, first_writer_in_a_segment_has_priority)
{
	struct tp_symbols state = { 0 }, code = { 0 };
	struct tp_symbols_row row = {
		.kind = PROF_TP_FLAG, .value = 1, .name = "other", .name_len = 5, .source = 7
	};

	add_prev_state(&state, 1);
	cr_expect_not(tp_symbols_add(&state, 1, &row));
	expect(&state, 0x100, "R+");
	expect(&state, 1, "S");
	/* values without a name get one */
	add(&code, 1, PROF_TP_SYMBOL, 1, "first");
	row.kind = PROF_TP_SYMBOL;
	cr_expect_not(tp_symbols_add(&code, 1, &row));
	row.value = 2;
	cr_expect(tp_symbols_add(&code, 1, &row));
	expect(&code, 1, "first");
	expect(&code, 2, "other");
	/* another writer may be first in the next segment */
	cr_expect(tp_symbols_add(&code, 2, &row));
	cr_expect_eq(code.cnt, 1);
	tp_symbols_fini(&state);
	tp_symbols_fini(&code);
}
