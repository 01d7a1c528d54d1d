// SPDX-License-Identifier: BSD-2-Clause
/* trigger_window.c - turns delays, time windows and requests into starts and pauses */
#include "record/control/trigger_window.h"

#include <stddef.h>

#include "base/clock.h"
#include "record/control/control.h"
#include "record/control/pause.h"
#include "record/control/trigger.h"

int trigger_window_prepare(struct trigger_window *w, const struct trigger_window_cfg *cfg)
{
	*w = (struct trigger_window){ .cfg = cfg };
	return cfg->control ? control_open(cfg->control, &w->control) : 0;
}

void trigger_window_fini(struct trigger_window *w)
{
	control_close(w->control);
	w->control = NULL;
}

void trigger_window_begin(struct trigger_window *w, struct capture *capture, uint64_t now_ns)
{
	struct pause_cfg cfg = {
		.capture = capture,
		.delay_ns = w->cfg->delay_ns,
		.hold = w->cfg->hold,
	};

	pause_begin(&w->pause, &cfg, now_ns);
}

int trigger_window_step(struct trigger_window *w, struct status *status)
{
	enum control_command command;
	int err = pause_step(&w->pause, status);

	while (!err && (command = control_next(w->control))) {
		if (command == CONTROL_ENABLE)
			err = pause_resume(&w->pause, status);
		else if (command == CONTROL_DISABLE)
			pause_start(&w->pause);
		else if (command == CONTROL_SNAPSHOT)
			trigger_ask(w->trigger);
		w->asked_to_stop |= command == CONTROL_STOP;
		control_ack(w->control);
	}
	return err;
}

uint64_t trigger_window_ends(const struct trigger_window *w)
{
	const uint64_t opened = w->pause.started_ns, duration = w->cfg->duration_ns;

	return opened && duration && duration <= UINT64_MAX - opened ? opened + duration :
								       UINT64_MAX;
}
