// SPDX-License-Identifier: BSD-2-Clause
/*
 * metadata.c - keys and values at the head of a trace: the machine, the targets, the options of the recording
 */
#include "record/encode/metadata.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/clock.h"
#include "events/emit.h"
#include "kernel/proc.h"
#include "record/encode/status.h"
#include "record/encode/user_metadata.h"
#include "record/target/selection.h"
#include "record/tracepoint/eventset.h"

#define SECOND_NS 1000000000ULL

enum { META_MAX = 32 + USER_METADATA_MAX };

struct meta {
	struct dial9_str kv[META_MAX][2];
	char numbers[META_MAX][24];
	size_t cnt;
};

static void meta_text(struct meta *m, const char *key, const char *value)
{
	m->kv[m->cnt][0] = (struct dial9_str){ key, strlen(key) };
	m->kv[m->cnt++][1] = (struct dial9_str){ value, strlen(value) };
}

static void meta_number(struct meta *m, const char *key, uint64_t value)
{
	char *text = m->numbers[m->cnt];

	snprintf(text, sizeof(m->numbers[0]), "%llu", (unsigned long long)value);
	meta_text(m, key, text);
}

static const char *stacks_name(uint32_t stacks)
{
	if (!stacks)
		return "none";
	return stacks & PROF_STACKS_KERNEL ? "both" : "user";
}

static const char *call_graph_name(uint32_t call_graph)
{
	return call_graph == PROF_CALL_GRAPH_NO ? "no" :
	       call_graph == PROF_CALL_GRAPH_FP ? "fp" :
						  "auto";
}

/* The pids of the recorder and its helper processes. */
static void meta_helpers(struct meta *m, const struct status_head *head, struct buf *text)
{
	if (!head->recorder_pid)
		return;
	meta_number(m, PROF_META_RECORDER_PID, head->recorder_pid);
	for (size_t i = 0; head->helpers && i < PROF_HELPERS_MAX && head->helpers[i]; i++)
		buf_printf(text, "%s%u", i ? "," : "", head->helpers[i]);
	if (text->len)
		meta_text(m, PROF_META_RECORDER_HELPERS, buf_cstr(text));
}

/* The targets. @texts: buffers for the values. */
static void meta_targets(struct meta *m, const struct status_head *head, struct buf texts[4])
{
	struct dial9_str text;

	meta_text(m, PROF_META_TARGET, head->target);
	if (head->command_pid)
		meta_number(m, PROF_META_TARGET_PIDS, head->command_pid);
	meta_helpers(m, head, &texts[3]);
	if (head->no_inherit)
		meta_text(m, PROF_META_INHERIT, "no");
	if (head->neighbours)
		meta_text(m, PROF_META_NEIGHBOURS, "yes");
	if (head->summary_ns)
		meta_number(m, PROF_META_SUMMARY_NS, head->summary_ns);
	if (head->by_task)
		meta_text(m, PROF_META_FOLLOWED, "told");
	if (!head->selection)
		return;
	selection_describe(head->selection, &texts[0]);
	text = emit_text(&texts[1], buf_cstr(&texts[0]), texts[0].len);
	if (text.len)
		meta_text(m, PROF_META_SELECTION, text.ptr);
	selection_describe_cpus(head->selection, &texts[2]);
	if (texts[2].len)
		meta_text(m, PROF_META_RECORDED_CPUS, buf_cstr(&texts[2]));
}

/* The filters of the selected scheduler events, if any. */
static void meta_filter(struct meta *m, const char *key, const struct eventset *set,
			enum eventset_hot event, struct buf *text)
{
	const int i = set->hot[event];
	const char *expr = i >= 0 && (size_t)i < set->cnt ? set->defs[i]->filter_text : NULL;

	if (expr)
		meta_text(m, key, emit_text(text, expr, strlen(expr)).ptr);
}

static bool has_off_cpu_events(const struct eventset *set)
{
	const int i = set->hot[EVENTSET_OFF_CPU];

	return i >= 0 && (size_t)i < set->cnt && set->defs[i]->is_stay;
}

static void meta_off_cpu(struct meta *m, const struct capture_off_cpu *off)
{
	meta_number(m, PROF_META_OFF_MIN_NS, off->min_ns);
	if (off->max_ns)
		meta_number(m, PROF_META_OFF_MAX_NS, off->max_ns);
}

/* Texts that metadata borrow. */
struct machine {
	struct utsname uts;
	struct buf host; /* in UTF-8 */
	char boot_id[PROC_BOOT_ID_SIZE + sizeof(PROF_BOOT_ID_SUSPEND)];
};

static void meta_machine(struct meta *m, struct machine *of, bool suspend)
{
	const char *name = of->uts.nodename;

	if (!uname(&of->uts)) {
		meta_text(m, PROF_META_HOST, emit_text(&of->host, name, strlen(name)).ptr);
		meta_text(m, PROF_META_KERNEL, of->uts.release);
		meta_text(m, PROF_META_ARCH, of->uts.machine);
	}
	if (!proc_read_boot_id(of->boot_id)) {
		if (suspend)
			strcat(of->boot_id, PROF_BOOT_ID_SUSPEND);
		meta_text(m, PROF_META_BOOT_ID, of->boot_id);
	}
}

int metadata_write(struct emit *emit, const struct status_head *head,
		   const struct metadata_recording *of)
{
	const struct capture_cfg *capture = capture_config(of->capture);
	const char *sampler = capture_sampler(of->capture);
	struct buf command = { 0 }, texts[4] = { 0 }, filters[2] = { 0 };
	struct meta m = { .cnt = 0 };
	struct machine machine = { .host = { 0 } };
	const bool suspend = clock_mono_id() == CLOCK_BOOTTIME;
	struct dial9_str text;
	int err;

	meta_machine(&m, &machine, suspend);
	meta_number(&m, PROF_META_CPUS, (uint64_t)of->cpus);
	text = emit_text(&command, head->command_line, strlen(head->command_line));
	meta_text(&m, PROF_META_COMMAND_LINE, text.ptr);
	meta_text(&m, PROF_META_VERSION, PROF_VERSION);
	meta_targets(&m, head, texts);
	if (head->events->hot[EVENTSET_SWITCH] < 0 && head->events->hot[EVENTSET_WAKEUP] >= 0)
		meta_text(&m, PROF_META_SWITCHES, "no");
	meta_filter(&m, PROF_META_SWITCH_FILTER, head->events, EVENTSET_SWITCH, &filters[0]);
	meta_filter(&m, PROF_META_WAKING_FILTER, head->events, EVENTSET_WAKEUP, &filters[1]);
	if (head->max_overhead_ppm)
		meta_number(&m, PROF_META_MAX_OVERHEAD_PPM, head->max_overhead_ppm);
	meta_text(&m, PROF_META_CLOCK, suspend ? "CLOCK_BOOTTIME" : "CLOCK_MONOTONIC");
	if (sampler) {
		uint32_t hz = capture_hz(of->capture);

		meta_text(&m, PROF_META_SAMPLE_EVENT, sampler);
		meta_number(&m, PROF_META_SAMPLE_HZ, hz);
		if (!strcmp(sampler, "cpu-clock"))
			meta_number(&m, PROF_META_SAMPLE_PERIOD_NS, SECOND_NS / hz);
	}
	meta_text(&m, PROF_META_SWITCH_STACKS, stacks_name(capture->switch_stacks));
	if (capture->wakeup_stacks)
		meta_text(&m, PROF_META_WAKING_STACKS, stacks_name(capture->wakeup_stacks));
	if (has_off_cpu_events(head->events))
		meta_off_cpu(&m, &capture->off_cpu);
	if (capture->event_stacks)
		meta_text(&m, PROF_META_EVENT_STACKS, stacks_name(capture->event_stacks));
	meta_text(&m, PROF_META_CALL_GRAPH, call_graph_name(capture->call_graph));
	meta_number(&m, PROF_META_RING_BYTES, capture->ring_bytes);
	meta_number(&m, PROF_META_START_REALTIME_NS, of->start_real_ns);
	for (size_t i = 0; i < head->user_cnt && m.cnt < META_MAX; i++)
		meta_text(&m, head->user[i].key, head->user[i].value);
	err = emit_metadata(emit, of->at_ns, m.kv, m.cnt);
	buf_free(&command);
	buf_free(&machine.host);
	for (size_t i = 0; i < 4; i++)
		buf_free(&texts[i]);
	for (size_t i = 0; i < 2; i++)
		buf_free(&filters[i]);
	return err;
}
