/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIPAGES_H
#define D9_SYMBOL_CFI_CFIPAGES_H

#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

struct budget;
struct unwind_table;

/* A table under construction; its rows arrive by ascending file offset */
struct cfipages {
	struct budget *budget;
	uint32_t *rows; /* page after page */
	size_t row_cnt, row_cap;
	uint32_t *starts; /* index of each page's first row */
	size_t page_cnt, page_cap;
	uint32_t first_page;
	uint32_t now; /* the current row, with pc 0 */
	uint32_t bigs[PROF_UNWIND_BIGS_MAX];
	uint32_t big_cnt;
	int err;
};

/* Starts at a file offset without a row. The budget is borrowed until the end. */
void cfipages_init(struct cfipages *p, struct budget *budget, uint64_t file_off);

/*
 * This row (pc 0) applies from file_off on, and replaces a row at the same offset. Offsets never
 * decrease. If big is not 0, the row gets its number, or becomes "unsupported". Errors are kept
 * until the end.
 */
void cfipages_put(struct cfipages *p, uint64_t file_off, uint32_t row, uint32_t big);

/*
 * Lays out the table of all pages before file_off; the caller frees it with unwind_table_free(). 0;
 * -EDQUOT if the budget or the table limit was reached.
 */
int cfipages_finish(struct cfipages *p, uint64_t file_off, struct unwind_table *out);

void cfipages_fini(struct cfipages *p);

#endif /* D9_SYMBOL_CFI_CFIPAGES_H */
