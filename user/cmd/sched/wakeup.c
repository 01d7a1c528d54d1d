// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof wakeup`: who woke whom, how often, and how long those were blocked before. Owns the options
 * and the table; sums come from user/profile/sums/blocked.c, the path to one waking from wakeup_chain.c.
 */
#include "cmd/sched/wakeup.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/common/callchain.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_reader.h"
#include "cmd/common/report_text.h"
#include "profile/sums/blocked.h"

struct wakeup {
	const struct wakeup_opts *opts;
	struct interval_reader timeline;
	struct view view;
	struct blocked edges;
};

/* Rows of a table, unless --limit says otherwise. */
#define LIMIT_TEXT 20

#define O(m) offsetof(struct wakeup_opts, m)

static const struct opt wakeup_opts[] = {
	SELECT_READ_OPTS(struct wakeup_opts, sel),
	{ .name = "chain",
	  .kind = OPT_STR,
	  .off = O(chain),
	  .arg = "TID[@TIME]",
	  .help = "Print the chain of wakeups that ended the longest off-CPU interval of thread TID, or "
		  "its interval at TIME",
	  .group = "Output" },
	{ .name = "depth",
	  .kind = OPT_U64,
	  .off = O(depth),
	  .arg = "N",
	  .min = 1,
	  .max = 1000,
	  .help = "With --chain: follow at most N wakeups (default 16)" },
	{ .name = "by-tid",
	  .kind = OPT_FLAG,
	  .off = O(by_tid),
	  .help = "Group rows by TID instead of name" },
	{ .name = "stacks",
	  .kind = OPT_FLAG,
	  .off = O(stacks),
	  .help = "Also group by and print both stacks: where the thread was blocked, and the waker stack" },
	{ OPT_LIMIT(O(limit)),
	  .help = "Print at most N rows, 0 for all (default 20; with --json all)" },
	OPT_ROW_JSON(O(json)),
	INTERVAL_READER_SELF_OPT(struct wakeup_opts, include_self),
	VIEW_OPTS(struct wakeup_opts, view),
};

static const struct opt_spec wakeup_spec = {
	.name = "wakeup",
	.usage = "dial9-prof wakeup [OPTIONS] [FILE]",
	.brief =
		"Print who woke whom, how long the woken threads were blocked, and chains of wakeups.",
	OPT_ROWS(wakeup_opts),
	.examples = "  dial9-prof wakeup\n"
		    "  dial9-prof wakeup --comm worker --stacks\n"
		    "  dial9-prof wakeup --chain 4711\n"
		    "  dial9-prof wakeup --chain 4711@123.456\n",
};

/* ---- reading ----------------------------------------------------------------------------------- */

static void add_interval(void *ctx, const struct interval *i)
{
	struct wakeup *w = ctx;

	if (i->state == INTERVAL_BLOCKED && i->waker &&
	    interval_reader_wants(&w->timeline, i, i->cpu))
		blocked_add(&w->edges, i);
}

static void reset_sums(void *ctx)
{
	struct wakeup *w = ctx;

	blocked_fini(&w->edges);
}

/* ---- text -------------------------------------------------------------------------------------- */

static bool has_tid(const struct wakeup *w, const struct blocked_row *r)
{
	return w->opts->by_tid && r->waker_tid != TRACE_NONE && interval_by_thread(r->context);
}

/* Columns before it, and what it gets of a narrow terminal. */
enum { EDGE_AT = 53, EDGE_MIN = 12 };

static void put_edge(struct buf *out, const struct wakeup *w, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);
	struct buf edge = { 0 };

	interval_reader_put_waker(&edge, &w->timeline, &by);
	if (has_tid(w, r))
		buf_printf(&edge, " %u", r->waker_tid);
	buf_addstr(&edge, " -> ");
	name_text_name(&edge, w->timeline.names, r->comm);
	if (w->opts->by_tid)
		buf_printf(&edge, " %u", r->tid);
	buf_addstr(out, "  ");
	report_text_fit(out, buf_cstr(&edge), edge.len,
			!w->view.width			   ? SIZE_MAX :
			w->view.width > EDGE_AT + EDGE_MIN ? w->view.width - EDGE_AT :
							     EDGE_MIN);
	buf_addch(out, '\n');
	buf_free(&edge);
}

static void put_stack(struct buf *out, const struct wakeup *w, const char *title, uint32_t stack)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(w->timeline.intervals, stack, &cnt);

	if (!cnt)
		return;
	buf_fill(out, ' ', 12);
	buf_addstr(out, title);
	callchain_lines(out, w->timeline.names, frames, cnt, CALLCHAIN_BOTH, 12, w->view.width);
}

static void put_row(struct buf *out, const struct wakeup *w, const struct blocked_row *r)
{
	interval_reader_put_waits(out, r, w->edges.ns, w->view.color);
	put_edge(out, w, r);
	if (!w->opts->stacks)
		return;
	put_stack(out, w, "-- waker stack\n", r->waker_stack);
	put_stack(out, w, "-- off-CPU stack\n", r->stack);
	buf_addch(out, '\n');
}

static void print_text(const struct wakeup *w)
{
	const size_t n = report_text_rows(w->opts->limit, LIMIT_TEXT, w->edges.cnt);
	struct buf out = { 0 };

	if (!w->edges.cnt) {
		if (!interval_reader_is_chosen(&w->timeline))
			printf("No wakeups in %s%s%s.\n", reader_input(w->timeline.reader),
			       w->timeline.switches ? "" : ": ",
			       w->timeline.switches ? "" :
						      interval_reader_no_switches(&w->timeline));
		return;
	}
	interval_reader_put_head(&out, &w->timeline, "who woke whom", w->view.color);
	buf_addstr(&out, "# ");
	str_counted(&out, w->edges.intervals, "wakeup");
	buf_addstr(&out, " after ");
	name_text_duration(&out, w->edges.ns, 0);
	buf_addstr(&out, " blocked in total");
	if (w->edges.cut)
		buf_addstr(&out, "; *: includes fragments");
	buf_addstr(&out, "\n#\n#   Blocked    Share  Wakeups        Avg        Max  "
			 "waker -> wakee\n");
	for (size_t i = 0; i < n; i++) {
		put_row(&out, w, &w->edges.rows[i]);
		fwrite(buf_cstr(&out), 1, out.len, stdout);
		buf_clear(&out);
	}
	report_text_more_rows(&out, w->edges.cnt - n, " with less time");
	buf_print(&out, stdout);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_row(struct buf *out, const struct wakeup *w, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);

	json_object(out, NULL);
	json_u64s(out, { "ns", r->ns }, { "wakeups", r->cnt }, { "cut", r->cut },
		  { "max_ns", r->max_ns }, { "max_start_ns", r->max_start });
	interval_reader_json_waker(out, "waker", &w->timeline, &by);
	if (has_tid(w, r))
		json_u64(out, "waker_tid", r->waker_tid);
	name_text_json_name(out, "comm", w->timeline.names, r->comm);
	if (w->opts->by_tid)
		json_u64(out, "tid", r->tid);
	if (w->opts->stacks) {
		interval_reader_json_stack(out, &w->timeline, "stack", r->stack, CALLCHAIN_BOTH);
		interval_reader_json_stack(out, &w->timeline, "waker_stack", r->waker_stack,
					   CALLCHAIN_BOTH);
	}
	json_end(out, "}");
}

static void print_json(const struct wakeup *w)
{
	const size_t n = report_text_rows(w->opts->limit, 0, w->edges.cnt);
	struct buf out = { 0 };

	interval_reader_json_head(&out, &w->timeline);
	json_u64s(&out, { "wakeups", w->edges.intervals }, { "cut", w->edges.cut },
		  { "ns", w->edges.ns });
	report_text_json_rows(&out, w->edges.cnt - n);
	for (size_t i = 0; i < n; i++) {
		json_line(&out);
		json_row(&out, w, &w->edges.rows[i]);
		json_flush(&out, stdout);
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static unsigned int keys_of(const struct wakeup_opts *o)
{
	unsigned int keys = 1u << BLOCKED_COMM | 1u << BLOCKED_WAKER;

	if (o->by_tid)
		keys |= 1u << BLOCKED_TID | 1u << BLOCKED_WAKER_TID;
	if (o->stacks)
		keys |= 1u << BLOCKED_STACK | 1u << BLOCKED_WAKER_STACK;
	return keys;
}

static int edges_file(const struct wakeup_opts *opts, const char *path)
{
	struct wakeup w = { .opts = opts, .edges = { .opts = { .keys = keys_of(opts) } } };
	const struct interval_reader_opts t = {
		.sel = &opts->sel,
		.fn = add_interval,
		.reset = reset_sums,
		.ctx = &w,
		.hide_recorder = !opts->include_self,
		.no_stacks = !opts->stacks,
	};
	int code = interval_reader_run(&w.timeline, &t, path);

	if (code == CMD_OK) {
		blocked_finish(&w.edges, w.timeline.names);
		view_begin(&w.view, &opts->view, opts->json);
		if (opts->json)
			print_json(&w);
		else
			print_text(&w);
		code = interval_reader_end(&w.timeline, &w.view);
		if (!w.edges.cnt)
			code = interval_reader_tell_nothing(&w.timeline, "wakeups", code);
	}
	blocked_fini(&w.edges);
	interval_reader_fini(&w.timeline);
	return code;
}

static int wakeup_file(const void *arg, const char *path)
{
	const struct wakeup_opts *opts = arg;

	return opts->chain ? wakeup_chain(opts, path) : edges_file(opts, path);
}

int cmd_wakeup(int argc, char **argv)
{
	struct wakeup_opts opts = { .limit = REPORT_TEXT_LIMIT_UNSAID, .depth = 16 };

	return select_run(&wakeup_spec, argc, argv, &opts, &opts.sel, wakeup_file);
}
