/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIROW_H
#define D9_SYMBOL_CFI_CFIROW_H

#include <stdbool.h>
#include <stdint.h>

struct cfi_state;

/* A row without kind, offset and frame pointer says nothing: this one says that nothing is known. */
uint32_t cfirow_special(uint32_t special);

/* Of x86-64: CFA = sp + n, the frame pointer the caller's; n is a multiple of 8 and small. */
uint32_t cfirow_sp(uint32_t n);

/*
 * What a walk does at a place of that state of x86-64, as a row (prof_unwind.h) with pc 0. When its CFA is
 * further away than a row can say, *big becomes the offset and the row lacks the number of it;
 * else *big becomes 0.
 */
uint32_t cfirow_of(const struct cfi_state *state, uint32_t *big);

#endif /* D9_SYMBOL_CFI_CFIROW_H */
