/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_VTAB_H
#define D9_QUERY_SCAN_VTAB_H

#include <sqlite3.h>

#include "query/scan.h"

/* Registers the table as an eponymous virtual table. */
int scan_vtab_register(sqlite3 *db, const struct scan_table *table);

/* The declaration of a table for sqlite3_declare_vtab(): free with sqlite3_free(). @hidden: number of hidden columns, the last ones. */
char *scan_vtab_declaration(const struct scan_column *columns, size_t cnt, size_t hidden);
/* A value as the result of a column. */
void scan_vtab_result(sqlite3_context *ctx, const struct query_value *v);

#endif /* D9_QUERY_SCAN_VTAB_H */
