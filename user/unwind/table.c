// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks and searches an unwind table.
 *
 * Builders read untrusted files, so a table can hold any bytes. A walk in the kernel masks each
 * value and is safe with any table, but an invalid table would give it wrong frames.
 *
 * Pages with one row may share it. Other pages may not share rows, or checking a small table could
 * take long.
 */
#include "unwind/table.h"

#include <stdlib.h>

#define COUNT_MASK ((1U << PROF_UNWIND_INDEX_COUNT_BITS) - 1)

static bool special_is_known(const struct unwind_table *t, uint32_t row)
{
	uint32_t special = unwind_row_off(row);

	if (special >= PROF_UNWIND_BIG)
		return special < PROF_UNWIND_SPECIAL_END &&
		       special % PROF_UNWIND_BIGS_MAX < t->big_cnt;
	return special <= PROF_UNWIND_NO_FRAME && !(row & PROF_UNWIND_ROW_ADD8);
}

static bool row_is_known(const struct unwind_table *t, uint32_t row)
{
	switch (unwind_row_kind(row)) {
	case PROF_UNWIND_SP:
	case PROF_UNWIND_REG:
		return !(row & PROF_UNWIND_ROW_ADD8);
	case PROF_UNWIND_FP:
	case PROF_UNWIND_AT_SP:
	case PROF_UNWIND_AT_FP:
	case PROF_UNWIND_A64_SP:
	case PROF_UNWIND_A64_FP:
		return true;
	case PROF_UNWIND_SPECIAL:
		return special_is_known(t, row);
	default:
		return false;
	}
}

/* Checks the rows of a page. They start at or after *next, except a single row. */
static bool page_is_sound(const struct unwind_table *t, uint32_t page, uint32_t *next)
{
	uint32_t first = t->words[page] >> PROF_UNWIND_INDEX_COUNT_BITS;
	uint32_t last = first + (t->words[page] & COUNT_MASK), i;

	if (first < t->page_cnt + t->big_cnt || last >= t->cnt ||
	    first / PROF_UNWIND_BLOCK_WORDS != last / PROF_UNWIND_BLOCK_WORDS)
		return false;
	if (first != last) {
		if (first < *next)
			return false;
		*next = last + 1;
	}
	if (t->words[first] >> PROF_UNWIND_ROW_PC_SHIFT)
		return false;
	for (i = first; i <= last; i++) {
		if (!row_is_known(t, t->words[i]))
			return false;
		if (i > first && t->words[i] >> PROF_UNWIND_ROW_PC_SHIFT <= t->words[i - 1] >>
					 PROF_UNWIND_ROW_PC_SHIFT)
			return false;
	}
	return true;
}

bool unwind_table_check(const struct unwind_table *t)
{
	uint32_t next = 0, page;

	if (!t->page_cnt || t->cnt > PROF_UNWIND_TABLE_WORDS_MAX || t->page_cnt > t->cnt ||
	    t->big_cnt > PROF_UNWIND_BIGS_MAX || t->first_page > UINT32_MAX - t->page_cnt)
		return false;
	for (page = 0; page < t->page_cnt; page++)
		if (!page_is_sound(t, page, &next))
			return false;
	return true;
}

void unwind_table_free(struct unwind_table *t)
{
	free(t->words);
	*t = (struct unwind_table){ 0 };
}
