// SPDX-License-Identifier: BSD-2-Clause
/* recorder_programs.c - loads the BPF programs of a recording without recording */
#include "record/recorder_programs.h"

#include <unistd.h>

#include "kernel/tracefs/tracefs.h"
#include "prof_select.h"
#include "record/capture/capture.h"
#include "record/recorder.h"
#include "record/recorder_capture.h"
#include "record/target/selection.h"
#include "record/tracepoint/eventset.h"

int recorder_programs(const struct recorder_cfg *cfg, bool alternatives, struct verdicts *verdicts,
		      capture_program_fn fn, void *ctx)
{
	struct eventset *events = NULL;
	struct prof_select select;
	struct capture_cfg capture;
	int fd = -1, err;

	err = selection_make(&cfg->selection, cfg->capture.system_wide, &select);
	if (!err)
		err = tracefs_open(&fd);
	if (!err)
		err = eventset_new(fd, &cfg->events, &events);
	if (!err) {
		recorder_capture_cfg(cfg, events, &select, &capture);
		err = capture_programs(&capture, alternatives, verdicts, fn, ctx);
	}
	eventset_free(events);
	if (fd >= 0)
		close(fd);
	return err;
}
