// SPDX-License-Identifier: BSD-2-Clause
/*
 * tasks_out.c - threads of a trace as perf's FORK, COMM and EXIT records
 *
 * A trace may name a thread after its first events, and readers of a trace know the names ahead. perf does not, so a
 * record is written before the first event that needs it. perf forgets the mappings of a process that it sees
 * forked, so the first thread of a process is written before others.
 */
#include "formats/perfdata/tasks_out.h"

#include <stdlib.h>

#include "base/alloc.h"

#define FORK_EXEC (1 << 13) /* of misc: without the parent's mappings */

struct task {
	uint32_t pid, comm;
};

void perfdata_tasks_out_fini(struct perfdata_tasks_out *t)
{
	uint64_t key;
	size_t pos = 0;
	void *value;

	while (hmap_next(&t->tasks, &pos, &key, &value))
		free(value);
	hmap_fini(&t->tasks);
	hmap_fini(&t->parents);
}

uint32_t perfdata_tasks_out_pid(const struct perfdata_tasks_out *t,
				const struct perfdata_task *task)
{
	uint32_t pid = task->pid, comm = NAMES_NONE;

	if (pid == TRACE_NONE)
		names_task_fill(t->names, task->part, task->tid, &pid, &comm);
	return pid == TRACE_NONE ? task->tid : pid;
}

static void write_fork(struct perfdata_tasks_out *t, const struct perfdata_moment *m,
		       const struct perfdata_task *task, uint32_t pid)
{
	const struct names_task *first = names_task_first(t->names, task->part, task->tid);
	const uint32_t maker = (uint32_t)(uintptr_t)hmap_get(&t->parents, task->tid);
	const struct perfdata_moment at = { pid, task->tid, m->cpu, m->ts, m->id };
	uint32_t parent = first && first->ppid != NAMES_NONE ? first->ppid : 0;

	if (task->tid != pid)
		parent = pid;
	else
		perfdata_addresses_reset(t->addresses, pid);
	perfdata_out_u32(t->out, pid);
	perfdata_out_u32(t->out, parent);
	perfdata_out_u32(t->out, task->tid);
	perfdata_out_u32(t->out, task->tid != pid || !maker ? parent : maker);
	perfdata_out_u64(t->out, m->ts);
	perfdata_out_moment(t->out, &at);
	perfdata_out_record(t->out, PERF_RECORD_FORK, FORK_EXEC);
}

static void write_comm(struct perfdata_tasks_out *t, const struct perfdata_moment *m, uint32_t pid,
		       uint32_t tid, uint32_t comm)
{
	const struct perfdata_moment at = { pid, tid, m->cpu, m->ts, m->id };

	perfdata_out_u32(t->out, pid);
	perfdata_out_u32(t->out, tid);
	perfdata_out_text(t->out, names_str(t->names, comm, NULL));
	perfdata_out_moment(t->out, &at);
	perfdata_out_record(t->out, PERF_RECORD_COMM, 0);
}

static void sync_one(struct perfdata_tasks_out *t, const struct perfdata_moment *m,
		     const struct perfdata_task *task, uint32_t pid)
{
	struct task *known = hmap_get(&t->tasks, task->tid);

	if (!known || known->pid != pid) {
		if (!known)
			hmap_set(&t->tasks, task->tid, known = xcalloc(1, sizeof(*known)));
		*known = (struct task){ .pid = pid, .comm = NAMES_NONE };
		write_fork(t, m, task, pid);
	}
	if (task->comm != NAMES_NONE && known->comm != task->comm) {
		known->comm = task->comm;
		write_comm(t, m, pid, task->tid, task->comm);
	}
}

void perfdata_tasks_out_sync(struct perfdata_tasks_out *t, const struct perfdata_moment *m,
			     const struct perfdata_task *task)
{
	const uint32_t pid = perfdata_tasks_out_pid(t, task);
	struct perfdata_task leader = { task->part, pid, pid, NAMES_NONE };
	uint32_t of;

	/* perf has the idle threads */
	if (!task->tid || task->tid == TRACE_NONE)
		return;
	if (pid != task->tid && pid && !hmap_get(&t->tasks, pid)) {
		of = pid;
		names_task_fill(t->names, leader.part, pid, &of, &leader.comm);
		sync_one(t, m, &leader, pid);
	}
	sync_one(t, m, task, pid);
}

void perfdata_tasks_out_fork(struct perfdata_tasks_out *t, uint32_t parent, uint32_t child)
{
	free(hmap_del(&t->tasks, child));
	if (parent)
		hmap_set(&t->parents, child, (void *)(uintptr_t)parent);
}

void perfdata_tasks_out_exit(struct perfdata_tasks_out *t, const struct perfdata_moment *m)
{
	perfdata_out_u32(t->out, m->pid);
	perfdata_out_u32(t->out, m->pid);
	perfdata_out_u32(t->out, m->tid);
	perfdata_out_u32(t->out, m->pid);
	perfdata_out_u64(t->out, m->ts);
	perfdata_out_moment(t->out, m);
	perfdata_out_record(t->out, PERF_RECORD_EXIT, 0);
}
