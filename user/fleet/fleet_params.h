/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FLEET_FLEET_PARAMS_H
#define D9_FLEET_FLEET_PARAMS_H

#include "fleet/fleet_queries.h"
#include "fleet/sql_template.h"
#include "query/query.h"

#define FLEET_PARAMS_PICKED 8
/* With :rows, :range, :span and :days. */
#define FLEET_PARAMS_MAX (FLEET_QUERIES_PARAMS_MAX + 4 + FLEET_PARAMS_PICKED)

/* The values of a query's parameters, as literals for the servers and as values for the merging. */
struct fleet_params {
	struct sql_template_value *values;
	size_t cnt;
	struct query_param *merge;
	size_t merge_cnt;
	bool has_filters; /* of SQL: hosts, services and times are in its conditions */
};

/*
 * Values of a named query: @given (the first of equal names counts), then the defaults. @limits_rows: the servers' LIMIT is
 * the query's. -EINVAL with one line in @message: a value is wrong, or the query has no such parameter. Free with
 * fleet_params_fini().
 */
int fleet_params_of_query(struct fleet_params *p, const struct fleet_query *query,
			  const struct query_param *given, size_t given_cnt, bool limits_rows,
			  struct buf *message);
/* The same for SQL: numbers and text; and its places :range, :span and :days as conditions. */
int fleet_params_of_sql(struct fleet_params *p, const char *sql, const struct query_param *given,
			size_t given_cnt, struct buf *message);
/* Whether SQL has such a place. */
bool fleet_params_are_filtered(const char *sql);
/* After sql_template_put(): whether SQL has a place for a parameter, or one of these places depends on it. */
bool fleet_params_is_used(const struct fleet_params *p, const char *name);
/* Adds a value that a server gave. At most FLEET_PARAMS_PICKED. */
void fleet_params_add(struct fleet_params *p, const char *name, const struct query_value *v);
void fleet_params_fini(struct fleet_params *p);

#endif /* D9_FLEET_FLEET_PARAMS_H */
