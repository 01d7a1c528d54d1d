// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -ldw */
/*
 * Tables of this machine's own files agree with libdw, which runs a function's program again for each address.
 * D9_UNWIND_FILES=N compares N files instead of 40.
 */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/budget.h"
#include "symbol/cfi/cfi_patterns.h"
#include "symbol/cfi/cfitable.h"
#include "tests/support/unwind_find.h"
#include "unwind/table.h"

#define PLACES 3000 /* of a file */
#define FILES_MAX 100000

enum {
	FP = 6,
	SP = 7,
	RA = 16,
};

/* libdw's result for an address, or none. */
struct wanted {
	uint32_t row, big;
	bool none; /* no function */
};

struct compared {
	unsigned long places, unsupported, none;
	char first[512]; /* the first difference */
	unsigned long different;
};

static uint32_t make(uint32_t kind, int64_t off, uint32_t low)
{
	return kind << PROF_UNWIND_ROW_KIND_SHIFT |
	       ((uint32_t)off & PROF_UNWIND_ROW_OFF_MASK) << PROF_UNWIND_ROW_OFF_SHIFT | low;
}

static uint32_t special(uint32_t what)
{
	return make(PROF_UNWIND_SPECIAL, what, 0);
}

/* ---- libdw's answer as a row -------------------------------------------------------------------- */

/* A register and a number; false for any other operation. */
static bool is_breg(const Dwarf_Op *op, int64_t *reg, int64_t *off)
{
	if (op->atom == DW_OP_bregx) {
		*reg = op->number;
		*off = op->number2;
		return true;
	}
	*reg = op->atom - DW_OP_breg0;
	*off = op->number;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static bool is_plt(const Dwarf_Op *ops, size_t cnt, uint32_t *row)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	 DW_OP_plus };
	size_t i;

	if (cnt != sizeof(atoms) || ops[0].number != 8 || ops[1].number != 0)
		return false;
	for (i = 0; i < cnt; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	*row = special(ops[4].atom == DW_OP_lit11 ? PROF_UNWIND_PLT11 : PROF_UNWIND_PLT10);
	return ops[4].atom == DW_OP_lit11 || ops[4].atom == DW_OP_lit10;
}

static void cfa_register(int64_t reg, int64_t off, struct wanted *w)
{
	bool near = off >= 0 && off % 8 == 0 && off < 4096 * 8;

	if (reg == SP && near)
		w->row = make(PROF_UNWIND_SP, off / 8, 0);
	else if (reg == FP && near)
		w->row = make(PROF_UNWIND_FP, off / 8, 0);
	else if (reg != SP && reg != FP && near && off < 256 * 8 && reg < 16)
		w->row = make(PROF_UNWIND_REG, reg * 256 + off / 8, 0);
	else if ((reg == SP || reg == FP) && off > 0 && off <= UINT32_MAX) {
		w->row = make(PROF_UNWIND_SPECIAL, PROF_UNWIND_BIG,
			      reg == FP ? PROF_UNWIND_ROW_ADD8 : 0);
		w->big = off;
	}
}

/* The CFA; rules that no row can represent stay "unsupported". */
static void cfa_row(const Dwarf_Op *ops, size_t cnt, struct wanted *w)
{
	int64_t reg, off;
	bool plus8;

	if (is_plt(ops, cnt, &w->row) || !cnt || !is_breg(&ops[0], &reg, &off))
		return;
	if (cnt == 1) {
		cfa_register(reg, off, w);
		return;
	}
	/* libdw makes it bregx, plus_uconst when the number is large */
	if (ops[1].atom == DW_OP_plus_uconst && cnt == 2) {
		cfa_register(reg, off + ops[1].number, w);
		return;
	}
	plus8 = (cnt == 3 && ops[2].atom == DW_OP_plus_uconst && ops[2].number == 8) ||
		(cnt == 4 && ops[2].atom == DW_OP_lit8 && ops[3].atom == DW_OP_plus);
	if (ops[1].atom != DW_OP_deref || !(cnt == 2 || plus8) || off % 8 || off < -16384 ||
	    off >= 16384 || (reg != SP && reg != FP))
		return;
	w->row = make(reg == SP ? PROF_UNWIND_AT_SP : PROF_UNWIND_AT_FP, off / 8,
		      plus8 ? PROF_UNWIND_ROW_ADD8 : 0);
}

enum rule { SAME, UNDEFINED, AT_CFA, IS_CFA, IN_REG, AT_FP, OTHER };

/* How a register is found, and by which number. */
static enum rule rule_of(Dwarf_Frame *frame, int reg, int64_t *n)
{
	Dwarf_Op mem[3], *ops;
	size_t cnt;
	bool value;

	*n = 0;
	if (dwarf_frame_register(frame, reg, mem, &ops, &cnt))
		return OTHER;
	if (!cnt)
		return ops == mem ? UNDEFINED : SAME;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		value = ops[cnt - 1].atom == DW_OP_stack_value;
		/* expressions begin like this, whatever they do with it */
		if (cnt == 2 && ops[1].atom == DW_OP_breg6 && !ops[1].number)
			return AT_FP;
		cnt -= value;
		if (cnt == 2 && ops[1].atom == DW_OP_plus_uconst)
			*n = ops[1].number;
		else if (cnt != 1)
			return OTHER;
		return value ? IS_CFA : AT_CFA;
	}
	if (cnt == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		*n = ops[0].atom - DW_OP_reg0;
	else if (cnt == 1 && ops[0].atom == DW_OP_regx)
		*n = ops[0].number;
	else if (cnt == 1 && ops[0].atom == DW_OP_breg6 && !ops[0].number)
		return AT_FP;
	else
		return OTHER;
	return IN_REG;
}

static uint32_t fp_bits(Dwarf_Frame *frame)
{
	int64_t n;

	switch (rule_of(frame, FP, &n)) {
	case SAME:
		return PROF_UNWIND_FP_SAME;
	case UNDEFINED:
		return PROF_UNWIND_FP_UNDEFINED;
	case AT_FP:
		return PROF_UNWIND_FP_AT_FP;
	case AT_CFA:
		return n < 0 && n % 8 == 0 && n >= -480 ? -n / 8 : PROF_UNWIND_FP_UNSUPPORTED;
	case IS_CFA:
	case IN_REG:
	case OTHER:
		break;
	}
	return PROF_UNWIND_FP_UNSUPPORTED;
}

static void frame_row(Dwarf_Frame *frame, bool signal, struct wanted *w)
{
	int64_t ra, sp;
	enum rule ra_rule = rule_of(frame, RA, &ra), sp_rule = rule_of(frame, SP, &sp);
	Dwarf_Op *ops;
	size_t cnt;

	w->row = special(PROF_UNWIND_UNSUPPORTED);
	if (dwarf_frame_cfa(frame, &ops, &cnt))
		return;
	cfa_row(ops, cnt, w);
	if (signal)
		w->row =
			special(w->row == make(PROF_UNWIND_AT_SP, 20, 0) ? PROF_UNWIND_SIGNAL :
									   PROF_UNWIND_UNSUPPORTED);
	else if (ra_rule == UNDEFINED)
		w->row = special(PROF_UNWIND_END);
	else if (sp_rule == IS_CFA && !sp && ra_rule == IN_REG &&
		 w->row == make(PROF_UNWIND_SP, 0, 0) && (ra == 5 || ra == 1))
		w->row =
			special(ra == 5 ? PROF_UNWIND_RA_RDI : PROF_UNWIND_RA_RDX) | fp_bits(frame);
	else if (sp_rule != IS_CFA || sp || ra_rule != AT_CFA || ra != -8)
		w->row = special(PROF_UNWIND_UNSUPPORTED);
	else if (w->row != special(PROF_UNWIND_UNSUPPORTED))
		w->row |= fp_bits(frame);
}

/* *end: end of the range with the same result of libdw. */
static struct wanted read_libdw(Dwarf_CFI *cfi, uint64_t addr, uint64_t *end)
{
	struct wanted w = { 0 };
	Dwarf_Frame *frame;
	Dwarf_Addr start, stop;
	bool signal;

	if (dwarf_cfi_addrframe(cfi, addr, &frame)) {
		w.none = true;
		*end = addr + 1;
		return w;
	}
	dwarf_frame_info(frame, &start, &stop, &signal);
	frame_row(frame, signal, &w);
	*end = stop;
	free(frame);
	return w;
}

/* ---- a file ------------------------------------------------------------------------------------- */

struct file {
	const char *path;
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
	struct elfimg img;
	struct unwind_table table;
	struct {
		uint64_t start, end;
	} known[5]; /* code whose rows come from other sources */
};

static bool build(struct file *f)
{
	struct budget_max max = { .cpu_ns = UINT64_MAX, .mem = 1 << 30, .entries = UINT64_MAX };
	struct budget budget;
	struct cfitable c;
	int err;

	budget_init(&budget, &max);
	budget_enter(&budget);
	cfitable_init(&c, &f->img, &budget);
	err = cfitable_build(&c, &f->table);
	cfitable_fini(&c);
	cr_assert(!err || err == -ENODATA, "%s: %s", f->path, strerror(-err));
	return !err;
}

static void find_known(struct file *f, size_t i, const char *name)
{
	struct elfimg_sec sec;

	if (!elfimg_find(&f->img, name, &sec))
		return;
	f->known[i].start = sec.addr;
	f->known[i].end = sec.addr + sec.size;
}

/* False when it has nothing to compare. */
static bool open_file(struct file *f, const char *path)
{
	*f = (struct file){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (f->fd < 0)
		return false;
	if (!elfimg_open(&f->img, dup(f->fd), 0)) {
		f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
		f->cfi = f->elf ? dwarf_getcfi_elf(f->elf) : NULL;
		find_known(f, 0, ".init");
		find_known(f, 1, ".fini");
		find_known(f, 2, ".plt");
		find_known(f, 3, ".plt.sec");
		find_known(f, 4, ".plt.got");
		if (f->cfi && build(f))
			return true;
		if (f->cfi)
			dwarf_cfi_end(f->cfi);
		elf_end(f->elf);
		elfimg_close(&f->img);
	}
	close(f->fd);
	return false;
}

static void close_file(struct file *f)
{
	dwarf_cfi_end(f->cfi);
	elf_end(f->elf);
	elfimg_close(&f->img);
	unwind_table_free(&f->table);
	close(f->fd);
}

/* Whether libdw has a result for any address of [addr - cnt, addr + cnt]: such a near gap may be padding. */
static bool is_near_code(const struct file *f, uint64_t addr)
{
	uint64_t end;
	int i;

	for (i = 1; i < 16; i++)
		if (!read_libdw(f->cfi, addr - i, &end).none)
			return true;
	return false;
}

static bool is_known(const struct file *f, uint64_t addr)
{
	size_t i;

	for (i = 0; i < sizeof(f->known) / sizeof(f->known[0]); i++)
		if (addr >= f->known[i].start && addr < f->known[i].end)
			return true;
	return false;
}

static bool returns_by_register(const struct file *f, uint64_t addr, uint64_t *end)
{
	Dwarf_Addr start, stop = addr;
	Dwarf_Frame *frame;
	bool signal, found;
	int64_t ra;

	if (dwarf_cfi_addrframe(f->cfi, addr, &frame))
		return false;
	dwarf_frame_info(frame, &start, &stop, &signal);
	*end = stop;
	found = rule_of(frame, RA, &ra) == IN_REG && ra != 5 && ra != 1;
	free(frame);
	return found;
}

/*
 * Whether the function has copied the registers of an exception's handler over its own frame, or will soon: libdw's
 * rows describe the frame before that. Such a function ends with a jump to an address in a register.
 */
static bool may_rewrite_frame(const struct file *f, uint64_t addr, uint32_t row)
{
	enum { ROWS = 32 };
	uint64_t end = addr;
	int i;

	if (row != special(PROF_UNWIND_UNSUPPORTED) &&
	    (unwind_row_kind(row) != PROF_UNWIND_SPECIAL ||
	     unwind_row_off(row) < PROF_UNWIND_CONTEXT))
		return false;
	for (i = 0; i < ROWS; i++, addr = end)
		if (returns_by_register(f, addr, &end))
			return true;
		else if (end <= addr)
			return false;
	return false;
}

/* Whether libdw describes a caller although the function has none. */
static bool starts_context(const struct file *f, uint64_t addr)
{
	Dwarf_Addr start, stop;
	Dwarf_Frame *frame;
	uint64_t off;
	bool signal;

	if (dwarf_cfi_addrframe(f->cfi, addr, &frame))
		return false;
	dwarf_frame_info(frame, &start, &stop, &signal);
	free(frame);
	return elfimg_off(&f->img, start, &off) &&
	       cfi_patterns_is_start_context(&f->img, off, off + (stop - start));
}

/* The row of a call in a function whose CFA is rbx + n, which is in its big word */
static bool is_pushed(const struct file *f, uint32_t row, const struct wanted *w)
{
	uint32_t big;

	if (unwind_row_kind(row) != PROF_UNWIND_SPECIAL || unwind_row_off(row) < PROF_UNWIND_PUSHED)
		return false;
	big = f->table.words[f->table.page_cnt + unwind_row_off(row) - PROF_UNWIND_PUSHED];
	return w->row == make(PROF_UNWIND_REG, 3 << 8 | big >> 8, 0);
}

static bool agrees(const struct file *f, uint64_t addr, uint32_t row, const struct wanted *w)
{
	const uint32_t off_bits = PROF_UNWIND_ROW_OFF_MASK << PROF_UNWIND_ROW_OFF_SHIFT;
	struct elfimg_sec sec;

	/* Go describes its functions elsewhere: go_rows_test.c */
	if (w->none && elfimg_find(&f->img, ".gopclntab", &sec))
		return true;
	if (w->none)
		return row == special(PROF_UNWIND_NONE) || row == special(PROF_UNWIND_END) ||
		       is_known(f, addr) || is_near_code(f, addr);
	if (may_rewrite_frame(f, addr, row) || is_pushed(f, row, w))
		return true;
	if (w->big && unwind_row_off(row) >= PROF_UNWIND_BIG &&
	    unwind_row_kind(row) == PROF_UNWIND_SPECIAL)
		return (row & ~off_bits) == (w->row & ~off_bits) &&
		       f->table.words[f->table.page_cnt + unwind_row_off(row) - PROF_UNWIND_BIG] ==
			       w->big;
	return row == w->row ||
	       (row == special(PROF_UNWIND_END) &&
		(elfimg_find(&f->img, ".gopclntab", &sec) || starts_context(f, addr)));
}

static void compare_at(const struct file *f, uint64_t off, uint64_t addr, const struct wanted *w,
		       struct compared *sum)
{
	uint32_t row;

	cr_assert(unwind_find(&f->table, off, &row), "%s: %#lx", f->path, off);
	row &= (1U << PROF_UNWIND_ROW_PC_SHIFT) - 1;
	sum->places++;
	sum->none += w->none;
	sum->unsupported += !w->none && row == special(PROF_UNWIND_UNSUPPORTED);
	if (agrees(f, addr, row, w))
		return;
	if (!sum->different++)
		snprintf(sum->first, sizeof(sum->first), "%s: at %#lx %#x, libdw %#x%s", f->path,
			 addr, row, w->row, w->none ? " (no function)" : "");
}

/* Addresses all over the file, and libdw's result for both ends of the row there. */
static void compare_places(const struct file *f, struct compared *sum)
{
	uint64_t size = 0, step, i, off, addr, end;
	unsigned int s;

	for (s = 0; s < f->img.seg_cnt; s++) {
		const struct elfimg_seg *seg = &f->img.segs[s];

		size = seg->size;
		step = size / PLACES + 1;
		/* 0x9e37: anywhere within a step, but the same each time */
		for (i = 0; i < size; i += step) {
			off = i + i * 0x9e37 % step;
			if (off >= size)
				break;
			addr = seg->vaddr + off;
			struct wanted w = read_libdw(f->cfi, addr, &end);

			compare_at(f, seg->off + off, addr, &w, sum);
			if (end - 1 > addr && end - seg->vaddr <= size)
				compare_at(f, seg->off + (end - 1 - seg->vaddr), end - 1, &w, sum);
		}
	}
}

/* Each row of the table at its first address. */
static void compare_rows(const struct file *f, struct compared *sum)
{
	const struct unwind_table *t = &f->table;
	uint32_t step = t->page_cnt / 200 + 1, page, i;
	uint64_t end, addr, off;

	for (page = 0; page < t->page_cnt; page += step) {
		uint32_t first = t->words[page] >> PROF_UNWIND_INDEX_COUNT_BITS;
		uint32_t cnt = (t->words[page] & ((1U << PROF_UNWIND_INDEX_COUNT_BITS) - 1)) + 1;

		for (i = first; i < first + cnt; i++) {
			off = ((uint64_t)t->first_page + page) << PROF_UNWIND_PAGE_SHIFT;
			off += t->words[i] >> PROF_UNWIND_ROW_PC_SHIFT;
			if (!elfimg_addr(&f->img, off, &addr))
				continue;
			struct wanted w = read_libdw(f->cfi, addr, &end);

			compare_at(f, off, addr, &w, sum);
		}
	}
}

/* ---- all of them -------------------------------------------------------------------------------- */

static char *paths[FILES_MAX];
static size_t path_cnt;

/* Programs and libraries; scripts among them are skipped later. */
static int add_path(const char *path, const struct stat *st, int type, struct FTW *at)
{
	if (type == FTW_F && S_ISREG(st->st_mode) && path_cnt < FILES_MAX &&
	    ((st->st_mode & S_IXUSR) || strstr(path, ".so")))
		paths[path_cnt++] = strdup(path);
	return 0;
}

static int compare_paths(const void *pa, const void *pb)
{
	return strcmp(*(char *const *)pa, *(char *const *)pb);
}

Test(cfitable, agrees_with_libdw)
{
	const char *wanted = getenv("D9_UNWIND_FILES");
	size_t want = wanted ? strtoul(wanted, NULL, 10) : 40, step, i, done = 0;
	struct compared sum = { 0 };
	struct file f;

	elf_version(EV_CURRENT);
	nftw("/usr/bin", add_path, 16, FTW_PHYS);
	nftw("/usr/lib", add_path, 16, FTW_PHYS);
	qsort(paths, path_cnt, sizeof(*paths), compare_paths);
	if (!path_cnt)
		cr_skip("no programs here");
	step = path_cnt / want + 1;
	for (i = 0; i < path_cnt && done < want; i += step) {
		size_t at = i;

		/* scripts, links and data are skipped */
		while (at < i + step && at < path_cnt && !open_file(&f, paths[at]))
			at++;
		if (at == i + step || at >= path_cnt)
			continue;
		cr_assert(unwind_table_check(&f.table), "%s", f.path);
		compare_places(&f, &sum);
		compare_rows(&f, &sum);
		close_file(&f);
		done++;
	}
	for (i = 0; i < path_cnt; i++)
		free(paths[i]);
	printf("%zu files, %lu places: %lu unknown to both, %lu unsupported, %lu differ %s\n", done,
	       sum.places, sum.none, sum.unsupported, sum.different, sum.first);
	cr_expect_gt(done, 0);
	cr_expect_gt(sum.places, 100 * done);
	cr_expect_eq(sum.different, 0, "%s", sum.first);
	cr_expect_lt(sum.unsupported, sum.places / 1000);
}
