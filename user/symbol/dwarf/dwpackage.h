/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWPACKAGE_H
#define D9_SYMBOL_DWARF_DWPACKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/dwarf/dwfile.h"

/*
 * Finds the unit with that id in a loaded package. out must have no sections; it borrows its part
 * of each section. False if the package lacks the unit, or the index is invalid.
 */
bool dwpackage_find(const struct dwfile *package, uint64_t id, struct dwfile *out);

#endif /* D9_SYMBOL_DWARF_DWPACKAGE_H */
