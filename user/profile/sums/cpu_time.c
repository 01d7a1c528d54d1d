// SPDX-License-Identifier: BSD-2-Clause
/*
 * CPU time of tasks. Owns the sums by task and CPU, which are regrouped when all names are known. A
 * sample every 10 ms says little about a thread that runs for 1 ms; switches are exact.
 */
#include "profile/sums/cpu_time.h"

#include <stdlib.h>

#include "base/alloc.h"

static void add_run(struct cpu_time *c, const struct interval *i, uint32_t cgroup, uint64_t ns)
{
	struct profile_row key = row_table_no_keys;

	key.tid = i->tid;
	key.pid = i->pid;
	key.comm = i->comm;
	key.part = i->part;
	key.cpu = i->cpu;
	key.cgroup = cgroup;
	row_table_at(&c->tasks, &key)->run_ns += ns;
	c->run_ns += ns;
}

/*
 * At an edge of the recording: the thread of a switch-out was running before, although its
 * switch-in is missing.
 */
static bool was_on_cpu(const struct interval *i)
{
	return i->began_as == INTERVAL_RUNNING || i->end_by >= INTERVAL_TO_BLOCK;
}

void cpu_time_add(struct cpu_time *c, const struct interval *i, uint32_t cgroup)
{
	uint64_t ns = i->end > i->start ? i->end - i->start : 0;

	if (i->flags & (INTERVAL_NEIGHBOUR | INTERVAL_ELSEWHERE))
		return;
	if (i->state == INTERVAL_UNKNOWN && was_on_cpu(i)) {
		c->uncertain_ns += ns;
		intervals_holes_add(&c->holes, i);
	}
	if (i->state == INTERVAL_RUNNING)
		add_run(c, i, cgroup, ns);
}

void cpu_time_bound(struct cpu_time *c, uint64_t ns)
{
	const uint64_t left = ns > c->run_ns ? ns - c->run_ns : 0;

	if (c->uncertain_ns > left)
		c->uncertain_ns = left;
}

static int by_run(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns < y->run_ns ? 1 : -1;
	if (x->self_weight != y->self_weight)
		return x->self_weight < y->self_weight ? 1 : -1;
	for (size_t i = 0; i < sizeof(x->key) / sizeof(x->key[0]); i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

void cpu_time_add_to_rows(const struct cpu_time *c, const struct names *n, unsigned int keys,
			  struct profile_rows *rows)
{
	const struct profile_rows *tasks = &c->tasks.rows;
	struct row_table all = { 0 };

	for (size_t i = 0; i < rows->cnt; i++)
		*row_table_at(&all, &rows->v[i]) = rows->v[i];
	for (size_t i = 0; i < tasks->cnt; i++) {
		struct profile_row key = tasks->v[i];
		const struct names_task *task = names_task_first(n, key.part, key.tid);

		if (task && key.pid == NAMES_NONE)
			key.pid = task->pid;
		if (task && key.comm == NAMES_NONE)
			key.comm = task->comm;
		if (task && key.cgroup == NAMES_NONE)
			key.cgroup = task->cgroup;
		row_table_mask(&key, keys);
		row_table_at(&all, &key)->run_ns += tasks->v[i].run_ns;
	}
	free(rows->v);
	*rows = row_table_steal(&all);
	if (rows->cnt)
		qsort(rows->v, rows->cnt, sizeof(*rows->v), by_run);
}

void cpu_time_to_profile(const struct cpu_time *c, struct profile *p)
{
	const struct profile_rows *tasks = &c->tasks.rows;

	for (size_t i = 0; i < tasks->cnt; i++) {
		const struct profile_row *row = &tasks->v[i];
		const struct trace_event ev = { .part = row->part,
						.tid = row->tid,
						.pid = row->pid,
						.comm = row->comm,
						.cgroup = row->cgroup,
						.cpu = row->cpu };

		profile_add_time(p, &ev, INTERVAL_RUNNING, row->run_ns);
	}
}

void cpu_time_fini(struct cpu_time *c)
{
	row_table_fini(&c->tasks);
	*c = (struct cpu_time){ 0 };
}
