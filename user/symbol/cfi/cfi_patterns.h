/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_PATTERNS_H
#define D9_SYMBOL_CFI_CFI_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfimg;

#define CFI_PATTERNS_MAX 17

/* A row that applies from this file offset on, unless an FDE covers it */
struct cfi_patterns {
	uint64_t off;
	uint32_t row;
};

/* Inserts a row; the offsets in @out stay sorted. There must be room. */
void cfi_patterns_add(struct cfi_patterns *out, size_t *cnt, uint64_t off, uint32_t row);

/*
 * Finds code of x86-64 that never has an FDE. Returns the number of rows, at most CFI_PATTERNS_MAX;
 * offsets do not decrease.
 */
size_t cfi_patterns_find(const struct elfimg *img, struct cfi_patterns *out);

/*
 * Whether the function at these file offsets is the pseudo caller of goroutines (goexit). It has no
 * caller, but Go's call frame information describes one.
 */
bool cfi_patterns_is_goexit(const struct elfimg *img, uint64_t start, uint64_t end);

#endif /* D9_SYMBOL_CFI_CFI_PATTERNS_H */
