// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names for procedure linkage table stubs, which no symbol table has.
 *
 * Linkers lay their tables out in half a dozen ways (.plt, .plt.sec, .plt.got, with and without
 * endbr64), so nothing is assumed about order or entry size: each stub ends in an indirect jump
 * through a slot of the global offset table, and the relocation of that slot has the name.
 */
#include "symbol/plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/elfimg.h"
#include "symbol/symtab.h"

struct slot {
	uint64_t addr;
	const char *name;
};

struct slots {
	struct slot *v;
	size_t cnt, cap;
};

static void add_relocations(const struct elfimg *img, Elf_Scn *scn, const GElf_Shdr *shdr,
			    struct slots *slots)
{
	Elf_Scn *symscn = elf_getscn(img->elf, shdr->sh_link);
	Elf_Data *syms = symscn ? elf_getdata(symscn, NULL) : NULL;
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr symhdr;
	GElf_Rela rela;
	GElf_Sym sym;
	int i;

	if (!syms || !data || !gelf_getshdr(symscn, &symhdr))
		return;
	for (i = 0; gelf_getrela(data, i, &rela); i++) {
		unsigned long type = GELF_R_TYPE(rela.r_info);
		const char *name;

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		if (!gelf_getsym(syms, GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(img->elf, symhdr.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		slots->v = array_reserve(slots->v, &slots->cap, slots->cnt + 1, sizeof(*slots->v));
		slots->v[slots->cnt++] = (struct slot){ .addr = rela.r_offset, .name = name };
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Stubs begin on 8-byte boundaries; the jump is within the first 16 bytes. */
static void add_stubs(struct symtab *t, const GElf_Shdr *shdr, const Elf_Data *data,
		      const struct slots *slots)
{
	const uint8_t *code = data->d_buf;
	size_t jump_len = 6, i;

	for (i = 0; i + jump_len <= data->d_size; i++) {
		struct symtab_sym sym = { .plt = true };
		const struct slot *slot;
		struct slot key = { 0 };
		int32_t disp;
		size_t start;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&disp, code + i + 2, sizeof(disp));
		key.addr = shdr->sh_addr + i + jump_len + (int64_t)disp;
		slot = slots->cnt ? bsearch(&key, slots->v, slots->cnt, sizeof(key), compare) :
				    NULL;
		if (!slot)
			continue;
		start = i & ~(size_t)7;
		sym.addr = shdr->sh_addr + start;
		sym.size = start % 16 || shdr->sh_entsize == 8 ? 8 : 16;
		sym.name = slot->name;
		symtab_add(t, &sym);
		i += jump_len - 1;
	}
}

void plt_add_symbols(struct symtab *t, const struct elfimg *img)
{
	static const char *const tables[] = { ".plt", ".plt.sec", ".plt.got" };
	struct slots slots = { 0 };
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t i;

	if (img->machine != EM_X86_64)
		return;
	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA &&
		    (shdr.sh_flags & SHF_ALLOC))
			add_relocations(img, scn, &shdr, &slots);
	if (slots.cnt)
		qsort(slots.v, slots.cnt, sizeof(*slots.v), compare);
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		Elf_Data *data;

		scn = elfimg_section(img, tables[i], &shdr);
		data = scn ? elf_getdata(scn, NULL) : NULL;
		if (data && data->d_buf && data->d_size <= shdr.sh_size)
			add_stubs(t, &shdr, data, &slots);
	}
	free(slots.v);
}
