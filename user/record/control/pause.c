// SPDX-License-Identifier: BSD-2-Clause
/*
 * pause.c - starts and pauses the flow of records
 *
 * A pause is written like a loss: the state of an interval across it is unknown. It is written at its end, before
 * any later record. Its two times lie outside the pause rather than inside.
 */
#include "record/control/pause.h"

#include "base/clock.h"
#include "record/capture/capture.h"
#include "record/encode/status.h"

void pause_begin(struct pause *g, const struct pause_cfg *cfg, uint64_t now_ns)
{
	const bool waits = cfg->delay_ns || cfg->hold;

	*g = (struct pause){
		.cfg = *cfg,
		.by_itself = waits && !cfg->hold,
		.since_ns = now_ns,
		.opens_ns = now_ns + cfg->delay_ns,
	};
	if (waits)
		return;
	capture_start(cfg->capture);
	g->open = true;
	g->opened_ns = now_ns;
}

static int write_pause(struct pause *g, struct status *status, uint64_t now_ns)
{
	const bool skips_slice = g->skips_slice;

	g->skips_slice = false;
	return status_paused(status, skips_slice, g->since_ns, now_ns);
}

int pause_open(struct pause *g, struct status *status)
{
	uint64_t now;

	g->by_itself = false;
	if (g->open)
		return 0;
	capture_resume(g->cfg.capture);
	g->open = true;
	now = clock_mono_ns();
	if (!g->opened_ns)
		g->opened_ns = now;
	return write_pause(g, status, now);
}

int pause_step(struct pause *g, struct status *status)
{
	if (!g->by_itself || clock_mono_ns() < g->opens_ns)
		return 0;
	return pause_open(g, status);
}

void pause_close(struct pause *g)
{
	g->by_itself = g->skips_slice = false;
	if (!g->open)
		return;
	g->since_ns = clock_mono_ns();
	capture_pause(g->cfg.capture);
	g->open = false;
}

void pause_skip_slice(struct pause *g)
{
	if (!g->open)
		return;
	pause_close(g);
	g->skips_slice = true;
}

int pause_end_slice(struct pause *g, struct status *status)
{
	return g->skips_slice ? pause_open(g, status) : 0;
}

int pause_end(struct pause *g, struct status *status)
{
	return g->open ? 0 : write_pause(g, status, clock_mono_ns());
}
