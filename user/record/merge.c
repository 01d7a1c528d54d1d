// SPDX-License-Identifier: BSD-2-Clause
/*
 * merge.c - many rings, one order
 *
 * A step back in time costs nine bytes in dial9, so the rings are merged by time as they are
 * drained: a binary heap holds each source that has something, keyed by its oldest record's time.
 * The side-band's rings take part like any other, so that a mapping or an exec is known exactly
 * when the records around it need it.
 *
 * A record that is still being written hides what its ring has behind it; the mark, a few
 * milliseconds in the past, is what makes that rare. Order is then off by that much and no more.
 */
#include "record/merge.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "kernel/perf_ring.h"
#include "prof_abi.h"
#include "record/ring.h"

enum { PUBLISH_EVERY = 64 };

struct source {
	uint64_t ts;
	struct ring *ring; /* or: */
	struct perf_ring *side;
	const struct prof_rec *rec;
	struct perf_side next; /* of side, when has_next */
	bool has_next;
	unsigned int unpublished;
};

struct merge {
	struct source *sources;
	size_t cnt;
	struct source **heap;
	size_t heap_cnt;
};

struct merge *merge_new(struct ring *rings, size_t ring_cnt, struct perf_ring **sides,
			size_t side_cnt)
{
	struct merge *m = xcalloc(1, sizeof(*m));
	size_t i;

	m->sources = xcalloc(ring_cnt + side_cnt + 1, sizeof(*m->sources));
	m->heap = xcalloc(ring_cnt + side_cnt + 1, sizeof(*m->heap));
	for (i = 0; i < side_cnt; i++)
		m->sources[m->cnt++].side = sides[i];
	for (i = 0; i < ring_cnt; i++)
		m->sources[m->cnt++].ring = &rings[i];
	return m;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	free(m->heap);
	free(m->sources);
	free(m);
}

/* A record that does not hold together is one lost, as of the time of the one before it. */
static bool refill_side(struct source *s)
{
	int got;

	if (s->has_next)
		return true;
	got = perf_ring_next(s->side, &s->next);
	if (got < 0)
		s->next = (struct perf_side){
			.type = PERF_SIDE_LOST,
			.time = s->ts,
			.cpu = perf_ring_cpu(s->side),
			.lost = 1,
			.name = "",
		};
	s->has_next = got != 0;
	s->ts = s->has_next ? s->next.time : s->ts;
	return s->has_next;
}

/* Looks up the source's oldest record: false when it has none. */
static bool refill(struct source *s)
{
	if (s->side)
		return refill_side(s);
	s->rec = ring_peek(s->ring);
	if (!s->rec)
		return false;
	s->ts = s->rec->ts;
	return true;
}

static void sift_down(struct merge *m, size_t i)
{
	struct source *s = m->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < m->heap_cnt) {
		if (child + 1 < m->heap_cnt && m->heap[child + 1]->ts < m->heap[child]->ts)
			child++;
		if (s->ts <= m->heap[child]->ts)
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = s;
}

static void build_heap(struct merge *m)
{
	size_t i;

	m->heap_cnt = 0;
	for (i = 0; i < m->cnt; i++)
		if (refill(&m->sources[i]))
			m->heap[m->heap_cnt++] = &m->sources[i];
	for (i = m->heap_cnt / 2; i-- > 0;)
		sift_down(m, i);
}

static int hand_over(struct source *s, const struct merge_sink *sink)
{
	int err;

	if (s->side) {
		s->has_next = false;
		return sink->side(sink->ctx, &s->next);
	}
	err = sink->record(sink->ctx, s->rec);
	ring_pass(s->ring);
	if (++s->unpublished >= PUBLISH_EVERY) {
		ring_publish(s->ring);
		s->unpublished = 0;
	}
	return err;
}

static void publish_all(struct merge *m)
{
	size_t i;

	for (i = 0; i < m->cnt; i++) {
		if (m->sources[i].ring)
			ring_publish(m->sources[i].ring);
		m->sources[i].unpublished = 0;
	}
}

long merge_pass(struct merge *m, uint64_t mark, size_t max, const struct merge_sink *sink)
{
	struct source *top;
	size_t n = 0;
	int err = 0;

	build_heap(m);
	while (m->heap_cnt && n < max && !err) {
		top = m->heap[0];
		if (top->ts > mark)
			break;
		err = hand_over(top, sink);
		n++;
		if (!refill(top))
			m->heap[0] = m->heap[--m->heap_cnt];
		if (m->heap_cnt)
			sift_down(m, 0);
	}
	publish_all(m);
	return err ? err : (long)n;
}
