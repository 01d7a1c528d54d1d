// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof sched timehist`: a line for each time that a thread was on a CPU, as perf's. Printed while
 * the trace is read; remembers of each thread when it left its CPU, and how long it was ready.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes_cache.h"
#include "base/hash.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_report.h"
#include "cmd/common/report_text.h"
#include "cmd/common/view.h"
#include "cmd/sched/sched.h"

struct timehist_opts {
	struct select_opts sel;
	struct view_opts view;
	bool state, next;
	uint64_t limit;
};

/* What happened to a thread before it runs. */
struct before {
	bool left; /* its CPU, at out_ns */
	bool unsure; /* how long it was ready is unknown */
	bool cut; /* delay_ns is only a fragment */
	uint64_t out_ns, delay_ns;
};

struct timehist {
	const struct timehist_opts *opts;
	struct interval_reader timeline;
	struct view view;
	struct hmap threads; /* tid -> struct before */
	/* of the switch at hand: */
	uint64_t switch_ns, prev_state, next_tid;
	uint64_t lines;
	struct intervals_unknown unknown; /* of threads that are wanted */
	size_t name_cols;
	struct bytes_cache tasks; /* columns by what they are made of */
	struct buf out, task;
};

#define O(m) offsetof(struct timehist_opts, m)

static const struct opt timehist_opts[] = {
	SELECT_READ_OPTS(struct timehist_opts, sel),
	{ .name = "state",
	  .kind = OPT_FLAG,
	  .off = O(state),
	  .help = "Also print the state in which the thread left the CPU",
	  .group = "Output" },
	{ .name = "next",
	  .key = 'n',
	  .kind = OPT_FLAG,
	  .off = O(next),
	  .help = "Also print the thread that got the CPU next" },
	{ OPT_LIMIT(O(limit)), .help = "Print at most N lines, 0 for all (default 0)" },
	VIEW_OPTS(struct timehist_opts, view),
};

static const struct opt_spec timehist_spec = {
	.name = "sched timehist",
	.usage = "dial9-prof sched timehist [OPTIONS] [FILE]",
	.brief =
		"Print each run of a thread on a CPU, with off-CPU time and run-queue latency before.",
	OPT_ROWS(timehist_opts),
	.examples = "  dial9-prof sched timehist | less\n"
		    "  dial9-prof sched timehist --comm worker --state --time 1s,1200ms\n",
};

/* Columns of names (and their minimum), and of other fields. */
enum { NAME_COLS = 30, NAME_MIN = 13, OTHER_COLS = 59, STATE_COLS = 8, NEXT_COLS = 24 };

/* "worker[12/10]", or "worker[12]" of the thread that the process has its number from. */
static void put_task(struct buf *out, struct timehist *h, const struct interval *i)
{
	const uint32_t key[] = { i->comm, i->tid, i->pid };
	struct buf *name = &h->task;
	const size_t at = out->len;

	if (bytes_cache_get(&h->tasks, key, sizeof(key), 0, out))
		return;
	buf_clear(name);
	value_text_name(name, h->timeline.names, i->comm);
	buf_printf(name, "[%u", i->tid);
	if (i->pid != TRACE_NONE && i->pid != i->tid)
		buf_printf(name, "/%u", i->pid);
	buf_addch(name, ']');
	report_text_column(out, buf_cstr(name), name->len, h->name_cols, h->view.width);
	bytes_cache_put(&h->tasks, key, sizeof(key), out->data + at, out->len - at);
}

/* To the microsecond, in ten columns; before them a space, or a star for a fragment in the column before. */
static void put_ms(struct buf *out, bool star, bool known, uint64_t ns)
{
	const uint64_t us = ns / 1000 + (ns % 1000 >= 500);

	buf_addch(out, star ? '*' : ' ');
	if (!known) {
		buf_addstr(out, "         -");
		return;
	}
	buf_addu_padded(out, us / 1000, 6, ' ');
	buf_addch(out, '.');
	buf_addu_padded(out, us % 1000, 3, '0');
}

/* Whether it is the switch at hand that ends it. */
static bool is_of_switch(const struct timehist *h, const struct interval *i)
{
	return i->end_by >= INTERVAL_TO_BLOCK && i->ended == h->switch_ns;
}

/* The thread that was switched in next. */
static void put_next(struct buf *out, const struct timehist *h, const struct interval *i)
{
	const struct names_task *next;

	if (!is_of_switch(h, i) || h->next_tid >= TRACE_NONE)
		return;
	if (!h->next_tid) {
		buf_addstr(out, "  next: idle");
		return;
	}
	next = trace_task(reader_trace(h->timeline.reader), (uint32_t)h->next_tid);
	buf_addstr(out, "  next: ");
	if (next && next->comm != NAMES_NONE)
		value_text_name(out, h->timeline.names, next->comm);
	buf_printf(out, "[%" PRIu64 "]", h->next_tid);
}

static char state_of(const struct timehist *h, const struct interval *i)
{
	return is_of_switch(h, i) ? interval_letter((uint32_t)h->prev_state) : '-';
}

static void put_line(struct timehist *h, const struct interval *i, const struct before *b)
{
	struct buf *out = &h->out;

	report_text_time(out, i->end, 16);
	buf_addstr(out, " [");
	buf_addu_padded(out, i->cpu, 4, '0');
	buf_addstr(out, "]  ");
	put_task(out, h, i);
	put_ms(out, false, b->left, b->left ? i->start - b->out_ns : 0);
	put_ms(out, false, (b->left || b->delay_ns) && !b->unsure, b->delay_ns);
	put_ms(out, b->cut, true, i->end - i->start);
	buf_addch(out, i->flags & INTERVAL_CUT ? '*' : ' ');
	if (h->opts->state)
		buf_printf(out, "  %c", state_of(h, i));
	if (h->opts->next)
		put_next(out, h, i);
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_addch(out, '\n');
	h->lines++;
}

static struct before *before_of(struct timehist *h, uint32_t tid)
{
	struct before *b = hmap_get(&h->threads, tid);

	if (!b) {
		b = xcalloc(1, sizeof(*b));
		hmap_set(&h->threads, tid, b);
	}
	return b;
}

static void add_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct timehist *h = ctx;

	(void)t;
	if (ev->kind != TRACE_SCHED_SWITCH)
		return;
	h->switch_ns = ev->ts;
	h->prev_state = trace_u64_or(ev, ROLE_PREV_STATE, UINT32_MAX);
	h->next_tid = trace_u64_or(ev, ROLE_NEXT_PID, TRACE_NONE);
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct timehist *h = ctx;
	struct before *b;

	if (i->flags & INTERVAL_NEIGHBOUR || !i->tid || !interval_reader_has_states(&h->timeline) ||
	    !interval_reader_wants(&h->timeline, i, TRACE_NONE))
		return;
	b = before_of(h, i->tid);
	if (i->state == INTERVAL_UNKNOWN) {
		b->left = false;
		if (interval_reader_wants(&h->timeline, i, i->cpu))
			intervals_unknown_add(&h->unknown, i);
	}
	if (i->state != INTERVAL_RUNNING && i->next_tid != TRACE_NONE &&
	    (i->state != INTERVAL_UNKNOWN || interval_is_unsure(i->flags)))
		*b = (struct before){ .left = !(i->flags & INTERVAL_CLIP_START),
				      .unsure = i->state == INTERVAL_UNKNOWN,
				      .out_ns = i->start };
	if (i->state == INTERVAL_RUNNABLE &&
	    (i->why == INTERVAL_WHY_WOKEN || i->why == INTERVAL_WHY_NEW)) {
		b->delay_ns = i->end - i->start;
		b->cut = i->flags & INTERVAL_CUT && b->delay_ns;
	}
	if (i->state != INTERVAL_RUNNING)
		return;
	if (interval_reader_wants(&h->timeline, i, i->cpu) &&
	    (!h->opts->limit || h->lines < h->opts->limit))
		put_line(h, i, b);
	*b = (struct before){ 0 };
	if (h->out.len < 1 << 16)
		return;
	fwrite(h->out.data, 1, h->out.len, stdout);
	buf_clear(&h->out);
}

static void put_columns(struct timehist *h)
{
	const size_t others =
		OTHER_COLS + (h->opts->state ? STATE_COLS : 0) + (h->opts->next ? NEXT_COLS : 0);

	h->name_cols = NAME_COLS;
	if (h->view.width && h->view.width < others + NAME_COLS)
		h->name_cols =
			h->view.width > others + NAME_MIN ? h->view.width - others : NAME_MIN;
	buf_printf(&h->out, "#%15s %6s  %-*s %10s %10s %10s%s\n", "time", "cpu", (int)h->name_cols,
		   "task[tid/pid]", "off-CPU ms", "runq ms", "run ms",
		   h->opts->state ? "   state" : "");
}

static void put_lost(struct timehist *h)
{
	struct buf lost = { 0 };

	report_text_lost(&lost, &h->timeline.losses.account);
	buf_printf(&h->out, "# lost: %s\n", buf_cstr(&lost));
	buf_free(&lost);
	interval_print_filtered(&h->out, &h->timeline, h->view.color);
	interval_print_unknown(&h->out, &h->timeline, &h->unknown, h->view.color);
}

/* The last that it prints. Heads of columns alone would say nothing. */
static void put_rest(struct timehist *h, bool whole)
{
	if (whole && !h->timeline.switches) {
		printf("No thread ran in %s: %s.\n", reader_input(h->timeline.reader),
		       interval_print_no_switches(&h->timeline));
		return;
	}
	if (whole)
		put_lost(h);
	if (h->lines || (whole && !interval_reader_is_chosen(&h->timeline)))
		fwrite(buf_cstr(&h->out), 1, h->out.len, stdout);
}

static int timehist_file(const void *arg, const char *path)
{
	const struct timehist_opts *opts = arg;
	struct timehist h = { .opts = opts,
			      .tasks = { .slot_cnt = 4096, .bytes_max = (size_t)1 << 20 } };
	const struct interval_reader_opts t = { .sel = &opts->sel,
						.fn = add_interval,
						.event = add_event,
						.ctx = &h,
						.no_stacks = true,
						.each_switch = true };
	size_t pos = 0;
	uint64_t tid;
	void *b;
	int code, end;

	view_begin(&h.view, &opts->view, false);
	put_columns(&h);
	code = interval_reader_run(&h.timeline, &t, path);
	put_rest(&h, code == CMD_OK);
	end = code == CMD_OK ? interval_report_end(&h.timeline, &h.view) : view_end(&h.view);
	if (!h.lines && code == CMD_OK)
		end = interval_report_nothing(&h.timeline, "threads that ran", end);
	while (hmap_next(&h.threads, &pos, &tid, &b))
		free(b);
	hmap_fini(&h.threads);
	bytes_cache_fini(&h.tasks);
	buf_free(&h.task);
	buf_free(&h.out);
	interval_reader_fini(&h.timeline);
	return end != CMD_OK ? end : code;
}

int sched_timehist(int argc, char **argv)
{
	struct timehist_opts opts = { 0 };

	return select_run(&timehist_spec, argc, argv, &opts, &opts.sel, timehist_file);
}
