// SPDX-License-Identifier: BSD-2-Clause
/* Declarations of virtual tables, and values for SQLite. */
#include "query/vtab.h"

/* For sqlite3_declare_vtab(): free with sqlite3_free(). */
static char *make_declaration(const struct scan_column *columns, size_t cnt, size_t hidden)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendall(s, "CREATE TABLE x(");
	for (size_t i = 0; i < cnt; i++)
		sqlite3_str_appendf(s, "%s\"%w\" %s%s", i ? "," : "", columns[i].name,
				    columns[i].type, i + hidden >= cnt ? " HIDDEN" : "");
	sqlite3_str_appendall(s, ")");
	return sqlite3_str_finish(s);
}

int vtab_connect(sqlite3 *db, void *of, const struct scan_column *columns, size_t cnt,
		 size_t hidden, sqlite3_vtab **out)
{
	char *sql = make_declaration(columns, cnt, hidden);
	struct vtab *v;
	int ret = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (ret)
		return ret;
	v = sqlite3_malloc(sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct vtab){ .of = of };
	*out = &v->base;
	return SQLITE_OK;
}

int vtab_disconnect(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

void vtab_result(sqlite3_context *ctx, const struct query_value *v)
{
	switch (v->type) {
	case QUERY_INTEGER:
		sqlite3_result_int64(ctx, v->integer);
		break;
	case QUERY_REAL:
		sqlite3_result_double(ctx, v->real);
		break;
	case QUERY_TEXT:
	case QUERY_NUMBER:
		sqlite3_result_text64(ctx, v->data, v->sz,
				      v->lasts ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case QUERY_BLOB:
		sqlite3_result_blob64(ctx, v->data, v->sz, SQLITE_TRANSIENT);
		break;
	case QUERY_NULL:
		break;
	}
}
