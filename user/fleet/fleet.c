// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queries to several servers. Owns which of them answered, and how their rows become one answer: tables of an embedded
 * database, where the query's own SQL sums them up. An answer that lacks a server is always called partial.
 */
#include "fleet/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "fleet/fleet_params.h"
#include "fleet/table_answer.h"
#include "ship/clickhouse.h"

/* Hosts with losses that are reported. */
#define LINES_MAX 10

struct server {
	struct clickhouse *db;
	char *name;
	bool failed;
	bool shards_failed; /* servers of its distributed tables */
};

struct fleet {
	struct server *servers;
	size_t cnt;
	uint64_t memory_max;
	const volatile sig_atomic_t *stop;
	struct buf error;
	bool damaged;
};

/* ---- servers ---------------------------------------------------------------------------------- */

static int open_server(struct server *s, const struct fleet_opts *opts, const struct http_url *url)
{
	const struct clickhouse_opts o = {
		.url = url,
		.password = opts->password,
		.ca_file = opts->ca_file,
		.timeout_ns = opts->timeout_ns,
		.answer_max = opts->memory_max,
		.stop = opts->stop,
	};
	struct buf name = { 0 };

	buf_printf(&name, "%s%s", url->base, url->path);
	s->name = buf_steal(&name);
	return clickhouse_new(&o, &s->db);
}

int fleet_open(const struct fleet_opts *opts, struct fleet **out)
{
	struct fleet *f = xcalloc(1, sizeof(*f));
	int err = 0;

	f->servers = xcalloc(opts->url_cnt + 1, sizeof(*f->servers));
	f->memory_max = opts->memory_max;
	f->stop = opts->stop;
	for (size_t i = 0; i < opts->url_cnt && !err; i++) {
		err = open_server(&f->servers[i], opts, &opts->urls[i]);
		f->cnt++;
	}
	if (err)
		fleet_close(f);
	else
		*out = f;
	return err;
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->cnt; i++) {
		clickhouse_free(f->servers[i].db);
		free(f->servers[i].name);
	}
	free(f->servers);
	buf_free(&f->error);
	free(f);
}

bool fleet_is_filtered(const struct fleet_statement *s)
{
	return s->query || fleet_params_are_filtered(s->sql);
}

const char *fleet_error(const struct fleet *f)
{
	return f->error.len ? f->error.data : "unknown error";
}

bool fleet_is_partial(const struct fleet *f)
{
	for (size_t i = 0; i < f->cnt; i++)
		if (f->servers[i].failed || f->servers[i].shards_failed)
			return true;
	return false;
}

bool fleet_is_damaged(const struct fleet *f)
{
	return f->damaged;
}

static int set_error(struct fleet *f, const struct server *s, int err, const char *why)
{
	buf_clear(&f->error);
	buf_printf(&f->error, "%s: %s", s->name, why);
	return err;
}

/* A server does not answer. */
static int fail(struct fleet *f, struct server *s, const char *why)
{
	s->failed = true;
	set_error(f, s, 0, why);
	if (f->cnt > 1)
		log_warn("query: %s; the answer is partial: rows of this server are missing",
			 fleet_error(f));
	return -EHOSTDOWN;
}

/* ---- one request ------------------------------------------------------------------------------ */

/* A server of a distributed table does not answer. */
static bool is_of_shard(int code)
{
	return code == 279 || code == 210 || code == 209;
}

static void report_shards(struct server *s, const char *why)
{
	if (!s->shards_failed)
		log_warn("query: %s: %s; the answer is partial: rows of other servers are "
			 "missing",
			 s->name, why);
	s->shards_failed = true;
}

/* An answer that says that the server, and not the statement, has a problem: memory, time, too many queries, its disk. */
static bool is_of_server(int code)
{
	static const int codes[] = { 0, 159, 160, 202, 209, 210, 241, 243, 252, 279, 394 };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* 0, or an error after fail(). */
static int ask(struct fleet *f, struct server *s, const char *sql, struct buf *answer)
{
	enum clickhouse_result result;
	bool may_skip;

	result = clickhouse_select(s->db, sql, TABLE_ANSWER_FORMAT, s->shards_failed, answer,
				   &may_skip);
	if (result == CLICKHOUSE_UNSURE && is_of_shard(clickhouse_error_code(s->db)) &&
	    !s->shards_failed) {
		report_shards(s, clickhouse_error(s->db));
		result =
			clickhouse_select(s->db, sql, TABLE_ANSWER_FORMAT, true, answer, &may_skip);
	}
	if (result == CLICKHOUSE_STOPPED)
		return -EINTR;
	if (result == CLICKHOUSE_REFUSED ||
	    (result == CLICKHOUSE_UNSURE && !is_of_server(clickhouse_error_code(s->db))))
		return set_error(f, s, -EINVAL, clickhouse_error(s->db));
	if (result != CLICKHOUSE_OK)
		return fail(f, s, clickhouse_error(s->db));
	if (may_skip)
		report_shards(s, "the user's settings skip servers that are down");
	return 0;
}

/* Where the rows of a request go: the column `server` first. */
struct rows {
	struct fleet *f;
	const struct server *server;
	char **columns; /* of the first answer */
	size_t cnt;
	bool with_server;
	int (*begin)(void *ctx, const char *const *columns, size_t cnt);
	int (*row)(void *ctx, const struct query_value *values, size_t cnt);
	void *ctx;
	struct query_value *values;
};

static int begin_first(struct rows *r, const char *const *columns, size_t cnt)
{
	r->cnt = cnt + r->with_server;
	r->columns = xcalloc(r->cnt + 1, sizeof(*r->columns));
	r->values = xcalloc(r->cnt + 1, sizeof(*r->values));
	if (r->with_server)
		r->columns[0] = xstrdup("server");
	for (size_t i = 0; i < cnt; i++)
		r->columns[i + r->with_server] = xstrdup(columns[i]);
	return r->begin(r->ctx, (const char *const *)r->columns, r->cnt);
}

static int begin_rows(void *ctx, const char *const *columns, size_t cnt)
{
	struct rows *r = ctx;

	if (!r->columns)
		return begin_first(r, columns, cnt);
	if (cnt + r->with_server != r->cnt)
		return -EBADMSG;
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(columns[i], r->columns[i + r->with_server]) != 0)
			return -EBADMSG;
	return 0;
}

static int add_row(void *ctx, const struct query_value *values, size_t cnt)
{
	struct rows *r = ctx;

	r->values[0] = (struct query_value){ .type = QUERY_TEXT,
					     .data = r->server->name,
					     .sz = strlen(r->server->name) };
	memcpy(r->values + r->with_server, values, cnt * sizeof(*values));
	return r->row(r->ctx, r->values, r->cnt);
}

static void rows_fini(struct rows *r)
{
	for (size_t i = 0; r->columns && i < r->cnt; i++)
		free(r->columns[i]);
	free(r->columns);
	free(r->values);
}

/* Asks each server that has not failed: 0 if one answers and none refuses. */
static int ask_all(struct fleet *f, const char *sql, struct rows *r)
{
	const struct table_answer_sink sink = { begin_rows, add_row, r };
	struct buf answer = { 0 };
	size_t answers = 0;
	int err = 0;

	for (size_t i = 0; i < f->cnt && (!err || err == -EHOSTDOWN); i++) {
		r->server = &f->servers[i];
		if (f->servers[i].failed)
			continue;
		err = ask(f, &f->servers[i], sql, &answer);
		if (err)
			continue;
		answers++;
		err = table_answer_read(&answer, &sink);
		if (err == -EBADMSG)
			err = set_error(f, r->server, -EINVAL,
					r->columns ? "its columns differ from the first answer's" :
						     "the answer is not a table; leave out FORMAT");
	}
	buf_free(&answer);
	return err == -EHOSTDOWN && answers ? 0 : err ?: answers ? 0 : -EHOSTDOWN;
}

/* ---- SQL -------------------------------------------------------------------------------------- */

/* @given_cnt: the first of the values; others need not be used. */
static int check_used(struct fleet *f, const struct fleet_params *p, size_t given_cnt)
{
	for (size_t i = 0; i < given_cnt; i++) {
		if (fleet_params_is_used(p, p->values[i].name))
			continue;
		buf_clear(&f->error);
		buf_addstr(&f->error, "the query has no parameter :");
		str_printable(&f->error, p->values[i].name, strlen(p->values[i].name));
		return -EINVAL;
	}
	return 0;
}

/* The statement with its values, after which the caller frees both. */
static int make_sql(struct fleet *f, const struct fleet_statement *s, struct fleet_params *p,
		    struct buf *sql)
{
	int err = fleet_params_of_sql(p, s->sql, s->params, s->param_cnt, &f->error);

	if (err)
		return err;
	sql_template_put(sql, s->sql, p->values, p->cnt);
	return check_used(f, p, s->param_cnt);
}

static int run_sql(struct fleet *f, const struct fleet_statement *s)
{
	struct rows rows = {
		.f = f, .with_server = f->cnt > 1, .begin = s->begin, .row = s->row, .ctx = s->ctx
	};
	struct buf sql = { 0 };
	struct fleet_params p;
	int err = make_sql(f, s, &p, &sql);

	if (!err)
		err = ask_all(f, buf_cstr(&sql), &rows);
	rows_fini(&rows);
	fleet_params_fini(&p);
	buf_free(&sql);
	return err;
}

/* ---- named queries ---------------------------------------------------------------------------- */

struct part_table {
	struct query *query;
	char name[8];
};

static int begin_part(void *ctx, const char *const *columns, size_t cnt)
{
	struct part_table *p = ctx;

	return query_add_table(p->query, p->name, columns, cnt);
}

static int add_part_row(void *ctx, const struct query_value *values, size_t cnt)
{
	struct part_table *p = ctx;

	return query_add_row(p->query, values, cnt);
}

static int run_merge(struct fleet *f, struct query *query, const struct query_statement *s)
{
	int err = query_run(query, s);

	if (err == -EINVAL || err == -ENOMEM) {
		buf_clear(&f->error);
		buf_addstr(&f->error, query_error(query));
	}
	return err;
}

static int no_columns(void *ctx, const char *const *columns, size_t cnt)
{
	return 0;
}

static int read_count(void *ctx, const struct query_value *values, size_t cnt)
{
	*(int64_t *)ctx = values[0].integer;
	return 0;
}

static int ask_part(struct fleet *f, const char *text, size_t number, struct fleet_params *p,
		    struct query *query)
{
	struct part_table part = { .query = query };
	struct rows rows = {
		.f = f, .with_server = true, .begin = begin_part, .row = add_part_row, .ctx = &part
	};
	struct buf sql = { 0 };
	int err;

	snprintf(part.name, sizeof(part.name), "part%zu", number);
	sql_template_put(&sql, text, p->values, p->cnt);
	err = ask_all(f, buf_cstr(&sql), &rows);
	if (err == -ENOMEM)
		buf_addstr(&f->error, "out of memory: the answers need more than --mem-max");
	rows_fini(&rows);
	buf_free(&sql);
	return err;
}

/* Values of the first part for the other ones. */
struct picked {
	struct fleet_params *params;
	char *names[FLEET_PARAMS_PICKED];
	size_t cnt;
};

static int name_picked(void *ctx, const char *const *columns, size_t cnt)
{
	struct picked *p = ctx;

	for (; p->cnt < cnt && p->cnt < FLEET_PARAMS_PICKED; p->cnt++)
		p->names[p->cnt] = xstrdup(columns[p->cnt]);
	return 0;
}

static int add_picked(void *ctx, const struct query_value *values, size_t cnt)
{
	const struct picked *p = ctx;

	for (size_t i = 0; i < p->cnt; i++)
		fleet_params_add(p->params, p->names[i], &values[i]);
	return 0;
}

static int pick(struct fleet *f, const char *sql, struct fleet_params *p, struct query *query)
{
	struct picked picked = { .params = p };
	int err = run_merge(
		f, query,
		&(struct query_statement){
			.sql = sql, .begin = name_picked, .row = add_picked, .ctx = &picked });

	for (size_t i = 0; i < picked.cnt; i++)
		free(picked.names[i]);
	return err;
}

static int ask_parts(struct fleet *f, const struct fleet_query *q, struct fleet_params *p,
		     struct query *query)
{
	int err = 0;

	for (size_t i = 0; i < FLEET_QUERIES_PARTS_MAX && q->parts[i] && !err; i++) {
		err = ask_part(f, q->parts[i], i + 1, p, query);
		if (!err && !i && q->pick)
			err = pick(f, q->pick, p, query);
	}
	return err;
}

/* What several servers have cannot always be put together exactly. */
static int check(struct fleet *f, const struct fleet_query *q, struct query *query)
{
	int64_t cnt = 0;
	int err;

	if (!q->check)
		return 0;
	err = run_merge(
		f, query,
		&(struct query_statement){
			.sql = q->check, .begin = no_columns, .row = read_count, .ctx = &cnt });
	if (!err && cnt)
		log_warn("query: %s: %lld", q->warning, (long long)cnt);
	return err;
}

static int run_query(struct fleet *f, const struct fleet_statement *s)
{
	const struct query_opts opts = { f->memory_max, f->stop };
	struct query *query = NULL;
	struct fleet_params p;
	int err = fleet_params_of_query(&p, s->query, s->params, s->param_cnt, f->cnt == 1,
					&f->error);

	if (!err)
		err = query_new(&opts, &query);
	if (!err)
		err = ask_parts(f, s->query, &p, query);
	if (!err)
		err = query_prepare(query);
	if (!err)
		err = check(f, s->query, query);
	if (!err)
		err = run_merge(f, query,
				&(struct query_statement){ .sql = s->query->merge,
							   .params = p.merge,
							   .param_cnt = p.merge_cnt,
							   .spare_params = true,
							   .begin = s->begin,
							   .row = s->row,
							   .ctx = s->ctx });
	query_free(query);
	fleet_params_fini(&p);
	return err;
}

int fleet_check(struct fleet *f, const struct fleet_statement *s)
{
	struct buf sql = { 0 };
	struct fleet_params p;
	int err;

	buf_clear(&f->error);
	err = s->query ? fleet_params_of_query(&p, s->query, s->params, s->param_cnt, false,
					       &f->error) :
			 make_sql(f, s, &p, &sql);
	fleet_params_fini(&p);
	buf_free(&sql);
	return err;
}

int fleet_run(struct fleet *f, const struct fleet_statement *s)
{
	buf_clear(&f->error);
	return s->query ? run_query(f, s) : run_sql(f, s);
}

/* ---- losses ----------------------------------------------------------------------------------- */

struct losses {
	struct fleet *f;
	size_t lines;
};

static int report_line(void *ctx, const struct query_value *values, size_t cnt)
{
	struct losses *l = ctx;
	struct buf line = { 0 };

	l->f->damaged |= values[2].integer != 0;
	if (++l->lines > LINES_MAX)
		return 0;
	if (values[0].sz)
		str_printable(&line, values[0].data, values[0].sz);
	else
		buf_addstr(&line, "[unknown host]");
	buf_addstr(&line, ": ");
	str_printable(&line, values[1].data, values[1].sz);
	log_warn("%s", buf_cstr(&line));
	buf_free(&line);
	return 0;
}

int fleet_report_losses(struct fleet *f, const struct query_param *params, size_t param_cnt)
{
	struct losses l = { .f = f };
	int err = fleet_run(f, &(struct fleet_statement){ .query = &fleet_queries_warnings,
							  .params = params,
							  .param_cnt = param_cnt,
							  .begin = no_columns,
							  .row = report_line,
							  .ctx = &l });

	if (!err && l.lines > LINES_MAX)
		log_warn("%zu more lines about losses: see the named query losses",
			 l.lines - LINES_MAX);
	return err;
}
