// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof count --live`: the table of each period of a trace that is still being written. Owns the periods and what
 * fits on the screen; live_loop.c reads and draws, count_print.c makes the rows.
 */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cmd/common/live_loop.h"
#include "cmd/count/count.h"

struct count_live {
	struct count *count;
	const char *title;
	struct buf head, table; /* of the period that is shown */
	uint64_t first_ts, last_ts; /* of the period so far; 0: no event */
};

static void start(void *ctx, struct names *names, struct trace *t)
{
	struct count_live *l = ctx;

	trace_skip_stacks(t);
	l->count->names = names;
	count_begin(l->count);
}

static void add_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct count_live *l = ctx;
	struct count *c = l->count;
	const struct counts_kind *kind = counts_kind(&c->counts, ev);

	event_counts_add_loss(&c->losses, t, c->names, ev);
	if (ev->has_ts && !trace_is_naming(ev->kind) && ev->kind != TRACE_LOST) {
		l->first_ts = l->first_ts ? l->first_ts : ev->ts;
		l->last_ts = ev->ts > l->last_ts ? ev->ts : l->last_ts;
	}
	if (kind)
		counts_add(&c->counts, t, ev, kind);
}

static uint64_t period_ns(const void *ctx)
{
	const struct count_live *l = ctx;

	return l->last_ts > l->first_ts ? l->last_ts - l->first_ts : 0;
}

static void put_head(struct count_live *l)
{
	const struct counts *n = &l->count->counts;
	struct buf *out = &l->head;

	buf_clear(out);
	value_text_clean(out, l->title, strlen(l->title));
	buf_printf(out, "  %.1f s  ", (double)period_ns(l) / 1e9);
	str_counted(out, n->counted, "event");
	if (n->lacking || n->beyond)
		buf_printf(out, " (not counted: %" PRIu64 ")", n->lacking + n->beyond);
	buf_addstr(out, "\nlost: ");
	report_text_lost(out, &l->count->losses.account);
}

/* The next period begins where this one ends. */
static void end_period(void *ctx, const struct trace *t)
{
	struct count_live *l = ctx;

	counts_finish(&l->count->counts, t);
	put_head(l);
	buf_clear(&l->table);
	count_put_table(&l->table, l->count);
	counts_clear(&l->count->counts);
	l->first_ts = l->last_ts;
}

static void put_lines(struct buf *out, const struct buf *text, size_t rows, size_t cols)
{
	const char *at = text->data, *end = text->data + text->len, *line_end;

	for (; text->len && at < end && rows; rows--) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		line_end = line_end ? line_end : end;
		report_text_column(out, at, (size_t)(line_end - at), cols, cols);
		while (out->len && out->data[out->len - 1] == ' ')
			out->len--;
		buf_addch(out, '\n');
		at = line_end + 1;
	}
}

enum { HEAD_ROWS = 2 };

static void put(void *ctx, struct buf *out, const struct live_loop *loop, size_t rows, size_t cols)
{
	struct count_live *l = ctx;
	struct buf head = { 0 };

	buf_add(&head, buf_cstr(&l->head), l->head.len);
	if (live_loop_is_terminal(loop))
		buf_addstr(&head, "    q quit  space pause");
	if (live_loop_is_paused(loop))
		buf_addstr(&head, " (paused)");
	put_lines(out, &head, rows, cols);
	put_lines(out, &l->table, rows > HEAD_ROWS ? rows - HEAD_ROWS : 0, cols);
	buf_free(&head);
}

static const struct live_loop_ops live_ops = {
	.start = start,
	.add = add_event,
	.end_period = end_period,
	.period_ns = period_ns,
	.put = put,
};

static enum live_view_end run(void *ctx, int fd, const char *name)
{
	struct count_live l = { .count = ctx, .title = name };
	const struct live_loop_opts opts = { .ops = &live_ops,
					     .ctx = &l,
					     .fd = fd,
					     .name = name,
					     .delay_ns = l.count->opts->live_ns,
					     .messages_fd = -1 };
	const enum live_view_end end = live_loop_run(&opts);

	buf_free(&l.head);
	buf_free(&l.table);
	return end;
}

int count_live_show(struct count *c, const char *path)
{
	return live_loop_show(path, "count", run, c);
}
