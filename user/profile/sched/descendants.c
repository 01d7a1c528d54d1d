// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process and its descendants. The walk from each process up stops at the first ancestor with a
 * known answer, and stores the answer for every process on the way. So a long chain of forks costs
 * no more than a flat one.
 */
#include "profile/sched/descendants.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "trace/read/names.h"

/* Values of the map of answers. */
static char inside, outside;

struct walk {
	const struct hmap *parents; /* pid -> ppid + 1 */
	struct hmap verdicts;
	uint32_t *path;
	size_t cnt, cap;
};

/* If a process is its own ancestor, its PID was reused: it is outside. */
static void *verdict_of(struct walk *w, uint32_t pid)
{
	void *verdict;
	uintptr_t parent;

	w->cnt = 0;
	while (!(verdict = hmap_get(&w->verdicts, pid))) {
		hmap_set(&w->verdicts, pid, &outside);
		w->path = array_reserve(w->path, &w->cap, w->cnt + 1, sizeof(*w->path));
		w->path[w->cnt++] = pid;
		parent = (uintptr_t)hmap_get(w->parents, pid);
		if (!parent)
			return &outside;
		pid = parent - 1;
	}
	for (size_t i = 0; i < w->cnt; i++)
		hmap_set(&w->verdicts, w->path[i], verdict);
	return verdict;
}

void descendants_of(const struct names *n, uint32_t pid, struct hmap *out)
{
	struct hmap parents = { 0 };
	struct walk w = { .parents = &parents };
	uint64_t key;
	void *value;
	size_t pos = 0;

	while (hmap_next(&n->tasks, &pos, &key, &value)) {
		const struct names_task *task = value;

		if (task->recorded && task->pid != NAMES_NONE)
			hmap_set(&parents, task->pid, (void *)((uintptr_t)task->ppid + 1));
	}
	hmap_set(&w.verdicts, pid, &inside);
	hmap_set(out, pid, &inside);
	for (pos = 0; hmap_next(&parents, &pos, &key, &value);)
		if (verdict_of(&w, (uint32_t)key) == &inside)
			hmap_set(out, key, &inside);
	free(w.path);
	hmap_fini(&w.verdicts);
	hmap_fini(&parents);
}
