// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order of rows by time. A radix sort: its cost follows the digits that differ, and times of one row
 * group differ little.
 */
#include "export/parquet/parquet_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

/* Sorts @from into @to by one digit of the distance from @min. */
static void sort_by_digit(const uint64_t *values, uint64_t min, unsigned int shift,
			  const uint32_t *from, uint32_t *to, size_t cnt)
{
	uint32_t starts[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < cnt; i++)
		starts[(values[i] - min) >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		const uint32_t n = starts[d];

		starts[d] = sum;
		sum += n;
	}
	for (size_t i = 0; i < cnt; i++)
		to[starts[(values[from[i]] - min) >> shift & (DIGITS - 1)]++] = from[i];
}

uint32_t *parquet_order(const uint64_t *values, size_t cnt)
{
	uint64_t min = cnt ? values[0] : 0, max = min;
	uint32_t *order, *other, *swap;
	bool sorted = true;

	for (size_t i = 1; i < cnt; i++) {
		sorted &= (int64_t)values[i - 1] <= (int64_t)values[i];
		min = (int64_t)values[i] < (int64_t)min ? values[i] : min;
		max = (int64_t)values[i] > (int64_t)max ? values[i] : max;
	}
	if (sorted)
		return NULL;
	order = xmalloc(cnt * sizeof(*order));
	other = xmalloc(cnt * sizeof(*other));
	for (size_t i = 0; i < cnt; i++)
		order[i] = (uint32_t)i;
	for (unsigned int shift = 0; shift < 64 && (max - min) >> shift; shift += DIGIT) {
		sort_by_digit(values, min, shift, order, other, cnt);
		swap = order;
		order = other;
		other = swap;
	}
	free(other);
	return order;
}
