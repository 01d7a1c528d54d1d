/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_QUANTILE_H
#define D9_PROFILE_SUMS_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTILE_SUB_BITS 6
#define QUANTILE_SUBS (1 << QUANTILE_SUB_BITS)
#define QUANTILE_ROWS (64 - QUANTILE_SUB_BITS + 1)

/*
 * Quantiles of any number of values in little memory. Each bucket is 1/64 as wide as its value, so
 * a quantile is accurate to 0.8% (below 64: exact). Minimum and maximum are exact, and limit the
 * quantiles. {0} is empty.
 */
struct quantile {
	uint64_t cnt, min, max;
	double sum;
	uint64_t *rows[QUANTILE_ROWS]; /* QUANTILE_SUBS counts each; NULL: none */
};

void quantile_fini(struct quantile *q);
void quantile_add(struct quantile *q, uint64_t v);
/* Adds @from, which does not change. */
void quantile_merge(struct quantile *q, const struct quantile *from);
/* The number of values from 2^@power up to 2^(@power + 1); power 0 includes 0. */
uint64_t quantile_power(const struct quantile *q, unsigned int power);

/* The quantile @p (0 to 1); 0 without values. */
double quantile_at(const struct quantile *q, double p);

/*
 * The confidence range of a quantile, two standard deviations: the ranks of a sample have a
 * binomial distribution. False: too few values.
 */
bool quantile_range(const struct quantile *q, double p, double *low, double *high);

#endif /* D9_PROFILE_SUMS_QUANTILE_H */
