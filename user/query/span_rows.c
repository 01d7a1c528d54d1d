// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables `spans` and `polls`: a row for each pair of a start and an end event, when its end is read. Owns the pairs
 * that are not returned yet; profile/explain/spans.h finds them, as for explain and count.
 */
#include "query/span_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "profile/explain/spans.h"

/* clang-format off */
#define SPAN_COLUMNS(X) \
	X(DUR, dur, INTEGER, NONE, "duration in ns") \
	X(TID, tid, INTEGER, TID, "thread of the start") \
	X(PID, pid, INTEGER, PID, "its process") \
	X(COMM, comm, TEXT, NONE, "its name at that time") \
	X(END_TID, end_tid, INTEGER, NONE, "thread of the end") \
	X(EVENT, event, TEXT, NONE, "name of the start event") \
	X(CALL, call, TEXT, NONE, "name of the system call; NULL: none") \
	X(ID, id, INTEGER, NONE, "number that ties the end to the start; NULL: the thread does") \
	X(CUT, cut, INTEGER, NONE, "1: events are missing during it, so it may be two")

#define SPAN_ARGS(X) \
	X(START, start, TEXT, ARG_1, "hidden: START") \
	X(END, end, TEXT, ARG_2, "hidden: END") \
	X(KEY, key, TEXT, ARG_3, "hidden: KEY")
/* clang-format on */

enum span_column {
	SPAN_BEFORE = SCAN_OWN - 1,
#define COLUMN(id, name, type, role, doc) SPAN_##id,
	SPAN_COLUMNS(COLUMN) SPAN_ARGS(COLUMN)
#undef COLUMN
		SPAN_CNT,
};

static const struct scan_column columns[] = { SCAN_COLUMNS,
#define COLUMN(id, name, type, role, doc) { #name, #type, doc, SCAN_ROLE_##role },
					      SPAN_COLUMNS(COLUMN) SPAN_ARGS(COLUMN)
#undef COLUMN
};

struct span_row {
	struct span span;
	bool cut;
};

struct span_rows {
	struct spans spans;
	struct spans_pattern own; /* of the arguments */
	struct span_row *rows;
	size_t cnt, cap, at; /* rows from at on are not returned yet */
	struct span_row now;
};

static const struct spans_pattern poll_pattern = { .enter = "PollStartEvent",
						   .exit = "PollEndEvent" };

/* Without arguments. */
static const struct spans_pattern known[] = {
	{ .enter = "syscalls:sys_enter_*", .exit = "syscalls:sys_exit_*" },
	{ .enter = "raw_syscalls:sys_enter", .exit = "raw_syscalls:sys_exit" },
	{ .enter = "SpanEnter*", .exit = "SpanExit*" },
	{ .enter = "PollStartEvent", .exit = "PollEndEvent" },
};

/* ---- rows --------------------------------------------------------------------------------------- */

static bool is_cut(void *ctx, uint32_t part, uint64_t from, uint64_t to)
{
	const struct scan *s = ctx;

	return intervals_touch_gap(s->in->gaps, part, from, to);
}

/* The threads of workers, as far as they follow from events up to the end of the pair. */
static void find_threads(const struct scan *s, struct span *p)
{
	const struct worker_threads *w = &((const struct span_rows *)s->state)->spans.workers;
	const struct names_task *task;

	if (p->worker != TRACE_NONE)
		p->tid = worker_threads_tid(w, p->part, p->worker, p->start);
	if (p->end_worker != TRACE_NONE)
		p->end_tid = worker_threads_tid(w, p->part, p->end_worker, p->end);
	task = p->tid != TRACE_NONE ? names_task_first(s->in->names, p->part, p->tid) : NULL;
	if (p->pid == TRACE_NONE && task)
		p->pid = task->pid;
	if (p->comm == NAMES_NONE && task)
		p->comm = task->comm;
}

static void add_pair(void *ctx, const struct span *p, bool cut, const struct trace *t,
		     const struct trace_event *end)
{
	struct scan *s = ctx;
	struct span_rows *r = s->state;
	struct span_row row = { *p, cut };

	(void)t;
	(void)end;
	find_threads(s, &row.span);
	if (!scan_wants(s, p->part, p->start, row.span.pid, row.span.tid))
		return;
	if (r->at == r->cnt)
		r->at = r->cnt = 0;
	r->rows = array_reserve(r->rows, &r->cap, r->cnt + 1, sizeof(*r->rows));
	r->rows[r->cnt++] = row;
}

static void begin_spans(struct scan *s)
{
	struct span_rows *r = s->state;
	const struct scan_filter *f = &s->filter;
	const struct spans_pattern *patterns = s->table->of;
	size_t cnt = 1;

	if (f->args[0]) {
		r->own = (struct spans_pattern){ .enter = f->args[0], .exit = f->args[1] };
		patterns = &r->own;
	} else if (!patterns) {
		patterns = known;
		cnt = sizeof(known) / sizeof(known[0]);
	}
	s->skip.stacks = true;
	r->spans.opts = (struct spans_opts){ .patterns = patterns,
					     .pattern_cnt = cnt,
					     .field = f->args[2],
					     .is_cut = is_cut,
					     .pair = add_pair,
					     .ctx = s };
}

static bool add_event(struct scan *s, const struct trace_event *ev)
{
	struct span_rows *r = s->state;

	spans_add(&r->spans, s->trace, ev);
	return false;
}

static void end_spans(struct scan *s)
{
	struct span_rows *r = s->state;

	spans_finish(&r->spans);
	spans_fini(&r->spans);
	r->spans = (struct spans){ 0 };
}

static bool next_span(struct scan *s)
{
	struct span_rows *r = s->state;

	if (r->at == r->cnt)
		return false;
	r->now = r->rows[r->at++];
	s->part = r->now.span.part;
	s->ts = r->now.span.start;
	return true;
}

static void fini_spans(struct scan *s)
{
	struct span_rows *r = s->state;

	spans_fini(&r->spans);
	free(r->rows);
}

static const char *refuse_args(const struct scan_filter *f)
{
	if (!f->args[0] && !f->args[1] && !f->args[2])
		return NULL;
	return f->args[0] && f->args[1] ? NULL :
					  "spans: expected spans(START, END) or "
					  "spans(START, END, KEY): names of events and of a field";
}

/* ---- columns ------------------------------------------------------------------------------------ */

static void set_call(struct scan *s, const struct span *p, struct query_value *out)
{
	static const char own[] = "syscalls:sys_enter_";
	const struct names *n = s->in->names;
	const char *event = names_str(n, p->name, NULL);
	const struct tp_symbols *syms;

	buf_clear(&s->text);
	if (str_starts(event, own)) {
		buf_addstr(&s->text, event + sizeof(own) - 1);
	} else if (p->call_field != NAMES_NONE) {
		syms = names_tp_symbols(n, p->part, p->name, p->call_field);
		if (!syms || !tp_symbols_render(syms, p->call, &s->text))
			buf_clear(&s->text);
	}
	scan_value_built(s, out);
}

static void set_arg(const struct scan *s, size_t column, struct query_value *out)
{
	const char *arg = s->filter.args[column - SPAN_START];

	query_value_bytes(out, QUERY_TEXT, arg, arg ? strlen(arg) : 0);
}

static void span_column(struct scan *s, size_t column, struct query_value *out)
{
	const struct span_row *row = &((struct span_rows *)s->state)->now;
	const struct span *p = &row->span;

	switch ((enum span_column)column) {
	case SPAN_DUR:
		query_value_integer(out, (int64_t)(p->end - p->start));
		break;
	case SPAN_TID:
		scan_value_id(out, p->tid);
		break;
	case SPAN_PID:
		scan_value_id(out, p->pid);
		break;
	case SPAN_COMM:
		scan_value_string(s, out, p->comm);
		break;
	case SPAN_END_TID:
		scan_value_id(out, p->end_tid);
		break;
	case SPAN_EVENT:
		scan_value_string(s, out, p->name);
		break;
	case SPAN_CALL:
		set_call(s, p, out);
		break;
	case SPAN_ID:
		if (p->has_id)
			query_value_integer(out, (int64_t)p->id);
		break;
	case SPAN_CUT:
		query_value_integer(out, row->cut);
		break;
	case SPAN_START:
	case SPAN_END:
	case SPAN_KEY:
		set_arg(s, column, out);
		break;
	case SPAN_BEFORE:
	case SPAN_CNT:
		break;
	}
}

static const struct scan_ops ops = {
	.refuse = refuse_args,
	.begin = begin_spans,
	.event = add_event,
	.end = end_spans,
	.pending = next_span,
	.column = span_column,
	.fini = fini_spans,
	.state_sz = sizeof(struct span_rows),
};

struct scan_table span_rows_table(struct trace_inputs *all)
{
	return (struct scan_table){
		.name = "spans",
		.doc = "spans(START, END[, KEY]): times from a start event to its end; without arguments system calls, spans and polls",
		.columns = columns,
		.column_cnt = SPAN_CNT,
		.hidden = SCAN_ARGS,
		.ops = &ops,
		.all = all
	};
}

struct scan_table span_rows_polls_table(struct trace_inputs *all)
{
	return (struct scan_table){ .name = "polls",
				    .doc = "polls of tasks of an async runtime",
				    .columns = columns,
				    .column_cnt = SPAN_START,
				    .ops = &ops,
				    .all = all,
				    .of = &poll_pattern };
}
