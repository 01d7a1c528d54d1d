// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of procedure linkage tables without call frame information. The linker writes that information unless it is
 * asked not to; both files must have the same rows.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>

#include "symbol/cfi/cfirow.h"
#include "symbol/cfi/cfitable.h"
#include "tests/support/unwind_find.h"
#include "tests/symbol/support.h"
#include "unwind/table.h"

#if defined(__x86_64__)

struct linked {
	struct elfimg img;
	struct unwind_table table;
};

static void open_file(const char *path, struct linked *l)
{
	struct cfitable c;

	cr_assert_eq(elfimg_open(&l->img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	budget_enter(unbounded());
	cfitable_init(&c, &l->img, unbounded());
	cr_assert_eq(cfitable_build(&c, &l->table), 0);
	cfitable_fini(&c);
	cr_assert(unwind_table_check(&l->table));
}

static void link_file(const char *options, const char *name, struct linked *l)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.so", scratch(), name);
	shell("printf 'void *taken; extern void f(void), g(void), h(void);"
	      "int call(void) { taken = h; f(); g(); h(); return 1; }' | "
	      "gcc -shared -fPIC -O2 -fno-inline %s -x c -o %s -",
	      options, path);
	open_file(path, l);
}

static void free_file(struct linked *l)
{
	unwind_table_free(&l->table);
	elfimg_close(&l->img);
}

static uint32_t row_at(const struct linked *l, uint64_t off)
{
	uint32_t row = 0;

	cr_assert(unwind_find(&l->table, off, &row), "%#jx", (uintmax_t)off);
	return row & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1);
}

/* Returns the number of bytes of the section. */
static uint64_t compare(const struct linked *with, const struct linked *without,
			const char *section)
{
	struct elfimg_sec a, b;

	if (!elfimg_find(&with->img, section, &a))
		return 0;
	cr_assert(elfimg_find(&without->img, section, &b));
	cr_assert_eq(a.size, b.size);
	for (uint64_t i = 0; i < a.size; i++)
		cr_expect_eq(row_at(without, b.off + i), row_at(with, a.off + i), "%s+%#jx",
			     section, (uintmax_t)i);
	return a.size;
}

static uint64_t compare_linked(const char *options, const char *section)
{
	struct linked with, without;
	char more[256];
	uint64_t size;

	link_file(options, "with", &with);
	snprintf(more, sizeof(more), "%s -Wl,--no-ld-generated-unwind-info", options);
	link_file(more, "without", &without);
	size = compare(&with, &without, section);
	free_file(&with);
	free_file(&without);
	return size;
}

Test(cfi_patterns, lazy_stubs_have_the_rows_that_the_linker_describes)
{
	cr_expect_geq(compare_linked("-Wl,-z,lazy", ".plt"), 3 * 16);
}

Test(cfi_patterns, stubs_that_only_jump_have_the_rows_that_the_linker_describes)
{
	cr_expect_geq(compare_linked("-fno-plt -Wl,-z,lazy", ".plt.got") +
			      compare_linked("-Wl,-z,lazy", ".plt.got"),
		      8);
	cr_expect_geq(compare_linked("-fcf-protection -Wl,-z,ibtplt", ".plt.sec"), 2 * 16);
}

/* Entries with another layout are not guessed: the call frame information of these pushes elsewhere. */
Test(cfi_patterns, stubs_with_another_layout_have_no_rows)
{
	const uint32_t none = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT |
			      PROF_UNWIND_NONE << PROF_UNWIND_ROW_OFF_SHIFT;
	struct elfimg_sec plt;
	struct linked l;

	link_file("-fcf-protection -Wl,-z,ibtplt -Wl,--no-ld-generated-unwind-info", "ibt", &l);
	cr_assert(elfimg_find(&l.img, ".plt", &plt));
	cr_expect_eq(row_at(&l, plt.off + 16), none);
	free_file(&l);
}

/* Puts the rows before and at the function that ends a library of two functions into rows[]. */
static void link_start_context(const char *before, const char *code, uint32_t rows[2])
{
	struct elfimg_sec text;
	struct linked l;
	char path[256];

	snprintf(path, sizeof(path), "%s/context.so", scratch());
	shell("printf '.cfi_startproc\\n push %%%%rbx\\n .cfi_def_cfa_offset 16\\n ret\\n %s\\n"
	      ".cfi_endproc\\n .balign 16\\n .cfi_startproc\\n %s\\n .cfi_endproc\\n' | "
	      "gcc -shared -nostdlib -x assembler -o %s -",
	      before, code, path);
	open_file(path, &l);
	cr_assert(elfimg_find(&l.img, ".text", &text));
	rows[0] = row_at(&l, text.off + 15);
	rows[1] = row_at(&l, text.off + 16);
	free_file(&l);
}

#define START_CONTEXT "mov %%rbx, %%rsp; mov (%%rsp), %%rdi; test %%rdi, %%rdi; je 1f; 1: hlt"

Test(cfi_patterns, stack_of_a_context_ends_at_the_padding_before_its_start)
{
	const uint32_t end = cfirow_special(PROF_UNWIND_END);
	uint32_t rows[2];

	link_start_context("", START_CONTEXT, rows);
	cr_expect_eq(rows[0], cfirow_special(PROF_UNWIND_NO_FRAME));
	cr_expect_eq(rows[1], end);
	link_start_context("", "endbr64; " START_CONTEXT, rows);
	cr_expect_eq(rows[0], cfirow_special(PROF_UNWIND_NO_FRAME));
	cr_expect_eq(rows[1], end);
}

Test(cfi_patterns, code_before_the_start_of_a_context_keeps_its_rows)
{
	uint32_t rows[2];

	/* without padding */
	link_start_context(".skip 14", START_CONTEXT, rows);
	cr_expect_eq(rows[0], cfirow_sp(16));
	cr_expect_eq(rows[1], cfirow_special(PROF_UNWIND_END));
	/* another function */
	link_start_context("", "nop; " START_CONTEXT, rows);
	cr_expect_eq(rows[0], cfirow_sp(16));
	cr_expect_eq(rows[1], cfirow_sp(8));
	link_start_context("", "mov %%rbx, %%rsp", rows);
	cr_expect_eq(rows[1], cfirow_sp(8));
}

#endif
