// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names for procedure linkage table stubs, which no symbol table has.
 *
 * Linkers lay their tables out in half a dozen ways (.plt, .plt.sec, .plt.got, with and without
 * endbr64), so nothing is assumed about order or entry size: each stub ends in an indirect jump
 * through a slot of the global offset table, and the relocation of that slot has the name.
 */
#include "symbol/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/budget.h"
#include "symbol/elfimg.h"
#include "symbol/symtab.h"

#define JUMP_LEN 6

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

/* The name of dynamic symbol `idx`; NULL when there is none. */
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

static int read_slots(struct plt *p, struct budget *budget, const struct elfimg *img)
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
			if (ELF64_R_TYPE(rela.r_info) == R_X86_64_JUMP_SLOT ||
			    ELF64_R_TYPE(rela.r_info) == R_X86_64_GLOB_DAT)
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

/* Stubs begin on 8-byte boundaries; the jump is within the first 16 bytes. */
static int add_stub(struct plt *p, struct symtab *t, const struct elfimg_sec *sec,
		    const uint8_t *jump)
{
	struct symtab_sym sym = { .plt = true };
	const struct plt_slot *slot;
	struct plt_slot key = { 0 };
	uint64_t start = p->entry & ~7ull;
	int32_t disp;

	memcpy(&disp, jump + 2, sizeof(disp));
	key.addr = sec->addr + p->entry + JUMP_LEN + (int64_t)disp;
	slot = bsearch(&key, p->slots, p->slot_cnt, sizeof(key), compare);
	if (!slot)
		return 0;
	sym.addr = sec->addr + start;
	sym.size = start % 16 || sec->entsize == 8 ? 8 : 16;
	sym.name = slot->name;
	p->entry += JUMP_LEN - 1;
	return symtab_add(t, &sym);
}

static int find_stubs(struct plt *p, struct symtab *t, const struct elfimg *img)
{
	static const char *const tables[] = { ".plt", ".plt.sec", ".plt.got" };

	for (; p->table < sizeof(tables) / sizeof(tables[0]); p->table++, p->entry = 0) {
		struct elfimg_sec sec;
		const uint8_t *code;
		size_t size;
		int err = 0;

		code = elfimg_find(img, tables[p->table], &sec) ? elfimg_data(img, &sec, &size) :
								  NULL;
		for (; code && p->entry + JUMP_LEN <= size; p->entry++) {
			const uint8_t *jump = code + p->entry;

			if (jump[0] == 0xff && jump[1] == 0x25)
				err = add_stub(p, t, &sec, jump);
			if (!err && !(p->entry % 16))
				err = budget_work(t->budget, 1);
			if (err) {
				p->entry++;
				return err;
			}
		}
	}
	return 0;
}

int plt_add_symbols(struct plt *p, struct symtab *t, const struct elfimg *img)
{
	void *array = p->slots;
	int err = 0;

	if (img->machine != EM_X86_64 || !img->is64)
		return 0;
	if (p->stage == READ_SLOTS)
		err = read_slots(p, t->budget, img);
	if (p->stage == SORT_SLOTS) {
		err = slicesort_run(&p->sort, &array, p->slot_cnt, sizeof(*p->slots), compare,
				    t->budget);
		p->slots = array;
	}
	if (p->stage == FIND_STUBS && p->slot_cnt)
		err = find_stubs(p, t, img);
	if (err)
		return err;
	return p->stage++ < FIND_STUBS ? plt_add_symbols(p, t, img) : 0;
}

void plt_free(struct plt *p, const struct symtab *t)
{
	slicesort_free(&p->sort, p->slot_cnt, sizeof(*p->slots), t->budget);
	budget_free(t->budget, p->slots, p->slot_cap, sizeof(*p->slots));
	*p = (struct plt){ 0 };
}
