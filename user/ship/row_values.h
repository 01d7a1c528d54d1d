/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_ROW_VALUES_H
#define D9_SHIP_ROW_VALUES_H

#include "query/query_value.h"
#include "ship/known_stacks.h"
#include "ship/ship_tables.h"

/* Values of one trace as the server gets them. */
struct row_values;

/* @anonymizer NULL: none. Both are borrowed. Never NULL. */
struct row_values *row_values_new(const struct trace_inputs *all,
				  const struct anonymizer *anonymizer);
void row_values_free(struct row_values *r);

/* Puts a value of `query` into a column that is SHIP_COLUMN, SHIP_STACK or SHIP_BUILD. */
void row_values_put(struct row_values *r, struct native_block *b, size_t column,
		    const struct ship_column *c, const struct query_value *v);
/* Borrowed. */
struct known_stacks *row_values_stacks(struct row_values *r);

#endif /* D9_SHIP_ROW_VALUES_H */
