/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SOURCE_ROW_H
#define D9_SHIP_SOURCE_ROW_H

#include "query/query_value.h"
#include "query/scan_filter.h"
#include "ship/ship_tables.h"

/* A row of a table of `query`. */
struct source_row {
	void (*value)(void *of, size_t column, struct query_value *out);
	void *of;
};

/* Where the columns and conditions of a table of the server are in a table of `query`. */
struct source_plan {
	const struct ship_table *table;
	size_t *columns; /* by column of the server */
	size_t conditions[SHIP_CONDITIONS];
	size_t wall;
	uint64_t used; /* as in struct scan_filter */
};

/* 0, or -ENOENT: the table has no such column. Free with source_plan_fini(), also on failure. */
int source_plan_init(struct source_plan *p, const struct ship_table *table,
		     const struct scan_column *columns, size_t cnt);
void source_plan_fini(struct source_plan *p);

/* Whether a row meets the conditions of the table. */
bool source_plan_wants(const struct source_plan *p, const struct source_row *row);

#endif /* D9_SHIP_SOURCE_ROW_H */
