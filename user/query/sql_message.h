/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SQL_MESSAGE_H
#define D9_QUERY_SQL_MESSAGE_H

#include <sqlite3.h>

#include "base/buf.h"
#include "query/scan_filter.h"

/* Known tables, and columns of those that the statement names. {0} is empty; text is borrowed. */
struct sql_message_names {
	const char **tables, **columns;
	size_t table_cnt, table_cap, column_cnt, column_cap;
};

void sql_message_add(struct sql_message_names *n, const char *sql, const char *table,
		     const struct scan_column *columns, size_t cnt);
void sql_message_fini(struct sql_message_names *n);

/* Appends what is wrong with a statement: the last error of @db, its place, and the most similar known name. */
void sql_message_put(struct buf *out, sqlite3 *db, const char *sql,
		     const struct sql_message_names *n);

#endif /* D9_QUERY_SQL_MESSAGE_H */
