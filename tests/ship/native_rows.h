/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SHIP_NATIVE_ROWS_H
#define D9_TESTS_SHIP_NATIVE_ROWS_H

#include "base/buf.h"

/*
 * Appends the rows of an unpacked block of ClickHouse's format Native as CSV, as `query` prints them: these columns only, whose
 * names are separated by commas. Arrays are numbers separated by spaces.
 */
void native_rows_put(struct buf *csv, const struct buf *block, const char *columns);

#endif /* D9_TESTS_SHIP_NATIVE_ROWS_H */
