/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_SYMTAB_H
#define D9_SYMBOL_ELF_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/resumable_sort.h"

struct budget;
struct elfimg;

struct symtab_sym {
	uint64_t addr; /* link-time address */
	uint64_t size; /* 0: unknown */
	uint64_t limit; /* upper bound of the end of a symbol without size */
	const char *name; /* borrowed from its image */
	uint32_t rank; /* of symbols at one address, the highest rank is used */
	bool plt; /* a stub that jumps to the function with that name */
};

/* Addresses [start, end) belong to syms[sym]; spans never overlap. */
struct symtab_span {
	uint64_t start, end;
	size_t sym;
};

/* The code symbols of one module. */
struct symtab {
	struct budget *budget;
	struct symtab_sym *syms;
	size_t sym_cnt, sym_cap;
	struct symtab_span *spans;
	size_t span_cnt, span_cap;
	uint64_t spare; /* memory reserved for sorting */

	/* state of interrupted work */
	uint32_t section;
	uint64_t entry;
	struct resumable_sort sort;
	size_t *open, open_cnt, open_cap, kept, next;
	uint64_t settled;
	bool sorted, chosen, finished;
};

/* An empty table; the budget is borrowed until symtab_free(). */
void symtab_init(struct symtab *t, struct budget *budget);

/*
 * Adds the code symbols of img's sections of that type (SHT_SYMTAB, SHT_DYNSYM). The image must
 * outlive the table. Returns 0; -EAGAIN (call again with the same arguments); -EDQUOT (symbols
 * added so far stay).
 */
int symtab_add_image(struct symtab *t, const struct elfimg *img, uint32_t section_type);

/* 0; -EDQUOT if there is no memory. */
int symtab_add(struct symtab *t, const struct symtab_sym *sym);

/*
 * Call after the last symbol was added and before the first lookup. Returns 0 or -EAGAIN (call
 * again). If the budget ends during this, some symbols are dropped.
 */
int symtab_finish(struct symtab *t);

/*
 * The symbol that addr belongs to: the innermost one with a size, otherwise the nearest one before.
 */
const struct symtab_span *symtab_find(const struct symtab *t, uint64_t addr);

/* Whether other files can use it by that name. */
bool symtab_is_global(const struct symtab_sym *sym);

void symtab_free(struct symtab *t);

#endif /* D9_SYMBOL_ELF_SYMTAB_H */
