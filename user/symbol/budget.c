// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits the work that a file can cause.
 *
 * Files are untrusted, and a few kilobytes can require a year of work. So all work on a file is
 * counted while it is done: in entries and in memory, which do not depend on the machine, and in
 * CPU time. This is the CPU time of the thread, not wall-clock time: a busy machine must not lose
 * symbols.
 *
 * Reading the CPU time of a thread is a system call, so it is read only once per some microseconds
 * of work.
 */
#include "symbol/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"

#define WORK_PER_LOOK 2048

uint64_t budget_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void budget_init(struct budget *b, const struct budget_max *max)
{
	*b = (struct budget){ .max = *max, .slice_end = UINT64_MAX, .look = WORK_PER_LOOK };
}

void budget_slice(struct budget *b, uint64_t end_ns)
{
	b->slice_end = end_ns;
	b->look = end_ns ? WORK_PER_LOOK : 0;
}

void budget_enter(struct budget *b)
{
	b->since = budget_clock_ns();
}

void budget_leave(struct budget *b)
{
	uint64_t now = budget_clock_ns();

	b->cpu_ns += now - b->since;
	b->since = now;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void budget_allow(struct budget *b, uint64_t cpu_ns, uint64_t entries)
{
	b->max.cpu_ns = add_capped(b->max.cpu_ns, cpu_ns);
	b->max.entries = add_capped(b->max.entries, entries);
}

int budget_exhaust(struct budget *b, enum budget_bound bound)
{
	if (!b->reached)
		b->reached = bound;
	return -EDQUOT;
}

int budget_work(struct budget *b, uint32_t units)
{
	if (b->cpu_ns > b->max.cpu_ns)
		return budget_exhaust(b, BUDGET_TIME);
	b->unseen += units;
	if (b->unseen < b->look)
		return 0;
	b->unseen = 0;
	budget_leave(b);
	if (b->cpu_ns > b->max.cpu_ns)
		return budget_exhaust(b, BUDGET_TIME);
	return b->since >= b->slice_end ? -EAGAIN : 0;
}

int budget_step(struct budget *b, uint32_t entries)
{
	b->entries += entries;
	if (b->entries > b->max.entries)
		return budget_exhaust(b, BUDGET_ENTRIES);
	return budget_work(b, entries);
}

int budget_reserve(struct budget *b, uint64_t bytes)
{
	if (b->mem > b->max.mem || bytes > b->max.mem - b->mem)
		return -ENOMEM;
	b->mem += bytes;
	return 0;
}

void budget_give_back(struct budget *b, uint64_t bytes)
{
	b->mem -= bytes < b->mem ? bytes : b->mem;
}

int budget_grow(struct budget *b, void **array, size_t *cap, size_t cnt, size_t elem_sz)
{
	size_t more = cnt < 8 ? 8 : cnt / 2;

	if (cnt < *cap)
		return 0;
	if (budget_reserve(b, more * elem_sz))
		return -ENOMEM;
	*array = xreallocarray(*array, cnt + more, elem_sz);
	*cap = cnt + more;
	return 0;
}

void budget_free(struct budget *b, void *array, size_t cap, size_t elem_sz)
{
	budget_give_back(b, cap * elem_sz);
	free(array);
}

void budget_restart(struct budget *b)
{
	b->cpu_ns = b->entries = 0;
	b->reached = BUDGET_NONE;
}

const char *budget_reached(const struct budget *b)
{
	switch (b->reached) {
	case BUDGET_TIME:
		return "time";
	case BUDGET_MEMORY:
		return "memory";
	case BUDGET_ENTRIES:
		return "entries";
	case BUDGET_NONE:
		break;
	}
	return NULL;
}
