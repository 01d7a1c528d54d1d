/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_VTAB_H
#define D9_QUERY_VTAB_H

#include <sqlite3.h>

#include "query/query_value.h"
#include "query/scan_filter.h"

/* What all virtual tables have in common. */
struct vtab {
	sqlite3_vtab base; /* must be first */
	void *of; /* what the module was registered with */
};

/* For xConnect: declares the table. @hidden: number of hidden columns, the last ones. An SQLite result code. */
int vtab_connect(sqlite3 *db, void *of, const struct scan_column *columns, size_t cnt,
		 size_t hidden, sqlite3_vtab **out);
/* For xDisconnect and xDestroy. */
int vtab_disconnect(sqlite3_vtab *v);

static inline void *vtab_of(sqlite3_vtab *v)
{
	return ((struct vtab *)v)->of;
}

/* A value as the result of a column. */
void vtab_result(sqlite3_context *ctx, const struct query_value *v);

#endif /* D9_QUERY_VTAB_H */
