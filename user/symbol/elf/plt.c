// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names for stubs in procedure linkage tables, which no symbol table has.
 *
 * Linkers lay these tables out in several ways (.plt, .plt.sec, .plt.got, with and without
 * endbr64), so order and entry size are not assumed. Each stub ends in an indirect jump through a
 * slot of the global offset table, and the relocation of that slot has the name.
 *
 * On arm64 a stub loads the slot with two instructions, adrp and ldr; with branch protection there
 * are more instructions around them.
 */
#include "symbol/elf/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/budget.h"
#include "symbol/elf/arm64.h"
#include "symbol/elf/elfimg.h"
#include "symbol/elf/symtab.h"

enum {
	X86_JUMP_SZ = 6,
	BR_X17 = 0xd61f0220,
};

/* Position of a stub in the section, and the address of its slot */
struct stub {
	uint64_t start, size;
	uint64_t slot;
};

struct machine {
	uint16_t machine; /* EM_* */
	uint32_t jump_slot, glob_dat; /* relocation types */
	uint32_t step; /* alignment of instructions */
	uint32_t load_sz; /* size of the instructions that have the slot */
	/* Decodes such instructions at `at` of the section's code; false if there are none. */
	bool (*read)(const struct elfimg_sec *sec, const uint8_t *code, size_t size, uint64_t at,
		     struct stub *out);
};

enum { READ_SLOTS, SORT_SLOTS, FIND_STUBS };

static int add_slot(struct plt *p, struct budget *budget, uint64_t addr, const char *name)
{
	void *array = p->slots;

	if (budget_grow(budget, &array, &p->slot_cap, p->slot_cnt, sizeof(*p->slots)))
		return budget_exhaust(budget, BUDGET_MEMORY);
	p->slots = array;
	p->slots[p->slot_cnt++] = (struct plt_slot){ .addr = addr, .name = name };
	return 0;
}

/* The name of dynamic symbol `idx`; NULL if there is none. */
static const char *symbol_name(const struct elfimg *img, const struct elfimg_sec *relocations,
			       uint64_t idx)
{
	struct elfimg_sec syms, strings;
	const uint8_t *data, *names;
	size_t size, names_sz;
	Elf64_Sym sym;

	if (!elfimg_section(img, relocations->link, &syms) ||
	    !elfimg_section(img, syms.link, &strings))
		return NULL;
	data = elfimg_data(img, &syms, &size);
	names = elfimg_data(img, &strings, &names_sz);
	if (!data || !names || names[names_sz - 1] || idx >= size / sizeof(sym))
		return NULL;
	memcpy(&sym, data + idx * sizeof(sym), sizeof(sym));
	if (sym.st_name >= names_sz || !names[sym.st_name])
		return NULL;
	return (const char *)names + sym.st_name;
}

static int read_slots(struct plt *p, struct budget *budget, const struct elfimg *img,
		      const struct machine *m)
{
	struct elfimg_sec sec;

	for (; elfimg_section(img, p->section, &sec); p->section++, p->entry = 0) {
		const uint8_t *data;
		Elf64_Rela rela;
		size_t size;
		int err;

		data = elfimg_data(img, &sec, &size);
		if (sec.type != SHT_RELA || !(sec.flags & SHF_ALLOC) || !data)
			continue;
		while (p->entry < size / sizeof(rela)) {
			const char *name = NULL;

			memcpy(&rela, data + p->entry++ * sizeof(rela), sizeof(rela));
			if (ELF64_R_TYPE(rela.r_info) == m->jump_slot ||
			    ELF64_R_TYPE(rela.r_info) == m->glob_dat)
				name = symbol_name(img, &sec, ELF64_R_SYM(rela.r_info));
			err = name ? add_slot(p, budget, rela.r_offset, name) : 0;
			if (!err)
				err = budget_step(budget, 1);
			if (err)
				return err;
		}
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct plt_slot *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Stubs start on 8-byte boundaries; the jump is within the first 16 bytes. */
static bool read_x86_64(const struct elfimg_sec *sec, const uint8_t *code, size_t size, uint64_t at,
			struct stub *out)
{
	uint64_t start = at & ~7ull;
	int32_t disp;

	if (code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&disp, code + at + 2, sizeof(disp));
	*out = (struct stub){
		.start = start,
		.size = start % 16 || sec->entsize == 8 ? 8 : 16,
		.slot = sec->addr + at + X86_JUMP_SZ + (int64_t)disp,
	};
	return true;
}

/* adrp x16, page; ldr x17, [x16, off] */
static bool read_arm64(const struct elfimg_sec *sec, const uint8_t *code, size_t size, uint64_t at,
		       struct stub *out)
{
	const uint32_t adrp = arm64_insn(code, size, at),
		       ldr = arm64_insn(code, size, at + ARM64_INSN_SZ);
	const bool lands =
		at >= ARM64_INSN_SZ && arm64_insn(code, size, at - ARM64_INSN_SZ) == ARM64_BTI_C;
	const bool plain = !lands && arm64_insn(code, size, at + 3 * ARM64_INSN_SZ) == BR_X17;
	int64_t pages;

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (int64_t)((int32_t)(adrp << 8) >> 13) * 4 + (adrp >> 29 & 3);
	*out = (struct stub){
		.start = lands ? at - ARM64_INSN_SZ : at,
		.size = plain ? 16 : 24,
		.slot = ((sec->addr + at) & ~0xfffull) + (uint64_t)pages * 0x1000 +
			(ldr >> 10 & 0xfff) * 8,
	};
	return true;
}

static const struct machine *find_machine(const struct elfimg *img)
{
	static const struct machine all[] = {
		{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, 1, X86_JUMP_SZ, read_x86_64 },
		{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, ARM64_INSN_SZ,
		  2 * ARM64_INSN_SZ, read_arm64 },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (img->is64 && all[i].machine == img->machine)
			return &all[i];
	return NULL;
}

static int add_stub(struct plt *p, struct symtab *t, const struct elfimg_sec *sec,
		    const struct machine *m, const struct stub *stub)
{
	struct symtab_sym sym = { .plt = true };
	const struct plt_slot *slot;
	const struct plt_slot key = { .addr = stub->slot };

	slot = bsearch(&key, p->slots, p->slot_cnt, sizeof(key), compare);
	if (!slot)
		return 0;
	sym.addr = sec->addr + stub->start;
	sym.size = stub->size;
	sym.name = slot->name;
	p->entry += m->load_sz - m->step;
	return symtab_add(t, &sym);
}

static int find_stubs(struct plt *p, struct symtab *t, const struct elfimg *img,
		      const struct machine *m)
{
	static const char *const tables[] = { ".plt", ".plt.sec", ".plt.got" };

	for (; p->table < sizeof(tables) / sizeof(tables[0]); p->table++, p->entry = 0) {
		struct elfimg_sec sec;
		const uint8_t *code;
		size_t size;
		int err = 0;

		code = elfimg_find(img, tables[p->table], &sec) ? elfimg_data(img, &sec, &size) :
								  NULL;
		for (; code && p->entry + m->load_sz <= size; p->entry += m->step) {
			struct stub stub;

			if (m->read(&sec, code, size, p->entry, &stub))
				err = add_stub(p, t, &sec, m, &stub);
			if (!err && !(p->entry % 16))
				err = budget_work(t->budget, 1);
			if (err) {
				p->entry += m->step;
				return err;
			}
		}
	}
	return 0;
}

int plt_add_symbols(struct plt *p, struct symtab *t, const struct elfimg *img)
{
	const struct machine *m = find_machine(img);
	void *array = p->slots;
	int err = 0;

	if (!m)
		return 0;
	if (p->stage == READ_SLOTS)
		err = read_slots(p, t->budget, img, m);
	if (p->stage == SORT_SLOTS) {
		err = resumable_sort_run(&p->sort, &array, p->slot_cnt, sizeof(*p->slots), compare,
					 t->budget);
		p->slots = array;
	}
	if (p->stage == FIND_STUBS && p->slot_cnt)
		err = find_stubs(p, t, img, m);
	if (err)
		return err;
	return p->stage++ < FIND_STUBS ? plt_add_symbols(p, t, img) : 0;
}

void plt_free(struct plt *p, const struct symtab *t)
{
	resumable_sort_free(&p->sort, p->slot_cnt, sizeof(*p->slots), t->budget);
	budget_free(t->budget, p->slots, p->slot_cap, sizeof(*p->slots));
	*p = (struct plt){ 0 };
}
