// SPDX-License-Identifier: BSD-2-Clause
/*
 * free_ranges.c - first-fit allocation of ranges
 *
 * A sorted array of free runs. A freed range is joined with its neighbours, so there is at most one
 * more run than there are used ranges.
 */
#include "unwind/free_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void free_ranges_fini(struct free_ranges *e)
{
	free(e->v);
	*e = (struct free_ranges){ 0 };
}

static void remove_extent(struct free_ranges *e, size_t i)
{
	e->cnt--;
	memmove(&e->v[i], &e->v[i + 1], (e->cnt - i) * sizeof(*e->v));
}

bool free_ranges_allocate(struct free_ranges *e, uint32_t cnt, uint32_t *first)
{
	size_t i = 0;

	if (cnt > e->free)
		return false;
	while (i < e->cnt && e->v[i].cnt < cnt)
		i++;
	if (i == e->cnt)
		return false;
	*first = e->v[i].first;
	e->v[i].first += cnt;
	e->v[i].cnt -= cnt;
	e->free -= cnt;
	if (!e->v[i].cnt)
		remove_extent(e, i);
	return true;
}

/* The first run that starts at or after a place. */
static size_t lower(const struct free_ranges *e, uint32_t first)
{
	size_t lo = 0, hi = e->cnt, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (e->v[mid].first < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void free_ranges_add(struct free_ranges *e, uint32_t first, uint32_t cnt)
{
	size_t i = lower(e, first);
	bool joins_before = i && e->v[i - 1].first + e->v[i - 1].cnt == first;
	bool joins_next = i < e->cnt && first + cnt == e->v[i].first;

	if (!cnt)
		return;
	e->free += cnt;
	if (joins_before) {
		e->v[i - 1].cnt += cnt;
		if (joins_next) {
			e->v[i - 1].cnt += e->v[i].cnt;
			remove_extent(e, i);
		}
	} else if (joins_next) {
		e->v[i].first = first;
		e->v[i].cnt += cnt;
	} else {
		e->v = array_reserve(e->v, &e->cap, e->cnt + 1, sizeof(*e->v));
		memmove(&e->v[i + 1], &e->v[i], (e->cnt - i) * sizeof(*e->v));
		e->v[i] = (struct free_range){ first, cnt };
		e->cnt++;
	}
}
