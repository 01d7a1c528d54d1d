// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -ldw */
/*
 * Unwind tables of arm64's files: from rules written by hand, from code without rules, and from the cross
 * compiler's libraries, compared with libdw. D9_UNWIND_ARM64=DIR takes a folder of other libraries.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/budget.h"
#include "symbol/cfi/cfitable.h"
#include "tests/symbol/forge.h"
#include "tests/support/unwind_find.h"
#include "unwind/table.h"

#define LIBRARIES "/usr/aarch64-linux-gnu/lib"
#define CODE_SZ 0x3000
#define F FORGE_CODE
#define PLACES 2000 /* of a file */

enum { FP = 29, LR = 30, SP = 31, NEGATE_RA_STATE = 0x2d };

struct built {
	struct elfimg img;
	struct unwind_table table;
	int err;
};

static void build_table(struct built *b)
{
	struct budget_max max = { .cpu_ns = UINT64_MAX, .mem = 1 << 30, .entries = UINT64_MAX };
	struct budget budget;
	struct cfitable c;

	budget_init(&budget, &max);
	budget_enter(&budget);
	cfitable_init(&c, &b->img, &budget);
	c.machine = EM_AARCH64;
	b->err = cfitable_build(&c, &b->table);
	cfitable_fini(&c);
	if (!b->err)
		cr_assert(unwind_table_check(&b->table));
}

static void build_forged(struct forge *elf, struct built *b)
{
	size_t size;
	void *file;

	elf->machine = EM_AARCH64;
	file = forge_finish(elf, &size);
	*b = (struct built){ 0 };
	cr_assert_eq(elfimg_open_mem(&b->img, file, size, ELFIMG_HEAP), 0);
	build_table(b);
}

static void drop(struct built *b)
{
	unwind_table_free(&b->table);
	elfimg_close(&b->img);
}

static uint32_t row(uint32_t kind, uint32_t off, uint32_t low)
{
	return kind << PROF_UNWIND_ROW_KIND_SHIFT | off << PROF_UNWIND_ROW_OFF_SHIFT | low;
}

static uint32_t special(uint32_t what)
{
	return row(PROF_UNWIND_SPECIAL, what, 0);
}

static uint32_t row_at(const struct built *b, uint64_t off)
{
	uint32_t found = UINT32_MAX;

	cr_expect(unwind_find(&b->table, off, &found), "offset %#lx", off);
	return found & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1);
}

/* ---- rules by hand ------------------------------------------------------------------------------ */

/* A length that is not known yet: entry_end() fills it in. */
static size_t entry_begin(struct buf *out)
{
	forge_num(out, 0, 4);
	return out->len;
}

static void entry_end(struct buf *out, size_t from)
{
	uint32_t len = out->len - from;

	memcpy(out->data + from - 4, &len, sizeof(len));
}

/* A function of one rule, which `program` leads to from "the CFA is sp, all is in registers". */
static void frames_of(struct buf *out, const char *letters, const uint8_t *program, size_t sz)
{
	size_t at = entry_begin(out);

	forge_num(out, 0, 4);
	forge_num(out, 1, 1);
	buf_add(out, letters, strlen(letters) + 1);
	buf_add(out, "\4\x78\x1e\1\0",
		5); /* alignments 4 and -8, lr; one byte: absolute addresses */
	buf_add(out, (const uint8_t[]){ DW_CFA_def_cfa, SP, 0 }, 3);
	entry_end(out, at);
	at = entry_begin(out);
	forge_num(out, out->len, 4);
	forge_num(out, F, 8);
	forge_num(out, 0x100, 8);
	forge_num(out, 0, 1);
	buf_add(out, program, sz);
	entry_end(out, at);
}

static void build_frames(const char *letters, const uint8_t *program, size_t sz, struct built *b)
{
	struct forge elf;

	forge_init(&elf);
	elf.code_sz = CODE_SZ;
	forge_zeros(forge_section(&elf, ".pad"), CODE_SZ + F);
	frames_of(forge_section(&elf, ".eh_frame"), letters, program, sz);
	build_forged(&elf, b);
	cr_assert_eq(b->err, 0);
}

#define expect_row_in(letters, wanted, ...)                                                        \
	do {                                                                                       \
		const uint8_t program_[] = { __VA_ARGS__ };                                        \
		struct built b_;                                                                   \
		build_frames(letters, program_, sizeof(program_), &b_);                            \
		cr_expect_eq(row_at(&b_, F), wanted, "%s: %#x", #__VA_ARGS__, row_at(&b_, F));     \
		drop(&b_);                                                                         \
	} while (0)
#define expect_row(wanted, ...) expect_row_in("zR", wanted, __VA_ARGS__)
#define A64(kind, n, low) row(PROF_UNWIND_A64_##kind, (n) / 8, low)

Test(cfi_arm64, finds_a_saved_pair_of_registers)
{
	expect_row(A64(SP, 0, 0), DW_CFA_nop);
	expect_row(A64(SP, 32, PROF_UNWIND_A64_PAIR | 2), DW_CFA_def_cfa_offset, 32,
		   DW_CFA_offset | FP, 4, DW_CFA_offset | LR, 3);
	expect_row(A64(FP, 16, PROF_UNWIND_A64_PAIR | 1), DW_CFA_def_cfa, FP, 16,
		   DW_CFA_offset | FP, 2, DW_CFA_offset | LR, 1);
	expect_row(A64(SP, 512, PROF_UNWIND_A64_PAIR | 31), DW_CFA_def_cfa_offset, 0x80, 4,
		   DW_CFA_offset | FP, 62, DW_CFA_offset | LR, 61);
	/* too far below the CFA, or at an odd place, but near the base */
	expect_row(A64(SP, 1024, PROF_UNWIND_A64_PAIR_UP | 1), DW_CFA_def_cfa_offset, 0x80, 8,
		   DW_CFA_offset | FP, 126, DW_CFA_offset | LR, 125);
	expect_row(A64(FP, 24, PROF_UNWIND_A64_PAIR_UP), DW_CFA_def_cfa, FP, 24, DW_CFA_offset | FP,
		   3, DW_CFA_offset | LR, 2);
	expect_row(A64(SP, 64, PROF_UNWIND_A64_LR_FP | 2), DW_CFA_def_cfa_offset, 64,
		   DW_CFA_offset | FP, 6, DW_CFA_offset | LR, 4);
}

Test(cfi_arm64, finds_a_saved_return_address_alone)
{
	expect_row(A64(SP, 32, PROF_UNWIND_A64_LR | 4), DW_CFA_def_cfa_offset, 32,
		   DW_CFA_offset | LR, 4);
	expect_row(A64(SP, 1520, PROF_UNWIND_A64_LR_UP | 1), DW_CFA_def_cfa_offset, 0xf0, 0x0b,
		   DW_CFA_offset_extended, LR, 0xbd, 1);
	expect_row(A64(SP, 272, PROF_UNWIND_A64_LR_UP | 15), DW_CFA_def_cfa_offset, 0x90, 2,
		   DW_CFA_offset | LR, 19);
	expect_row(special(PROF_UNWIND_END), DW_CFA_undefined, LR);
	expect_row(A64(SP, 0, 0), DW_CFA_same_value, LR);
	expect_row(A64(SP, 0, 0), DW_CFA_def_cfa_offset, 32, DW_CFA_offset | FP, 4,
		   DW_CFA_offset | LR, 3, DW_CFA_restore | FP, DW_CFA_restore | LR,
		   DW_CFA_def_cfa_offset, 0);
}

Test(cfi_arm64, does_not_guess_unsupported_rows)
{
	const uint32_t unsupported = special(PROF_UNWIND_UNSUPPORTED);

	expect_row(unsupported, DW_CFA_def_cfa, 0, 16);
	expect_row(unsupported, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | FP, 4);
	expect_row(unsupported, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | FP, 1,
		   DW_CFA_offset | LR, 4);
	expect_row(unsupported, DW_CFA_register, LR, 3);
	expect_row(unsupported, DW_CFA_undefined, FP);
	expect_row(unsupported, DW_CFA_def_cfa_expression, 2, DW_OP_breg31, 16, DW_CFA_offset | SP,
		   1);
	expect_row(unsupported, DW_CFA_def_cfa_offset, 0x80, 0x10, DW_CFA_offset | LR, 63);
	/* above the CFA, and so far below it that sums could wrap around */
	expect_row(unsupported, DW_CFA_offset_extended_sf, LR, 0x7f);
	expect_row(unsupported, DW_CFA_offset_extended, LR, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		   0x80, 0x80, 0x10);
}

Test(cfi_arm64, handles_signed_return_addresses)
{
	const uint32_t framed = A64(SP, 16, PROF_UNWIND_A64_PAIR | 1);

	expect_row(framed, NEGATE_RA_STATE, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | FP, 2,
		   DW_CFA_offset | LR, 1, NEGATE_RA_STATE);
	expect_row_in("zRB", framed, NEGATE_RA_STATE, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | FP,
		      2, DW_CFA_offset | LR, 1);
	expect_row_in("zRS", special(PROF_UNWIND_SIGNAL), DW_CFA_def_cfa, FP, 0, DW_CFA_offset | FP,
		      0, DW_CFA_offset_extended_sf, LR, 0x7f);
}

Test(cfi_arm64, keeps_offsets_that_no_row_holds)
{
	/* 40016 and 40000 */
	static const uint8_t program[] = { DW_CFA_def_cfa_offset,  0xd0, 0xb8, 2,
					   DW_CFA_offset_extended, LR,	 0x8a, 0x27 };
	struct built b;

	build_frames("zR", program, sizeof(program), &b);
	cr_expect_eq(row_at(&b, F), special(PROF_UNWIND_BIG) | PROF_UNWIND_A64_LR_UP);
	cr_assert_eq(b.table.big_cnt, 1);
	cr_expect_eq(b.table.words[b.table.page_cnt], 40016);
	drop(&b);
}

Test(cfi_arm64, builds_tables_only_for_files_of_its_own_architecture)
{
	struct forge elf;
	struct built b = { 0 };
	size_t size;
	void *file;

	forge_init(&elf);
	elf.code_sz = CODE_SZ;
	forge_zeros(forge_section(&elf, ".pad"), CODE_SZ + F);
	frames_of(forge_section(&elf, ".eh_frame"), "zR", (const uint8_t[]){ DW_CFA_nop }, 1);
	file = forge_finish(&elf, &size);
	cr_assert_eq(elfimg_open_mem(&b.img, file, size, ELFIMG_HEAP), 0);
	build_table(&b);
	cr_expect_eq(b.err, -ENODATA);
	drop(&b);
}

/* ---- code without rules ------------------------------------------------------------------------- */

static void put_code(struct forge *elf, const char *name, uint64_t addr, const uint32_t *code,
		     size_t cnt)
{
	buf_add(forge_section(elf, name), code, 4 * cnt);
	forge_last(elf)->addr = addr;
}

#define PUT_CODE(elf, name, addr, ...)                                                             \
	do {                                                                                       \
		const uint32_t code_[] = { __VA_ARGS__ };                                          \
		put_code(elf, name, addr, code_, sizeof(code_) / 4);                               \
	} while (0)

/* What GNU as and ld of binutils 2.40 leave, read with objdump. */
Test(cfi_arm64, knows_the_code_of_linkers)
{
	const uint64_t at = 0x1200, plt = at + 24, end = plt + 48;
	const uint32_t pushed = A64(SP, 16, PROF_UNWIND_A64_PAIR | 1);
	struct forge elf;
	struct built b;

	forge_init(&elf);
	elf.code_sz = CODE_SZ;
	forge_zeros(forge_section(&elf, ".pad"), at - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr));
	PUT_CODE(&elf, ".init", at, 0xd503201f, 0xa9bf7bfd, 0x910003fd, 0x9400003c, 0xa8c17bfd,
		 0xd65f03c0);
	PUT_CODE(&elf, ".plt", plt, 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220,
		 0xd503201f, 0xd503201f, 0xd503201f, 0x90000110, 0xf9400211, 0x91000210,
		 0xd61f0220);
	frames_of(forge_section(&elf, ".eh_frame"), "zR", (const uint8_t[]){ DW_CFA_nop }, 1);
	forge_zeros(forge_section(&elf, ".more"), CODE_SZ);
	build_forged(&elf, &b);
	cr_assert_eq(b.err, 0);
	cr_expect_eq(row_at(&b, at - 4), special(PROF_UNWIND_NONE));
	cr_expect_eq(row_at(&b, at + 4), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, at + 8), pushed);
	cr_expect_eq(row_at(&b, at + 16), pushed);
	cr_expect_eq(row_at(&b, at + 20), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, plt), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, plt + 4), A64(SP, 16, PROF_UNWIND_A64_LR | 1));
	cr_expect_eq(row_at(&b, plt + 28), A64(SP, 16, PROF_UNWIND_A64_LR | 1));
	cr_expect_eq(row_at(&b, plt + 32), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, end - 1), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, end), special(PROF_UNWIND_NONE));
	drop(&b);
}

Test(cfi_arm64, ends_stacks_at_the_entry_point)
{
	static const uint32_t starts[] = { 0xd280001d, 0xd280001e }; /* x29 = 0, x30 = 0 */
	const size_t headers = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	struct forge elf;
	struct built b;
	int sound;

	for (sound = 0; sound < 2; sound++) {
		struct buf *pad;

		forge_init(&elf);
		elf.code_sz = CODE_SZ;
		elf.entry = F + 0x400;
		pad = forge_section(&elf, ".pad");
		forge_zeros(pad, CODE_SZ + F);
		memcpy(pad->data + F + 0x400 - headers, starts, sound ? 8 : 4);
		frames_of(forge_section(&elf, ".eh_frame"), "zR", (const uint8_t[]){ DW_CFA_nop },
			  1);
		build_forged(&elf, &b);
		cr_assert_eq(b.err, 0);
		cr_expect_eq(row_at(&b, F + 0x400),
			     special(sound ? PROF_UNWIND_END : PROF_UNWIND_NONE));
		drop(&b);
	}
}

/* The order of Linux 6.12's, which has no .eh_frame. */
Test(cfi_arm64, knows_the_code_of_a_vdso)
{
	const uint64_t at = 0x1400;
	struct forge elf;
	struct built b;

	forge_init(&elf);
	forge_last(&elf)->name = ".none";
	elf.code_sz = CODE_SZ;
	forge_zeros(forge_section(&elf, ".pad"), at - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr));
	PUT_CODE(&elf, ".text", at, 0xd53be041, 0xd65f03c0, 0xd503201f, 0xd2801168, 0xd4000001,
		 0xd503233f, 0xa9b87bfd, 0xd65f03c0);
	forge_zeros(forge_section(&elf, ".more"), CODE_SZ);
	build_forged(&elf, &b);
	cr_assert_eq(b.err, 0);
	cr_expect_eq(row_at(&b, at), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, at + 7), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, at + 11), special(PROF_UNWIND_SIGNAL),
		     "of a return address, less one");
	cr_expect_eq(row_at(&b, at + 12), special(PROF_UNWIND_SIGNAL));
	cr_expect_eq(row_at(&b, at + 20), A64(SP, 0, 0));
	cr_expect_eq(row_at(&b, at + 24), special(PROF_UNWIND_NONE),
		     "a frame that nobody tells of");
	drop(&b);
}

/* ---- libdw's answer ----------------------------------------------------------------------------- */

/* Where a register of the caller is. */
struct where {
	enum { IN_PLACE, AT_CFA, UNDEFINED, OTHER } how;
	int64_t off;
};

/* The rules at an address. */
struct rules {
	bool none, unsupported;
	int reg; /* of the CFA */
	int64_t off;
	struct where fp, lr;
};

static struct where where_is(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op mem[3], *ops;
	size_t cnt;

	if (dwarf_frame_register(frame, reg, mem, &ops, &cnt))
		return (struct where){ OTHER, 0 };
	if (!cnt)
		return (struct where){ ops == mem ? UNDEFINED : IN_PLACE, 0 };
	if (ops[0].atom != DW_OP_call_frame_cfa || ops[cnt - 1].atom == DW_OP_stack_value)
		return (struct where){ OTHER, 0 };
	if (cnt == 2 && ops[1].atom == DW_OP_plus_uconst)
		return (struct where){ AT_CFA, ops[1].number };
	return (struct where){ cnt == 1 ? AT_CFA : OTHER, 0 };
}

static struct rules read_libdw(Dwarf_CFI *cfi, uint64_t addr)
{
	struct rules r = { .reg = -1 };
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t cnt;

	if (dwarf_cfi_addrframe(cfi, addr, &frame)) {
		r.none = true;
		return r;
	}
	r.fp = where_is(frame, FP);
	r.lr = where_is(frame, LR);
	if (!dwarf_frame_cfa(frame, &ops, &cnt) && cnt && cnt <= 2) {
		r.reg = ops[0].atom == DW_OP_bregx ? (int)ops[0].number : ops[0].atom - DW_OP_breg0;
		r.off = ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number;
		if (cnt == 2)
			r.off += ops[1].number;
	}
	free(frame);
	return r;
}

/* The same in the form of prof_unwind.h. */
static struct rules read_row(const struct unwind_table *t, uint32_t word)
{
	const uint32_t off = word >> 7 & 0xfff, low = word & 0x7f, n = low & 31;
	struct rules r = { .reg = SP };
	int64_t base;

	switch (word >> 19 & 7) {
	case PROF_UNWIND_A64_FP:
		r.reg = FP;
		r.off = 8 * off;
		break;
	case PROF_UNWIND_A64_SP:
		r.off = 8 * off;
		break;
	default:
		r.none = off == PROF_UNWIND_NONE;
		r.unsupported = off == PROF_UNWIND_UNSUPPORTED;
		if (off == PROF_UNWIND_END)
			r.lr.how = UNDEFINED;
		if (off < PROF_UNWIND_BIG)
			return r;
		r.off = t->words[t->page_cnt + off - PROF_UNWIND_BIG];
	}
	base = -r.off;
	if (low)
		r.lr.how = AT_CFA;
	if (low >= 64 && low < 80)
		r.lr.off = -8 * (int64_t)(low - 64);
	else if (low >= 80 && low < 96)
		r.lr.off = base + 8 * (int64_t)(low - 80);
	else if (low) {
		r.fp.how = AT_CFA;
		r.fp.off = low < 32 ? -16 * (int64_t)n :
			   low < 64 ? base + 16 * (int64_t)n :
				      -16 * (int64_t)n - 16;
		r.lr.off = r.fp.off + (low < 64 ? 8 : 16);
	}
	return r;
}

struct compared {
	unsigned long places, none, unsupported, different;
	char first[1024];
};

static bool agree(const struct rules *a, const struct rules *b)
{
	if (a->lr.how == UNDEFINED)
		return b->lr.how == UNDEFINED;
	return a->reg == b->reg && a->off == b->off && a->fp.how == b->fp.how &&
	       a->fp.off == b->fp.off && a->lr.how == b->lr.how && a->lr.off == b->lr.off;
}

static void compare_at(const char *path, const struct built *b, Dwarf_CFI *cfi, uint64_t off,
		       struct compared *sum)
{
	struct rules want, got;
	uint64_t addr;

	if (!elfimg_addr(&b->img, off, &addr))
		return;
	got = read_libdw(cfi, addr);
	if (got.none)
		return; /* padding, or code with rows from other sources */
	want = read_row(&b->table, row_at(b, off));
	sum->places++;
	sum->none += want.none;
	sum->unsupported += want.unsupported;
	if (want.unsupported || (!want.none && agree(&want, &got)))
		return;
	if (!sum->different++)
		snprintf(sum->first, sizeof(sum->first),
			 "%s: at %#lx %#x: CFA %d%+ld fp %d %ld lr %d %ld", path, addr,
			 row_at(b, off), got.reg, got.off, got.fp.how, got.fp.off, got.lr.how,
			 got.lr.off);
}

static bool compare_file(const char *path, struct compared *sum)
{
	struct built b = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf_CFI *cfi = NULL;
	Elf *elf = NULL;
	unsigned int s;
	uint64_t i;

	if (fd < 0 || elfimg_open(&b.img, dup(fd), 0)) {
		close(fd);
		return false;
	}
	build_table(&b);
	if (!b.err) {
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		cfi = dwarf_getcfi_elf(elf);
	}
	for (s = 0; cfi && s < b.img.seg_cnt; s++) {
		const uint64_t step = (b.img.segs[s].size / PLACES + 4) & -4ull;

		for (i = 0; i < b.img.segs[s].size; i += step)
			compare_at(path, &b, cfi, b.img.segs[s].off + i, sum);
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	drop(&b);
	return cfi;
}

Test(cfi_arm64, agrees_with_libdw)
{
	const char *from = getenv("D9_UNWIND_ARM64");
	DIR *dir = opendir(from ? from : LIBRARIES);
	struct compared sum = { 0 };
	struct dirent *entry;
	unsigned int files = 0;
	char path[512];

	if (!dir)
		cr_skip("no libraries of arm64 here");
	elf_version(EV_CURRENT);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", from ? from : LIBRARIES, entry->d_name);
		if (strstr(path, ".so"))
			files += compare_file(path, &sum);
	}
	closedir(dir);
	printf("%u files, %lu places: %lu unsupported, %lu differ %s\n", files, sum.places,
	       sum.unsupported, sum.different, sum.first);
	cr_expect_gt(files, 5);
	cr_expect_gt(sum.places, 100 * files);
	cr_expect_eq(sum.different, 0, "%s", sum.first);
	cr_expect_lt(sum.unsupported, sum.places / 1000);
}
