/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FLEET_FLEET_QUERIES_H
#define D9_FLEET_FLEET_QUERIES_H

#include <stddef.h>

/* How the value of a parameter is written in SQL. */
enum fleet_param_kind {
	FLEET_PARAM_TEXT, /* only in @merge */
	FLEET_PARAM_GLOB, /* a regular expression, for match() */
	FLEET_PARAM_COUNT,
	FLEET_PARAM_SHARE,
	FLEET_PARAM_FROM, /* a time: part of :range and :span */
	FLEET_PARAM_TO,
	FLEET_PARAM_HOST, /* GLOBs, separated by commas: part of :range, :span and :days */
	FLEET_PARAM_SERVICE, /* the same: part of :range */
};

struct fleet_param {
	const char *name, *value; /* with its default */
	enum fleet_param_kind kind;
};

#define FLEET_QUERIES_PARAMS_MAX 8
#define FLEET_QUERIES_PARTS_MAX 3

/*
 * A question to servers. Each runs the parts, SQL of ClickHouse over the tables of `ship`, which sum up its rows. Their
 * results become the tables part1, part2 and part3, with a column `server`; @merge makes the answer, in SQLite's SQL.
 *
 * Places in the parts: names of parameters, and
 *	:range	a condition on host, service and wall of a table
 *	:span	the same on host, first_wall and last_wall
 *	:rows	the LIMIT of rows that are summed up: no limit if there are several servers
 */
struct fleet_query {
	const char *name, *brief;
	const char *parts[FLEET_QUERIES_PARTS_MAX]; /* NULL: no more */
	const char *
		pick; /* SQLite's SQL over part1: one row, whose columns are places in the other parts; NULL: none */
	const char *merge;
	const char *check, *warning; /* number of groups to which the warning applies; NULL: none */
	struct fleet_param params[FLEET_QUERIES_PARAMS_MAX]; /* the rest {0} */
};

extern const struct fleet_query fleet_queries[];
extern const size_t fleet_queries_cnt;

/* NULL: there is none of that name. */
const struct fleet_query *fleet_queries_find(const char *name);

/* The losses of hosts as lines of text: columns `host`, `line`, and `damaged` (1: recordings could not be read to the end). */
extern const struct fleet_query fleet_queries_warnings;

#endif /* D9_FLEET_FLEET_QUERIES_H */
