// SPDX-License-Identifier: BSD-2-Clause
/*
 * drain_timer.c - waits for the next pass of the drain
 *
 * One event of the broker or of new mappings is followed by others within less than a millisecond. So the first one
 * starts a short delay, after which all of them are handled together: two wakeups instead of one for each event.
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
	LOOK_NS = 500000, /* from an event to its handling */
};

enum { FD_BROKER, FD_NEWS, FD_RINGS, FD_TARGET };

struct wait {
	const struct drain_timer_cfg *cfg;
	struct pollfd fds[TARGETS_MAX + FD_TARGET];
	size_t fd_cnt;
	uint64_t until;
	uint64_t look_ns; /* events are handled at this time */
	uint64_t due_ns; /* the unwind loader has work at this time */
	int steps; /* of the broker, remaining */
	bool has_answers, has_news; /* not handled yet */
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
	const uint64_t due = unwind_loader_poll(w->cfg->unwinding);

	sym_client_send(w->cfg->broker); /* tables may have been requested from it */
	w->has_news = false;
	w->look_ns = clock_mono_ns() + LOOK_NS;
	w->due_ns = due > w->look_ns ? due : w->look_ns;
}

static bool is_pending(const struct wait *w)
{
	return w->has_answers || w->has_news;
}

/* The descriptors of events that are not known yet. */
static void choose_fds(struct wait *w)
{
	const struct drain_timer_cfg *cfg = w->cfg;

	w->fds[FD_RINGS].fd = cfg->rings ? capture_wakeups_fd(cfg->rings) : -1;
	w->fds[FD_BROKER].fd = w->steps > 0 && !w->has_answers ? sym_client_fd(cfg->broker) : -1;
	w->fds[FD_NEWS].fd = -1;
	if (cfg->unwinding && !w->has_news)
		w->fds[FD_NEWS].fd = unwind_loader_fd(cfg->unwinding);
	else if (!cfg->unwinding && cfg->sides && !w->hurries)
		w->fds[FD_NEWS].fd = sideband_reader_fd(cfg->sides);
}

static void note_events(struct wait *w)
{
	if (!w->fds[FD_BROKER].revents && !w->fds[FD_NEWS].revents)
		return;
	hurry(w);
	if (!is_pending(w))
		w->look_ns = clock_mono_ns() + LOOK_NS;
	w->has_answers |= w->fds[FD_BROKER].revents != 0;
	w->has_news |= w->cfg->unwinding && w->fds[FD_NEWS].revents;
}

/* False: the wait is over. */
static bool handle_events(struct wait *w)
{
	const uint64_t now = clock_mono_ns();
	const bool looks = is_pending(w) && now >= w->look_ns;

	if (looks && w->has_answers) {
		w->has_answers = false;
		w->steps--;
		sym_client_step(w->cfg->broker);
		if (w->cfg->unwinding && sym_client_has_table(w->cfg->broker))
			return false; /* stacks end if it is missing */
	}
	if ((looks && w->has_news) || now >= w->due_ns)
		poll_sources(w);
	return true;
}

/* False: the wait is over. */
static bool wait_once(struct wait *w, uint64_t now)
{
	uint64_t until = w->due_ns < w->until ? w->due_ns : w->until;
	uint64_t left;
	struct timespec ts;

	if (is_pending(w) && w->look_ns < until)
		until = w->look_ns;
	left = until > now ? until - now : 0;
	ts = (struct timespec){ .tv_sec = left / SECOND_NS, .tv_nsec = left % SECOND_NS };
	choose_fds(w);
	if (ppoll(w->fds, w->fd_cnt, &ts, NULL) < 0)
		return false;
	if (w->fds[FD_RINGS].revents && capture_read_wakeups(w->cfg->rings))
		return false;
	if (w->fd_cnt > FD_TARGET && w->fds[FD_TARGET].revents)
		return false;
	note_events(w);
	return handle_events(w);
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
