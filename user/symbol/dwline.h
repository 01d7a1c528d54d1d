/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWLINE_H
#define D9_SYMBOL_DWLINE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The line table of one unit. {0} is one that was not read yet. */
struct dwline {
	Dwarf_Lines *rows; /* libdw's, by address */
	size_t row_cnt;
	Dwarf_Files *files; /* libdw's */
	size_t file_cnt;
	bool tried;
};

/*
 * An upper bound, as files go, of the memory that dwline_load() will take. section is .debug_line,
 * unpacked; NULL when there is none.
 */
uint64_t dwline_cost(Dwarf_Die *unit, const Elf_Data *section);

void dwline_load(struct dwline *l, Dwarf_Die *unit);

/* The row that covers addr; false when none does. *file is borrowed from libdw or NULL. */
bool dwline_find(const struct dwline *l, uint64_t addr, const char **file, uint32_t *line);

/* The path of a file number in this unit, or NULL. */
const char *dwline_file(const struct dwline *l, uint64_t number);

#endif /* D9_SYMBOL_DWLINE_H */
