// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring_merge.c - merges many rings into one order
 *
 * A step back in time costs nine bytes in dial9, so the rings are merged by time as they are drained. A binary heap
 * holds each source that has a record, keyed by its oldest record's time. The process metadata rings are sources,
 * too, so a mapping or an exec is known exactly when the records around it need it.
 *
 * A record that is still being written hides the later records of its ring. The mark, a few milliseconds in the
 * past, makes this rare. The error in order is then at most that time.
 *
 * An impossible time would block its source for good, or for years. So a metadata record from the future, or from
 * long before the last one of its ring, counts as damaged and is skipped.
 */
#include "record/ring/ring_merge.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "kernel/perf_ring.h"
#include "prof_abi.h"
#include "record/ring/ring.h"

enum {
	PUBLISH_EVERY = 64,
	AHEAD_NS = 1000000, /* maximum difference of the clock between two CPUs */
};

#define BEHIND_NS 5000000000ULL
#define STALL_NS 1000000000ULL

struct source {
	uint64_t ts;
	struct ring *ring; /* or: */
	struct perf_ring *side;
	const struct prof_rec *rec;
	struct perf_side next; /* of side, when has_next */
	bool has_next;
	uint64_t side_ns; /* time of the last good metadata record */
	uint64_t waits_since; /* clock when `next` was read */
	unsigned int unpublished;
};

struct ring_merge {
	struct source *sources;
	size_t cnt;
	struct source **heap;
	size_t heap_cnt;
	uint64_t now; /* a lower bound of the clock's time */
	uint64_t reached; /* time of the last record passed on */
	bool waits;
};

struct ring_merge *ring_merge_new(struct ring *rings, size_t ring_cnt, struct perf_ring **sides,
				  size_t side_cnt)
{
	struct ring_merge *m = xcalloc(1, sizeof(*m));
	size_t i;

	m->sources = xcalloc(ring_cnt + side_cnt + 1, sizeof(*m->sources));
	m->heap = xcalloc(ring_cnt + side_cnt + 1, sizeof(*m->heap));
	for (i = 0; i < side_cnt; i++)
		m->sources[m->cnt++].side = sides[i];
	for (i = 0; i < ring_cnt; i++)
		m->sources[m->cnt++].ring = &rings[i];
	return m;
}

void ring_merge_free(struct ring_merge *m)
{
	if (!m)
		return;
	free(m->heap);
	free(m->sources);
	free(m);
}

/* Whether a record of this source can have been written at that time. */
static bool is_possible(struct ring_merge *m, const struct source *s, uint64_t time)
{
	if (time > m->now + AHEAD_NS)
		m->now = clock_mono_ns();
	return time <= m->now + AHEAD_NS && time + BEHIND_NS >= s->side_ns;
}

/* A notice that replaces unusable records, at the time of the last usable one. */
static struct perf_side side_notice(const struct source *s, enum perf_side_type type)
{
	return (struct perf_side){
		.type = type,
		.time = s->side_ns,
		.since = s->side_ns,
		.cpu = perf_ring_cpu(s->side),
		.lost = 1,
		.name = "",
	};
}

static bool refill_side(struct ring_merge *m, struct source *s)
{
	int got;

	if (s->has_next)
		return true;
	got = perf_ring_next(s->side, &s->next);
	s->has_next = got != 0;
	if (!got)
		return false;
	if (got > 0 && s->next.type == PERF_SIDE_FULL)
		s->next.time = s->side_ns; /* after the last usable record */
	else if (got < 0 || !is_possible(m, s, s->next.time))
		s->next = side_notice(s, PERF_SIDE_DAMAGED);
	s->next.since = s->side_ns;
	if (s->next.time > s->side_ns)
		s->side_ns = s->next.time;
	s->waits_since = m->now;
	s->ts = s->next.time;
	return true;
}

static bool refill_ring(struct source *s, const struct prof_rec *rec)
{
	s->rec = rec;
	if (rec)
		s->ts = rec->ts;
	return rec;
}

/* Finds the source's oldest record: false if it has none. */
static bool refill(struct ring_merge *m, struct source *s)
{
	return s->side ? refill_side(m, s) : refill_ring(s, ring_peek(s->ring));
}

/* Steps over that record, to the next one. */
static bool advance(struct ring_merge *m, struct source *s)
{
	if (s->side) {
		s->has_next = false;
		return refill_side(m, s);
	}
	if (++s->unpublished >= PUBLISH_EVERY) {
		ring_publish(s->ring);
		s->unpublished = 0;
	}
	return refill_ring(s, ring_next(s->ring));
}

static void sift_down(struct ring_merge *m, size_t i)
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

static void build_heap(struct ring_merge *m)
{
	size_t i;

	m->heap_cnt = 0;
	for (i = 0; i < m->cnt; i++)
		if (refill(m, &m->sources[i]))
			m->heap[m->heap_cnt++] = &m->sources[i];
	for (i = m->heap_cnt / 2; i-- > 0;)
		sift_down(m, i);
}

static int hand_over(struct source *s, const struct ring_merge_sink *sink)
{
	if (!s->side)
		return sink->record(sink->ctx, s->rec);
	s->next.looked = s->next.type != PERF_SIDE_DAMAGED && s->next.type != PERF_SIDE_FULL &&
			 perf_ring_is_looked(s->side);
	return sink->side(sink->ctx, &s->next);
}

/* Once per ring, since the readers of stages share its space. */
static void publish_all(struct ring_merge *m)
{
	size_t i;

	for (i = 0; i < m->cnt; i++) {
		if (m->sources[i].ring && !m->sources[i].ring->stage)
			ring_publish(m->sources[i].ring);
		m->sources[i].unpublished = 0;
	}
}

/* A record should not be held for this long; if one is, report it once per second. */
static int report_stalls(struct ring_merge *m, const struct ring_merge_sink *sink)
{
	struct perf_side notice;
	size_t i;
	int err = 0;

	for (i = 0; i < m->cnt && !err; i++) {
		struct source *s = &m->sources[i];

		if (!s->side || !s->has_next || s->waits_since + STALL_NS > m->now)
			continue;
		notice = side_notice(s, PERF_SIDE_STALLED);
		notice.time = m->now;
		s->waits_since = m->now;
		err = sink->side(sink->ctx, &notice);
	}
	return err;
}

/* Up to this time the records of the source at the top of the heap come before all records of others. */
static uint64_t run_ends(const struct ring_merge *m, uint64_t mark)
{
	uint64_t ends = mark;
	size_t child;

	for (child = 1; child <= 2 && child < m->heap_cnt; child++)
		if (m->heap[child]->ts < ends)
			ends = m->heap[child]->ts;
	return ends;
}

/* Hands over such records. */
static int hand_over_run(struct ring_merge *m, uint64_t mark, size_t max, size_t *n,
			 const struct ring_merge_sink *sink)
{
	struct source *top = m->heap[0];
	const uint64_t ends = run_ends(m, mark);
	uint64_t ts;
	int err;

	do {
		ts = top->ts;
		err = hand_over(top, sink);
		m->waits = err == RING_MERGE_LATER;
		if (m->waits)
			return err;
		m->reached = ts;
		++*n;
		if (!advance(m, top)) {
			m->heap[0] = m->heap[--m->heap_cnt];
			break;
		}
	} while (!err && *n < max && top->ts <= ends);
	return err;
}

long ring_merge_pass(struct ring_merge *m, uint64_t mark, size_t max,
		     const struct ring_merge_sink *sink)
{
	size_t n = 0;
	int err;

	m->now = clock_mono_ns();
	m->waits = false;
	err = report_stalls(m, sink);
	build_heap(m);
	while (m->heap_cnt && n < max && !err && m->heap[0]->ts <= mark) {
		err = hand_over_run(m, mark, max, &n, sink);
		if (m->heap_cnt && !m->waits)
			sift_down(m, 0);
	}
	publish_all(m);
	return err && !m->waits ? err : (long)n;
}

uint64_t ring_merge_reached(const struct ring_merge *m)
{
	return m->reached;
}

bool ring_merge_waits(const struct ring_merge *m)
{
	return m->waits;
}
