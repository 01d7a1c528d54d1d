// SPDX-License-Identifier: BSD-2-Clause
/* The order of rows. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "export/parquet/parquet_order.h"

#define CNT(v) (sizeof(v) / sizeof((v)[0]))

Test(parquet_order, equal_values_keep_their_order)
{
	static const uint64_t v[] = { 5, 3, 9, 3 };
	static const uint32_t want[] = { 1, 3, 0, 2 };
	uint32_t *order = parquet_order(v, CNT(v));

	cr_assert_arr_eq(order, want, sizeof(want));
	free(order);
}

Test(parquet_order, values_are_signed)
{
	static const uint64_t v[] = { 0, UINT64_MAX, INT64_MAX, 1ULL << 63 };
	static const uint32_t want[] = { 3, 1, 0, 2 };
	uint32_t *order = parquet_order(v, CNT(v));

	cr_assert_arr_eq(order, want, sizeof(want));
	free(order);
}

Test(parquet_order, sorted_rows_need_none)
{
	static const uint64_t v[] = { UINT64_MAX, 0, 0, 7 };

	cr_expect_null(parquet_order(v, CNT(v)));
	cr_expect_null(parquet_order(v, 1));
	cr_expect_null(parquet_order(v, 0));
}

/* Each digit counts: numbers with bits far apart, against a plain sort. */
Test(parquet_order, many_values)
{
	enum { N = 3000 };
	uint64_t v[N], x = 1;
	uint32_t *order;

	for (size_t i = 0; i < N; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		v[i] = x >> i % 60;
	}
	order = parquet_order(v, N);
	for (size_t i = 1; i < N; i++)
		cr_assert_leq((int64_t)v[order[i - 1]], (int64_t)v[order[i]]);
	free(order);
}
