// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof info --json`: one object with everything that the text form says, exact and unrounded.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/inspect/info.h"
#include "export/unwind_status.h"

static void json_meta(struct info *in, uint32_t part)
{
	const struct part *p = names_part(in->names, part);

	buf_addstr(&in->out, "\"metadata\":{");
	for (size_t i = 0; i < p->meta_cnt; i++) {
		buf_addstr(&in->out, i ? "," : "");
		name_text_json_name(&in->out, in->names, p->meta[i].key);
		buf_addch(&in->out, ':');
		name_text_json_name(&in->out, in->names, p->meta[i].value);
	}
	buf_addch(&in->out, '}');
}

static void json_time(struct info *in, uint32_t part)
{
	const struct event_counts_part *c = event_counts_part(&in->counts, part);
	const struct part *p = names_part(in->names, part);

	if (!c->has_ts)
		return;
	buf_printf(&in->out, ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64, c->first_ts,
		   c->last_ts);
	if (p->synced)
		buf_printf(&in->out, ",\"start_realtime_ns\":%" PRIu64,
			   p->real + (c->first_ts - p->mono));
}

static void json_loss(struct info *in, const struct event_counts_part *c)
{
	buf_addstr(&in->out, ",\"lost\":[");
	for (size_t i = 0; i < c->loss_cnt; i++) {
		buf_addstr(&in->out, i ? ",{\"kind\":" : "{\"kind\":");
		name_text_json_name(&in->out, in->names, c->losses[i].kind);
		buf_printf(&in->out,
			   ",\"count\":%" PRIu64 ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64
			   "}",
			   c->losses[i].count, c->losses[i].first_ns, c->losses[i].last_ns);
	}
	buf_addch(&in->out, ']');
}

static void json_account(struct info *in, const struct event_counts_part *c)
{
	static const char *const verdicts[] = {
		[LOSS_ACCOUNTING_UNKNOWN] = "unknown",	 [LOSS_ACCOUNTING_BALANCED] = "balanced",
		[LOSS_ACCOUNTING_CONTINUES] = "goes_on", [LOSS_ACCOUNTING_OPEN] = "open",
		[LOSS_ACCOUNTING_WRONG] = "wrong",
	};
	const struct loss_accounting_figures *f = &c->stats.figures;

	buf_printf(&in->out, ",\"account\":{\"verdict\":\"%s\",",
		   verdicts[loss_accounting_verdict(f)]);
	report_text_json_account(&in->out, &c->account);
	buf_addch(&in->out, '}');
}

static void json_stats(struct info *in, const struct event_counts_part *c)
{
	const struct event_counts_stats *s = &c->stats;
	const struct loss_accounting_figures *f = &s->figures;

	if (!f->known)
		return;
	buf_printf(&in->out,
		   ",\"stats\":{\"elapsed_ns\":%" PRIu64 ",\"produced\":%" PRIu64
		   ",\"written\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"under_way\":%" PRIu64
		   ",\"written_here\":%" PRIu64 ",\"balanced\":%s"
		   ",\"samples\":%" PRIu64 ",\"bpf_ns\":%" PRIu64 ",\"bpf_runs\":%" PRIu64
		   ",\"cpu_ns\":%" PRIu64 ",\"realtime_ns\":%" PRIu64 ",\"end_cpu_ns\":%" PRIu64
		   ",\"rss_bytes\":%" PRIu64 ",\"ring_fill_max_bytes\":%" PRIu64
		   ",\"bytes_written\":%" PRIu64,
		   s->elapsed_ns, f->produced, f->written, f->lost, loss_accounting_in_flight(f),
		   c->tracepoints,
		   loss_accounting_verdict(f) == LOSS_ACCOUNTING_BALANCED ? "true" : "false",
		   s->samples, s->bpf_ns, s->bpf_runs, s->cpu_ns, s->realtime_ns, s->end_cpu_ns,
		   s->rss_bytes, s->ring_fill_max_bytes, s->bytes_written);
	if (s->has_unwinding)
		buf_printf(&in->out,
			   ",\"unwind_tables\":%" PRIu64 ",\"unwind_evicted\":%" PRIu64
			   ",\"unwind_tables_left_out\":%" PRIu64 ",\"unwind_bytes\":%" PRIu64
			   ",\"unwind_lists\":%" PRIu64 ",\"unwind_lists_left_out\":%" PRIu64
			   ",\"unwind_modules_left_out\":%" PRIu64,
			   s->unwind_tables, s->unwind_evicted, s->unwind_tables_left_out,
			   s->unwind_bytes, s->unwind_lists, s->unwind_lists_left_out,
			   s->unwind_modules_left_out);
	if (s->kernel_stacks_walked || s->kernel_stacks_helped)
		buf_printf(&in->out,
			   ",\"kernel_stacks_walked\":%" PRIu64 ",\"kernel_stacks_helped\":%" PRIu64
			   ",\"user_stacks_reused\":%" PRIu64 ",\"stacks_compared\":%" PRIu64
			   ",\"stacks_differing\":%" PRIu64,
			   s->kernel_stacks_walked, s->kernel_stacks_helped, s->user_stacks_reused,
			   s->stacks_compared, s->stacks_differing);
	if (s->waited_ns || s->output_full_ns)
		buf_printf(&in->out, ",\"waited_ns\":%" PRIu64 ",\"output_full_ns\":%" PRIu64,
			   s->waited_ns, s->output_full_ns);
	buf_addch(&in->out, '}');
}

static void json_types(struct info *in)
{
	const struct event_counts *c = &in->counts;

	buf_addstr(&in->out, ",\"types\":[");
	for (size_t i = 0; i < c->type_cnt; i++) {
		buf_addstr(&in->out, i ? ",{\"name\":" : "{\"name\":");
		name_text_json_name(&in->out, in->names, c->types[i].name);
		buf_printf(&in->out, ",\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
			   c->types[i].events, c->types[i].bytes);
	}
	buf_addch(&in->out, ']');
}

static void json_modules(struct info *in)
{
	size_t cnt;
	struct event_counts_module *v = event_counts_modules(&in->counts, in->names, &cnt);

	buf_addstr(&in->out, ",\"modules\":[");
	for (size_t i = 0; i < cnt; i++) {
		const struct names_module *m = names_module(in->names, v[i].module);

		buf_addstr(&in->out, i ? ",{\"path\":" : "{\"path\":");
		name_text_json_name(&in->out, in->names, v[i].module ? m->path : NAMES_NONE);
		buf_addstr(&in->out, ",\"build_id\":\"");
		str_hex(&in->out, m->build_id, m->build_id_sz);
		buf_printf(&in->out, "\",\"addresses\":%" PRIu64 ",\"unnamed\":%" PRIu64,
			   v[i].frames, v[i].unnamed);
		buf_addstr(&in->out, ",\"status\":");
		name_text_json_name(&in->out, in->names, v[i].module ? m->status : NAMES_NONE);
		buf_addstr(&in->out, ",\"detail\":");
		name_text_json_name(&in->out, in->names, v[i].module ? m->detail : NAMES_NONE);
		buf_addch(&in->out, '}');
	}
	buf_addch(&in->out, ']');
	free(v);
}

/* What the trace says of a field; nothing when that is nothing. */
static void json_meaning(struct info *in, const struct field_units *m)
{
	const char *kind = m->kind_declared ? field_units_kind_name(m->kind) : NULL;
	const bool unit = m->unit_declared && m->unit != NAMES_NONE;
	const bool names = m->names != NAMES_NONE;

	if (!kind && !unit && !names)
		return;
	buf_addstr(&in->out, ",{");
	if (kind)
		buf_printf(&in->out, "\"kind\":\"%s\"%s", kind, unit || names ? "," : "");
	if (unit) {
		buf_addstr(&in->out, "\"unit\":");
		name_text_json_name(&in->out, in->names, m->unit);
	}
	if (names) {
		buf_addstr(&in->out, unit ? ",\"enum\":" : "\"enum\":");
		name_text_json_name(&in->out, in->names, m->names);
	}
	buf_addch(&in->out, '}');
}

static void json_schemas(struct info *in)
{
	struct trace_schema *const *v;
	const char *sep = "";
	size_t cnt;

	v = trace_schemas(reader_trace(in->reader), &cnt);
	buf_addstr(&in->out, ",\"schemas\":[");
	for (size_t i = 0; i < cnt; i++) {
		if (!trace_schema_is_real(v[i]))
			continue;
		buf_printf(&in->out, "%s{\"name\":", sep);
		sep = ",";
		name_text_json_name(&in->out, in->names, v[i]->name);
		buf_printf(&in->out, ",\"has_ts\":%s,\"fields\":[",
			   dial9_schema_has_timestamp(v[i]->schema) ? "true" : "false");
		for (size_t f = 0; f < v[i]->field_cnt; f++) {
			buf_addstr(&in->out, f ? ",[" : "[");
			name_text_json_name(&in->out, in->names, v[i]->field_names[f]);
			buf_printf(&in->out, ",\"%s\"",
				   dial9_type_name(dial9_schema_field_type(v[i]->schema, f)));
			json_meaning(in, trace_field_units(v[i], f));
			buf_addch(&in->out, ']');
		}
		buf_addstr(&in->out, "]}");
	}
	buf_addch(&in->out, ']');
}

static void json_part(struct info *in, uint32_t part)
{
	const struct event_counts_part *c = event_counts_part(&in->counts, part);

	json_meta(in, part);
	json_time(in, part);
	json_loss(in, c);
	json_account(in, c);
	json_stats(in, c);
}

/* Two parts with the same number of their clock have times that compare. */
static void json_parts(struct info *in)
{
	const struct parts *p = &in->names->parts;

	buf_addstr(&in->out, ",\"parts\":[");
	for (uint32_t i = 0; i < p->cnt; i++) {
		const struct event_counts_part *c = event_counts_part(&in->counts, i);

		buf_printf(&in->out,
			   "%s{\"part\":%u,\"offset\":%" PRIu64 ",\"clock\":%u,\"events\":%" PRIu64
			   ",\"samples\":%" PRIu64 ",\"switch_stacks\":%" PRIu64 ",",
			   i ? "," : "", i + 1, p->v[i].begin, p->v[i].clock + 1, c->events,
			   c->samples, c->switch_stacks);
		json_part(in, i);
		if (p->v[i].merged)
			buf_printf(&in->out, ",\"base\":%u,\"shift_ns\":%" PRId64, p->v[i].base + 1,
				   p->v[i].shift_ns);
		buf_addch(&in->out, '}');
	}
	buf_addch(&in->out, ']');
}

const struct info_use info_uses[INFO_USE_CNT] = {
	{ TRACE_USES_STACK_POOL, "pooled stacks", "pooled_stacks" },
	{ TRACE_USES_ANNOTATIONS, "annotations", "annotations" },
	{ TRACE_USES_NESTING, "nested values", "nested_values" },
};

static void json_level(struct info *in)
{
	const unsigned int uses = trace_uses(reader_trace(in->reader));
	const char *sep = "";

	buf_printf(&in->out, ",\"level\":\"%s\",\"level_features\":[", uses ? "0.4" : "0.3");
	for (size_t i = 0; i < INFO_USE_CNT; i++) {
		if (!(uses & info_uses[i].bit))
			continue;
		buf_printf(&in->out, "%s\"%s\"", sep, info_uses[i].json);
		sep = ",";
	}
	buf_addch(&in->out, ']');
}

void info_json(struct info *in)
{
	const char *file = reader_input(in->reader);
	bool newer = reader_is_newer(in->reader);

	name_text_json_begin(&in->out);
	buf_addstr(&in->out, ",\"file\":");
	str_json(&in->out, file, strlen(file));
	if (reader_first_number(in->reader))
		buf_printf(&in->out, ",\"first_file\":%" PRIu64, reader_first_number(in->reader));
	json_level(in);
	buf_printf(&in->out,
		   ",\"torn\":%s,\"newer\":%s,\"segments\":%" PRIu64 ",\"events\":%" PRIu64
		   ",\"bytes\":%" PRIu64 ",\"overhead_bytes\":%" PRIu64 ",\"samples\":%" PRIu64
		   ",\"switch_stacks\":%" PRIu64,
		   in->torn && !newer ? "true" : "false", newer ? "true" : "false",
		   in->names->segment, in->counts.events, in->bytes, in->overhead_bytes,
		   in->counts.samples, in->counts.switch_stacks);
	if (in->names->parts.cnt == 1) {
		buf_addch(&in->out, ',');
		json_part(in, 0);
	} else {
		json_parts(in);
	}
	if (in->counts.ends.stacks) {
		buf_addstr(&in->out, ",\"user_stacks\":");
		unwind_status_json(&in->out, &in->counts.ends, in->names);
	}
	info_triggers_json(in);
	json_types(in);
	json_modules(in);
	if (in->opts->schemas)
		json_schemas(in);
	buf_printf(&in->out, ",\"workers\":{\"crashed\":%" PRIu64 ",\"hung\":%" PRIu64 "}",
		   in->counts.crashes, in->counts.hangs);
	buf_addstr(&in->out, "}\n");
}
