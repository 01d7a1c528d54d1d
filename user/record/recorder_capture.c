// SPDX-License-Identifier: BSD-2-Clause
/* recorder_capture.c - completes the configuration of the BPF programs */
#include "record/recorder_capture.h"

#include "record/capture/capture.h"
#include "record/recorder.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"
#include "record/unwind_maps/unwind_loader.h"

static uint32_t all_stacks(const struct capture_cfg *cfg)
{
	return cfg->switch_stacks | cfg->wakeup_stacks | cfg->event_stacks;
}

void recorder_capture_cfg(const struct recorder_cfg *cfg, const struct eventset *events,
			  const struct prof_select *select, struct capture_cfg *out)
{
	const uint32_t stacks = all_stacks(&cfg->capture);

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

bool recorder_capture_has_kernel_code(const struct recorder_cfg *cfg, const struct eventset *events)
{
	size_t i;

	for (i = 0; i < events->cnt; i++)
		if (events->defs[i]->any_code)
			return true;
	return cfg->capture.samples || all_stacks(&cfg->capture) & PROF_STACKS_KERNEL;
}
