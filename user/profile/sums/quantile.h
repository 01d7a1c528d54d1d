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
 * Quantiles of any number of values in little memory: counts in buckets of which each is 1/64 wide of
 * where it stands, so a quantile is right to 0.8% (below 64: exact). The least and the greatest value are
 * exact, and no quantile lies outside of them. {0} is empty.
 */
struct quantile {
	uint64_t cnt, min, max;
	double sum;
	uint64_t *rows[QUANTILE_ROWS]; /* QUANTILE_SUBS counts each; NULL: none */
};

void quantile_fini(struct quantile *q);
void quantile_add(struct quantile *q, uint64_t v);
/* Adds all of @from, which stays as it is. */
void quantile_merge(struct quantile *q, const struct quantile *from);
/* How many are of 2^@power up to 2^(@power + 1); of power 0 also those that are 0. */
uint64_t quantile_power(const struct quantile *q, unsigned int power);

/* The value that the share @p (0 to 1) of all are not above; 0 of none. */
double quantile_at(const struct quantile *q, double p);

/*
 * Between which two the true quantile lies, with two standard deviations of chance: the ranks of a
 * sample scatter binomially. False when there are too few values to say.
 */
bool quantile_range(const struct quantile *q, double p, double *low, double *high);

#endif /* D9_PROFILE_SUMS_QUANTILE_H */
