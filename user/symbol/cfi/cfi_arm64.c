// SPDX-License-Identifier: BSD-2-Clause
/*
 * arm64: unwind rules in 22 bits, and known code without an FDE.
 *
 * About 100 of the 1.2 million rules in a distribution's programs do not fit. Kernels since 5.8 have no
 * unwind information in their vDSO. The vDSO is recognised by the instructions that return from a
 * signal. Functions before these never move the stack pointer. After them, all functions have frame
 * pointers from the first function on that moves the stack pointer.
 */
#include <elf.h>
#include <string.h>

#include "prof_unwind.h"
#include "symbol/cfi/cfi_patterns.h"
#include "symbol/cfi/cfiarch.h"
#include "symbol/cfi/cfirow.h"
#include "symbol/elf/arm64.h"
#include "symbol/elf/elfimg.h"

#define REG_FP 29
#define REG_SP 31
#define REG_RA 30
/* Maximum size of a vDSO: one or two pages of code, each at most 64 KiB. */
#define VDSO_MAX 0x20000

enum {
	NOP = 0xd503201f,
	PACIASP = 0xd503233f,
	AUTIASP = 0xd50323bf,
	RET = 0xd65f03c0,
	PUSH_FP_LR = 0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	POP_FP_LR = 0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	PUSH_X16_LR = 0xa9bf7bf0, /* stp x16, x30, [sp, #-16]! */
	MOV_FP_0 = 0xd280001d,
	MOV_LR_0 = 0xd280001e,
	RT_SIGRETURN = 0xd2801168, /* mov x8, #139 */
	SVC = 0xd4000001,
};

/* ---- rows --------------------------------------------------------------------------------------- */

static uint32_t make(uint32_t kind, uint32_t off, uint32_t low)
{
	return kind << PROF_UNWIND_ROW_KIND_SHIFT | off << PROF_UNWIND_ROW_OFF_SHIFT | low;
}

/* Whether off is n * `unit`, with n from 1 to max. */
static bool fits(int64_t off, int64_t unit, int64_t max)
{
	return off > 0 && off <= unit * max && !(off % unit);
}

/* Whether off is below the CFA, and so near that sums cannot overflow. */
static bool is_below(int64_t off)
{
	return off < 0 && off >= -(int64_t)UINT32_MAX;
}

/* The row bits for saved frame pointer and return address. */
static bool kept_pair(int64_t fp, int64_t lr, int64_t cfa, uint32_t *low)
{
	int64_t up = cfa + fp;

	if (lr == fp + 8 && fits(-fp, 16, PROF_UNWIND_A64_N_MASK))
		*low = PROF_UNWIND_A64_PAIR | -fp / 16;
	else if (lr == fp + 8 && (!up || fits(up, 16, PROF_UNWIND_A64_N_MASK)))
		*low = PROF_UNWIND_A64_PAIR_UP | up / 16;
	else if (lr == fp + 16 && fits(-lr, 16, PROF_UNWIND_A64_N_MASK))
		*low = PROF_UNWIND_A64_LR_FP | -lr / 16;
	else
		return false;
	return true;
}

/* The lowest bits of a row; false if a row cannot express the rules. */
static bool kept(const struct cfi_state *s, uint32_t *low)
{
	bool fp_same = s->fp.where == CFI_UNSAID || s->fp.where == CFI_SAME;
	int64_t up;

	*low = 0;
	if (s->ra.where == CFI_UNSAID || s->ra.where == CFI_SAME)
		return fp_same;
	if (s->ra.where != CFI_AT || !is_below(s->ra.off))
		return false;
	if (s->fp.where == CFI_AT)
		return is_below(s->fp.off) && kept_pair(s->fp.off, s->ra.off, s->off, low);
	up = s->off + s->ra.off;
	if (fp_same && fits(-s->ra.off, 8, PROF_UNWIND_A64_LR_N_MASK))
		*low = PROF_UNWIND_A64_LR | -s->ra.off / 8;
	else if (fp_same && (!up || fits(up, 8, PROF_UNWIND_A64_LR_N_MASK)))
		*low = PROF_UNWIND_A64_LR_UP | up / 8;
	else
		return false;
	return true;
}

static uint32_t row_of(const struct cfi_state *s, uint32_t *big)
{
	bool usual_sp = s->sp.where == CFI_UNSAID || (s->sp.where == CFI_IS && !s->sp.off);
	uint32_t low;

	*big = 0;
	if (s->signal)
		return cfirow_special(PROF_UNWIND_SIGNAL);
	if (s->ra.where == CFI_UNDEFINED)
		return cfirow_special(PROF_UNWIND_END);
	if (!usual_sp || s->cfa != CFI_CFA_REG || (s->reg != REG_SP && s->reg != REG_FP) ||
	    s->off < 0 || s->off > UINT32_MAX || !kept(s, &low))
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	if (!(s->off % 8) && s->off / 8 <= PROF_UNWIND_ROW_OFF_MASK)
		return make(s->reg == REG_SP ? PROF_UNWIND_A64_SP : PROF_UNWIND_A64_FP, s->off / 8,
			    low);
	if (s->reg == REG_FP)
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	*big = s->off;
	return make(PROF_UNWIND_SPECIAL, PROF_UNWIND_BIG, low);
}

/* ---- known code --------------------------------------------------------------------------------- */

/* CFA = sp + 8 * n, with the locations in memory. */
static uint32_t sp_row(uint32_t n, uint32_t low)
{
	return make(PROF_UNWIND_A64_SP, n, low);
}

/* The entry point of a program clears the frame pointer and the return address first. */
static void add_entry(const struct elfimg *img, struct cfi_patterns *out, size_t *cnt)
{
	uint64_t off, at;
	uint32_t insn;

	if (!img->entry || !elfimg_off(img, img->entry, &off))
		return;
	insn = arm64_insn(img->bytes, img->size, off);
	at = insn == ARM64_BTI_C || insn == NOP ? off + ARM64_INSN_SZ : off;
	if (arm64_insn(img->bytes, img->size, at) == MOV_FP_0 &&
	    arm64_insn(img->bytes, img->size, at + ARM64_INSN_SZ) == MOV_LR_0)
		cfi_patterns_add(out, cnt, off, cfirow_special(PROF_UNWIND_END));
}

/* The code of a section, and its offset in the file. */
static const uint8_t *find_code(const struct elfimg *img, const char *name, size_t *size,
				uint64_t *off)
{
	const uint8_t *code;
	struct elfimg_sec sec;

	if (!elfimg_find(img, name, &sec))
		return NULL;
	code = elfimg_data(img, &sec, size);
	return code && elfimg_off(img, sec.addr, off) && *off == sec.off ? code : NULL;
}

/* Sections of function parts that the linker joins; they save the pair at their start. */
static void add_section(const struct elfimg *img, const char *name, struct cfi_patterns *out,
			size_t *cnt)
{
	size_t size = 0, start, end;
	uint64_t off;
	const uint8_t *code = find_code(img, name, &size, &off);

	if (!code || size % ARM64_INSN_SZ)
		return;
	start = arm64_insn(code, size, 0) == PUSH_FP_LR ? 0 : ARM64_INSN_SZ;
	end = size - 2 * ARM64_INSN_SZ;
	if (size >= 5 * ARM64_INSN_SZ && arm64_insn(code, size, end) == AUTIASP)
		end -= ARM64_INSN_SZ;
	if (size < 4 * ARM64_INSN_SZ || arm64_insn(code, size, start) != PUSH_FP_LR ||
	    arm64_insn(code, size, end) != POP_FP_LR ||
	    arm64_insn(code, size, size - ARM64_INSN_SZ) != RET)
		return;
	cfi_patterns_add(out, cnt, off, sp_row(0, 0));
	cfi_patterns_add(out, cnt, off + start + ARM64_INSN_SZ,
			 sp_row(2, PROF_UNWIND_A64_PAIR | 1));
	cfi_patterns_add(out, cnt, off + end + ARM64_INSN_SZ, sp_row(0, 0));
	cfi_patterns_add(out, cnt, off + size, cfirow_special(PROF_UNWIND_NONE));
}

/* Stubs change no register; the first entry, which looks functions up, does. */
static void add_plt(const struct elfimg *img, struct cfi_patterns *out, size_t *cnt)
{
	enum { FIRST_SZ = 32 };
	size_t size = 0, start;
	uint64_t off;
	const uint8_t *code = find_code(img, ".plt", &size, &off);

	if (!code || size < FIRST_SZ)
		return;
	start = arm64_insn(code, size, 0) == ARM64_BTI_C ? ARM64_INSN_SZ : 0;
	if (arm64_insn(code, size, start) != PUSH_X16_LR)
		return;
	cfi_patterns_add(out, cnt, off, sp_row(0, 0));
	cfi_patterns_add(out, cnt, off + start + ARM64_INSN_SZ, sp_row(2, PROF_UNWIND_A64_LR | 1));
	cfi_patterns_add(out, cnt, off + FIRST_SZ, sp_row(0, 0));
	cfi_patterns_add(out, cnt, off + size, cfirow_special(PROF_UNWIND_NONE));
}

/* Finds the code that returns from a signal; SIZE_MAX if this is not a vDSO. */
static size_t find_sigreturn(const uint8_t *code, size_t size)
{
	size_t at;

	for (at = ARM64_INSN_SZ; code && at + 2 * ARM64_INSN_SZ <= size; at += ARM64_INSN_SZ)
		if (arm64_insn(code, size, at) == RT_SIGRETURN &&
		    arm64_insn(code, size, at + ARM64_INSN_SZ) == SVC)
			return at;
	return SIZE_MAX;
}

static bool is_vdso(const struct elfimg *img)
{
	size_t size = 0;
	uint64_t off;
	const uint8_t *code = find_code(img, ".text", &size, &off);

	return img->size <= VDSO_MAX && find_sigreturn(code, size) != SIZE_MAX;
}

/* stp x29, x30, [sp, #-N]! */
static bool keeps_pair(uint32_t insn)
{
	return (insn & 0xffc07fff) == 0xa9807bfd;
}

/*
 * The row also covers the padding before the code, because a caller's place is the address before
 * the return address.
 */
static void add_vdso(const struct elfimg *img, struct cfi_patterns *out, size_t *cnt)
{
	size_t size = 0, at, frame = 0;
	uint64_t off;
	const uint8_t *code = find_code(img, ".text", &size, &off);

	if (!is_vdso(img))
		return;
	at = find_sigreturn(code, size);
	while (frame < size && !keeps_pair(arm64_insn(code, size, frame)))
		frame += ARM64_INSN_SZ;
	cfi_patterns_add(out, cnt, off, sp_row(0, 0));
	cfi_patterns_add(out, cnt, off + at - ARM64_INSN_SZ, cfirow_special(PROF_UNWIND_SIGNAL));
	cfi_patterns_add(out, cnt, off + at + 2 * ARM64_INSN_SZ, sp_row(0, 0));
	cfi_patterns_add(out, cnt, off + (frame < at ? size : frame),
			 cfirow_special(PROF_UNWIND_NONE));
}

static size_t find_known(const struct elfimg *img, struct cfi_patterns *out)
{
	size_t cnt = 0;

	add_entry(img, out, &cnt);
	add_section(img, ".init", out, &cnt);
	add_section(img, ".fini", out, &cnt);
	add_plt(img, out, &cnt);
	add_vdso(img, out, &cnt);
	return cnt;
}

const struct cfi_arch cfi_arm64 = {
	.machine = EM_AARCH64,
	.fp = REG_FP,
	.sp = REG_SP,
	.ra = REG_RA,
	.signs_ra = true,
	.row = row_of,
	.known = find_known,
	.is_bare = is_vdso,
};
