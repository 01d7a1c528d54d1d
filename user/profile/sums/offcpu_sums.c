// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums that the recorder wrote instead of events (--summary), over periods and processes. Counts in
 * a file are untrusted: they may overflow and contradict each other.
 */
#include "profile/sums/offcpu_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rank.h"

/* Key of the row for all others. */
#define OTHERS UINT64_MAX

/* Decimal digits only; otherwise UINT64_MAX. */
static uint64_t number_of(const struct dial9_value *v)
{
	uint64_t n = 0;

	if (v->type != DIAL9_STRING || !v->str.len || v->str.len > 19)
		return UINT64_MAX;
	for (size_t i = 0; i < v->str.len; i++) {
		if (v->str.ptr[i] < '0' || v->str.ptr[i] > '9')
			return UINT64_MAX;
		n = n * 10 + (uint64_t)(v->str.ptr[i] - '0');
	}
	return n;
}

static void add_powers(struct offcpu_sums_hist *h, const struct trace_event *ev)
{
	const int32_t at = ev->schema->role[ROLE_LOG2_NS];
	struct dial9_value key, value;
	struct dial9_iter it;

	if (at < 0)
		return;
	dial9_iter_init(&it, &ev->values[at]);
	while (dial9_map_next(&it, &key, &value) == 1) {
		const uint64_t k = number_of(&key), n = number_of(&value);

		if (k < OFFCPU_SUMS_POWERS && n != UINT64_MAX)
			h->powers[k] += n;
	}
}

static void add_to(struct offcpu_sums_row *r, const struct trace_event *ev, uint64_t kind)
{
	struct offcpu_sums_hist *h = &r->hists[kind];
	const uint64_t max = trace_u64_or(ev, ROLE_MAX_NS, 0);

	h->cnt += trace_u64_or(ev, ROLE_COUNT, 0);
	h->sum_ns += trace_u64_or(ev, ROLE_SUM_NS, 0);
	h->max_ns = max > h->max_ns ? max : h->max_ns;
	r->involuntary += trace_u64_or(ev, ROLE_INVOLUNTARY, 0);
	r->unknown += trace_u64_or(ev, ROLE_UNKNOWN, 0);
	add_powers(h, ev);
}

static struct offcpu_sums_row *row_at(struct offcpu_sums *s, const struct names *n, uint32_t part,
				      uint32_t pid, uint32_t comm)
{
	/* + 1, because part 0 and PID 0 are valid keys */
	uint64_t key = (s->by_comm ? comm : names_task_key(n, part, pid)) + 1;
	uintptr_t at = (uintptr_t)hmap_get(&s->index, key);

	if (!at && s->cnt >= OFFCPU_SUMS_ROWS_MAX) {
		pid = PROF_SUMMARY_OTHER;
		key = OTHERS;
		at = (uintptr_t)hmap_get(&s->index, key);
	}
	if (at)
		return &s->rows[at - 1];
	s->rows = array_reserve(s->rows, &s->cap, s->cnt + 1, sizeof(*s->rows));
	s->rows[s->cnt] = (struct offcpu_sums_row){ .pid = pid, .part = part };
	hmap_set(&s->index, key, (void *)(uintptr_t)++s->cnt);
	return &s->rows[s->cnt - 1];
}

void offcpu_sums_add(struct offcpu_sums *s, struct names *n, const struct trace *t,
		     const struct trace_event *ev)
{
	const uint64_t kind = trace_u64_or(ev, ROLE_KIND, UINT64_MAX);
	struct dial9_str name = { "", 0 };
	struct offcpu_sums_row *r;
	uint32_t comm;

	if (kind >= OFFCPU_SUMS_KINDS)
		return;
	trace_str(t, ev, ROLE_COMM, &name);
	comm = names_add(n, name.ptr, name.len);
	r = row_at(s, n, ev->part, ev->pid, comm);
	r->comm = comm;
	r->other = r->pid == PROF_SUMMARY_OTHER;
	add_to(r, ev, kind);
	add_to(&s->all, ev, kind);
}

struct order {
	double (*weight)(const struct offcpu_sums_row *r, int order);
	int order;
};

static int most_first(const void *a, const void *b, void *ctx)
{
	const struct offcpu_sums_row *x = a, *y = b;
	const struct order *o = ctx;
	const double v = o->weight(x, o->order), w = o->weight(y, o->order);

	if (v != w)
		return v < w ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

void offcpu_sums_sort(struct offcpu_sums *s,
		      double (*weight)(const struct offcpu_sums_row *r, int order), int order)
{
	struct order o = { weight, order };

	if (s->cnt)
		qsort_r(s->rows, s->cnt, sizeof(*s->rows), most_first, &o);
}

void offcpu_sums_fini(struct offcpu_sums *s)
{
	const bool by_comm = s->by_comm;

	hmap_fini(&s->index);
	free(s->rows);
	*s = (struct offcpu_sums){ .by_comm = by_comm };
}

uint64_t offcpu_sums_at_most(const struct offcpu_sums_hist *h, double p)
{
	uint64_t all = 0, below = 0, rank;

	for (unsigned int k = 0; k < OFFCPU_SUMS_POWERS; k++)
		all += h->powers[k];
	rank = rank_of_quantile(p, all);
	for (unsigned int k = 0; k < OFFCPU_SUMS_POWERS; k++) {
		below += h->powers[k];
		if (below >= rank && below)
			return k < 63 && 2ULL << k < h->max_ns ? 2ULL << k : h->max_ns;
	}
	return 0;
}
