// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof query`: SQL over traces. Owns the options, the words of the command line and the exit code. The tables are
 * user/query's, the formats query_output.c's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "cmd/query/query_cmd.h"
#include "ship/server_password.h"

#define O(m) offsetof(struct query_cmd_opts, m)

/* Bytes for SQLite, which sorts and groups beyond a few MB in temporary files. */
#define MEMORY_MAX (512ULL << 20)
/* Less is not enough for the tables. */
#define MEMORY_MIN (1 << 20)

static const struct opt query_opts[] = {
	{ .name = "input",
	  .key = 'i',
	  .kind = OPT_LIST,
	  .off = O(inputs),
	  .arg = "FILE",
	  .help = "Trace to read; - is standard input; may be repeated (default dial9.bin)",
	  .group = "Input" },
	{ .name = "at",
	  .kind = OPT_LIST,
	  .off = O(at),
	  .arg = "URL",
	  .help = "Query a ClickHouse server with the tables of ship, in its SQL: "
		  "http://USER@HOST:8123/DATABASE; may be repeated",
	  .group = "Server" },
	{ .name = "password-file",
	  .kind = OPT_STR,
	  .off = O(password_file),
	  .arg = "FILE",
	  .help = "Read the password from the first line of FILE (default: variable " SERVER_PASSWORD_VARIABLE
		  ")" },
	{ .name = "ca-file",
	  .kind = OPT_STR,
	  .off = O(ca_file),
	  .arg = "FILE",
	  .help = "Certificates (PEM) that may sign the server's (default: the system's)" },
	{ .name = "param",
	  .kind = OPT_LIST,
	  .off = O(params),
	  .arg = "NAME=VALUE",
	  .help = "Value of the parameter :NAME of the query; may be repeated",
	  .group = "Query" },
	{ .name = "schema",
	  .kind = OPT_FLAG,
	  .off = O(schema),
	  .help = "Print tables, columns and functions; with traces also the tables of their events" },
	{ .name = "list",
	  .kind = OPT_FLAG,
	  .off = O(list),
	  .help = "Print the named queries, or the SQL of one" },
	{ .name = "mem-max",
	  .kind = OPT_SIZE,
	  .off = O(memory_max),
	  .min = MEMORY_MIN,
	  .arg = "SIZE",
	  .help = "Memory limit of the query (default 512M)" },
	{ .name = "format",
	  .kind = OPT_CHOICE,
	  .off = O(format),
	  .choices = query_output_formats,
	  .help = "Print rows as a table (default), CSV, JSON or Markdown",
	  .group = "Output" },
	VIEW_OPT_PAGER(struct query_cmd_opts, view),
};

static const struct opt_spec query_spec = {
	.name = "query",
	.usage = "dial9-prof query [OPTIONS] SQL|NAME [TRACE...]\n"
		 "       dial9-prof query [OPTIONS] --at URL SQL|NAME",
	.brief = "Query traces with SQL. Nothing is imported: tables are read from the traces.",
	OPT_ROWS(query_opts),
	.examples =
		"  dial9-prof query top-functions\n"
		"  dial9-prof query 'SELECT comm, state, sum(dur) FROM slices GROUP BY 1, 2'\n"
		"  dial9-prof query --format csv 'SELECT * FROM \"sched:sched_switch\" LIMIT 10' a.bin "
		"b.bin\n"
		"  dial9-prof query --param q=0.999 runq-latency trace.bin\n"
		"  dial9-prof query --at http://dial9@ch1:8123/fleet --param from=1h top-functions\n",
};

/* ---- the command line --------------------------------------------------------------------------- */

static void report_unknown(const char *word)
{
	const char **names = xcalloc(named_queries_cnt, sizeof(char *));

	for (size_t i = 0; i < named_queries_cnt; i++)
		names[i] = named_queries[i].name;
	query_cmd_report_unknown(word, names, named_queries_cnt, "dial9-prof query --list");
	free(names);
}

static int print_list(int cnt, char **words)
{
	const struct named_query *named = cnt ? named_queries_find(words[0]) : NULL;

	if (cnt > 1) {
		log_error("query: unexpected argument '%s': --list takes one name", words[1]);
		return CMD_USAGE;
	}
	if (cnt && !named) {
		report_unknown(words[0]);
		return CMD_USAGE;
	}
	if (named)
		puts(named->sql);
	else
		query_cmd_print_list();
	return report_text_finish();
}

static int parse_params(struct query_cmd *c)
{
	const struct opt_list *list = &c->opts->params;

	c->params = xcalloc(list->cnt + 1, sizeof(*c->params));
	for (size_t i = 0; i < list->cnt; i++) {
		const char *equals = strchr(list->v[i], '=');

		if (!equals || equals == list->v[i]) {
			log_error("query: bad value '%s' for --param: expected NAME=VALUE",
				  list->v[i]);
			return -EINVAL;
		}
		/* the last one counts, and the first match is taken */
		c->params[list->cnt - 1 - i] =
			(struct query_param){ xstrndup(list->v[i], (size_t)(equals - list->v[i])),
					      equals + 1, QUERY_PARAM_ANY };
	}
	c->param_cnt = list->cnt;
	return 0;
}

static void free_params(struct query_cmd *c)
{
	for (size_t i = 0; c->params && i < c->opts->params.cnt; i++)
		free((char *)c->params[i].name);
	free(c->params);
}

/* Standard input can be read once. */
static int check_stdin(const struct query_cmd *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->path_cnt; i++)
		n += !strcmp(c->paths[i], "-");
	if (n < 2)
		return 0;
	log_error("query: - (standard input) is given %zu times; give it once", n);
	return -EINVAL;
}

/* Tables and named queries are printed as text. */
static int check_format(const struct query_cmd_opts *opts)
{
	if (!(opts->schema || opts->list) || opts->format == QUERY_TABLE)
		return 0;
	log_error("query: %s cannot be combined with --format %s",
		  opts->schema ? "--schema" : "--list", query_output_formats[opts->format]);
	return -EINVAL;
}

static void list_paths(struct query_cmd *c, int cnt, char **words)
{
	const struct opt_list *inputs = &c->opts->inputs;

	c->paths = xcalloc(inputs->cnt + (size_t)cnt + 1, sizeof(char *));
	for (size_t i = 0; i < inputs->cnt; i++)
		c->paths[c->path_cnt++] = inputs->v[i];
	for (int i = 0; i < cnt; i++)
		c->paths[c->path_cnt++] = words[i];
	if (!c->path_cnt && !c->opts->schema)
		c->paths[c->path_cnt++] = CMD_DEFAULT_FILE;
}

/* Whether the first word is SQL or a name, and not a trace. */
static bool is_sql(const char *word)
{
	return named_queries_find(word) || (strpbrk(word, " \t\n(*;") && access(word, F_OK));
}

/* @sql NULL: from the terminal. */
static int run_query(struct query_cmd *c, const char *sql)
{
	int code;

	query_signals_begin();
	code = query_input_open(c);
	query_signals_end();
	if (*query_signals_flag())
		return -EINTR;
	if (code != CMD_OK)
		return code;
	if (c->opts->schema)
		code = query_cmd_print_schema(c, NULL);
	else
		code = sql ? query_cmd_run(c, sql) : query_shell_run(c);
	return code == CMD_OK && query_input_is_damaged(c) ? CMD_INPUT : code;
}

static int open_query(const struct query_cmd_opts *opts, int cnt, char **words)
{
	const struct query_opts o = { opts->memory_max, query_signals_flag() };
	const char *sql = cnt && !opts->schema && is_sql(words[0]) ? words[0] : NULL;
	struct query_cmd c = { .opts = opts };
	int code = CMD_USAGE;

	if (!sql && !opts->schema && cnt && strcmp(words[0], "-") != 0 && access(words[0], F_OK)) {
		report_unknown(words[0]);
		return CMD_USAGE;
	}
	if (!sql && !opts->schema && !isatty(STDIN_FILENO)) {
		log_error("query: no SQL given; use dial9-prof query SQL [TRACE...], or NAME of "
			  "dial9-prof query --list");
		return CMD_USAGE;
	}
	list_paths(&c, cnt - (sql != NULL), words + (sql != NULL));
	if (!check_stdin(&c) && !parse_params(&c)) {
		if (query_new(&o, &c.query))
			log_error("query: out of memory; use a larger --mem-max");
		else
			code = run_query(&c, sql);
	}
	query_free(c.query);
	query_input_close(&c);
	free_params(&c);
	free(c.paths);
	return code;
}

/* The words are not traces. */
static int ask_servers(const struct query_cmd_opts *opts, int cnt, char **words)
{
	struct query_cmd c = { .opts = opts };
	int code = CMD_USAGE;

	if (!parse_params(&c))
		code = query_at_run(opts, c.params, c.param_cnt, cnt, words);
	free_params(&c);
	return code;
}

static void print_words(void)
{
	for (size_t i = 0; i < named_queries_cnt; i++)
		opts_print_word(named_queries[i].name, named_queries[i].brief);
}

int cmd_query(int argc, char **argv)
{
	struct query_cmd_opts opts = { .memory_max = MEMORY_MAX };
	int first, ret, code = CMD_USAGE;

	if (opts_is_completion(argc, argv))
		print_words();
	ret = opts_parse(&query_spec, argc, argv, &opts, &first);
	if (ret == 1)
		code = CMD_OK;
	else if (!ret && check_format(&opts))
		code = CMD_USAGE;
	else if (!ret && opts.at.cnt)
		code = ask_servers(&opts, argc - first, argv + first);
	else if (!ret && opts.list)
		code = print_list(argc - first, argv + first);
	else if (!ret)
		code = open_query(&opts, argc - first, argv + first);
	opts_fini(&query_spec, &opts);
	if (code == -EINTR) {
		/* as if it had never been caught */
		raise(SIGINT);
		code = CMD_USAGE;
	}
	return code;
}
