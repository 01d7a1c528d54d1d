/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWLINE_H
#define D9_SYMBOL_DWARF_DWLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/dwarf/dwunit.h"
#include "symbol/resumable_sort.h"

struct buf;
struct elfimg;

struct dwline_row {
	uint64_t addr;
	uint32_t line;
	uint32_t file; /* UINT32_MAX: end of a sequence, no code */
};

/* A file or a directory in the table of one unit */
struct dwline_path {
	const char *s;
	uint32_t len;
	uint32_t dir; /* index into the directories */
};

struct dwline_paths {
	struct dwline_path *v;
	size_t cnt, cap;
	uint64_t bytes;
};

/* Registers of the machine that runs line programs */
struct dwline_state {
	uint64_t addr;
	uint64_t line, file;
};

/* The line table of one unit. {0} is a table that was not read. */
struct dwline {
	struct dwline_row *rows; /* sorted by address */
	size_t cnt, cap;
	struct dwline_paths dirs, files;

	/* the program's header, and the current position */
	struct dwread at;
	uint8_t version, addr_sz, off_sz, min_inst_len, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *opcode_lens;
	struct dwline_state state;
	size_t sequence; /* first row of the current sequence */
	struct resumable_sort sort;
	bool opened, read, loaded;
};

/*
 * Reads the unit's line table; skips rows outside the code of exec. 0 (also for a damaged table,
 * which ends at the damage); -EAGAIN (call again); -ENOMEM (call dwline_free()); -EDQUOT.
 */
int dwline_load(struct dwline *l, const struct dwunits *us, const struct dwunit *u,
		const struct elfimg *exec, struct budget *budget);

/* Finds the file number and line of the row that covers addr; false if there is none. */
bool dwline_find(const struct dwline *l, uint64_t addr, uint32_t *file, uint32_t *line);

/* Appends the path of a file number; false if there is none. */
bool dwline_path(const struct dwline *l, const struct dwunit *u, uint64_t number, struct buf *text);

void dwline_free(struct dwline *l, struct budget *budget);

#endif /* D9_SYMBOL_DWARF_DWLINE_H */
