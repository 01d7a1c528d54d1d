// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbol tables as non-overlapping address spans, found by binary search.
 *
 * A linker's table has aliases (write, __write, __libc_write), labels without size, functions
 * inside functions, and in a hostile file anything. All of this is resolved once, when the table is
 * finished. First, one symbol is chosen for each address, by the most familiar name. Then a sweep
 * in address order with a stack of open symbols gives each address to the innermost one. A symbol
 * without size owns the addresses up to the next one, unless it is inside another symbol: then it
 * is a label, and the function around it is the better answer.
 *
 * Each step can stop at any symbol and continue later. Sorting compares numbers only. Names, which
 * may be megabytes long and all equal, are read once per symbol, and only their beginning.
 */
#include "symbol/elf/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/budget.h"
#include "symbol/elf/elfimg.h"

/* Maximum length when names are compared */
#define NAME_SEEN 4096
/* Maximum length when a version is searched */
#define VERSION_SEEN 256

/* A symbol table section and its names */
struct source {
	const struct elfimg *img;
	const uint8_t *entries;
	size_t entry_sz, entry_cnt;
	const char *strings;
	size_t strings_sz;
};

void symtab_init(struct symtab *t, struct budget *budget)
{
	*t = (struct symtab){ .budget = budget };
}

/* Also reserves the memory for sorting, which needs a second array. */
int symtab_add(struct symtab *t, const struct symtab_sym *sym)
{
	size_t cap = t->sym_cap;
	void *array = t->syms;

	if (budget_grow(t->budget, &array, &t->sym_cap, t->sym_cnt, sizeof(*t->syms)))
		return budget_exhaust(t->budget, BUDGET_MEMORY);
	t->syms = array;
	if (budget_reserve(t->budget, (t->sym_cap - cap) * sizeof(*t->syms)))
		return budget_exhaust(t->budget, BUDGET_MEMORY);
	t->spare += (t->sym_cap - cap) * sizeof(*t->syms);
	t->syms[t->sym_cnt++] = *sym;
	return 0;
}

enum {
	RANK_STRONG = 0x1,
	RANK_CURRENT = 0x2,
	RANK_PLAIN_NAME = 0xff << 2,
	RANK_GLOBAL = 0x400,
	RANK_SIZED = 0x800,
	RANK_FUNC = 0x1000,
};

/* memcpy@GLIBC_2.2.5 is for programs older than memcpy@@GLIBC_2.14. */
static bool is_old_version(const char *name)
{
	const char *at = memchr(name, '@', strnlen(name, VERSION_SEEN));

	return at && at > name && at[1] != '@';
}

/*
 * Functions with a size before labels, and exported names before local ones. Among these, familiar
 * names first: calloc, though it is weak, before __libc_calloc, and free before cfree@GLIBC_2.2.5.
 */
static uint32_t rank_of(const Elf64_Sym *sym, const char *name)
{
	unsigned int bind = ELF64_ST_BIND(sym->st_info);
	uint32_t underscores = 0, rank;

	while (underscores < RANK_PLAIN_NAME >> 2 && name[underscores] == '_')
		underscores++;
	rank = RANK_PLAIN_NAME - (underscores << 2);
	if (ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE)
		rank |= RANK_FUNC;
	if (sym->st_size)
		rank |= RANK_SIZED;
	if (bind != STB_LOCAL)
		rank |= RANK_GLOBAL;
	if (!is_old_version(name))
		rank |= RANK_CURRENT;
	if (bind != STB_WEAK)
		rank |= RANK_STRONG;
	return rank;
}

/* Assemblers mark ranges of code and data ($a, $x, $d); compilers leave .L labels. */
static bool is_mark(const char *name)
{
	return !*name || *name == '$' || !strncmp(name, ".L", 2);
}

/* The end of the executable section or segment that contains a symbol; false if it is not code. */
static bool code_limit(const struct elfimg *img, const Elf64_Sym *sym, uint64_t addr,
		       uint64_t *limit)
{
	struct elfimg_sec sec;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_COMMON)
		return false;
	if (sym->st_shndx >= SHN_LORESERVE || !elfimg_section(img, sym->st_shndx, &sec)) {
		/* absolute, or a section number too large for the field: the segments decide */
		*limit = UINT64_MAX;
		return sym->st_shndx >= SHN_LORESERVE;
	}
	if (!(sec.flags & SHF_EXECINSTR) || addr < sec.addr)
		return false;
	*limit = sec.addr + sec.size;
	return addr - sec.addr < sec.size;
}

static bool read_sym(const struct source *src, const Elf64_Sym *sym, struct symtab_sym *out)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (sym->st_name >= src->strings_sz)
		return false;
	out->name = src->strings + sym->st_name;
	if (is_mark(out->name))
		return false;
	out->addr = src->img->machine == EM_ARM ? sym->st_value & ~1ull : sym->st_value;
	out->size = sym->st_size;
	out->rank = rank_of(sym, out->name);
	out->plt = false;
	return code_limit(src->img, sym, out->addr, &out->limit);
}

/* Symbol names are in another section, which must end in a NUL. */
static bool open_source(const struct elfimg *img, const struct elfimg_sec *sec, struct source *src)
{
	struct elfimg_sec strings;
	size_t size;

	if (!elfimg_section(img, sec->link, &strings))
		return false;
	src->img = img;
	src->entry_sz = img->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	src->entries = elfimg_data(img, sec, &size);
	src->strings = (const char *)elfimg_data(img, &strings, &src->strings_sz);
	if (!src->entries || !src->strings || src->strings[src->strings_sz - 1])
		return false;
	src->entry_cnt = size / src->entry_sz;
	return true;
}

static void read_entry(const struct source *src, uint64_t i, Elf64_Sym *out)
{
	const uint8_t *p = src->entries + i * src->entry_sz;
	Elf32_Sym s;

	if (src->img->is64) {
		memcpy(out, p, sizeof(*out));
		return;
	}
	memcpy(&s, p, sizeof(s));
	*out = (Elf64_Sym){
		.st_name = s.st_name,
		.st_info = s.st_info,
		.st_shndx = s.st_shndx,
		.st_value = s.st_value,
		.st_size = s.st_size,
	};
}

static int add_section(struct symtab *t, const struct source *src)
{
	struct symtab_sym s;
	Elf64_Sym sym;
	int err = 0;

	while (!err && t->entry < src->entry_cnt) {
		read_entry(src, t->entry++, &sym);
		if (read_sym(src, &sym, &s))
			err = symtab_add(t, &s);
		if (!err)
			err = budget_step(t->budget, 1);
	}
	return err;
}

int symtab_add_image(struct symtab *t, const struct elfimg *img, uint32_t section_type)
{
	struct elfimg_sec sec;
	struct source src;
	int err = 0;

	for (; !err && elfimg_section(img, t->section, &sec); t->section += !err) {
		if (sec.type != section_type || !open_source(img, &sec, &src))
			continue;
		err = add_section(t, &src);
		if (!err)
			t->entry = 0;
	}
	if (err != -EAGAIN) {
		t->section = 0;
		t->entry = 0;
	}
	return err;
}

static int compare(const void *pa, const void *pb)
{
	const struct symtab_sym *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return 0;
}

/*
 * Of equal ranks the shortest, fopen before fopen64, then the first by name, so the order in the
 * file does not matter.
 */
static bool better_name(const char *a, const char *b)
{
	size_t a_len = strnlen(a, NAME_SEEN), b_len = strnlen(b, NAME_SEEN);

	if (a_len != b_len)
		return a_len < b_len;
	return memcmp(a, b, a_len) < 0;
}

static int emit(struct symtab *t, uint64_t start, uint64_t end, size_t sym)
{
	void *array = t->spans;
	int err;

	if (start >= end)
		return 0;
	err = budget_grow(t->budget, &array, &t->span_cap, t->span_cnt, sizeof(*t->spans));
	t->spans = array;
	if (!err)
		t->spans[t->span_cnt++] = (struct symtab_span){ start, end, sym };
	return err;
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

/* Closes the open symbols that end at or before `upto`, and settles their addresses. */
static int close_open(struct symtab *t, uint64_t upto)
{
	int err = 0;

	while (!err && t->open_cnt) {
		size_t top = t->open[t->open_cnt - 1];
		uint64_t end = sym_end(t, top);

		if (end > upto) {
			err = emit(t, t->settled, upto, top);
			break;
		}
		err = emit(t, t->settled, end, top);
		if (end > t->settled)
			t->settled = end;
		t->open_cnt--;
	}
	t->settled = upto;
	return err;
}

/* Frees memory of removed symbols. */
static void shrink(struct symtab *t)
{
	t->sym_cnt = t->kept;
	t->syms = xreallocarray(t->syms, t->kept, sizeof(*t->syms));
	budget_give_back(t->budget, (t->sym_cap - t->kept) * sizeof(*t->syms));
	t->sym_cap = t->kept;
}

static int push_open(struct symtab *t)
{
	void *array = t->open;
	int err = budget_grow(t->budget, &array, &t->open_cap, t->open_cnt, sizeof(*t->open));

	t->open = array;
	if (!err)
		t->open[t->open_cnt++] = t->next;
	return err;
}

/*
 * Keeps one symbol per address; they must be sorted. After the budget has ended, names are not
 * compared.
 */
static int choose(struct symtab *t)
{
	while (t->next < t->sym_cnt) {
		struct symtab_sym *s = &t->syms[t->next];
		struct symtab_sym *last = t->kept ? &t->syms[t->kept - 1] : NULL;

		if (!last || last->addr != s->addr)
			t->syms[t->kept++] = *s;
		else if (last->rank == s->rank && !t->budget->reached &&
			 better_name(s->name, last->name))
			*last = *s;
		t->next++;
		if (budget_work(t->budget, 4) == -EAGAIN)
			return -EAGAIN;
	}
	return 0;
}

static int sweep(struct symtab *t)
{
	while (t->next < t->sym_cnt) {
		if (close_open(t, t->syms[t->next].addr))
			return 0;
		if ((t->syms[t->next].size || !t->open_cnt) && push_open(t))
			return 0;
		t->next++;
		if (budget_work(t->budget, 1) == -EAGAIN)
			return -EAGAIN;
	}
	close_open(t, UINT64_MAX);
	return 0;
}

static int sort(struct symtab *t)
{
	void *array = t->syms;
	int err;

	budget_give_back(t->budget, t->spare);
	t->spare = 0;
	err = resumable_sort_run(&t->sort, &array, t->sym_cnt, sizeof(*t->syms), compare,
				 t->budget);

	t->syms = array;
	if (err == -EAGAIN)
		return err;
	if (err) {
		size_t sorted = resumable_sort_sorted(&t->sort, t->sym_cnt);

		resumable_sort_free(&t->sort, t->sym_cnt, sizeof(*t->syms), t->budget);
		t->sym_cnt = sorted;
	}
	t->sorted = true;
	return 0;
}

int symtab_finish(struct symtab *t)
{
	if (t->finished || !t->sym_cnt)
		return 0;
	if (!t->sorted && sort(t))
		return -EAGAIN;
	if (!t->chosen) {
		if (choose(t))
			return -EAGAIN;
		shrink(t);
		t->next = 0;
		t->chosen = true;
	}
	if (sweep(t))
		return -EAGAIN;
	t->finished = true;
	return 0;
}

bool symtab_is_global(const struct symtab_sym *sym)
{
	return sym->rank & RANK_GLOBAL;
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
	resumable_sort_free(&t->sort, t->sym_cnt, sizeof(*t->syms), t->budget);
	budget_free(t->budget, t->open, t->open_cap, sizeof(*t->open));
	budget_free(t->budget, t->syms, t->sym_cap, sizeof(*t->syms));
	budget_free(t->budget, t->spans, t->span_cap, sizeof(*t->spans));
	budget_give_back(t->budget, t->spare);
	*t = (struct symtab){ .budget = t->budget };
}
