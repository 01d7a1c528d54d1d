// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables whose rows are read from events. Owns the columns that all of them have, and the order of the calls to a table's own
 * code (struct scan_ops). Independent of SQL, and of who reads the events.
 */
#include "query/scan.h"

#include <stdlib.h>

#include "base/alloc.h"

void scan_filter_fini(struct scan_filter *f)
{
	free(f->host);
	free(f->word);
	for (int i = 0; i < SCAN_ARGS; i++)
		free(f->args[i]);
	*f = (struct scan_filter){ 0 };
}

void scan_init(struct scan *s, const struct scan_table *table)
{
	*s = (struct scan){
		.table = table,
		.filter = { .from = INT64_MIN, .to = INT64_MAX },
		.state = table->ops->state_sz ? xcalloc(1, table->ops->state_sz) : NULL,
	};
}

void scan_fini(struct scan *s)
{
	if (s->table->ops->fini)
		s->table->ops->fini(s);
	free(s->state);
	scan_filter_fini(&s->filter);
	buf_free(&s->text);
	*s = (struct scan){ .table = s->table };
}

/* ---- conditions --------------------------------------------------------------------------------- */

static bool wants_part(const struct scan *s, const struct trace_input_part *p)
{
	const struct scan_filter *f = &s->filter;

	return (!f->has_trace || f->trace == p->number) &&
	       (!f->has_host || (p->host && !strcmp(f->host, p->host)));
}

bool scan_wants_trace(const struct scan *s, const struct trace_input *in)
{
	for (size_t i = 0; i < in->part_cnt; i++)
		if (wants_part(s, &in->parts[i]))
			return true;
	return false;
}

bool scan_wants(const struct scan *s, uint32_t part, uint64_t ts, uint32_t pid, uint32_t tid)
{
	const struct scan_filter *f = &s->filter;
	const int64_t at = (int64_t)ts;

	if (at < f->from || at > f->to || (f->has_tid && f->tid != tid) ||
	    (f->has_pid && f->pid != pid))
		return false;
	return (!f->has_trace && !f->has_host) || wants_part(s, trace_input_part(s->in, part));
}

/* ---- the pass ----------------------------------------------------------------------------------- */

void scan_begin(struct scan *s, struct trace_input *in, const struct trace *t)
{
	s->in = in;
	s->trace = t;
	s->skip = (struct scan_skip){ 0 };
	s->table->ops->begin(s);
}

bool scan_event(struct scan *s, const struct trace_event *ev)
{
	s->ev = ev;
	return s->table->ops->event(s, ev);
}

void scan_end(struct scan *s)
{
	if (s->table->ops->end)
		s->table->ops->end(s);
	s->trace = NULL;
}

bool scan_pending(struct scan *s)
{
	return s->table->ops->pending && s->table->ops->pending(s);
}

void scan_skip_apply(const struct scan_skip *skip, struct reader *r)
{
	if (skip->stacks)
		reader_skip_stacks(r);
	if (skip->tasks)
		reader_skip_tasks(r);
	if (skip->kinds)
		reader_skip_kinds(r, skip->kinds);
}

/* ---- values ------------------------------------------------------------------------------------- */

static void set_host(const struct scan *s, struct query_value *out)
{
	const struct trace_input_part *p = trace_input_part(s->in, s->part);

	query_value_text(out, p->host, p->host_len);
	out->string = p->host_string;
}

void scan_value(struct scan *s, size_t column, struct query_value *out)
{
	int64_t wall;

	*out = (struct query_value){ .type = QUERY_NULL };
	switch (column) {
	case SCAN_TRACE:
		query_value_integer(out, trace_input_part(s->in, s->part)->number);
		break;
	case SCAN_HOST:
		set_host(s, out);
		break;
	case SCAN_TS:
		query_value_integer(out, (int64_t)s->ts);
		break;
	case SCAN_WALL:
		if (trace_input_wall(s->in, s->part, s->ts, &wall))
			query_value_integer(out, wall);
		break;
	default:
		s->table->ops->column(s, column, out);
	}
}

void scan_value_id(struct query_value *out, uint32_t id)
{
	if (id != TRACE_NONE)
		query_value_integer(out, id);
}

void scan_value_string(const struct scan *s, struct query_value *out, uint32_t string)
{
	const char *text;
	size_t len;

	if (string == NAMES_NONE)
		return;
	text = names_str(s->in->names, string, &len);
	query_value_text(out, text, len);
	out->string = string + 1;
}

void scan_value_stack(struct query_value *out, int64_t stack)
{
	if (stack >= 0)
		query_value_integer(out, stack);
}

void scan_value_built(const struct scan *s, struct query_value *out)
{
	if (s->text.len)
		query_value_bytes(out, QUERY_TEXT, s->text.data, s->text.len);
}
