// SPDX-License-Identifier: BSD-2-Clause
/* `query` without SQL on a terminal: a loop over lines. A statement ends with a semicolon. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/query/query_cmd.h"

static const char help[] = "SELECT ...;        run a statement; it may have several lines\n"
			   "NAME               run a named query, see .queries\n"
			   ".schema [TABLE]    print tables and columns\n"
			   ".queries           print the named queries\n"
			   ".help              print this help\n"
			   ".quit              end; so does Ctrl-D\n";

/* False: the end. */
static bool run_command(struct query_cmd *c, char *line)
{
	char *save, *word = strtok_r(line, " \t", &save), *arg = strtok_r(NULL, " \t", &save);

	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		return false;
	if (!strcmp(word, ".schema") || !strcmp(word, ".tables"))
		query_cmd_print_schema(c, arg);
	else if (!strcmp(word, ".queries"))
		query_cmd_print_list();
	else if (!strcmp(word, ".help"))
		fputs(help, stdout);
	else
		log_error("query: unknown command '%s'; .help prints the known ones", word);
	return true;
}

/* Appends a line, and runs what is complete. */
static bool handle_line(struct query_cmd *c, struct buf *sql, char *line)
{
	if (!sql->len && !line[strspn(line, " \t")])
		return true;
	if (!sql->len && *line == '.')
		return run_command(c, line);
	if (sql->len || !named_queries_find(line)) {
		buf_addstr(sql, line);
		buf_addch(sql, '\n');
		if (!query_is_complete(sql->data))
			return true;
		query_cmd_run(c, sql->data);
	} else {
		query_cmd_run(c, line);
	}
	buf_clear(sql);
	return true;
}

int query_shell_run(struct query_cmd *c)
{
	struct buf sql = { 0 };
	char *line = NULL;
	size_t cap = 0;
	bool more = true;
	ssize_t n;

	c->in_shell = true;
	fputs("SQL over traces; .help prints help.\n", stdout);
	while (more) {
		fputs(sql.len ? "   ...> " : "dial9> ", stdout);
		fflush(stdout);
		n = getline(&line, &cap, stdin);
		if (n < 0)
			break;
		line[strcspn(line, "\r\n")] = '\0';
		more = handle_line(c, &sql, line);
	}
	if (more)
		putchar('\n');
	free(line);
	buf_free(&sql);
	return CMD_OK;
}
