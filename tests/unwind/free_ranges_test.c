// SPDX-License-Identifier: BSD-2-Clause
/* Ranges of free places, compared with a map of every place. */
#include "unwind/free_ranges.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { PLACES = 512 };

Test(free_ranges, takes_the_first_free_range_that_fits_and_joins_returned_ranges)
{
	struct free_ranges e = { 0 };
	uint32_t at;

	cr_expect_not(free_ranges_allocate(&e, 1, &at));
	free_ranges_add(&e, 10, 10);
	cr_assert(free_ranges_allocate(&e, 4, &at));
	cr_expect_eq(at, 10);
	cr_assert(free_ranges_allocate(&e, 4, &at));
	cr_expect_eq(at, 14);
	free_ranges_add(&e, 10, 4);
	cr_expect_eq(e.cnt, 2);
	cr_expect_not(free_ranges_allocate(&e, 5, &at), "six are free, but not in one piece");
	free_ranges_add(&e, 14, 4);
	cr_expect_eq(e.cnt, 1);
	cr_expect_eq(e.free, 10);
	cr_assert(free_ranges_allocate(&e, 10, &at));
	cr_expect_eq(at, 10);
	cr_expect_eq(e.cnt, 0);
	free_ranges_fini(&e);
}

static void check(const struct free_ranges *e, const char *taken)
{
	uint32_t free_cnt = 0, i;
	size_t k;

	for (i = 0; i < PLACES; i++)
		free_cnt += !taken[i];
	cr_assert_eq(e->free, free_cnt);
	for (k = 0; k < e->cnt; k++) {
		for (i = e->v[k].first; i < e->v[k].first + e->v[k].cnt; i++)
			cr_assert_not(taken[i]);
		cr_assert(!k || e->v[k - 1].first + e->v[k - 1].cnt < e->v[k].first,
			  "neighbours are one");
	}
}

Test(free_ranges, never_allocates_a_place_twice)
{
	struct free_ranges e = { 0 };
	struct free_range pieces[PLACES];
	char taken[PLACES] = { 0 };
	size_t cnt = 0;
	uint32_t n, i, at;

	srand(1);
	free_ranges_add(&e, 0, PLACES);
	for (n = 0; n < 20000; n++) {
		uint32_t want = 1 + rand() % 40;

		if (rand() % 2 && free_ranges_allocate(&e, want, &at)) {
			for (i = at; i < at + want; i++) {
				cr_assert_lt(i, PLACES);
				cr_assert_not(taken[i]);
				taken[i] = 1;
			}
			pieces[cnt++] = (struct free_range){ at, want };
		} else if (cnt) {
			size_t k = rand() % cnt;

			for (i = pieces[k].first; i < pieces[k].first + pieces[k].cnt; i++)
				taken[i] = 0;
			free_ranges_add(&e, pieces[k].first, pieces[k].cnt);
			pieces[k] = pieces[--cnt];
		}
		check(&e, taken);
	}
	free_ranges_fini(&e);
}
