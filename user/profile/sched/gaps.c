// SPDX-License-Identifier: BSD-2-Clause
/*
 * A set of time ranges, sorted and disjoint. Its size is bounded, because a file may report any
 * number of losses.
 */
#include "profile/sched/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Index of the first gap that ends at or after @ts. */
static size_t find(const struct gaps *g, uint64_t ts)
{
	size_t lo = 0, hi = g->cnt, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (g->v[mid].to < ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool gaps_touch(const struct gaps *g, uint64_t from, uint64_t to)
{
	size_t i;

	if (!g->cnt)
		return false;
	i = find(g, from);
	return i < g->cnt && g->v[i].from <= to;
}

static void merge_closest(struct gaps *g)
{
	size_t best = 0;

	for (size_t i = 1; i + 1 < g->cnt; i++)
		if (g->v[i + 1].from - g->v[i].to < g->v[best + 1].from - g->v[best].to)
			best = i;
	g->v[best].to = g->v[best + 1].to;
	memmove(&g->v[best + 1], &g->v[best + 2], (g->cnt - best - 2) * sizeof(*g->v));
	g->cnt--;
}

void gaps_add(struct gaps *g, uint64_t from, uint64_t to)
{
	size_t i, end;

	if (from > to)
		return;
	i = find(g, from);
	for (end = i; end < g->cnt && g->v[end].from <= to; end++) {
		if (g->v[end].from < from)
			from = g->v[end].from;
		if (g->v[end].to > to)
			to = g->v[end].to;
	}
	if (end == i) {
		g->v = array_reserve(g->v, &g->cap, g->cnt + 1, sizeof(*g->v));
		memmove(&g->v[i + 1], &g->v[i], (g->cnt - i) * sizeof(*g->v));
		g->cnt++;
	} else {
		memmove(&g->v[i + 1], &g->v[end], (g->cnt - end) * sizeof(*g->v));
		g->cnt -= end - i - 1;
	}
	g->v[i] = (struct gap){ from, to };
	if (g->cnt > GAPS_MAX)
		merge_closest(g);
}

void gaps_fini(struct gaps *g)
{
	free(g->v);
	*g = (struct gaps){ 0 };
}
