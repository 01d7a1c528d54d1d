/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFIKNOWN_H
#define D9_SYMBOL_CFIKNOWN_H

#include <stddef.h>
#include <stdint.h>

struct elfimg;

#define CFIKNOWN_MAX 9

/* From this file offset on the row holds, where no FDE says otherwise. */
struct cfiknown {
	uint64_t off;
	uint32_t row;
};

/* Finds code that has no FDE by custom. Returns how many rows there are; offsets do not fall. */
size_t cfiknown_find(const struct elfimg *img, struct cfiknown out[CFIKNOWN_MAX]);

#endif /* D9_SYMBOL_CFIKNOWN_H */
