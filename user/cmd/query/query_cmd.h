/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_QUERY_QUERY_CMD_H
#define D9_CMD_QUERY_QUERY_CMD_H

#include "base/opts.h"
#include "cmd/query/query_output.h"
#include "query/named_queries.h"
#include "query/query.h"

struct query_cmd_opts {
	struct opt_list inputs, params;
	struct opt_list at; /* URLs of servers */
	const char *password_file, *ca_file;
	uint64_t memory_max;
	int format; /* enum query_format */
	bool schema, list;
	struct view_opts view;
};

/* A trace that can be opened again. */
struct query_input {
	const char *path; /* its name */
	const char **files; /* more than one: files of a set that are read as one trace */
	size_t file_cnt;
	char *stem; /* their name without a number; NULL: one file */
	int fd; /* of the copy of a pipe, or standard input; -1: open the path */
	bool was_read; /* once to its end */
};

/* A run of the command. */
struct query_cmd {
	const struct query_cmd_opts *opts;
	const char **paths; /* of traces */
	size_t path_cnt;
	struct query_input *inputs;
	size_t input_cnt;
	struct query *query;
	struct query_param *params; /* of --param */
	size_t param_cnt;
	bool in_shell; /* statements come from the terminal, and need not have all parameters */
};

/* Opens the traces, reads them once, and reports losses. CMD_OK, or an exit code after one line. */
int query_input_open(struct query_cmd *c);
/* Whether a trace was damaged, so that rows may be missing. */
bool query_input_is_damaged(const struct query_cmd *c);
void query_input_close(struct query_cmd *c);

/* Runs SQL, or the query of that name, and prints its rows or one line: an exit code. */
int query_cmd_run(struct query_cmd *c, const char *sql);
/* Prints the tables, or one of them: an exit code. */
int query_cmd_print_schema(struct query_cmd *c, const char *table);
void query_cmd_print_list(void);
/* Reports a word that is no query of these names, and that @list prints them. */
void query_cmd_report_unknown(const char *word, const char *const *names, size_t cnt,
			      const char *list);

/*
 * With --at: the words of the command line, and the values of --param. Runs on servers, or prints the named queries: an exit
 * code.
 */
int query_at_run(const struct query_cmd_opts *opts, const struct query_param *params,
		 size_t param_cnt, int cnt, char **words);

/* Reads statements from the terminal until its end: an exit code. */
int query_shell_run(struct query_cmd *c);

/* Ctrl-C sets a flag from now on; a second one ends the program. */
void query_signals_begin(void);
void query_signals_end(void);
const volatile sig_atomic_t *query_signals_flag(void);

#endif /* D9_CMD_QUERY_QUERY_CMD_H */
