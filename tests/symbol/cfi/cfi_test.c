// SPDX-License-Identifier: BSD-2-Clause
/* The result of call frame information that was written by hand, rule by rule. */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "symbol/budget.h"
#include "symbol/cfi/cfitable.h"
#include "tests/symbol/forge.h"
#include "tests/support/unwind_find.h"
#include "unwind/table.h"

#define CODE_SZ 0x3000
#define F FORGE_CODE /* where functions start here */

/* A section under construction, and where the length of its last entry is. */
struct frames {
	struct buf out;
	size_t at;
	size_t cie;
	bool debug;
};

static void begin(struct frames *f)
{
	f->at = f->out.len;
	forge_num(&f->out, 0, 4);
}

static void end(struct frames *f)
{
	uint32_t len = f->out.len - f->at - 4;

	memcpy(f->out.data + f->at, &len, 4);
}

static void bytes(struct frames *f, const void *p, size_t n)
{
	buf_add(&f->out, p, n);
}

/* Bytes of a program, and the end of its entry. */
#define PROGRAM(f, ...)                                                                            \
	do {                                                                                       \
		const uint8_t program_[] = { __VA_ARGS__ };                                        \
		bytes(f, program_, sizeof(program_));                                              \
		end(f);                                                                            \
	} while (0)

/* The head of a CIE as compilers write it, with absolute addresses; its program follows. */
static void cie_head(struct frames *f, const char *letters)
{
	begin(f);
	f->cie = f->at;
	forge_num(&f->out, f->debug ? UINT32_MAX : 0, 4);
	forge_num(&f->out, 1, 1);
	bytes(f, letters, strlen(letters) + 1);
	forge_num(&f->out, 1, 1); /* code alignment */
	forge_num(&f->out, 0x78, 1); /* data alignment: -8 */
	forge_num(&f->out, 16, 1);
	if (*letters)
		bytes(f, "\1", 2); /* one byte of it: addresses are absolute */
}

static void cie(struct frames *f, const char *letters)
{
	cie_head(f, letters);
	PROGRAM(f, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
}

/* The head of an FDE; its program follows. */
static void fde_head(struct frames *f, uint64_t start, uint64_t size)
{
	begin(f);
	forge_num(&f->out, f->debug ? f->cie : f->out.len - f->cie, 4);
	forge_num(&f->out, start, 8);
	forge_num(&f->out, size, 8);
	if (!f->debug)
		forge_num(&f->out, 0, 1);
}

struct built {
	struct elfimg img;
	struct unwind_table table;
	int err;
};

static void build_forged(struct forge *elf, struct built *b)
{
	struct budget_max max = { .cpu_ns = UINT64_MAX, .mem = 64 << 20, .entries = 100000 };
	struct budget budget;
	struct cfitable c;
	size_t size;
	void *file = forge_finish(elf, &size);

	*b = (struct built){ 0 };
	cr_assert_eq(elfimg_open_mem(&b->img, file, size, ELFIMG_HEAP), 0);
	budget_init(&budget, &max);
	budget_enter(&budget);
	cfitable_init(&c, &b->img, &budget);
	b->err = cfitable_build(&c, &b->table);
	cfitable_fini(&c);
	cr_expect_eq(budget.mem, 0, "what was taken from the budget is given back");
	if (!b->err)
		cr_assert(unwind_table_check(&b->table));
}

/* A file with the frames in a section of that name, and with code where it starts. Frees them. */
static void build_started(struct frames *f, const char *section, uint64_t entry, const char *code,
			  struct built *b)
{
	const size_t headers = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	struct forge elf;
	struct buf *pad;

	forge_init(&elf);
	elf.code_sz = CODE_SZ;
	elf.entry = entry;
	pad = forge_section(&elf, ".pad");
	forge_zeros(pad, CODE_SZ + FORGE_CODE);
	if (entry)
		memcpy(pad->data + entry - headers, code, strlen(code));
	*forge_section(&elf, section) = f->out;
	build_forged(&elf, b);
}

static void build(struct frames *f, const char *section, uint64_t entry, struct built *b)
{
	build_started(f, section, entry, "\x31\xed", b);
}

static void build_sound(struct frames *f, uint64_t entry, struct built *b)
{
	build(f, ".eh_frame", entry, b);
	cr_assert_eq(b->err, 0);
}

static void drop(struct built *b)
{
	unwind_table_free(&b->table);
	elfimg_close(&b->img);
}

static void expect_error(struct frames *f, const char *section, int err, const char *why)
{
	struct built b;

	build(f, section, F, &b);
	cr_expect_eq(b.err, err, "%s", why);
	drop(&b);
}

static uint32_t row_at(const struct built *b, uint64_t off)
{
	uint32_t row = UINT32_MAX;

	cr_expect(unwind_find(&b->table, off, &row), "offset %#lx", off);
	return row & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1);
}

static uint32_t row(uint32_t kind, int off, uint32_t low)
{
	return kind << PROF_UNWIND_ROW_KIND_SHIFT |
	       (off & PROF_UNWIND_ROW_OFF_MASK) << PROF_UNWIND_ROW_OFF_SHIFT | low;
}

static uint32_t special(uint32_t what)
{
	return row(PROF_UNWIND_SPECIAL, what, 0);
}

/* The row that a program leads to from the usual beginning. */
static uint32_t row_of(const char *letters, const uint8_t *program, size_t sz, struct built *b)
{
	struct frames f = { 0 };

	cie(&f, letters);
	fde_head(&f, F, 0x100);
	bytes(&f, program, sz);
	end(&f);
	build_sound(&f, 0, b);
	return row_at(b, F);
}

#define expect_row_in(letters, wanted, ...)                                                        \
	do {                                                                                       \
		const uint8_t program_[] = { __VA_ARGS__ };                                        \
		struct built b_;                                                                   \
		cr_expect_eq(row_of(letters, program_, sizeof(program_), &b_), wanted, "%s",       \
			     #__VA_ARGS__);                                                        \
		drop(&b_);                                                                         \
	} while (0)
#define expect_row(wanted, ...) expect_row_in("zR", wanted, __VA_ARGS__)

Test(cfi, finds_the_frame_of_the_caller)
{
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_nop);
	expect_row(row(PROF_UNWIND_SP, 2, 0), DW_CFA_def_cfa_offset, 16);
	expect_row(row(PROF_UNWIND_SP, 4095, 0), DW_CFA_def_cfa_offset, 0xf8, 0xff, 0x01);
	expect_row(row(PROF_UNWIND_SP, 3, 0), DW_CFA_def_cfa_offset_sf, 0x7d);
	expect_row(row(PROF_UNWIND_FP, 1, 0), DW_CFA_def_cfa_register, 6);
	expect_row(row(PROF_UNWIND_FP, 2, 2), DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
	expect_row(row(PROF_UNWIND_REG, 10 << 8, 0), DW_CFA_def_cfa, 10, 0);
	expect_row(row(PROF_UNWIND_REG, 3 << 8 | 255, 0), DW_CFA_def_cfa, 3, 0xf8, 0x0f);
	expect_row(row(PROF_UNWIND_SP, 2, 0), DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 16);
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_GNU_args_size, 16);
	/* rules that no row can represent */
	expect_row(special(PROF_UNWIND_UNSUPPORTED), DW_CFA_def_cfa, 3, 0x80, 0x10);
	expect_row(special(PROF_UNWIND_UNSUPPORTED), DW_CFA_def_cfa, 17, 8);
	expect_row(special(PROF_UNWIND_UNSUPPORTED), DW_CFA_def_cfa_sf, 7, 1);
}

Test(cfi, reads_expressions)
{
	const uint32_t unsupported = special(PROF_UNWIND_UNSUPPORTED);

	expect_row(row(PROF_UNWIND_AT_SP, 1, 0), DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8,
		   DW_OP_deref);
	expect_row(row(PROF_UNWIND_AT_SP, -1, PROF_UNWIND_ROW_ADD8), DW_CFA_def_cfa_expression, 5,
		   DW_OP_breg7, 0x78, DW_OP_deref, DW_OP_plus_uconst, 8);
	expect_row(row(PROF_UNWIND_AT_FP, -5, PROF_UNWIND_FP_AT_FP), DW_CFA_def_cfa_expression, 3,
		   DW_OP_breg6, 0x58, DW_OP_deref, DW_CFA_expression, 6, 2, DW_OP_breg6, 0);
	expect_row(row(PROF_UNWIND_AT_FP, 1, PROF_UNWIND_ROW_ADD8), DW_CFA_def_cfa_expression, 5,
		   DW_OP_breg6, 8, DW_OP_deref, DW_OP_lit8, DW_OP_plus);
	expect_row(row(PROF_UNWIND_AT_FP, -2048, 0), DW_CFA_def_cfa_expression, 5, DW_OP_breg6,
		   0x80, 0x80, 0x7f, DW_OP_deref);
	expect_row(special(PROF_UNWIND_PLT11), DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8,
		   DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
		   DW_OP_shl, DW_OP_plus);
	expect_row(special(PROF_UNWIND_PLT10), DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8,
		   DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit10, DW_OP_ge, DW_OP_lit3,
		   DW_OP_shl, DW_OP_plus);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
		   DW_OP_lit15, DW_OP_and, DW_OP_lit9, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref,
		   DW_OP_plus_uconst, 64);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 3, DW_OP_breg10, 8, DW_OP_deref);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 4, DW_OP_deref);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0xf8, 0xff, 0x7e,
		   DW_OP_deref);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 8, DW_OP_deref,
		   DW_OP_deref);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 0);
	/* an offset alone cannot go with one */
	expect_row(unsupported, DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_deref,
		   DW_CFA_def_cfa_offset, 16);
}

Test(cfi, finds_the_saved_frame_pointer)
{
	const uint32_t unsupported = PROF_UNWIND_FP_UNSUPPORTED;

	expect_row(row(PROF_UNWIND_SP, 1, 2), DW_CFA_offset | 6, 2);
	expect_row(row(PROF_UNWIND_SP, 1, 60), DW_CFA_offset_extended, 6, 60);
	expect_row(row(PROF_UNWIND_SP, 1, unsupported), DW_CFA_offset | 6, 61);
	expect_row(row(PROF_UNWIND_SP, 1, 2), DW_CFA_offset_extended_sf, 6, 2);
	expect_row(row(PROF_UNWIND_SP, 1, 2), DW_CFA_GNU_negative_offset_extended, 6, 0x7e,
		   DW_CFA_offset | 6, 2);
	expect_row(row(PROF_UNWIND_SP, 1, unsupported), DW_CFA_offset_extended_sf, 6, 0x7e);
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_offset | 6, 2, DW_CFA_restore | 6);
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_offset | 6, 2, DW_CFA_restore_extended, 6);
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_offset | 6, 2, DW_CFA_same_value, 6);
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_offset | 3, 2);
	expect_row(row(PROF_UNWIND_SP, 1, PROF_UNWIND_FP_UNDEFINED), DW_CFA_undefined, 6);
	expect_row(row(PROF_UNWIND_SP, 1, unsupported), DW_CFA_register, 6, 9);
	expect_row(row(PROF_UNWIND_SP, 1, unsupported), DW_CFA_val_offset, 6, 2);
	expect_row(row(PROF_UNWIND_SP, 1, unsupported), DW_CFA_val_expression, 6, 2, DW_OP_breg6,
		   0);
	expect_row(row(PROF_UNWIND_SP, 1, unsupported), DW_CFA_expression, 6, 2, DW_OP_breg7, 0);
}

Test(cfi, finds_the_return_address)
{
	const uint32_t unsupported = special(PROF_UNWIND_UNSUPPORTED);

	expect_row(special(PROF_UNWIND_END), DW_CFA_undefined, 16);
	expect_row(special(PROF_UNWIND_RA_RDI), DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 5);
	expect_row(special(PROF_UNWIND_RA_RDX), DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 1);
	expect_row(special(PROF_UNWIND_RA_RDI) | 2, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16,
		   5, DW_CFA_offset | 6, 2);
	expect_row(unsupported, DW_CFA_def_cfa_offset, 8, DW_CFA_register, 16, 5);
	expect_row(unsupported, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 2);
	/* longjmp: the stack pointer is in a register too */
	expect_row(unsupported, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 7, 8, DW_CFA_register,
		   16, 1);
	expect_row(unsupported, DW_CFA_offset | 16, 2);
	expect_row(unsupported, DW_CFA_same_value, 16);
	expect_row(unsupported, DW_CFA_offset | 7, 3);
	expect_row(row(PROF_UNWIND_SP, 1, 0), DW_CFA_val_offset, 7, 0);
	expect_row(unsupported, DW_CFA_val_offset, 7, 1);
}

Test(cfi, recognizes_signal_frames)
{
	expect_row_in("zRS", special(PROF_UNWIND_SIGNAL), DW_CFA_def_cfa_expression, 4, DW_OP_breg7,
		      0xa0, 0x01, DW_OP_deref, DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 0x01);
	expect_row_in("zRS", special(PROF_UNWIND_UNSUPPORTED), DW_CFA_def_cfa_expression, 4,
		      DW_OP_breg7, 0x98, 0x01, DW_OP_deref);
	expect_row_in("zRS", special(PROF_UNWIND_UNSUPPORTED), DW_CFA_nop);
	/* the same outside a signal frame is an ordinary rule */
	expect_row(row(PROF_UNWIND_AT_SP, 20, 0), DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0,
		   0x01, DW_OP_deref);
}

Test(cfi, keeps_offsets_that_no_row_holds)
{
	struct frames f = { 0 };
	struct built b;

	cie(&f, "zR");
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x02, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 0x81, 0x80, 0x02, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 0x80,
		0x80, 0x02);
	build_sound(&f, 0, &b);
	cr_expect_eq(row_at(&b, F), special(PROF_UNWIND_BIG));
	cr_expect_eq(row_at(&b, F + 1), special(PROF_UNWIND_BIG + 1), "one that is no multiple");
	cr_expect_eq(row_at(&b, F + 2), special(PROF_UNWIND_BIG + 1) | PROF_UNWIND_ROW_ADD8);
	cr_expect_eq(row_at(&b, F + 3), special(PROF_UNWIND_BIG) | PROF_UNWIND_ROW_ADD8);
	cr_assert_eq(b.table.big_cnt, 2);
	cr_expect_eq(b.table.words[b.table.page_cnt], 0x8000);
	cr_expect_eq(b.table.words[b.table.page_cnt + 1], 0x8001);
	drop(&b);
}

Test(cfi, limits_the_offsets_that_no_row_holds)
{
	struct frames f = { 0 };
	struct built b;
	int i;

	cie(&f, "zR");
	fde_head(&f, F, CODE_SZ);
	for (i = 0; i < PROF_UNWIND_BIGS_MAX + 1; i++) {
		forge_num(&f.out, DW_CFA_def_cfa_offset, 1);
		forge_uleb(&f.out, 0x10000 + 8 * i);
		forge_num(&f.out, DW_CFA_advance_loc | 4, 1);
	}
	end(&f);
	build_sound(&f, 0, &b);
	cr_expect_eq(b.table.big_cnt, PROF_UNWIND_BIGS_MAX);
	cr_expect_eq(row_at(&b, F + 4 * 255), special(PROF_UNWIND_BIG + 255));
	cr_expect_eq(row_at(&b, F + 4 * 256), special(PROF_UNWIND_UNSUPPORTED));
	drop(&b);
}

Test(cfi, follows_the_rows_of_a_function)
{
	struct frames f = { 0 };
	struct built b;

	cie(&f, "zR");
	fde_head(&f, F, 0x800);
	PROGRAM(&f, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_remember_state,
		DW_CFA_advance_loc1, 0xfe, DW_CFA_def_cfa_offset, 24, DW_CFA_remember_state,
		DW_CFA_advance_loc2, 0x00, 0x01, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc4,
		0x01, 0x00, 0x00, 0x00, DW_CFA_restore_state, DW_CFA_set_loc, 0x02, 0x14, 0, 0, 0,
		0, 0, 0, DW_CFA_restore_state);
	build_sound(&f, 0, &b);
	cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, F + 1), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0xfe), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0xff), row(PROF_UNWIND_SP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x1fe), row(PROF_UNWIND_SP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x1ff), row(PROF_UNWIND_FP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x200), row(PROF_UNWIND_SP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x401), row(PROF_UNWIND_SP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x402), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0x7ff), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0x800), special(PROF_UNWIND_NONE));
	drop(&b);
}

Test(cfi, ignores_the_rest_of_a_malformed_function)
{
	static const uint8_t broken[][12] = {
		{ DW_CFA_restore_state },
		{ 0x3f },
		{ DW_CFA_set_loc, 0x07, 0x10, 0, 0, 0, 0, 0, 0 },
		{ DW_CFA_def_cfa_offset, 0x80 },
		{ DW_CFA_def_cfa_expression, 0x20 },
	};
	static const size_t sizes[] = { 1, 1, 9, 2, 2 };
	struct built b;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct frames f = { 0 };

		cie(&f, "zR");
		fde_head(&f, F, 0x100);
		forge_num(&f.out, DW_CFA_advance_loc | 8, 1);
		bytes(&f, broken[i], sizes[i]);
		end(&f);
		fde_head(&f, F + 0x100, 0x100);
		PROGRAM(&f, DW_CFA_nop);
		build(&f, ".eh_frame", 0, &b);
		cr_assert_eq(b.err, 0);
		cr_expect_eq(row_at(&b, F + 7), row(PROF_UNWIND_SP, 1, 0), "%zu", i);
		cr_expect_eq(row_at(&b, F + 8), special(PROF_UNWIND_UNSUPPORTED), "%zu", i);
		cr_expect_eq(row_at(&b, F + 0xff), special(PROF_UNWIND_UNSUPPORTED), "%zu", i);
		cr_expect_eq(row_at(&b, F + 0x100), row(PROF_UNWIND_SP, 1, 0), "%zu", i);
		drop(&b);
	}
}

Test(cfi, limits_remembered_states)
{
	uint8_t program[40];
	struct built b;

	memset(program, DW_CFA_remember_state, 17);
	cr_expect_eq(row_of("zR", program, 16, &b), row(PROF_UNWIND_SP, 1, 0));
	drop(&b);
	cr_expect_eq(row_of("zR", program, 17, &b), special(PROF_UNWIND_UNSUPPORTED));
	drop(&b);
}

Test(cfi, has_rows_only_for_padding_in_gaps)
{
	static const uint32_t sp =
		PROF_UNWIND_SP << PROF_UNWIND_ROW_KIND_SHIFT | 1 << PROF_UNWIND_ROW_OFF_SHIFT;
	struct frames f = { 0 };
	struct built b;

	/* out of order, and one outside all segments */
	cie(&f, "zR");
	fde_head(&f, F + 0x120, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	fde_head(&f, F + 0x138, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	fde_head(&f, 0, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	fde_head(&f, F + 0x20, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	fde_head(&f, F + 0x100, 0x11);
	PROGRAM(&f, DW_CFA_nop);
	fde_head(&f, F + 0x40, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	fde_head(&f, F + CODE_SZ - 8, 0x10000);
	PROGRAM(&f, DW_CFA_nop);
	build_sound(&f, 0, &b);
	cr_expect_eq(row_at(&b, F), special(PROF_UNWIND_NONE));
	cr_expect_eq(row_at(&b, F + 0x20), sp);
	cr_expect_eq(row_at(&b, F + 0x30), special(PROF_UNWIND_NONE));
	cr_expect_eq(row_at(&b, F + 0x3f), special(PROF_UNWIND_NONE), "16 are not");
	cr_expect_eq(row_at(&b, F + 0x40), sp);
	cr_expect_eq(row_at(&b, F + 0x111), sp, "15 bytes are padding");
	cr_expect_eq(row_at(&b, F + 0x12f), sp);
	cr_expect_eq(row_at(&b, F + 0x130), special(PROF_UNWIND_NONE),
		     "what follows is not aligned");
	cr_expect_eq(row_at(&b, F + 0x138), sp);
	cr_expect_eq(row_at(&b, F + 0x148), special(PROF_UNWIND_NONE));
	cr_expect_eq(row_at(&b, F + CODE_SZ - 9), special(PROF_UNWIND_NONE));
	cr_expect_eq(row_at(&b, F + CODE_SZ - 1), sp);
	cr_expect_eq(b.table.first_page, F >> PROF_UNWIND_PAGE_SHIFT);
	cr_expect_eq(b.table.page_cnt, CODE_SZ >> PROF_UNWIND_PAGE_SHIFT);
	drop(&b);
}

Test(cfi, uses_the_first_of_two_overlapping_functions)
{
	struct frames f = { 0 };
	struct built b;

	cie(&f, "zR");
	fde_head(&f, F + 0x100, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 16);
	fde_head(&f, F + 0x180, 0x101);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc1, 0x90, DW_CFA_def_cfa_offset,
		32);
	fde_head(&f, F + 0x110, 0x20);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 40);
	fde_head(&f, F + 0x270, 0x10);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 48);
	fde_head(&f, F + 0x290, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	build_sound(&f, 0, &b);
	cr_expect_eq(row_at(&b, F + 0x100), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0x110), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0x1ff), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, F + 0x200), row(PROF_UNWIND_SP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x20f), row(PROF_UNWIND_SP, 3, 0));
	cr_expect_eq(row_at(&b, F + 0x210), row(PROF_UNWIND_SP, 4, 0));
	cr_expect_eq(row_at(&b, F + 0x281), row(PROF_UNWIND_SP, 4, 0), "padding behind both");
	drop(&b);
}

Test(cfi, ends_stacks_at_the_entry_point)
{
	/* the entry point of a program as written by compilers, assemblers and ld.so, and of a library */
	static const char *const codes[] = { "\x31\xed", "\x48\x31\xed", "\xf3\x0f\x1e\xfa\x31\xed",
					     "\x48\x89\xe7", "\x48\x8d\x3d" };
	struct built b;
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		uint32_t wanted = special(i < 4 ? PROF_UNWIND_END : PROF_UNWIND_NONE);
		struct frames f = { 0 };

		cie(&f, "zR");
		fde_head(&f, F, 0x10);
		PROGRAM(&f, DW_CFA_nop);
		fde_head(&f, F + 0x100, 0x10);
		PROGRAM(&f, DW_CFA_nop);
		build_started(&f, ".eh_frame", F + 0x40, codes[i], &b);
		cr_assert_eq(b.err, 0);
		cr_expect_eq(row_at(&b, F + 0x3f), special(PROF_UNWIND_NONE), "code %zu", i);
		cr_expect_eq(row_at(&b, F + 0x40), wanted, "code %zu", i);
		cr_expect_eq(row_at(&b, F + 0xff), wanted, "code %zu", i);
		cr_expect_eq(row_at(&b, F + 0x100), row(PROF_UNWIND_SP, 1, 0), "code %zu", i);
		drop(&b);
	}
}

/* The stack pointer goes down after the fourth byte, and up before the last. */
Test(cfi, knows_the_code_of_linkers)
{
	static const char init[] = "\x48\x83\xec\x08\x90\x90\x48\x83\xc4\x08\xc3";
	static const char fini[] = "\xf3\x0f\x1e\xfa\x48\x83\xec\x08\x48\x83\xc4\x08\xc3";
	const uint64_t at = 0x1100;
	struct frames f = { 0 };
	struct forge elf;
	struct built b;
	size_t pad = at - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr);

	cie(&f, "zR");
	fde_head(&f, F, 0xf8);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 40);
	forge_init(&elf);
	elf.code_sz = CODE_SZ;
	forge_zeros(forge_section(&elf, ".pad"), pad);
	buf_add(forge_section(&elf, ".init"), init, sizeof(init) - 1);
	forge_last(&elf)->addr = at;
	buf_add(forge_section(&elf, ".fini"), fini, sizeof(fini) - 1);
	forge_last(&elf)->addr = at + sizeof(init) - 1;
	*forge_section(&elf, ".eh_frame") = f.out;
	forge_zeros(forge_section(&elf, ".more"), CODE_SZ);
	build_forged(&elf, &b);
	cr_assert_eq(b.err, 0);
	cr_expect_eq(row_at(&b, at - 1), special(PROF_UNWIND_NONE));
	cr_expect_eq(row_at(&b, at), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, at + 3), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, at + 4), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, at + 9), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, at + 10), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, at + 11 + 7), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, at + 11 + 8), row(PROF_UNWIND_SP, 2, 0));
	cr_expect_eq(row_at(&b, at + 11 + 12), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, at + 11 + 13), special(PROF_UNWIND_NONE));
	drop(&b);
}

Test(cfi, accepts_a_function_at_the_entry_point)
{
	struct frames f = { 0 };
	struct built b;

	cie(&f, "zR");
	fde_head(&f, F, 0x10);
	PROGRAM(&f, DW_CFA_nop);
	build_sound(&f, F, &b);
	cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 1, 0));
	drop(&b);
}

Test(cfi, reads_addresses_in_every_encoding)
{
	static const struct {
		uint8_t encoding;
		unsigned int sz;
	} forms[] = {
		{ DW_EH_PE_udata8, 8 },
		{ DW_EH_PE_sdata4, 4 },
		{ DW_EH_PE_udata2, 2 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata4, 4 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata8, 8 },
	};
	const uint64_t addr = 0x20000;
	struct forge elf;
	struct built b;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		bool relative = forms[i].encoding & DW_EH_PE_pcrel;
		struct frames f = { 0 };

		begin(&f);
		forge_num(&f.out, 0, 4);
		/* personality, language data and the encoding of addresses */
		bytes(&f, "\1zPLR\0\1\x78\x10\7\3person", 17);
		f.out.data[f.out.len - 1] = forms[i].encoding;
		f.out.data[f.out.len - 2] = DW_EH_PE_pcrel;
		PROGRAM(&f, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
		begin(&f);
		forge_num(&f.out, f.out.len, 4);
		forge_num(&f.out, relative ? F - addr - f.out.len : F, forms[i].sz);
		forge_num(&f.out, 0x100, forms[i].sz);
		bytes(&f, "\2xy", 3);
		PROGRAM(&f, DW_CFA_def_cfa_offset, 24);
		forge_init(&elf);
		elf.code_sz = CODE_SZ;
		forge_zeros(forge_section(&elf, ".pad"), CODE_SZ + FORGE_CODE);
		*forge_section(&elf, ".eh_frame") = f.out;
		forge_last(&elf)->addr = addr;
		build_forged(&elf, &b);
		cr_assert_eq(b.err, 0, "form %zu", i);
		cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 3, 0), "form %zu", i);
		cr_expect_eq(row_at(&b, F + 0x100), special(PROF_UNWIND_NONE), "form %zu", i);
		drop(&b);
	}
}

Test(cfi, skips_unknown_entries)
{
	struct frames f = { 0 };
	struct built b;

	cie(&f, "zX");
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 24);
	cie(&f, "eh");
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 32);
	forge_num(&f.out, 0, 4); /* the end of a part */
	f.cie += 4; /* no CIE starts there */
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 40);
	cie(&f, "zR");
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 48);
	forge_num(&f.out, 0x1000, 4); /* longer than the section */
	build_sound(&f, 0, &b);
	cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 6, 0));
	drop(&b);
}

Test(cfi, uses_debug_frame_if_eh_frame_is_missing)
{
	struct frames f = { .debug = true };
	struct forge elf;
	struct built b;
	struct buf packed = { 0 };
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1 };
	uLongf packed_sz;

	cie(&f, "");
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_def_cfa_offset, 24);
	head.ch_size = f.out.len;
	buf_add(&packed, &head, sizeof(head));
	packed_sz = compressBound(f.out.len);
	compress((Bytef *)buf_reserve(&packed, packed_sz), &packed_sz, (Bytef *)f.out.data,
		 f.out.len);
	packed.len += packed_sz;

	build(&f, ".debug_frame", 0, &b);
	cr_assert_eq(b.err, 0);
	cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 3, 0));
	drop(&b);

	forge_init(&elf);
	elf.code_sz = CODE_SZ;
	forge_zeros(forge_section(&elf, ".pad"), CODE_SZ + FORGE_CODE);
	*forge_section(&elf, ".debug_frame") = packed;
	forge_last(&elf)->flags = SHF_COMPRESSED;
	build_forged(&elf, &b);
	cr_assert_eq(b.err, 0);
	cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 3, 0));
	drop(&b);
}

/* Lengths of 64 bits, and with them, except in .eh_frame, references. */
Test(cfi, reads_the_long_form)
{
	static const uint8_t cie_body[] = {
		1, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1
	};
	struct built b;
	int debug;

	for (debug = 0; debug < 2; debug++) {
		unsigned int width = debug ? 8 : 4;
		struct frames f = { 0 };

		forge_num(&f.out, UINT32_MAX, 4);
		forge_num(&f.out, width + sizeof(cie_body), 8);
		forge_num(&f.out, debug ? UINT64_MAX : 0, width);
		bytes(&f, cie_body, sizeof(cie_body));
		forge_num(&f.out, UINT32_MAX, 4);
		forge_num(&f.out, width + 18, 8);
		forge_num(&f.out, debug ? 0 : f.out.len, width);
		forge_num(&f.out, F, 8);
		forge_num(&f.out, 0x100, 8);
		forge_num(&f.out, DW_CFA_def_cfa_offset, 1);
		forge_num(&f.out, 24, 1);
		build(&f, debug ? ".debug_frame" : ".eh_frame", 0, &b);
		cr_assert_eq(b.err, 0, "debug %d", debug);
		cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 3, 0), "debug %d", debug);
		drop(&b);
	}
}

Test(cfi, reports_missing_tables)
{
	struct frames f = { 0 };

	expect_error(&f, ".eh_frame", -ENODATA, "an empty section");
	f = (struct frames){ 0 };
	cie(&f, "zR");
	expect_error(&f, ".eh_frame", -ENODATA, "no function");
	f = (struct frames){ 0 };
	cie(&f, "zR");
	expect_error(&f, ".other", -ENODATA, "no section");
}

Test(cfi, stops_at_the_end_of_the_budget)
{
	struct frames f = { 0 };
	int i;

	cie(&f, "zR");
	for (i = 0; i < 100001; i++) {
		fde_head(&f, F + i % 0x1000, 1);
		PROGRAM(&f, DW_CFA_nop);
	}
	expect_error(&f, ".eh_frame", -EDQUOT, "");
}

Test(cfi, limits_a_section_of_empty_entries)
{
	struct frames f = { 0 };

	forge_zeros(&f.out, 4 * 100001);
	expect_error(&f, ".eh_frame", -EDQUOT, "");
}

Test(cfi, limits_the_program_of_a_function)
{
	struct frames f = { 0 };
	struct built b;
	size_t at;

	cie(&f, "zR");
	at = f.out.len;
	fde_head(&f, F, 0x100);
	forge_zeros(&f.out, at + 4 + 21 + CFI_PROGRAM_MAX - f.out.len);
	end(&f);
	at = f.out.len;
	fde_head(&f, F + 0x100, 0x100);
	forge_zeros(&f.out, at + 4 + 21 + CFI_PROGRAM_MAX + 1 - f.out.len);
	end(&f);
	build_sound(&f, 0, &b);
	cr_expect_eq(row_at(&b, F), row(PROF_UNWIND_SP, 1, 0));
	cr_expect_eq(row_at(&b, F + 0x100), special(PROF_UNWIND_NONE));
	drop(&b);
}

Test(cfi, ignores_segments_beyond_the_file)
{
	struct frames f = { 0 };
	struct forge elf;
	struct built b;

	cie(&f, "zR");
	fde_head(&f, F, 0x100);
	PROGRAM(&f, DW_CFA_nop);
	forge_init(&elf);
	elf.code_sz = 1ull << 40;
	forge_zeros(forge_section(&elf, ".pad"), CODE_SZ + FORGE_CODE);
	*forge_section(&elf, ".eh_frame") = f.out;
	build_forged(&elf, &b);
	cr_assert_eq(b.err, 0);
	cr_expect_leq(b.table.page_cnt, (b.img.size >> PROF_UNWIND_PAGE_SHIFT) + 1);
	drop(&b);
}
