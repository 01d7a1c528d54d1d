// SPDX-License-Identifier: BSD-2-Clause
/* Values as the kernel's print fmt shows them; the expected texts are read off the kernel's rules. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "prof_events.h"
#include "trace/tp_symbols.h"

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

Test(tp_symbols, prev_state_reads_as_the_kernel_prints_it)
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

Test(tp_symbols, delimiters_shifts_and_hex)
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

Test(tp_symbols, without_rows_the_number_is_left_to_the_caller)
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
