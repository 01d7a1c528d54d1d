// SPDX-License-Identifier: BSD-2-Clause
/* Tables with given rows. Owns how values are bound; names and values are never part of the SQL unquoted. */
#include "query/stored_table.h"

#include <errno.h>

#include "base/buf.h"

/* CREATE TABLE, or the INSERT that fills it. From sqlite3_mprintf() by pieces; false: out of memory. */
static bool put_name(struct buf *sql, const char *before, const char *name)
{
	char *quoted = sqlite3_mprintf("\"%w\"", name);

	if (!quoted)
		return false;
	buf_printf(sql, "%s%s", before, quoted);
	sqlite3_free(quoted);
	return true;
}

static bool put_create(struct buf *sql, const char *name, const char *const *columns, size_t cnt)
{
	if (!put_name(sql, "CREATE TABLE ", name))
		return false;
	for (size_t i = 0; i < cnt; i++)
		if (!put_name(sql, i ? ", " : " (", columns[i]))
			return false;
	buf_addch(sql, ')');
	return true;
}

static bool put_insert(struct buf *sql, const char *name, size_t cnt)
{
	if (!put_name(sql, "INSERT INTO ", name))
		return false;
	for (size_t i = 0; i < cnt; i++)
		buf_addstr(sql, i ? ", ?" : " VALUES (?");
	buf_addch(sql, ')');
	return true;
}

int stored_table_begin(struct stored_table *t, sqlite3 *db, const char *name,
		       const char *const *columns, size_t cnt)
{
	struct buf sql = { 0 };
	bool ok = put_create(&sql, name, columns, cnt) &&
		  !sqlite3_exec(db, buf_cstr(&sql), NULL, NULL, NULL);

	buf_clear(&sql);
	ok = ok && put_insert(&sql, name, cnt) &&
	     !sqlite3_prepare_v2(db, buf_cstr(&sql), -1, &t->insert, NULL);
	buf_free(&sql);
	return ok ? 0 : -ENOMEM;
}

static int bind(sqlite3_stmt *stmt, int at, const struct query_value *v)
{
	switch (v->type) {
	case QUERY_INTEGER:
		return sqlite3_bind_int64(stmt, at, v->integer);
	case QUERY_REAL:
		return sqlite3_bind_double(stmt, at, v->real);
	case QUERY_TEXT:
	case QUERY_NUMBER:
		return sqlite3_bind_text64(stmt, at, v->data, v->sz, SQLITE_TRANSIENT, SQLITE_UTF8);
	case QUERY_BLOB:
		return sqlite3_bind_blob64(stmt, at, v->data, v->sz, SQLITE_TRANSIENT);
	case QUERY_NULL:
		break;
	}
	return sqlite3_bind_null(stmt, at);
}

int stored_table_add(struct stored_table *t, const struct query_value *values, size_t cnt)
{
	int code = sqlite3_reset(t->insert);

	for (size_t i = 0; i < cnt && !code; i++)
		code = bind(t->insert, (int)i + 1, &values[i]);
	if (!code && sqlite3_step(t->insert) == SQLITE_DONE)
		return 0;
	return -ENOMEM;
}

void stored_table_end(struct stored_table *t)
{
	sqlite3_finalize(t->insert);
	t->insert = NULL;
}
