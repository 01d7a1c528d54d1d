// SPDX-License-Identifier: BSD-2-Clause
/*
 * drain_timer.c - waits for the next pass of the drain
 *
 * Events are handled as soon as they arrive, but at most once per LOOK_NS: continuous events are handled in larger
 * batches.
 */
#include "record/control/drain_timer.h"

#include <poll.h>
#include <stdbool.h>
#include <time.h>

#include "base/clock.h"
#include "record/capture/capture.h"
#include "record/target/targets.h"
#include "record/unwind_maps/sideband_reader.h"
#include "record/unwind_maps/unwind_loader.h"
#include "symbol/broker/sym_client.h"

#define SECOND_NS 1000000000ULL

enum {
	TARGETS_MAX = 64,
	BROKER_STEPS = 16,
	LOOK_NS = 500000, /* minimum time between two wakeups by events */
};

enum { FD_BROKER, FD_NEWS, FD_RINGS, FD_TARGET };

struct wait {
	const struct drain_timer_cfg *cfg;
	struct pollfd fds[TARGETS_MAX + FD_TARGET];
	size_t fd_cnt;
	uint64_t until;
	uint64_t look_ns; /* events do not wake us before */
	uint64_t due_ns; /* the unwind loader has work at this time */
	int steps; /* of the broker, remaining */
	bool hurries;
};

static void hurry(struct wait *w)
{
	w->hurries = true;
	if (w->cfg->hurry_ns && w->cfg->hurry_ns < w->until)
		w->until = w->cfg->hurry_ns;
}

static void poll_sources(struct wait *w)
{
	w->due_ns = unwind_loader_poll(w->cfg->unwinding);
	sym_client_send(w->cfg->broker); /* tables may have been requested from it */
	w->look_ns = clock_mono_ns() + LOOK_NS;
}

/* False: the wait is over. */
static bool wait_once(struct wait *w, uint64_t now)
{
	bool looks = w->cfg->unwinding && now >= w->look_ns;
	uint64_t until = w->due_ns < w->until ? w->due_ns : w->until;
	uint64_t left;
	struct timespec ts;

	if (w->cfg->unwinding && !looks && w->look_ns < until)
		until = w->look_ns;
	left = until > now ? until - now : 0;
	ts = (struct timespec){ .tv_sec = left / SECOND_NS, .tv_nsec = left % SECOND_NS };
	w->fds[FD_RINGS].fd = w->cfg->rings ? capture_wakeups_fd(w->cfg->rings) : -1;
	w->fds[FD_BROKER].fd = w->steps > 0 ? sym_client_fd(w->cfg->broker) : -1;
	w->fds[FD_NEWS].fd = looks			  ? unwind_loader_fd(w->cfg->unwinding) :
			     w->cfg->sides && !w->hurries ? sideband_reader_fd(w->cfg->sides) :
							    -1;
	if (ppoll(w->fds, w->fd_cnt, &ts, NULL) < 0)
		return false;
	if (w->fds[FD_RINGS].revents && capture_read_wakeups(w->cfg->rings))
		return false;
	if (w->fds[FD_BROKER].revents || w->fds[FD_NEWS].revents)
		hurry(w);
	if (w->fds[FD_BROKER].revents) {
		w->steps--;
		sym_client_step(w->cfg->broker);
		if (w->cfg->unwinding && sym_client_has_table(w->cfg->broker))
			return false; /* stacks end if it is missing */
	}
	if ((looks && w->fds[FD_NEWS].revents) ||
	    (w->cfg->unwinding && clock_mono_ns() >= w->due_ns))
		poll_sources(w);
	return w->fd_cnt == FD_TARGET || !w->fds[FD_TARGET].revents;
}

void drain_timer_wait(const struct drain_timer_cfg *cfg, uint64_t now_ns, uint64_t until_ns)
{
	struct wait w = {
		.cfg = cfg, .until = until_ns, .due_ns = UINT64_MAX, .steps = BROKER_STEPS
	};
	size_t target_cnt = targets_pollfds(cfg->targets, &w.fds[FD_TARGET], TARGETS_MAX);

	w.fds[FD_BROKER].events = w.fds[FD_NEWS].events = w.fds[FD_RINGS].events = POLLIN;
	/* with several targets, the end of one is not an event */
	w.fd_cnt = FD_TARGET + (target_cnt == 1);
	if (cfg->unwinding)
		poll_sources(&w);
	for (; now_ns < w.until; now_ns = clock_mono_ns())
		if (!wait_once(&w, now_ns))
			return;
}

bool drain_timer_is_due(uint64_t *due_ns, uint64_t now_ns, uint64_t period_ns)
{
	if (now_ns < *due_ns)
		return false;
	*due_ns = now_ns + period_ns;
	return true;
}
