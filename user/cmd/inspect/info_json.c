// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof info --json`: one object with everything that the text form says, exact and unrounded.
 */
#include <stdlib.h>

#include "base/json.h"
#include "cmd/common/report_text.h"
#include "cmd/inspect/info.h"
#include "export/unwind_status.h"

static void json_meta(struct info *in, uint32_t part)
{
	const struct part *p = names_part(in->names, part);

	json_object(&in->out, "metadata");
	for (size_t i = 0; i < p->meta_cnt; i++) {
		value_text_json_name(&in->out, NULL, in->names, p->meta[i].key);
		buf_addch(&in->out, ':');
		value_text_json_name(&in->out, NULL, in->names, p->meta[i].value);
	}
	json_end(&in->out, "}");
}

static void json_time(struct info *in, uint32_t part)
{
	const struct event_counts_part *c = event_counts_part(&in->counts, part);
	const struct part *p = names_part(in->names, part);

	if (!c->has_ts)
		return;
	json_u64s(&in->out, { "first_ns", c->first_ts }, { "last_ns", c->last_ts });
	if (p->synced)
		json_u64(&in->out, "start_realtime_ns", p->real + (c->first_ts - p->mono));
}

static void json_loss(struct info *in, const struct event_counts_part *c)
{
	json_array(&in->out, "lost");
	for (size_t i = 0; i < c->loss_cnt; i++) {
		json_object(&in->out, NULL);
		value_text_json_name(&in->out, "kind", in->names, c->losses[i].kind);
		json_u64s(&in->out, { "count", c->losses[i].count },
			  { "first_ns", c->losses[i].first_ns },
			  { "last_ns", c->losses[i].last_ns });
		json_end(&in->out, "}");
	}
	json_end(&in->out, "]");
}

static void json_account(struct info *in, const struct event_counts_part *c)
{
	static const char *const verdicts[] = {
		[LOSS_ACCOUNTING_UNKNOWN] = "unknown",	   [LOSS_ACCOUNTING_BALANCED] = "balanced",
		[LOSS_ACCOUNTING_CONTINUES] = "continued", [LOSS_ACCOUNTING_OPEN] = "open",
		[LOSS_ACCOUNTING_WRONG] = "wrong",
	};
	const struct loss_accounting_figures *f = &c->stats.figures;

	json_object(&in->out, "accounting");
	json_str(&in->out, "verdict", verdicts[loss_accounting_verdict(f)]);
	report_text_json_account(&in->out, &c->account);
	json_end(&in->out, "}");
}

/* When the object has a counter: the last column of OWN_STATS_FIELDS(). */
enum has { HAS_ALWAYS, HAS_FIELD, HAS_STACKS, HAS_LATE, HAS_NEVER };

static bool has_counter(const struct event_counts_stats *s, size_t i, enum has when)
{
	switch (when) {
	case HAS_ALWAYS:
		return true;
	case HAS_FIELD:
		return s->fields >> i & 1;
	case HAS_STACKS:
		return s->v.kernel_stacks_walked || s->v.kernel_stacks_helped;
	case HAS_LATE:
		return s->v.waited_ns || s->v.output_full_ns;
	case HAS_NEVER:
		break;
	}
	return false;
}

static void json_stats(struct info *in, const struct event_counts_part *c)
{
	static const struct {
		const char *name;
		size_t off;
		enum has when;
	} counters[] = {
#define COUNTER(type, member, unit, kind, doc, when)                                               \
	{ #member, offsetof(struct own_stats, member), HAS_##when },
		OWN_STATS_FIELDS(COUNTER)
#undef COUNTER
	};
	const struct event_counts_stats *s = &c->stats;
	const struct loss_accounting_figures *f = &s->figures;

	if (!f->known)
		return;
	json_object(&in->out, "stats");
	json_u64s(&in->out, { "in_flight", loss_accounting_in_flight(f) },
		  { "written_here", c->tracepoints });
	json_bool(&in->out, "balanced", loss_accounting_verdict(f) == LOSS_ACCOUNTING_BALANCED);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (has_counter(s, i, counters[i].when))
			json_u64(&in->out, counters[i].name,
				 *(const uint64_t *)((const char *)&s->v + counters[i].off));
	json_end(&in->out, "}");
}

static void json_types(struct info *in)
{
	const struct event_counts *c = &in->counts;

	json_array(&in->out, "types");
	for (size_t i = 0; i < c->type_cnt; i++) {
		json_object(&in->out, NULL);
		value_text_json_name(&in->out, "name", in->names, c->types[i].name);
		json_u64s(&in->out, { "events", c->types[i].events },
			  { "bytes", c->types[i].bytes });
		json_end(&in->out, "}");
	}
	json_end(&in->out, "]");
}

static void json_modules(struct info *in)
{
	size_t cnt;
	struct event_counts_module *v = event_counts_modules(&in->counts, in->names, &cnt);

	json_array(&in->out, "modules");
	for (size_t i = 0; i < cnt; i++) {
		const struct names_module *m = names_module(in->names, v[i].module);

		json_object(&in->out, NULL);
		value_text_json_name(&in->out, "path", in->names,
				     v[i].module ? m->path : NAMES_NONE);
		json_hex(&in->out, "build_id", m->build_id, m->build_id_sz);
		json_u64s(&in->out, { "addresses", v[i].frames }, { "unnamed", v[i].unnamed });
		value_text_json_name(&in->out, "status", in->names,
				     v[i].module ? m->status : NAMES_NONE);
		value_text_json_name(&in->out, "detail", in->names,
				     v[i].module ? m->detail : NAMES_NONE);
		json_end(&in->out, "}");
	}
	json_end(&in->out, "]");
	free(v);
}

/* A field's annotations; nothing if there are none. */
static void json_meaning(struct info *in, const struct field_units *m)
{
	const char *kind = m->kind_declared ? field_units_kind_name(m->kind) : NULL;
	const bool unit = m->unit_declared && m->unit != NAMES_NONE;
	const bool names = m->names != NAMES_NONE;

	if (!kind && !unit && !names)
		return;
	json_object(&in->out, NULL);
	if (kind)
		json_str(&in->out, "kind", kind);
	if (unit)
		value_text_json_name(&in->out, "unit", in->names, m->unit);
	if (names)
		value_text_json_name(&in->out, "enum", in->names, m->names);
	json_end(&in->out, "}");
}

static void json_schemas(struct info *in)
{
	struct trace_schema *const *v;
	size_t cnt;

	v = trace_schemas(reader_trace(in->reader), &cnt);
	json_array(&in->out, "schemas");
	for (size_t i = 0; i < cnt; i++) {
		if (!trace_schema_is_real(v[i]))
			continue;
		json_object(&in->out, NULL);
		value_text_json_name(&in->out, "name", in->names, v[i]->name);
		json_bool(&in->out, "has_ts", dial9_schema_has_timestamp(v[i]->schema));
		json_array(&in->out, "fields");
		for (size_t f = 0; f < v[i]->field_cnt; f++) {
			json_array(&in->out, NULL);
			value_text_json_name(&in->out, NULL, in->names, v[i]->field_names[f]);
			json_str(&in->out, NULL,
				 dial9_type_name(dial9_schema_field_type(v[i]->schema, f)));
			json_meaning(in, trace_field_units(v[i], f));
			json_end(&in->out, "]");
		}
		json_end(&in->out, "]}");
	}
	json_end(&in->out, "]");
}

static void json_part(struct info *in, uint32_t part)
{
	const struct event_counts_part *c = event_counts_part(&in->counts, part);

	json_meta(in, part);
	json_time(in, part);
	json_loss(in, c);
	json_account(in, c);
	json_stats(in, c);
	info_costs_json(in, &c->costs);
	info_processes_json(in, part);
}

/* Two parts with the same number of their clock have times that compare. */
static void json_parts(struct info *in)
{
	const struct parts *p = &in->names->parts;

	json_array(&in->out, "parts");
	for (uint32_t i = 0; i < p->cnt; i++) {
		const struct event_counts_part *c = event_counts_part(&in->counts, i);

		json_object(&in->out, NULL);
		json_u64s(&in->out, { "part", i + 1 }, { "offset", p->v[i].begin },
			  { "clock", p->v[i].clock + 1 }, { "events", c->events },
			  { "samples", c->samples }, { "switch_stacks", c->switch_stacks });
		json_part(in, i);
		if (p->v[i].merged) {
			json_u64(&in->out, "base", p->v[i].base + 1);
			json_i64(&in->out, "shift_ns", p->v[i].shift_ns);
		}
		json_end(&in->out, "}");
	}
	json_end(&in->out, "]");
}

const struct info_use info_uses[INFO_USE_CNT] = {
	{ TRACE_USES_STACK_POOL, "pooled stacks", "pooled_stacks" },
	{ TRACE_USES_ANNOTATIONS, "annotations", "annotations" },
	{ TRACE_USES_NESTING, "nested values", "nested_values" },
};

static void json_level(struct info *in)
{
	const unsigned int uses = trace_uses(reader_trace(in->reader));

	json_str(&in->out, "level", uses ? "0.4" : "0.3");
	json_array(&in->out, "level_features");
	for (size_t i = 0; i < INFO_USE_CNT; i++) {
		if (uses & info_uses[i].bit)
			json_str(&in->out, NULL, info_uses[i].json);
	}
	json_end(&in->out, "]");
}

void info_json(struct info *in)
{
	const char *file = reader_input(in->reader);
	const bool newer = reader_is_newer(in->reader);
	const bool damaged = reader_is_damaged(in->reader);

	value_text_json_begin(&in->out);
	json_str(&in->out, "file", file);
	if (reader_first_number(in->reader))
		json_u64(&in->out, "first_file", reader_first_number(in->reader));
	json_level(in);
	json_bool(&in->out, "truncated", in->torn && !newer && !damaged);
	json_bool(&in->out, "newer", newer);
	json_bool(&in->out, "damaged", damaged);
	json_u64s(&in->out, { "segments", in->names->segment }, { "events", in->counts.events },
		  { "recorded_events", event_counts_tracepoints(&in->counts) },
		  { "bytes", in->bytes }, { "overhead_bytes", in->overhead_bytes },
		  { "samples", in->counts.samples }, { "switch_stacks", in->counts.switch_stacks });
	if (in->names->parts.cnt == 1) {
		json_part(in, 0);
	} else {
		json_parts(in);
	}
	if (in->counts.ends.stacks)
		unwind_status_json(&in->out, "user_stacks", &in->counts.ends, in->names);
	info_triggers_json(in);
	json_types(in);
	json_modules(in);
	if (in->opts->schemas)
		json_schemas(in);
	json_object(&in->out, "workers");
	json_u64s(&in->out, { "crashed", in->counts.crashes }, { "hung", in->counts.hangs });
	json_end(&in->out, "}}\n");
}
