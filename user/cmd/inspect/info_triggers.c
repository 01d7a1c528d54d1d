// SPDX-License-Identifier: BSD-2-Clause
/* The triggers of a flight recorder's snapshots in `info`: one line for each of the first triggers. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cmd/common/report_text.h"
#include "cmd/inspect/info.h"
#include "export/value_text.h"
#include "trace/read/trace.h"

static uint32_t text_id(struct names *n, struct dial9_str s)
{
	return s.ptr ? names_add(n, s.ptr, s.len) : NAMES_NONE;
}

void info_triggers_add(struct info *in, const struct trace_event *ev)
{
	struct own_trigger own = { .tid = 0 };

	if (!ev->has_ts || ev->schema->own.event != own_event(OWN_TRIGGER))
		return;
	trace_read_trigger(reader_trace(in->reader), ev, &own);
	in->too_soon += own.too_soon;
	if (in->trigger_cnt++ >= INFO_TRIGGERS_MAX)
		return;
	in->triggers[in->trigger_cnt - 1] = (struct info_trigger){
		.ts = ev->ts,
		.reason = text_id(in->names, own.reason),
		.event = text_id(in->names, own.event),
		.comm = ev->comm,
		.tid = own.tid,
		.ns = own.duration_ns,
	};
}

static void put_one(struct info *in, const struct info_trigger *t)
{
	const char *event = t->event == NAMES_NONE ? "" : names_str(in->names, t->event, NULL);

	if (t->reason == NAMES_NONE)
		buf_addch(&in->out, '?');
	else
		value_text_name(&in->out, in->names, t->reason);
	if (*event) {
		buf_addch(&in->out, ' ');
		value_text_name(&in->out, in->names, t->event);
	}
	if (t->ns) {
		buf_addch(&in->out, ' ');
		value_text_duration(&in->out, t->ns, 0);
	}
	if (t->tid) {
		buf_printf(&in->out, " of thread %" PRIu64, t->tid);
		if (t->comm != NAMES_NONE) {
			buf_addstr(&in->out, " (");
			value_text_name(&in->out, in->names, t->comm);
			buf_addch(&in->out, ')');
		}
	}
	buf_addstr(&in->out, " at ");
	report_text_time(&in->out, t->ts, 0);
	buf_addch(&in->out, '\n');
}

static size_t kept(const struct info *in)
{
	return in->trigger_cnt < INFO_TRIGGERS_MAX ? in->trigger_cnt : INFO_TRIGGERS_MAX;
}

void info_triggers_put(struct info *in)
{
	const size_t shown = kept(in);

	for (size_t i = 0; i < shown; i++) {
		buf_printf(&in->out, "%-15s ", i ? "" : "trigger");
		put_one(in, &in->triggers[i]);
	}
	if (shown < in->trigger_cnt)
		buf_printf(&in->out, "%-15s and %zu more\n", "", in->trigger_cnt - shown);
	if (in->too_soon)
		buf_printf(&in->out,
			   "%-15s %" PRIu64 " ignored: too soon after a snapshot (--rearm)\n", "",
			   in->too_soon);
}

static void json_name(struct info *in, const char *key, uint32_t name)
{
	if (name == NAMES_NONE || !*names_str(in->names, name, NULL))
		return;
	value_text_json_name(&in->out, key, in->names, name);
}

void info_triggers_json(struct info *in)
{
	const size_t shown = kept(in);

	if (!shown)
		return;
	json_object(&in->out, "triggers");
	json_u64s(&in->out, { "count", in->trigger_cnt }, { "too_soon", in->too_soon });
	json_array(&in->out, "first");
	for (size_t i = 0; i < shown; i++) {
		const struct info_trigger *t = &in->triggers[i];

		json_object(&in->out, NULL);
		json_u64(&in->out, "ts_ns", t->ts);
		json_name(in, "reason", t->reason);
		json_name(in, "event", t->event);
		if (t->ns)
			json_u64(&in->out, "duration_ns", t->ns);
		if (t->tid) {
			json_u64(&in->out, "tid", t->tid);
			json_name(in, "comm", t->comm);
		}
		json_end(&in->out, "}");
	}
	json_end(&in->out, "]}");
}
