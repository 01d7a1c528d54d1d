/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_PLT_H
#define D9_SYMBOL_ELF_PLT_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/resumable_sort.h"

struct elfimg;
struct symtab;

struct plt_slot {
	uint64_t addr;
	const char *name;
};

/* How far the search for stubs is. {0} is one that has not begun. */
struct plt {
	struct plt_slot *slots;
	size_t slot_cnt, slot_cap;
	uint32_t section, table; /* the table whose entries are read */
	uint64_t entry; /* the next one in it */
	struct resumable_sort sort;
	int stage;
};

/*
 * Adds a symbol for each stub in the procedure linkage tables that jumps to a named function of
 * another module, in files of x86-64 and arm64; in others it finds none. Work and memory count in the table's budget.
 * Returns 0, -EAGAIN (call again) or -EDQUOT (what was added so far stays).
 */
int plt_add_symbols(struct plt *p, struct symtab *t, const struct elfimg *img);

/* Frees what it holds. */
void plt_free(struct plt *p, const struct symtab *t);

#endif /* D9_SYMBOL_ELF_PLT_H */
