// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes of the recorder in `info`: what each has used. A pid that a later process of the recorder got
 * is a row of its own; rows beyond the limit are not kept.
 */
#include <inttypes.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/inspect/info.h"
#include "export/value_text.h"
#include "trace/read/trace.h"

static bool is_known(const struct info_process *p, const struct trace_event *ev,
		     const struct own_recorder_process *own)
{
	return p->part == ev->part && p->pid == own->pid && own->cpu_ns >= p->cpu_ns;
}

void info_processes_add(struct info *in, const struct trace_event *ev)
{
	struct own_recorder_process own = { .pid = TRACE_NONE };
	struct info_process *p = in->processes;

	if (!ev->has_ts || ev->schema->own.event != own_event(OWN_RECORDER_PROCESS))
		return;
	trace_read_recorder_process(reader_trace(in->reader), ev, &own);
	while (p < in->processes + in->process_cnt && !is_known(p, ev, &own))
		p++;
	if (p == in->processes + INFO_PROCESSES_MAX)
		return;
	in->process_cnt += p == in->processes + in->process_cnt;
	*p = (struct info_process){
		.part = ev->part,
		.pid = own.pid,
		.name = own.name.ptr ? names_add(in->names, own.name.ptr, own.name.len) :
				       NAMES_NONE,
		.cpu_ns = own.cpu_ns,
		.pss_bytes = own.pss_bytes,
		.peak_bytes = own.peak_bytes,
		.ts = ev->ts,
	};
}

static void put_one(struct info *in, const struct info_process *p)
{
	char last[32], peak[32];

	value_text_name(&in->out, in->names, p->name);
	str_bytes(last, p->pss_bytes);
	str_bytes(peak, p->peak_bytes);
	buf_printf(&in->out, " (%" PRIu32 "): CPU time %.2f s, memory %s, peak %s\n", p->pid,
		   (double)p->cpu_ns / 1e9, last, peak);
}

void info_processes_put(struct info *in, uint32_t part)
{
	const char *label = "processes";

	for (size_t i = 0; i < in->process_cnt; i++) {
		if (in->processes[i].part != part)
			continue;
		buf_printf(&in->out, "%-15s ", label);
		put_one(in, &in->processes[i]);
		label = "";
	}
}

static void json_one(struct info *in, const struct info_process *p)
{
	json_object(&in->out, NULL);
	if (p->name != NAMES_NONE)
		value_text_json_name(&in->out, "name", in->names, p->name);
	json_u64s(&in->out, { "pid", p->pid }, { "cpu_ns", p->cpu_ns },
		  { "pss_bytes", p->pss_bytes }, { "peak_bytes", p->peak_bytes },
		  { "ts_ns", p->ts });
	json_end(&in->out, "}");
}

void info_processes_json(struct info *in, uint32_t part)
{
	bool any = false;

	for (size_t i = 0; i < in->process_cnt; i++) {
		if (in->processes[i].part != part)
			continue;
		if (!any)
			json_array(&in->out, "processes");
		any = true;
		json_one(in, &in->processes[i]);
	}
	if (any)
		json_end(&in->out, "]");
}
