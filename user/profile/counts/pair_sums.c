// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums over pairs of events. Owns the rows and the gaps in which events may be missing; which end belongs to which start is
 * decided by profile/explain/spans.c. Numbers only.
 */
#include "profile/counts/pair_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "profile/sched/intervals.h"

#define RAW_ENTER "raw_syscalls:sys_enter"
#define OWN_ENTER "syscalls:sys_enter_"

/* Words of a key. */
enum { KEY_NAME, KEY_CALL, KEY_TASK, KEY_TID, KEY_WORDS };

/* The kernel's limit: higher ones are addresses. */
enum { ERRNO_MAX = 4095 };

/* ---- pairs ------------------------------------------------------------------------------------- */

static bool is_cut(void *ctx, uint32_t part, uint64_t from, uint64_t to)
{
	const struct pair_sums *p = ctx;

	return part < p->gap_cap && gaps_touch(&p->gaps[part], from, to);
}

static bool is_wanted(void *ctx, uint32_t tid, uint32_t cpu)
{
	const struct pair_sums *p = ctx;

	return !p->opts.is_wanted || p->opts.is_wanted(p->opts.ctx, tid, cpu);
}

/* Whether the event ends a system call with an error. */
static bool is_error(const struct trace_event *end)
{
	const int32_t at = trace_field_at(end->schema, "ret");
	const struct dial9_value *v = at >= 0 ? &end->values[at] : NULL;

	return v && v->type == DIAL9_I64 && v->i64 < 0 && v->i64 >= -ERRNO_MAX;
}

static struct pair_sums_row *row_of(struct pair_sums *p, const struct span *s)
{
	const bool raw = p->opts.syscalls && s->call_field != NAMES_NONE;
	const unsigned int by = p->opts.by;
	const struct pair_sums_row row = {
		.name = s->name,
		.call = raw ? s->call : UINT64_MAX,
		.part = s->part,
		.comm = by & PAIR_BY_COMM ? s->comm : NAMES_NONE,
		.pid = by & PAIR_BY_PID ? s->pid : NAMES_NONE,
		.tid = by & PAIR_BY_TID ? s->tid : NAMES_NONE,
	};
	const uint64_t key[KEY_WORDS] = {
		[KEY_NAME] = (uint64_t)row.name << 32 | row.part,
		[KEY_CALL] = row.call,
		[KEY_TASK] = (uint64_t)row.comm << 32 | row.pid,
		[KEY_TID] = row.tid,
	};
	const size_t at = key_table_at(&p->keys, key);

	if (at == KEY_TABLE_FULL)
		return NULL;
	if (at == p->row_cnt) {
		p->rows = array_reserve(p->rows, &p->row_cap, at + 1, sizeof(*p->rows));
		p->rows[at] = row;
		p->row_cnt++;
	}
	return &p->rows[at];
}

static void add_pair(void *ctx, const struct span *s, bool cut, const struct trace *t,
		     const struct trace_event *end)
{
	struct pair_sums *p = ctx;
	struct pair_sums_row *row = row_of(p, s);

	(void)t;
	if (!row) {
		p->beyond++;
		return;
	}
	row->cnt++;
	row->errors += p->opts.syscalls && is_error(end);
	if (cut) {
		row->cut++;
		return;
	}
	row->ns += s->end - s->start;
	quantile_add(&row->lengths, s->end - s->start);
}

/* ---- reading ----------------------------------------------------------------------------------- */

void pair_sums_init(struct pair_sums *p, const struct pair_sums_opts *opts)
{
	*p = (struct pair_sums){ .opts = *opts, .patterns[0] = opts->pattern };
	if (opts->syscalls) {
		p->patterns[0] = (struct spans_pattern){ .enter = RAW_ENTER,
							 .exit = "raw_syscalls:sys_exit" };
		p->patterns[1] = (struct spans_pattern){ .enter = OWN_ENTER "*",
							 .exit = "syscalls:sys_exit_*" };
	}
	p->keys.words = KEY_WORDS;
	p->keys.max = PAIR_SUMS_ROWS_MAX;
	p->spans.opts = (struct spans_opts){
		.patterns = p->patterns,
		.pattern_cnt = opts->syscalls ? 2 : 1,
		.field = opts->field,
		.is_wanted = is_wanted,
		.by_thread = opts->by_thread,
		.is_cut = is_cut,
		.pair = add_pair,
		.ctx = p,
	};
}

static void free_rows(struct pair_sums *p)
{
	for (size_t i = 0; i < p->row_cnt; i++)
		quantile_fini(&p->rows[i].lengths);
	free(p->rows);
	quantile_fini(&p->lengths);
	key_table_fini(&p->keys);
	p->rows = NULL;
	p->row_cnt = p->row_cap = 0;
	p->cnt = p->cut = p->beyond = p->twice = p->ns = 0;
}

void pair_sums_restart(struct pair_sums *p)
{
	free_rows(p);
	spans_restart(&p->spans);
}

void pair_sums_fini(struct pair_sums *p)
{
	free_rows(p);
	spans_fini(&p->spans);
	for (size_t i = 0; i < p->gap_cap; i++)
		gaps_fini(&p->gaps[i]);
	free(p->gaps);
	p->gaps = NULL;
	p->gap_cap = 0;
}

bool pair_sums_add_gap(struct pair_sums *p, const struct trace *t, const struct trace_event *ev)
{
	uint64_t first, last;

	if (!intervals_is_gap(t, ev, &first, &last))
		return false;
	p->gaps = array_reserve(p->gaps, &p->gap_cap, (size_t)ev->part + 1, sizeof(*p->gaps));
	gaps_add(&p->gaps[ev->part], first, last);
	return true;
}

void pair_sums_add(struct pair_sums *p, const struct trace *t, const struct trace_event *ev)
{
	if (ev->kind == TRACE_LOST)
		pair_sums_add_gap(p, t, ev);
	spans_add(&p->spans, t, ev);
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void name_call(struct pair_sums *p, struct pair_sums_row *row, struct names *n)
{
	const char *event = names_str(n, row->name, NULL);
	const struct tp_symbols *syms;
	struct buf text = { 0 };

	row->raw = !strcmp(event, RAW_ENTER);
	if (str_starts(event, OWN_ENTER)) {
		buf_addstr(&text, event + strlen(OWN_ENTER));
	} else if (row->raw) {
		syms = names_tp_symbols(n, row->part, row->name, names_add(n, "id", 2));
		if (!syms || !tp_symbols_render(syms, row->call, &text))
			row->name = NAMES_NONE;
	}
	if (text.len)
		row->name = names_add(n, buf_cstr(&text), text.len);
	if (text.len && row->raw)
		spans_drop_single(&p->spans, buf_cstr(&text));
	if (!row->raw)
		row->call = UINT64_MAX;
	buf_free(&text);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* 0: rows that become one. */
static int compare_rows(const struct pair_sums_row *x, const struct pair_sums_row *y)
{
	int order = compare(x->name, y->name);

	/* where there is a name, it alone counts */
	if (!order && x->name == NAMES_NONE)
		order = compare(x->call, y->call);
	if (!order)
		order = compare(x->part, y->part);
	if (!order)
		order = compare(x->comm, y->comm);
	if (!order)
		order = compare(x->pid, y->pid);
	return order ? order : compare(x->tid, y->tid);
}

/* Those with most calls first, of those that become one. */
static int by_key(const void *a, const void *b)
{
	const struct pair_sums_row *x = a, *y = b;
	int order = compare_rows(x, y);

	if (!order)
		order = compare(x->raw, y->raw);
	return order ? order : compare(y->cnt, x->cnt);
}

static double rank_of(const struct pair_sums_row *row, enum pair_sums_order order)
{
	switch (order) {
	case PAIR_SUMS_MAX:
		return (double)row->lengths.max;
	case PAIR_SUMS_AVG:
		return row->cnt > row->cut ? (double)row->ns / (double)(row->cnt - row->cut) : 0;
	case PAIR_SUMS_P99:
		return quantile_at(&row->lengths, 0.99);
	case PAIR_SUMS_COUNT:
		return (double)row->cnt;
	case PAIR_SUMS_TIME:
		break;
	}
	return 0;
}

static int highest_first(const void *a, const void *b)
{
	const struct pair_sums_row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->cnt != y->cnt)
		return x->cnt < y->cnt ? 1 : -1;
	return by_key(a, b);
}

/* Adds @from, which is then empty. */
static void merge_row(struct pair_sums_row *to, struct pair_sums_row *from)
{
	to->cnt += from->cnt;
	to->cut += from->cut;
	to->errors += from->errors;
	to->ns += from->ns;
	quantile_merge(&to->lengths, &from->lengths);
	quantile_fini(&from->lengths);
}

/* Two pairs of events for one call: the system with more of them has all calls. @from: raw_syscalls. */
static void choose_source(struct pair_sums *p, struct pair_sums_row *to, struct pair_sums_row *from)
{
	struct pair_sums_row less = *from;

	if (from->cnt >= to->cnt) {
		less = *to;
		*to = *from;
	}
	p->twice += less.cnt;
	quantile_fini(&less.lengths);
}

/* Joins neighbours; @sources: those that differ only by their source, which both have all calls. */
static void join(struct pair_sums *p, bool sources)
{
	size_t kept = 0;

	if (p->row_cnt)
		qsort(p->rows, p->row_cnt, sizeof(*p->rows), by_key);
	for (size_t i = 0; i < p->row_cnt; i++) {
		struct pair_sums_row *row = &p->rows[i], *last = kept ? &p->rows[kept - 1] : NULL;

		if (!last || compare_rows(last, row) || (!sources && last->raw != row->raw))
			p->rows[kept++] = *row;
		else if (last->raw == row->raw)
			merge_row(last, row);
		else
			choose_source(p, last, row);
	}
	p->row_cnt = kept;
}

/* Before the parts of rows are forgotten: a part may have one source, and the next part the other. */
static void join_parts(struct pair_sums *p)
{
	join(p, true);
	if (p->by_part)
		return;
	for (size_t i = 0; i < p->row_cnt; i++) {
		p->rows[i].part = NAMES_NONE;
		p->rows[i].raw = false;
	}
	join(p, false);
}

void pair_sums_finish(struct pair_sums *p, struct names *n)
{
	spans_finish(&p->spans);
	p->by_part = p->opts.by & (PAIR_BY_PID | PAIR_BY_TID) && !parts_share_ids(&n->parts);
	for (size_t i = 0; p->opts.syscalls && i < p->row_cnt; i++)
		name_call(p, &p->rows[i], n);
	join_parts(p);
	for (size_t i = 0; i < p->row_cnt; i++) {
		p->cnt += p->rows[i].cnt;
		p->cut += p->rows[i].cut;
		p->ns += p->rows[i].ns;
		quantile_merge(&p->lengths, &p->rows[i].lengths);
		p->rows[i].rank = rank_of(&p->rows[i], p->opts.order);
	}
	if (p->row_cnt)
		qsort(p->rows, p->row_cnt, sizeof(*p->rows), highest_first);
}
