// SPDX-License-Identifier: BSD-2-Clause
/*
 * tasks.c - tasks and processes as they are named in the trace
 *
 * perf's metadata records describe everything that happens while recording. They are the only source for processes
 * that live a few milliseconds. /proc describes tasks that existed before. Overlaps are harmless: applying a fork,
 * a name or a mapping twice changes nothing.
 *
 * Paths and cgroups repeat often, so they are interned, and freed with the last process that refers to them.
 *
 * A process that maps faster than its budget loses the symbols of its own code: further records are dropped unread,
 * and its known mappings are dropped with them.
 */
#include "record/process/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "kernel/perf_side.h"
#include "kernel/proc.h"
#include "prof_abi.h"
#include "record/process/string_pool.h"
#include "record/process/tasks_impl.h"
#include "record/process/work_budget.h"

enum {
	LINGER_NS = 1000000000,
};

/* ---- side-band -------------------------------------------------------------------------------- */

static void side_fork(struct tasks *t, const struct perf_side *side)
{
	struct process *proc = hmap_get(&t->by_pid, side->pid), *parent;
	struct task *task, *forker;

	if (side->pid == side->tid) {
		parent = hmap_get(&t->by_pid, side->ppid);
		if (proc && parent)
			proc->wanted |= parent->wanted;
		if (proc && hmap_get(&t->by_tid, side->tid))
			return; /* /proc was faster */
		proc = tasks_get_process(t, side->pid);
		proc->ppid = side->ppid;
		proc->stale = !parent || parent->stale || parent->gap != t->gap;
		if (parent)
			proc->wanted |= parent->wanted;
		if (!proc->stale) {
			tasks_set_text(t, &proc->exe, string_pool_ref(parent->exe));
			tasks_set_text(t, &proc->cgroup, string_pool_ref(parent->cgroup));
			proc->cgroup_known = parent->cgroup_known;
			proc_maps_copy(&proc->maps, &parent->maps);
		}
	} else if (!proc) {
		proc = tasks_add_process(t, side->pid);
	}
	task = hmap_get(&t->by_tid, side->tid);
	if (!task)
		task = tasks_add_task(t, side->tid, proc);
	forker = hmap_get(&t->by_tid, side->ptid);
	if (forker && forker->gap == t->gap && !*task->comm)
		tasks_set_comm(t, task, forker->comm);
}

static void task_revive(struct tasks *t, struct task *task)
{
	size_t i = 0;

	while (t->dead.v[i] != task)
		i++;
	t->dead.cnt--;
	memmove(&t->dead.v[i], &t->dead.v[i + 1], (t->dead.cnt - i) * sizeof(*t->dead.v));
	task->exit_ns = 0;
}

/*
 * An exec ends all other threads. If the caller was not the leader, it gets the leader's number: the leader's end
 * has been reported, and the caller's old number never ends.
 */
static void exec_alone(struct tasks *t, struct task *task, uint64_t time)
{
	struct task *other;

	if (task->exit_ns)
		task_revive(t, task);
	for (other = task->proc->tasks; other; other = other->next)
		if (other != task)
			tasks_end_task(t, other, time);
}

static void side_comm(struct tasks *t, const struct perf_side *side)
{
	struct task *task = hmap_get(&t->by_tid, side->tid);

	if (!task)
		task = tasks_add_task(t, side->tid, tasks_get_process(t, side->pid));
	tasks_set_comm(t, task, side->name);
	task->gap = t->gap;
	task->proc->changed_ns = side->time;
	if (!side->comm_exec)
		return;
	exec_alone(t, task, side->time);
	proc_maps_clear(&task->proc->maps);
	proc_maps_clear(&task->proc->before);
	task->proc->serial = ++t->serial;
	task->proc->owner = 0;
	tasks_set_text(t, &task->proc->exe, "");
	task->proc->exe_from_map = true;
	task->proc->gap = t->gap;
	task->proc->stale = false;
	task->proc->asked = false; /* a pending answer describes the program before the exec */
	tasks_renounce(t, task->tid);
}

/* Run-time code: a mapping that changes between writable and executable is reported each time. */
static void keep_module(const struct process *proc, struct map *m)
{
	const struct map *old = proc_maps_find(&proc->maps, m->start);

	if (!old || old->start != m->start || proc_maps_has_file(m) || proc_maps_has_file(old) ||
	    strcmp(old->path, m->path))
		return;
	m->module_id = old->module_id;
	m->announced = old->end == m->end ? old->announced : 0;
}

/* The current mapping is unknown, and the old one does not help. */
static void lose_map(struct tasks *t, struct process *proc, uint64_t time)
{
	tasks_count_loss(t, TASKS_LOST_MAPS, time);
	if (!proc->stale || proc->maps.table)
		tasks_make_stale(t, proc);
	if (proc->before.table) {
		proc_maps_clear(&proc->before);
		proc->maps.generation++;
	}
}

/* The first mapping after an exec is the program. */
static void set_exe(struct tasks *t, struct process *proc, const char *path)
{
	if (!proc->exe_from_map)
		return;
	proc->exe_from_map = false;
	tasks_set_text(t, &proc->exe, string_pool_ref(path));
	tasks_renounce(t, proc->pid);
}

static void side_mmap(struct tasks *t, const struct perf_side *side)
{
	struct process *proc = hmap_get(&t->by_pid, side->pid);
	struct map m;

	if (!(side->prot & PROT_EXEC) || !proc || side->addr + side->len < side->addr)
		return;
	if (!proc->wanted && !proc->exe_from_map)
		return;
	proc->changed_ns = side->time;
	if (!proc_maps_may_report(&proc->maps_budget, side->time)) {
		lose_map(t, proc, side->time);
		return;
	}
	m = proc_maps_from_side(t->texts, side);
	set_exe(t, proc, m.path);
	if (proc->wanted) {
		keep_module(proc, &m);
		if (!proc_maps_insert(&proc->maps, &m))
			lose_map(t, proc, side->time);
	}
	string_pool_unref(t->texts, m.path);
}

static void side_exit(struct tasks *t, const struct perf_side *side)
{
	struct task *task = hmap_get(&t->by_tid, side->tid);

	if (task)
		tasks_end_task(t, task, side->time);
}

/*
 * A tid that starts again is another task, whatever is known of the old task, and whether or not its end was
 * reported. If the known task was discovered after this start, /proc was faster. If it was discovered before, it is
 * an old task that stayed in its last switch for longer than dead tasks are kept, as tasks of SCHED_IDLE do.
 */
static void forget_reused_tid(struct tasks *t, const struct perf_side *side)
{
	struct task *old = hmap_get(&t->by_tid, side->tid);

	if (!old || (!old->exit_ns && old->proc->pid == side->pid && side->time <= old->met_ns))
		return;
	tasks_end_task(t, old, side->time);
	hmap_del(&t->by_tid, side->tid);
	if (side->pid == side->tid && old->proc->pid == side->pid)
		hmap_del(&t->by_pid, side->pid);
}

void tasks_side(struct tasks *t, const struct perf_side *side)
{
	switch (side->type) {
	case PERF_SIDE_FORK:
		forget_reused_tid(t, side);
		side_fork(t, side);
		break;
	case PERF_SIDE_COMM:
		side_comm(t, side);
		break;
	case PERF_SIDE_MMAP:
		side_mmap(t, side);
		break;
	case PERF_SIDE_EXIT:
		side_exit(t, side);
		break;
	case PERF_SIDE_FULL:
	case PERF_SIDE_LOST:
	case PERF_SIDE_DAMAGED:
		tasks_open_gap(t);
		break;
	case PERF_SIDE_KSYMBOL:
	case PERF_SIDE_STALLED:
	case PERF_SIDE_OTHER:
		break;
	}
}

void tasks_expire(struct tasks *t, uint64_t now_ns)
{
	size_t n = 0;

	tasks_catch_up(t, now_ns);
	while (n < t->dead.cnt && t->dead.v[n]->exit_ns + LINGER_NS < now_ns)
		tasks_bury(t, t->dead.v[n++]);
	if (n)
		memmove(t->dead.v, t->dead.v + n, (t->dead.cnt - n) * sizeof(*t->dead.v));
	t->dead.cnt -= n;
}

void tasks_each(struct tasks *t, uint32_t pid, void (*fn)(struct task *task, void *ctx), void *ctx)
{
	uint64_t key;
	void *value;
	size_t pos = 0;

	while (hmap_next(&t->by_tid, &pos, &key, &value))
		if (((struct task *)value)->proc->pid == pid)
			fn(value, ctx);
}

void tasks_each_alive(struct tasks *t, void (*fn)(struct task *task, void *ctx), void *ctx)
{
	uint64_t key;
	void *value;
	size_t pos = 0;

	while (hmap_next(&t->by_tid, &pos, &key, &value))
		if (!((struct task *)value)->exit_ns)
			fn(value, ctx);
}

void tasks_each_process(struct tasks *t, void (*fn)(struct process *proc, void *ctx), void *ctx)
{
	uint64_t key;
	void *value;
	size_t pos = 0;

	while (hmap_next(&t->by_pid, &pos, &key, &value))
		fn(value, ctx);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

size_t tasks_memory(const struct tasks *t)
{
	return t->maps_memory + string_pool_memory(t->texts) +
	       t->by_pid.cnt * sizeof(struct process) + t->by_tid.cnt * sizeof(struct task) +
	       (t->by_pid.cap + t->by_tid.cap) * sizeof(struct hmap_slot) +
	       t->dead.cap * sizeof(*t->dead.v) + PROF_TASK_WORDS * sizeof(*t->announced) +
	       work_budget_memory(t->work);
}

struct weight {
	struct process *proc;
	size_t bytes;
};

static int heaviest_first(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

size_t tasks_forget(struct tasks *t, size_t keep)
{
	struct weight *all = xcalloc(t->by_pid.cnt + 1, sizeof(*all));
	size_t cnt = 0, n, pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&t->by_pid, &pos, &key, &value)) {
		struct process *proc = value;

		all[cnt++] = (struct weight){ proc, proc_maps_weight(&proc->maps) +
							    proc_maps_weight(&proc->before) };
	}
	qsort(all, cnt, sizeof(*all), heaviest_first);
	for (n = 0; n < cnt && all[n].bytes && tasks_memory(t) > keep; n++) {
		tasks_make_stale(t, all[n].proc);
		proc_maps_clear(&all[n].proc->maps);
		proc_maps_clear(&all[n].proc->before);
	}
	free(all);
	return n;
}
