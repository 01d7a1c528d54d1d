/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_PAUSE_H
#define D9_RECORD_CONTROL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct status;

struct pause_cfg {
	struct capture *capture; /* borrowed */
	uint64_t delay_ns; /* until it opens by itself */
	bool hold; /* it does not */
};

/* Whether records flow. While they do not, tasks and mappings are followed all the same. */
struct pause {
	struct pause_cfg cfg;
	bool open;
	bool by_itself; /* it is still to be opened by the clock */
	bool thinned; /* it is closed for a slice of time only, to cost less */
	uint64_t since_ns; /* it is closed */
	uint64_t opened_ns; /* for the first time; 0: not yet */
	uint64_t opens_ns;
};

/* Records flow from here on, unless they are to wait. now_ns: CLOCK_MONOTONIC. */
void pause_begin(struct pause *g, const struct pause_cfg *cfg, uint64_t now_ns);
/* Opens it when it is time to. To be called often. Returns what writing of the pause returned. */
int pause_step(struct pause *g, struct status *status);
/* Opens it, and writes for how long it was closed. Nothing happens when it is open. 0 or -errno. */
int pause_open(struct pause *g, struct status *status);
/* Nothing happens when it is closed. Samples and events that were under way may still come. */
void pause_close(struct pause *g);
/*
 * Slices of time that are left out: pause_thin() closes it if it is open, pause_thin_over() opens it again if it is
 * still closed by that, and not by who asked for it. 0 or -errno.
 */
void pause_thin(struct pause *g);
int pause_thin_over(struct pause *g, struct status *status);
/* Recording is over: writes the pause that it ends in. 0 or -errno. */
int pause_end(struct pause *g, struct status *status);

#endif
