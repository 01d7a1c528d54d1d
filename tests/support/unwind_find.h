/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_UNWIND_FIND_H
#define D9_TESTS_SUPPORT_UNWIND_FIND_H

#include "unwind/table.h"

/*
 * Finds the row for a file offset; false if no page covers it. The table must have passed
 * unwind_table_check(). The product looks rows up in include/prof_walk.h only.
 */
static inline bool unwind_find(const struct unwind_table *t, uint64_t file_off, uint32_t *row)
{
	uint64_t page = file_off >> PROF_UNWIND_PAGE_SHIFT;
	uint32_t pc = file_off & ((1U << PROF_UNWIND_PAGE_SHIFT) - 1), low, high;

	if (page < t->first_page || page - t->first_page >= t->page_cnt)
		return false;
	low = t->words[page - t->first_page];
	high = low & ((1U << PROF_UNWIND_INDEX_COUNT_BITS) - 1);
	low >>= PROF_UNWIND_INDEX_COUNT_BITS;
	high += low;
	while (low < high) {
		uint32_t middle = (low + high + 1) / 2;

		if (t->words[middle] >> PROF_UNWIND_ROW_PC_SHIFT <= pc)
			low = middle;
		else
			high = middle - 1;
	}
	*row = t->words[low];
	return true;
}

#endif /* D9_TESTS_SUPPORT_UNWIND_FIND_H */
