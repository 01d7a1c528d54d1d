// SPDX-License-Identifier: BSD-2-Clause
/*
 * Run-queue latency: sums and quantiles by thread, process, name or control group, and the longest
 * intervals. Numbers only.
 */
#include "profile/sums/runq_delays.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- rows -------------------------------------------------------------------------------------- */

struct ids {
	uint32_t tid, pid, comm, cgroup, part;
};

static uint64_t key_of(const struct runq_delays *d, const struct ids *r)
{
	/* without a process, name or control group it has a row of its own */
	const uint64_t alone = 1ULL << 32 | r->tid;
	uint64_t key = r->tid;

	if (d->by == RUNQ_DELAYS_BY_PID)
		key = r->pid == TRACE_NONE ? alone : r->pid;
	else if (d->by == RUNQ_DELAYS_BY_COMM)
		key = r->comm == NAMES_NONE ? alone : r->comm;
	else if (d->by == RUNQ_DELAYS_BY_CGROUP)
		key = r->cgroup == NAMES_NONE ? alone : r->cgroup;
	return (uint64_t)r->part << 33 | key;
}

static struct runq_delays_row *find(struct runq_delays *d, uint64_t key)
{
	const uintptr_t at = (uintptr_t)hmap_get(&d->index, key);

	return at ? &d->rows[at - 1] : NULL;
}

static struct runq_delays_row *append(struct runq_delays *d, uint64_t key,
				      const struct runq_delays_row *r)
{
	d->rows = array_reserve(d->rows, &d->cap, d->cnt + 1, sizeof(*d->rows));
	d->rows[d->cnt++] = *r;
	hmap_set(&d->index, key, (void *)(uintptr_t)d->cnt);
	return &d->rows[d->cnt - 1];
}

static struct runq_delays_row *begin(struct runq_delays *d, uint64_t key, const struct ids *ids)
{
	const struct runq_delays_row r = {
		.tid = ids->tid,
		.pid = ids->pid,
		.comm = ids->comm,
		.cgroup = ids->cgroup,
		.part = ids->part,
	};

	return append(d, key, &r);
}

/* The last name counts; a process has the name of its main thread. */
static void name_row(struct runq_delays_row *r, uint32_t comm, bool main, uint64_t ns)
{
	if (comm == NAMES_NONE)
		return;
	if (r->comm != NAMES_NONE && (r->main != main ? r->main : r->named_ns > ns))
		return;
	r->comm = comm;
	r->main = main;
	r->named_ns = ns;
}

static struct runq_delays_row *row_of(struct runq_delays *d, const struct interval *i,
				      uint32_t cgroup)
{
	const struct ids ids = { i->tid, i->pid, i->comm, cgroup, i->part };
	const uint64_t key = key_of(d, &ids);
	struct runq_delays_row *r = find(d, key);

	if (!r)
		r = begin(d, key, &ids);
	name_row(r, i->comm, i->tid == i->pid, i->end);
	if (i->pid != TRACE_NONE)
		r->pid = i->pid;
	return r;
}

static void add_wait(struct runq_delays *d, struct runq_delays_row *r, const struct interval *i)
{
	const uint64_t ns = i->end - i->start;

	/* nothing is left after clipping */
	if (i->flags & INTERVAL_CUT && !ns)
		return;
	r->wait_ns += ns;
	d->wait_ns += ns;
	if (ns > r->max_ns) {
		r->max_ns = ns;
		r->max_start = i->start;
	}
	if (i->flags & INTERVAL_CUT) {
		r->cut++;
		return;
	}
	quantile_add(&r->latencies, ns);
	quantile_add(&d->latencies, ns);
}

void runq_delays_add(struct runq_delays *d, const struct interval *i, uint32_t cgroup)
{
	struct runq_delays_row *r;

	intervals_unknown_add(&d->unknown, i);
	if (i->state == INTERVAL_BLOCKED || i->state == INTERVAL_UNKNOWN)
		return;
	r = row_of(d, i, cgroup);
	if (i->state == INTERVAL_RUNNABLE) {
		add_wait(d, r, i);
		return;
	}
	r->run_ns += i->end - i->start;
	d->run_ns += i->end - i->start;
	/* not if it was on its CPU before the trace or window */
	if (!(i->flags & (INTERVAL_EDGE_START | INTERVAL_CLIP_START))) {
		r->switches++;
		d->switches++;
	}
}

static void merge(struct runq_delays_row *into, struct runq_delays_row *r)
{
	name_row(into, r->comm, r->main, r->named_ns);
	into->run_ns += r->run_ns;
	into->switches += r->switches;
	into->wait_ns += r->wait_ns;
	into->cut += r->cut;
	if (r->max_ns > into->max_ns) {
		into->max_ns = r->max_ns;
		into->max_start = r->max_start;
	}
	quantile_merge(&into->latencies, &r->latencies);
	quantile_fini(&r->latencies);
}

static void name_cgroup(const struct names *names, struct runq_delays_row *r)
{
	const struct names_task *task = names_task_first(names, r->part, r->tid);

	if (r->cgroup == NAMES_NONE && task)
		r->cgroup = task->cgroup;
	/* all threads without a control group have one row */
	if (r->cgroup == NAMES_NONE)
		r->tid = TRACE_NONE;
}

static void name_rows(struct runq_delays *d, const struct names *names)
{
	struct runq_delays_row *rows = d->rows, *same;
	const size_t cnt = d->cnt;
	uint64_t key;

	hmap_fini(&d->index);
	d->rows = NULL;
	d->cnt = d->cap = 0;
	for (size_t i = 0; i < cnt; i++) {
		const bool alone = rows[i].pid == TRACE_NONE;

		names_task_fill(names, rows[i].part, rows[i].tid, &rows[i].pid, &rows[i].comm);
		if (alone)
			rows[i].main = rows[i].tid == rows[i].pid;
		if (d->by == RUNQ_DELAYS_BY_CGROUP)
			name_cgroup(names, &rows[i]);
		key = key_of(d, &(struct ids){ rows[i].tid, rows[i].pid, rows[i].comm,
					       rows[i].cgroup, rows[i].part });
		same = find(d, key);
		if (same)
			merge(same, &rows[i]);
		else
			append(d, key, &rows[i]);
	}
	free(rows);
}

static double weight_of(const struct runq_delays_row *r, enum runq_delays_order order)
{
	switch (order) {
	case RUNQ_DELAYS_BY_MAX:
		return (double)r->max_ns;
	case RUNQ_DELAYS_BY_AVG:
		return r->latencies.cnt ? r->latencies.sum / (double)r->latencies.cnt : 0;
	case RUNQ_DELAYS_BY_P99:
		return quantile_at(&r->latencies, 0.99);
	case RUNQ_DELAYS_BY_RUNTIME:
		return (double)r->run_ns;
	case RUNQ_DELAYS_BY_SWITCHES:
		return (double)r->switches;
	case RUNQ_DELAYS_BY_WAIT:
		return (double)r->wait_ns;
	}
	return 0;
}

static int most_first(const void *a, const void *b, void *ctx)
{
	const struct runq_delays_row *x = a, *y = b;
	const enum runq_delays_order *order = ctx;
	const double v = weight_of(x, *order), w = weight_of(y, *order);

	if (v != w)
		return v < w ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

void runq_delays_finish(struct runq_delays *d, const struct names *names,
			enum runq_delays_order order)
{
	name_rows(d, names);
	if (d->cnt)
		qsort_r(d->rows, d->cnt, sizeof(*d->rows), most_first, &order);
}

void runq_delays_fini(struct runq_delays *d)
{
	for (size_t i = 0; i < d->cnt; i++)
		quantile_fini(&d->rows[i].latencies);
	free(d->rows);
	hmap_fini(&d->index);
	quantile_fini(&d->latencies);
	*d = (struct runq_delays){ .by = d->by };
}

/* ---- the longest ------------------------------------------------------------------------------- */

/* A heap with the shortest on top. */
static void sift_down(struct runq_delays_heap *h, size_t at)
{
	const struct runq_delays_worst w = h->v[at];
	size_t child;

	for (; (child = 2 * at + 1) < h->cnt; at = child) {
		if (child + 1 < h->cnt && h->v[child + 1].ns < h->v[child].ns)
			child++;
		if (h->v[child].ns >= w.ns)
			break;
		h->v[at] = h->v[child];
	}
	h->v[at] = w;
}

static void sift_up(struct runq_delays_heap *h, size_t at)
{
	const struct runq_delays_worst w = h->v[at];

	for (; at && h->v[(at - 1) / 2].ns > w.ns; at = (at - 1) / 2)
		h->v[at] = h->v[(at - 1) / 2];
	h->v[at] = w;
}

static struct runq_delays_worst describe(const struct intervals *iv, const struct interval *i)
{
	struct runq_delays_worst w = { .tid = i->tid,
				       .pid = i->pid,
				       .comm = i->comm,
				       .cpu = i->cpu,
				       .stack = i->stack,
				       .part = i->part,
				       .start = i->start,
				       .ns = i->end - i->start,
				       .flags = i->flags,
				       .why = i->why,
				       .woken = i->waker };

	if (i->waker)
		w.waker = *i->waker;
	w.sum = intervals_preemptors(iv, i, w.preemptors,
				     sizeof(w.preemptors) / sizeof(w.preemptors[0]));
	return w;
}

void runq_delays_heap_add(struct runq_delays_heap *h, const struct intervals *iv,
			  const struct interval *i)
{
	if (!h->max || (h->cnt == h->max && h->v[0].ns >= i->end - i->start))
		return;
	if (h->cnt == h->max) {
		h->v[0] = describe(iv, i);
		sift_down(h, 0);
		return;
	}
	if (!h->v)
		h->v = xcalloc(h->max, sizeof(*h->v));
	h->v[h->cnt++] = describe(iv, i);
	sift_up(h, h->cnt - 1);
}

static int longest_first(const void *a, const void *b)
{
	const struct runq_delays_worst *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->start > y->start) - (x->start < y->start);
}

void runq_delays_heap_sort(struct runq_delays_heap *h)
{
	if (h->cnt)
		qsort(h->v, h->cnt, sizeof(*h->v), longest_first);
}

void runq_delays_heap_fini(struct runq_delays_heap *h)
{
	free(h->v);
	*h = (struct runq_delays_heap){ .max = h->max };
}
