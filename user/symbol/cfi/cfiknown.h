/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIKNOWN_H
#define D9_SYMBOL_CFI_CFIKNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfimg;

#define CFIKNOWN_MAX 17

/* From this file offset on the row holds, where no FDE says otherwise. */
struct cfiknown {
	uint64_t off;
	uint32_t row;
};

/* Inserts a row; the offsets in @out stay sorted. There must be room. */
void cfiknown_add(struct cfiknown *out, size_t *cnt, uint64_t off, uint32_t row);

/*
 * Finds x86-64's code that has no FDE by custom. Returns how many rows there are, at most CFIKNOWN_MAX; offsets do
 * not fall.
 */
size_t cfiknown_find(const struct elfimg *img, struct cfiknown *out);

/*
 * Whether a function at these file offsets is where goroutines of Go begin, as if it had called them: of
 * its caller, who does not exist, Go's call frame information says where it would be.
 */
bool cfiknown_is_goexit(const struct elfimg *img, uint64_t start, uint64_t end);

#endif /* D9_SYMBOL_CFI_CFIKNOWN_H */
