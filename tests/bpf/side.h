/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_SIDE_H
#define D9_TESTS_BPF_SIDE_H

/* One of two captures that run at once, whose records are compared. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "record/capture/capture.h"
#include "record/ring/ring.h"
#include "record/tracepoint/eventset.h"

struct side {
	struct eventset *events;
	struct capture *capture;
	struct prof_rec **recs;
	size_t cnt, cap;
	uint64_t nested;
};

/* CPU by CPU, by time: hot events are read apart from others. */
static inline int side_by_cpu_and_time(const void *a, const void *b)
{
	const struct prof_rec *x = *(struct prof_rec *const *)a, *y = *(struct prof_rec *const *)b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* Its records so far, in that order: all that it produced, but for those that are lost as nested. */
static inline void side_next(struct side *s)
{
	struct capture_counts counts;
	const struct prof_rec *rec;
	struct ring *rings;
	size_t cnt, i;

	rings = capture_rings(s->capture, &cnt);
	for (i = 0; i < cnt; i++) {
		while ((rec = ring_peek(&rings[i]))) {
			s->recs = array_reserve(s->recs, &s->cap, s->cnt + 1, sizeof(*s->recs));
			s->recs[s->cnt++] = xmemdup(rec, rec->size);
			ring_pass(&rings[i]);
		}
		ring_publish(&rings[i]);
	}
	if (s->cnt)
		qsort(s->recs, s->cnt, sizeof(struct prof_rec *), side_by_cpu_and_time);
	capture_count(s->capture, &counts);
	cr_assert_eq(counts.lost[PROF_CLASS_TRACEPOINT], 0);
	cr_assert_eq(counts.produced[PROF_CLASS_TRACEPOINT], s->cnt);
	s->nested = counts.nested + counts.nested_sched;
}

/* Drops records after that time: the two captures do not stop at the same time. */
static inline void side_cut(struct side *s, uint64_t last_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->cnt; i++)
		if (s->recs[i]->ts <= last_ns)
			s->recs[kept++] = s->recs[i];
		else
			free(s->recs[i]);
	s->cnt = kept;
}

static inline void side_close(struct side *s)
{
	size_t i;

	for (i = 0; i < s->cnt; i++)
		free(s->recs[i]);
	free(s->recs);
	capture_free(s->capture);
	eventset_free(s->events);
}

#endif /* D9_TESTS_BPF_SIDE_H */
