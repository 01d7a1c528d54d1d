// SPDX-License-Identifier: BSD-2-Clause
/* The rank of a quantile. Owns the rounding. */
#include "base/rank.h"

#include <math.h>

/* Relative error of a product of a rounded decimal number: two roundings of 2^-53, and room. */
#define ROUNDING 0x1p-50

uint64_t rank_of_quantile(double q, uint64_t cnt)
{
	const double at = q * (double)cnt;
	double rank = ceil(at);

	if (rank - 1 >= at * (1 - ROUNDING))
		rank--;
	if (!cnt || rank < 1)
		return cnt ? 1 : 0;
	return rank >= (double)cnt ? cnt : (uint64_t)rank;
}
