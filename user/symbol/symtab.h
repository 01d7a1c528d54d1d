/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SYMTAB_H
#define D9_SYMBOL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfimg;

struct symtab_sym {
	uint64_t addr; /* link-time address */
	uint64_t size; /* 0 = the table does not say */
	uint64_t limit; /* where a symbol without size ends at the latest */
	const char *name; /* borrowed from the image it came from */
	uint32_t rank; /* of symbols at one address the highest wins */
	bool plt; /* a stub that jumps to the function of that name */
};

/* Addresses [start, end) belong to syms[sym]; these never overlap. */
struct symtab_span {
	uint64_t start, end;
	size_t sym;
};

/* The code symbols of one module. {0} is a valid empty table. */
struct symtab {
	struct symtab_sym *syms;
	size_t sym_cnt, sym_cap;
	struct symtab_span *spans;
	size_t span_cnt, span_cap;
};

/*
 * Adds the code symbols of img's sections of that type (SHT_SYMTAB, SHT_DYNSYM). Returns how many
 * there were. The image must live as long as the table.
 */
size_t symtab_add_image(struct symtab *t, const struct elfimg *img, uint32_t section_type);

void symtab_add(struct symtab *t, const struct symtab_sym *sym);

/* Call once, after the last symbol was added and before the first look-up. */
void symtab_finish(struct symtab *t);

/* The symbol that addr belongs to: the innermost with a size, else the nearest one before. */
const struct symtab_span *symtab_find(const struct symtab *t, uint64_t addr);

void symtab_free(struct symtab *t);

#endif /* D9_SYMBOL_SYMTAB_H */
