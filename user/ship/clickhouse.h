/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_CLICKHOUSE_H
#define D9_SHIP_CLICKHOUSE_H

#include "ship/http_client.h"
#include "ship/ship_tables.h"

/* A database of a ClickHouse server. */
struct clickhouse;

struct clickhouse_opts {
	const struct http_url *url; /* borrowed during clickhouse_new() */
	const char *password, *ca_file; /* NULL: none */
	uint64_t timeout_ns; /* of a request */
	uint64_t answer_max; /* bytes; 0: HTTP_CLIENT_BODY_MAX */
	const volatile sig_atomic_t *stop;
	bool (*gives_up)(void *ctx, uint64_t silent_ns); /* as in http_client_opts */
	void *ctx;
};

/* What became of a request. */
enum clickhouse_result {
	CLICKHOUSE_OK,
	CLICKHOUSE_STOPPED, /* by the stop flag */
	CLICKHOUSE_AGAIN, /* nothing reached the server */
	CLICKHOUSE_UNSURE, /* it may have been done: the connection broke, or the answer is an error */
	CLICKHOUSE_REFUSED, /* will not succeed when repeated: rights, tables, not ClickHouse */
};

/* Free with clickhouse_free(). 0 or -errno, after one line. */
int clickhouse_new(const struct clickhouse_opts *opts, struct clickhouse **out);
void clickhouse_free(struct clickhouse *c);

/* Why the last result was not CLICKHOUSE_OK, in one line. Borrowed. */
const char *clickhouse_error(struct clickhouse *c);

/* Asks what the server can do, and makes tables and columns that it lacks. */
enum clickhouse_result clickhouse_prepare(struct clickhouse *c, const struct ship_ttl *ttl);
/* After clickhouse_prepare(): whether the server skips an insert whose token it knows, and its version. */
/* Whether a table should have got a TTL, and the server knows none. */
bool clickhouse_lacks_ttl(const struct clickhouse *c);
bool clickhouse_has_tokens(const struct clickhouse *c);
const char *clickhouse_version(const struct clickhouse *c);

/* Inserts a body in gzip, with a token of letters and digits. */
enum clickhouse_result clickhouse_insert(struct clickhouse *c, const struct ship_table *t,
					 const char *token, const struct buf *body);
/* Rows of a batch in a table: all shards of one server only. @host NULL: of all hosts. */
enum clickhouse_result clickhouse_count(struct clickhouse *c, const struct ship_table *t,
					uint64_t day, const char *host, uint64_t batch,
					uint64_t *rows);
/* Whether an insert with this token runs now. */
enum clickhouse_result clickhouse_is_running(struct clickhouse *c, const char *token,
					     bool *running);

/*
 * Runs SQL that can only read, and gives its complete answer in @format unless the SQL names another one. @skip_shards:
 * what servers that are down would add to distributed tables is missing. It may be missing in any case if the user's
 * settings cannot be changed: *@may_skip.
 */
enum clickhouse_result clickhouse_select(struct clickhouse *c, const char *sql, const char *format,
					 bool skip_shards, struct buf *out, bool *may_skip);
/* The number of the last error; 0: it had none. */
int clickhouse_error_code(const struct clickhouse *c);

/* Appends text as a literal of SQL with its quotes: one line of printable ASCII and bytes above it. */
void clickhouse_put_text(struct buf *out, const char *s);

#endif /* D9_SHIP_CLICKHOUSE_H */
