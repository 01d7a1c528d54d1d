// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof offcpu`: where threads were blocked, for how long, and who woke them. Owns the options
 * and the text; intervals come from the engine, sums from user/profile/sums/blocked.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/callchain.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_reader.h"
#include "cmd/common/report_text.h"
#include "cmd/common/unnamed_reason.h"
#include "cmd/common/view.h"
#include "cmd/sched/offcpu_sums_print.h"
#include "export/folded/folded_lines.h"
#include "profile/sums/blocked.h"

struct offcpu_opts {
	struct select_opts sel;
	struct view_opts view;
	const char *by, *states;
	uint64_t min_ns, max_ns, limit;
	bool hist, folded, kernel, user, json, include_self;
};

struct offcpu {
	const struct offcpu_opts *opts;
	struct interval_reader timeline;
	struct view view;
	struct blocked waits;
	enum callchain_part part;
	struct intervals_unknown untold; /* of threads that are wanted */
	uint64_t all; /* waits before --min, --max and --state */
	struct offcpu_sums sums; /* of a trace that has these in place of events */
};

/* Rows of a table, unless --limit says otherwise. */
#define LIMIT_TEXT 20

#define O(m) offsetof(struct offcpu_opts, m)

static const struct opt offcpu_opts[] = {
	SELECT_READ_OPTS(struct offcpu_opts, sel),
	{ .name = "min",
	  .key = 'm',
	  .kind = OPT_DURATION,
	  .off = O(min_ns),
	  .help = "Only off-CPU intervals of at least DUR, for example 1ms" },
	{ .name = "max",
	  .key = 'M',
	  .kind = OPT_DURATION,
	  .off = O(max_ns),
	  .help = "Only off-CPU intervals of at most DUR" },
	{ .name = "state",
	  .kind = OPT_STR,
	  .off = O(states),
	  .arg = "LETTERS",
	  .help = "Only these thread states, for example S,D (S sleep, D disk and locks, T stopped)" },
	{ .name = "by",
	  .key = 's',
	  .kind = OPT_STR,
	  .off = O(by),
	  .arg = "KEYS",
	  .help = "Group rows by any of stack,comm,pid,tid,state,waker,wstack "
		  "(default stack,comm,state,waker)",
	  .group = "Output" },
	{ .name = "hist",
	  .kind = OPT_FLAG,
	  .off = O(hist),
	  .help = "Print a histogram of the durations below each row" },
	{ .name = "folded",
	  .key = 'f',
	  .kind = OPT_FLAG,
	  .off = O(folded),
	  .help = "Print one stack per line with its microseconds, for flame graphs" },
	{ .name = "kernel-stacks",
	  .key = 'K',
	  .kind = OPT_FLAG,
	  .off = O(kernel),
	  .help = "Print only kernel frames of stacks" },
	{ .name = "user-stacks",
	  .key = 'U',
	  .kind = OPT_FLAG,
	  .off = O(user),
	  .help = "Print only user frames of stacks" },
	{ OPT_LIMIT(O(limit)),
	  .help = "Print at most N rows, 0 for all (default 20; with --json all)" },
	OPT_ROW_JSON(O(json)),
	INTERVAL_READER_SELF_OPT(struct offcpu_opts, include_self),
	VIEW_OPTS(struct offcpu_opts, view),
};

static const struct opt_spec offcpu_spec = {
	.name = "offcpu",
	.usage = "dial9-prof offcpu [OPTIONS] [FILE]",
	.brief = "Print where threads were blocked, for how long, and who woke them.",
	OPT_ROWS(offcpu_opts),
	.examples = "  dial9-prof offcpu\n"
		    "  dial9-prof offcpu --comm worker --min 1ms\n"
		    "  dial9-prof offcpu --by comm,waker\n"
		    "  dial9-prof offcpu --folded | flamegraph.pl > off.svg\n",
};

/* NULL: not for this command. */
static const char *const key_names[BLOCKED_KEY_CNT] = {
	[BLOCKED_STACK] = "stack",
	[BLOCKED_COMM] = "comm",
	[BLOCKED_PID] = "pid",
	[BLOCKED_TID] = "tid",
	[BLOCKED_STATE] = "state",
	[BLOCKED_WAKER] = "waker",
	[BLOCKED_WAKER_STACK] = "wstack",
};

static int parse_keys(const char *s, unsigned int *out)
{
	size_t n;
	int k;

	for (*out = 0;; s += n + 1) {
		n = strcspn(s, ",");
		k = opts_word(s, n, key_names, BLOCKED_KEY_CNT);
		if (k < 0) {
			log_error(
				"offcpu: unknown key '%.*s' in --by (known: stack, comm, pid, tid, "
				"state, waker, wstack)",
				(int)n, s);
			return -EINVAL;
		}
		*out |= 1u << k;
		if (!s[n])
			return 0;
	}
}

static int check_states(const char *s)
{
	if (!s || !s[strspn(s, "RSDTtXZPI,")])
		return 0;
	log_error("offcpu: bad value '%s' for --state: expected letters of RSDTtXZPI, such as S,D",
		  s);
	return -EINVAL;
}

static int parse_opts(struct offcpu *o)
{
	const struct offcpu_opts *opts = o->opts;
	struct blocked_opts *w = &o->waits.opts;

	if (opts->kernel && opts->user) {
		log_error("offcpu: -K and -U exclude each other; use only one of them");
		return -EINVAL;
	}
	if (opts->max_ns && opts->min_ns > opts->max_ns) {
		log_error("offcpu: --min is greater than --max");
		return -EINVAL;
	}
	if (parse_keys(opts->by ? opts->by : "stack,comm,state,waker", &w->keys) ||
	    check_states(opts->states))
		return -EINVAL;
	if (opts->folded && !opts->by)
		w->keys = 1u << BLOCKED_STACK | 1u << BLOCKED_COMM;
	w->buckets = opts->hist || opts->json;
	o->part = opts->kernel ? CALLCHAIN_KERNEL : opts->user ? CALLCHAIN_USER : CALLCHAIN_BOTH;
	return 0;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static void add_interval(void *ctx, const struct interval *i)
{
	struct offcpu *o = ctx;
	const struct offcpu_opts *opts = o->opts;
	const uint64_t whole = i->ended - i->began;

	if (i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    (i->state != INTERVAL_BLOCKED && i->state != INTERVAL_UNKNOWN) ||
	    !interval_reader_wants(&o->timeline, i, i->cpu))
		return;
	if (i->state == INTERVAL_UNKNOWN) {
		intervals_unknown_add(&o->untold, i);
		return;
	}
	o->all++;
	if (whole < opts->min_ns || (opts->max_ns && whole > opts->max_ns) ||
	    (opts->states && !strchr(opts->states, interval_letter(i->prev_state))))
		return;
	blocked_add(&o->waits, i);
}

static void take_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct offcpu *o = ctx;

	if (ev->kind == TRACE_SUMMARY)
		offcpu_sums_print_take(&o->sums, &o->timeline, t, ev);
}

static void reset_sums(void *ctx)
{
	struct offcpu *o = ctx;

	blocked_fini(&o->waits);
	offcpu_sums_fini(&o->sums);
	o->untold = (struct intervals_unknown){ 0 };
	o->all = 0;
}

/* ---- text -------------------------------------------------------------------------------------- */

static bool has(const struct offcpu *o, enum blocked_key key)
{
	return o->waits.opts.keys & 1u << key;
}

static void put_waker(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);

	interval_reader_put_waker(out, &o->timeline, r->woken ? &by : NULL);
}

static void put_id(struct buf *out, uint32_t id)
{
	if (id == TRACE_NONE)
		buf_addstr(out, "?");
	else
		buf_addu(out, id);
}

/* "worker 12/13 S <- timer": what the row is, apart from its stacks. */
static void put_group(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	if (has(o, BLOCKED_COMM)) {
		buf_addstr(out, "  ");
		name_text_name(out, o->timeline.names, r->comm);
	}
	if (has(o, BLOCKED_PID)) {
		buf_addstr(out, "  pid ");
		put_id(out, r->pid);
	}
	if (has(o, BLOCKED_TID)) {
		buf_addstr(out, "  tid ");
		put_id(out, r->tid);
	}
	if (has(o, BLOCKED_STATE))
		buf_printf(out, "  %c", r->state);
	if (has(o, BLOCKED_WAKER)) {
		buf_addstr(out, "  woken by ");
		put_waker(out, o, r);
	}
}

static void put_stack(struct buf *out, const struct offcpu *o, uint32_t stack, size_t indent)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(o->timeline.intervals, stack, &cnt);

	if (cnt) {
		callchain_lines(out, o->timeline.names, frames, cnt, o->part, indent,
				o->view.width);
		return;
	}
	buf_fill(out, ' ', indent);
	buf_addstr(out, "[no stack]\n");
}

static void put_row(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	interval_reader_put_waits(out, r, o->waits.ns, o->view.color);
	put_group(out, o, r);
	buf_addch(out, '\n');
	if (o->opts->hist)
		report_text_powers(out, r->buckets, 22, 8);
	if (has(o, BLOCKED_STACK))
		put_stack(out, o, r->stack, 12);
	if (has(o, BLOCKED_WAKER_STACK) && r->woken) {
		buf_fill(out, ' ', 12);
		buf_addstr(out, "-- waker stack\n");
		put_stack(out, o, r->waker_stack, 12);
	}
	if (has(o, BLOCKED_STACK) || has(o, BLOCKED_WAKER_STACK) || o->opts->hist)
		buf_addch(out, '\n');
}

static void put_head(struct buf *out, const struct offcpu *o)
{
	struct buf line = { 0 };

	interval_reader_put_head(out, &o->timeline, "blocked time", o->view.color);
	buf_addstr(&line, "# ");
	str_counted(&line, o->waits.intervals, "off-CPU interval");
	buf_addstr(&line, ", ");
	name_text_duration(&line, o->waits.ns, 0);
	buf_addstr(&line, " in total");
	if (o->waits.cut) {
		buf_addstr(&line, "; *: includes fragments (");
		buf_addu(&line, o->waits.cut);
		buf_addch(&line, ')');
	}
	buf_addch(&line, '\n');
	buf_add(out, line.data, line.len);
	interval_reader_put_unknown(out, &o->timeline, &o->untold, o->view.color);
	buf_free(&line);
}

static void say_nothing_there(const struct offcpu *o)
{
	const char *why = "no thread was blocked during the recording";
	struct buf out = { 0 };

	/* that is for print_all() */
	if (o->all)
		return;
	if (!o->timeline.switches)
		why = interval_reader_no_switches(&o->timeline);
	else if (o->untold.ns || o->untold.unsure_ns)
		why = "all off-CPU intervals are incomplete";
	else if (interval_reader_is_chosen(&o->timeline))
		return;
	printf("No blocked time in %s: %s.\n", reader_input(o->timeline.reader), why);
	interval_reader_put_unknown(&out, &o->timeline, &o->untold, o->view.color);
	buf_print(&out, stdout);
}

/* Whether a call of the stack has no name that a file with a build-id may give it. */
static bool lacks_names(const struct offcpu *o, uint32_t stack)
{
	const struct names *n = o->timeline.names;
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(o->timeline.intervals, stack, &cnt);

	for (uint32_t i = 0; i < cnt; i++)
		if (!names_is_named(n, frames[i]) &&
		    unnamed_reason_may_be_mended(n, names_frame_module(frames[i])))
			return true;
	return false;
}

/* When names may be found for a good part of what is shown. */
static void put_remedy(struct buf *out, const struct offcpu *o)
{
	uint64_t ns = 0;

	for (size_t i = 0; has(o, BLOCKED_STACK) && i < o->waits.cnt; i++)
		if (lacks_names(o, o->waits.rows[i].stack))
			ns += o->waits.rows[i].ns;
	if (!ns || ns < o->waits.ns / 100)
		return;
	buf_printf(out, "# unresolved symbols in %.1f%% of blocked time: ",
		   100.0 * (double)ns / (double)o->waits.ns);
	unnamed_reason_put_remedy(out, reader_input(o->timeline.reader));
	buf_addch(out, '\n');
}

static void print_text(const struct offcpu *o)
{
	const size_t n = report_text_rows(o->opts->limit, LIMIT_TEXT, o->waits.cnt);
	struct buf out = { 0 };

	if (!o->waits.cnt) {
		say_nothing_there(o);
		return;
	}
	put_head(&out, o);
	buf_addstr(&out, "#\n#      Time    Share    Count        Avg        Max\n");
	for (size_t i = 0; i < n; i++) {
		put_row(&out, o, &o->waits.rows[i]);
		fwrite(buf_cstr(&out), 1, out.len, stdout);
		buf_clear(&out);
	}
	report_text_more_rows(&out, o->waits.cnt - n, " with less time");
	put_remedy(&out, o);
	buf_print(&out, stdout);
}

static void print_folded(const struct offcpu *o)
{
	struct folded_lines lines = { 0 };
	struct buf out = { 0 };
	uint32_t cnt;

	for (size_t i = 0; i < o->waits.cnt; i++) {
		const struct blocked_row *r = &o->waits.rows[i];
		const uint64_t *frames = intervals_stack(o->timeline.intervals, r->stack, &cnt);
		size_t from = 0;

		buf_clear(&out);
		if (has(o, BLOCKED_COMM)) {
			name_text_name(&out, o->timeline.names, r->comm);
			name_text_fold(&out, from);
			buf_addch(&out, ';');
		}
		from = out.len;
		callchain_folded(&out, o->timeline.names, frames, cnt, o->part);
		if (out.len == from)
			buf_addstr(&out, "[no stack]");
		folded_lines_add(&lines, &out, r->ns);
	}
	buf_clear(&out);
	folded_lines_print(&lines, 1000, &out, NULL, NULL);
	fwrite(buf_cstr(&out), 1, out.len, stdout);
	folded_lines_fini(&lines);
	buf_free(&out);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_waker(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);

	interval_reader_json_waker(out, "waker", &o->timeline, r->woken ? &by : NULL);
}

static void json_row(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	json_object(out, NULL);
	json_u64s(out, { "ns", r->ns }, { "intervals", r->cnt }, { "cut", r->cut },
		  { "max_ns", r->max_ns }, { "max_start_ns", r->max_start });
	if (has(o, BLOCKED_COMM))
		name_text_json_name(out, "comm", o->timeline.names, r->comm);
	if (has(o, BLOCKED_PID))
		name_text_json_id(out, "pid", r->pid);
	if (has(o, BLOCKED_TID))
		name_text_json_id(out, "tid", r->tid);
	if (has(o, BLOCKED_STATE))
		json_char(out, "state", r->state);
	if (has(o, BLOCKED_WAKER))
		json_waker(out, o, r);
	if (has(o, BLOCKED_STACK))
		interval_reader_json_stack(out, &o->timeline, "stack", r->stack, o->part);
	if (has(o, BLOCKED_WAKER_STACK))
		interval_reader_json_stack(out, &o->timeline, "waker_stack", r->waker_stack,
					   o->part);
	report_text_json_powers(out, r->buckets);
	json_end(out, "}");
}

static void print_json(const struct offcpu *o)
{
	const size_t n = report_text_rows(o->opts->limit, 0, o->waits.cnt);
	struct buf out = { 0 };

	interval_reader_json_head(&out, &o->timeline);
	json_u64s(&out, { "intervals", o->waits.intervals }, { "cut", o->waits.cut },
		  { "ns", o->waits.ns });
	interval_reader_json_unknown(&out, &o->untold);
	report_text_json_rows(&out, o->waits.cnt - n);
	for (size_t i = 0; i < n; i++) {
		json_line(&out);
		json_row(&out, o, &o->waits.rows[i]);
		json_flush(&out, stdout);
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* A sum is of a process, and knows neither stacks nor states, and not how long a single wait was. */
static bool asks_more(const struct offcpu *o)
{
	const struct offcpu_opts *opts = o->opts;
	const unsigned int keys = o->waits.opts.keys;

	return opts->min_ns || opts->max_ns || opts->states || opts->folded ||
	       (opts->by &&
		(keys | 1u << BLOCKED_COMM) != (1u << BLOCKED_PID | 1u << BLOCKED_COMM));
}

static int print_sums(struct offcpu *o)
{
	const struct offcpu_opts *opts = o->opts;
	const struct offcpu_sums_print p = {
		.timeline = &o->timeline,
		.sums = &o->sums,
		.limit = opts->limit,
		.hist = opts->hist,
		.color = o->view.color,
	};

	view_begin(&o->view, &opts->view, opts->json);
	offcpu_sums_print_blocked(&o->sums);
	if (opts->json)
		offcpu_sums_print_blocked_json(&p);
	else
		offcpu_sums_print_blocked_text(&p);
	return interval_reader_end(&o->timeline, &o->view);
}

static int print_all(struct offcpu *o)
{
	int code;

	if (offcpu_sums_print_lacks(
		    "offcpu", &o->timeline, asks_more(o),
		    ", --min, --max, --state, --folded, and --by with keys other than pid"))
		return CMD_USAGE;
	if (o->sums.cnt && !o->waits.cnt)
		return print_sums(o);
	blocked_finish(&o->waits, o->timeline.names);
	view_begin(&o->view, &o->opts->view, o->opts->json || o->opts->folded);
	if (o->opts->json)
		print_json(o);
	else if (o->opts->folded)
		print_folded(o);
	else
		print_text(o);
	code = interval_reader_end(&o->timeline, &o->view);
	if (code == CMD_OK && o->all && !o->waits.cnt) {
		log_error(
			"no blocked time in %s: no off-CPU interval matches --min, --max and --state",
			reader_input(o->timeline.reader));
		code = CMD_USAGE;
	}
	return o->all ? code : interval_reader_tell_nothing(&o->timeline, "blocked time", code);
}

static int offcpu_file(const void *arg, const char *path)
{
	const struct offcpu_opts *opts = arg;
	struct offcpu o = { .opts = opts };
	const struct interval_reader_opts t = {
		.sel = &opts->sel,
		.fn = add_interval,
		.event = take_event,
		.reset = reset_sums,
		.ctx = &o,
		/* a flame graph has no place to say so */
		.hide_recorder = !opts->include_self && !opts->folded,
	};
	int code;

	if (parse_opts(&o))
		return CMD_USAGE;
	code = interval_reader_run(&o.timeline, &t, path);
	if (code == CMD_OK)
		code = print_all(&o);
	blocked_fini(&o.waits);
	offcpu_sums_fini(&o.sums);
	interval_reader_fini(&o.timeline);
	return code;
}

int cmd_offcpu(int argc, char **argv)
{
	struct offcpu_opts opts = { .limit = REPORT_TEXT_LIMIT_UNSAID };

	return select_run(&offcpu_spec, argc, argv, &opts, &opts.sel, offcpu_file);
}
