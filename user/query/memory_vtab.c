// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables in memory in SQLite. Owns the module and its cursors. A condition on the TID of a task finds its rows without a
 * scan, so tasks can be joined.
 */
#include "query/memory_vtab.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "query/vtab.h"

struct list_cursor {
	sqlite3_vtab_cursor base; /* must be first */
	const struct memory_table *table;
	size_t trace, row, end; /* rows of this trace up to end */
	int64_t rowid;
	bool by_tid;
	uint32_t tid;
};

static int connect_list(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **out, char **err)
{
	const struct memory_table *table = aux;

	return vtab_connect(db, aux, table->columns, table->column_cnt, 0, out);
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct memory_table *table = vtab_of(v);
	size_t rows = 0;

	for (size_t i = 0; i < table->all->cnt; i++)
		rows += table->count(table->all->v[i]);
	info->estimatedCost = (double)rows + 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	for (int i = 0; table->tid && i < info->nConstraint; i++) {
		const int column = info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable || column < 0 ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    table->columns[column].role != SCAN_ROLE_TID)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 10;
		info->estimatedRows = 1;
		break;
	}
	return SQLITE_OK;
}

static int open_list(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct list_cursor *c = xcalloc(1, sizeof(*c));

	c->table = vtab_of(v);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_list(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

/* The first row with at least this TID. */
static size_t lower_bound(const struct list_cursor *c, const struct trace_input *in, uint64_t tid)
{
	size_t low = 0, high = c->table->count(in);

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (c->table->tid(in, mid) < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void begin_list(struct list_cursor *c)
{
	const struct trace_inputs *all = c->table->all;

	for (; c->trace < all->cnt; c->trace++) {
		const struct trace_input *in = all->v[c->trace];

		c->row = c->by_tid ? lower_bound(c, in, c->tid) : 0;
		c->end = c->by_tid ? lower_bound(c, in, (uint64_t)c->tid + 1) : c->table->count(in);
		if (c->row < c->end)
			return;
	}
}

static int filter_list(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		       sqlite3_value **argv)
{
	struct list_cursor *c = (struct list_cursor *)cursor;
	sqlite3_int64 tid;

	c->trace = 0;
	c->rowid = 1;
	c->by_tid = false;
	if (number && argc && sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
		tid = sqlite3_value_int64(argv[0]);
		c->by_tid = tid >= 0 && tid < TRACE_NONE;
		c->tid = (uint32_t)tid;
	}
	begin_list(c);
	return SQLITE_OK;
}

static int next_list(sqlite3_vtab_cursor *cursor)
{
	struct list_cursor *c = (struct list_cursor *)cursor;

	c->rowid++;
	if (++c->row < c->end)
		return SQLITE_OK;
	c->trace++;
	begin_list(c);
	return SQLITE_OK;
}

static int is_list_eof(sqlite3_vtab_cursor *cursor)
{
	const struct list_cursor *c = (struct list_cursor *)cursor;

	return c->trace >= c->table->all->cnt;
}

static int get_list_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct list_cursor *c = (struct list_cursor *)cursor;
	struct query_value v = { .type = QUERY_NULL };

	c->table->column(c->table->all->v[c->trace], c->row, (size_t)column, &v);
	vtab_result(ctx, &v);
	return SQLITE_OK;
}

static int get_list_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = ((struct list_cursor *)cursor)->rowid;
	return SQLITE_OK;
}

int memory_vtab_register(sqlite3 *db, const struct memory_table *table)
{
	static const sqlite3_module module = {
		.xConnect = connect_list,
		.xBestIndex = best_index,
		.xDisconnect = vtab_disconnect,
		.xDestroy = vtab_disconnect,
		.xOpen = open_list,
		.xClose = close_list,
		.xFilter = filter_list,
		.xNext = next_list,
		.xEof = is_list_eof,
		.xColumn = get_list_column,
		.xRowid = get_list_rowid,
	};

	return sqlite3_create_module_v2(db, table->name, &module, (void *)table, NULL);
}
