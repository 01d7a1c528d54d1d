// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encodes a rule of x86-64 in 22 bits. About one in 100,000 rules of a distribution's programs does
 * not fit. It becomes "unsupported", so a walk ends there instead of returning wrong frames.
 */
#include "symbol/cfi/cfirow.h"

#include "prof_unwind.h"
#include "symbol/cfi/cfi.h"

#define REG_RDX 1
#define REG_RDI 5
#define REG_FP 6
#define REG_SP 7
#define DEREF_MIN (-0x800 * 8)
#define DEREF_MAX (0x7ff * 8)
/* offset of the interrupted stack pointer in the frame of rt_sigreturn */
#define UCONTEXT_SP 160

static uint32_t make(uint32_t kind, uint32_t off)
{
	return kind << PROF_UNWIND_ROW_KIND_SHIFT | (off & PROF_UNWIND_ROW_OFF_MASK)
							    << PROF_UNWIND_ROW_OFF_SHIFT;
}

uint32_t cfirow_special(uint32_t special)
{
	return make(PROF_UNWIND_SPECIAL, special);
}

uint32_t cfirow_sp(uint32_t n)
{
	return make(PROF_UNWIND_SP, n / 8);
}

static uint32_t frame_pointer(const struct cfi_rule *fp)
{
	switch (fp->where) {
	case CFI_UNSAID:
	case CFI_SAME:
		return PROF_UNWIND_FP_SAME;
	case CFI_UNDEFINED:
		return PROF_UNWIND_FP_UNDEFINED;
	case CFI_AT_FP:
		return PROF_UNWIND_FP_AT_FP;
	case CFI_AT:
		if (!(fp->off % 8) && fp->off <= -8 && fp->off >= -8 * PROF_UNWIND_FP_SAVED_MAX)
			return -fp->off / 8;
		return PROF_UNWIND_FP_UNSUPPORTED;
	case CFI_IS:
	case CFI_IN:
	case CFI_OTHER:
		break;
	}
	return PROF_UNWIND_FP_UNSUPPORTED;
}

/* The CFA is a register plus an offset. */
static uint32_t from_register(const struct cfi_state *s, uint32_t *big)
{
	bool plain = s->reg == REG_SP || s->reg == REG_FP;
	uint32_t row;

	if (s->off < 0 || s->off > UINT32_MAX || s->reg > 15)
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	if (plain && !(s->off % 8) && s->off / 8 <= PROF_UNWIND_ROW_OFF_MASK)
		return make(s->reg == REG_SP ? PROF_UNWIND_SP : PROF_UNWIND_FP, s->off / 8);
	if (plain) {
		row = cfirow_special(PROF_UNWIND_BIG);
		*big = s->off;
		return s->reg == REG_SP ? row : row | PROF_UNWIND_ROW_ADD8;
	}
	if (s->off % 8 || s->off / 8 > 0xff)
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	return make(PROF_UNWIND_REG, s->reg << 8 | s->off / 8);
}

/* The CFA is a value in memory. */
static uint32_t from_memory(const struct cfi_state *s)
{
	uint32_t row;

	if (s->off % 8 || s->off < DEREF_MIN || s->off > DEREF_MAX || (s->add && s->add != 8) ||
	    (s->reg != REG_SP && s->reg != REG_FP))
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	row = make(s->reg == REG_SP ? PROF_UNWIND_AT_SP : PROF_UNWIND_AT_FP, s->off / 8);
	return s->add ? row | PROF_UNWIND_ROW_ADD8 : row;
}

static uint32_t from_cfa(const struct cfi_state *s, uint32_t *big)
{
	switch (s->cfa) {
	case CFI_CFA_REG:
		return from_register(s, big);
	case CFI_CFA_DEREF:
		return from_memory(s);
	case CFI_CFA_PLT:
		return cfirow_special(s->off == 11 ? PROF_UNWIND_PLT11 : PROF_UNWIND_PLT10);
	case CFI_CFA_UNSAID:
	case CFI_CFA_OTHER:
		break;
	}
	return cfirow_special(PROF_UNWIND_UNSUPPORTED);
}

/* The only layout of this architecture's kernel, as C libraries describe it. */
static bool is_ucontext(const struct cfi_state *s)
{
	return s->cfa == CFI_CFA_DEREF && s->reg == REG_SP && s->off == UCONTEXT_SP && !s->add;
}

/* The return address is in a register while vfork keeps the stack for its child. */
static uint32_t from_return_register(const struct cfi_state *s)
{
	if (s->cfa != CFI_CFA_REG || s->reg != REG_SP || s->off)
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	if (s->ra.off == REG_RDI)
		return cfirow_special(PROF_UNWIND_RA_RDI);
	return cfirow_special(s->ra.off == REG_RDX ? PROF_UNWIND_RA_RDX : PROF_UNWIND_UNSUPPORTED);
}

uint32_t cfirow_of(const struct cfi_state *s, uint32_t *big)
{
	bool usual_sp = s->sp.where == CFI_UNSAID || (s->sp.where == CFI_IS && !s->sp.off);
	uint32_t row = cfirow_special(PROF_UNWIND_UNSUPPORTED);

	*big = 0;
	if (s->signal)
		return is_ucontext(s) ? cfirow_special(PROF_UNWIND_SIGNAL) : row;
	if (s->ra.where == CFI_UNDEFINED)
		return cfirow_special(PROF_UNWIND_END);
	if (s->ra.where == CFI_IN && usual_sp)
		row = from_return_register(s);
	else if (s->ra.where == CFI_AT && s->ra.off == -8 && usual_sp)
		row = from_cfa(s, big);
	if (row == cfirow_special(PROF_UNWIND_UNSUPPORTED))
		return row;
	return row | frame_pointer(&s->fp);
}
