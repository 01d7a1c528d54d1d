/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_MEMORY_VTAB_H
#define D9_QUERY_MEMORY_VTAB_H

#include <sqlite3.h>

#include "query/memory_tables.h"

/* Registers the table as an eponymous virtual table. */
int memory_vtab_register(sqlite3 *db, const struct memory_table *table);

#endif /* D9_QUERY_MEMORY_VTAB_H */
