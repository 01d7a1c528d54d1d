// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pass of `count` over a trace. Owns which events are counted and what need not be read for that; the sums are
 * profile/counts.
 *
 * Threads are named ahead of the events only if their names are needed. Gaps cut pairs, and are written after their
 * time: a file is read again from the start when the first one is found.
 */
#include <string.h>

#include "base/str.h"
#include "cmd/count/count.h"
#include "export/script_stream.h"

/* ---- which events ------------------------------------------------------------------------------ */

static bool matches(const struct opt_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->cnt; i++)
		if (str_glob(globs->v[i], name))
			return true;
	return false;
}

/* Without -e, what script prints as lines of their own: stacks belong to other events. */
static bool is_counted(const struct count *c, const struct trace_event *ev, const char *name)
{
	const bool stack = ev->kind == TRACE_SAMPLE && ev->source != PROF_SOURCE_SAMPLE;

	if (!c->opts->events.cnt)
		return !stack && !trace_is_naming(ev->kind) && !trace_is_recorder_info(ev->kind);
	return matches(&c->opts->events, name) ||
	       (ev->kind == TRACE_SAMPLE && !stack &&
		matches(&c->opts->events, names_str(c->names, ev->schema->name, NULL)));
}

static uint32_t name_of(void *ctx, const struct trace_event *ev)
{
	struct count *c = ctx;
	const char *name = names_str(c->names, ev->schema->name, NULL);

	if (ev->kind == TRACE_SAMPLE)
		name = script_line_stack_name(ev) ?: script_stream_sample_name(c->names, ev->part);
	if (!is_counted(c, ev, name))
		return NAMES_NONE;
	c->event_matched = true;
	return names_add(c->names, name, strlen(name));
}

/* ---- what need not be read --------------------------------------------------------------------- */

/* Whether rows or the selection depend on names of threads. */
static bool needs_names(const struct count *c)
{
	if (select_by_thread(&c->sel))
		return true;
	for (size_t i = 0; i < c->by_cnt; i++)
		if (c->by[i].word == COUNT_COMM || c->by[i].word == COUNT_PID ||
		    c->by[i].word == COUNT_CGROUP)
			return true;
	return false;
}

/* Globs of the events that are needed; none: all. @two: room for two. */
static struct opt_list needed_events(const struct count *c, const char *two[2])
{
	if (!c->paired)
		return c->opts->events;
	two[0] = c->opts->syscalls ? "syscalls:*" : c->pair_opts.pattern.enter;
	two[1] = c->opts->syscalls ? "raw_syscalls:*" : c->pair_opts.pattern.exit;
	return (struct opt_list){ two, 2 };
}

/* Names of samples and their stacks are not known yet, but have no system. */
static bool may_be_samples(const struct opt_list *globs)
{
	for (size_t i = 0; i < globs->cnt; i++)
		if (globs->v[i][strcspn(globs->v[i], ":*?[\\")] != ':')
			return true;
	return !globs->cnt;
}

static const struct {
	const char *name;
	enum trace_kind kind;
} own_kinds[] = {
	{ PROF_EV_SCHED_SWITCH, TRACE_SCHED_SWITCH },
	{ PROF_EV_SCHED_WAKING, TRACE_SCHED_WAKING },
	{ PROF_EV_SCHED_WAKEUP_NEW, TRACE_SCHED_WAKING },
	{ PROF_EV_CPU_WATCH, TRACE_CPU_WATCH },
	{ PROF_EV_OFF_CPU, TRACE_OFF_CPU },
};

enum { OWN_KINDS = sizeof(own_kinds) / sizeof(own_kinds[0]) };

static bool has_own_kind(const char *name)
{
	for (size_t i = 0; i < OWN_KINDS; i++)
		if (!strcmp(name, own_kinds[i].name))
			return true;
	return false;
}

/* Kinds of which no event is needed, as far as that is known before reading. */
static unsigned int unneeded_kinds(const struct count *c)
{
	unsigned int needed = 0;
	const char *two[2];
	const struct opt_list globs = needed_events(c, two);

	if (!globs.cnt)
		return 0;
	if (may_be_samples(&globs))
		needed |= 1u << TRACE_SAMPLE;
	for (size_t i = 0; i < OWN_KINDS; i++)
		if (matches(&globs, own_kinds[i].name))
			needed |= 1u << own_kinds[i].kind;
	/* a thread's exit ends its pairs */
	if (c->paired)
		needed |= 1u << TRACE_TRACEPOINT;
	for (size_t i = 0; i < globs.cnt; i++)
		if (!has_own_kind(globs.v[i]))
			needed |= 1u << TRACE_TRACEPOINT;
	return (TRACE_KINDS_TRACEPOINT | 1u << TRACE_SAMPLE) & ~needed;
}

static bool needs_threads(const struct count *c)
{
	if (c->paired || select_is_used(&c->sel))
		return true;
	for (size_t i = 0; i < c->by_cnt; i++)
		if (c->by[i].word != COUNT_FIELD && c->by[i].word != COUNT_EVENT)
			return true;
	return false;
}

static void skip_unneeded(struct count *c)
{
	const unsigned int kinds = unneeded_kinds(c);

	reader_skip_stacks(c->reader);
	/* --time may start at the first event, whichever that is */
	if (needs_names(c) || c->sel.has_time)
		return;
	reader_skip_kinds(c->reader, kinds);
	/* the source of a sample is read with its thread */
	if (!needs_threads(c) && kinds & 1u << TRACE_SAMPLE)
		reader_skip_tasks(c->reader);
}

/* ---- events ------------------------------------------------------------------------------------ */

static void add_loss(struct count *c, const struct trace_event *ev)
{
	if (ev->kind != TRACE_LOST ||
	    select_overlaps(&c->sel, c->reader, ev->part, trace_u64_or(ev, ROLE_FIRST_NS, ev->ts),
			    trace_u64_or(ev, ROLE_LAST_NS, ev->ts)))
		event_counts_add_loss(&c->losses, reader_trace(c->reader), c->names, ev);
}

static void observe(struct count *c, const struct trace_event *ev)
{
	if (c->sel.has_time || c->sel.cpus_unseen)
		select_observe(&c->sel, c->reader, ev);
	if (ev->kind >= TRACE_MODULE || c->losses.unclosed_stats)
		add_loss(c, ev);
	if (ev->has_ts && ev->kind != TRACE_LOST && !trace_is_naming(ev->kind))
		recorded_time_event(&c->time, ev);
}

static bool is_of_recorder(struct count *c, const struct trace_event *ev)
{
	return recorder_tasks_has(&c->recorder, reader_trace(c->reader), c->names, ev->part,
				  ev->part, ev->pid);
}

static int read_events(struct count *c)
{
	const bool chosen = select_is_used(&c->sel);
	const bool threads = needs_names(c) && !select_by_thread(&c->sel);
	const struct counts_kind *kind;
	struct trace_event ev;
	int ret;

	while ((ret = reader_next(c->reader, &ev)) == 1) {
		observe(c, &ev);
		kind = counts_kind(&c->counts, &ev);
		if (!kind || (chosen && !select_match(&c->sel, c->reader, &ev)))
			continue;
		counts_add(&c->counts, reader_trace(c->reader), &ev, kind);
		c->recorder_cnt += threads && is_of_recorder(c, &ev);
	}
	return ret;
}

static bool is_wanted(void *ctx, uint32_t tid, uint32_t cpu)
{
	const struct count *c = ctx;

	if (c->opts->sel.cpus.cnt && cpu == TRACE_NONE)
		return false;
	return select_match_thread(&c->sel, c->reader, tid, cpu);
}

/* Reads on to the end for gaps alone, and starts over with them. */
static int start_over(struct count *c)
{
	struct trace_event ev;
	int ret;

	pair_sums_restart(&c->pairs);
	event_counts_fini(&c->losses);
	recorded_time_fini(&c->time);
	reader_skip_tasks(c->reader);
	reader_skip_kinds(c->reader, TRACE_KINDS_TRACEPOINT | 1u << TRACE_SAMPLE);
	while ((ret = reader_next(c->reader, &ev)) == 1)
		pair_sums_add_gap(&c->pairs, reader_trace(c->reader), &ev);
	return ret ? ret : reader_rewind(c->reader);
}

static int read_pairs(struct count *c)
{
	bool again = reader_can_rewind(c->reader);
	struct trace_event ev;
	int ret;

	while ((ret = reader_next(c->reader, &ev)) == 1) {
		if (again && pair_sums_add_gap(&c->pairs, reader_trace(c->reader), &ev)) {
			again = false;
			ret = start_over(c);
			if (ret)
				return ret;
			continue;
		}
		observe(c, &ev);
		if (ev.kind == TRACE_LOST || !c->sel.has_time ||
		    (ev.has_ts && select_overlaps(&c->sel, c->reader, ev.part, ev.ts, ev.ts)))
			pair_sums_add(&c->pairs, reader_trace(c->reader), &ev);
	}
	return ret;
}

/* Skipped events count for the time range. */
static void add_skipped(struct count *c)
{
	for (uint32_t i = 0; i < c->names->parts.cnt; i++) {
		const struct dial9_skipped s = trace_skipped(reader_trace(c->reader), i);
		struct recorded_time_part *part;

		if (!s.cnt)
			continue;
		part = recorded_time_part(&c->time, i);
		part->first = part->any && part->first < s.first_ts ? part->first : s.first_ts;
		part->last = part->any && part->last > s.last_ts ? part->last : s.last_ts;
		part->any = true;
	}
}

void count_begin(struct count *c)
{
	const struct counts_opts opts = { .by = c->by,
					  .by_cnt = c->by_cnt,
					  .sum = c->sum,
					  .hist = c->hist,
					  .interval_ns = c->opts->interval_ns,
					  .name_of = name_of,
					  .ctx = c };

	counts_init(&c->counts, &opts);
}

int count_read(struct count *c)
{
	int err = select_wants_scan(&c->sel) ? select_scan(&c->sel, c->reader) : 0;

	if (!err && needs_names(c))
		err = select_learn_tasks(c->reader);
	if (err)
		return err;
	skip_unneeded(c);
	if (c->paired) {
		c->pair_opts.is_wanted = is_wanted;
		c->pair_opts.by_thread = select_by_thread(&c->sel);
		c->pair_opts.ctx = c;
		pair_sums_init(&c->pairs, &c->pair_opts);
		err = read_pairs(c);
	} else {
		count_begin(c);
		err = read_events(c);
	}
	add_skipped(c);
	if (!err && c->paired)
		pair_sums_finish(&c->pairs, c->names);
	else if (!err)
		counts_finish(&c->counts, reader_trace(c->reader));
	return err;
}

static bool window(const void *ctx, uint32_t clock, uint64_t *from, uint64_t *to)
{
	const struct count *c = ctx;

	return select_window(&c->sel, clock, from, to);
}

uint64_t count_span_ns(const struct count *c)
{
	const struct recorded_time_opts opts = {
		.names = c->names, .ctx = c, .window = window, .cpu = TRACE_NONE
	};

	return recorded_time_sum(&c->time, &opts).span_ns;
}
