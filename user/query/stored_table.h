/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_STORED_TABLE_H
#define D9_QUERY_STORED_TABLE_H

#include <sqlite3.h>

#include "query/query.h"

/* Rows that come from elsewhere, in a table of the connection. */
struct stored_table {
	sqlite3_stmt *insert;
};

/* Makes the table; its columns take any value. 0, or -ENOMEM also if the names are not usable. */
int stored_table_begin(struct stored_table *t, sqlite3 *db, const char *name,
		       const char *const *columns, size_t cnt);
/* A row of @cnt values: 0 or -ENOMEM. */
int stored_table_add(struct stored_table *t, const struct query_value *values, size_t cnt);
void stored_table_end(struct stored_table *t);

#endif /* D9_QUERY_STORED_TABLE_H */
