/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_PATTERNS_H
#define D9_SYMBOL_CFI_CFI_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfimg;

#define CFI_PATTERNS_MAX 17

/* From this file offset on the row holds, where no FDE says otherwise. */
struct cfi_patterns {
	uint64_t off;
	uint32_t row;
};

/* Inserts a row; the offsets in @out stay sorted. There must be room. */
void cfi_patterns_add(struct cfi_patterns *out, size_t *cnt, uint64_t off, uint32_t row);

/*
 * Finds x86-64's code that has no FDE by custom. Returns how many rows there are, at most CFI_PATTERNS_MAX; offsets do
 * not fall.
 */
size_t cfi_patterns_find(const struct elfimg *img, struct cfi_patterns *out);

/*
 * Whether a function at these file offsets is where goroutines of Go begin, as if it had called them: of
 * its caller, who does not exist, Go's call frame information says where it would be.
 */
bool cfi_patterns_is_goexit(const struct elfimg *img, uint64_t start, uint64_t end);

#endif /* D9_SYMBOL_CFI_CFI_PATTERNS_H */
