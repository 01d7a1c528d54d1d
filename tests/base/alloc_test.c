// SPDX-License-Identifier: BSD-2-Clause
/* Growth, overflow and the words of the last message. */
#include "base/alloc.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdint.h>
#include <stdlib.h>

Test(alloc, allocation_of_0_bytes_returns_a_pointer)
{
	void *p = xmalloc(0), *q = xcalloc(0, 8);

	cr_assert(p && q);
	free(p);
	free(q);
}

Test(alloc, strndup_stops_at_the_nul_and_at_n)
{
	char *a = xstrndup("abc", 10), *b = xstrndup("abc", 2);

	cr_assert_str_eq(a, "abc");
	cr_assert_str_eq(b, "ab");
	free(a);
	free(b);
}

Test(alloc, array_reserve_keeps_contents_and_zeroes_the_rest)
{
	size_t cap = 0;
	uint32_t *arr = array_reserve(NULL, &cap, 3, sizeof(*arr));

	cr_assert_geq(cap, 3);
	for (size_t i = 0; i < cap; i++) {
		cr_assert_eq(arr[i], 0);
		arr[i] = 7;
	}
	size_t old = cap;
	arr = array_reserve(arr, &cap, old + 1, sizeof(*arr));
	cr_assert_geq(cap, old + old / 2);
	for (size_t i = 0; i < cap; i++)
		cr_assert_eq(arr[i], i < old ? 7 : 0);
	free(arr);
}

Test(alloc, array_reserve_unset_keeps_contents)
{
	size_t cap = 0, old;
	uint32_t *arr = array_reserve_unset(NULL, &cap, 3, sizeof(*arr));

	cr_assert_geq(cap, 3);
	for (size_t i = 0; i < cap; i++)
		arr[i] = (uint32_t)i;
	old = cap;
	arr = array_reserve_unset(arr, &cap, old + 1, sizeof(*arr));
	cr_assert_gt(cap, old);
	for (size_t i = 0; i < old; i++)
		cr_assert_eq(arr[i], i);
	free(arr);
}

Test(alloc, array_reserve_leaves_a_large_enough_array_alone)
{
	size_t cap = 0;
	char *arr = array_reserve(NULL, &cap, 100, 1), *same;

	same = array_reserve(arr, &cap, 100, 1);
	cr_assert_eq(same, arr);
	free(same);
}

Test(alloc, overflowing_size_ends_the_program, .exit_code = 2, .init = cr_redirect_stderr)
{
	void *p = xreallocarray(NULL, SIZE_MAX / 2, 3);

	free(p);
	cr_assert_fail("came back");
}

Test(alloc, overflowing_array_ends_the_program, .exit_code = 2, .init = cr_redirect_stderr)
{
	size_t cap = 0;
	void *p = array_reserve(NULL, &cap, SIZE_MAX / 4, 16);

	free(p);
	cr_assert_fail("came back");
}
