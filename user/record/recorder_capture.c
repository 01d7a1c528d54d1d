// SPDX-License-Identifier: BSD-2-Clause
/* recorder_capture.c - completes the configuration of the BPF programs */
#include "record/recorder_capture.h"

#include "record/capture/capture.h"
#include "record/recorder.h"
#include "record/unwind_maps/unwind_loader.h"

void recorder_capture_cfg(const struct recorder_cfg *cfg, const struct eventset *events,
			  const struct prof_select *select, struct capture_cfg *out)
{
	const uint32_t stacks =
		cfg->capture.switch_stacks | cfg->capture.wakeup_stacks | cfg->capture.event_stacks;

	*out = cfg->capture;
	out->events = events;
	out->select = select;
	out->follow = !cfg->no_inherit && !cfg->tid_cnt;
	out->offcpu_ns = cfg->trigger.offcpu_ns;
	out->runq_ns = cfg->trigger.runq_ns;
	/* without user stacks, mappings of processes are not needed in time */
	if (!out->samples && !(stacks & PROF_STACKS_USER))
		out->call_graph = PROF_CALL_GRAPH_NO;
	unwind_loader_size(out->system_wide, cfg->unwind_mem, &out->unwind);
	if (!(out->switch_stacks & PROF_STACKS_USER))
		out->unwind.known_cnt = 0;
}
