// SPDX-License-Identifier: BSD-2-Clause
/*
 * `query --at`: the same questions to ClickHouse servers. Owns what the command line may have then, and the exit code. What
 * servers are asked is user/fleet's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "cmd/query/query_cmd.h"
#include "fleet/fleet.h"
#include "ship/server_password.h"

#define TIMEOUT_NS (300 * 1000000000ULL)

/* ---- names ------------------------------------------------------------------------------------ */

static void report_unknown(const char *word)
{
	const char **names = xcalloc(fleet_queries_cnt, sizeof(char *));

	for (size_t i = 0; i < fleet_queries_cnt; i++)
		names[i] = fleet_queries[i].name;
	query_cmd_report_unknown(word, names, fleet_queries_cnt, "--at URL --list");
	free(names);
}

static void print_query(const struct fleet_query *q)
{
	for (size_t i = 0; i < FLEET_QUERIES_PARTS_MAX && q->parts[i]; i++)
		printf("-- part%zu, on each server\n%s\n\n", i + 1, q->parts[i]);
	printf("-- here\n%s\n", q->merge);
}

static int print_list(int cnt, char **words)
{
	const struct fleet_query *found = cnt ? fleet_queries_find(words[0]) : NULL;

	if (cnt && !found) {
		report_unknown(words[0]);
		return CMD_USAGE;
	}
	if (found)
		print_query(found);
	for (size_t i = 0; !found && i < fleet_queries_cnt; i++) {
		const struct fleet_query *q = &fleet_queries[i];

		printf("%-16s  %s", q->name, q->brief);
		for (size_t k = 0; k < FLEET_QUERIES_PARAMS_MAX && q->params[k].name; k++)
			printf("%s:%s='%s'", k ? ", " : " (", q->params[k].name,
			       q->params[k].value);
		puts(")");
	}
	return report_text_finish();
}

static int check_words(const struct query_cmd_opts *opts, int cnt, char **words)
{
	if (opts->schema) {
		log_error("query: --schema cannot be combined with --at; use SELECT table, name, "
			  "type FROM system.columns WHERE database = currentDatabase()");
		return -EINVAL;
	}
	if (opts->inputs.cnt || cnt > 1) {
		log_error("query: unexpected argument '%s': with --at no traces are read",
			  opts->inputs.cnt ? opts->inputs.v[0] : words[1]);
		return -EINVAL;
	}
	if (!cnt && !opts->list) {
		log_error("query: no SQL given; use --at URL SQL, or NAME of --at URL --list");
		return -EINVAL;
	}
	if (cnt && !opts->list && !fleet_queries_find(words[0]) && !strpbrk(words[0], " \t\n(*;")) {
		report_unknown(words[0]);
		return -EINVAL;
	}
	return 0;
}

/* ---- the run ---------------------------------------------------------------------------------- */

static int exit_code(const struct fleet *f, int err, int code)
{
	if (err == -EINTR) {
		log_error("query: stopped");
		return -EINTR;
	}
	if (err && err != -EPIPE)
		log_error("query: %s", fleet_error(f));
	if (err == -EHOSTDOWN)
		return CMD_INPUT;
	if (err && err != -EPIPE)
		return CMD_USAGE;
	return code == CMD_OK && (fleet_is_partial(f) || fleet_is_damaged(f)) ? CMD_INPUT : code;
}

/* For the hosts and times of the rows; SQL without conditions may read any. *@unlisted: why they cannot be listed. */
static int report_losses(struct fleet *f, const struct fleet_statement *s, char **unlisted)
{
	static const char *const common[] = { "host", "from", "to" };
	struct query_param *own = xcalloc(s->param_cnt + 1, sizeof(*own));
	size_t cnt = 0;
	int err;

	for (size_t i = 0; fleet_is_filtered(s) && i < s->param_cnt; i++)
		if (opts_word(s->params[i].name, strlen(s->params[i].name), common, 3) >= 0)
			own[cnt++] = s->params[i];
	err = fleet_report_losses(f, own, cnt);
	free(own);
	if (err != -EINVAL)
		return err;
	*unlisted = xstrdup(fleet_error(f));
	return 0;
}

static int run(struct fleet *f, const struct query_cmd_opts *opts, const char *word,
	       const struct query_param *params, size_t param_cnt)
{
	const struct fleet_query *query = fleet_queries_find(word);
	struct query_output out = { .format = (enum query_format)opts->format,
				    .view_opts = &opts->view };
	const struct fleet_statement s = { .query = query,
					   .sql = word,
					   .params = params,
					   .param_cnt = param_cnt,
					   .begin = query_output_begin,
					   .row = query_output_row,
					   .ctx = &out };
	char *unlisted = NULL;
	int err, code;

	query_signals_begin();
	err = fleet_check(f, &s);
	if (!err)
		err = report_losses(f, &s, &unlisted);
	if (!err)
		err = fleet_run(f, &s);
	query_signals_end();
	code = query_output_end(&out);
	if (!err && unlisted)
		log_warn("query: cannot list losses: %s", unlisted);
	free(unlisted);
	return exit_code(f, err, code);
}

/* The rows of a database that is given twice would count twice. */
static int check_other(const struct http_url *urls, size_t last)
{
	for (size_t i = 0; i < last; i++)
		if (!strcmp(urls[i].base, urls[last].base) &&
		    !strcmp(urls[i].path, urls[last].path)) {
			log_error("query: %s%s is given twice", urls[i].base, urls[i].path);
			return -EINVAL;
		}
	return 0;
}

static int parse_urls(const struct opt_list *list, struct http_url *urls)
{
	int err = 0;

	for (size_t i = 0; i < list->cnt && !err; i++) {
		err = http_url_parse("query", list->v[i], &urls[i]);
		if (!err)
			err = check_other(urls, i);
	}
	return err;
}

int query_at_run(const struct query_cmd_opts *opts, const struct query_param *params,
		 size_t param_cnt, int cnt, char **words)
{
	struct http_url *urls;
	char *password = NULL;
	struct fleet *f = NULL;
	int code = CMD_USAGE;

	if (check_words(opts, cnt, words))
		return CMD_USAGE;
	if (opts->list)
		return print_list(cnt, words);
	urls = xcalloc(opts->at.cnt, sizeof(*urls));
	if (!parse_urls(&opts->at, urls) &&
	    !server_password_read("query", opts->password_file, &password) &&
	    !fleet_open(&(struct fleet_opts){ .urls = urls,
					      .url_cnt = opts->at.cnt,
					      .password = password,
					      .ca_file = opts->ca_file,
					      .memory_max = opts->memory_max,
					      .timeout_ns = TIMEOUT_NS,
					      .stop = query_signals_flag() },
			&f)) {
		server_password_warn("query", password, urls, opts->at.cnt);
		code = run(f, opts, words[0], params, param_cnt);
	}
	fleet_close(f);
	server_password_free(password);
	for (size_t i = 0; i < opts->at.cnt; i++)
		http_url_fini(&urls[i]);
	free(urls);
	return code;
}
