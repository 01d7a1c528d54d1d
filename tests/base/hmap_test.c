// SPDX-License-Identifier: BSD-2-Clause
/* The map against a plain array that cannot be wrong. */
#include "base/hmap.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(hmap, empty_map_finds_nothing)
{
	struct hmap m = { 0 };
	size_t pos = 0;

	cr_assert_null(hmap_get(&m, 0));
	cr_assert_null(hmap_del(&m, 0));
	cr_assert_not(hmap_next(&m, &pos, NULL, NULL));
	hmap_fini(&m);
}

Test(hmap, key_zero_and_the_largest_key_are_ordinary)
{
	struct hmap m;
	int a, b;

	hmap_init(&m);
	hmap_set(&m, 0, &a);
	hmap_set(&m, UINT64_MAX, &b);
	cr_assert_eq(hmap_get(&m, 0), &a);
	cr_assert_eq(hmap_get(&m, UINT64_MAX), &b);
	hmap_set(&m, 0, &b);
	cr_assert_eq(hmap_get(&m, 0), &b);
	cr_assert_eq(m.cnt, 2);
	hmap_fini(&m);
}

/* Keys from a small range, so that the table is full of neighbours that deletion must move. */
Test(hmap, million_random_steps_agree_with_an_array)
{
	enum { RANGE = 3000 };
	static char objects[RANGE];
	void *model[RANGE] = { 0 };
	struct hmap m = { 0 };
	size_t cnt = 0;

	srand(1);
	for (int step = 0; step < 1000000; step++) {
		int key = rand() % RANGE, what = rand() % 3;

		if (what == 0) {
			cnt += !model[key];
			model[key] = &objects[rand() % RANGE];
			hmap_set(&m, key, model[key]);
		} else if (what == 1) {
			cr_assert_eq(hmap_del(&m, key), model[key]);
			cnt -= !!model[key];
			model[key] = NULL;
		}
		cr_assert_eq(hmap_get(&m, key), model[key]);
	}
	cr_assert_eq(m.cnt, cnt);
	for (int key = 0; key < RANGE; key++)
		cr_assert_eq(hmap_get(&m, key), model[key]);
	hmap_fini(&m);
}

Test(hmap, iteration_returns_each_entry_once)
{
	static char objects[500];
	char seen[500] = { 0 };
	struct hmap m = { 0 };
	size_t pos = 0, cnt = 0;
	uint64_t key;
	void *value;

	for (int i = 0; i < 500; i++)
		hmap_set(&m, (uint64_t)i << 40, &objects[i]);
	while (hmap_next(&m, &pos, &key, &value)) {
		cr_assert_eq(value, &objects[key >> 40]);
		cr_assert_eq(seen[key >> 40]++, 0);
		cnt++;
	}
	cr_assert_eq(cnt, 500);
	hmap_fini(&m);
}
