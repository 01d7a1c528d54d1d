/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SQL_FUNCTIONS_H
#define D9_QUERY_SQL_FUNCTIONS_H

#include <sqlite3.h>

#include "base/buf.h"
#include "query/trace_input.h"

/* A function of the schema's list: "leaf(STACK)" and what it returns. */
struct sql_function {
	const char *form, *doc;
};

extern const struct sql_function sql_functions_list[];
extern const size_t sql_functions_cnt;

/* leaf(), folded(), has_frame(), container(), pod(), quantile(). */
int sql_functions_register(sqlite3 *db, struct trace_inputs *all);

#endif /* D9_QUERY_SQL_FUNCTIONS_H */
