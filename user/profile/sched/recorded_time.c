// SPDX-License-Identifier: BSD-2-Clause
/*
 * For how long a trace was recorded: the divisor for rates and percentages. Owns the time range of
 * each recording and what was skipped in it: pauses, slices, gaps. Numbers only.
 */
#include "profile/sched/recorded_time.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "profile/sched/cpu_filter.h"
#include "profile/sched/loss_accounting.h"

struct recorded_time_part *recorded_time_part(struct recorded_time *o, uint32_t part)
{
	o->v = array_reserve(o->v, &o->cap, (size_t)part + 1, sizeof(*o->v));
	return &o->v[part];
}

/* Nothing was recorded on any CPU. */
static bool is_skipped(enum loss_accounting_class cls)
{
	return cls == LOSS_ACCOUNTING_PAUSES || cls == LOSS_ACCOUNTING_SLICES ||
	       cls == LOSS_ACCOUNTING_HOLES;
}

void recorded_time_loss(struct recorded_time *o, const struct trace *t,
			const struct trace_event *ev)
{
	uint64_t first, last;
	struct dial9_str kind;
	struct recorded_time_part *p;

	if (ev->kind != TRACE_LOST || !trace_str(t, ev, ROLE_KIND, &kind) ||
	    !is_skipped(loss_accounting_class(kind.ptr, kind.len)) ||
	    !trace_u64(ev, ROLE_FIRST_NS, &first) || !trace_u64(ev, ROLE_LAST_NS, &last) ||
	    first >= last || o->skipped_cnt == RECORDED_TIME_SKIPPED_MAX)
		return;
	p = recorded_time_part(o, ev->part);
	p->skipped = array_reserve(p->skipped, &p->cap, p->cnt + 1, sizeof(*p->skipped));
	p->skipped[p->cnt++] = (struct gap){ first, last };
	o->skipped_cnt++;
}

/* Time ranges of the recordings on one clock. */
struct times {
	struct gap *spans, *recorded;
	size_t span_cnt, span_cap, recorded_cnt, recorded_cap;
};

/* Recordings one after the other. */
struct lane {
	uint64_t until;
	struct times times;
};

/* A recording, sorted by start time. */
struct member {
	uint64_t first, last;
	uint32_t part;
	size_t lane;
};

static int by_from(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void add(struct gap **v, size_t *cnt, size_t *cap, uint64_t from, uint64_t to)
{
	*v = array_reserve(*v, cap, *cnt + 1, sizeof(**v));
	(*v)[(*cnt)++] = (struct gap){ from, to };
}

/* The length of the union of ranges. */
static uint64_t total_length(struct gap *v, size_t cnt)
{
	uint64_t ns = 0, until = 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), by_from);
	for (size_t i = 0; i < cnt; i++) {
		const uint64_t from = v[i].from > until ? v[i].from : until;

		if (v[i].to <= from)
			continue;
		ns += v[i].to - from;
		until = v[i].to;
	}
	return ns;
}

/* Adds the range without what was skipped, and returns its length. */
static uint64_t add_recorded(struct times *t, const struct recorded_time_part *p, uint64_t from,
			     uint64_t to)
{
	uint64_t ns = 0;

	if (p->cnt)
		qsort(p->skipped, p->cnt, sizeof(*p->skipped), by_from);
	for (size_t i = 0; i <= p->cnt && from < to; i++) {
		const uint64_t end =
			i < p->cnt && p->skipped[i].from < to ? p->skipped[i].from : to;

		if (end > from) {
			add(&t->recorded, &t->recorded_cnt, &t->recorded_cap, from, end);
			ns += end - from;
		}
		if (i < p->cnt && p->skipped[i].to > from)
			from = p->skipped[i].to;
	}
	return ns;
}

static bool has_cpu(const struct recorded_time_part *p, const struct recorded_time_opts *opts,
		    uint32_t part)
{
	struct cpu_filter r = { 0 };
	bool has;

	if (opts->cpu == TRACE_NONE)
		return true;
	cpu_filter_learn(&r, opts->names, part);
	has = cpu_filter_has(&r, opts->cpu) &&
	      (opts->cpu < p->cpus ||
	       opts->cpu < names_meta_u64(opts->names, part, PROF_META_CPUS));
	cpu_filter_fini(&r);
	return has;
}

static bool is_counted(const struct recorded_time *o, const struct recorded_time_opts *opts,
		       uint32_t part, bool all)
{
	return o->v[part].any && (all || !opts->has_data || opts->has_data(opts->ctx, part)) &&
	       has_cpu(&o->v[part], opts, part);
}

/* The range of a recording within the window; false: empty. */
static bool span_of(const struct recorded_time *o, const struct recorded_time_opts *opts,
		    struct member *m)
{
	uint64_t from, to;

	m->first = o->v[m->part].first;
	m->last = o->v[m->part].last;
	if (opts->window &&
	    opts->window(opts->ctx, names_part(opts->names, m->part)->clock, &from, &to)) {
		m->first = from > m->first ? from : m->first;
		m->last = to < m->last ? to : m->last;
	}
	return m->first < m->last;
}

static int by_first(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

/*
 * Collects the recordings on the clock of @part that count, and returns their number. @part is the
 * first on that clock. The caller frees *@out.
 */
static size_t members_of(const struct recorded_time *o, const struct recorded_time_opts *opts,
			 uint32_t part, bool all, struct member **out)
{
	struct member m = { 0 };
	size_t cnt = 0, cap = 0;

	*out = NULL;
	for (uint32_t i = part; i < o->cap && i < opts->names->parts.cnt; i++) {
		m.part = i;
		if (names_part(opts->names, i)->clock != part || !is_counted(o, opts, i, all) ||
		    !span_of(o, opts, &m))
			continue;
		*out = array_reserve(*out, &cap, cnt + 1, sizeof(**out));
		(*out)[cnt++] = m;
	}
	if (cnt)
		qsort(*out, cnt, sizeof(**out), by_first);
	return cnt;
}

/*
 * The lane that ended last before @m started, with a tolerance of a tenth; a new lane if there is
 * none.
 */
static size_t lane_for(const struct lane *lanes, size_t cnt, const struct member *m)
{
	const uint64_t latest = m->first + (m->last - m->first) / 10;
	size_t best = cnt;

	for (size_t i = 0; i < cnt; i++)
		if (lanes[i].until <= latest && (best == cnt || lanes[i].until > lanes[best].until))
			best = i;
	return best;
}

static void set_weights(const struct recorded_time *o, const struct recorded_time_opts *opts,
			struct member *m, size_t cnt, uint64_t ns)
{
	struct lane *lanes = xcalloc(cnt, sizeof(*lanes));
	size_t lane_cnt = 0;

	for (size_t i = 0; i < cnt; i++) {
		m[i].lane = lane_for(lanes, lane_cnt, &m[i]);
		lane_cnt += m[i].lane == lane_cnt;
		if (m[i].last > lanes[m[i].lane].until)
			lanes[m[i].lane].until = m[i].last;
		add_recorded(&lanes[m[i].lane].times, &o->v[m[i].part], m[i].first, m[i].last);
	}
	for (size_t i = 0; i < lane_cnt; i++)
		lanes[i].until = total_length(lanes[i].times.recorded, lanes[i].times.recorded_cnt);
	for (size_t i = 0; i < cnt; i++)
		if (lanes[m[i].lane].until)
			opts->weights[m[i].part] = (double)ns / (double)lanes[m[i].lane].until;
	for (size_t i = 0; i < lane_cnt; i++)
		free(lanes[i].times.recorded);
	free(lanes);
}

static void add_clock(const struct recorded_time *o, const struct recorded_time_opts *opts,
		      uint32_t part, bool all, struct recorded_time_sum *sum)
{
	struct times t = { 0 };
	struct member *m;
	const size_t cnt = members_of(o, opts, part, all, &m);
	uint64_t ns, parts_ns = 0;

	for (size_t i = 0; i < cnt; i++) {
		add(&t.spans, &t.span_cnt, &t.span_cap, m[i].first, m[i].last);
		parts_ns += add_recorded(&t, &o->v[m[i].part], m[i].first, m[i].last);
	}
	ns = total_length(t.recorded, t.recorded_cnt);
	if (opts->weights && parts_ns > ns)
		set_weights(o, opts, m, cnt, ns);
	sum->parts += cnt;
	sum->span_ns += total_length(t.spans, t.span_cnt);
	sum->ns += ns;
	sum->parts_ns += parts_ns;
	free(t.spans);
	free(t.recorded);
	free(m);
}

struct recorded_time_sum recorded_time_sum(const struct recorded_time *o,
					   const struct recorded_time_opts *opts)
{
	const size_t cnt = o->cap < opts->names->parts.cnt ? o->cap : opts->names->parts.cnt;
	struct recorded_time_sum sum = { 0 };
	bool all = true;

	for (uint32_t i = 0; i < cnt && all && opts->has_data; i++)
		all = !o->v[i].any || !opts->has_data(opts->ctx, i);
	for (size_t i = 0; opts->weights && i < opts->names->parts.cnt; i++)
		opts->weights[i] = 1;
	for (uint32_t i = 0; i < cnt; i++)
		if (names_part(opts->names, i)->clock == i)
			add_clock(o, opts, i, all, &sum);
	return sum;
}

void recorded_time_fini(struct recorded_time *o)
{
	for (size_t i = 0; i < o->cap; i++)
		free(o->v[i].skipped);
	free(o->v);
	*o = (struct recorded_time){ 0 };
}
