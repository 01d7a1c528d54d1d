// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_features.c - the feature that each BPF program serves, and whether a recording can omit it
 *
 * The first row whose beginning matches a program's name applies.
 */
#include "record/capture/capture_features.h"

#include <stddef.h>
#include <string.h>

#include "prof_abi.h"
#include "record/capture/capture.h"
#include "record/tracepoint/eventset.h"

static void leave_out_orc(struct capture_cfg *cfg)
{
	cfg->no_orc = true;
}

static void leave_out_extracts(struct capture_cfg *cfg)
{
	cfg->no_extracts = true;
}

static void leave_out_marks(struct capture_cfg *cfg)
{
	cfg->no_marks = true;
}

static void leave_out_forgetting(struct capture_cfg *cfg)
{
	cfg->no_forget = true;
}

static void leave_out_tables(struct capture_cfg *cfg)
{
	cfg->call_graph = PROF_CALL_GRAPH_FP;
}

static void leave_out_samples(struct capture_cfg *cfg)
{
	cfg->samples = false;
}

static const struct {
	const char *start; /* of program names */
	struct capture_feature feature;
} rows[] = {
	{ "prof_sched_switch_orc", { "ORC kernel stacks", leave_out_orc, true, NULL } },
	{ "prof_sched_waking_orc", { "ORC kernel stacks", leave_out_orc, true, NULL } },
	{ "prof_off_cpu_switch_orc", { "ORC kernel stacks", leave_out_orc, true, NULL } },
	{ "prof_sample_orc", { "ORC kernel stacks", leave_out_orc, true, NULL } },
	{ "prof_extract_", { "events inside of other programs", leave_out_extracts, false, NULL } },
	{ "prof_mark_", { "interrupts as wakers", leave_out_marks, false, NULL } },
	{ "prof_forget_", { "reuse of thread IDs", leave_out_forgetting, false, NULL } },
	{ "prof_unwind_", { "unwind tables for user stacks", leave_out_tables, false, NULL } },
	{ "prof_sample", { "CPU samples", leave_out_samples, false, "use --no-samples" } },
	{ "prof_wait_", { "--neighbours", NULL, false, "leave out --neighbours" } },
	{ "prof_off_cpu_",
	  { "--min-block", NULL, false, "leave out --min-block and --max-block" } },
	{ "prof_summary_", { "--summary", NULL, false, "leave out --summary" } },
	{ "prof_latency_", { "--trigger-latency", NULL, false, "leave out --trigger-latency" } },
	{ "prof_select_",
	  { "selection", NULL, false, "leave out -G, -u and the other filters of tasks" } },
	{ "prof_follow_", { "children", NULL, false, "use --no-inherit" } },
	{ "prof_sched_", { "scheduler events", NULL, false, "use --no-sched" } },
	{ "prof_tracepoint", { "tracepoints", NULL, false, "use --no-sched and leave out -e" } },
};

const struct capture_feature *capture_feature_of(const char *program)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(program, rows[i].start, strlen(rows[i].start)))
			return &rows[i].feature;
	return NULL;
}

bool capture_feature_is_optional(const struct capture_feature *f, const struct capture_cfg *cfg)
{
	if (!f || !f->leave_out)
		return false;
	if (f->leave_out != leave_out_samples)
		return true;
	return cfg->events->cnt && !cfg->force_cycles && !cfg->force_cpu_clock;
}
