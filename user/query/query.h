/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_QUERY_H
#define D9_QUERY_QUERY_H

#include <signal.h>

#include "base/buf.h"
#include "query/query_value.h"
#include "query/trace_input.h"

/*
 * SQL over traces. Tables are read from the traces during a query; nothing is imported:
 *
 *	query_new(&opts, &q);
 *	query_add(q, reader, &input);		// each trace
 *	query_prepare(q);
 *	query_run(q, &(struct query_statement){ .sql = "SELECT ...", ... });
 *	query_free(q);
 */
struct query;

struct query_opts {
	uint64_t memory_max; /* bytes that SQLite may use; 0: no limit */
	const volatile sig_atomic_t *stop; /* not 0: the running query ends */
};

/* Free with query_free(). 0 or -errno. */
int query_new(const struct query_opts *opts, struct query **out);
void query_free(struct query *q);
/*
 * Reads a trace once, for names, losses and schemas. Owns @r, also on failure. A damaged trace is used as far as it can
 * be read. 0, -EINTR, or -errno if it is no trace.
 */
int query_add(struct query *q, struct reader *r, const struct trace_input_again *again);
/* Makes the tables. After the last trace: 0 or -errno. */
int query_prepare(struct query *q);
const struct trace_inputs *query_traces(const struct query *q);

/* What the value of a parameter is. */
enum query_param_kind {
	QUERY_PARAM_ANY, /* a number if it looks like one, otherwise text */
	QUERY_PARAM_TEXT,
	QUERY_PARAM_COUNT, /* a whole number; anything else is a mistake */
	QUERY_PARAM_SHARE, /* a number from 0 to 1 */
};

/* The value of the parameter :name. */
struct query_param {
	const char *name, *value;
	enum query_param_kind kind;
};

struct query_statement {
	const char *sql;
	const struct query_param *params;
	size_t param_cnt;
	bool spare_params; /* the statement may lack some of them; otherwise that is a mistake */
	/* Once, before the first row. Not 0: the query ends with that result. */
	int (*begin)(void *ctx, const char *const *columns, size_t cnt);
	int (*row)(void *ctx, const struct query_value *values, size_t cnt);
	void *ctx;
};

/*
 * Runs one SELECT. 0; -EINVAL: a mistake in the SQL or its values, see query_error(); -ENOMEM: over the memory limit;
 * -EINTR: stopped; or what begin() or row() returned.
 */
int query_run(struct query *q, const struct query_statement *s);
/* The message of the last -EINVAL or -ENOMEM: what is wrong, where, and the nearest known name. Borrowed. */
const char *query_error(const struct query *q);
/* Whether a statement ends here: for lines that are entered one by one. */
bool query_is_complete(const char *sql);

/*
 * A table with given rows, before query_prepare(); query_add_row() adds to the last one. The rows are copied. 0 or -ENOMEM:
 * they need more than the memory limit.
 */
int query_add_table(struct query *q, const char *name, const char *const *columns, size_t cnt);
int query_add_row(struct query *q, const struct query_value *values, size_t cnt);

/*
 * Appends the tables and their columns, a line each: "TABLE", and indented "COLUMN TYPE description". Before
 * query_prepare() without the tables of events. @table NULL: all.
 */
void query_schema(const struct query *q, const char *table, struct buf *out);

#endif /* D9_QUERY_QUERY_H */
