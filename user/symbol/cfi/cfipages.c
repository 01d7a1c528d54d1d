// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows to pages to a table.
 *
 * Rows arrive in order. Each page begins with the row that applies at its start, so it can be read
 * alone. Positions of pages are set at the end, because the number of pages and big offsets is only
 * known then, and no page may cross a block. A page with a single row that equals the page before
 * shares its row: that covers most of a long function, and everything that is not code.
 */
#include "symbol/cfi/cfipages.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/budget.h"
#include "symbol/cfi/cfirow.h"
#include "unwind/table.h"

void cfipages_init(struct cfipages *p, struct budget *budget, uint64_t file_off)
{
	*p = (struct cfipages){
		.budget = budget,
		.first_page = file_off >> PROF_UNWIND_PAGE_SHIFT,
		.now = cfirow_special(PROF_UNWIND_NONE),
	};
	if (file_off >> PROF_UNWIND_PAGE_SHIFT > UINT32_MAX - PROF_UNWIND_TABLE_WORDS_MAX)
		p->err = budget_exhaust(budget, BUDGET_ENTRIES);
}

static void add_row(struct cfipages *p, uint32_t pc)
{
	void *rows = p->rows;

	if (p->row_cnt == p->row_cap) {
		if (budget_grow(p->budget, &rows, &p->row_cap, p->row_cnt, sizeof(*p->rows)))
			p->err = budget_exhaust(p->budget, BUDGET_MEMORY);
		p->rows = rows;
	}
	if (!p->err)
		p->rows[p->row_cnt++] = p->now | pc << PROF_UNWIND_ROW_PC_SHIFT;
}

static void add_page(struct cfipages *p)
{
	void *starts = p->starts;

	if (p->page_cnt == PROF_UNWIND_TABLE_WORDS_MAX)
		p->err = budget_exhaust(p->budget, BUDGET_ENTRIES);
	else if (budget_grow(p->budget, &starts, &p->page_cap, p->page_cnt, sizeof(*p->starts)))
		p->err = budget_exhaust(p->budget, BUDGET_MEMORY);
	p->starts = starts;
	if (p->err)
		return;
	p->starts[p->page_cnt++] = p->row_cnt;
	add_row(p, 0);
}

static uint32_t big_row(struct cfipages *p, uint32_t row, uint32_t big)
{
	uint32_t i = 0;

	while (i < p->big_cnt && p->bigs[i] != big)
		i++;
	if (i == PROF_UNWIND_BIGS_MAX)
		return cfirow_special(PROF_UNWIND_UNSUPPORTED);
	p->bigs[i] = big;
	if (i == p->big_cnt)
		p->big_cnt++;
	return row + (i << PROF_UNWIND_ROW_OFF_SHIFT);
}

void cfipages_put(struct cfipages *p, uint64_t file_off, uint32_t row, uint32_t big)
{
	uint64_t page = (file_off >> PROF_UNWIND_PAGE_SHIFT) - p->first_page;
	uint32_t pc = file_off & ((1U << PROF_UNWIND_PAGE_SHIFT) - 1);

	while (!p->err && p->page_cnt <= page)
		add_page(p);
	if (p->err)
		return;
	if (big)
		row = big_row(p, row, big);
	if (row == p->now)
		return;
	p->now = row;
	if (p->rows[p->row_cnt - 1] >> PROF_UNWIND_ROW_PC_SHIFT == pc)
		p->row_cnt--;
	add_row(p, pc);
}

static uint32_t rows_of(const struct cfipages *p, size_t page)
{
	return (page + 1 < p->page_cnt ? p->starts[page + 1] : p->row_cnt) - p->starts[page];
}

/* Returns the size in words; writes them unless words is NULL. */
static size_t lay_out(const struct cfipages *p, uint32_t *words)
{
	size_t end = p->page_cnt + p->big_cnt, alone = 0, i;

	for (i = 0; i < p->page_cnt; i++) {
		const uint32_t *rows = p->rows + p->starts[i];
		uint32_t cnt = rows_of(p, i);
		size_t at = end;

		if (cnt == 1 && alone && rows[0] == rows[-1])
			at = alone;
		else if (end % PROF_UNWIND_BLOCK_WORDS + cnt > PROF_UNWIND_BLOCK_WORDS)
			at += PROF_UNWIND_BLOCK_WORDS - end % PROF_UNWIND_BLOCK_WORDS;
		if (words) {
			words[i] = at << PROF_UNWIND_INDEX_COUNT_BITS | (cnt - 1);
			memcpy(words + at, rows, cnt * sizeof(*rows));
		}
		if (at + cnt > end)
			end = at + cnt;
		alone = cnt == 1 ? at : 0;
	}
	return end;
}

int cfipages_finish(struct cfipages *p, uint64_t file_off, struct unwind_table *out)
{
	uint64_t pages = (file_off + (1U << PROF_UNWIND_PAGE_SHIFT) - 1) >> PROF_UNWIND_PAGE_SHIFT;
	struct unwind_table t = { .first_page = p->first_page };
	size_t cnt;

	while (!p->err && p->page_cnt < pages - p->first_page)
		add_page(p);
	if (p->err)
		return p->err;
	cnt = lay_out(p, NULL);
	if (cnt > PROF_UNWIND_TABLE_WORDS_MAX)
		return budget_exhaust(p->budget, BUDGET_ENTRIES);
	t.words = xcalloc(cnt, sizeof(*t.words));
	t.cnt = cnt;
	t.page_cnt = p->page_cnt;
	t.big_cnt = p->big_cnt;
	lay_out(p, t.words);
	memcpy(t.words + p->page_cnt, p->bigs, p->big_cnt * sizeof(*p->bigs));
	*out = t;
	return 0;
}

void cfipages_fini(struct cfipages *p)
{
	budget_free(p->budget, p->rows, p->row_cap, sizeof(*p->rows));
	budget_free(p->budget, p->starts, p->page_cap, sizeof(*p->starts));
}
