// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time of the trace to time of day. Owns the points at which a recording has both. The wall clock is adjusted while a
 * recording runs, so times between two points are interpolated.
 */
#include "query/wall_clock.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The first and the last point stay. */
static void halve(struct wall_clock *w)
{
	size_t to = 0;

	for (size_t i = 0; i < w->cnt; i += 2)
		w->v[to++] = w->v[i];
	if (w->cnt % 2 == 0)
		w->v[to - 1] = w->v[w->cnt - 1];
	w->cnt = to;
}

void wall_clock_add(struct wall_clock *w, uint64_t mono, uint64_t real)
{
	if (real > INT64_MAX || (w->cnt && mono <= w->v[w->cnt - 1].mono))
		return;
	if (w->cnt == WALL_CLOCK_MAX)
		halve(w);
	w->v = array_reserve(w->v, &w->cap, w->cnt + 1, sizeof(*w->v));
	w->v[w->cnt++] = (struct wall_clock_point){ mono, (int64_t)real };
}

/* Index of the last point at or before @mono; 0 if there is none. */
static size_t point_before(const struct wall_clock *w, uint64_t mono)
{
	size_t low = 0, high = w->cnt;

	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (w->v[mid].mono <= mono)
			low = mid;
		else
			high = mid;
	}
	return low;
}

bool wall_clock_at(const struct wall_clock *w, uint64_t mono, int64_t *out)
{
	const struct wall_clock_point *a, *b;
	__int128 t;
	size_t at;

	if (!w->cnt)
		return false;
	at = point_before(w, mono);
	a = &w->v[at];
	b = a + 1;
	t = (__int128)mono - a->mono;
	if (t > 0 && at + 1 < w->cnt)
		t = t * ((__int128)b->real - a->real) / ((__int128)b->mono - a->mono);
	t += a->real;
	if (t < INT64_MIN || t > INT64_MAX)
		return false;
	*out = (int64_t)t;
	return true;
}

void wall_clock_fini(struct wall_clock *w)
{
	free(w->v);
	*w = (struct wall_clock){ 0 };
}
