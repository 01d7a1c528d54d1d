/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_NAMED_QUERIES_H
#define D9_QUERY_NAMED_QUERIES_H

#include <stddef.h>

#include "query/query.h"

#define NAMED_QUERIES_PARAMS_MAX 4

/* What a trace must have for a query to have rows. */
enum named_query_needs {
	NAMED_QUERY_NEEDS_EVENTS, /* any events */
	NAMED_QUERY_NEEDS_SAMPLES, /* CPU samples */
	NAMED_QUERY_NEEDS_SWITCHES,
};

/* A question that is asked often. */
struct named_query {
	const char *name, *brief;
	enum named_query_needs needs;
	const char *sql;
	struct query_param params[NAMED_QUERIES_PARAMS_MAX]; /* with their defaults; the rest {0} */
};

extern const struct named_query named_queries[];
extern const size_t named_queries_cnt;

/* NULL: there is none of that name. */
const struct named_query *named_queries_find(const char *name);

#endif /* D9_QUERY_NAMED_QUERIES_H */
