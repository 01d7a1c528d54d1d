/* SPDX-License-Identifier: BSD-2-Clause */
/* recorder_impl.h - shared by recorder.c and recorder_setup.c */
#ifndef D9_RECORD_RECORDER_IMPL_H
#define D9_RECORD_RECORDER_IMPL_H

#include "kernel/realtime.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "record/control/load_shedding.h"
#include "record/control/cache_limit.h"
#include "record/control/trigger_window.h"
#include "record/recorder.h"

struct recorder {
	const struct recorder_cfg *cfg;
	struct recorder_result *result;

	/* targets and events */
	int tracefs_fd;
	struct eventset *events;
	struct targets *targets;
	struct prof_select select;
	struct launch *launch; /* NULL: no command */
	struct exec_probe *exec_probe; /* NULL: none */
	struct capture *capture;

	/* data that records refer to */
	struct sym_client *broker;
	uint32_t helpers[PROF_HELPERS_MAX]; /* as in the trace; 0: no more */
	struct proc_reader *proc_reader; /* NULL: none */
	struct tasks *tasks;
	struct frames *frames;
	struct stacks *stacks;
	struct kallsyms_thread *kallsyms;
	struct unwind_loader *unwind; /* NULL: user stacks are not unwound */
	struct sideband_reader *sideband; /* NULL: unwind reads it, or it is not needed */

	/* from records to bytes */
	struct pipeline *pipeline;
	struct translate *translate;
	struct kernel_summary *summary; /* NULL: events are recorded */
	struct status *status;
	struct segments *segments;
	struct flight *flight; /* NULL: no flight recorder */

	/* control */
	struct notify *notify;
	struct trigger_window window;
	struct trigger *trigger; /* NULL: no flight recorder */
	struct load_shedding shedding;
	struct realtime realtime;
	unsigned int delayed; /* pipeline_delayed(), also read by the thread of realtime */
	struct cache_limit memory;
	uint64_t max_cost_ns; /* CPU time per second that --max-overhead allows; 0: any */
	uint64_t capabilities; /* kept while recording */
	uint64_t start_ns, progress_due_ns, loss_due_ns, cpus_due_ns, flush_due_ns;
};

#endif
