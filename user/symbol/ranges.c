// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which of many address ranges contain an address. Sorted by start, with the largest end so far
 * beside each: a look-up is a binary search and then a walk back that ends where nothing earlier
 * reaches far enough. In real files that is one or two steps.
 */
#include "symbol/ranges.h"

#include <stdlib.h>

#include "base/alloc.h"

#define STEPS_MAX 4096

void ranges_add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t id)
{
	if (lo >= hi)
		return;
	r->v = array_reserve(r->v, &r->cap, r->cnt + 1, sizeof(*r->v));
	/* until sorted, max_hi keeps the order of arrival, which makes the sort stable */
	r->v[r->cnt] = (struct range){ .lo = lo, .hi = hi, .max_hi = r->cnt, .id = id };
	r->cnt++;
}

static int compare(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	/* the larger one first, so that walking back meets the smaller first */
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return a->max_hi > b->max_hi ? -1 : a->max_hi < b->max_hi;
}

void ranges_sort(struct ranges *r)
{
	uint64_t max = 0;
	size_t i;

	if (r->cnt)
		qsort(r->v, r->cnt, sizeof(*r->v), compare);
	for (i = 0; i < r->cnt; i++) {
		if (r->v[i].hi > max)
			max = r->v[i].hi;
		r->v[i].max_hi = max;
	}
}

void ranges_free(struct ranges *r)
{
	free(r->v);
	*r = (struct ranges){ 0 };
}

/* How many ranges start at or before addr. */
static size_t upper_bound(const struct ranges *r, uint64_t addr)
{
	size_t lo = 0, hi = r->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].lo <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct range *ranges_next(const struct ranges *r, uint64_t addr, size_t *pos)
{
	size_t i = *pos == SIZE_MAX ? upper_bound(r, addr) : *pos;
	size_t steps;

	for (steps = 0; i > 0 && r->v[i - 1].max_hi > addr && steps < STEPS_MAX; steps++) {
		i--;
		if (r->v[i].hi > addr) {
			*pos = i;
			return &r->v[i];
		}
	}
	*pos = 0;
	return NULL;
}

const struct range *ranges_smallest(const struct ranges *r, uint64_t addr)
{
	const struct range *best = NULL, *cand;
	size_t pos = SIZE_MAX, steps;

	for (steps = 0; steps < STEPS_MAX && (cand = ranges_next(r, addr, &pos)); steps++)
		if (!best || cand->hi - cand->lo < best->hi - best->lo)
			best = cand;
	return best;
}
