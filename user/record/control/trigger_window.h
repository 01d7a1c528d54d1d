/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_TRIGGER_WINDOW_H
#define D9_RECORD_CONTROL_TRIGGER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "record/control/pause.h"

struct capture;
struct control;
struct status;
struct trigger;

struct trigger_window_cfg {
	uint64_t delay_ns; /* the recording begins so much later, */
	bool hold; /* not before it is asked to; both 0: at once */
	uint64_t duration_ns; /* from there on; 0: until the end of the target, or a signal */
	const char *control; /* see control_open(); NULL: nobody asks for anything */
};

/* When is recorded: by the clock, or as others ask for. */
struct trigger_window {
	const struct trigger_window_cfg *cfg;
	struct pause gate;
	struct control *control; /* NULL: none */
	struct trigger *trigger; /* of snapshots, borrowed; NULL: none */
	bool asked_to_stop; /* through that */
};

/* @cfg is borrowed. Prints one line and returns -errno when nobody could ask. */
int trigger_window_prepare(struct trigger_window *w, const struct trigger_window_cfg *cfg);
/* A struct of zeros is allowed. */
void trigger_window_fini(struct trigger_window *w);

/* Records flow, or begin to wait for their time. now_ns: CLOCK_MONOTONIC. */
void trigger_window_begin(struct trigger_window *w, struct capture *capture, uint64_t now_ns);
/* Does what was asked for and what is due. To be called often. Returns what writing of it returned. */
int trigger_window_step(struct trigger_window *w, struct status *status);
/* When the duration is over (CLOCK_MONOTONIC), as far as that is known; UINT64_MAX for never. */
uint64_t trigger_window_ends(const struct trigger_window *w);

#endif
