// SPDX-License-Identifier: BSD-2-Clause
/*
 * cache_limit.c - limits the recorder's memory
 *
 * Handles the parts and their shares, not their contents. A part above its share frees an eighth more than
 * necessary, so that not every check has to free memory. The shares leave room for the kernel's symbols, libraries
 * and memory that the allocator cannot return.
 */
#include "record/control/cache_limit.h"

#include <malloc.h>

#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/symbols/stacks.h"
#include "record/unwind_maps/unwind_loader.h"

/* In 64ths of the total. */
enum {
	SHARE_TASKS = 12,
	SHARE_FRAMES = 8,
	SHARE_STACKS = 3,
	SHARE_POOL = 3, /* one for strings, one for stacks */
	SHARE_NAMING = 4,
	SHARE_HELPERS = 28,
	SHARE_WAITING = 12, /* in addition to the total: bursts, mostly at the start */
};

_Static_assert(SHARE_TASKS + SHARE_FRAMES + SHARE_STACKS + 2 * SHARE_POOL + SHARE_NAMING +
			       SHARE_HELPERS <
		       64,
	       "room for the rest");

enum { FORGET_MAX = 4 /* processes whose lists are freed per check */ };

static size_t share(size_t max, unsigned int part)
{
	return max / 64 * part;
}

size_t cache_limit_waiting_max(size_t max)
{
	return share(max, SHARE_WAITING);
}

size_t cache_limit_pool_max(size_t max)
{
	return share(max, SHARE_POOL);
}

size_t cache_limit_naming_max(size_t max)
{
	return share(max, SHARE_NAMING);
}

size_t cache_limit_helpers_max(size_t max)
{
	return share(max, SHARE_HELPERS);
}

static size_t less(size_t part)
{
	return part - part / 8;
}

static size_t unwinding_held(const struct cache_limit *m)
{
	return m->unwinding ? unwind_loader_memory(m->unwinding) : 0;
}

/* The current mappings cost as much as the mappings at the drain's time. */
static void forget_unwinding(struct cache_limit *m, size_t max)
{
	int n;

	for (n = 0; n < FORGET_MAX && m->unwinding && tasks_memory(m->tasks) > max; n++)
		m->forgotten += unwind_loader_forget(m->unwinding);
}

static void give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0); /* it keeps freed memory; other C libraries have no such call */
#endif
}

void cache_limit_enforce(struct cache_limit *m)
{
	size_t tasks = share(m->max, SHARE_TASKS), frames = share(m->max, SHARE_FRAMES);
	uint64_t before = m->forgotten;

	forget_unwinding(m, tasks);
	if (tasks_memory(m->tasks) > tasks)
		m->forgotten += tasks_forget(m->tasks, less(tasks));
	if (frames_memory(m->frames) > frames && m->unwinding)
		unwind_loader_touch(m->unwinding);
	if (frames_memory(m->frames) > frames)
		m->forgotten += frames_forget(m->frames, less(frames));
	if (stacks_memory(m->stacks) > share(m->max, SHARE_STACKS))
		stacks_forget(m->stacks);
	if (m->forgotten != before)
		give_back();
	m->held = tasks_memory(m->tasks) + frames_memory(m->frames) + stacks_memory(m->stacks) +
		  unwinding_held(m);
}
