// SPDX-License-Identifier: BSD-2-Clause
/* Interning: dense ids, one copy, addresses that stay. */
#include "base/strtab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(strtab, equal_bytes_have_one_id_and_ids_are_dense)
{
	struct strtab t = { 0 };
	size_t len;

	cr_assert_eq(strtab_find(&t, "a", 1), UINT32_MAX);
	cr_assert_eq(strtab_add(&t, "a", 1), 0);
	cr_assert_eq(strtab_add(&t, "", 0), 1);
	cr_assert_eq(strtab_add(&t, "a\0b", 3), 2);
	cr_assert_eq(strtab_add(&t, "a", 1), 0);
	cr_assert_eq(t.cnt, 3);
	cr_assert_eq(strtab_find(&t, "a\0b", 3), 2);
	cr_assert_eq(strtab_find(&t, "a\0c", 3), UINT32_MAX);
	cr_assert_arr_eq(strtab_get(&t, 2, &len), "a\0b", 4);
	cr_assert_eq(len, 3);
	cr_assert_null(strtab_get(&t, 3, NULL));
	strtab_fini(&t);
}

Test(strtab, strings_keep_their_address_while_the_table_grows)
{
	enum { CNT = 50000 };
	static const char *where[CNT];
	struct strtab t = { 0 };
	char name[32];

	for (int i = 0; i < CNT; i++) {
		int n = snprintf(name, sizeof(name), "name%d", i);

		cr_assert_eq(strtab_add(&t, name, n), (uint32_t)i);
		where[i] = strtab_get(&t, i, NULL);
	}
	for (int i = 0; i < CNT; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		cr_assert_eq(strtab_get(&t, i, NULL), where[i]);
		cr_assert_str_eq(where[i], name);
		cr_assert_eq(strtab_find(&t, name, strlen(name)), (uint32_t)i);
	}
	strtab_fini(&t);
}

Test(strtab, string_larger_than_a_chunk_is_whole)
{
	const size_t n = 300000;
	char *big = malloc(n);
	struct strtab t = { 0 };
	size_t len;

	memset(big, 'x', n);
	strtab_add(&t, "before", 6);
	strtab_add(&t, big, n);
	strtab_add(&t, "after", 5);
	cr_assert_arr_eq(strtab_get(&t, 1, &len), big, n);
	cr_assert_eq(len, n);
	cr_assert_str_eq(strtab_get(&t, 0, NULL), "before");
	cr_assert_str_eq(strtab_get(&t, 2, NULL), "after");
	cr_assert_eq(t.bytes, 7 + n + 1 + 6);
	free(big);
	strtab_fini(&t);
}

/* One byte less is left than text and NUL need: a sanitizer sees the NUL that goes too far. */
Test(strtab, string_without_room_for_its_nul_gets_its_own_chunk)
{
	const size_t n = 65534;
	char *big = malloc(n);
	struct strtab t = { 0 };

	memset(big, 'y', n);
	strtab_add(&t, "a", 1);
	strtab_add(&t, big, n);
	cr_assert_neq(strtab_get(&t, 1, NULL), strtab_get(&t, 0, NULL) + 2);
	cr_assert_str_eq(strtab_get(&t, 0, NULL), "a");
	free(big);
	strtab_fini(&t);
}
