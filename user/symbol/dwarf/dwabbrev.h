/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWABBREV_H
#define D9_SYMBOL_DWARF_DWABBREV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/dwarf/dwread.h"
#include "symbol/resumable_sort.h"

struct budget;

/* The attributes in use; all others are skipped */
enum dwabbrev_attr {
	DWATTR_NONE,
	DWATTR_SIBLING,
	DWATTR_NAME,
	DWATTR_LINKAGE_NAME,
	DWATTR_MIPS_LINKAGE_NAME,
	DWATTR_LOW_PC,
	DWATTR_HIGH_PC,
	DWATTR_RANGES,
	DWATTR_STMT_LIST,
	DWATTR_COMP_DIR,
	DWATTR_ABSTRACT_ORIGIN,
	DWATTR_SPECIFICATION,
	DWATTR_CALL_FILE,
	DWATTR_CALL_LINE,
	DWATTR_STR_OFFSETS_BASE,
	DWATTR_ADDR_BASE,
	DWATTR_RNGLISTS_BASE,
	DWATTR_DWO_NAME,
	DWATTR_DWO_ID,
	DWATTR_DWO_RANGES_BASE,
	DWATTR_CNT,
};

struct dwabbrev_spec {
	uint8_t attr; /* enum dwabbrev_attr */
	uint16_t form;
	int64_t implicit; /* DW_FORM_implicit_const */
};

struct dwabbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	uint16_t spec_cnt;
	uint32_t attrs; /* a bit per enum dwabbrev_attr that it has */
	size_t first; /* index into specs */
};

/* One table of abbreviations */
struct dwabbrev_table {
	struct budget *budget;
	uint64_t off; /* in the section */
	struct dwread at;
	struct dwabbrev *abbrevs; /* sorted by code */
	size_t cnt, cap;
	struct dwabbrev_spec *specs;
	size_t spec_cnt, spec_cap;
	struct resumable_sort sort;
	bool unsorted, read, loaded;
};

/*
 * Prepares reading the table at section + off. section and budget are borrowed until
 * dwabbrev_fini().
 */
void dwabbrev_init(struct dwabbrev_table *t, const struct dwread *section, uint64_t off,
		   struct budget *budget);

/*
 * Reads the table. 0 (also for a damaged table, which ends at the damage), -EAGAIN, -ENOMEM or
 * -EDQUOT.
 */
int dwabbrev_load(struct dwabbrev_table *t);

/* The same, but only until that code is found; the rest can be read later. */
int dwabbrev_load_to(struct dwabbrev_table *t, uint64_t code);

/* NULL if the code does not exist. */
const struct dwabbrev *dwabbrev_find(const struct dwabbrev_table *t, uint64_t code);

void dwabbrev_fini(struct dwabbrev_table *t);

#endif /* D9_SYMBOL_DWARF_DWABBREV_H */
