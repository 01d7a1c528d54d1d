// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends until it arrived. Owns what to do after a lost answer: ask the server for the batch, and send it again only if it is
 * not there. The server's token covers what is still on its way. Does not know files.
 */
#include "ship/sender.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"

struct sender {
	struct clickhouse *server;
	struct sender_opts opts;
};

int sender_new(const struct sender_opts *opts, struct sender **out)
{
	struct sender *s = xcalloc(1, sizeof(*s));
	struct clickhouse_opts server = opts->server;
	int err;

	server.gives_up = attempts_is_silent;
	server.ctx = opts->attempts;
	err = clickhouse_new(&server, &s->server);
	if (err) {
		free(s);
		return err;
	}
	s->opts = *opts;
	*out = s;
	return 0;
}

void sender_free(struct sender *s)
{
	if (!s)
		return;
	clickhouse_free(s->server);
	free(s);
}

bool sender_has_tokens(const struct sender *s)
{
	return clickhouse_has_tokens(s->server);
}

/* After a failed request: 0 to try again. */
static int fail(struct sender *s, enum clickhouse_result result)
{
	if (result == CLICKHOUSE_STOPPED || attempts_is_stopped(s->opts.attempts))
		return -EINTR;
	if (result == CLICKHOUSE_REFUSED)
		return attempts_refuse(s->opts.attempts, clickhouse_error(s->server));
	return attempts_fail(s->opts.attempts, clickhouse_error(s->server));
}

int sender_connect(struct sender *s)
{
	enum clickhouse_result result;
	int err;

	for (;;) {
		result = clickhouse_prepare(s->server, &s->opts.ttl);
		if (result == CLICKHOUSE_OK)
			break;
		err = fail(s, result);
		if (err)
			return err;
	}
	attempts_succeed(s->opts.attempts);
	if (!sender_has_tokens(s))
		log_warn(
			"ship: ClickHouse %s has no deduplication tokens: after a lost answer rows "
			"may be twice; doubles are counted and reported",
			clickhouse_version(s->server));
	if (clickhouse_lacks_ttl(s->server))
		log_warn("ship: ClickHouse %s cannot delete old rows; drop the partitions of old "
			 "days instead of --raw-ttl and --rollup-ttl",
			 clickhouse_version(s->server));
	return 0;
}

/* ---- batches ---------------------------------------------------------------------------------- */

static int count(struct sender *s, const struct sender_batch *b, uint64_t *rows)
{
	enum clickhouse_result result;
	int err = 0;

	do {
		result = clickhouse_count(s->server, b->table, b->day, b->host, b->id, rows);
		if (result != CLICKHOUSE_OK)
			err = fail(s, result);
	} while (result != CLICKHOUSE_OK && !err);
	return err;
}

int sender_count(struct sender *s, const struct sender_batch *b, uint64_t *rows)
{
	const int err = count(s, b, rows);

	if (!err)
		attempts_succeed(s->opts.attempts);
	return err;
}

/* Until an earlier request with this token has ended: a request of a broken connection may still run. */
static int wait_for_end(struct sender *s, const char *token)
{
	enum clickhouse_result result;
	bool running = true;
	int err;

	attempts_pause(s->opts.attempts, s->opts.grace_ns);
	while (running) {
		result = clickhouse_is_running(s->server, token, &running);
		if (result == CLICKHOUSE_OK && running)
			attempts_pause_shortly(s->opts.attempts);
		if (attempts_is_stopped(s->opts.attempts))
			return -EINTR;
		err = result == CLICKHOUSE_OK ? 0 : fail(s, result);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Whether the server has the batch: 1 or 0, or an error. An answer to this is no end of the failure: a server without
 * space answers it, and takes no rows.
 */
static int find(struct sender *s, const struct sender_batch *b, const char *token)
{
	uint64_t rows;
	int err = sender_has_tokens(s) ? 0 : wait_for_end(s, token);

	if (!err)
		err = count(s, b, &rows);
	return err ?: rows > 0;
}

int sender_insert(struct sender *s, const struct sender_batch *b)
{
	bool unsure = b->may_be_there && !b->table->replaces;
	enum clickhouse_result result;
	struct buf body = { 0 };
	char token[64];
	int err = 0;

	native_block_write(b->block, &body);
	snprintf(token, sizeof(token), "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, b->file[0],
		 b->file[1], b->id);
	while (!err) {
		err = unsure ? find(s, b, token) : 0;
		if (err)
			break;
		result = clickhouse_insert(s->server, b->table, token, &body);
		if (result == CLICKHOUSE_OK)
			break;
		unsure = unsure || (result == CLICKHOUSE_UNSURE && !b->table->replaces);
		err = fail(s, result);
	}
	buf_free(&body);
	if (err < 0)
		return err;
	attempts_succeed(s->opts.attempts);
	return 0;
}
