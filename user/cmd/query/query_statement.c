// SPDX-License-Identifier: BSD-2-Clause
/* Runs one statement of `query`, or prints what can be asked. Owns the messages and exit codes of a statement. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "cmd/query/query_cmd.h"

static void set_kind(struct query_param *v, size_t cnt, const struct query_param *known)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(v[i].name, known->name))
			v[i].kind = known->kind;
}

/* Values of --param, which have the kind of the named query's parameter, then the defaults of those. */
static struct query_param *params_of(const struct query_cmd *c, const struct named_query *named,
				     size_t *cnt)
{
	struct query_param *v = xcalloc(c->param_cnt + NAMED_QUERIES_PARAMS_MAX, sizeof(*v));

	*cnt = c->param_cnt;
	if (*cnt)
		memcpy(v, c->params, *cnt * sizeof(*v));
	for (size_t i = 0; named && i < NAMED_QUERIES_PARAMS_MAX && named->params[i].name; i++)
		set_kind(v, c->param_cnt, &named->params[i]);
	for (size_t i = 0; named && i < NAMED_QUERIES_PARAMS_MAX && named->params[i].name; i++)
		v[(*cnt)++] = named->params[i];
	return v;
}

static bool has_any(const struct trace_inputs *all, enum named_query_needs needs)
{
	for (size_t i = 0; i < all->cnt; i++)
		for (size_t k = 0; k < all->v[i]->part_cnt; k++)
			if (needs == NAMED_QUERY_NEEDS_SAMPLES ? all->v[i]->parts[k].samples :
								 all->v[i]->parts[k].switches)
				return true;
	return false;
}

/* A table without rows does not show why it is empty. */
static void report_no_rows(const struct query_cmd *c, enum named_query_needs needs)
{
	const struct trace_inputs *all = query_traces(c->query);
	const char *where = all->cnt == 1 ? reader_input(all->v[0]->first) : "the traces";

	if (needs == NAMED_QUERY_NEEDS_EVENTS || has_any(all, needs))
		return;
	if (needs == NAMED_QUERY_NEEDS_SAMPLES)
		log_warn(
			"query: no CPU samples in %s; record without --no-samples, and for longer if "
			"the target uses little CPU time",
			where);
	else
		log_warn("query: no context switches in %s; record without --no-sched", where);
}

int query_cmd_run(struct query_cmd *c, const char *sql)
{
	const struct named_query *named = named_queries_find(sql);
	struct query_output out = { .format = (enum query_format)c->opts->format,
				    .view_opts = &c->opts->view };
	struct query_statement s = { .sql = named ? named->sql : sql,
				     .spare_params = c->in_shell,
				     .begin = query_output_begin,
				     .row = query_output_row,
				     .ctx = &out };
	struct query_param *params = params_of(c, named, &s.param_cnt);
	int err, code;
	bool any;

	s.params = params;
	query_signals_begin();
	err = query_run(c->query, &s);
	query_signals_end();
	any = out.rows;
	code = query_output_end(&out);
	free(params);
	if (err == -EINTR)
		log_error("query: stopped");
	else if (err && err != -EPIPE)
		log_error("query: %s", query_error(c->query));
	else if (!err && named && !any)
		report_no_rows(c, named->needs);
	if (err == -EINTR)
		return -EINTR;
	return err && err != -EPIPE ? CMD_USAGE : code;
}

int query_cmd_print_schema(struct query_cmd *c, const char *table)
{
	struct buf out = { 0 };

	query_schema(c->query, table, &out);
	if (!out.len && table) {
		log_error("query: no table %s", table);
		return CMD_USAGE;
	}
	buf_print(&out, stdout);
	return report_text_finish();
}

void query_cmd_report_unknown(const char *word, const char *const *names, size_t cnt,
			      const char *list)
{
	const char *near = opts_nearest(word, names, cnt);

	if (near)
		log_error("query: unknown query '%s' (did you mean %s?); see %s", word, near, list);
	else
		log_error("query: '%s' is neither SQL nor a named query; see %s", word, list);
}

void query_cmd_print_list(void)
{
	for (size_t i = 0; i < named_queries_cnt; i++) {
		const struct named_query *n = &named_queries[i];

		printf("%-16s  %s", n->name, n->brief);
		for (size_t k = 0; k < NAMED_QUERIES_PARAMS_MAX && n->params[k].name; k++)
			printf("%s:%s='%s'", k ? ", " : " (", n->params[k].name,
			       n->params[k].value);
		puts(")");
	}
}
