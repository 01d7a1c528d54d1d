// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the unwind table of a file from its call frame information.
 *
 * Functions of Go have no FDE in .eh_frame; go_rows.c knows their rows.
 *
 * FDEs can be in any order, so they are collected and sorted. Then each program runs once, by
 * ascending file offset, and its states become rows. Where two FDEs overlap, the first one applies.
 * A short gap between functions keeps the last row: it is padding, or the return address of a call
 * that never returns. In other gaps nothing is known except the code that cfi_patterns.c finds.
 *
 * Only for 64-bit files of this architecture: walks do not support other modes.
 */
#include "symbol/cfi/cfitable.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "symbol/budget.h"
#include "symbol/cfi/cfiarch.h"
#include "symbol/cfi/cfirow.h"
#include "symbol/elf/unpack.h"
#include "unwind/table.h"

/*
 * Functions are aligned to 16 bytes: a shorter gap before one is padding. A gap before other code is code for which no
 * row can be right, such as the place in glibc's clone() at which parent and child go on.
 */
#define ALIGNMENT 16
/* Cold parts of functions are aligned to less. */
#define PADDING_MAX 3
/* Bytes of a program per unit of work. */
#define PROGRAM_UNIT 8
/*
 * Limits of the search for calls in functions that use a base register, and of the programs that run once more for
 * them, and the code before their push. The dynamic linker's have 1 KiB and 100 bytes.
 */
#define BASED_MAX 4096
#define CALLED_PROGRAM_MAX 1024

void cfitable_init(struct cfitable *c, const struct elfimg *img, struct budget *budget)
{
	*c = (struct cfitable){
		.img = img,
		.machine = MACHINE_ELF,
		.budget = budget,
		.text_start = UINT64_MAX,
		.sorted = true,
	};
	c->pages.budget = budget;
}

/*
 * ---- finding the section ------------------------------------------------------------------------
 */

static void find_text(struct cfitable *c)
{
	unsigned int i;

	for (i = 0; i < c->img->seg_cnt; i++) {
		struct elfimg_seg seg = c->img->segs[i];

		if (seg.off >= c->img->size)
			continue;
		if (seg.size > c->img->size - seg.off)
			seg.size = c->img->size - seg.off;
		c->segs[c->seg_cnt++] = seg;
		if (seg.off < c->text_start)
			c->text_start = seg.off;
		if (seg.off + seg.size > c->text_end)
			c->text_end = seg.off + seg.size;
	}
}

static int set_section(struct cfitable *c, const uint8_t *data, size_t size)
{
	if (!data || !size)
		return -ENODATA;
	if (size > UINT32_MAX)
		return budget_exhaust(c->budget, BUDGET_ENTRIES);
	c->section.data = data;
	c->section.size = size;
	return 0;
}

/* Uses .debug_frame if there is no .eh_frame. */
static int find_debug_frame(struct cfitable *c)
{
	struct elfimg_sec sec;
	const uint8_t *data;
	size_t size = 0;
	int ret;

	if (!c->unpack) {
		if (!elfimg_find(c->img, ".debug_frame", &sec))
			return -ENODATA;
		c->section.is_debug = true;
		ret = unpack_new(c->img, &sec, c->budget, &c->unpack);
		if (ret < 0)
			return ret == -EDQUOT ? ret : -ENODATA;
		if (!ret) {
			data = elfimg_data(c->img, &sec, &size);
			return set_section(c, data, size);
		}
	}
	ret = unpack_run(c->unpack);
	if (ret)
		return ret == -EBADMSG ? -ENODATA : ret;
	c->heap = unpack_steal(c->unpack, &size);
	unpack_free(c->unpack);
	c->unpack = NULL;
	return set_section(c, c->heap, size);
}

static int find_section(struct cfitable *c)
{
	struct elfimg_sec sec;
	const uint8_t *data;
	size_t size = 0;

	if (c->unpack)
		return find_debug_frame(c);
	c->arch = cfiarch_find(c->machine);
	if (c->img->machine != c->machine || !c->arch || !c->img->is64)
		return -ENODATA;
	c->section.arch = c->arch;
	find_text(c);
	c->known_cnt = c->arch->known(c->img, c->known);
	if (!c->seg_cnt)
		return -ENODATA;
	if (c->arch->is_bare && c->arch->is_bare(c->img)) {
		c->bare = true;
		return 0;
	}
	if (c->machine == EM_X86_64)
		gopclntab_open(&c->go, c->img);
	if (!elfimg_find(c->img, ".eh_frame", &sec))
		return c->go.func_cnt ? 0 : find_debug_frame(c);
	data = elfimg_data(c->img, &sec, &size);
	c->section.addr = sec.addr;
	return c->go.func_cnt && !size ? 0 : set_section(c, data, size);
}

/* ---- FDEs --------------------------------------------------------------------------------------- */

static int out_of_memory(struct cfitable *c)
{
	return budget_exhaust(c->budget, BUDGET_MEMORY);
}

/* Accounts an entry of this size. */
static int account(struct cfitable *c, uint32_t bytes)
{
	int err = budget_step(c->budget, 1);

	return err ? err : budget_work(c->budget, bytes / PROGRAM_UNIT);
}

static int add_cie(struct cfitable *c, const struct cfi_entry *e)
{
	void *cies = c->cies;

	if (budget_grow(c->budget, &cies, &c->cie_cap, c->cie_cnt, sizeof(*c->cies)))
		return out_of_memory(c);
	c->cies = cies;
	cfi_read_cie(&c->section, e, &c->cies[c->cie_cnt++]);
	return 0;
}

/* The CIE at an offset: usually the last one. They were found in ascending order. */
static const struct cfi_cie *find_cie(const struct cfitable *c, uint64_t off)
{
	size_t low = 0, high = c->cie_cnt;

	if (high && c->cies[high - 1].off == off)
		return &c->cies[high - 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->cies[middle].off == off)
			return &c->cies[middle];
		if (c->cies[middle].off < off)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Converts to file offsets; false if the file has no code there. */
static bool place(const struct cfitable *c, const struct cfi_fde *fde, struct cfitable_range *out)
{
	unsigned int i;

	for (i = 0; i < c->seg_cnt; i++) {
		const struct elfimg_seg *seg = &c->segs[i];
		uint64_t in = fde->start - seg->vaddr;

		if (fde->start < seg->vaddr || in >= seg->size)
			continue;
		out->start = seg->off + in;
		out->end = out->start + (fde->size < seg->size - in ? fde->size : seg->size - in);
		return out->start < out->end;
	}
	return false;
}

static int add_range(struct cfitable *c, const struct cfitable_range *range)
{
	void *ranges = c->ranges;

	if (budget_grow(c->budget, &ranges, &c->range_cap, c->range_cnt, sizeof(*c->ranges)))
		return out_of_memory(c);
	c->ranges = ranges;
	if (c->range_cnt && range->start < c->ranges[c->range_cnt - 1].start)
		c->sorted = false;
	c->ranges[c->range_cnt++] = *range;
	return 0;
}

static int add_fde(struct cfitable *c, const struct cfi_entry *e)
{
	const struct cfi_cie *cie = find_cie(c, e->cie_off);
	struct cfitable_range range;
	struct cfi_fde fde;

	if (!cie || !cie->usable || !cfi_read_fde(&c->section, e, cie, &fde) ||
	    !place(c, &fde, &range))
		return 0;
	range.cie = cie - c->cies;
	range.program = fde.program;
	range.program_sz = fde.program_sz;
	return add_range(c, &range);
}

static int add_go_function(struct cfitable *c, uint64_t i)
{
	struct cfitable_range range = { .cie = CFITABLE_GO, .program = i };
	struct gopclntab_func f;
	struct cfi_fde fde;

	if (i > UINT32_MAX || !gopclntab_func(&c->go, i, &f))
		return 0;
	fde = (struct cfi_fde){ .start = f.start, .size = f.end - f.start };
	if (!place(c, &fde, &range))
		return 0;
	go_rows_learn(&c->go_runtime, c->img, &f);
	return add_range(c, &range);
}

static int read_go_functions(struct cfitable *c)
{
	int err = 0;

	while (!err && c->go_next < c->go.func_cnt) {
		err = add_go_function(c, c->go_next++);
		if (!err)
			err = account(c, PROGRAM_UNIT);
	}
	return err;
}

static int read_entries(struct cfitable *c)
{
	struct cfi_entry e;
	int err = 0;

	while (cfi_next(&c->section, &c->pos, &e)) {
		if (e.kind != CFI_NOTHING)
			err = e.kind == CFI_CIE ? add_cie(c, &e) : add_fde(c, &e);
		if (!err)
			err = account(c, e.end - e.body);
		if (err)
			return err;
	}
	err = read_go_functions(c);
	if (err)
		return err;
	return c->range_cnt || c->bare ? 0 : -ENODATA;
}

static int compare(const void *pa, const void *pb)
{
	const struct cfitable_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Usually sorted already by the linker. */
static int sort_ranges(struct cfitable *c)
{
	void *ranges = c->ranges;
	int err;

	if (c->sorted)
		return 0;
	err = resumable_sort_run(&c->sort, &ranges, c->range_cnt, sizeof(*c->ranges), compare,
				 c->budget);
	c->ranges = ranges;
	return err == -ENOMEM ? out_of_memory(c) : err;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static void put_special(struct cfitable *c, uint64_t off, uint32_t special)
{
	cfipages_put(&c->pages, off, cfirow_special(special), 0);
}

/* Fills the gap between the last function and a function that starts at `to`. */
static void put_gap(struct cfitable *c, uint64_t to)
{
	const struct cfi_patterns *k = c->known;
	const uint64_t gap = to > c->done ? to - c->done : 0;

	if (gap >= ALIGNMENT || (gap > PADDING_MAX && to % ALIGNMENT))
		put_special(c, c->done, PROF_UNWIND_NONE);
	for (; k < c->known + c->known_cnt; k++)
		if (k->off >= c->done && k->off < to)
			cfipages_put(&c->pages, k->off, k->row, 0);
}

struct running {
	struct cfitable *c;
	const struct cfitable_range *range;
	uint64_t addr; /* start of the range */
	struct cfi_eh_return eh;
	uint64_t cut_to; /* states between eh.from and this file offset are wrong; 0: none */
	bool cut; /* their rows were put */
	/* the last state is CFA = base register + based_n, from this file offset on; 0: it is not */
	uint64_t based_from;
	uint32_t based_row, based_n;
};

/* @off: file offset. Sets only the part within this function and after the previous one. */
static void put_row(const struct running *r, uint64_t off, uint32_t row, uint32_t big)
{
	if (off < r->range->end)
		cfipages_put(&r->c->pages, off > r->c->done ? off : r->c->done, row, big);
}

static void put_cut(struct running *r)
{
	const uint64_t done = r->c->done;

	if (r->eh.context && r->eh.leaving > done)
		cfipages_put(&r->c->pages, r->eh.from > done ? r->eh.from : done,
			     cfirow_special(PROF_UNWIND_CONTEXT), r->eh.context);
	else
		r->eh.leaving = r->eh.from;
	put_special(r->c, r->eh.leaving > done ? r->eh.leaving : done, PROF_UNWIND_UNSUPPORTED);
	r->cut = true;
}

/* Where a called function saves the base register */
struct saving {
	const struct cfitable *c;
	const struct cfitable_range *range;
	uint64_t addr; /* start of the range */
	bool saved;
	uint32_t below; /* the CFA, in words; 0: not by a push */
	/* the register has the caller's value from this file offset on; 0: the stack has it */
	uint64_t bare_from;
	uint32_t bare; /* bytes of code that were searched there */
	bool leaves; /* the function may call or jump to another there */
};

/* Whether code may call, or jump to, another function, as far as its bytes show. */
static bool may_leave(const uint8_t *code, size_t sz)
{
	enum { CALL = 0xe8, JUMP = 0xe9, JUMP_SHORT = 0xeb, INDIRECT = 0xff, TWO_BYTES = 0x0f };
	size_t i;

	for (i = 0; i < sz; i++) {
		const uint8_t next = i + 1 < sz ? code[i + 1] : 0;

		if (code[i] == CALL || code[i] == JUMP || code[i] == JUMP_SHORT ||
		    (code[i] == TWO_BYTES && (next & 0xf0) == 0x80) ||
		    (code[i] == INDIRECT && ((next & 0x38) == 0x10 || (next & 0x38) == 0x20)))
			return true;
	}
	return false;
}

/* Searches the code without the pushed word, up to a file offset. */
static void search_bare(struct saving *s, uint64_t to)
{
	if (to > s->range->end)
		to = s->range->end;
	if (!s->bare_from || to <= s->bare_from)
		return;
	if (to - s->bare_from > CALLED_PROGRAM_MAX - s->bare)
		s->leaves = true;
	if (s->leaves)
		return;
	s->bare += to - s->bare_from;
	s->leaves = may_leave(s->c->img->bytes + s->bare_from, to - s->bare_from);
}

static void find_push(void *ctx, uint64_t addr, const struct cfi_state *state)
{
	enum { PUSH_RBX = 0x53, BELOW_MAX = 0xff };
	struct saving *s = ctx;
	const bool stored = state->base.where == CFI_AT && state->base.off < 0 &&
			    state->base.off >= -8 * BELOW_MAX;
	const bool popped = stored && state->cfa == CFI_CFA_REG && state->reg == s->c->arch->sp &&
			    state->off < -state->base.off;
	const bool bare =
		state->base.where == CFI_UNSAID || state->base.where == CFI_SAME || popped;
	uint64_t off = s->range->start + (addr - s->addr);

	search_bare(s, off);
	s->bare_from = bare ? off : 0;
	if (s->saved || bare)
		return;
	s->saved = true;
	if (stored && state->base.off % 8 == 0 && off > s->range->start && off < s->range->end &&
	    s->c->img->bytes[off - 1] == PUSH_RBX)
		s->below = -state->base.off / 8;
}

/*
 * How many words below its CFA the function at a file offset has pushed the base register whenever another one runs
 * for it; 0: unknown
 */
static uint32_t find_saved(struct cfitable *c, uint64_t off)
{
	const struct cfitable_range key = { .start = off };
	struct saving s = { .c = c, .bare_from = off };
	struct cfi_fde fde;

	s.range = bsearch(&key, c->ranges, c->range_cnt, sizeof(*c->ranges), compare);
	if (!s.range || s.range->cie == CFITABLE_GO || s.range->program_sz > CALLED_PROGRAM_MAX ||
	    !elfimg_addr(c->img, off, &s.addr))
		return 0;
	fde = (struct cfi_fde){
		.start = s.addr,
		.size = s.range->end - off,
		.program = s.range->program,
		.program_sz = s.range->program_sz,
	};
	cfi_run(&c->section, &c->cies[s.range->cie], &fde, find_push, &s);
	search_bare(&s, s.range->end);
	c->extra += fde.program_sz + s.bare;
	return s.leaves ? 0 : s.below;
}

/* Rows have no place for the base register, so the called functions' programs show where it is during calls. */
static void put_calls(struct running *r, uint64_t to)
{
	enum { CALL = 0xe8, SIZE = 5 };
	const struct elfimg *img = r->c->img;
	uint64_t at = r->based_from, off;
	uint32_t saved;
	int32_t rel;

	if (to > r->range->end)
		to = r->range->end;
	for (; at && at + SIZE <= to; at++) {
		if (img->bytes[at] != CALL)
			continue;
		memcpy(&rel, img->bytes + at + 1, sizeof(rel));
		if (!elfimg_off(img, r->addr + (at - r->range->start) + SIZE + rel, &off))
			continue;
		saved = find_saved(r->c, off);
		if (!saved)
			continue;
		put_row(r, at + SIZE - 1, cfirow_special(PROF_UNWIND_PUSHED),
			saved | r->based_n << 8);
		put_row(r, at + SIZE, r->based_row, 0);
	}
	r->based_from = 0;
}

/* Whether the base register keeps the stack pointer. A function with a cut has only the rows of its states. */
static bool is_based(const struct running *r, const struct cfi_state *state, uint32_t row)
{
	const struct cfi_arch *arch = r->c->arch;

	return !r->cut_to && arch->base && r->range->end - r->range->start <= BASED_MAX &&
	       state->cfa == CFI_CFA_REG && state->reg == arch->base &&
	       row >> PROF_UNWIND_ROW_KIND_SHIFT == PROF_UNWIND_REG &&
	       (row & PROF_UNWIND_ROW_FP_MASK) == PROF_UNWIND_FP_SAME;
}

static void put_state(void *ctx, uint64_t addr, const struct cfi_state *state)
{
	struct running *r = ctx;
	uint64_t off = r->range->start + (addr - r->addr);
	uint32_t big, row = r->c->arch->row(state, &big);

	put_calls(r, off);
	if (is_based(r, state, row)) {
		r->based_from = off;
		r->based_row = row;
		r->based_n = state->off / 8;
	}

	if (r->cut_to && off >= r->eh.from && !r->cut)
		put_cut(r);
	if (r->cut_to && off >= r->eh.from && off < r->cut_to)
		return;
	put_row(r, off, row, big);
}

/* Finds where a function that has rewritten its frame for an exception's handler jumps to it. */
static void find_jump(void *ctx, uint64_t addr, const struct cfi_state *state)
{
	struct running *r = ctx;

	if (!r->cut_to && state->ra.where == CFI_IN)
		r->cut_to = r->range->start + (addr - r->addr);
}

/*
 * Functions that return to an exception's handler copy the handler's registers over the registers that
 * they saved for their caller. Their rows are wrong from then on; their own context still has the caller.
 */
static void find_cut(struct running *r, const struct cfi_fde *fde)
{
	const struct cfitable *c = r->c;
	const uint8_t in_register[] = { DW_CFA_register, c->arch->ra };

	if (c->machine != EM_X86_64 || !fde->program_sz ||
	    !memmem(c->section.data + fde->program, fde->program_sz, in_register,
		    sizeof(in_register)))
		return;
	cfi_run(&c->section, &c->cies[r->range->cie], fde, find_jump, r);
	if (!r->cut_to || !cfi_patterns_eh_return(c->img, r->range->start, r->cut_to, &r->eh))
		r->cut_to = 0;
}

/* The states of a function, except those in the cut */
static void put_states(struct running *r, const struct cfi_fde *fde)
{
	const struct cfitable *c = r->c;

	find_cut(r, fde);
	cfi_run(&c->section, &c->cies[r->range->cie], fde, put_state, r);
	put_calls(r, r->range->end);
}

static void put_go_row(void *ctx, uint64_t addr, uint32_t row, uint32_t big)
{
	const struct running *r = ctx;

	put_row(r, r->range->start + (addr - r->addr), row, big);
}

static void run_go_function(struct cfitable *c, const struct cfitable_range *range)
{
	struct running r = { .c = c, .range = range };
	struct gopclntab_func f;

	if (!gopclntab_func(&c->go, range->program, &f))
		return;
	r.addr = f.start;
	go_rows_put(&c->go_runtime, c->img, &c->go, &f, put_go_row, &r);
}

/*
 * Puts the rows of a function of x86-64 that has no caller although its call frame information describes one, and
 * returns whether it is such a function. Callers are searched at their return address - 1. If that is padding, it
 * shows that the function was not called.
 */
static bool put_root(struct cfitable *c, const struct cfitable_range *range)
{
	if (cfi_patterns_is_start_context(c->img, range->start, range->end)) {
		if (range->start > c->done)
			put_special(c, range->start - 1, PROF_UNWIND_NO_FRAME);
	} else if (!cfi_patterns_is_goexit(c->img, range->start, range->end)) {
		return false;
	}
	put_special(c, range->start > c->done ? range->start : c->done, PROF_UNWIND_END);
	return true;
}

static void run_range(struct cfitable *c, const struct cfitable_range *range)
{
	struct running r = { .c = c, .range = range };
	struct cfi_fde fde = {
		.size = range->end - range->start,
		.program = range->program,
		.program_sz = range->program_sz,
	};
	bool is_root;

	elfimg_addr(c->img, range->start, &fde.start);
	r.addr = fde.start;
	put_gap(c, range->start);
	is_root = range->cie != CFITABLE_GO && c->machine == EM_X86_64 && put_root(c, range);
	if (c->done < range->start)
		c->done = range->start;
	if (range->cie == CFITABLE_GO)
		run_go_function(c, range);
	else if (!is_root)
		put_states(&r, &fde);
	c->done = range->end;
}

static int run_ranges(struct cfitable *c)
{
	while (c->next < c->range_cnt) {
		const struct cfitable_range *range = &c->ranges[c->next++];
		uint32_t bytes = range->program_sz;
		int err;

		if (range->end > c->done)
			run_range(c, range);
		/* at least as much work as there is code */
		if (range->cie == CFITABLE_GO)
			bytes = range->end - range->start < UINT32_MAX ? range->end - range->start :
									 UINT32_MAX;
		bytes = c->extra < UINT32_MAX - bytes ? bytes + c->extra : UINT32_MAX;
		c->extra = 0;
		err = c->pages.err;
		if (!err)
			err = account(c, bytes);
		if (err)
			return err;
	}
	put_gap(c, c->text_end);
	return 0;
}

int cfitable_build(struct cfitable *c, struct unwind_table *out)
{
	int err = 0;

	switch (c->stage) {
	case CFITABLE_FIND:
		err = find_section(c);
		break;
	case CFITABLE_READ:
		err = read_entries(c);
		break;
	case CFITABLE_SORT:
		err = sort_ranges(c);
		if (!err)
			cfipages_init(&c->pages, c->budget, c->text_start);
		c->done = c->text_start;
		break;
	case CFITABLE_RUN:
		err = run_ranges(c);
		break;
	case CFITABLE_DONE:
		return cfipages_finish(&c->pages, c->text_end, out);
	}
	if (err)
		return err;
	c->stage++;
	return cfitable_build(c, out);
}

void cfitable_fini(struct cfitable *c)
{
	unpack_free(c->unpack);
	if (c->heap)
		budget_give_back(c->budget, c->section.size);
	free(c->heap);
	resumable_sort_free(&c->sort, c->range_cnt, sizeof(*c->ranges), c->budget);
	budget_free(c->budget, c->cies, c->cie_cap, sizeof(*c->cies));
	budget_free(c->budget, c->ranges, c->range_cap, sizeof(*c->ranges));
	cfipages_fini(&c->pages);
}
