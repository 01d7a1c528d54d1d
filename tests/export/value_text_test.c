// SPDX-License-Identifier: BSD-2-Clause
/* Names and values prepared for printing: control characters, wakers, modules, semicolons. */
#include <criterion/criterion.h>
#include <string.h>

#include "export/value_text.h"
#include "prof_events.h"
#include "trace/read/names.h"

static void clean(const char *in, size_t n, const char *want)
{
	struct buf b = { 0 };

	value_text_clean(&b, in, n);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(value_text, control_characters_and_invalid_utf8_are_spelled_out)
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

Test(value_text, characters_that_change_the_text_around_them_are_spelled_out)
{
	clean("a\xe2\x80\xae"
	      "b",
	      5,
	      "a\\xe2\\x80\\xae"
	      "b");
	clean("\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8");
	clean("\xe2\x82\xac\xe2\x80\x8d", 6, "\xe2\x82\xac\xe2\x80\x8d");
}

static void waker(const struct names *n, enum interval_context context, int32_t number,
		  uint64_t output, const char *want)
{
	const struct interval_waker w = {
		.context = context, .number = number, .raw = output, .tid = 7, .comm = NAMES_NONE
	};
	struct buf b = { 0 };

	value_text_waker(&b, n, &w);
	cr_expect_str_eq(buf_cstr(&b), want, "%s", buf_cstr(&b));
	buf_free(&b);
}

Test(value_text, waker_is_named_by_its_kind)
{
	struct tp_symbols_row row = { .kind = PROF_TP_SYMBOL, .value = 3 | 25 << 3 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	waker(n, INTERVAL_BY_TIMER, -1, 5, "timer");
	waker(n, INTERVAL_BY_TIMER, 1, 2 | 2 << 3, "timer");
	waker(n, INTERVAL_BY_IPI, -1, 4, "ipi");
	waker(n, INTERVAL_BY_SOFTIRQ, 3, 2 | 4 << 3, "softirq NET_RX");
	waker(n, INTERVAL_BY_SOFTIRQ, 99, 2 | 100 << 3, "softirq");
	waker(n, INTERVAL_BY_HARDIRQ, 24, 3 | 25 << 3, "irq 24");
	waker(n, INTERVAL_BY_HARDIRQ, -1, 3, "irq");
	row.name = "irq 24 (virtio0)\x1b";
	row.name_len = 17;
	names_add_tp_symbol(n, 0, names_add(n, PROF_EV_SCHED_WAKING, strlen(PROF_EV_SCHED_WAKING)),
			    names_add(n, PROF_F_CONTEXT, strlen(PROF_F_CONTEXT)), &row);
	waker(n, INTERVAL_BY_HARDIRQ, 24, 3 | 25 << 3, "irq 24 (virtio0)\\x1b");
	waker(n, INTERVAL_BY_HARDIRQ, 25, 3 | 26 << 3, "irq 25");
	names_free(n);
	/* of a recording with off-CPU intervals and without wakeups */
	cr_assert_eq(names_new(&n), 0);
	names_add_tp_symbol(n, 0, names_add(n, PROF_EV_OFF_CPU, strlen(PROF_EV_OFF_CPU)),
			    names_add(n, PROF_F_CONTEXT, strlen(PROF_F_CONTEXT)), &row);
	waker(n, INTERVAL_BY_HARDIRQ, 24, 3 | 25 << 3, "irq 24 (virtio0)\\x1b");
	names_free(n);
}

Test(value_text, waker_thread_has_its_name)
{
	struct interval_waker w = { .context = INTERVAL_BY_TASK, .tid = 7, .comm = NAMES_NONE };
	struct buf b = { 0 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	value_text_waker(&b, n, &w);
	cr_expect_str_eq(buf_cstr(&b), "/7");
	buf_clear(&b);
	w.comm = names_add(n, "cat", 3);
	w.context = INTERVAL_BY_UNKNOWN;
	value_text_waker(&b, n, &w);
	cr_expect_str_eq(buf_cstr(&b), "cat/7");
	buf_free(&b);
	names_free(n);
}

static void module(const char *module_path, enum prof_module_kind kind, const char *want)
{
	struct names_module m = { .kind = kind, .announced = true };
	struct buf b = { 0 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	m.path = names_add(n, module_path, strlen(module_path));
	value_text_module_base(&b, n, names_module_add(n, &m));
	cr_expect_str_eq(buf_cstr(&b), want);
	buf_free(&b);
	names_free(n);
}

Test(value_text, file_name_cannot_look_like_the_kernel)
{
	module("[kernel.kallsyms]", PROF_MODULE_KERNEL, "[kernel.kallsyms]");
	module("/usr/lib/libc.so.6", PROF_MODULE_ELF, "libc.so.6");
	module("/tmp/[kernel.kallsyms]", PROF_MODULE_ELF, "/tmp/[kernel.kallsyms]");
	module("/tmp/[jit]", PROF_MODULE_ELF, "/tmp/[jit]");
	module("/tmp/", PROF_MODULE_ELF, "/tmp/");
}

Test(value_text, semicolon_in_a_name_does_not_end_a_function)
{
	struct buf b = { 0 };

	buf_addstr(&b, "main;");
	value_text_clean(&b, "a;b;", 4);
	value_text_fold(&b, 5);
	cr_expect_str_eq(buf_cstr(&b), "main;a:b:");
	buf_free(&b);
}
