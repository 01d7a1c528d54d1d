// SPDX-License-Identifier: BSD-2-Clause
/*
 * maps.c - the mappings of an address space
 *
 * Owns their order: a new mapping replaces what it overlaps, as in the kernel and in perf.
 */
#include "formats/perfdata/maps.h"

#include <string.h>

#include "base/alloc.h"

size_t perfdata_maps_find(const struct perfdata_maps *m, uint64_t addr)
{
	size_t low = 0, high = m->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->v[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

struct perfdata_map *perfdata_maps_at(const struct perfdata_maps *m, uint64_t addr)
{
	size_t at = perfdata_maps_find(m, addr);

	return at < m->cnt && m->v[at].start <= addr ? &m->v[at] : NULL;
}

static void insert(struct perfdata_maps *m, size_t at, const struct perfdata_map *map)
{
	m->v = array_reserve(m->v, &m->cap, m->cnt + 1, sizeof(*m->v));
	memmove(&m->v[at + 1], &m->v[at], (m->cnt - at) * sizeof(*m->v));
	m->v[at] = *map;
	m->cnt++;
}

void perfdata_maps_clear(struct perfdata_maps *m, uint64_t start, uint64_t end)
{
	size_t from = perfdata_maps_find(m, start), to;
	struct perfdata_map rest;

	if (!m->cnt)
		return;
	if (from < m->cnt && m->v[from].start < start) {
		rest = m->v[from];
		m->v[from].end = start;
		m->v[from++].written = false;
		if (rest.end > end) {
			rest.off += end - rest.start;
			rest.start = end;
			rest.written = false;
			insert(m, from, &rest);
			return;
		}
	}
	for (to = from; to < m->cnt && m->v[to].end <= end; to++)
		;
	memmove(&m->v[from], &m->v[to], (m->cnt - to) * sizeof(*m->v));
	m->cnt -= to - from;
	if (from < m->cnt && m->v[from].start < end) {
		m->v[from].off += end - m->v[from].start;
		m->v[from].start = end;
		m->v[from].written = false;
	}
}

void perfdata_maps_add(struct perfdata_maps *m, const struct perfdata_map *map)
{
	perfdata_maps_clear(m, map->start, map->end);
	insert(m, perfdata_maps_find(m, map->start), map);
}

void perfdata_maps_copy(struct perfdata_maps *m, const struct perfdata_maps *from)
{
	m->v = array_reserve(m->v, &m->cap, from->cnt, sizeof(*m->v));
	if (from->cnt)
		memcpy(m->v, from->v, from->cnt * sizeof(*m->v));
	m->cnt = from->cnt;
	for (size_t i = 0; i < m->cnt; i++)
		m->v[i].written = false;
}
