/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_MEMORY_TABLES_H
#define D9_QUERY_MEMORY_TABLES_H

#include "query/query_value.h"
#include "query/scan_filter.h"
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
	/* *out is NULL before. */
	void (*column)(struct trace_input *in, size_t row, size_t column, struct query_value *out);
	struct trace_inputs *all;
};

/* The tables `traces` and `tasks`. */
struct memory_table memory_tables_traces(struct trace_inputs *all);
struct memory_table memory_tables_tasks(struct trace_inputs *all);

#endif /* D9_QUERY_MEMORY_TABLES_H */
