// SPDX-License-Identifier: BSD-2-Clause
/* Blocked time by stack, thread, state and waker. Numbers only. */
#include "profile/sums/blocked.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* What rows are grouped by; members that are not in the keys are 0. */
struct blocked_id {
	uint64_t raw;
	uint32_t stack, waker_stack, comm, pid, tid, part, cgroup, waker_comm, waker_tid;
	int32_t number;
	uint8_t state, woken, context,
		pad[5]; /* explicit padding to eight bytes: ids are compared as bytes */
};

static bool by(const struct blocked *w, enum blocked_key key)
{
	return w->opts.keys & 1u << key;
}

/* Whether the trace may still name a key of the row: blocked_finish() knows. */
static bool awaits_name(const struct blocked *w, const struct blocked_row *r)
{
	return !w->named && ((by(w, BLOCKED_COMM) && r->comm == NAMES_NONE) ||
			     (by(w, BLOCKED_PID) && r->pid == TRACE_NONE) ||
			     (by(w, BLOCKED_CGROUP) && r->cgroup == NAMES_NONE));
}

static struct blocked_id id_of(const struct blocked *w, const struct blocked_row *r)
{
	struct blocked_id k = { 0 };

	if (by(w, BLOCKED_STACK))
		k.stack = r->stack;
	if (by(w, BLOCKED_COMM))
		k.comm = r->comm;
	if (by(w, BLOCKED_PID))
		k.pid = r->pid;
	if (by(w, BLOCKED_CGROUP))
		k.cgroup = r->cgroup;
	/* without a name it is unknown whether it has the same name as another thread */
	if (by(w, BLOCKED_TID) || (by(w, BLOCKED_COMM) && r->comm == NAMES_NONE))
		k.tid = r->tid;
	if (awaits_name(w, r)) {
		k.tid = r->tid;
		k.part = r->part;
	}
	if (by(w, BLOCKED_STATE))
		k.state = (uint8_t)r->state;
	if (by(w, BLOCKED_WAKER) && r->woken) {
		k.woken = true;
		k.context = (uint8_t)r->context;
		/* a timer's number is not recorded */
		if (r->context == INTERVAL_BY_SOFTIRQ || r->context == INTERVAL_BY_HARDIRQ) {
			k.number = r->number;
			k.raw = r->raw;
		}
		if (interval_by_thread(r->context))
			k.waker_comm = r->waker_comm;
	}
	if (by(w, BLOCKED_WAKER_TID) && r->woken && interval_by_thread(r->context))
		k.waker_tid = r->waker_tid;
	if (by(w, BLOCKED_WAKER_STACK))
		k.waker_stack = r->waker_stack;
	return k;
}

/* A row of one interval, without buckets. */
static struct blocked_row row_from(const struct interval *i, uint32_t cgroup)
{
	const struct interval_waker *waker = i->waker;
	struct blocked_row r = { .stack = i->stack,
				 .waker_stack = INTERVAL_NO_STACK,
				 .comm = i->comm,
				 .pid = i->pid,
				 .tid = i->tid,
				 .cgroup = cgroup,
				 .part = i->part,
				 .state = interval_blocked_letter(i->flags, i->prev_state),
				 .waker_comm = NAMES_NONE,
				 .waker_tid = TRACE_NONE,
				 .cnt = 1,
				 .cut = i->flags & INTERVAL_CUT ? 1 : 0,
				 .ns = i->end - i->start,
				 .max_ns = i->end - i->start,
				 .max_start = i->start };

	if (waker) {
		r.woken = true;
		r.context = waker->context;
		r.number = waker->number;
		r.raw = waker->raw;
		r.waker_comm = waker->comm;
		r.waker_tid = waker->tid;
		r.waker_stack = waker->stack;
	}
	return r;
}

/* The row with the same key. NULL: @r was added as a new row. */
static struct blocked_row *find_or_add(struct blocked *w, const struct blocked_row *r)
{
	const struct blocked_id k = id_of(w, r);
	uint64_t hash = hash_bytes(&k, sizeof(k));
	uintptr_t at;

	for (; (at = (uintptr_t)hmap_get(&w->index, hash)); hash++)
		if (!memcmp(&w->ids[at - 1], &k, sizeof(k)))
			return &w->rows[at - 1];
	w->rows = array_reserve(w->rows, &w->cap, w->cnt + 1, sizeof(*w->rows));
	w->ids = array_reserve(w->ids, &w->id_cap, w->cnt + 1, sizeof(*w->ids));
	w->ids[w->cnt] = k;
	w->rows[w->cnt++] = *r;
	hmap_set(&w->index, hash, (void *)(uintptr_t)w->cnt);
	return NULL;
}

static void merge(struct blocked_row *into, const struct blocked_row *r)
{
	into->cnt += r->cnt;
	into->cut += r->cut;
	into->ns += r->ns;
	if (r->max_ns > into->max_ns) {
		into->max_ns = r->max_ns;
		into->max_start = r->max_start;
	}
	for (unsigned int k = 0; into->buckets && r->buckets && k < BLOCKED_BUCKETS; k++)
		into->buckets[k] += r->buckets[k];
}

unsigned int blocked_bucket(uint64_t ns)
{
	return ns ? 63 - (unsigned int)__builtin_clzll(ns) : 0;
}

void blocked_add(struct blocked *w, const struct interval *i, uint32_t cgroup)
{
	const struct blocked_row one = row_from(i, cgroup);
	struct blocked_row *r = find_or_add(w, &one);

	if (r) {
		merge(r, &one);
	} else {
		r = &w->rows[w->cnt - 1];
		if (w->opts.buckets)
			r->buckets = xcalloc(BLOCKED_BUCKETS, sizeof(*r->buckets));
	}
	if (r->buckets)
		r->buckets[blocked_bucket(one.ns)]++;
	w->intervals++;
	w->cut += one.cut;
	w->ns += one.ns;
}

struct interval_waker blocked_waker(const struct blocked_row *r)
{
	return (struct interval_waker){ .context = r->context,
					.number = r->number,
					.raw = r->raw,
					.part = r->part,
					.tid = r->waker_tid,
					.comm = r->waker_comm,
					.cpu = TRACE_NONE,
					.stack = r->waker_stack };
}

static void name_row(const struct names *names, struct blocked_row *r)
{
	const struct names_task *task;

	names_task_fill(names, r->part, r->tid, &r->pid, &r->comm);
	if (r->cgroup != NAMES_NONE)
		return;
	task = names_task_first(names, r->part, r->tid);
	if (task)
		r->cgroup = task->cgroup;
}

static void name_rows(struct blocked *w, const struct names *names)
{
	struct blocked_row *rows = w->rows, *same;
	const size_t cnt = w->cnt;

	w->named = true;
	hmap_fini(&w->index);
	w->rows = NULL;
	w->cnt = w->cap = 0;
	for (size_t i = 0; i < cnt; i++) {
		name_row(names, &rows[i]);
		same = find_or_add(w, &rows[i]);
		if (!same)
			continue;
		merge(same, &rows[i]);
		free(rows[i].buckets);
	}
	free(rows);
}

static int hottest(const void *a, const void *b, void *ctx)
{
	const struct blocked_row *x = a, *y = b;
	struct blocked_id k, l;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	k = id_of(ctx, x);
	l = id_of(ctx, y);
	return memcmp(&k, &l, sizeof(k));
}

void blocked_finish(struct blocked *w, const struct names *names)
{
	name_rows(w, names);
	if (w->cnt)
		qsort_r(w->rows, w->cnt, sizeof(*w->rows), hottest, w);
}

void blocked_fini(struct blocked *w)
{
	for (size_t i = 0; i < w->cnt; i++)
		free(w->rows[i].buckets);
	free(w->rows);
	free(w->ids);
	hmap_fini(&w->index);
	*w = (struct blocked){ .opts = w->opts };
}
