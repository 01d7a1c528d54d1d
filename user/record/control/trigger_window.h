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
	uint64_t delay_ns; /* delay before recording, */
	bool hold; /* or no start until requested; both 0: at once */
	uint64_t duration_ns; /* after the start; 0: until the end of the target, or a signal */
	const char *control; /* see control_open(); NULL: none */
};

/* When to record: by the clock or by commands. */
struct trigger_window {
	const struct trigger_window_cfg *cfg;
	struct pause pause;
	struct control *control; /* NULL: none */
	struct trigger *trigger; /* for snapshots, borrowed; NULL: none */
	bool asked_to_stop; /* by a command */
};

/* @cfg is borrowed. Prints one line and returns -errno if the source of commands cannot be opened. */
int trigger_window_prepare(struct trigger_window *w, const struct trigger_window_cfg *cfg);
/* A struct of zeros is allowed. */
void trigger_window_fini(struct trigger_window *w);

/* Starts recording, or the delay before it. now_ns: CLOCK_MONOTONIC. */
void trigger_window_begin(struct trigger_window *w, struct capture *capture, uint64_t now_ns);
/* Handles commands and due times. Call it often. Returns the result of writing. */
int trigger_window_step(struct trigger_window *w, struct status *status);
/* End of the duration (CLOCK_MONOTONIC) if known; UINT64_MAX: never. */
uint64_t trigger_window_ends(const struct trigger_window *w);

#endif
