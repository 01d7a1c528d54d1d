// SPDX-License-Identifier: BSD-2-Clause
/*
 * maps.c - what is mapped where in one process
 *
 * The kernel tells of new mappings but not of those that go: a new one simply lies on top of
 * whatever was there, cutting it at both ends, and that is how they are kept here.
 */
#include "record/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/proc.h"

/* Index of the first mapping that ends behind addr. */
static size_t lower(const struct maps *maps, uint64_t addr)
{
	size_t lo = 0, hi = maps->cnt, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (maps->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void open_gap(struct maps *maps, size_t at, size_t old_cnt, size_t new_cnt)
{
	maps->v =
		array_reserve(maps->v, &maps->cap, maps->cnt - old_cnt + new_cnt, sizeof(*maps->v));
	memmove(&maps->v[at + new_cnt], &maps->v[at + old_cnt],
		(maps->cnt - at - old_cnt) * sizeof(*maps->v));
	maps->cnt = maps->cnt - old_cnt + new_cnt;
}

void maps_insert(struct maps *maps, const struct map *m)
{
	struct map put[3];
	size_t first = lower(maps, m->start), last = first, n = 0;

	if (m->start >= m->end)
		return;
	while (last < maps->cnt && maps->v[last].start < m->end)
		last++;
	if (last > first && maps->v[first].start < m->start) {
		put[n] = maps->v[first];
		put[n++].end = m->start;
	}
	put[n++] = *m;
	if (last > first && maps->v[last - 1].end > m->end) {
		put[n] = maps->v[last - 1];
		put[n].pgoff += m->end - put[n].start;
		put[n].announced = false;
		put[n++].start = m->end;
	}
	open_gap(maps, first, last - first, n);
	memcpy(&maps->v[first], put, n * sizeof(*put));
	maps->generation++;
}

struct map *maps_find(const struct maps *maps, uint64_t addr)
{
	size_t i = lower(maps, addr);

	return i < maps->cnt && maps->v[i].start <= addr ? &maps->v[i] : NULL;
}

void maps_copy(struct maps *dst, const struct maps *src)
{
	size_t i;

	maps_clear(dst);
	dst->v = array_reserve(dst->v, &dst->cap, src->cnt, sizeof(*dst->v));
	if (src->cnt)
		memcpy(dst->v, src->v, src->cnt * sizeof(*src->v));
	dst->cnt = src->cnt;
	for (i = 0; i < dst->cnt; i++)
		dst->v[i].announced = false;
}

void maps_clear(struct maps *maps)
{
	maps->cnt = 0;
	maps->generation++;
}

void maps_free(struct maps *maps)
{
	free(maps->v);
	*maps = (struct maps){ 0 };
}

bool maps_is_vdso(const char *path)
{
	return !strcmp(path, "[vdso]");
}

bool maps_is_file(const char *path)
{
	return *path == '/' && !proc_path_is_anon(path);
}
