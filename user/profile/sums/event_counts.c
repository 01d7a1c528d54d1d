// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contents of a trace: events and bytes by type, its time range, losses, and the recorder's last
 * statistics. Numbers only; grows with distinct event names and kinds of loss. Other commands use
 * only the loss part, because every report prints what is missing.
 */
#include "profile/sums/event_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool str_is(struct dial9_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.ptr, text, s.len);
}

static void add_type(struct event_counts *c, const struct trace_event *ev)
{
	uint32_t name = ev->schema->name;
	uintptr_t at = (uintptr_t)hmap_get(&c->by_name, name);

	if (!at) {
		c->types =
			array_reserve(c->types, &c->type_cap, c->type_cnt + 1, sizeof(*c->types));
		c->types[c->type_cnt++] = (struct event_counts_type){ .name = name };
		at = c->type_cnt;
		hmap_set(&c->by_name, name, (void *)at);
	}
	c->types[at - 1].events++;
	c->types[at - 1].bytes += ev->bytes;
	c->events++;
}

static struct event_counts_part *part_of(struct event_counts *c, uint32_t part)
{
	c->parts = array_reserve(c->parts, &c->part_cap, (size_t)part + 1, sizeof(*c->parts));
	while (c->part_cnt <= part)
		c->parts[c->part_cnt++] = (struct event_counts_part){ 0 };
	return &c->parts[part];
}

uint64_t event_counts_tracepoints(const struct event_counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->part_cnt; i++)
		sum += c->parts[i].tracepoints;
	return sum;
}

const struct event_counts_part *event_counts_part(const struct event_counts *c, uint32_t part)
{
	static const struct event_counts_part none;

	return part < c->part_cnt ? &c->parts[part] : &none;
}

static void add_time(struct event_counts_part *c, uint64_t ts)
{
	if (!c->has_ts || ts < c->first_ts)
		c->first_ts = ts;
	if (!c->has_ts || ts > c->last_ts)
		c->last_ts = ts;
	c->has_ts = true;
}

static void add_stats(struct event_counts_stats *s, const struct trace *t,
		      const struct trace_event *ev)
{
	struct own_stats v = { 0 };
	const uint64_t fields = trace_read_stats(t, ev, &v);

	*s = (struct event_counts_stats){
		.figures.known = true,
		.figures.produced = v.produced,
		.figures.written = v.written,
		.figures.lost = v.lost,
		.figures.closed = v.closed,
		.figures.continues = v.closed == PROF_CLOSED_SEGMENT,
		.has_closed = OWN_HAS(fields, STATS, stats, closed),
		.segment = ev->segment,
		.v = v,
		.fields = fields,
	};
}

/*
 * Statistics of old recorders do not mark the last ones. But the last ones are followed by the wall
 * clock, and by no other event.
 */
static void update_closed(struct event_counts_stats *s, const struct trace_event *ev)
{
	if (s->has_closed || !s->figures.known)
		return;
	if (ev->kind == TRACE_CLOCK_SYNC)
		s->figures.closed = true;
	else if (!trace_is_naming(ev->kind))
		s->figures.closed = false;
}

/*
 * Statistics that close a file do not cover events after them: of the next file, or of files that
 * were concatenated.
 */
static void update_continues(struct event_counts_stats *s, const struct trace_event *ev)
{
	if (s->figures.continues && (ev->segment != s->segment ||
				     (ev->kind >= TRACE_TRACEPOINT && ev->kind <= TRACE_SAMPLE)))
		s->figures.closed = s->figures.continues = false;
}

/* A recorder has a few kinds; a file may have any number. */
#define EVENT_COUNTS_KINDS_MAX 64

static void add_lost(struct event_counts_part *c, uint32_t kind, enum loss_accounting_class cls,
		     const struct trace_event *ev)
{
	uint64_t first = trace_u64_or(ev, ROLE_FIRST_NS, ev->ts);
	uint64_t last = trace_u64_or(ev, ROLE_LAST_NS, ev->ts);
	struct event_counts_loss *l;
	size_t i;

	for (i = 0; i < c->loss_cnt && c->losses[i].kind != kind; i++)
		;
	if (i == EVENT_COUNTS_KINDS_MAX) {
		i--;
	} else if (i == c->loss_cnt) {
		c->losses = array_reserve(c->losses, &c->loss_cap, i + 1, sizeof(*c->losses));
		c->losses[c->loss_cnt++] = (struct event_counts_loss){
			.kind = kind, .cls = cls, .first_ns = first, .last_ns = last
		};
	}
	l = &c->losses[i];
	l->count += trace_u64_or(ev, ROLE_COUNT, 0);
	l->ns += last > first ? last - first : 0;
	if (first < l->first_ns)
		l->first_ns = first;
	if (last > l->last_ns)
		l->last_ns = last;
}

static void add_skipped_slices(struct loss_accounting *a, const struct trace_event *ev)
{
	const uint64_t first = trace_u64_or(ev, ROLE_FIRST_NS, ev->ts);
	const uint64_t last = trace_u64_or(ev, ROLE_LAST_NS, ev->ts);

	if (last <= first)
		return;
	if (!a->skipped_ns || first < a->skipped_first)
		a->skipped_first = first;
	if (!a->skipped_ns || last > a->skipped_last)
		a->skipped_last = last;
	a->skipped_ns += last - first;
}

static void add_status(struct event_counts *c, struct event_counts_part *part,
		       struct dial9_str status)
{
	part->statuses++;
	c->crashes += str_is(status, PROF_STATUS_CRASHED);
	c->hangs += str_is(status, PROF_STATUS_HUNG);
}

void event_counts_add_notice(struct event_counts *c, const struct trace *t, struct names *n,
			     const struct trace_event *ev)
{
	struct event_counts_part *part = part_of(c, ev->part);
	struct dial9_str kind;
	uint64_t count;

	if (ev->kind == TRACE_STATS) {
		add_stats(&part->stats, t, ev);
		c->unclosed_stats |= !part->stats.has_closed;
	} else if (ev->kind == TRACE_COST) {
		recorder_costs_add(&part->costs, t, n, ev);
	} else if (ev->kind == TRACE_LOST && trace_str(t, ev, ROLE_KIND, &kind)) {
		count = trace_u64_or(ev, ROLE_COUNT, 0);
		loss_accounting_add(&c->account, kind.ptr, kind.len, count);
		loss_accounting_add(&part->account, kind.ptr, kind.len, count);
		if (loss_accounting_class(kind.ptr, kind.len) == LOSS_ACCOUNTING_SLICES) {
			add_skipped_slices(&c->account, ev);
			add_skipped_slices(&part->account, ev);
		}
		add_lost(part, names_add(n, kind.ptr, kind.len),
			 loss_accounting_class(kind.ptr, kind.len), ev);
	} else {
		update_closed(&part->stats, ev);
		if (ev->kind == TRACE_MODULE_STATUS && trace_str(t, ev, ROLE_STATUS, &kind))
			add_status(c, part, kind);
	}
}

void event_counts_add(struct event_counts *c, const struct trace *t, struct names *n,
		      const struct trace_event *ev)
{
	struct event_counts_part *part = part_of(c, ev->part);

	add_type(c, ev);
	part->events++;
	part->tracepoints += ev->schema->role[ROLE_COMMON_PID] >= 0;
	update_continues(&part->stats, ev);
	if (ev->has_ts && !trace_is_naming(ev->kind))
		add_time(part, ev->ts);
	if (ev->kind == TRACE_SAMPLE) {
		bool off = ev->source == PROF_SOURCE_SWITCH_OUT;
		bool is_wakeup = ev->source == PROF_SOURCE_WAKING;
		bool event = ev->source == PROF_SOURCE_EVENT;

		c->switch_stacks += off;
		c->wakeup_stacks += is_wakeup;
		c->event_stacks += event;
		c->samples += !off && !is_wakeup && !event;
		part->switch_stacks += off;
		part->samples += !off && !is_wakeup && !event;
		for (uint32_t i = 0; i < ev->frame_cnt; i++)
			hmap_set(&c->frames, ev->frames[i], c);
		c->user_truncated += !!(ev->flags & PROF_SAMPLE_USER_TRUNCATED);
		c->kernel_truncated += !!(ev->flags & PROF_SAMPLE_KERNEL_TRUNCATED);
		stack_ends_add(&c->ends, n, ev);
	}
	event_counts_add_loss(c, t, n, ev);
}

void event_counts_fini(struct event_counts *c)
{
	free(c->types);
	for (size_t i = 0; i < c->part_cnt; i++)
		free(c->parts[i].losses);
	free(c->parts);
	hmap_fini(&c->by_name);
	hmap_fini(&c->frames);
	stack_ends_fini(&c->ends);
	memset(c, 0, sizeof(*c));
}

static int by_bytes(const void *a, const void *b, void *names)
{
	const struct event_counts_type *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(names_str(names, x->name, NULL), names_str(names, y->name, NULL));
}

void event_counts_sort(struct event_counts *c, const struct names *n)
{
	if (c->type_cnt)
		qsort_r(c->types, c->type_cnt, sizeof(*c->types), by_bytes, (void *)n);
	hmap_fini(&c->by_name);
}

static int by_unnamed(const void *a, const void *b)
{
	const struct event_counts_module *x = a, *y = b;

	if (x->unnamed != y->unnamed)
		return x->unnamed < y->unnamed ? 1 : -1;
	if (x->frames != y->frames)
		return x->frames < y->frames ? 1 : -1;
	return x->module < y->module ? -1 : x->module > y->module;
}

struct event_counts_module *event_counts_modules(const struct event_counts *c,
						 const struct names *n, size_t *cnt)
{
	size_t *at = xcalloc(n->module_cnt, sizeof(*at)), pos = 0, cap = 0;
	uint32_t *alike = names_modules_alike(n);
	struct event_counts_module *v = NULL;
	uint64_t frame;
	uint32_t idx;
	void *value;

	*cnt = 0;
	while (hmap_next(&c->frames, &pos, &frame, &value)) {
		idx = names_frame_module(frame);
		if (!names_module(n, idx)->announced)
			idx = 0;
		idx = alike[idx];
		if (!at[idx]) {
			v = array_reserve(v, &cap, *cnt + 1, sizeof(*v));
			v[*cnt] = (struct event_counts_module){ .module = idx };
			at[idx] = ++*cnt;
		}
		v[at[idx] - 1].frames++;
		v[at[idx] - 1].unnamed += !names_is_named(n, frame);
	}
	free(alike);
	free(at);
	if (*cnt)
		qsort(v, *cnt, sizeof(*v), by_unnamed);
	return v;
}
