// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual tables whose rows are read from traces. Owns the module of SQLite, the cursors, and the pass of each over all
 * traces; what is a row is the table's own (struct scan_ops).
 */
#include "query/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define STOP_EVERY 8192

struct scan_vtab {
	sqlite3_vtab base; /* must be first */
	const struct scan_table *table;
};

char *scan_declaration(const struct scan_column *columns, size_t cnt, size_t hidden)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendall(s, "CREATE TABLE x(");
	for (size_t i = 0; i < cnt; i++)
		sqlite3_str_appendf(s, "%s\"%w\" %s%s", i ? "," : "", columns[i].name,
				    columns[i].type, i + hidden >= cnt ? " HIDDEN" : "");
	sqlite3_str_appendall(s, ")");
	return sqlite3_str_finish(s);
}

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **err)
{
	const struct scan_table *table = aux;
	char *sql = scan_declaration(table->columns, table->column_cnt, table->hidden);
	struct scan_vtab *v;
	int ret = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (ret)
		return ret;
	v = sqlite3_malloc(sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct scan_vtab){ .table = table };
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct scan_table *table = ((struct scan_vtab *)v)->table;
	uint64_t events = 0;

	for (size_t i = 0; i < table->all->cnt; i++)
		events += table->all->v[i]->events;
	return scan_plan_best(info, table->columns, table->column_cnt, events);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct scan *s = xcalloc(1, sizeof(*s));

	s->table = ((struct scan_vtab *)v)->table;
	s->state = s->table->ops->state_sz ? xcalloc(1, s->table->ops->state_sz) : NULL;
	*out = &s->base;
	return SQLITE_OK;
}

static void end_trace(struct scan *s)
{
	reader_free(s->reader);
	s->reader = NULL;
	s->trace = NULL;
}

static void reset(struct scan *s)
{
	if (s->table->ops->fini)
		s->table->ops->fini(s);
	if (s->state)
		memset(s->state, 0, s->table->ops->state_sz);
	end_trace(s);
	scan_filter_fini(&s->filter);
	s->next = 0;
	s->row = 0;
	s->eof = false;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
	struct scan *s = (struct scan *)c;

	reset(s);
	free(s->state);
	free(s);
	return SQLITE_OK;
}

static bool wants_part(const struct scan *s, const struct trace_input_part *p)
{
	const struct scan_filter *f = &s->filter;

	return (!f->has_trace || f->trace == p->number) &&
	       (!f->has_host || (p->host && !strcmp(f->host, p->host)));
}

static bool wants_trace(const struct scan *s, const struct trace_input *in)
{
	for (size_t i = 0; i < in->part_cnt; i++)
		if (wants_part(s, &in->parts[i]))
			return true;
	return false;
}

bool scan_wants(const struct scan *s, uint32_t part, uint64_t ts, uint32_t pid, uint32_t tid)
{
	const struct scan_filter *f = &s->filter;
	const int64_t at = (int64_t)ts;

	if (at < f->from || at > f->to || (f->has_tid && f->tid != tid) ||
	    (f->has_pid && f->pid != pid))
		return false;
	return (!f->has_trace && !f->has_host) || wants_part(s, trace_input_part(s->in, part));
}

static int begin_trace(struct scan *s)
{
	const struct trace_inputs *all = s->table->all;
	const bool all_times = !s->table->ops->in_range;
	const uint64_t from = all_times || s->filter.from < 0 ? 0 : (uint64_t)s->filter.from;
	const uint64_t to = all_times || s->filter.to == INT64_MAX ? UINT64_MAX :
			    s->filter.to < 0			   ? 0 :
								     (uint64_t)s->filter.to;

	while (s->next < all->cnt && !wants_trace(s, all->v[s->next]))
		s->next++;
	if (s->next == all->cnt) {
		s->eof = true;
		return SQLITE_OK;
	}
	s->in = all->v[s->next++];
	if (trace_input_read(s->in, from, to, &s->reader))
		return SQLITE_IOERR;
	s->trace = reader_trace(s->reader);
	s->table->ops->begin(s);
	return SQLITE_OK;
}

static int advance(struct scan *s)
{
	const struct scan_ops *ops = s->table->ops;
	int ret;

	s->row++;
	for (;;) {
		if (ops->pending && ops->pending(s))
			return SQLITE_OK;
		if (!s->reader) {
			ret = begin_trace(s);
			if (ret || s->eof)
				return ret;
		}
		/* the first pass has reported damage: what is before it counts */
		if (reader_next(s->reader, &s->ev) == 1) {
			if (ops->event(s, &s->ev))
				return SQLITE_OK;
			if (++s->polls % STOP_EVERY == 0 && trace_inputs_is_stopped(s->table->all))
				return SQLITE_INTERRUPT;
		} else {
			if (ops->end)
				ops->end(s);
			end_trace(s);
		}
	}
}

static int filter(sqlite3_vtab_cursor *c, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	struct scan *s = (struct scan *)c;
	const char *refusal;

	reset(s);
	scan_filter_init(&s->filter, plan, argc, argv);
	refusal = s->table->ops->refuse ? s->table->ops->refuse(&s->filter) : NULL;
	if (refusal) {
		sqlite3_free(c->pVtab->zErrMsg);
		c->pVtab->zErrMsg = sqlite3_mprintf("%s", refusal);
		return SQLITE_ERROR;
	}
	return advance(s);
}

static int next(sqlite3_vtab_cursor *c)
{
	return advance((struct scan *)c);
}

static int is_eof(sqlite3_vtab_cursor *c)
{
	return ((struct scan *)c)->eof;
}

static int get_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
	*out = ((struct scan *)c)->row;
	return SQLITE_OK;
}

static int get_column(sqlite3_vtab_cursor *c, sqlite3_context *ctx, int column)
{
	struct scan *s = (struct scan *)c;
	const struct trace_input_part *p;

	switch (column) {
	case SCAN_TRACE:
		sqlite3_result_int64(ctx, trace_input_part(s->in, s->part)->number);
		break;
	case SCAN_HOST:
		p = trace_input_part(s->in, s->part);
		if (p->host)
			sqlite3_result_text(ctx, p->host, (int)p->host_len, SQLITE_STATIC);
		break;
	case SCAN_TS:
		sqlite3_result_int64(ctx, (sqlite3_int64)s->ts);
		break;
	case SCAN_WALL:
		scan_result_wall(s, ctx, s->ts);
		break;
	default:
		s->table->ops->column(s, ctx, (size_t)column);
	}
	return SQLITE_OK;
}

int scan_register(sqlite3 *db, const struct scan_table *table)
{
	/* without xCreate: a table of the module's name, and none in a schema */
	static const sqlite3_module module = {
		.xConnect = connect_table,
		.xBestIndex = best_index,
		.xDisconnect = disconnect,
		.xDestroy = disconnect,
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

/* ---- results ------------------------------------------------------------------------------------ */

void scan_result_id(sqlite3_context *ctx, uint32_t id)
{
	if (id != TRACE_NONE)
		sqlite3_result_int64(ctx, id);
}

void scan_result_text(struct scan *s, sqlite3_context *ctx, uint32_t string)
{
	const char *text;
	size_t len;

	if (string == NAMES_NONE)
		return;
	/* names are freed with the trace */
	text = names_str(s->in->names, string, &len);
	sqlite3_result_text64(ctx, text, len, SQLITE_STATIC, SQLITE_UTF8);
}

void scan_result_wall(struct scan *s, sqlite3_context *ctx, uint64_t ts)
{
	int64_t wall;

	if (trace_input_wall(s->in, s->part, ts, &wall))
		sqlite3_result_int64(ctx, wall);
}

void scan_result_stack(sqlite3_context *ctx, int64_t stack)
{
	if (stack >= 0)
		sqlite3_result_int64(ctx, stack);
}

void scan_result_word(sqlite3_context *ctx, const char *word)
{
	sqlite3_result_text(ctx, word, -1, SQLITE_STATIC);
}
