// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbol tables as non-overlapping address spans, found by binary search.
 *
 * A linker's table has aliases (write, __write, __libc_write), labels without size, functions
 * inside functions, and in a hostile file anything at all. All of it is settled once, when the
 * table is finished: one symbol for each address, chosen as a reader would choose; then a sweep in
 * address order with a stack of the symbols that are still open, so that the innermost one owns an
 * address. A symbol without size owns what lies up to the next one, unless it is inside another:
 * then it is a label, and the function around it is the better answer.
 */
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/elfimg.h"

void symtab_add(struct symtab *t, const struct symtab_sym *sym)
{
	t->syms = array_reserve(t->syms, &t->sym_cap, t->sym_cnt + 1, sizeof(*t->syms));
	t->syms[t->sym_cnt++] = *sym;
}

enum {
	RANK_STRONG = 0x100,
	RANK_GLOBAL = 0x200,
	RANK_SIZED = 0x400,
	RANK_FUNC = 0x800,
	RANK_PLAIN_NAME = 0xff,
};

/* Functions with a size before labels, exported names before local ones, write before __write. */
static uint32_t rank_of(const GElf_Sym *sym, const char *name)
{
	unsigned int bind = GELF_ST_BIND(sym->st_info);
	size_t underscores = strspn(name, "_");
	uint32_t rank = underscores < RANK_PLAIN_NAME ? RANK_PLAIN_NAME - underscores : 0;

	if (GELF_ST_TYPE(sym->st_info) != STT_NOTYPE)
		rank |= RANK_FUNC;
	if (sym->st_size)
		rank |= RANK_SIZED;
	if (bind != STB_LOCAL)
		rank |= RANK_GLOBAL;
	if (bind != STB_WEAK)
		rank |= RANK_STRONG;
	return rank;
}

/* Assemblers mark stretches of code and data ($a, $x, $d), compilers leave .L labels. */
static bool is_mark(const char *name)
{
	return !*name || *name == '$' || !strncmp(name, ".L", 2);
}

/* Symbol table sections hold names in another section, which must end in a NUL to be usable. */
static const Elf_Data *string_data(const struct elfimg *img, const GElf_Shdr *shdr)
{
	Elf_Scn *scn = elf_getscn(img->elf, shdr->sh_link);
	const Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	return ((const char *)data->d_buf)[data->d_size - 1] ? NULL : data;
}

/* The end of the executable section or segment around a symbol; false when it is not code. */
static bool code_limit(const struct elfimg *img, const GElf_Sym *sym, uint64_t addr,
		       uint64_t *limit)
{
	Elf_Scn *scn;
	GElf_Shdr shdr;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_COMMON)
		return false;
	scn = sym->st_shndx < SHN_LORESERVE ? elf_getscn(img->elf, sym->st_shndx) : NULL;
	if (!scn || !gelf_getshdr(scn, &shdr)) {
		/* absolute, or a section number too large for the field: the segments decide */
		*limit = UINT64_MAX;
		return sym->st_shndx >= SHN_LORESERVE;
	}
	if (!(shdr.sh_flags & SHF_EXECINSTR) || addr < shdr.sh_addr)
		return false;
	*limit = shdr.sh_addr + shdr.sh_size;
	return addr - shdr.sh_addr < shdr.sh_size;
}

static bool read_sym(const struct elfimg *img, const GElf_Sym *sym, const Elf_Data *strings,
		     struct symtab_sym *out)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (sym->st_name >= strings->d_size)
		return false;
	out->name = (const char *)strings->d_buf + sym->st_name;
	if (is_mark(out->name))
		return false;
	out->addr = img->machine == EM_ARM ? sym->st_value & ~1ull : sym->st_value;
	out->size = sym->st_size;
	out->rank = rank_of(sym, out->name);
	out->plt = false;
	return code_limit(img, sym, out->addr, &out->limit);
}

size_t symtab_add_image(struct symtab *t, const struct elfimg *img, uint32_t section_type)
{
	size_t before = t->sym_cnt;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(img->elf, scn))) {
		const Elf_Data *strings;
		Elf_Data *data;
		GElf_Shdr shdr;
		GElf_Sym sym;
		int i;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != section_type)
			continue;
		data = elf_getdata(scn, NULL);
		strings = string_data(img, &shdr);
		if (!data || !data->d_buf || !strings)
			continue;
		for (i = 0; gelf_getsym(data, i, &sym); i++) {
			struct symtab_sym s;

			if (read_sym(img, &sym, strings, &s))
				symtab_add(t, &s);
		}
	}
	return t->sym_cnt - before;
}

/* Of equals the first by name, so that the choice does not hang on the order in the file. */
static int compare(const void *pa, const void *pb)
{
	const struct symtab_sym *a = pa, *b = pb;
	size_t a_len, b_len;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	a_len = strlen(a->name);
	b_len = strlen(b->name);
	if (a_len != b_len)
		return a_len > b_len ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void emit(struct symtab *t, uint64_t start, uint64_t end, size_t sym)
{
	if (start >= end)
		return;
	t->spans = array_reserve(t->spans, &t->span_cap, t->span_cnt + 1, sizeof(*t->spans));
	t->spans[t->span_cnt++] = (struct symtab_span){ .start = start, .end = end, .sym = sym };
}

static uint64_t sym_end(const struct symtab *t, size_t i)
{
	const struct symtab_sym *s = &t->syms[i];

	if (s->size)
		return s->addr + s->size < s->addr ? UINT64_MAX : s->addr + s->size;
	if (i + 1 < t->sym_cnt && t->syms[i + 1].addr < s->limit)
		return t->syms[i + 1].addr;
	return s->limit;
}

/* Closes the open symbols that end at or before `upto`; returns how far addresses are settled. */
static uint64_t close_open(struct symtab *t, const size_t *open, size_t *depth, uint64_t at,
			   uint64_t upto)
{
	while (*depth) {
		size_t top = open[*depth - 1];
		uint64_t end = sym_end(t, top);

		if (end > upto) {
			emit(t, at, upto, top);
			return upto;
		}
		emit(t, at, end, top);
		if (end > at)
			at = end;
		(*depth)--;
	}
	return upto;
}

void symtab_finish(struct symtab *t)
{
	size_t *open, depth = 0, kept = 0, i;
	uint64_t at = 0;

	if (!t->sym_cnt)
		return;
	qsort(t->syms, t->sym_cnt, sizeof(*t->syms), compare);
	for (i = 0; i < t->sym_cnt; i++)
		if (!kept || t->syms[kept - 1].addr != t->syms[i].addr)
			t->syms[kept++] = t->syms[i];
	t->sym_cnt = kept;
	open = xcalloc(kept, sizeof(*open));
	for (i = 0; i < t->sym_cnt; i++) {
		at = close_open(t, open, &depth, at, t->syms[i].addr);
		if (t->syms[i].size || !depth)
			open[depth++] = i;
	}
	close_open(t, open, &depth, at, UINT64_MAX);
	free(open);
}

const struct symtab_span *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t lo = 0, hi = t->span_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->spans[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >= t->spans[lo - 1].end)
		return NULL;
	return &t->spans[lo - 1];
}

void symtab_free(struct symtab *t)
{
	free(t->syms);
	free(t->spans);
	*t = (struct symtab){ 0 };
}
