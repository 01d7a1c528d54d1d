/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_TABLE_H
#define D9_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

/* The unwind table of one file; prof_unwind.h describes its words. {0} is a valid empty table. */
struct unwind_table {
	uint32_t *words; /* from malloc() in the builder; elsewhere borrowed */
	size_t cnt;
	uint32_t first_page, page_cnt, big_cnt;
};

/*
 * Whether a walk can use the table. The rows of each page must be within the table and in one
 * block, sorted, the first with pc 0, and of known kinds. Takes O(cnt) time for any input.
 */
bool unwind_table_check(const struct unwind_table *t);

/* Parts of a row */
static inline uint32_t unwind_row_kind(uint32_t row)
{
	return row >> PROF_UNWIND_ROW_KIND_SHIFT & 7;
}

static inline uint32_t unwind_row_off(uint32_t row)
{
	return row >> PROF_UNWIND_ROW_OFF_SHIFT & PROF_UNWIND_ROW_OFF_MASK;
}

/* Frees the words. */
void unwind_table_free(struct unwind_table *t);

#endif /* D9_UNWIND_TABLE_H */
