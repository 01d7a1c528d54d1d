// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof offcpu`: where threads were blocked, for how long, and who woke them; and `dial9-prof wakeup`, the same
 * sums by waker and woken thread. Owns the options and the text; intervals come from the engine, sums from
 * user/profile/sums/blocked.c, `wakeup --chain` from wakeup_chain.c.
 */
#include "cmd/sched/offcpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/unnamed_reason.h"
#include "cmd/sched/offcpu_sums_print.h"
#include "export/folded/folded_lines.h"

struct offcpu;

/* What differs between the two commands. */
struct offcpu_table {
	struct interval_report_ops ops;
	const char *counted, *after_count, *after_time; /* the line of totals */
	const char *columns;
	const char *count_key; /* in JSON */
	void (*put_group)(struct buf *out, const struct offcpu *o, const struct blocked_row *r);
	void (*json_group)(struct buf *out, const struct offcpu *o, const struct blocked_row *r);
};

struct offcpu {
	struct interval_report report;
	const struct offcpu_opts *opts;
	const struct offcpu_table *table;
	struct blocked waits;
	enum callchain_part part;
	struct offcpu_sums sums; /* of a trace that has these in place of events */
};

static const struct offcpu_table offcpu_table, wakeup_table;

/* Rows of a table, unless --limit says otherwise. */
#define LIMIT_TEXT 20

#define O(m) offsetof(struct offcpu_opts, m)

static const struct opt offcpu_opts[] = {
	SELECT_READ_OPTS(struct offcpu_opts, common.sel),
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
	  .help = "Group rows by any of stack,comm,pid,tid,cgroup,state,waker,wstack "
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
	INTERVAL_REPORT_OPTS(struct offcpu_opts, common, "20"),
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

static const struct opt wakeup_opts[] = {
	SELECT_READ_OPTS(struct offcpu_opts, common.sel),
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
	INTERVAL_REPORT_OPTS(struct offcpu_opts, common, "20"),
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

/* NULL: not for this command. */
static const char *const key_names[BLOCKED_KEY_CNT] = {
	[BLOCKED_STACK] = "stack", [BLOCKED_COMM] = "comm",	     [BLOCKED_PID] = "pid",
	[BLOCKED_TID] = "tid",	   [BLOCKED_CGROUP] = "cgroup",	     [BLOCKED_STATE] = "state",
	[BLOCKED_WAKER] = "waker", [BLOCKED_WAKER_STACK] = "wstack",
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
				"cgroup, state, waker, wstack)",
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
	w->buckets = opts->hist || opts->common.json;
	o->part = opts->kernel ? CALLCHAIN_KERNEL : opts->user ? CALLCHAIN_USER : CALLCHAIN_BOTH;
	return 0;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool has(const struct offcpu *o, enum blocked_key key)
{
	return o->waits.opts.keys & 1u << key;
}

static void add_interval(void *report, const struct interval *i)
{
	struct offcpu *o = report;
	const struct offcpu_opts *opts = o->opts;
	uint32_t cgroup = NAMES_NONE;
	const uint64_t whole = i->ended - i->began;

	if (i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    (i->state != INTERVAL_BLOCKED && i->state != INTERVAL_UNKNOWN) ||
	    !interval_reader_wants(&o->report.timeline, i, i->cpu))
		return;
	if (i->state == INTERVAL_UNKNOWN) {
		intervals_unknown_add(&o->report.unknown, i);
		return;
	}
	o->report.found++;
	if (whole < opts->min_ns || (opts->max_ns && whole > opts->max_ns) ||
	    (opts->states && !strchr(opts->states, interval_letter(i->prev_state))))
		return;
	if (has(o, BLOCKED_CGROUP))
		cgroup = select_interval_task(o->report.timeline.reader, o->report.timeline.part, i)
				 .cgroup;
	blocked_add(&o->waits, i, cgroup);
}

static void add_woken(void *report, const struct interval *i)
{
	struct offcpu *o = report;

	if (i->state != INTERVAL_BLOCKED || !i->waker ||
	    !interval_reader_wants(&o->report.timeline, i, i->cpu))
		return;
	o->report.found++;
	blocked_add(&o->waits, i, NAMES_NONE);
}

static void add_sums(void *report, const struct trace *t, const struct trace_event *ev)
{
	struct offcpu *o = report;

	offcpu_sums_print_add(&o->sums, &o->report.timeline, t, ev);
}

static void reset_sums(void *report)
{
	struct offcpu *o = report;

	blocked_fini(&o->waits);
	offcpu_sums_fini(&o->sums);
	o->report.unknown = (struct intervals_unknown){ 0 };
	o->report.found = 0;
}

/* A sum belongs to a process. It has neither stacks nor states, nor the lengths of single intervals. */
static bool asks_more(const struct offcpu *o)
{
	const struct offcpu_opts *opts = o->opts;
	const unsigned int keys = o->waits.opts.keys;

	return opts->min_ns || opts->max_ns || opts->states || opts->folded ||
	       (opts->by &&
		(keys | 1u << BLOCKED_COMM) != (1u << BLOCKED_PID | 1u << BLOCKED_COMM));
}

static int finish(void *report)
{
	struct offcpu *o = report;

	if (o->table == &offcpu_table &&
	    offcpu_sums_print_lacks(
		    "offcpu", &o->report.timeline, asks_more(o),
		    ", --min, --max, --state, --folded, and --by with keys other than pid"))
		return CMD_USAGE;
	blocked_finish(&o->waits, o->report.timeline.names);
	o->report.rows = o->waits.cnt;
	if (o->waits.cnt || !o->sums.cnt)
		return CMD_OK;
	offcpu_sums_print_blocked(&o->sums);
	o->report.found = o->report.rows = o->sums.cnt;
	o->report.plain = false;
	return CMD_OK;
}

/* ---- text -------------------------------------------------------------------------------------- */

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
	const struct interval_waker by = blocked_waker(r);

	if (has(o, BLOCKED_COMM)) {
		buf_addstr(out, "  ");
		value_text_name(out, o->report.timeline.names, r->comm);
	}
	if (has(o, BLOCKED_PID)) {
		buf_addstr(out, "  pid ");
		put_id(out, r->pid);
	}
	if (has(o, BLOCKED_TID)) {
		buf_addstr(out, "  tid ");
		put_id(out, r->tid);
	}
	if (has(o, BLOCKED_CGROUP)) {
		buf_addstr(out, "  ");
		value_text_name(out, o->report.timeline.names, r->cgroup);
	}
	if (has(o, BLOCKED_STATE))
		buf_printf(out, "  %c", r->state);
	if (has(o, BLOCKED_WAKER)) {
		buf_addstr(out, "  woken by ");
		interval_print_waker(out, &o->report.timeline, r->woken ? &by : NULL);
	}
}

static bool has_tid(const struct offcpu *o, const struct blocked_row *r)
{
	return o->opts->by_tid && r->waker_tid != TRACE_NONE && interval_by_thread(r->context);
}

/* Columns before it, and what it gets of a narrow terminal. */
enum { EDGE_AT = 53, EDGE_MIN = 12 };

static void put_edge(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);
	struct buf edge = { 0 };

	interval_print_waker(&edge, &o->report.timeline, &by);
	if (has_tid(o, r))
		buf_printf(&edge, " %u", r->waker_tid);
	buf_addstr(&edge, " -> ");
	value_text_name(&edge, o->report.timeline.names, r->comm);
	if (o->opts->by_tid)
		buf_printf(&edge, " %u", r->tid);
	buf_addstr(out, "  ");
	report_text_fit(out, buf_cstr(&edge), edge.len,
			!o->report.view.width			  ? SIZE_MAX :
			o->report.view.width > EDGE_AT + EDGE_MIN ? o->report.view.width - EDGE_AT :
								    EDGE_MIN);
	buf_free(&edge);
}

/* @title NULL: nothing before it. */
static void put_stack(struct buf *out, const struct offcpu *o, const char *title, uint32_t stack)
{
	const struct interval_report *r = &o->report;
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(r->timeline.intervals, stack, &cnt);

	if (!cnt && o->table == &wakeup_table)
		return;
	if (title)
		buf_printf(out, "%12s%s\n", "", title);
	if (cnt)
		callchain_lines(out, r->timeline.names, frames, cnt, o->part, 12, r->view.width);
	else
		buf_printf(out, "%12s[no stack]\n", "");
}

static void put_row(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const bool wakeups = o->table == &wakeup_table;
	const bool waker = has(o, BLOCKED_WAKER_STACK);

	interval_print_sums(out, r, o->waits.ns, o->report.view.color);
	o->table->put_group(out, o, r);
	buf_addch(out, '\n');
	if (o->opts->hist)
		report_text_powers(out, r->buckets, 22, 8);
	if (waker && wakeups)
		put_stack(out, o, "-- waker stack", r->waker_stack);
	if (has(o, BLOCKED_STACK))
		put_stack(out, o, wakeups ? "-- off-CPU stack" : NULL, r->stack);
	if (waker && r->woken && !wakeups)
		put_stack(out, o, "-- waker stack", r->waker_stack);
	if (has(o, BLOCKED_STACK) || waker || o->opts->hist)
		buf_addch(out, '\n');
}

static void put_total(struct buf *out, const struct offcpu *o)
{
	const struct offcpu_table *t = o->table;

	buf_addstr(out, "# ");
	str_counted(out, o->waits.intervals, t->counted);
	buf_addstr(out, t->after_count);
	value_text_duration(out, o->waits.ns, 0);
	buf_addstr(out, t->after_time);
	if (o->waits.cut)
		buf_addstr(out, "; *: includes fragments");
	if (o->waits.cut && t == &offcpu_table)
		buf_printf(out, " (%" PRIu64 ")", o->waits.cut);
	buf_addch(out, '\n');
}

/* Whether a call of the stack has no name that a file with a build-id may give it. */
static bool lacks_names(const struct offcpu *o, uint32_t stack)
{
	const struct names *n = o->report.timeline.names;
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(o->report.timeline.intervals, stack, &cnt);

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

	if (o->table != &offcpu_table)
		return;
	for (size_t i = 0; has(o, BLOCKED_STACK) && i < o->waits.cnt; i++)
		if (lacks_names(o, o->waits.rows[i].stack))
			ns += o->waits.rows[i].ns;
	if (!ns || ns < o->waits.ns / 100)
		return;
	buf_printf(out, "# unresolved symbols in %.1f%% of blocked time: ",
		   100.0 * (double)ns / (double)o->waits.ns);
	unnamed_reason_put_remedy(out, reader_input(o->report.timeline.reader));
	buf_addch(out, '\n');
}

static void put_folded(struct buf *out, const struct offcpu *o)
{
	const struct interval_reader *t = &o->report.timeline;
	struct folded_lines lines = { 0 };
	uint32_t cnt;

	for (size_t i = 0; i < o->waits.cnt; i++) {
		const struct blocked_row *r = &o->waits.rows[i];
		const uint64_t *frames = intervals_stack(t->intervals, r->stack, &cnt);
		size_t from = 0;

		buf_clear(out);
		if (has(o, BLOCKED_COMM)) {
			value_text_name(out, t->names, r->comm);
			value_text_fold(out, from);
			buf_addch(out, ';');
		}
		from = out->len;
		callchain_folded(out, t->names, frames, cnt, o->part);
		if (out->len == from)
			buf_addstr(out, "[no stack]");
		folded_lines_add(&lines, out, r->ns);
	}
	buf_clear(out);
	folded_lines_print(&lines, 1000, out, NULL, NULL);
	folded_lines_fini(&lines);
}

static struct offcpu_sums_print sums_of(const struct offcpu *o)
{
	return (struct offcpu_sums_print){ .timeline = &o->report.timeline,
					   .sums = &o->sums,
					   .limit = o->opts->common.limit,
					   .hist = o->opts->hist,
					   .color = o->report.view.color };
}

static bool put_text(struct buf *out, const void *report)
{
	const struct offcpu *o = report;
	const size_t n = report_text_rows(o->opts->common.limit, LIMIT_TEXT, o->waits.cnt);
	const struct offcpu_sums_print sums = sums_of(o);

	if (!o->waits.cnt) {
		if (o->sums.cnt)
			offcpu_sums_print_blocked_text(out, &sums);
		return o->sums.cnt || o->report.plain;
	}
	if (o->report.plain) {
		put_folded(out, o);
		return true;
	}
	put_total(out, o);
	interval_print_unknown(out, &o->report.timeline, &o->report.unknown, o->report.view.color);
	buf_addstr(out, o->table->columns);
	for (size_t i = 0; i < n; i++) {
		put_row(out, o, &o->waits.rows[i]);
		fwrite(buf_cstr(out), 1, out->len, stdout);
		buf_clear(out);
	}
	report_text_more_rows(out, o->waits.cnt - n, " with less time");
	put_remedy(out, o);
	return true;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_group(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);

	if (has(o, BLOCKED_COMM))
		value_text_json_name(out, "comm", o->report.timeline.names, r->comm);
	if (has(o, BLOCKED_PID))
		value_text_json_id(out, "pid", r->pid);
	if (has(o, BLOCKED_TID))
		value_text_json_id(out, "tid", r->tid);
	if (has(o, BLOCKED_CGROUP))
		value_text_json_name(out, "cgroup", o->report.timeline.names, r->cgroup);
	if (has(o, BLOCKED_STATE))
		json_char(out, "state", r->state);
	if (has(o, BLOCKED_WAKER))
		interval_print_json_waker(out, "waker", &o->report.timeline, r->woken ? &by : NULL);
}

static void json_edge(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const struct interval_waker by = blocked_waker(r);

	interval_print_json_waker(out, "waker", &o->report.timeline, &by);
	if (has_tid(o, r))
		json_u64(out, "waker_tid", r->waker_tid);
	value_text_json_name(out, "comm", o->report.timeline.names, r->comm);
	if (o->opts->by_tid)
		json_u64(out, "tid", r->tid);
}

static void json_row(struct buf *out, const struct offcpu *o, const struct blocked_row *r)
{
	const struct interval_reader *t = &o->report.timeline;

	json_line_object(out);
	json_u64s(out, { "ns", r->ns }, { o->table->count_key, r->cnt }, { "cut", r->cut },
		  { "max_ns", r->max_ns }, { "max_start_ns", r->max_start });
	o->table->json_group(out, o, r);
	if (has(o, BLOCKED_STACK))
		interval_print_json_stack(out, t, "stack", r->stack, o->part);
	if (has(o, BLOCKED_WAKER_STACK))
		interval_print_json_stack(out, t, "waker_stack", r->waker_stack, o->part);
	if (r->buckets)
		report_text_json_powers(out, r->buckets);
	json_end(out, "}");
}

static void put_json(struct buf *out, const void *report)
{
	const struct offcpu *o = report;
	const size_t n = report_text_rows(o->opts->common.limit, 0, o->waits.cnt);
	const struct offcpu_sums_print sums = sums_of(o);

	if (!o->waits.cnt && o->sums.cnt) {
		offcpu_sums_print_blocked_json(out, &sums);
		return;
	}
	json_u64s(out, { o->table->count_key, o->waits.intervals }, { "cut", o->waits.cut },
		  { "ns", o->waits.ns });
	if (o->table == &offcpu_table)
		interval_print_json_unknown(out, &o->report.unknown);
	report_text_json_rows(out, o->waits.cnt - n);
	for (size_t i = 0; i < n; i++) {
		json_row(out, o, &o->waits.rows[i]);
		json_flush(out, stdout);
	}
	json_end(out, "]");
}

/* ---- the run ----------------------------------------------------------------------------------- */

static const struct offcpu_table offcpu_table = {
	.ops = { .title = "blocked time",
		 .what = "blocked time",
		 .none = "No blocked time",
		 .why_none = "no thread was blocked during the recording",
		 .why_unknown = "all off-CPU intervals are incomplete",
		 .no_match = "no off-CPU interval matches --min, --max and --state",
		 .add_interval = add_interval,
		 .add_event = add_sums,
		 .reset = reset_sums,
		 .finish = finish,
		 .put_text = put_text,
		 .put_json = put_json },
	.counted = "off-CPU interval",
	.after_count = ", ",
	.after_time = " in total",
	.columns = "#\n#      Time    Share    Count        Avg        Max\n",
	.count_key = "intervals",
	.put_group = put_group,
	.json_group = json_group,
};

static const struct offcpu_table wakeup_table = {
	.ops = { .title = "who woke whom",
		 .what = "wakeups",
		 .none = "No wakeups",
		 .add_interval = add_woken,
		 .reset = reset_sums,
		 .finish = finish,
		 .put_text = put_text,
		 .put_json = put_json },
	.counted = "wakeup",
	.after_count = " after ",
	.after_time = " blocked in total",
	.columns = "#\n#   Blocked    Share  Wakeups        Avg        Max  waker -> wakee\n",
	.count_key = "wakeups",
	.put_group = put_edge,
	.json_group = json_edge,
};

static int offcpu_file(const void *arg, const char *path)
{
	const struct offcpu_opts *opts = arg;
	struct offcpu o = { .opts = opts, .table = &offcpu_table };

	o.report = (struct interval_report){
		.ops = &offcpu_table.ops,
		.opts = &opts->common,
		.plain = opts->folded,
		/* folded stacks have no line for hidden threads */
		.read.hide_recorder = !opts->common.include_self && !opts->folded,
	};
	return parse_opts(&o) ? CMD_USAGE : interval_report_run(&o.report, path);
}

static int wakeup_file(const void *arg, const char *path)
{
	const struct offcpu_opts *opts = arg;
	struct offcpu o = { .opts = opts, .table = &wakeup_table };

	if (opts->chain)
		return wakeup_chain(opts, path);
	o.report = (struct interval_report){ .ops = &wakeup_table.ops,
					     .opts = &opts->common,
					     .read.hide_recorder = !opts->common.include_self,
					     .read.no_stacks = !opts->stacks };
	o.waits.opts.keys = 1u << BLOCKED_COMM | 1u << BLOCKED_WAKER;
	if (opts->by_tid)
		o.waits.opts.keys |= 1u << BLOCKED_TID | 1u << BLOCKED_WAKER_TID;
	if (opts->stacks)
		o.waits.opts.keys |= 1u << BLOCKED_STACK | 1u << BLOCKED_WAKER_STACK;
	return interval_report_run(&o.report, path);
}

int cmd_offcpu(int argc, char **argv)
{
	struct offcpu_opts opts = { .common.limit = REPORT_TEXT_LIMIT_UNSAID };

	return select_run(&offcpu_spec, argc, argv, &opts, &opts.common.sel, offcpu_file);
}

int cmd_wakeup(int argc, char **argv)
{
	struct offcpu_opts opts = { .common.limit = REPORT_TEXT_LIMIT_UNSAID, .depth = 16 };

	return select_run(&wakeup_spec, argc, argv, &opts, &opts.common.sel, wakeup_file);
}
