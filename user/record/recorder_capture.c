// SPDX-License-Identifier: BSD-2-Clause
/* recorder_capture.c - what the kernel side of a recording is to do, from what was asked for */
#include "record/recorder_capture.h"

#include "record/capture/capture.h"
#include "record/recorder.h"
#include "record/unwind_maps/unwind_loader.h"

/* Where no user stacks are recorded, no process's mappings are needed in time. */
static uint32_t call_graph(const struct recorder_cfg *cfg)
{
	const uint32_t stacks = cfg->switch_stacks | cfg->wakeup_stacks | cfg->event_stacks;

	return cfg->samples || stacks & PROF_STACKS_USER ? cfg->call_graph : PROF_CALL_GRAPH_NO;
}

void recorder_capture_cfg(const struct recorder_cfg *cfg, const struct eventset *events,
			  const struct prof_select *select, struct capture_cfg *out)
{
	*out = (struct capture_cfg){
		.events = events,
		.system_wide = cfg->system_wide,
		.follow = !cfg->no_inherit && !cfg->tid_cnt,
		.select = select,
		.include_self = cfg->include_self,
		.samples = cfg->samples,
		.force_cpu_clock = cfg->force_cpu_clock,
		.force_cycles = cfg->force_cycles,
		.hz = cfg->hz,
		.switch_stacks = cfg->switch_stacks,
		.wakeup_stacks = cfg->wakeup_stacks,
		.event_stacks = cfg->event_stacks,
		.off_cpu = cfg->off_cpu,
		.call_graph = call_graph(cfg),
		.max_stack = cfg->max_stack,
		.btf = cfg->btf,
		.no_orc = cfg->no_orc,
		.verify_stacks = cfg->verify_stacks,
		.ring_bytes = cfg->ring_bytes,
		.ring_max = cfg->ring_max,
		.summary = cfg->summary_ns,
		.offcpu_ns = cfg->trigger.offcpu_ns,
		.runq_ns = cfg->trigger.runq_ns,
	};
	unwind_loader_size(cfg->system_wide, cfg->unwind_mem, &out->unwind);
	if (!(cfg->switch_stacks & PROF_STACKS_USER))
		out->unwind.known_cnt = 0;
}
