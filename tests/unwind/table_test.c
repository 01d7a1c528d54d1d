// SPDX-License-Identifier: BSD-2-Clause
/* Which tables may be used, and which row is valid at an address. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unwind_find.h"
#include "unwind/table.h"

enum { PAGES = 3, BIGS = 1, ROWS = PAGES + BIGS };

static uint32_t row(uint32_t pc, uint32_t kind, uint32_t off, uint32_t low)
{
	return pc << PROF_UNWIND_ROW_PC_SHIFT | kind << PROF_UNWIND_ROW_KIND_SHIFT |
	       off << PROF_UNWIND_ROW_OFF_SHIFT | low;
}

static uint32_t index_word(uint32_t first, uint32_t cnt)
{
	return first << PROF_UNWIND_INDEX_COUNT_BITS | (cnt - 1);
}

/* Three pages: of four rows, of one row, and a copy of the second. */
static struct unwind_table good_table(void)
{
	static const uint32_t none = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT;
	const uint32_t words[] = {
		index_word(ROWS, 4),
		index_word(ROWS + 4, 1),
		index_word(ROWS + 4, 1),
		40000,
		row(0, PROF_UNWIND_SP, 1, 0),
		row(1, PROF_UNWIND_SP, 2, 2),
		row(500, PROF_UNWIND_SPECIAL, PROF_UNWIND_BIG, PROF_UNWIND_ROW_ADD8),
		row(1023, PROF_UNWIND_AT_FP, 0xfff, PROF_UNWIND_FP_AT_FP),
		none,
	};
	struct unwind_table t = {
		.words = malloc(sizeof(words)),
		.cnt = sizeof(words) / sizeof(words[0]),
		.first_page = 4,
		.page_cnt = PAGES,
		.big_cnt = BIGS,
	};

	memcpy(t.words, words, sizeof(words));
	return t;
}

/* Whether the table passes with one word changed. */
static bool passes_with(size_t at, uint32_t word)
{
	struct unwind_table t = good_table();
	bool passes;

	t.words[at] = word;
	passes = unwind_table_check(&t);
	unwind_table_free(&t);
	return passes;
}

Test(table, finds_the_row_of_an_address)
{
	static const struct {
		uint64_t off;
		size_t word; /* 0: there is none */
	} places[] = {
		{ 4095, 0 },	    { 4096, ROWS },	{ 4097, ROWS + 1 }, { 4098, ROWS + 1 },
		{ 4595, ROWS + 1 }, { 4596, ROWS + 2 }, { 5118, ROWS + 2 }, { 5119, ROWS + 3 },
		{ 5120, ROWS + 4 }, { 7167, ROWS + 4 }, { 7168, 0 },	    { UINT64_MAX, 0 },
	};
	struct unwind_table t = good_table();
	uint32_t found;
	size_t i;

	cr_assert(unwind_table_check(&t));
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		cr_expect_eq(unwind_find(&t, places[i].off, &found), places[i].word != 0,
			     "offset %lu", places[i].off);
		if (places[i].word)
			cr_expect_eq(found, t.words[places[i].word], "offset %lu", places[i].off);
	}
	unwind_table_free(&t);
}

Test(table, refuses_rows_outside_the_table)
{
	cr_expect(!passes_with(0, index_word(ROWS - 1, 1)), "a big offset as a row");
	cr_expect(!passes_with(1, index_word(0, 1)), "an index word as a row");
	cr_expect(!passes_with(1, index_word(ROWS + 5, 1)), "behind its end");
	cr_expect(!passes_with(1, index_word(ROWS + 4, 2)), "reaches behind its end");
	cr_expect(!passes_with(1, UINT32_MAX));
}

Test(table, refuses_rows_out_of_order)
{
	cr_expect(!passes_with(ROWS, row(1, PROF_UNWIND_SP, 1, 0)), "the page's start has no row");
	cr_expect(!passes_with(ROWS + 2, row(1, PROF_UNWIND_SP, 1, 0)), "a pc twice");
	cr_expect(!passes_with(ROWS + 3, row(499, PROF_UNWIND_SP, 1, 0)));
	cr_expect(passes_with(ROWS + 3, row(501, PROF_UNWIND_SP, 1, 0)));
	cr_expect(!passes_with(1, index_word(ROWS, 2)), "rows of two pages");
}

Test(table, refuses_unknown_rows)
{
	const uint32_t at = ROWS + 1;

	cr_expect(!passes_with(at, row(1, PROF_UNWIND_SP, 1, PROF_UNWIND_ROW_ADD8)));
	cr_expect(!passes_with(at, row(1, PROF_UNWIND_SPECIAL, PROF_UNWIND_NO_FRAME + 1, 0)));
	cr_expect(!passes_with(at, row(1, PROF_UNWIND_SPECIAL, PROF_UNWIND_BIG + BIGS, 0)));
	cr_expect(passes_with(at, row(1, PROF_UNWIND_SPECIAL, PROF_UNWIND_NO_FRAME, 0)));
	cr_expect(passes_with(at, row(1, PROF_UNWIND_REG, 0xfff, PROF_UNWIND_FP_UNSUPPORTED)));
	cr_expect(passes_with(at, row(1, PROF_UNWIND_AT_SP, 0xfff, PROF_UNWIND_ROW_ADD8)));
	cr_expect(passes_with(at, row(1, PROF_UNWIND_A64_SP, 0xfff, PROF_UNWIND_A64_LR_FP | 31)));
	cr_expect(passes_with(at, row(1, PROF_UNWIND_A64_FP, 0xfff, PROF_UNWIND_A64_PAIR | 31)));
	cr_expect(passes_with(at, row(1, PROF_UNWIND_SPECIAL, PROF_UNWIND_BIG,
				      PROF_UNWIND_A64_LR_FP | 31)));
}

Test(table, refuses_a_page_across_two_blocks)
{
	enum { CNT = PROF_UNWIND_BLOCK_WORDS + 2 };
	uint32_t *words = calloc(CNT, sizeof(*words));
	struct unwind_table t = { .words = words, .cnt = CNT, .page_cnt = 1 };

	words[CNT - 3] = row(0, PROF_UNWIND_SP, 1, 0);
	words[CNT - 2] = row(1, PROF_UNWIND_SP, 1, 0);
	words[0] = index_word(CNT - 3, 2);
	cr_expect(!unwind_table_check(&t));
	words[CNT - 2] = row(0, PROF_UNWIND_SP, 1, 0);
	words[CNT - 1] = row(1, PROF_UNWIND_SP, 1, 0);
	words[0] = index_word(CNT - 2, 2);
	cr_expect(unwind_table_check(&t));
	unwind_table_free(&t);
}

Test(table, refuses_numbers_out_of_bounds)
{
	struct unwind_table t = good_table(), bad;

	bad = t;
	bad.page_cnt = 0;
	cr_expect(!unwind_table_check(&bad));
	bad = t;
	bad.page_cnt = t.cnt + 1;
	cr_expect(!unwind_table_check(&bad));
	bad = t;
	bad.cnt = PROF_UNWIND_TABLE_WORDS_MAX + 1;
	cr_expect(!unwind_table_check(&bad), "before anything is read");
	bad = t;
	bad.big_cnt = PROF_UNWIND_BIGS_MAX + 1;
	cr_expect(!unwind_table_check(&bad));
	bad = t;
	bad.first_page = UINT32_MAX - PAGES + 1;
	cr_expect(!unwind_table_check(&bad));
	cr_expect(!unwind_table_check(&(struct unwind_table){ 0 }));
	unwind_table_free(&t);
}

/* The last numbers that are within bounds. */
Test(table, accepts_numbers_up_to_their_limits)
{
	enum { CNT = PROF_UNWIND_TABLE_WORDS_MAX };
	struct unwind_table t = good_table(), large = { .cnt = CNT, .page_cnt = 1 };
	uint32_t found;

	t.first_page = UINT32_MAX - PAGES;
	cr_expect(unwind_table_check(&t));
	cr_assert(unwind_find(&t, (uint64_t)t.first_page << PROF_UNWIND_PAGE_SHIFT, &found));
	cr_expect_eq(found, t.words[ROWS]);
	unwind_table_free(&t);

	large.words = calloc(CNT, sizeof(uint32_t));
	large.big_cnt = PROF_UNWIND_BIGS_MAX;
	large.words[0] = index_word(CNT - 1, 1);
	cr_expect(unwind_table_check(&large), "a row as the last word");
	large.words[0] = index_word(1 + PROF_UNWIND_BIGS_MAX, 1);
	cr_expect(unwind_table_check(&large), "a row right behind the big offsets");
	large.words[0] = index_word(PROF_UNWIND_BIGS_MAX, 1);
	cr_expect(!unwind_table_check(&large), "which are no rows");
	unwind_table_free(&large);
}

Test(table, pages_with_several_rows_are_consecutive)
{
	const uint32_t words[] = {
		index_word(2, 2),
		index_word(4, 2),
		row(0, PROF_UNWIND_SP, 1, 0),
		row(8, PROF_UNWIND_SP, 2, 0),
		row(0, PROF_UNWIND_SP, 3, 0),
		row(8, PROF_UNWIND_SP, 4, 0),
	};
	struct unwind_table t = { .words = malloc(sizeof(words)), .cnt = 6, .page_cnt = 2 };
	uint32_t found, i;

	memcpy(t.words, words, sizeof(words));
	cr_expect(unwind_table_check(&t), "with nothing between them");
	for (i = 0; i < 4; i++) {
		cr_assert(unwind_find(&t, 1024 * (i / 2) + 8 * (i % 2), &found));
		cr_expect_eq(found, words[2 + i], "row %u", i);
	}
	t.words[0] = index_word(4, 2);
	cr_expect(!unwind_table_check(&t), "rows that two pages share");
	t.words[1] = index_word(2, 2);
	cr_expect(!unwind_table_check(&t), "out of order");
	unwind_table_free(&t);
}
