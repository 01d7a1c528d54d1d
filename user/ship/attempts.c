// SPDX-License-Identifier: BSD-2-Clause
/* When a request is repeated. Owns pauses and giving up. Does not know requests. */
#include "ship/attempts.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

struct attempts {
	struct attempts_opts opts;
	char *server;
	uint64_t pause_ns; /* the next one */
	uint64_t failing_since; /* 0: the last request succeeded */
	uint64_t ending_since; /* 0: end_fd is open */
	uint64_t jitter;
	bool silent; /* the last request was given up */
};

struct attempts *attempts_new(const struct attempts_opts *opts, const char *server)
{
	struct attempts *a = xcalloc(1, sizeof(*a));

	a->opts = *opts;
	a->server = xstrdup(server);
	a->pause_ns = opts->pause_min_ns;
	a->jitter = clock_real_ns();
	return a;
}

void attempts_free(struct attempts *a)
{
	if (!a)
		return;
	free(a->server);
	free(a);
}

bool attempts_is_stopped(const struct attempts *a)
{
	return a->opts.stop && *a->opts.stop;
}

/* ---- pauses ----------------------------------------------------------------------------------- */

void attempts_pause(struct attempts *a, uint64_t ns)
{
	const struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	/* a descriptor that ended would end each pause */
	struct pollfd end = { .fd = a->ending_since ? -1 : a->opts.end_fd, .events = POLLIN };
	char byte;

	if (ppoll(&end, 1, &ts, NULL) > 0 && read(end.fd, &byte, 1) <= 0)
		a->ending_since = clock_timer_ns();
}

void attempts_pause_shortly(struct attempts *a)
{
	attempts_pause(a, a->opts.pause_min_ns);
}

bool attempts_is_ending(struct attempts *a)
{
	if (!a->ending_since && a->opts.end_fd >= 0)
		attempts_pause(a, 0);
	return a->ending_since;
}

/* Three quarters to five quarters of it, so that many hosts do not come at once. */
static uint64_t vary(struct attempts *a, uint64_t ns)
{
	a->jitter = a->jitter * 6364136223846793005ULL + 1442695040888963407ULL;
	return ns - ns / 4 + (uint64_t)(((unsigned __int128)a->jitter * (ns / 2 + 1)) >> 64);
}

/* ---- results ---------------------------------------------------------------------------------- */

/* Until it has to give up what has not succeeded since a time; 0: now, UINT64_MAX: never. */
static uint64_t time_left(struct attempts *a, uint64_t since)
{
	const bool is_ending = attempts_is_ending(a);
	const uint64_t passed = clock_timer_ns() - since;
	uint64_t left = UINT64_MAX, ending;

	if (a->opts.give_up_ns)
		left = passed < a->opts.give_up_ns ? a->opts.give_up_ns - passed : 0;
	if (!is_ending)
		return left;
	ending = since > a->ending_since ? passed : passed - (a->ending_since - since);
	ending = ending < a->opts.end_give_up_ns ? a->opts.end_give_up_ns - ending : 0;
	return ending < left ? ending : left;
}

bool attempts_is_silent(void *ctx, uint64_t silent_ns)
{
	struct attempts *a = ctx;

	a->silent = !time_left(a, clock_timer_ns() - silent_ns);
	return a->silent;
}

void attempts_succeed(struct attempts *a)
{
	if (a->failing_since)
		log_warn("ship: %s answers again after %" PRIu64 " s", a->server,
			 (clock_timer_ns() - a->failing_since) / 1000000000);
	a->failing_since = 0;
	a->pause_ns = a->opts.pause_min_ns;
}

int attempts_fail(struct attempts *a, const char *why)
{
	uint64_t pause, left;

	if (attempts_is_stopped(a))
		return -EINTR;
	if (!a->failing_since) {
		a->failing_since = clock_timer_ns();
		log_warn("ship: cannot reach %s: %s; trying again", a->server, why);
	}
	left = time_left(a, a->failing_since);
	if (a->silent || !left) {
		log_error("ship: gave up: cannot reach %s: %s", a->server, why);
		return -ETIMEDOUT;
	}
	if (a->opts.idle)
		a->opts.idle(a->opts.ctx);
	pause = vary(a, a->pause_ns);
	attempts_pause(a, pause < left ? pause : left);
	if (a->ending_since)
		a->pause_ns = a->opts.pause_min_ns;
	a->pause_ns =
		a->pause_ns * 2 < a->opts.pause_max_ns ? a->pause_ns * 2 : a->opts.pause_max_ns;
	return attempts_is_stopped(a) ? -EINTR : 0;
}

int attempts_refuse(const struct attempts *a, const char *why)
{
	log_error("ship: %s refuses: %s", a->server, why);
	return -EPROTO;
}
