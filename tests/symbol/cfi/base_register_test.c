// SPDX-License-Identifier: BSD-2-Clause
/* Rows of a function whose CFA is rbx + n while it calls others, like the dynamic linker's lazy binding. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>

#include "symbol/cfi/cfitable.h"
#include "tests/support/unwind_find.h"
#include "tests/symbol/support.h"
#include "unwind/table.h"

#if defined(__x86_64__)

#define ROW(kind, off, fp)                                                                         \
	((uint32_t)(kind) << PROF_UNWIND_ROW_KIND_SHIFT | (off) << PROF_UNWIND_ROW_OFF_SHIFT | (fp))
#define BY_RBX ROW(PROF_UNWIND_REG, 3 << 8 | 3, 0)
#define PUSHED ROW(PROF_UNWIND_SPECIAL, PROF_UNWIND_PUSHED, 0)

/* after push %rbx; mov %rsp, %rbx; nop */
enum { CALL = 5, CALL_END = CALL + 5 };

#define PUSH_RBX "push %%rbx\\n.cfi_adjust_cfa_offset 8\\n.cfi_offset 3, -24\\n"
#define MOVE_RBX                                                                                   \
	"sub $16, %%rsp\\nmov %%rbx, (%%rsp)\\n.cfi_adjust_cfa_offset 16\\n"                       \
	".cfi_offset 3, -24\\n"

/* The row of the call's last byte. @callee: what the called function does */
static uint32_t row_of_call(const char *callee, uint32_t *big)
{
	struct unwind_table table;
	struct elfimg_sec text;
	struct cfitable c;
	struct elfimg img;
	char path[256];
	uint32_t found, before, after;

	snprintf(path, sizeof(path), "%s/base_register.so", scratch());
	shell("printf '.cfi_startproc\\npush %%%%rbx\\n.cfi_def_cfa_offset 16\\n.cfi_offset 3, -16\\n"
	      "mov %%%%rsp, %%%%rbx\\n.cfi_def_cfa 3, 24\\nnop\\ncall 2f\\nnop\\n"
	      "mov %%%%rbx, %%%%rsp\\n.cfi_def_cfa 7, 16\\npop %%%%rbx\\n.cfi_def_cfa_offset 8\\nret\\n"
	      ".cfi_endproc\\n.p2align 4\\n.cfi_startproc\\n2: push %%%%r12\\n"
	      ".cfi_def_cfa_offset 16\\n%snop\\nret\\n.cfi_endproc\\n' | "
	      "gcc -shared -nostdlib -x assembler -o %s -",
	      callee, path);
	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	cr_assert(elfimg_find(&img, ".text", &text));
	budget_enter(unbounded());
	cfitable_init(&c, &img, unbounded());
	cr_assert_eq(cfitable_build(&c, &table), 0);
	cfitable_fini(&c);
	cr_expect(unwind_table_check(&table));
	cr_assert(unwind_find(&table, text.off + CALL_END - 1, &found));
	cr_assert(unwind_find(&table, text.off + CALL, &before));
	cr_assert(unwind_find(&table, text.off + CALL_END, &after));
	cr_expect_eq(before << 10, after << 10, "%#x %#x", before, after);
	*big = table.big_cnt ? table.words[table.page_cnt] : 0;
	unwind_table_free(&table);
	elfimg_close(&img);
	return found & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1);
}

Test(base_register, call_shows_where_the_called_function_pushes_it)
{
	uint32_t big, row = row_of_call(PUSH_RBX, &big);

	cr_expect_eq(row, PUSHED, "%#x", row);
	cr_expect_eq(big, 3 | 3 << 8, "%#x", big);
}

Test(base_register, other_calls_show_nothing)
{
	uint32_t big, row = row_of_call("", &big);

	cr_expect_eq(row, BY_RBX, "%#x", row);
	cr_expect_eq(big, 0);
	row = row_of_call(MOVE_RBX, &big);
	cr_expect_eq(row, BY_RBX, "not known at each instruction: %#x", row);
	cr_expect_eq(big, 0);
}

#endif
