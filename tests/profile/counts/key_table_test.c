// SPDX-License-Identifier: BSD-2-Clause
/* Numbers of keys: in order of first use, the same for equal keys, and no more than the limit. */
#include "profile/counts/key_table.h"

#include <criterion/criterion.h>

TestSuite(key_table, .timeout = 60);

Test(key_table, equal_keys_have_one_number)
{
	const uint64_t a[] = { 1, 2 }, b[] = { 2, 1 }, c[] = { 0, 0 };
	struct key_table t = { .words = 2 };

	cr_expect_eq(key_table_at(&t, a), 0);
	cr_expect_eq(key_table_at(&t, b), 1);
	cr_expect_eq(key_table_at(&t, c), 2);
	cr_expect_eq(key_table_at(&t, b), 1);
	cr_expect_eq(key_table_at(&t, a), 0);
	cr_expect_eq(t.cnt, 3);
	cr_expect_arr_eq(key_table_key(&t, 1), b, sizeof(b));
	key_table_fini(&t);
}

Test(key_table, many_keys_that_differ_in_one_word)
{
	struct key_table t = { .words = 3 };
	uint64_t key[3] = { 7, 0, 7 };

	for (uint64_t pass = 0; pass < 2; pass++)
		for (key[1] = 0; key[1] < 100000; key[1]++)
			cr_assert_eq(key_table_at(&t, key), key[1]);
	cr_expect_eq(t.cnt, 100000);
	key_table_fini(&t);
}

Test(key_table, a_full_table_still_finds_its_keys)
{
	struct key_table t = { .words = 1, .max = 2 };
	uint64_t key = 10;

	cr_expect_eq(key_table_at(&t, &key), 0);
	cr_expect_not(key_table_is_full(&t));
	key = 11;
	cr_expect_eq(key_table_at(&t, &key), 1);
	cr_expect(key_table_is_full(&t));
	key = 12;
	cr_expect_eq(key_table_at(&t, &key), KEY_TABLE_FULL);
	key = 10;
	cr_expect_eq(key_table_at(&t, &key), 0);
	key_table_fini(&t);
	key = 12;
	cr_expect_eq(key_table_at(&t, &key), 0, "empty again, with the same limit");
	cr_expect_eq(t.max, 2);
	key_table_fini(&t);
}
