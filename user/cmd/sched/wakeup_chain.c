// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof wakeup --chain`: the path to a wakeup, printed backwards from its end. A first pass finds the time
 * that the thread was blocked, a second one what all threads did in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/sched/offcpu.h"
#include "profile/explain/explain.h"

/* A thread on the path: it was blocked, was woken, and did something until it woke the one before. */
struct link {
	uint32_t tid, comm;
	const struct explain_piece *blocked; /* NULL: it was not, in this time */
	struct explain_step did; /* from its wakeup, or the start of the time */
	uint64_t from, to; /* of that */
};

struct chain {
	const struct offcpu_opts *opts;
	struct select_opts sel; /* with the time of --chain */
	struct interval_reader timeline;
	struct view view;
	uint32_t tid;
	bool latest; /* the last time blocked; else the longest */
	bool second; /* reading */
	/* the time blocked */
	bool found, cut;
	uint32_t part;
	uint64_t from, to;
	struct explain numbers;
	struct link *links;
	size_t cnt, cap;
};

/* ---- reading ----------------------------------------------------------------------------------- */

static bool is_better(const struct chain *c, const struct interval *i)
{
	const bool cut = (i->flags & (INTERVAL_EDGE_START | INTERVAL_EDGE_END)) != 0;

	if (!c->found || c->latest)
		return true;
	return cut == c->cut ? i->ended - i->began > c->to - c->from : c->cut;
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct chain *c = ctx;

	if (c->second) {
		explain_add(&c->numbers, c->timeline.intervals, i);
		return;
	}
	if (i->tid != c->tid || i->state != INTERVAL_BLOCKED || !i->waker || i->ended == i->began ||
	    !is_better(c, i))
		return;
	c->found = true;
	c->cut = (i->flags & (INTERVAL_EDGE_START | INTERVAL_EDGE_END)) != 0;
	c->part = i->part;
	c->from = i->began;
	c->to = i->ended;
}

static void reset_sums(void *ctx)
{
	struct chain *c = ctx;

	explain_fini(&c->numbers);
	c->found = c->second && c->found;
}

/* ---- the path ---------------------------------------------------------------------------------- */

static struct link *add_link(struct chain *c, uint32_t tid, uint64_t until)
{
	const struct explain_piece *p =
		explain_last(&c->numbers, c->part, tid, INTERVAL_BLOCKED, until);
	const struct explain_thread *th = explain_thread(&c->numbers, tid);
	struct link *l;

	c->links = array_reserve(c->links, &c->cap, c->cnt + 1, sizeof(*c->links));
	l = &c->links[c->cnt++];
	*l = (struct link){ .tid = tid,
			    .comm = th ? th->comm : NAMES_NONE,
			    .blocked = p,
			    .from = p ? p->end : c->from,
			    .to = until };
	explain_range(&c->numbers, c->part, tid, l->from, until, &l->did);
	return l;
}

static void walk(struct chain *c)
{
	const struct link *l = add_link(c, c->tid, c->to);
	uint32_t by;

	while (c->cnt <= c->opts->depth && l->blocked) {
		by = explain_waker_tid(l->blocked);
		if (!by || by == l->tid)
			break;
		l = add_link(c, by, l->blocked->end);
	}
}

/* ---- text -------------------------------------------------------------------------------------- */

static void put_stack(struct buf *out, const struct chain *c, uint32_t stack, size_t indent)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(c->timeline.intervals, stack, &cnt);

	callchain_lines(out, c->timeline.names, frames, cnt, CALLCHAIN_BOTH, indent, c->view.width);
}

static void put_name(struct buf *out, const struct chain *c, const struct link *l)
{
	value_text_name(out, c->timeline.names, l->comm);
	buf_addch(out, ' ');
	buf_addu(out, l->tid);
}

/* "runnable 1.000 ms, running 2.000 ms" */
static void put_did(struct buf *out, const struct explain_step *s)
{
	static const enum interval_state order[] = { INTERVAL_RUNNABLE, INTERVAL_RUNNING,
						     INTERVAL_UNKNOWN };
	static const char *const words[INTERVAL_STATE_CNT] = {
		[INTERVAL_UNKNOWN] = "unknown %s",
		[INTERVAL_RUNNING] = "running %s",
		[INTERVAL_RUNNABLE] = "runnable %s",
	};
	struct buf time = { 0 };
	bool any = false;

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		const char *word = words[order[k]], *hole = strchr(word, '%');

		if (!s->cnt[order[k]])
			continue;
		buf_clear(&time);
		value_text_duration(&time, s->ns[order[k]], 0);
		buf_addstr(out, any ? ", " : "");
		buf_add(out, word, (size_t)(hole - word));
		buf_addstr(out, buf_cstr(&time));
		buf_addstr(out, hole + 2);
		any = true;
	}
	if (!any)
		buf_addstr(out, "nothing recorded");
	buf_addch(out, '\n');
	buf_free(&time);
}

static void put_woken(struct buf *out, const struct chain *c, const struct link *l)
{
	const struct explain_piece *p = l->blocked;

	buf_addstr(out, " woken by ");
	interval_print_waker(out, &c->timeline, p->woken ? &p->waker : NULL);
	if (explain_waker_tid(p)) {
		buf_addch(out, ' ');
		buf_addu(out, p->waker.tid);
	}
	buf_addstr(out, ", blocked ");
	value_text_duration(out, p->end - p->start, 0);
	if (p->flags & INTERVAL_CLIP_START)
		buf_addstr(out, " in this range");
	buf_printf(out, " (%c)\n", interval_blocked_letter(p->flags, p->prev_state));
	put_stack(out, c, p->stack, 16);
	if (c->opts->stacks && p->woken && p->waker.stack != INTERVAL_NO_STACK) {
		buf_addstr(out, "              waker stack\n");
		put_stack(out, c, p->waker.stack, 16);
	}
}

static void put_link(struct buf *out, const struct chain *c, const struct link *l)
{
	buf_addstr(out, "\n-");
	value_text_duration(out, c->to - l->from, 11);
	buf_addstr(out, "  ");
	put_name(out, c, l);
	if (l->blocked) {
		put_woken(out, c, l);
		if (l == c->links)
			return;
		buf_addstr(out, "              then: ");
	} else {
		buf_addstr(out, " was not blocked in this range: ");
	}
	put_did(out, &l->did);
}

static void print_text(const struct chain *c)
{
	struct buf out = { 0 }, what = { 0 };

	buf_addstr(&what, "chain of wakeups of ");
	put_name(&what, c, c->links);
	interval_print_head(&out, &c->timeline, buf_cstr(&what), c->view.color);
	buf_printf(&out, "# at %" PRIu64 ".%09" PRIu64 ", blocked for ", c->to / 1000000000,
		   c->to % 1000000000);
	value_text_duration(&out, c->to - c->from, 0);
	buf_addstr(&out, "; latest wakeup first\n");
	for (size_t k = 0; k < c->cnt; k++)
		put_link(&out, c, &c->links[k]);
	if (c->cnt > c->opts->depth && c->links[c->cnt - 1].blocked)
		buf_addstr(&out, "\n# chain continues: --depth shows more\n");
	fwrite(buf_cstr(&out), 1, out.len, stdout);
	buf_free(&what);
	buf_free(&out);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_blocked(struct buf *out, const struct chain *c, const struct explain_piece *p)
{
	const uint32_t by = explain_waker_tid(p);

	json_u64s(out, { "blocked_start_ns", p->start }, { "blocked_ns", p->end - p->start });
	json_char(out, "state", interval_blocked_letter(p->flags, p->prev_state));
	interval_print_json_stack(out, &c->timeline, "stack", p->stack, CALLCHAIN_BOTH);
	interval_print_json_waker(out, "waker", &c->timeline, p->woken ? &p->waker : NULL);
	if (by)
		json_u64(out, "waker_tid", by);
	interval_print_json_stack(out, &c->timeline, "waker_stack",
				  p->woken ? p->waker.stack : INTERVAL_NO_STACK, CALLCHAIN_BOTH);
}

static void print_json(const struct chain *c)
{
	struct buf out = { 0 };

	interval_print_json_head(&out, &c->timeline);
	if (c->cnt)
		json_u64s(&out, { "from_ns", c->from }, { "to_ns", c->to });
	json_array(&out, "chain");
	for (size_t k = 0; k < c->cnt; k++) {
		const struct link *l = &c->links[k];

		json_line_object(&out);
		json_u64(&out, "tid", l->tid);
		value_text_json_name(&out, "comm", c->timeline.names, l->comm);
		json_u64s(&out, { "woken_ns", l->from }, { "woke_ns", l->to },
			  { "running_ns", l->did.ns[INTERVAL_RUNNING] },
			  { "runnable_ns", l->did.ns[INTERVAL_RUNNABLE] },
			  { "unknown_ns", l->did.ns[INTERVAL_UNKNOWN] });
		if (l->blocked)
			json_blocked(&out, c, l->blocked);
		json_end(&out, "}");
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int report_missing(const struct chain *c)
{
	log_error("thread %" PRIu32 " was not woken in %s%s", c->tid,
		  reader_input(c->timeline.reader),
		  c->latest   ? " before this time" :
		  c->sel.time ? " in this time range" :
				"");
	return CMD_USAGE;
}

static int print_all(struct chain *c)
{
	int code;

	view_begin(&c->view, &c->opts->common.view, c->opts->common.json);
	if (c->opts->common.json)
		print_json(c);
	else if (c->cnt)
		print_text(c);
	else if (!c->timeline.switches)
		printf("Thread %" PRIu32 " was not woken in %s: %s.\n", c->tid,
		       reader_input(c->timeline.reader), interval_print_no_switches(&c->timeline));
	code = interval_report_end(&c->timeline, &c->view);
	return code == CMD_OK && !c->cnt && c->timeline.switches ? report_missing(c) : code;
}

static int read_twice(struct chain *c, const char *path)
{
	const struct interval_reader_opts t = { .sel = &c->sel,
						.fn = add_interval,
						.reset = reset_sums,
						.ctx = c,
						.each_switch = true };
	int code = interval_reader_run(&c->timeline, &t, path);

	if (code != CMD_OK || !c->found)
		return code;
	c->second = true;
	code = interval_reader_again(&c->timeline, names_part(c->timeline.names, c->part)->clock,
				     c->from, c->to, "");
	if (code != CMD_OK)
		return code;
	explain_finish(&c->numbers, c->timeline.names);
	walk(c);
	return CMD_OK;
}

/* TID, or TID@TIME: then the window of --time ends there. @window must outlive @c. */
static int parse(struct chain *c, struct buf *window)
{
	const struct offcpu_opts *opts = c->opts;
	const char *at = strchr(opts->chain, '@');
	const size_t n = at ? (size_t)(at - opts->chain) : strlen(opts->chain);
	char *number = xstrndup(opts->chain, n);
	uint64_t tid = 0;
	const int err = str_parse_u64(number, TRACE_NONE - 1, &tid);

	free(number);
	if (err || !tid || (at && (!at[1] || strchr(at, ',')))) {
		log_error(
			"wakeup: bad value '%s' for --chain: expected TID or TID@TIME, such as 4711@123.456",
			opts->chain);
		return CMD_USAGE;
	}
	if (at && c->sel.time) {
		log_error("wakeup: --chain %s already has a time; remove --time", opts->chain);
		return CMD_USAGE;
	}
	c->tid = (uint32_t)tid;
	c->latest = at;
	if (at) {
		buf_addch(window, ',');
		buf_addstr(window, at + 1);
		c->sel.time = buf_cstr(window);
	}
	return CMD_OK;
}

int wakeup_chain(const struct offcpu_opts *opts, const char *path)
{
	struct chain c = { .opts = opts, .sel = opts->common.sel };
	struct buf window = { 0 };
	int code = parse(&c, &window);

	if (code == CMD_OK)
		code = read_twice(&c, path);
	if (code == CMD_OK)
		code = print_all(&c);
	free(c.links);
	explain_fini(&c.numbers);
	interval_reader_fini(&c.timeline);
	buf_free(&window);
	return code;
}
