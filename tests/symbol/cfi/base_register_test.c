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

/* A function whose CFA becomes rbx + 24, and the start of the function that it calls */
#define BASED                                                                                      \
	".cfi_startproc\\npush %%rbx\\n.cfi_def_cfa_offset 16\\n.cfi_offset 3, -16\\n"             \
	"mov %%rsp, %%rbx\\n.cfi_def_cfa 3, 24\\n"
#define CALLEE ".p2align 4\\n.cfi_startproc\\n2: push %%r12\\n.cfi_def_cfa_offset 16\\n"

#define PUSH_RBX "push %%rbx\\n.cfi_adjust_cfa_offset 8\\n.cfi_offset 3, -24\\n"
#define POP_RBX "pop %%rbx\\n.cfi_adjust_cfa_offset -8\\n"
#define MOVE_RBX                                                                                   \
	"sub $16, %%rsp\\nmov %%rbx, (%%rsp)\\n.cfi_adjust_cfa_offset 16\\n"                       \
	".cfi_offset 3, -24\\n"

struct built {
	struct unwind_table table;
	uint64_t text; /* file offset */
};

/* The table of a file with this code */
static void build(const char *code, struct built *b)
{
	struct elfimg_sec text;
	struct cfitable c;
	struct elfimg img;
	char path[256];

	snprintf(path, sizeof(path), "%s/base_register.so", scratch());
	shell("printf '%s' | gcc -shared -nostdlib -x assembler -o %s -", code, path);
	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	cr_assert(elfimg_find(&img, ".text", &text));
	budget_enter(unbounded());
	cfitable_init(&c, &img, unbounded());
	cr_assert_eq(cfitable_build(&c, &b->table), 0);
	cfitable_fini(&c);
	cr_expect(unwind_table_check(&b->table));
	b->text = text.off;
	elfimg_close(&img);
}

/* The row of the call's last byte. @callee: what the called function does */
static uint32_t row_of_call(const char *callee, uint32_t *big)
{
	static const char calling[] =
		BASED "nop\\ncall 2f\\nnop\\nmov %%rbx, %%rsp\\n.cfi_def_cfa 7, 16\\n"
		      "pop %%rbx\\n.cfi_def_cfa_offset 8\\nret\\n.cfi_endproc\\n";
	struct built b;
	char code[1024];
	uint32_t found, before, after;

	snprintf(code, sizeof(code), "%s%s%snop\\nret\\n.cfi_endproc\\n", calling, CALLEE, callee);
	build(code, &b);
	cr_assert(unwind_find(&b.table, b.text + CALL_END - 1, &found));
	cr_assert(unwind_find(&b.table, b.text + CALL, &before));
	cr_assert(unwind_find(&b.table, b.text + CALL_END, &after));
	cr_expect_eq(before << 10, after << 10, "%#x %#x", before, after);
	*big = b.table.big_cnt ? b.table.words[b.table.page_cnt] : 0;
	unwind_table_free(&b.table);
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

/* Without its push, the called function has another word there when it calls, or jumps to, another. */
Test(base_register, functions_that_call_without_their_push_show_nothing)
{
	static const char *const callees[] = {
		"call 2b\\n" PUSH_RBX,
		"call *%%rdx\\n" PUSH_RBX,
		PUSH_RBX POP_RBX "jmp 2b\\n",
		PUSH_RBX POP_RBX ".cfi_restore 3\\njmp 2b\\n",
		PUSH_RBX POP_RBX "jne 2b + 4096\\n",
		PUSH_RBX POP_RBX "jmp *%%rdx\\n",
	};
	uint32_t big, row;
	size_t i;

	for (i = 0; i < sizeof(callees) / sizeof(callees[0]); i++) {
		row = row_of_call(callees[i], &big);
		cr_expect_eq(row, BY_RBX, "%zu: %#x", i, row);
		cr_expect_eq(big, 0);
	}
	row = row_of_call(PUSH_RBX "call 2b\\n" POP_RBX, &big);
	cr_expect_eq(row, PUSHED, "%#x", row);
}

/* States from a call before an exception's handler on are cut. */
Test(base_register, rows_are_in_order_in_a_function_that_returns_to_a_handler)
{
	struct built b;

	build(BASED "nop\\ncall 2f\\nnop\\ncall 2f\\npop %%rcx\\n.cfi_def_cfa 7, 0\\n"
		    ".cfi_register 16, 2\\njmp *%%rcx\\n.cfi_def_cfa 3, 24\\n.cfi_offset 16, -8\\n"
		    "call 2f\\nnop\\n.cfi_endproc\\n" CALLEE PUSH_RBX "nop\\nret\\n.cfi_endproc\\n",
	      &b);
	unwind_table_free(&b.table);
}

#endif
