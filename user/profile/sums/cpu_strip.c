// SPDX-License-Identifier: BSD-2-Clause
/*
 * CPU time in columns. The length of a trace is known only at its end. So columns start narrow, and
 * pairs are merged when time exceeds the last column. Numbers only.
 */
#include "profile/sums/cpu_strip.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_WIDTH_NS 1024

static struct cpu_strip_cell *cell_at(struct cpu_strip *s, uint32_t cpu, uint32_t col, uint32_t tid)
{
	const uint32_t key[] = { cpu, col, tid };
	uint64_t hash = hash_bytes(key, sizeof(key));
	struct cpu_strip_cell *cell;
	uintptr_t at;

	for (; (at = (uintptr_t)hmap_get(&s->index, hash)); hash++) {
		cell = &s->cells[at - 1];
		if (cell->cpu == cpu && cell->col == col && cell->tid == tid)
			return cell;
	}
	s->cells = array_reserve(s->cells, &s->cap, s->cnt + 1, sizeof(*s->cells));
	s->cells[s->cnt++] = (struct cpu_strip_cell){ .cpu = cpu, .col = col, .tid = tid };
	hmap_set(&s->index, hash, (void *)(uintptr_t)s->cnt);
	return &s->cells[s->cnt - 1];
}

/* Merges each pair of columns. */
static void widen(struct cpu_strip *s)
{
	struct cpu_strip_cell *cells = s->cells;
	const size_t cnt = s->cnt;

	hmap_fini(&s->index);
	s->cells = NULL;
	s->cnt = s->cap = 0;
	s->width_ns *= 2;
	for (size_t k = 0; k < cnt; k++)
		cell_at(s, cells[k].cpu, cells[k].col / 2, cells[k].tid)->ns += cells[k].ns;
	free(cells);
}

static void count_thread(struct cpu_strip *s, const struct interval *i, uint64_t ns)
{
	uintptr_t at = (uintptr_t)hmap_get(&s->by_tid, i->tid);
	struct cpu_strip_thread *t;

	if (!at) {
		s->threads = array_reserve(s->threads, &s->thread_cap, s->thread_cnt + 1,
					   sizeof(*s->threads));
		s->threads[s->thread_cnt++] =
			(struct cpu_strip_thread){ .tid = i->tid, .comm = NAMES_NONE };
		at = s->thread_cnt;
		hmap_set(&s->by_tid, i->tid, (void *)at);
	}
	t = &s->threads[at - 1];
	t->ns += ns;
	if (i->comm != NAMES_NONE)
		t->comm = i->comm;
}

void cpu_strip_add(struct cpu_strip *s, const struct interval *i)
{
	uint64_t from = i->start > s->start ? i->start - s->start : 0, to, end;

	if (i->cpu >= INTERVAL_CPUS_MAX || i->end <= s->start)
		return;
	to = i->end - s->start;
	if (!s->width_ns)
		s->width_ns = FIRST_WIDTH_NS;
	while ((to - 1) / s->cols >= s->width_ns)
		widen(s);
	count_thread(s, i, to - from);
	if (i->cpu >= s->cpus)
		s->cpus = i->cpu + 1;
	for (; from < to; from = end) {
		const uint64_t left = s->width_ns - from % s->width_ns;

		end = to - from < left ? to : from + left;
		cell_at(s, i->cpu, (uint32_t)(from / s->width_ns), i->tid)->ns += end - from;
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct cpu_strip_thread *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int by_place(const void *a, const void *b)
{
	const struct cpu_strip_cell *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->col != y->col)
		return x->col < y->col ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

void cpu_strip_finish(struct cpu_strip *s)
{
	if (s->thread_cnt)
		qsort(s->threads, s->thread_cnt, sizeof(*s->threads), longest_first);
	if (s->cnt)
		qsort(s->cells, s->cnt, sizeof(*s->cells), by_place);
}

uint32_t cpu_strip_top(const struct cpu_strip *s, uint32_t cpu, uint32_t col, uint64_t *busy_ns)
{
	size_t low = 0, high = s->cnt, at;

	*busy_ns = 0;
	while (low < high) {
		at = low + (high - low) / 2;
		if (s->cells[at].cpu < cpu || (s->cells[at].cpu == cpu && s->cells[at].col < col))
			low = at + 1;
		else
			high = at;
	}
	for (at = low; at < s->cnt && s->cells[at].cpu == cpu && s->cells[at].col == col; at++)
		*busy_ns += s->cells[at].ns;
	return at > low ? s->cells[low].tid : TRACE_NONE;
}

void cpu_strip_fini(struct cpu_strip *s)
{
	free(s->cells);
	free(s->threads);
	hmap_fini(&s->index);
	hmap_fini(&s->by_tid);
	*s = (struct cpu_strip){ .cols = s->cols };
}
