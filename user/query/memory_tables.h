/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_MEMORY_TABLES_H
#define D9_QUERY_MEMORY_TABLES_H

#include "query/scan_plan.h"
#include "query/trace_input.h"

/* Version of tables and columns. Adding a column keeps it, any other change needs a new one. */
#define MEMORY_TABLES_SCHEMA_VERSION 1

/* A table whose rows are in memory. */
struct memory_table {
	const char *name, *doc;
	const struct scan_column *columns;
	size_t column_cnt;
	size_t (*count)(const struct trace_input *in);
	/* By TID; NULL: not sorted. */
	uint32_t (*tid)(const struct trace_input *in, size_t row);
	void (*column)(sqlite3_context *ctx, struct trace_input *in, size_t row, size_t column);
	struct trace_inputs *all;
};

/* The tables `traces` and `tasks`. */
struct memory_table memory_tables_traces(struct trace_inputs *all);
struct memory_table memory_tables_tasks(struct trace_inputs *all);
int memory_table_register(sqlite3 *db, const struct memory_table *table);

#endif /* D9_QUERY_MEMORY_TABLES_H */
