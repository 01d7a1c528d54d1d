// SPDX-License-Identifier: BSD-2-Clause
/*
 * The recorder's own processes, from its metadata and from parent PIDs. Helpers are the fork
 * servers that the metadata names, and their children.
 */
#include "profile/sched/recorder_tasks.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { HELPERS_MAX = 16 };

struct recorder_tasks_part {
	uint64_t version; /* of the metadata read, plus 1; 0: not read */
	uint64_t recorder; /* PID; 0: unknown */
	uint32_t helpers[HELPERS_MAX];
	size_t helper_cnt;
};

static uint32_t parent_of(const struct trace *t, const struct names *n, uint32_t now, uint32_t part,
			  uint32_t pid)
{
	const struct names_task *task = part == now ? trace_task(t, pid) : NULL;

	if (!task || !task->recorded)
		task = names_task_first(n, part, pid);
	return task && task->recorded ? task->ppid : 0;
}

/* Comma-separated PIDs. */
static void read_helpers(struct recorder_tasks_part *p, const char *list)
{
	char *end;

	for (p->helper_cnt = 0; list && p->helper_cnt < HELPERS_MAX;
	     list = *end == ',' ? end + 1 : NULL)
		p->helpers[p->helper_cnt++] = (uint32_t)strtoul(list, &end, 10);
}

static const struct recorder_tasks_part *part_of(struct recorder_tasks *r, const struct names *n,
						 uint32_t part)
{
	const uint64_t version = n->parts.meta_version + 1;
	struct recorder_tasks_part *p;

	if (part >= n->parts.cnt)
		part = 0;
	r->parts = array_reserve(r->parts, &r->cap, (size_t)part + 1, sizeof(*r->parts));
	p = &r->parts[part];
	if (p->version != version) {
		p->version = version;
		p->recorder = names_meta_u64(n, part, PROF_META_RECORDER_PID);
		read_helpers(p, names_meta(n, part, PROF_META_RECORDER_HELPERS));
	}
	return p;
}

static bool is_named(const struct recorder_tasks_part *p, uint32_t pid)
{
	size_t i;

	for (i = 0; i < p->helper_cnt; i++)
		if (pid && p->helpers[i] == pid)
			return true;
	return false;
}

bool recorder_tasks_has(struct recorder_tasks *r, const struct trace *t, const struct names *n,
			uint32_t now, uint32_t part, uint32_t pid)
{
	const struct recorder_tasks_part *p = part_of(r, n, part);
	uint32_t parent;

	if (!p->recorder || pid == TRACE_NONE)
		return false;
	if (pid == p->recorder)
		return true;
	if (!p->helper_cnt)
		return false;
	parent = parent_of(t, n, now, part, pid);
	/* a reused PID has another parent */
	if (is_named(p, pid))
		return !parent || parent == p->recorder;
	return is_named(p, parent);
}

void recorder_tasks_fini(struct recorder_tasks *r)
{
	free(r->parts);
	*r = (struct recorder_tasks){ 0 };
}
