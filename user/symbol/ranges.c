// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the owner of an address among overlapping ranges.
 *
 * The first lookup follows a sweep in address order with a heap of the open ranges: O(n log n) for
 * any overlap. The result is spans without overlap, at most two per range, and a lookup is one
 * binary search.
 */
#include "symbol/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "symbol/budget.h"

int ranges_add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t id, uint64_t rank,
	       struct budget *budget)
{
	void *array = r->v;
	int err;

	if (lo >= hi)
		return 0;
	err = budget_grow(budget, &array, &r->cap, r->cnt, sizeof(*r->v));
	r->v = array;
	if (!err)
		r->v[r->cnt++] = (struct range){ .lo = lo, .hi = hi, .id = id, .rank = rank };
	return err;
}

static int compare(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/*
 * Whether range a takes precedence where both overlap. In v they are sorted by start, then by order
 * of addition.
 */
static bool owns(const struct ranges *r, size_t a, size_t b)
{
	const struct range *ra = &r->v[a], *rb = &r->v[b];

	if (ra->rank != rb->rank)
		return ra->rank < rb->rank;
	if (ra->lo != rb->lo)
		return ra->lo > rb->lo;
	return a < b;
}

static void swap(size_t *a, size_t *b)
{
	size_t c = *a;

	*a = *b;
	*b = c;
}

static int push(struct ranges *r, size_t idx, struct budget *budget)
{
	void *array = r->heap;
	size_t i = r->heap_cnt;
	int err = budget_grow(budget, &array, &r->heap_cap, r->heap_cnt, sizeof(*r->heap));

	r->heap = array;
	if (err)
		return err;
	r->heap[r->heap_cnt++] = idx;
	for (; i && owns(r, r->heap[i], r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&r->heap[i], &r->heap[(i - 1) / 2]);
	return 0;
}

static void pop(struct ranges *r)
{
	size_t i = 0;

	r->heap[0] = r->heap[--r->heap_cnt];
	for (;;) {
		size_t best = i, child;

		for (child = 2 * i + 1; child <= 2 * i + 2 && child < r->heap_cnt; child++)
			if (owns(r, r->heap[child], r->heap[best]))
				best = child;
		if (best == i)
			return;
		swap(&r->heap[i], &r->heap[best]);
		i = best;
	}
}

static int emit(struct ranges *r, uint64_t start, size_t idx, struct budget *budget)
{
	void *array = r->spans;
	int err;

	if (r->span_cnt && r->spans[r->span_cnt - 1].idx == idx)
		return 0;
	err = budget_grow(budget, &array, &r->span_cap, r->span_cnt, sizeof(*r->spans));
	r->spans = array;
	if (!err)
		r->spans[r->span_cnt++] = (struct ranges_span){ .start = start, .idx = idx };
	return err;
}

/*
 * One step of the sweep. Everything before r->at is done, and the top of the heap does not end
 * there. So the top owns the addresses up to its end or the next start.
 */
static int step(struct ranges *r, struct budget *budget)
{
	const struct range *top;
	int err;

	if (r->next < r->cnt && (!r->heap_cnt || r->v[r->next].lo <= r->at)) {
		if (!r->heap_cnt && r->v[r->next].lo > r->at)
			r->at = r->v[r->next].lo;
		err = push(r, r->next, budget);
		r->next += !err;
		return err;
	}
	top = &r->v[r->heap[0]];
	if (top->hi <= r->at) {
		pop(r);
		return r->heap_cnt ? 0 : emit(r, r->at, SIZE_MAX, budget);
	}
	err = emit(r, r->at, r->heap[0], budget);
	if (err)
		return err;
	r->at = top->hi;
	if (r->next < r->cnt && r->v[r->next].lo < r->at)
		r->at = r->v[r->next].lo;
	return 0;
}

int ranges_settle(struct ranges *r, struct budget *budget)
{
	void *array = r->v;
	int err = 0;

	if (!r->sorted) {
		err = resumable_sort_run(&r->sort, &array, r->cnt, sizeof(*r->v), compare, budget);
		r->v = array;
		r->sorted = !err;
	}
	while (!err && (r->next < r->cnt || r->heap_cnt)) {
		err = step(r, budget);
		if (!err)
			err = budget_work(budget, 2);
	}
	if (err)
		return err;
	budget_free(budget, r->heap, r->heap_cap, sizeof(*r->heap));
	r->heap = NULL;
	r->heap_cap = 0;
	r->settled = true;
	return 0;
}

const struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	size_t lo = 0, hi = r->span_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->spans[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && r->spans[lo - 1].idx != SIZE_MAX ? &r->v[r->spans[lo - 1].idx] : NULL;
}

void ranges_free(struct ranges *r, struct budget *budget)
{
	resumable_sort_free(&r->sort, r->cnt, sizeof(*r->v), budget);
	budget_free(budget, r->heap, r->heap_cap, sizeof(*r->heap));
	budget_free(budget, r->spans, r->span_cap, sizeof(*r->spans));
	budget_free(budget, r->v, r->cap, sizeof(*r->v));
	*r = (struct ranges){ 0 };
}
