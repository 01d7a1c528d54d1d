/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_PAUSE_H
#define D9_RECORD_CONTROL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct status;

struct pause_cfg {
	struct capture *capture; /* borrowed */
	uint64_t delay_ns; /* until recording starts */
	bool hold; /* no automatic start */
};

/* Whether records flow. Tasks and mappings are also followed during a pause. */
struct pause {
	struct pause_cfg cfg;
	bool recording;
	bool autostarts; /* the automatic start is pending */
	bool skips_slice; /* paused for a time slice only, to reduce the overhead */
	uint64_t since_ns; /* start of the pause */
	uint64_t started_ns; /* first start of recording; 0: not yet */
	uint64_t autostart_ns; /* time of the automatic start */
};

/* Records flow from here on, unless there is a delay. now_ns: CLOCK_MONOTONIC. */
void pause_begin(struct pause *g, const struct pause_cfg *cfg, uint64_t now_ns);
/* Starts recording at the automatic start. Call it often. Returns the result of writing the pause. */
int pause_step(struct pause *g, struct status *status);
/* Ends a pause and writes it. Does nothing outside a pause. 0 or -errno. */
int pause_resume(struct pause *g, struct status *status);
/* Starts a pause. Does nothing within a pause. Unfinished samples and events may still arrive. */
void pause_start(struct pause *g);
/*
 * Skipped time slices: pause_skip_slice() pauses if not paused. pause_end_slice() ends the pause unless it was requested
 * in other ways. 0 or -errno.
 */
void pause_skip_slice(struct pause *g);
int pause_end_slice(struct pause *g, struct status *status);
/* Recording has ended: writes an unfinished pause. 0 or -errno. */
int pause_end(struct pause *g, struct status *status);

#endif
