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
		.autostarts = waits && !cfg->hold,
		.since_ns = now_ns,
		.autostart_ns = now_ns + cfg->delay_ns,
	};
	if (waits)
		return;
	capture_start(cfg->capture);
	g->recording = true;
	g->started_ns = now_ns;
}

static int write_pause(struct pause *g, struct status *status, uint64_t now_ns)
{
	const bool skips_slice = g->skips_slice;

	g->skips_slice = false;
	return status_paused(status, skips_slice, g->since_ns, now_ns);
}

int pause_resume(struct pause *g, struct status *status)
{
	uint64_t now;

	g->autostarts = false;
	if (g->recording)
		return 0;
	capture_resume(g->cfg.capture);
	g->recording = true;
	now = clock_mono_ns();
	if (!g->started_ns)
		g->started_ns = now;
	return write_pause(g, status, now);
}

int pause_step(struct pause *g, struct status *status)
{
	if (!g->autostarts || clock_mono_ns() < g->autostart_ns)
		return 0;
	return pause_resume(g, status);
}

void pause_start(struct pause *g)
{
	g->autostarts = g->skips_slice = false;
	if (!g->recording)
		return;
	g->since_ns = clock_mono_ns();
	capture_pause(g->cfg.capture);
	g->recording = false;
}

void pause_skip_slice(struct pause *g)
{
	if (!g->recording)
		return;
	pause_start(g);
	g->skips_slice = true;
}

int pause_end_slice(struct pause *g, struct status *status)
{
	return g->skips_slice ? pause_resume(g, status) : 0;
}

int pause_end(struct pause *g, struct status *status)
{
	return g->recording ? 0 : write_pause(g, status, clock_mono_ns());
}
