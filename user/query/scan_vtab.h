/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_VTAB_H
#define D9_QUERY_SCAN_VTAB_H

#include <sqlite3.h>

#include "query/scan.h"

/* Registers the table as an eponymous virtual table. */
int scan_vtab_register(sqlite3 *db, const struct scan_table *table);

#endif /* D9_QUERY_SCAN_VTAB_H */
