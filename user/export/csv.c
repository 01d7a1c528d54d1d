// SPDX-License-Identifier: BSD-2-Clause
/*
 * Comma-separated values (RFC 4180, but lines end with LF; one header): a row for each sample, interval and event.
 * Owns the columns; missing values are empty.
 */
#include <string.h>

#include "base/bytes_cache.h"
#include "export/csv_cell.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/script_line.h"
#include "profile/sched/intervals.h"

#define STACKS_KEPT (1u << 14)
#define STACK_BYTES_KEPT (16u << 20)

struct csv {
	struct buf text;
	struct bytes_cache stacks; /* frames -> their cell */
};

static void csv_begin(struct export *x)
{
	struct csv *c = x->state;

	c->stacks.slot_cnt = STACKS_KEPT;
	c->stacks.bytes_max = STACK_BYTES_KEPT;
	buf_addstr(&x->out, "what,start_ns,end_ns,ns,cpu,pid,tid,thread,state,waker,waker_tid,"
			    "fields,stack\n");
}

/* ---- cells ------------------------------------------------------------------------------------- */

/* Ends the cell that was built in the state's text. */
static void put_cell(struct export *x)
{
	struct csv *c = x->state;

	csv_cell_put(&x->out, buf_cstr(&c->text), c->text.len);
	buf_addch(&x->out, ',');
	buf_clear(&c->text);
}

static void put_number(struct export *x, uint64_t v)
{
	buf_addu(&x->out, v);
	buf_addch(&x->out, ',');
}

static void put_id(struct export *x, uint32_t id)
{
	if (id != TRACE_NONE)
		buf_addu(&x->out, id);
	buf_addch(&x->out, ',');
}

static void put_thread(struct export *x, uint32_t cpu, const struct export_thread *t)
{
	struct csv *c = x->state;

	put_id(x, cpu);
	put_id(x, t ? t->pid : TRACE_NONE);
	put_id(x, t ? t->tid : TRACE_NONE);
	if (t && t->comm != NAMES_NONE)
		value_text_name(&c->text, x->names, t->comm);
	put_cell(x);
}

/* Functions, outermost first, separated by semicolons. */
static void put_functions(struct buf *out, const struct names *n, const uint64_t *frames,
			  uint32_t cnt)
{
	size_t from;

	while (cnt--) {
		const struct names_symbol *sym = names_symbol(n, frames[cnt]);
		const uint32_t depths = sym ? sym->cnt : 1;

		for (uint32_t depth = 0; depth < depths; depth++) {
			if (depth && !names_symbol_is_printed(sym, depth))
				continue;
			if (out->len)
				buf_addch(out, ';');
			from = out->len;
			value_text_function(out, n, sym ? sym->frames[depth].name : NAMES_NONE,
					    depth);
			value_text_fold(out, from);
		}
	}
}

static void put_stack(struct export *x, const uint64_t *frames, uint32_t cnt)
{
	const size_t sz = cnt * sizeof(*frames), before = x->out.len;
	struct csv *c = x->state;

	if (cnt && !bytes_cache_get(&c->stacks, frames, sz, x->names->symbols_version, &x->out)) {
		put_functions(&c->text, x->names, frames, cnt);
		csv_cell_put(&x->out, buf_cstr(&c->text), c->text.len);
		buf_clear(&c->text);
		bytes_cache_put(&c->stacks, frames, sz, x->out.data + before, x->out.len - before);
	}
	buf_addch(&x->out, '\n');
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void csv_sample(struct export *x, const struct export_sample *s)
{
	buf_addstr(&x->out, "sample,");
	put_number(x, s->ts);
	put_number(x, s->ts);
	if (s->ns)
		buf_addu(&x->out, s->ns);
	buf_addch(&x->out, ',');
	put_thread(x, s->cpu, s->thread);
	buf_addstr(&x->out, ",,,,");
	put_stack(x, s->frames, s->frame_cnt);
}

static void csv_interval(struct export *x, const struct export_interval *i)
{
	const struct interval *raw = i->raw;
	struct csv *c = x->state;

	buf_addstr(&x->out, value_text_state(raw->state));
	buf_addch(&x->out, ',');
	put_number(x, raw->start);
	put_number(x, raw->end);
	put_number(x, raw->end - raw->start);
	put_thread(x, raw->cpu, i->thread);
	if (raw->state == INTERVAL_BLOCKED && !(raw->flags & INTERVAL_EDGE_START))
		buf_addch(&c->text, interval_letter(raw->prev_state));
	put_cell(x);
	if (raw->waker)
		value_text_waker(&c->text, x->names, raw->waker);
	put_cell(x);
	put_id(x, i->waker ? i->waker->tid : TRACE_NONE);
	buf_addch(&x->out, ',');
	put_stack(x, i->frames, i->frame_cnt);
}

static bool has_column(const struct trace_schema *s, int32_t field)
{
	return field == s->role[ROLE_COMMON_CPU] || field == s->role[ROLE_COMMON_PID] ||
	       field == s->role[ROLE_CALLCHAIN];
}

static void csv_event(struct export *x, const struct export_thread *t, const struct trace_event *ev)
{
	const struct trace *trace = reader_trace(x->reader);
	struct csv *c = x->state;

	if (ev->kind == TRACE_SAMPLE)
		buf_addstr(&c->text, script_line_stack_name(ev) ?: PROF_EV_CPU_SAMPLE);
	else
		value_text_name(&c->text, x->names, ev->schema->name);
	put_cell(x);
	if (ev->has_ts) {
		put_number(x, ev->ts);
		put_number(x, ev->ts);
	} else {
		buf_addstr(&x->out, ",,");
	}
	buf_addch(&x->out, ',');
	put_thread(x, ev->cpu, t);
	buf_addstr(&x->out, ",,,");
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if (has_column(ev->schema, (int32_t)i))
			continue;
		if (c->text.len)
			buf_addch(&c->text, ' ');
		value_text_name(&c->text, x->names, ev->schema->field_names[i]);
		buf_addch(&c->text, '=');
		value_text_field_exact(&c->text, trace, ev, i);
	}
	put_cell(x);
	put_stack(x, ev->frames, ev->frame_cnt);
}

static void csv_fini(struct export *x)
{
	struct csv *c = x->state;

	buf_free(&c->text);
	bytes_cache_fini(&c->stacks);
}

const struct exporter export_csv = {
	.name = "csv",
	.brief = "a row for each sample, interval and event, for tables and databases",
	.state_sz = sizeof(struct csv),
	.begin = csv_begin,
	.sample = csv_sample,
	.interval = csv_interval,
	.event = csv_event,
	.fini = csv_fini,
};
