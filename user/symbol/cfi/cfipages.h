/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIPAGES_H
#define D9_SYMBOL_CFI_CFIPAGES_H

#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

struct budget;
struct unwind_table;

/* A table while its rows come in, by rising file offset. */
struct cfipages {
	struct budget *budget;
	uint32_t *rows; /* page by page */
	size_t row_cnt, row_cap;
	uint32_t *starts; /* of the pages' rows */
	size_t page_cnt, page_cap;
	uint32_t first_page;
	uint32_t now; /* the row that holds, with pc 0 */
	uint32_t bigs[PROF_UNWIND_BIGS_MAX];
	uint32_t big_cnt;
	int err;
};

/* Begins at a file offset, where nothing is known yet. The budget is borrowed until the end. */
void cfipages_init(struct cfipages *p, struct budget *budget, uint64_t file_off);

/*
 * From file_off on this row (pc 0) holds; in place of one that was put at the same offset. Offsets
 * never fall. With a big offset that is not 0 the row gets its number, or becomes "unsupported".
 * Errors are kept until the end.
 */
void cfipages_put(struct cfipages *p, uint64_t file_off, uint32_t row, uint32_t big);

/*
 * Lays out the table of the pages before file_off, which the caller frees with unwind_table_free().
 * 0, or -EDQUOT when the budget or the bound on tables was reached.
 */
int cfipages_finish(struct cfipages *p, uint64_t file_off, struct unwind_table *out);

void cfipages_fini(struct cfipages *p);

#endif /* D9_SYMBOL_CFI_CFIPAGES_H */
