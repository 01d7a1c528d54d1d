/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIROW_H
#define D9_SYMBOL_CFI_CFIROW_H

#include <stdbool.h>
#include <stdint.h>

struct cfi_state;

/* A row for a place where nothing is known; it has no kind, offset and frame pointer. */
uint32_t cfirow_special(uint32_t special);

/* x86-64: CFA = sp + n, with the caller's frame pointer unchanged; n is a small multiple of 8. */
uint32_t cfirow_sp(uint32_t n);

/*
 * Encodes a state of x86-64 as a row (prof_unwind.h) with pc 0. If the offset of the CFA does not
 * fit, *big is set to it, and the row lacks its number; otherwise *big is 0.
 */
uint32_t cfirow_of(const struct cfi_state *state, uint32_t *big);

#endif /* D9_SYMBOL_CFI_CFIROW_H */
