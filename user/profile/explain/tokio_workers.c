// SPDX-License-Identifier: BSD-2-Clause
/*
 * Workers and threads. Owns for each worker and each thread its bindings: time ranges with the same
 * counterpart, in order. Does not know what workers do.
 *
 * Events of one thread are mostly in order, so the last binding used is tried first.
 */
#include "profile/explain/tokio_workers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * Observed with @other at both times, and with no other in between. Soft: not observed then, only
 * inferred from the next binding.
 */
struct binding {
	uint64_t from, to;
	uint32_t other;
	bool soft_from, soft_to;
};

struct bindings {
	struct binding *v;
	size_t cnt, cap, last;
};

static uint64_t key_of(uint32_t part, uint32_t id)
{
	return (uint64_t)part << 32 | id;
}

/* ---- bindings -------------------------------------------------------------------------------- */

/* The number of bindings that start at @ts or before. */
static size_t bindings_until(const struct bindings *s, uint64_t ts)
{
	size_t lo = 0, hi = s->cnt;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].from <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Whether the binding covers @ts, or can be extended to it without passing another one. */
static bool extend_binding(struct bindings *s, size_t at, uint32_t other, uint64_t ts)
{
	struct binding *v = &s->v[at];

	if (v->other != other)
		return false;
	if (ts > v->to && (at + 1 == s->cnt || ts < s->v[at + 1].from))
		v->to = ts;
	else if (ts < v->from && (!at || ts > s->v[at - 1].to))
		v->from = ts;
	else if (ts < v->from || ts > v->to)
		return false;
	s->last = at;
	return true;
}

/*
 * Whether the binding before or after can be extended to @ts, where the one between was only
 * inferred.
 */
static bool extend_neighbour(struct bindings *s, size_t at, uint32_t other, uint64_t ts)
{
	struct binding *v = &s->v[at];

	if (ts <= v->from || ts >= v->to)
		return false;
	if (v->soft_from && at && v[-1].other == other) {
		v[-1].to = ts;
		v->from = ts + 1;
		return true;
	}
	if (v->soft_to && at + 1 < s->cnt && v[1].other == other) {
		v[1].from = ts;
		v->to = ts - 1;
		return true;
	}
	return false;
}

/* Whether a new binding is needed. */
static bool needs_binding(struct bindings *s, uint32_t other, uint64_t ts)
{
	size_t at;

	if (!s->cnt)
		return true;
	if (extend_binding(s, s->last, other, ts))
		return false;
	at = bindings_until(s, ts);
	if (at && (extend_binding(s, at - 1, other, ts) || extend_neighbour(s, at - 1, other, ts)))
		return false;
	return at == s->cnt || !extend_binding(s, at, other, ts);
}

static void insert(struct bindings *s, size_t at, struct binding added)
{
	s->v = array_reserve(s->v, &s->cap, s->cnt + 1, sizeof(*s->v));
	memmove(&s->v[at + 1], &s->v[at], (s->cnt - at) * sizeof(*s->v));
	s->v[at] = added;
	s->cnt++;
	s->last = at;
}

/* Adds a binding; splits the binding that contains it. */
static void add_binding(struct bindings *s, uint32_t other, uint64_t ts)
{
	const size_t at = bindings_until(s, ts);
	struct binding before = at ? s->v[at - 1] : (struct binding){ 0 };

	if (at && ts > before.from && ts < before.to) {
		s->v[at - 1].to = ts - 1;
		s->v[at - 1].soft_to = true;
		before.from = ts + 1;
		before.soft_from = true;
		insert(s, at, before);
	}
	insert(s, at, (struct binding){ .from = ts, .to = ts, .other = other });
}

static uint32_t bindings_at(const struct bindings *s, uint64_t ts)
{
	const size_t at = s ? bindings_until(s, ts) : 0;

	return s ? s->v[at ? at - 1 : 0].other : TRACE_NONE;
}

/* ---- adding ---------------------------------------------------------------------------------- */

bool worker_threads_parse(const struct trace_event *ev, uint32_t *worker, uint32_t *tid)
{
	uint64_t w, t;

	/* a sample's thread may differ from its worker's */
	if (ev->kind != TRACE_OTHER || !ev->has_ts || !trace_u64(ev, ROLE_WORKER_ID, &w) ||
	    !trace_u64(ev, ROLE_TID, &t) || w == PROF_WORKER_NONE || w >= TRACE_NONE || !t ||
	    t >= TRACE_NONE)
		return false;
	*worker = (uint32_t)w;
	*tid = (uint32_t)t;
	return true;
}

static bool add_worker_thread(struct worker_threads *w, struct hmap *map, uint64_t key,
			      uint32_t other, uint64_t ts)
{
	struct bindings *s = hmap_get(map, key);

	if (s && !needs_binding(s, other, ts))
		return true;
	if (w->bindings + 2 > TOKIO_WORKERS_BINDINGS_MAX)
		return false;
	if (!s) {
		s = xcalloc(1, sizeof(*s));
		hmap_set(map, key, s);
	}
	w->bindings -= s->cnt;
	add_binding(s, other, ts);
	w->bindings += s->cnt;
	return true;
}

static void add_part(struct worker_threads *w, uint32_t part)
{
	for (size_t i = 0; i < w->part_cnt; i++)
		if (w->parts[i] == part)
			return;
	w->parts = array_reserve(w->parts, &w->part_cap, w->part_cnt + 1, sizeof(*w->parts));
	w->parts[w->part_cnt++] = part;
}

void worker_threads_learn(struct worker_threads *w, uint32_t part, uint32_t worker, uint32_t tid,
			  uint64_t ts)
{
	add_part(w, part);
	if (!add_worker_thread(w, &w->workers, key_of(part, worker), tid, ts) ||
	    !add_worker_thread(w, &w->threads, key_of(part, tid), worker, ts))
		w->dropped++;
}

void worker_threads_add(struct worker_threads *w, const struct trace_event *ev)
{
	uint32_t worker, tid;

	if (worker_threads_parse(ev, &worker, &tid))
		worker_threads_learn(w, ev->part, worker, tid, ev->ts);
}

/* ---- queries --------------------------------------------------------------------------------- */

uint32_t worker_threads_tid(const struct worker_threads *w, uint32_t part, uint32_t worker,
			    uint64_t ts)
{
	return bindings_at(hmap_get(&w->workers, key_of(part, worker)), ts);
}

bool worker_threads_worker(const struct worker_threads *w, const struct names *names, uint32_t part,
			   uint32_t tid, uint64_t ts, uint32_t *worker, uint32_t *app)
{
	const uint32_t clock = names_part(names, part)->clock;
	uint32_t found;

	for (size_t i = 0; i < w->part_cnt; i++) {
		if (names_part(names, w->parts[i])->clock != clock)
			continue;
		found = bindings_at(hmap_get(&w->threads, key_of(w->parts[i], tid)), ts);
		/* the worker has moved to another thread */
		if (found == TRACE_NONE || worker_threads_tid(w, w->parts[i], found, ts) != tid)
			continue;
		*worker = found;
		*app = w->parts[i];
		return true;
	}
	return false;
}

static void free_bindings(struct hmap *map)
{
	size_t pos = 0;
	uint64_t key;
	void *s;

	while (hmap_next(map, &pos, &key, &s)) {
		free(((struct bindings *)s)->v);
		free(s);
	}
	hmap_fini(map);
}

void worker_threads_fini(struct worker_threads *w)
{
	free_bindings(&w->workers);
	free_bindings(&w->threads);
	free(w->parts);
	*w = (struct worker_threads){ 0 };
}
