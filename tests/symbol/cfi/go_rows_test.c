// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of Go's functions, from a library with a table of functions and with the instructions that the runtime
 * of Go 1.19 (without frame pointers) and of Go 1.24 have where they change stacks.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/budget.h"
#include "symbol/cfi/cfitable.h"
#include "tests/support/unwind_find.h"
#include "tests/symbol/support.h"
#include "unwind/table.h"

#if defined(__x86_64__)

/* name, flags, first depth's range and the further ones: depth (zigzag), end */
static const char code[] =
	".macro func name, text, flag, pcsp:vararg\n"
	" .pushsection .gopclntab.names, \"a\"\n name_\\name: .asciz \"\\text\"\n .popsection\n"
	" .pushsection .gopclntab.pcs, \"a\"\n pcs_\\name: .byte \\pcsp, 0\n .popsection\n"
	" .pushsection .gopclntab.tab, \"a\"\n .long \\name - text, func_\\name - tab\n .popsection\n"
	" .pushsection .gopclntab.funcs, \"a\"\n func_\\name: .long \\name - text, name_\\name - names, 0, 0\n"
	" .long pcs_\\name - pcs, 0, 0, 0, 0, 0\n .byte 0, \\flag, 0, 0\n .popsection\n"
	" \\name:\n"
	".endm\n"
	".pushsection .gopclntab.names, \"a\"\n names:\n .popsection\n"
	".pushsection .gopclntab.pcs, \"a\"\n pcs: .byte 0\n .popsection\n"
	".pushsection .gopclntab.tab, \"a\"\n tab:\n .popsection\n"
	".text\n text: .skip 16, 0xcc\n"
	"func goexit, runtime.goexit, 1, 2, 7\n nop; call goexit1; nop\n"
	"func goexit1, runtime.goexit1, 0, 2, 1\n ret\n"
	"func push, main.push, 0, 2, 1, 16, push1-push-1, 48, push2-push1, 47, push3-push2, 15, 1\n"
	" push %rbp; mov %rsp, %rbp; sub $0x18, %rsp\n push1: nop; add $0x18, %rsp\n push2: pop %rbp\n push3: ret\n"
	"func store, main.store, 0, 2, 4, 80, store1-store-4, 79, 1\n"
	" sub $0x28, %rsp; mov %rbp, 0x20(%rsp); lea 0x20(%rsp), %rbp; nop\n"
	" mov 0x20(%rsp), %rbp; add $0x28, %rsp\n store1: ret\n"
	"func framed, runtime.nanotime1, 2, 2, 1, 16, framed1-framed-1, 15, 1\n"
	" push %rbp; mov %rsp, %rbp; mov 0x38(%rdx), %rsp; call *%rax; mov %rbp, %rsp; pop %rbp\n framed1: ret\n"
	"func systemstack, runtime.systemstack, 2, 2, systemstack1-systemstack\n"
	" mov %fs:-8, %rax; mov 0x30(%rax), %rbx; cmp 0xc0(%rbx), %rax\n"
	" mov 0x38(%rdx), %rbx; mov %rbx, %rsp; mov %rdi, %rdx; mov (%rdi), %rdi; call *%rdi\n after: nop\n"
	" mov 0x30(%rax), %rbx; mov 0xc0(%rbx), %rax; mov 0x38(%rax), %rsp\n back: ret\n systemstack1:\n"
	"func morestack, runtime.morestack, 2, 2, morestack1-morestack\n"
	" mov %rbp, 0x68(%rsi); mov 0x38(%rbx), %rsp; call goexit1\n more: ret\n morestack1:\n"
	"func asmcgocall, runtime.asmcgocall, 2, 2, asmcgocall1-asmcgocall\n"
	" mov %rsp, %rdx; mov 0x38(%rsi), %rsp; sub $64, %rsp; and $-16, %rsp; mov %rdi, 48(%rsp)\n"
	" mov 8(%rdi), %rdi; sub %rdx, %rdi; mov %rdi, 40(%rsp); call *%rax\n in_c: nop; mov %rsi, %rsp; ret\n"
	" nosave: sub $64, %rsp; and $-16, %rsp; movq $0, 48(%rsp); mov %rdx, 40(%rsp); call *%rax\n in_g0: nop\n"
	" mov 40(%rsp), %rsi; mov %rsi, %rsp; ret\n asmcgocall1:\n"
	"func split, main.split, 2, 2, 1, 16, split1-split-1, 48, split2-split1, 1\n"
	" push %rbp; mov %rsp, %rbp; lea 8(%rsp), %rbp; nop; .byte 0x48, 0x8b, 0x6c, 0x24\n"
	" split1: .byte 8; nop; nop\n split2: ret\n"
	"func mcall, runtime.mcall, 2, 2, 2\n call *%rax\n"
	"func other, runtime.other, 2, 2, 8\n nop; mov %rdx, %rsp; call *%rax; nop; ret\n end:\n"
	".section .gopclntab, \"aw\"\n head: .long 0xfffffff1\n .byte 0, 0, 1, 8\n .quad 11, 0, text, names - head, 0, 0\n"
	" .quad pcs - head, tab - head\n"
	".section .gopclntab.tab, \"a\"\n .long end - text\n";

/* Merges the parts into one section, as one table. */
static const char script[] =
	"SECTIONS { . = 0x1000; .text : { *(.text) } . = ALIGN(4096); .gopclntab : { *(.gopclntab) *(.gopclntab.names)"
	" *(.gopclntab.pcs) . = ALIGN(4); *(.gopclntab.tab) *(.gopclntab.funcs) } }";

static struct unwind_table table;
static struct elfimg img;

static void put_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch(), name);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs(text, f);
	cr_assert_eq(fclose(f), 0);
}

static void build(void)
{
	struct cfitable c;
	char path[256];

	put_file("go.s", code);
	put_file("go.lds", script);
	shell("cd %s && gcc -c -o go.o go.s && ld -shared -T go.lds -o go.so go.o", scratch());
	snprintf(path, sizeof(path), "%s/go.so", scratch());
	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	budget_enter(unbounded());
	cfitable_init(&c, &img, unbounded());
	cr_assert_eq(cfitable_build(&c, &table), 0);
	cfitable_fini(&c);
	cr_expect(unwind_table_check(&table));
}

static void destroy(void)
{
	unwind_table_free(&table);
	elfimg_close(&img);
}

/* The row at a label of the library, plus a number of bytes; its pc is dropped. */
static uint32_t row_at(const char *label, int64_t plus)
{
	char command[512], line[64] = "";
	uint64_t off = 0;
	uint32_t row = UINT32_MAX;
	FILE *f;

	snprintf(command, sizeof(command), "nm %s/go.so | awk '$3 == \"%s\" { print $1 }'",
		 scratch(), label);
	f = popen(command, "r");
	cr_assert_not_null(f);
	cr_assert_not_null(fgets(line, sizeof(line), f), "%s", label);
	pclose(f);
	cr_assert(elfimg_off(&img, strtoull(line, NULL, 16) + plus, &off));
	cr_assert(unwind_find(&table, off, &row));
	return row & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1);
}

static uint32_t row(uint32_t kind, uint32_t off, uint32_t low)
{
	return kind << PROF_UNWIND_ROW_KIND_SHIFT | off << PROF_UNWIND_ROW_OFF_SHIFT | low;
}

static uint32_t big_of(uint32_t r, uint32_t first)
{
	return table.words[table.page_cnt + unwind_row_off(r) - first];
}

TestSuite(go_rows, .init = build, .fini = destroy);

#define SP_ROW(n, fp) row(PROF_UNWIND_SP, (n) / 8, fp)
#define SPECIAL_ROW(what) row(PROF_UNWIND_SPECIAL, what, 0)

Test(go_rows, depths_and_frame_pointers_come_from_the_function_table)
{
	cr_expect_eq(row_at("push", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("push", 1), SP_ROW(16, 2));
	cr_expect_eq(row_at("push1", 0), SP_ROW(40, 2));
	cr_expect_eq(row_at("push2", 0), SP_ROW(16, 2));
	cr_expect_eq(row_at("push3", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("store", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("store", 4), SP_ROW(48, 0), "the frame pointer is not stored yet");
	cr_expect_eq(row_at("store", 9), SP_ROW(48, 2));
	cr_expect_eq(row_at("store1", 0), SP_ROW(8, 0));
}

Test(go_rows, roots_of_goroutines_and_threads_are_outermost)
{
	cr_expect_eq(row_at("goexit", 1), SPECIAL_ROW(PROF_UNWIND_END));
	cr_expect_eq(row_at("mcall", 1), SPECIAL_ROW(PROF_UNWIND_END));
}

Test(go_rows, frame_pointers_are_used_on_other_stacks)
{
	cr_expect_eq(row_at("framed", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("framed", 1), SP_ROW(16, 2));
	cr_expect_eq(row_at("framed", 4), row(PROF_UNWIND_FP, 2, PROF_UNWIND_ROW_ADD8 | 2));
	cr_expect_eq(row_at("framed1", -2), row(PROF_UNWIND_FP, 2, PROF_UNWIND_ROW_ADD8 | 2));
	cr_expect_eq(row_at("framed1", 0), SP_ROW(8, 0));
}

/* A table whose rows are not in order would be invalid, and its worker killed: see build(). */
Test(go_rows, range_that_ends_inside_an_instruction_keeps_the_rows_in_order)
{
	cr_expect_eq(row_at("split1", -1), row(PROF_UNWIND_FP, 2, PROF_UNWIND_ROW_ADD8 | 2));
	cr_expect_eq(row_at("split1", 0), row(PROF_UNWIND_FP, 2, PROF_UNWIND_ROW_ADD8 | 2));
}

Test(go_rows, goroutines_are_found_by_offsets_in_the_code)
{
	const uint32_t packed = 0x30 / 8 | 0xc0 / 8 << 8 | 0x38 / 8 << 16 | 0x68 / 8 << 24;
	uint32_t r = row_at("after", -1);

	cr_expect_eq(row_at("systemstack", 0), SP_ROW(8, 0));
	cr_expect_eq(unwind_row_kind(r), PROF_UNWIND_SPECIAL);
	cr_expect_eq(big_of(r, PROF_UNWIND_GO), packed, "%#x", big_of(r, PROF_UNWIND_GO));
	cr_expect_eq(row_at("back", -1), r);
	cr_expect_eq(row_at("back", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("more", -1), r | PROF_UNWIND_ROW_ADD8);
	r = row_at("in_c", -1);
	cr_expect_eq(big_of(r, PROF_UNWIND_GO_CALL), 48 / 8 | 40 / 8 << 8);
	cr_expect_eq(row_at("nosave", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("in_g0", -1), row(PROF_UNWIND_AT_SP, 5, PROF_UNWIND_ROW_ADD8));
}

/* Builds the table of a copy that does not have the address of its text. */
static int build_without_text(const char *name)
{
	struct unwind_table t = { 0 };
	struct elfimg file, copy;
	struct elfimg_sec sec;
	struct cfitable c;
	uint8_t *bytes;
	char path[256];
	int err;

	snprintf(path, sizeof(path), "%s/%s", scratch(), name);
	cr_assert_eq(elfimg_open(&file, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	cr_assert(elfimg_find(&file, ".gopclntab", &sec));
	bytes = malloc(file.size);
	memcpy(bytes, file.bytes, file.size);
	memset(bytes + sec.off + 24, 0, 8);
	cr_assert_eq(elfimg_open_mem(&copy, bytes, file.size, ELFIMG_HEAP), 0);
	cfitable_init(&c, &copy, unbounded());
	err = cfitable_build(&c, &t);
	cfitable_fini(&c);
	unwind_table_free(&t);
	elfimg_close(&copy);
	elfimg_close(&file);
	return err;
}

/* A search through all code of a large file would delay the tables of other files. */
Test(go_rows, text_is_searched_at_the_start_of_the_code)
{
	shell("cd %s && sed 's/[*](.text)/. += 33M; &/' go.lds >far.lds && "
	      "ld -shared -T far.lds -o far.so go.o",
	      scratch());
	cr_expect_eq(build_without_text("go.so"), 0);
	cr_expect_eq(build_without_text("far.so"), -ENODATA);
}

/* Any bytes make a valid table, or none. */
Test(go_rows, damaged_function_table_is_safe)
{
	struct elfimg_sec sec;
	struct unwind_table t;
	struct elfimg copy;
	struct cfitable c;
	uint8_t *bytes;
	unsigned int i;

	cr_assert(elfimg_find(&img, ".gopclntab", &sec));
	srandom(1);
	for (i = 0; i < 3000; i++) {
		bytes = malloc(img.size);
		memcpy(bytes, img.bytes, img.size);
		bytes[sec.off + 4 + random() % (sec.size - 4)] = random();
		bytes[sec.off + 4 + random() % (sec.size - 4)] = random() % 2 ? 0xff : random();
		cr_assert_eq(elfimg_open_mem(&copy, bytes, img.size, ELFIMG_HEAP), 0);
		cfitable_init(&c, &copy, unbounded());
		if (!cfitable_build(&c, &t)) {
			cr_expect(unwind_table_check(&t));
			unwind_table_free(&t);
		}
		cfitable_fini(&c);
		elfimg_close(&copy);
	}
}

Test(go_rows, other_changes_of_the_stack_pointer_are_unsupported)
{
	cr_expect_eq(row_at("other", 0), SP_ROW(8, 0));
	cr_expect_eq(row_at("other", 4), SPECIAL_ROW(PROF_UNWIND_UNSUPPORTED));
	cr_expect_eq(row_at("asmcgocall", 7), SPECIAL_ROW(PROF_UNWIND_UNSUPPORTED));
}

#endif
