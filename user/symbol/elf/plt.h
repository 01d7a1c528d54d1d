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

/* State of the search for stubs. {0} is a search that was not started. */
struct plt {
	struct plt_slot *slots;
	size_t slot_cnt, slot_cap;
	uint32_t section, table; /* the table whose entries are read */
	uint64_t entry; /* its next entry */
	struct resumable_sort sort;
	int stage;
};

/*
 * Adds a symbol for each stub that jumps to a named function of another module, for x86-64 and
 * arm64; finds none in other files. Work and memory count in the table's budget. Returns 0; -EAGAIN
 * (call again); -EDQUOT (symbols added so far stay).
 */
int plt_add_symbols(struct plt *p, struct symtab *t, const struct elfimg *img);

/* Frees its memory. */
void plt_free(struct plt *p, const struct symtab *t);

#endif /* D9_SYMBOL_ELF_PLT_H */
