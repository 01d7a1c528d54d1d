// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends until it arrived. Owns pauses, giving up, and what to do after a lost answer: ask the server for the batch, and send
 * it again only if it is not there. The server's token covers what is still on its way. Does not know files.
 */
#include "ship/sender.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

struct sender {
	struct clickhouse *server;
	struct sender_opts opts;
	char *base;
	uint64_t pause_ns; /* the next one */
	uint64_t failing_since; /* 0: the last request succeeded */
	uint64_t ending_since; /* 0: end_fd is open */
	uint64_t jitter;
	bool silent; /* the last request was given up */
};

static bool is_silent_too_long(void *ctx, uint64_t silent_ns);

int sender_new(const struct sender_opts *opts, struct sender **out)
{
	struct sender *s = xcalloc(1, sizeof(*s));
	struct clickhouse_opts server = opts->server;
	int err;

	server.gives_up = is_silent_too_long;
	server.ctx = s;
	err = clickhouse_new(&server, &s->server);

	if (err) {
		free(s);
		return err;
	}
	s->opts = *opts;
	s->base = xstrdup(opts->server.url->base);
	s->pause_ns = opts->pause_min_ns;
	s->jitter = clock_real_ns();
	*out = s;
	return 0;
}

void sender_free(struct sender *s)
{
	if (!s)
		return;
	clickhouse_free(s->server);
	free(s->base);
	free(s);
}

bool sender_has_tokens(const struct sender *s)
{
	return clickhouse_has_tokens(s->server);
}

/* ---- pauses ----------------------------------------------------------------------------------- */

static bool is_stopped(const struct sender *s)
{
	return s->opts.server.stop && *s->opts.server.stop;
}

void sender_pause(struct sender *s, uint64_t ns)
{
	const struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	/* a descriptor that ended would end each pause */
	struct pollfd end = { .fd = s->ending_since ? -1 : s->opts.end_fd, .events = POLLIN };
	char byte;

	if (ppoll(&end, 1, &ts, NULL) > 0 && read(end.fd, &byte, 1) <= 0)
		s->ending_since = clock_timer_ns();
}

bool sender_is_ending(struct sender *s)
{
	if (!s->ending_since && s->opts.end_fd >= 0)
		sender_pause(s, 0);
	return s->ending_since;
}

/* Whether it has to give up what has not succeeded since a time. */
static bool is_too_long(struct sender *s, uint64_t since)
{
	const bool is_ending = sender_is_ending(s);
	const uint64_t now = clock_timer_ns(); /* not before ending_since */

	if (s->opts.give_up_ns && now - since >= s->opts.give_up_ns)
		return true;
	if (!is_ending)
		return false;
	return now - (since > s->ending_since ? since : s->ending_since) >= s->opts.end_give_up_ns;
}

/* During a request: a server that takes it and is silent must not hold the end. */
static bool is_silent_too_long(void *ctx, uint64_t silent_ns)
{
	struct sender *s = ctx;

	s->silent = is_too_long(s, clock_timer_ns() - silent_ns);
	return s->silent;
}

static void succeed(struct sender *s)
{
	if (s->failing_since)
		log_warn("ship: %s answers again after %" PRIu64 " s", s->base,
			 (clock_timer_ns() - s->failing_since) / 1000000000);
	s->failing_since = 0;
	s->pause_ns = s->opts.pause_min_ns;
}

/* Three quarters to five quarters of it, so that many hosts do not come at once. */
static uint64_t vary(struct sender *s, uint64_t ns)
{
	s->jitter = s->jitter * 6364136223846793005ULL + 1442695040888963407ULL;
	return ns - ns / 4 + (s->jitter >> 33) % (ns / 2 + 1);
}

/* After a failed request: 0 to try again. */
static int fail(struct sender *s, enum clickhouse_result result)
{
	const uint64_t now = clock_timer_ns();

	if (result == CLICKHOUSE_STOPPED || is_stopped(s))
		return -EINTR;
	if (result == CLICKHOUSE_REFUSED) {
		log_error("ship: %s refuses: %s", s->base, clickhouse_error(s->server));
		return -EPROTO;
	}
	if (!s->failing_since) {
		s->failing_since = now;
		log_warn("ship: cannot reach %s: %s; trying again", s->base,
			 clickhouse_error(s->server));
	}
	if (s->silent || is_too_long(s, s->failing_since)) {
		log_error("ship: gave up: cannot reach %s: %s", s->base,
			  clickhouse_error(s->server));
		return -ETIMEDOUT;
	}
	if (s->opts.idle)
		s->opts.idle(s->opts.ctx);
	sender_pause(s, vary(s, s->pause_ns));
	if (s->ending_since)
		s->pause_ns = s->opts.pause_min_ns;
	s->pause_ns =
		s->pause_ns * 2 < s->opts.pause_max_ns ? s->pause_ns * 2 : s->opts.pause_max_ns;
	return is_stopped(s) ? -EINTR : 0;
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
	succeed(s);
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
		succeed(s);
	return err;
}

/* Until an earlier request with this token has ended: a request of a broken connection may still run. */
static int wait_for_end(struct sender *s, const char *token)
{
	enum clickhouse_result result;
	bool running = true;
	int err;

	sender_pause(s, s->opts.grace_ns);
	while (running) {
		result = clickhouse_is_running(s->server, token, &running);
		if (result == CLICKHOUSE_OK && running)
			sender_pause(s, s->opts.pause_min_ns);
		if (is_stopped(s))
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
	succeed(s);
	return 0;
}
