// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of scans in SQLite. Owns the module, the cursors, and the pass of each cursor over all traces: SQLite asks for one
 * row after the other.
 */
#include "query/scan_vtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/scan_plan.h"
#include "query/vtab.h"

#define STOP_EVERY 8192

/* One pass over all traces. */
struct scan_cursor {
	sqlite3_vtab_cursor base; /* must be first */
	struct scan scan;
	struct trace_event ev;
	struct reader *reader; /* NULL: at the start, or between traces */
	size_t next; /* trace */
	int64_t row;
	uint64_t polls;
	bool eof;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **err)
{
	const struct scan_table *table = aux;

	return vtab_connect(db, aux, table->columns, table->column_cnt, table->hidden, out);
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct scan_table *table = vtab_of(v);
	uint64_t events = 0;

	for (size_t i = 0; i < table->all->cnt; i++)
		events += table->all->v[i]->events;
	return scan_plan_best(info, table->columns, table->column_cnt, events);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct scan_cursor *c = xcalloc(1, sizeof(*c));

	scan_init(&c->scan, vtab_of(v));
	*out = &c->base;
	return SQLITE_OK;
}

static void end_trace(struct scan_cursor *c)
{
	reader_free(c->reader);
	c->reader = NULL;
}

static void reset(struct scan_cursor *c)
{
	scan_fini(&c->scan);
	scan_init(&c->scan, c->scan.table);
	end_trace(c);
	c->next = 0;
	c->row = 0;
	c->eof = false;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct scan_cursor *c = (struct scan_cursor *)cursor;

	scan_fini(&c->scan);
	end_trace(c);
	free(c);
	return SQLITE_OK;
}

static int begin_trace(struct scan_cursor *c)
{
	const struct scan_table *table = c->scan.table;
	const struct scan_filter *f = &c->scan.filter;
	const bool all_times = !table->ops->in_range;
	const uint64_t from = all_times || f->from < 0 ? 0 : (uint64_t)f->from;
	const uint64_t to = all_times || f->to == INT64_MAX ? UINT64_MAX :
			    f->to < 0			    ? 0 :
							      (uint64_t)f->to;
	struct trace_input *in;

	while (c->next < table->all->cnt && !scan_wants_trace(&c->scan, table->all->v[c->next]))
		c->next++;
	if (c->next == table->all->cnt) {
		c->eof = true;
		return SQLITE_OK;
	}
	in = table->all->v[c->next++];
	if (trace_input_read(in, from, to, &c->reader))
		return SQLITE_IOERR;
	scan_begin(&c->scan, in, reader_trace(c->reader));
	scan_skip_apply(&c->scan.skip, c->reader);
	return SQLITE_OK;
}

static int advance(struct scan_cursor *c)
{
	int ret;

	c->row++;
	for (;;) {
		if (scan_pending(&c->scan))
			return SQLITE_OK;
		if (!c->reader) {
			ret = begin_trace(c);
			if (ret || c->eof)
				return ret;
		}
		/* the first pass has reported damage: what is before it counts */
		if (reader_next(c->reader, &c->ev) == 1) {
			if (scan_event(&c->scan, &c->ev))
				return SQLITE_OK;
			if (++c->polls % STOP_EVERY == 0 &&
			    trace_inputs_is_stopped(c->scan.table->all))
				return SQLITE_INTERRUPT;
		} else {
			scan_end(&c->scan);
			end_trace(c);
		}
	}
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	struct scan_cursor *c = (struct scan_cursor *)cursor;
	const struct scan_ops *ops = c->scan.table->ops;
	const char *refusal;

	reset(c);
	scan_filter_init(&c->scan.filter, plan, argc, argv);
	refusal = ops->refuse ? ops->refuse(&c->scan.filter) : NULL;
	if (refusal) {
		sqlite3_free(cursor->pVtab->zErrMsg);
		cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", refusal);
		return SQLITE_ERROR;
	}
	return advance(c);
}

static int next(sqlite3_vtab_cursor *c)
{
	return advance((struct scan_cursor *)c);
}

static int is_eof(sqlite3_vtab_cursor *c)
{
	return ((struct scan_cursor *)c)->eof;
}

static int get_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
	*out = ((struct scan_cursor *)c)->row;
	return SQLITE_OK;
}

static int get_column(sqlite3_vtab_cursor *c, sqlite3_context *ctx, int column)
{
	struct query_value v;

	scan_value(&((struct scan_cursor *)c)->scan, (size_t)column, &v);
	vtab_result(ctx, &v);
	return SQLITE_OK;
}

int scan_vtab_register(sqlite3 *db, const struct scan_table *table)
{
	/* without xCreate: a table of the module's name, and none in a schema */
	static const sqlite3_module module = {
		.xConnect = connect_table,
		.xBestIndex = best_index,
		.xDisconnect = vtab_disconnect,
		.xDestroy = vtab_disconnect,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = filter,
		.xNext = next,
		.xEof = is_eof,
		.xColumn = get_column,
		.xRowid = get_rowid,
	};

	return sqlite3_create_module_v2(db, table->name, &module, (void *)table, NULL);
}
