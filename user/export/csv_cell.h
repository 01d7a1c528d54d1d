/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_CSV_CELL_H
#define D9_EXPORT_CSV_CELL_H

#include "base/buf.h"

/*
 * Appends printable text as a cell of comma-separated values (RFC 4180). A spreadsheet treats a cell that begins with
 * one of "=+-@" as a formula: such text gets a leading apostrophe.
 */
void csv_cell_put(struct buf *out, const char *s, size_t n);

#endif /* D9_EXPORT_CSV_CELL_H */
