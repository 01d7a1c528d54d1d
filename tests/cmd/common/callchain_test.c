// SPDX-License-Identifier: BSD-2-Clause
/* Stacks as text: the order of functions, inlined functions, names that would break a format. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/common/callchain.h"
#include "tests/profile/app.h"

#define KERNEL(off) (at(3, off) | PROF_FRAME_KERNEL)

/* Leaf first: schedule in the kernel; COLD, into which "in;lined" is inlined; a nameless place; main. */
static uint64_t frames[4];

static struct names *make(void)
{
	const uint64_t stack[] = { KERNEL(0x10), at(2, COLD), at(1, NAMELESS), at(1, MAIN) };

	struct names_module kernel = { .id = 3, .announced = true };
	struct names *n = make_names();

	memcpy(frames, stack, sizeof(frames));
	kernel.path = name(n, "[kernel.kallsyms]");
	cr_assert_eq(names_module_add(n, &kernel), 3);
	symbol(n, KERNEL(0x10), 0, "schedule");
	symbol(n, at(2, COLD), 1, "in;lined");
	return n;
}

static void expect(enum callchain_part part, size_t cols, const char *lines, const char *folded)
{
	struct names *n = make();
	struct buf out = { 0 };

	callchain_lines(&out, n, frames, 4, part, 2, cols);
	cr_expect_str_eq(buf_cstr(&out), lines, "printed:\n%s", buf_cstr(&out));
	buf_clear(&out);
	callchain_folded(&out, n, frames, 4, part);
	cr_expect_str_eq(buf_cstr(&out), folded, "folded: %s", buf_cstr(&out));
	buf_free(&out);
	names_free(n);
}

Test(callchain, lines_begin_with_the_leaf_and_folded_stacks_with_the_root)
{
	expect(CALLCHAIN_BOTH, 0,
	       "  schedule ([kernel.kallsyms])\n"
	       "  in;lined (inlined)\n"
	       "  cold (libc.so)\n"
	       "  [unknown] (app)\n"
	       "  main (app)\n",
	       "main;[unknown];cold;in:lined (inlined);schedule");
}

Test(callchain, kernel_or_user_part_alone)
{
	expect(CALLCHAIN_KERNEL, 0, "  schedule ([kernel.kallsyms])\n", "schedule");
	expect(CALLCHAIN_USER, 0,
	       "  in;lined (inlined)\n"
	       "  cold (libc.so)\n"
	       "  [unknown] (app)\n"
	       "  main (app)\n",
	       "main;[unknown];cold;in:lined (inlined)");
}

Test(callchain, long_names_are_shortened_to_the_width_of_the_terminal)
{
	const uint64_t frame = at(1, HOT);
	struct names *n = make();
	struct buf out = { 0 };

	symbol(n, frame, 0, "std::sort<std::vector<int>>(int, int)");
	callchain_lines(&out, n, &frame, 1, CALLCHAIN_BOTH, 2, 24);
	cr_expect_str_eq(buf_cstr(&out), "  std::sort<...>(...) (app)\n", "%s", buf_cstr(&out));
	buf_free(&out);
	names_free(n);
}

Test(callchain, callchain_is_printed_as_json)
{
	struct names *n = make();
	struct buf out = { 0 };

	callchain_json(&out, NULL, n, frames, 4, CALLCHAIN_USER);
	cr_expect_str_eq(
		buf_cstr(&out),
		"[{\"sym\":\"in;lined\",\"dso\":\"/lib/libc.so\",\"inlined\":true},"
		"{\"sym\":\"cold\",\"dso\":\"/lib/libc.so\"},"
		"{\"sym\":null,\"dso\":\"/bin/app\"},{\"sym\":\"main\",\"dso\":\"/bin/app\"}]",
		"%s", buf_cstr(&out));
	buf_clear(&out);
	callchain_json(&out, NULL, n, frames, 0, CALLCHAIN_BOTH);
	cr_expect_str_eq(buf_cstr(&out), "[]");
	buf_free(&out);
	names_free(n);
}
