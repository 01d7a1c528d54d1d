// SPDX-License-Identifier: BSD-2-Clause
/*
 * Quantiles from a histogram with buckets that grow with the value. Owns the counts: one row of
 * buckets per power of two, allocated on first use.
 */
#include "profile/sums/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rank.h"

void quantile_fini(struct quantile *q)
{
	for (size_t i = 0; i < QUANTILE_ROWS; i++)
		free(q->rows[i]);
	memset(q, 0, sizeof(*q));
}

void quantile_add(struct quantile *q, uint64_t v)
{
	unsigned int width = v ? 64 - (unsigned int)__builtin_clzll(v) : 0, row;

	/* the first row is exact */
	row = width > QUANTILE_SUB_BITS ? width - QUANTILE_SUB_BITS : 0;
	if (!q->rows[row])
		q->rows[row] = xcalloc(QUANTILE_SUBS, sizeof(*q->rows[row]));
	q->rows[row][(row ? v >> (row - 1) : v) % QUANTILE_SUBS]++;
	if (!q->cnt || v < q->min)
		q->min = v;
	q->cnt++;
	q->sum += (double)v;
	if (v > q->max)
		q->max = v;
}

void quantile_merge(struct quantile *q, const struct quantile *from)
{
	for (size_t row = 0; row < QUANTILE_ROWS; row++) {
		if (!from->rows[row])
			continue;
		if (!q->rows[row])
			q->rows[row] = xcalloc(QUANTILE_SUBS, sizeof(*q->rows[row]));
		for (size_t sub = 0; sub < QUANTILE_SUBS; sub++)
			q->rows[row][sub] += from->rows[row][sub];
	}
	if (from->cnt && (!q->cnt || from->min < q->min))
		q->min = from->min;
	q->cnt += from->cnt;
	q->sum += from->sum;
	if (from->max > q->max)
		q->max = from->max;
}

uint64_t quantile_power(const struct quantile *q, unsigned int power)
{
	const bool low = power < QUANTILE_SUB_BITS;
	const size_t row = low ? 0 : power - QUANTILE_SUB_BITS + 1;
	const size_t from = !low  ? 0 :
			    power ? 1ULL << power :
				    0,
		     to = low ? 2ULL << power : QUANTILE_SUBS;
	uint64_t sum = 0;

	for (size_t sub = from; q->rows[row] && sub < to; sub++)
		sum += q->rows[row][sub];
	return sum;
}

/* The middle of a bucket. */
static double middle(unsigned int row, unsigned int sub)
{
	if (!row)
		return sub;
	return (ldexp((double)(QUANTILE_SUBS + sub), (int)row - 1) +
		ldexp((double)(QUANTILE_SUBS + sub + 1), (int)row - 1) - 1) /
	       2;
}

/* The value of a rank, from 1. */
static double at_rank(const struct quantile *q, double rank)
{
	const double min = (double)q->min, max = (double)q->max;
	uint64_t below = 0;

	if (rank <= 1)
		return min;

	for (unsigned int row = 0; row < QUANTILE_ROWS && rank < (double)q->cnt; row++) {
		for (unsigned int sub = 0; q->rows[row] && sub < QUANTILE_SUBS; sub++) {
			below += q->rows[row][sub];
			if (q->rows[row][sub] && (double)below >= rank)
				return fmin(fmax(middle(row, sub), min), max);
		}
	}
	return max;
}

double quantile_at(const struct quantile *q, double p)
{
	return at_rank(q, (double)rank_of_quantile(p, q->cnt));
}

bool quantile_range(const struct quantile *q, double p, double *low, double *high)
{
	double n = (double)q->cnt, two = 2 * sqrt(n * p * (1 - p));

	if (n * p - two < 1 || n * p + two > n)
		return false;
	*low = at_rank(q, floor(n * p - two));
	*high = at_rank(q, ceil(n * p + two));
	return true;
}
