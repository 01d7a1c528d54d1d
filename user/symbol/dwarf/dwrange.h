/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWRANGE_H
#define D9_SYMBOL_DWARF_DWRANGE_H

#include <stdint.h>

#include "symbol/dwarf/dwunit.h"

/* Reads the address ranges of one DIE. {0} has none. */
struct dwrange {
	enum { DWRANGE_NONE, DWRANGE_ONE, DWRANGE_OLD, DWRANGE_NEW } kind;
	uint64_t lo, hi; /* DWRANGE_ONE */
	uint64_t base;
	struct dwread at;
};

/* The attributes that die must have been read with */
#define DWRANGE_ATTRS (1u << DWATTR_LOW_PC | 1u << DWATTR_HIGH_PC | 1u << DWATTR_RANGES)
void dwrange_begin(struct dwrange *r, const struct dwunits *us, const struct dwunit *u,
		   const struct dwdie *die);

/* Reads one entry: 1 and [*lo, *hi), which may be empty; or 0 at the end. */
int dwrange_next(struct dwrange *r, const struct dwunits *us, const struct dwunit *u, uint64_t *lo,
		 uint64_t *hi);

#endif /* D9_SYMBOL_DWARF_DWRANGE_H */
