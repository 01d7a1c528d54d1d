/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FLEET_FLEET_H
#define D9_FLEET_FLEET_H

#include "fleet/fleet_queries.h"
#include "query/query.h"
#include "ship/http_client.h"

/* ClickHouse servers with the tables of `ship`. Each has other hosts. */
struct fleet;

struct fleet_opts {
	const struct http_url *urls; /* borrowed during fleet_open() */
	size_t url_cnt;
	const char *password, *ca_file; /* NULL: none */
	uint64_t memory_max; /* of an answer, and of what is put together from answers */
	uint64_t timeout_ns; /* of a request */
	const volatile sig_atomic_t *stop;
};

/* Does not connect. Free with fleet_close(). 0, or -errno after one line. */
int fleet_open(const struct fleet_opts *opts, struct fleet **out);
void fleet_close(struct fleet *f);

struct fleet_statement {
	const struct fleet_query *query; /* NULL: @sql */
	const char *sql; /* of one server; rows of several get a column `server` */
	const struct query_param *params;
	size_t param_cnt;
	int (*begin)(void *ctx, const char *const *columns, size_t cnt);
	int (*row)(void *ctx, const struct query_value *values, size_t cnt);
	void *ctx;
};

/* Checks the values of parameters, without asking a server: 0, or -EINVAL with fleet_error(). */
int fleet_check(struct fleet *f, const struct fleet_statement *s);
/*
 * Asks all servers. 0; -EINVAL: a mistake in the SQL or its values, or a server refuses; -EHOSTDOWN: no server answers;
 * -ENOMEM: over the memory limit: these with fleet_error(). -EINTR: stopped; or what begin() or row() returned. A server
 * that fails while others answer is reported in one line, and is not asked again.
 */
int fleet_run(struct fleet *f, const struct fleet_statement *s);
const char *fleet_error(const struct fleet *f);

/* Whether the values of `host`, `from` and `to` decide which rows a statement reads. */
bool fleet_is_filtered(const struct fleet_statement *s);

/*
 * Reports losses of the hosts, and times without data, in a line each. @params: of `host`, `from` and `to` only. Results
 * as fleet_run(); -EINVAL also if the tables are made otherwise than by `ship`.
 */
int fleet_report_losses(struct fleet *f, const struct query_param *params, size_t param_cnt);

/* Whether a server, or one of a distributed table, did not answer, so that rows are missing. */
bool fleet_is_partial(const struct fleet *f);
/* After fleet_report_losses(): whether recordings were damaged, so that rows are missing. */
bool fleet_is_damaged(const struct fleet *f);

#endif /* D9_FLEET_FLEET_H */
