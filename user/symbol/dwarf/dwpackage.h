/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWPACKAGE_H
#define D9_SYMBOL_DWARF_DWPACKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/dwarf/dwfile.h"

/*
 * Finds the unit of that number in a package, which has been loaded: out, which has no sections yet, gets
 * its part of each of them, borrowed. False when the package has none, or says of it what makes no sense.
 */
bool dwpackage_find(const struct dwfile *package, uint64_t id, struct dwfile *out);

#endif /* D9_SYMBOL_DWARF_DWPACKAGE_H */
