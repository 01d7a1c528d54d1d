// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call frame information, in which compilers describe how to find a function's caller.
 *
 * The section is a list of CIEs and FDEs. An FDE is a function with a small program, which walks
 * through the function's addresses and changes the rules. Its CIE has the start of that program,
 * which runs once, when the CIE is read. Only the rules for the CFA, the frame pointer, the stack
 * pointer, the return address and one more register are kept.
 *
 * Input is untrusted. Numbers may wrap around, because the caller checks the addresses in the
 * states. A program takes time in proportion to its size.
 */
#include "symbol/cfi/cfi.h"

#include <dwarf.h>
#include <string.h>

#include "symbol/dwarf/dwread.h"

#define REMEMBERED_MAX 16
/*
 * Instructions of arm64 without operands; the first has the number of DW_CFA_GNU_window_save on
 * another architecture.
 */
#define NEGATE_RA_STATE 0x2d
#define NEGATE_RA_STATE_WITH_PC 0x2c

/* ---- entries ------------------------------------------------------------------------------------ */

bool cfi_next(const struct cfi_section *s, size_t *pos, struct cfi_entry *out)
{
	struct dwread r = dwread_at(s->data, s->size, *pos);
	unsigned int width = 4;
	uint64_t len, id, id_pos;

	if (dwread_left(&r) < 4)
		return false;
	len = dwread_num(&r, 4);
	*out = (struct cfi_entry){ .off = *pos, .body = *pos + 4, .end = *pos + 4 };
	*pos += 4;
	if (!len)
		return true;
	if (len == UINT32_MAX) {
		width = 8;
		len = dwread_num(&r, 8);
	}
	id_pos = r.p - s->data;
	if (r.bad || len > dwread_left(&r) || len < width)
		return false;
	/* in .eh_frame this number is short also in the long form */
	if (!s->is_debug)
		width = 4;
	out->end = id_pos + len;
	id = dwread_num(&r, width);
	out->body = r.p - s->data;
	out->kind = CFI_FDE;
	if (s->is_debug ? id == (width == 8 ? UINT64_MAX : UINT32_MAX) : !id)
		out->kind = CFI_CIE;
	out->cie_off = s->is_debug ? id : id_pos - id;
	*pos = out->end;
	return true;
}

/*
 * Reads a pointer with the encoding; returns 0 and sets bad if it needs data outside the section.
 */
static uint64_t read_pointer(struct dwread *r, const struct cfi_section *s, uint8_t encoding)
{
	uint64_t base = 0, v;

	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		base = s->addr + (r->p - s->data);
	else if (encoding & 0xf0)
		r->bad = true;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = dwread_num(r, 8);
		break;
	case DW_EH_PE_udata2:
		v = dwread_num(r, 2);
		break;
	case DW_EH_PE_udata4:
		v = dwread_num(r, 4);
		break;
	case DW_EH_PE_sdata2:
		v = (int16_t)dwread_num(r, 2);
		break;
	case DW_EH_PE_sdata4:
		v = (int32_t)dwread_num(r, 4);
		break;
	case DW_EH_PE_uleb128:
		v = dwread_uleb(r);
		break;
	case DW_EH_PE_sleb128:
		v = dwread_sleb(r);
		break;
	default:
		r->bad = true;
		return 0;
	}
	return base + v;
}

/* Skips a pointer without evaluating it. */
static void skip_pointer(struct dwread *r, const struct cfi_section *s)
{
	uint8_t encoding = dwread_num(r, 1);

	if (encoding != DW_EH_PE_omit)
		read_pointer(r, s, encoding & 0x0f);
}

/* Reads the letters of an augmentation; false if one is unknown. */
static bool read_augmentation(struct dwread *r, const struct cfi_section *s, const char *letters,
			      struct cfi_cie *cie)
{
	struct dwread data = *r;
	uint64_t sz;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false;
	cie->has_data = true;
	sz = dwread_uleb(r);
	data.p = r->p;
	dwread_skip(r, sz);
	data.end = r->p;
	while (*++letters) {
		if (*letters == 'R')
			cie->encoding = dwread_num(&data, 1);
		else if (*letters == 'P')
			skip_pointer(&data, s);
		else if (*letters == 'L')
			dwread_skip(&data, 1);
		else if (*letters == 'S')
			cie->initial.signal = true;
		else if (!s->arch->signs_ra || (*letters != 'B' && *letters != 'G'))
			return false;
	}
	return !data.bad;
}

static void run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
		struct cfi_state *now, cfi_state_fn fn, void *ctx);

/* Runs the program of the CIE without a function. */
static void run_initial(const struct cfi_section *s, const struct dwread *r, struct cfi_cie *cie)
{
	const struct cfi_fde all = {
		.size = UINT64_MAX,
		.program = r->p - s->data,
		.program_sz = dwread_left(r),
	};

	run(s, cie, &all, &cie->initial, NULL, NULL);
}

void cfi_read_cie(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *out)
{
	struct dwread r = dwread_at(s->data, e->end, e->body);
	const char *letters;
	uint8_t version;
	uint64_t ra;

	*out = (struct cfi_cie){ .off = e->off };
	version = dwread_num(&r, 1);
	letters = (const char *)r.p;
	dwread_skip_str(&r);
	if (r.bad || (version != 1 && version != 3 && version != 4))
		return;
	/* sizes of an address and of a segment number */
	if (version == 4 && dwread_num(&r, 2) != 8)
		return;
	out->code_align = dwread_uleb(&r);
	out->data_align = dwread_sleb(&r);
	ra = version == 1 ? dwread_num(&r, 1) : dwread_uleb(&r);
	if (!read_augmentation(&r, s, letters, out) || r.bad || ra != s->arch->ra ||
	    dwread_left(&r) > CFI_PROGRAM_MAX)
		return;
	out->usable = true;
	run_initial(s, &r, out);
}

bool cfi_read_fde(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		  struct cfi_fde *out)
{
	struct dwread r = dwread_at(s->data, e->end, e->body);

	out->start = read_pointer(&r, s, cie->encoding);
	out->size = read_pointer(&r, s, cie->encoding & 0x0f);
	if (cie->has_data)
		dwread_skip(&r, dwread_uleb(&r));
	out->program = r.p - s->data;
	out->program_sz = dwread_left(&r);
	return !r.bad && out->program_sz <= CFI_PROGRAM_MAX;
}

/* ---- expressions -------------------------------------------------------------------------------- */

/* Reads a block with its length; moves r past it. */
static struct dwread read_block(struct dwread *r)
{
	uint64_t sz = dwread_uleb(r);
	struct dwread block = *r;

	dwread_skip(r, sz);
	block.end = r->p;
	return block;
}

/*
 * Recognises the expression of procedure linkage tables, which push once; *off is the position in
 * an entry after the push.
 */
static bool is_plt(const struct dwread *e, int64_t *off)
{
	static const uint8_t before[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const size_t sz = sizeof(before);

	if (dwread_left(e) != sz + 1 + sizeof(after) || memcmp(e->p, before, sz) ||
	    memcmp(e->p + sz + 1, after, sizeof(after)))
		return false;
	*off = e->p[sz] - DW_OP_lit0;
	return *off == 10 || *off == 11;
}

/* Reads an addition after a memory read; false for anything else. */
static bool read_add(struct dwread *e, uint64_t *add)
{
	uint8_t op = dwread_num(e, 1);

	if (op == DW_OP_plus_uconst)
		*add = dwread_uleb(e);
	else if (op >= DW_OP_lit0 && op <= DW_OP_lit31 && dwread_num(e, 1) == DW_OP_plus)
		*add = op - DW_OP_lit0;
	else
		return false;
	return true;
}

/* Only a few forms occur in practice. */
static void set_cfa_expression(struct cfi_state *now, struct dwread e)
{
	uint8_t op;

	now->cfa = CFI_CFA_OTHER;
	now->add = 0;
	if (is_plt(&e, &now->off)) {
		now->cfa = CFI_CFA_PLT;
		return;
	}
	op = dwread_num(&e, 1);
	if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return;
	now->reg = op - DW_OP_breg0;
	now->off = dwread_sleb(&e);
	if (!e.bad && !dwread_left(&e)) {
		now->cfa = CFI_CFA_REG;
		return;
	}
	if (dwread_num(&e, 1) != DW_OP_deref)
		return;
	if ((!dwread_left(&e) || read_add(&e, &now->add)) && !e.bad && !dwread_left(&e))
		now->cfa = CFI_CFA_DEREF;
}

static struct cfi_rule expression_rule(const struct cfi_arch *arch, struct dwread e)
{
	bool at_fp = dwread_left(&e) == 2 && e.p[0] == DW_OP_breg0 + arch->fp && !e.p[1];

	return (struct cfi_rule){ .where = at_fp ? CFI_AT_FP : CFI_OTHER };
}

/* ---- programs ----------------------------------------------------------------------------------- */

struct machine {
	struct dwread r;
	const struct cfi_section *s;
	const struct cfi_cie *cie;
	struct cfi_state *now;
	unsigned int depth;
	struct cfi_state remembered[REMEMBERED_MAX];
};

static void set_rule(struct machine *m, uint64_t reg, enum cfi_where where, int64_t off)
{
	const struct cfi_arch *arch = m->s->arch;
	const struct cfi_rule rule = { where, off };

	if (reg == arch->fp)
		m->now->fp = rule;
	else if (reg == arch->sp)
		m->now->sp = rule;
	else if (reg == arch->ra)
		m->now->ra = rule;
	else if (arch->base && reg == arch->base)
		m->now->base = rule;
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	const struct cfi_state *initial = &m->cie->initial;
	const struct cfi_arch *arch = m->s->arch;

	if (reg == arch->fp)
		m->now->fp = initial->fp;
	else if (reg == arch->sp)
		m->now->sp = initial->sp;
	else if (reg == arch->ra)
		m->now->ra = initial->ra;
	else if (arch->base && reg == arch->base)
		m->now->base = initial->base;
}

static int64_t scaled(const struct machine *m, uint64_t factor)
{
	return factor * (uint64_t)m->cie->data_align;
}

/* Changes the offset of the CFA; only possible if it is register plus offset. */
static void set_cfa_off(struct machine *m, int64_t off)
{
	if (m->now->cfa != CFI_CFA_REG)
		m->now->cfa = CFI_CFA_OTHER;
	m->now->off = off;
}

static void set_cfa_reg(struct machine *m, uint64_t reg)
{
	if (m->now->cfa != CFI_CFA_REG)
		m->now->cfa = CFI_CFA_OTHER;
	m->now->reg = reg;
}

/* Executes an instruction about the CFA; false for other instructions. */
static bool do_cfa(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		m->now->cfa = CFI_CFA_REG;
		m->now->reg = dwread_uleb(&m->r);
		m->now->off = op == DW_CFA_def_cfa ? (int64_t)dwread_uleb(&m->r) :
						     scaled(m, dwread_sleb(&m->r));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa_reg(m, dwread_uleb(&m->r));
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa_off(m, dwread_uleb(&m->r));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_off(m, scaled(m, dwread_sleb(&m->r)));
		return true;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(m->now, read_block(&m->r));
		return true;
	default:
		return false;
	}
}

/* Executes an instruction about a register; false if it is unknown. */
static bool do_register(struct machine *m, uint8_t op)
{
	uint64_t reg = dwread_uleb(&m->r);

	switch (op) {
	case DW_CFA_offset_extended:
		set_rule(m, reg, CFI_AT, scaled(m, dwread_uleb(&m->r)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(m, reg, CFI_AT, scaled(m, dwread_sleb(&m->r)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(m, reg, CFI_AT, -(uint64_t)scaled(m, dwread_uleb(&m->r)));
		return true;
	case DW_CFA_val_offset:
		set_rule(m, reg, CFI_IS, scaled(m, dwread_uleb(&m->r)));
		return true;
	case DW_CFA_val_offset_sf:
		set_rule(m, reg, CFI_IS, scaled(m, dwread_sleb(&m->r)));
		return true;
	case DW_CFA_restore_extended:
		restore_rule(m, reg);
		return true;
	case DW_CFA_undefined:
		set_rule(m, reg, CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(m, reg, CFI_SAME, 0);
		return true;
	case DW_CFA_register:
		set_rule(m, reg, CFI_IN, dwread_uleb(&m->r));
		return true;
	case DW_CFA_expression:
		set_rule(m, reg, expression_rule(m->s->arch, read_block(&m->r)).where, 0);
		return true;
	case DW_CFA_val_expression:
		read_block(&m->r);
		set_rule(m, reg, CFI_OTHER, 0);
		return true;
	case DW_CFA_GNU_args_size: /* its operand is not a register and is not needed */
		return true;
	default:
		return false;
	}
}

/* Executes an instruction that changes the state; false if that is impossible. */
static bool do_state(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		if (m->depth == REMEMBERED_MAX)
			return false;
		m->remembered[m->depth++] = *m->now;
		return true;
	case DW_CFA_restore_state:
		if (!m->depth)
			return false;
		*m->now = m->remembered[--m->depth];
		return true;
	case NEGATE_RA_STATE:
	case NEGATE_RA_STATE_WITH_PC:
		return m->s->arch->signs_ra;
	default:
		break;
	}
	if ((op & 0xc0) == DW_CFA_offset)
		set_rule(m, op & 0x3f, CFI_AT, scaled(m, dwread_uleb(&m->r)));
	else if ((op & 0xc0) == DW_CFA_restore)
		restore_rule(m, op & 0x3f);
	else
		return do_cfa(m, op) || do_register(m, op);
	return true;
}

/* Whether the instruction advances the address. */
static bool moves(struct machine *m, uint8_t op, uint64_t *addr)
{
	uint64_t delta;

	if ((op & 0xc0) == DW_CFA_advance_loc)
		delta = op & 0x3f;
	else if (op == DW_CFA_advance_loc1)
		delta = dwread_num(&m->r, 1);
	else if (op == DW_CFA_advance_loc2)
		delta = dwread_num(&m->r, 2);
	else if (op == DW_CFA_advance_loc4)
		delta = dwread_num(&m->r, 4);
	else if (op == DW_CFA_MIPS_advance_loc8)
		delta = dwread_num(&m->r, 8);
	else if (op == DW_CFA_set_loc) {
		*addr = read_pointer(&m->r, m->s, m->cie->encoding);
		return true;
	} else
		return false;
	*addr += delta * m->cie->code_align;
	return true;
}

/* Leaves the last state in *now; fn may be NULL. */
static void run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
		struct cfi_state *now, cfi_state_fn fn, void *ctx)
{
	struct machine m;
	uint64_t addr = fde->start, next;
	bool sound = true;

	m.r = dwread_at(s->data, fde->program + (size_t)fde->program_sz, fde->program);
	m.s = s;
	m.cie = cie;
	m.now = now;
	m.depth = 0;
	while (sound && dwread_left(&m.r)) {
		uint8_t op = *m.r.p++;

		next = addr;
		if (!moves(&m, op, &next)) {
			sound = do_state(&m, op) && !m.r.bad;
			continue;
		}
		sound = next >= addr && !m.r.bad;
		if (!sound || next == addr)
			continue;
		if (fn)
			fn(ctx, addr, now);
		addr = next;
		if (addr - fde->start >= fde->size)
			return;
	}
	if (!sound)
		now->cfa = CFI_CFA_OTHER;
	if (fn)
		fn(ctx, addr, now);
}

void cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	     cfi_state_fn fn, void *ctx)
{
	struct cfi_state now = cie->initial;

	run(s, cie, fde, &now, fn, ctx);
}
