/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_RANK_H
#define D9_BASE_RANK_H

#include <stdint.h>

/*
 * The rank, from 1, of the quantile @q (0 to 1) of @cnt sorted values: the lowest rank of at least q * cnt. A q such
 * as 0.07 is the decimal number, and not the double next to it: of 100 values it is rank 7. 0: no values.
 */
uint64_t rank_of_quantile(double q, uint64_t cnt);

#endif /* D9_BASE_RANK_H */
