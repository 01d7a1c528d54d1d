// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof explain --span`: the slowest of pairs of events, and what their threads did. Owns what --span
 * means and the two readings: the first finds the pairs, the second what happened at their times. Text
 * is made in explain_slowest_print.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/explain/explain.h"
#include "rewrite/copy/spool.h"

/* ---- what --span means ------------------------------------------------------------------------- */

/* How the two ends of one thing are called. */
static const struct {
	const char *begin, *end;
} words[] = {
	{ "enter", "exit" }, { "Enter", "Exit" }, { "entry", "exit" }, { "start", "end" },
	{ "Start", "End" },  { "begin", "end" },  { "Begin", "End" },
};

static struct spans_pattern *add_pattern(struct explain_slowest *s, const char *enter,
					 const char *exit)
{
	s->patterns = xrealloc(s->patterns, (s->pattern_cnt + 1) * sizeof(*s->patterns));
	s->patterns[s->pattern_cnt] =
		(struct spans_pattern){ .enter = xstrdup(enter), .exit = xstrdup(exit) };
	return &s->patterns[s->pattern_cnt++];
}

static void add_around(struct explain_slowest *s, const char *enter, const char *exit,
		       const char *word, const char *behind)
{
	struct buf a = { 0 }, b = { 0 };

	buf_printf(&a, "%s%s%s", enter, word, behind);
	buf_printf(&b, "%s%s%s", exit, word, behind);
	add_pattern(s, buf_cstr(&a), buf_cstr(&b));
	buf_free(&a);
	buf_free(&b);
}

/* The name has one of the words for a start: the end's name has the matching word instead. */
static bool add_by_begin(struct explain_slowest *s, const char *name)
{
	const char *at = NULL, *found;
	struct buf exit = { 0 };
	size_t which = 0;

	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
		found = strstr(name, words[k].begin);
		if (found && (!at || found < at)) {
			at = found;
			which = k;
		}
	}
	if (!at)
		return false;
	buf_add(&exit, name, (size_t)(at - name));
	buf_addstr(&exit, words[which].end);
	buf_addstr(&exit, at + strlen(words[which].begin));
	add_pattern(s, name, buf_cstr(&exit));
	buf_free(&exit);
	return true;
}

/* Spans of a function, by its path or the last words of that. */
static void add_path(struct explain_slowest *s, const char *path)
{
	add_around(s, "SpanEnter:*::", "SpanExit:*::", path, ":*");
	if (strstr(path, "::"))
		add_around(s, "SpanEnter:", "SpanExit:", path, ":*");
}

/* "ddb::query": a colon of which the first is not a pair stands in names of events. */
static bool is_path(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && colon[1] == ':';
}

/* A word that is no event: whatever of that name has a beginning and an end. */
static void add_word(struct explain_slowest *s, const char *word)
{
	struct spans_pattern *raw =
		add_pattern(s, "raw_syscalls:sys_enter", "raw_syscalls:sys_exit");

	if (!strcmp(word, "raw_syscalls"))
		return;
	raw->call = xstrdup(word);
	add_around(s, "syscalls:sys_enter_", "syscalls:sys_exit_", word, "");
	add_path(s, word);
	if (!strcmp(word, "poll"))
		add_pattern(s, "PollStartEvent", "PollEndEvent");
}

/* "ENTER,EXIT" and "ENTER,EXIT,FIELD": @text is cut at its commas. */
static int add_pair(struct explain_slowest *s, char *text)
{
	char *exit = strchr(text, ','), *field;

	*exit++ = '\0';
	field = strchr(exit, ',');
	if (field)
		*field++ = '\0';
	if (!*text || !*exit || (field && (!*field || strchr(field, ',')))) {
		log_error("%s: bad value for --span: expected ENTER,EXIT or ENTER,EXIT,FIELD",
			  s->word);
		return -EINVAL;
	}
	if (!strcmp(text, exit)) {
		log_error("%s: bad value '%s' for --span: start and end must be different events",
			  s->word, text);
		return -EINVAL;
	}
	if (field && s->spans.opts.field && strcmp(field, s->spans.opts.field) != 0) {
		log_error("%s: --span: use the same field for all pairs, not %s and %s", s->word,
			  s->spans.opts.field, field);
		return -EINVAL;
	}
	if (field && !s->spans.opts.field)
		s->spans.opts.field = xstrdup(field);
	add_pattern(s, text, exit);
	return 0;
}

int explain_slowest_add(struct explain_slowest *s, const char *text)
{
	char *copy;
	int err;

	if (strchr(text, ',')) {
		copy = xstrdup(text);
		err = add_pair(s, copy);
		free(copy);
		return err;
	}
	if (is_path(text)) {
		add_path(s, text);
		return 0;
	}
	if (!strchr(text, ':') && !strstr(text, "Start") && !strstr(text, "Begin") &&
	    !strstr(text, "Enter")) {
		add_word(s, text);
		return 0;
	}
	if (add_by_begin(s, text))
		return 0;
	log_error("%s: bad value '%s' for --span: no end event given; use --span ENTER,EXIT",
		  s->word, text);
	return -EINVAL;
}

/* ---- first reading: the pairs ------------------------------------------------------------------ */

static const struct names_task *task_of(const struct explained *x, uint32_t tid)
{
	return trace_task(reader_trace(x->timeline.reader), tid);
}

static bool wants(void *ctx, uint32_t tid, uint32_t cpu)
{
	const struct explain_slowest *s = ctx;
	const struct explained *x = s->x;
	const struct names_task *task = x->id ? task_of(x, tid) : NULL;

	if (x->id && tid != x->id && (!task || task->pid != x->id))
		return false;
	/* an application's events do not say where they were */
	if (x->opts->sel.cpus.cnt && cpu == TRACE_NONE)
		return false;
	return select_match_thread(&x->timeline.sel, x->timeline.reader, tid, cpu);
}

static struct gaps *windows_of(const struct explain_slowest *s, uint32_t part)
{
	const uint32_t clock = names_part(s->x->timeline.names, part)->clock;

	return clock < s->window_cap ? &s->windows[clock] : NULL;
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct explain_slowest *s = ctx;
	const struct gaps *w = s->telling && s->switches ? windows_of(s, i->part) : NULL;

	if (w && gaps_touch(w, i->start, i->end))
		explain_add(&s->x->numbers, s->x->timeline.intervals, i);
}

/* Where a part has switches, their stacks come with them. */
static bool is_told(const struct explain_slowest *s, const struct trace_event *ev)
{
	return ev->kind == TRACE_SAMPLE && ev->has_ts &&
	       (ev->source == PROF_SOURCE_SAMPLE ||
		(ev->source == PROF_SOURCE_SWITCH_OUT &&
		 !interval_reader_has_switches(&s->x->timeline, ev->part)));
}

/* The recorder's events are in order; an application's come in batches of its threads. */
static void check_order(struct explain_slowest *s, const struct trace_event *ev)
{
	if (ev->kind != TRACE_OTHER || !ev->has_ts)
		return;
	s->unsorted |= ev->part == s->last_part && ev->ts < s->last_ts;
	s->last_part = ev->part;
	s->last_ts = ev->ts;
}

static void add_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct explain_slowest *s = ctx;
	const struct gaps *w;

	if (s->telling) {
		if (s->wants_polled)
			tokio_polls_add(&s->polled, s->x->timeline.names, t, ev);
		w = is_told(s, ev) ? windows_of(s, ev->part) : NULL;
		if (w && gaps_touch(w, ev->ts, ev->ts))
			explain_add_sample(&s->x->numbers, ev);
		return;
	}
	if (ev->has_ts && ev->kind != TRACE_LOST && !interval_reader_has_time(&s->x->timeline, ev))
		return;
	check_order(s, ev);
	spans_add(&s->spans, t, ev);
}

static void reset_sums(void *ctx)
{
	struct explain_slowest *s = ctx;

	s->last_part = TRACE_NONE;
	if (s->telling)
		explain_fini(&s->x->numbers);
	else
		spans_restart(&s->spans);
}

/* ---- second reading: their times --------------------------------------------------------------- */

static void mark_windows(struct explain_slowest *s)
{
	for (size_t k = 0; k < s->spans.cnt; k++) {
		const struct span *p = &s->spans.v[k];
		const uint32_t clock = names_part(s->x->timeline.names, p->part)->clock;

		s->windows = array_reserve(s->windows, &s->window_cap, (size_t)clock + 1,
					   sizeof(*s->windows));
		gaps_add(&s->windows[clock], p->start, p->end);
	}
}

static bool has_data_of(const struct explain_slowest *s, uint32_t part, const struct span *p)
{
	uint64_t ns[INTERVAL_STATE_CNT];

	return explain_sums(&s->x->numbers, part, p->tid, p->start, p->end, ns) < p->end - p->start;
}

/* The part with the events of its thread: its own, or another one on the same clock. */
static uint32_t part_with_data(const struct explain_slowest *s, const struct span *p)
{
	const struct names *names = s->x->timeline.names;

	if (has_data_of(s, p->part, p))
		return p->part;
	for (uint32_t part = 0; part < names->parts.cnt; part++)
		if (names_part(names, part)->clock == names_part(names, p->part)->clock &&
		    has_data_of(s, part, p))
			return part;
	return p->part;
}

/*
 * A thread that reads a clock for its own event is on a CPU. If the thread of that number was not, it is another
 * thread: of another pid namespace, or started later.
 */
#define OFF_SLACK_NS 50000

static enum explain_untold why_unknown(const struct explain_slowest *s, const struct span *p)
{
	const struct explain *e = &s->x->numbers;

	if (p->tid == TRACE_NONE)
		return EXPLAIN_NO_THREAD;
	if (e->dropped_from && e->dropped_from < p->end)
		return EXPLAIN_NOT_KEPT;
	if (!has_data_of(s, p->part, p))
		return EXPLAIN_NOT_RECORDED;
	if (p->worker != TRACE_NONE &&
	    (explain_was_off(e, p->part, p->tid, p->start, OFF_SLACK_NS) ||
	     explain_was_off(e, p->part, p->tid, p->end, OFF_SLACK_NS)))
		return EXPLAIN_NOT_ITS_THREAD;
	return EXPLAIN_KNOWN;
}

static void sum_up(struct explain_slowest *s)
{
	const struct explained *x = s->x;

	s->known = xcalloc(s->spans.cnt, sizeof(*s->known));
	for (size_t k = 0; k < s->spans.cnt; k++) {
		struct span *p = &s->spans.v[k];
		struct explain_known *known = &s->known[k];

		known->part = p->part;
		p->part = part_with_data(s, p);
		known->why = why_unknown(s, p);
		s->unknown[known->why]++;
		if (known->why == EXPLAIN_NOT_ITS_THREAD)
			p->tid = p->end_tid = TRACE_NONE;
		if (known->why == EXPLAIN_KNOWN || !s->wants_polled)
			causes_add(&s->causes, &x->numbers, x->timeline.intervals,
				   x->timeline.names, p->part, p->tid, p->start, p->end);
	}
	causes_finish(&s->causes);
}

static int print_result(struct explain_slowest *s)
{
	struct explained *x = s->x;
	int code;

	s->telling = true;
	s->switches = interval_reader_has_states(&x->timeline);
	mark_windows(s);
	if (s->wants_polled)
		tokio_polls_init(&s->polled, s->spans.v, s->spans.cnt);
	code = interval_reader_reread(&x->timeline);
	if (code != CMD_OK)
		return code;
	explain_finish(&x->numbers, x->timeline.names);
	if (s->switches)
		sum_up(s);
	return CMD_OK;
}

int explain_slowest_find(struct explain_slowest *s, const char *path, struct source *src)
{
	struct explained *x = s->x;
	const struct interval_reader_opts t = { .sel = &x->opts->sel,
						.fn = add_interval,
						.event = add_event,
						.reset = reset_sums,
						.ctx = s,
						.src = src,
						.each_switch = true };
	int code;

	s->spans.opts.patterns = s->patterns;
	s->spans.opts.pattern_cnt = s->pattern_cnt;
	s->spans.opts.is_wanted = wants;
	s->spans.opts.by_thread = x->id || select_opts_are_used(&x->opts->sel);
	s->spans.opts.ctx = s;
	code = interval_reader_run(&x->timeline, &t, path);
	/* no more can be sorted than was read of damaged data or a later format */
	s->unsorted &= s->wants_order && code == CMD_OK && !reader_is_newer(x->timeline.reader) &&
		       !reader_is_damaged(x->timeline.reader);
	if (s->unsorted)
		return CMD_OK;
	if (code == CMD_OK && spans_needs_rerun(&s->spans))
		code = interval_reader_reread(&x->timeline);
	if (code != CMD_OK)
		return code;
	spans_finish(&s->spans);
	return s->spans.cnt ? print_result(s) : CMD_OK;
}

void explain_slowest_fini(struct explain_slowest *s)
{
	for (size_t k = 0; k < s->pattern_cnt; k++) {
		free((char *)s->patterns[k].enter);
		free((char *)s->patterns[k].exit);
		free((char *)s->patterns[k].call);
	}
	free(s->patterns);
	for (size_t k = 0; k < s->window_cap; k++)
		gaps_fini(&s->windows[k]);
	free(s->windows);
	free(s->known);
	tokio_polls_fini(&s->polled);
	causes_fini(&s->causes);
	spans_fini(&s->spans);
	free((char *)s->spans.opts.field);
}

static int print(struct explain_slowest *s)
{
	struct explained *x = s->x;
	int code;

	view_begin(&x->view, &x->opts->view, x->opts->json);
	if (x->opts->json)
		explain_slowest_json(s);
	else
		explain_slowest_print(s);
	code = interval_report_end(&x->timeline, &x->view);
	if (code != CMD_OK || s->spans.cnt)
		return code;
	explain_slowest_report_missing(s);
	return CMD_USAGE;
}

int explain_slowest(struct explained *x, const char *path)
{
	struct explain_slowest s = { .x = x, .word = "explain" };
	struct source *src = NULL;
	int code = CMD_OK;

	s.spans.opts.max = x->opts->slowest;
	for (size_t k = 0; code == CMD_OK && k < x->opts->spans.cnt; k++)
		if (explain_slowest_add(&s, x->opts->spans.v[k]))
			code = CMD_USAGE;
	if (code == CMD_OK && !spool_is_regular(path) && spool_open("explain", path, &src))
		code = CMD_INPUT;
	if (code == CMD_OK)
		code = explain_slowest_find(&s, path, src);
	if (code == CMD_OK)
		code = print(&s);
	explain_slowest_fini(&s);
	return code;
}
