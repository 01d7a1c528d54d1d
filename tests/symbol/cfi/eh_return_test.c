// SPDX-License-Identifier: BSD-2-Clause
/* Rows of a function that rewrites its own frame to return to an exception handler, like libgcc's. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>

#include "symbol/cfi/cfitable.h"
#include "tests/support/unwind_find.h"
#include "tests/symbol/support.h"
#include "unwind/table.h"

#if defined(__x86_64__)

#define ROW(kind, off, fp)                                                                         \
	((kind) << PROF_UNWIND_ROW_KIND_SHIFT | (off) << PROF_UNWIND_ROW_OFF_SHIFT | (fp))
#define UNSUPPORTED ROW(PROF_UNWIND_SPECIAL, PROF_UNWIND_UNSUPPORTED, 0)

struct wanted {
	uint64_t at; /* position in the code */
	uint32_t row;
};

/* A function that runs @args before its first call, and a table of its rows */
static void expect_rows(const char *args, const struct wanted *wanted, size_t cnt, uint32_t big)
{
	struct unwind_table table;
	struct elfimg_sec text;
	struct cfitable c;
	struct elfimg img;
	char path[256];
	uint32_t found;

	snprintf(path, sizeof(path), "%s/eh_return.so", scratch());
	shell("printf '.cfi_startproc\\npush %%%%rbp\\n.cfi_def_cfa_offset 16\\n.cfi_offset 6, -16\\n"
	      "mov %%%%rsp, %%%%rbp\\n.cfi_def_cfa_register 6\\n%s\\ncall 1f\\nnop\\ncall 1f\\nnop\\n"
	      "call 1f\\npop %%%%rcx\\n.cfi_def_cfa 7, 0\\n.cfi_register 16, 2\\njmp *%%%%rcx\\n"
	      ".cfi_def_cfa 6, 16\\n.cfi_offset 16, -8\\n1: call 1b\\nnop\\n.cfi_endproc\\n' | "
	      "gcc -shared -nostdlib -x assembler -o %s -",
	      args, path);
	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	cr_assert(elfimg_find(&img, ".text", &text));
	budget_enter(unbounded());
	cfitable_init(&c, &img, unbounded());
	cr_assert_eq(cfitable_build(&c, &table), 0);
	cfitable_fini(&c);
	cr_expect(unwind_table_check(&table));
	cr_expect_eq(table.big_cnt, !!big);
	if (table.big_cnt)
		cr_expect_eq(table.words[table.page_cnt], big, "%#x", table.words[table.page_cnt]);
	for (size_t i = 0; i < cnt; i++) {
		cr_assert(unwind_find(&table, text.off + wanted[i].at, &found));
		cr_expect_eq(found & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1), wanted[i].row,
			     "at %zu: %#x", (size_t)wanted[i].at, found);
	}
	unwind_table_free(&table);
	elfimg_close(&img);
}

Test(eh_return, rows_are_unsupported_once_the_frame_is_rewritten)
{
	/* positions in the code, which starts with push and mov: 4 bytes; a call has 5 */
	enum { FIND = 4, INSTALL = 10, HOOK = 16, JUMP = 22, COLD = 24 };
	const uint32_t row = ROW(PROF_UNWIND_FP, 2, 2);
	const struct wanted wanted[] = {
		{ 0, ROW(PROF_UNWIND_SP, 1, 0) },
		{ FIND + 4, row },
		{ INSTALL, row },
		{ INSTALL + 4, UNSUPPORTED },
		{ HOOK, UNSUPPORTED },
		{ HOOK + 4, UNSUPPORTED },
		{ JUMP, UNSUPPORTED },
		{ COLD + 4, row },
	};

	expect_rows("", wanted, sizeof(wanted) / sizeof(wanted[0]), 0);
}

/* Many entries for one long function would take years. */
Test(eh_return, long_function_is_not_searched)
{
	const struct wanted wanted[] = { { 20000 + 16, ROW(PROF_UNWIND_FP, 2, 2) } };

	expect_rows(".rept 20000\\nnop\\n.endr", wanted, 1, 0);
}

/* The addresses of two contexts, the first of them as an argument */
static const char own_context[] =
	"lea -0x130(%%rbp), %%r13\\nlea -0x220(%%rbp), %%r12\\nmov %%r12, %%rdi\\n";

Test(eh_return, rows_refer_to_the_functions_own_context)
{
	enum { ARGS = 17, FIND = 4 + ARGS, INSTALL = FIND + 6, HOOK = INSTALL + 6 };
	const uint32_t row = ROW(PROF_UNWIND_FP, 2, 2);
	const uint32_t context = ROW(PROF_UNWIND_SPECIAL, PROF_UNWIND_CONTEXT, 0);
	const struct wanted wanted[] = {
		{ FIND + 4, row },     { INSTALL, row },	  { INSTALL + 4, context },
		{ HOOK + 4, context }, { HOOK + 5, UNSUPPORTED },
	};

	expect_rows(own_context, wanted, sizeof(wanted) / sizeof(wanted[0]), 0x220);
	expect_rows("lea -0x220(%%rbp), %%rdi\\n.space 10, 0x90\\n", wanted,
		    sizeof(wanted) / sizeof(wanted[0]), 0x220);
}

#endif
