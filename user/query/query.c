// SPDX-License-Identifier: BSD-2-Clause
/*
 * SQL over traces: the public side. Owns the database connection, which has no file, and the tables. A query can read
 * and nothing else: the authorizer refuses every other action, whatever SQLite was built with.
 */
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "query/event_tables.h"
#include "query/frame_table.h"
#include "query/memory_vtab.h"
#include "query/stored_table.h"
#include "query/sample_rows.h"
#include "query/scan_vtab.h"
#include "query/slice_rows.h"
#include "query/span_rows.h"
#include "query/sql_functions.h"
#include "query/sql_message.h"
#include "query/statement_params.h"

/* Steps of SQLite's machine between two checks of the stop flag. */
#define PROGRESS_STEPS 10000
/* Of text and values, so that no expression makes a huge one. */
#define VALUE_MAX (64 << 20)

enum { SLICES, SAMPLES, SPANS, POLLS, EVENTS, LOST, SCAN_CNT };
enum { TRACES, TASKS, LIST_CNT };

struct query {
	sqlite3 *db;
	struct trace_inputs inputs;
	struct scan_table scans[SCAN_CNT];
	struct memory_table lists[LIST_CNT];
	struct event_tables events;
	struct stored_table rows; /* the last one */
	struct buf message;
};

/* ---- guard -------------------------------------------------------------------------------------- */

static int authorize(void *ctx, int action, const char *a, const char *b, const char *c,
		     const char *d)
{
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && !sqlite3_stricmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

static int is_stopped(void *ctx)
{
	return trace_inputs_is_stopped(ctx);
}

static void guard(struct query *q, uint64_t memory_max)
{
	/* SQLite has one limit for all connections */
	sqlite3_hard_heap_limit64((sqlite3_int64)(memory_max < INT64_MAX ? memory_max : 0));
	sqlite3_limit(q->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(q->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(q->db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(q->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(q->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_progress_handler(q->db, PROGRESS_STEPS, is_stopped, &q->inputs);
}

/* ---- tables ------------------------------------------------------------------------------------- */

int query_new(const struct query_opts *opts, struct query **out)
{
	struct query *q = xcalloc(1, sizeof(*q));

	q->inputs.stop = opts->stop;
	if (sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL)) {
		query_free(q);
		return -ENOMEM;
	}
	guard(q, opts->memory_max);
	q->scans[SLICES] = slice_rows_table(&q->inputs);
	q->scans[SAMPLES] = sample_rows_table(&q->inputs);
	q->scans[SPANS] = span_rows_table(&q->inputs);
	q->scans[POLLS] = span_rows_polls_table(&q->inputs);
	q->scans[EVENTS] = event_tables_all(&q->inputs);
	q->scans[LOST] = sample_rows_lost_table(&q->inputs);
	q->lists[TRACES] = memory_tables_traces(&q->inputs);
	q->lists[TASKS] = memory_tables_tasks(&q->inputs);
	*out = q;
	return 0;
}

void query_free(struct query *q)
{
	if (!q)
		return;
	stored_table_end(&q->rows);
	sqlite3_close(q->db);
	event_tables_fini(&q->events);
	trace_inputs_fini(&q->inputs);
	buf_free(&q->message);
	free(q);
}

int query_add(struct query *q, struct reader *r, const struct trace_input_again *again)
{
	return trace_inputs_add(&q->inputs, r, again);
}

int query_add_table(struct query *q, const char *name, const char *const *columns, size_t cnt)
{
	stored_table_end(&q->rows);
	return stored_table_begin(&q->rows, q->db, name, columns, cnt);
}

int query_add_row(struct query *q, const struct query_value *values, size_t cnt)
{
	return stored_table_add(&q->rows, values, cnt);
}

const struct trace_inputs *query_traces(const struct query *q)
{
	return &q->inputs;
}

/* Makes the table of a module now: later the authorizer would refuse its declaration. */
static int connect_table(struct query *q, const char *name)
{
	char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\"", name);
	sqlite3_stmt *stmt = NULL;
	int err = sql ? sqlite3_prepare_v2(q->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;

	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return err;
}

static int add_scan(struct query *q, const struct scan_table *table)
{
	int err = scan_vtab_register(q->db, table);

	return err ? err : connect_table(q, table->name);
}

static int add_list(struct query *q, const struct memory_table *table)
{
	int err = memory_vtab_register(q->db, table);

	return err ? err : connect_table(q, table->name);
}

int query_prepare(struct query *q)
{
	const char *taken[SCAN_CNT + LIST_CNT + 1];
	size_t n = 0;
	int err = 0;

	for (int i = 0; i < SCAN_CNT && !err; i++) {
		taken[n++] = q->scans[i].name;
		err = add_scan(q, &q->scans[i]);
	}
	for (int i = 0; i < LIST_CNT && !err; i++) {
		taken[n++] = q->lists[i].name;
		err = add_list(q, &q->lists[i]);
	}
	taken[n++] = FRAME_TABLE_NAME;
	if (!err)
		err = frame_table_register(q->db, &q->inputs);
	if (!err)
		err = connect_table(q, FRAME_TABLE_NAME);
	if (!err)
		err = sql_functions_register(q->db, &q->inputs);
	if (err)
		return -ENOMEM;
	event_tables_init(&q->events, &q->inputs, taken, n);
	for (size_t i = 0; i < q->events.cnt && !err; i++)
		err = add_scan(q, event_tables_get(&q->events, i));
	sqlite3_set_authorizer(q->db, authorize, NULL);
	return err ? -ENOMEM : 0;
}

/* ---- a statement -------------------------------------------------------------------------------- */

static struct sql_message_names names_of(const struct query *q, const char *sql)
{
	struct sql_message_names n = { 0 };

	for (int i = 0; i < SCAN_CNT; i++)
		sql_message_add(&n, sql, q->scans[i].name, q->scans[i].columns,
				q->scans[i].column_cnt);
	for (int i = 0; i < LIST_CNT; i++)
		sql_message_add(&n, sql, q->lists[i].name, q->lists[i].columns,
				q->lists[i].column_cnt);
	for (size_t i = 0; i < q->events.cnt; i++) {
		const struct scan_table *t = event_tables_get(&q->events, i);

		sql_message_add(&n, sql, t->name, t->columns, t->column_cnt);
	}
	return n;
}

/* The code of query_run() for one of SQLite's; sets the message. */
static int fail(struct query *q, const char *sql, int code)
{
	struct sql_message_names n;

	buf_clear(&q->message);
	if (code == SQLITE_INTERRUPT)
		return -EINTR;
	if (code == SQLITE_NOMEM) {
		buf_addstr(&q->message, "out of memory: the query needs more than --mem-max");
		return -ENOMEM;
	}
	n = names_of(q, sql);
	sql_message_put(&q->message, q->db, sql, &n);
	sql_message_fini(&n);
	return -EINVAL;
}

static struct query_value value_at(sqlite3_stmt *stmt, int i)
{
	struct query_value v = { .type = QUERY_NULL };

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		v.type = QUERY_INTEGER;
		v.integer = sqlite3_column_int64(stmt, i);
		break;
	case SQLITE_FLOAT:
		v.type = QUERY_REAL;
		v.real = sqlite3_column_double(stmt, i);
		break;
	case SQLITE_TEXT:
		v.type = QUERY_TEXT;
		v.data = (const char *)sqlite3_column_text(stmt, i);
		v.sz = (size_t)sqlite3_column_bytes(stmt, i);
		break;
	case SQLITE_BLOB:
		v.type = QUERY_BLOB;
		v.data = sqlite3_column_blob(stmt, i);
		v.sz = (size_t)sqlite3_column_bytes(stmt, i);
		break;
	default:
		break;
	}
	return v;
}

static int begin_rows(const struct query_statement *s, sqlite3_stmt *stmt, int cnt)
{
	const char **columns = xcalloc((size_t)cnt + 1, sizeof(char *));
	int ret;

	for (int i = 0; i < cnt; i++)
		columns[i] = sqlite3_column_name(stmt, i);
	ret = s->begin(s->ctx, columns, (size_t)cnt);
	free(columns);
	return ret;
}

static int run_rows(struct query *q, const struct query_statement *s, sqlite3_stmt *stmt)
{
	const int cnt = sqlite3_column_count(stmt);
	struct query_value *values = xcalloc((size_t)cnt + 1, sizeof(*values));
	bool begun = false;
	int ret = 0, code;

	do {
		code = sqlite3_step(stmt);
		if (!begun && (code == SQLITE_ROW || code == SQLITE_DONE))
			ret = begin_rows(s, stmt, cnt);
		begun = true;
		for (int i = 0; code == SQLITE_ROW && i < cnt; i++)
			values[i] = value_at(stmt, i);
		if (code == SQLITE_ROW && !ret)
			ret = s->row(s->ctx, values, (size_t)cnt);
	} while (code == SQLITE_ROW && !ret);
	free(values);
	if (!ret && code != SQLITE_DONE)
		ret = fail(q, s->sql, code);
	if (code == SQLITE_MISMATCH)
		statement_params_explain_mismatch(stmt, s, &q->message);
	return ret;
}

/* Whether nothing but blanks, comments and semicolons follows. */
static bool is_rest_empty(struct query *q, const char *rest)
{
	sqlite3_stmt *stmt = NULL;
	bool empty = true;

	while (empty && *rest) {
		const char *next = rest;

		empty = !sqlite3_prepare_v2(q->db, rest, -1, &stmt, &next) && !stmt;
		sqlite3_finalize(stmt);
		stmt = NULL;
		if (next == rest)
			break;
		rest = next;
	}
	return empty;
}

int query_run(struct query *q, const struct query_statement *s)
{
	sqlite3_stmt *stmt = NULL;
	const char *rest = "";
	int ret = 0, code = sqlite3_prepare_v2(q->db, s->sql, -1, &stmt, &rest);

	buf_clear(&q->message);
	if (code)
		return fail(q, s->sql, code);
	if (!stmt || !is_rest_empty(q, rest)) {
		buf_addstr(&q->message, stmt ? "more than one statement; run them one by one" :
					       "no SQL statement");
		ret = -EINVAL;
	}
	if (!ret)
		ret = statement_params_bind(stmt, s, &q->message);
	if (!ret)
		ret = run_rows(q, s, stmt);
	sqlite3_finalize(stmt);
	return ret;
}

const char *query_error(const struct query *q)
{
	return q->message.len ? q->message.data : "unknown error";
}

bool query_is_complete(const char *sql)
{
	return sqlite3_complete(sql);
}

/* ---- the schema --------------------------------------------------------------------------------- */

static void put_table(struct buf *out, const char *name, const char *doc,
		      const struct scan_column *columns, size_t cnt)
{
	buf_printf(out, "%s%s  %s\n", out->len ? "\n" : "", name, doc);
	for (size_t i = 0; i < cnt; i++)
		buf_printf(out, "  %-14s  %-7s  %s\n", columns[i].name, columns[i].type,
			   columns[i].doc);
}

static bool is_wanted(const char *table, const char *name)
{
	return !table || !sqlite3_stricmp(table, name);
}

static void put_event_tables(const struct query *q, const char *table, struct buf *out)
{
	for (size_t i = 0; i < q->events.cnt; i++) {
		const struct scan_table *t = event_tables_get(&q->events, i);
		struct buf quoted = { 0 };

		if (!is_wanted(table, t->name))
			continue;
		buf_printf(&quoted, "\"%s\"", t->name);
		put_table(out, buf_cstr(&quoted), t->doc, t->columns, t->column_cnt);
		buf_free(&quoted);
	}
}

void query_schema(const struct query *q, const char *table, struct buf *out)
{
	const struct scan_column *frames;
	size_t cnt;

	for (int i = 0; i < SCAN_CNT; i++)
		if (is_wanted(table, q->scans[i].name))
			put_table(out, q->scans[i].name, q->scans[i].doc, q->scans[i].columns,
				  q->scans[i].column_cnt - q->scans[i].hidden);
	for (int i = 0; i < LIST_CNT; i++)
		if (is_wanted(table, q->lists[i].name))
			put_table(out, q->lists[i].name, q->lists[i].doc, q->lists[i].columns,
				  q->lists[i].column_cnt);
	frames = frame_table_columns(&cnt);
	if (is_wanted(table, FRAME_TABLE_NAME))
		put_table(out, FRAME_TABLE_NAME, FRAME_TABLE_DOC, frames, cnt);
	put_event_tables(q, table, out);
	for (size_t i = 0; !table && i < sql_functions_cnt; i++)
		buf_printf(out, "%s%-22s  %s\n", i ? "" : "\n", sql_functions_list[i].form,
			   sql_functions_list[i].doc);
}
