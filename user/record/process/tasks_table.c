// SPDX-License-Identifier: BSD-2-Clause
/*
 * tasks_table.c - the tables of tasks and processes: add, find, name and end them
 *
 * Other files decide the content: tasks_proc.c reads /proc, tasks.c applies perf's metadata records.
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

struct tasks *tasks_new(bool all_maps)
{
	struct tasks *t = xcalloc(1, sizeof(*t));

	t->all_maps = all_maps;
	t->announced = xcalloc(PROF_TASK_WORDS, sizeof(*t->announced));
	t->texts = string_pool_new();
	t->work = work_budget_new(NULL);
	return t;
}

void tasks_set_reader(struct tasks *t, struct proc_reader *reader)
{
	t->reader = reader;
}

void tasks_init_maps(struct tasks *t, struct proc_maps *maps)
{
	proc_maps_init(maps, t->texts, &t->maps_memory);
}

struct work_budget *tasks_work(struct tasks *t)
{
	return t->work;
}

struct string_pool *tasks_texts(struct tasks *t)
{
	return t->texts;
}

bool tasks_is_announced(const struct tasks *t, uint32_t tid)
{
	return t->announced[(tid / 64) % PROF_TASK_WORDS] >> tid % 64 & 1;
}

void tasks_set_announced(struct tasks *t, uint32_t tid)
{
	t->announced[(tid / 64) % PROF_TASK_WORDS] |= 1ULL << tid % 64;
	t->any_announced = true;
}

void tasks_renounce(struct tasks *t, uint32_t tid)
{
	t->announced[(tid / 64) % PROF_TASK_WORDS] &= ~(1ULL << tid % 64);
}

void tasks_renounce_all(struct tasks *t)
{
	if (t->any_announced)
		memset(t->announced, 0, PROF_TASK_WORDS * sizeof(*t->announced));
	t->any_announced = false;
}

void tasks_follow(struct tasks *t, struct task *task, bool followed)
{
	task->followed = followed;
	tasks_renounce(t, task->tid);
}

/* Owns the reference to text. */
void tasks_set_text(struct tasks *t, const char **at, const char *text)
{
	string_pool_unref(t->texts, *at);
	*at = text;
}

void tasks_set_comm(struct tasks *t, struct task *task, const char *comm)
{
	if (!strncmp(task->comm, comm, sizeof(task->comm) - 1))
		return;
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, comm, strnlen(comm, sizeof(task->comm) - 1));
	tasks_renounce(t, task->tid);
}

struct process *tasks_add_process(struct tasks *t, uint32_t pid)
{
	struct process *proc = xcalloc(1, sizeof(*proc));

	proc->pid = pid;
	proc->serial = ++t->serial;
	proc->wanted = t->all_maps;
	proc->exe = "";
	proc->cgroup = "";
	proc->gap = t->gap;
	proc->stale = pid != 0;
	proc->cgroup_known = pid == 0;
	proc_maps_init(&proc->maps, t->texts, &t->maps_memory);
	proc_maps_init(&proc->before, t->texts, &t->maps_memory);
	hmap_set(&t->by_pid, pid, proc);
	return proc;
}

struct process *tasks_get_process(struct tasks *t, uint32_t pid)
{
	struct process *proc = hmap_get(&t->by_pid, pid);

	return proc ? proc : tasks_add_process(t, pid);
}

struct task *tasks_add_task(struct tasks *t, uint32_t tid, struct process *proc)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->proc = proc;
	task->gap = t->gap;
	task->met_ns = clock_mono_ns();
	task->next = proc->tasks;
	if (task->next)
		task->next->prev = task;
	proc->tasks = task;
	proc->task_cnt++;
	hmap_set(&t->by_tid, tid, task);
	tasks_renounce(t, tid);
	return task;
}

static void process_free(struct tasks *t, struct process *proc)
{
	proc_maps_free(&proc->maps);
	proc_maps_free(&proc->before);
	tasks_set_text(t, &proc->exe, "");
	tasks_set_text(t, &proc->cgroup, "");
	free(proc);
}

/* Frees its process with the last task. */
static void task_free(struct tasks *t, struct task *task)
{
	struct process *proc = task->proc;

	if (task->next)
		task->next->prev = task->prev;
	if (task->prev)
		task->prev->next = task->next;
	else
		proc->tasks = task->next;
	free(task);
	if (--proc->task_cnt)
		return;
	if (hmap_get(&t->by_pid, proc->pid) == proc)
		hmap_del(&t->by_pid, proc->pid);
	process_free(t, proc);
}

void tasks_bury(struct tasks *t, struct task *task)
{
	if (hmap_get(&t->by_tid, task->tid) == task) {
		hmap_del(&t->by_tid, task->tid);
		tasks_renounce(t, task->tid);
	}
	task_free(t, task);
}

void tasks_free(struct tasks *t)
{
	uint64_t key;
	void *value;
	size_t pos = 0, i;

	if (!t)
		return;
	for (i = 0; i < t->dead.cnt; i++)
		tasks_bury(t, t->dead.v[i]);
	while (hmap_next(&t->by_tid, &pos, &key, &value))
		task_free(t, value);
	pos = 0;
	while (hmap_next(&t->by_pid, &pos, &key, &value))
		process_free(t, value);
	free(t->dead.v);
	hmap_fini(&t->by_tid);
	hmap_fini(&t->by_pid);
	string_pool_free(t->texts);
	free(t->announced);
	work_budget_free(t->work);
	free(t);
}

void tasks_end_task(struct tasks *t, struct task *task, uint64_t time)
{
	if (task->exit_ns)
		return;
	task->exit_ns = time ? time : 1;
	t->dead.v = array_reserve(t->dead.v, &t->dead.cap, t->dead.cnt + 1, sizeof(*t->dead.v));
	t->dead.v[t->dead.cnt++] = task;
}

void tasks_name(struct tasks *t, struct task *task, const char *comm, size_t len)
{
	char text[sizeof(task->comm)] = { 0 };

	if (*task->comm)
		return;
	memcpy(text, comm, len < sizeof(text) ? len : sizeof(text) - 1);
	tasks_set_comm(t, task, text);
}

void tasks_need_cgroup(struct tasks *t, struct process *proc)
{
	struct buf b = { 0 };

	if (proc->cgroup_known || t->reader)
		return;
	proc->cgroup_known = true;
	if (!proc_read_cgroup(proc->pid, &b))
		tasks_set_text(t, &proc->cgroup, string_pool_get(t->texts, buf_cstr(&b), b.len));
	buf_free(&b);
}

uint64_t tasks_owner(struct process *proc)
{
	if (!proc->owner)
		proc->owner = proc_owner((pid_t)proc->pid);
	return proc->owner;
}

void tasks_count_loss(struct tasks *t, enum tasks_loss_kind kind, uint64_t time)
{
	struct tasks_loss *loss = &t->losses[kind];

	if (!loss->cnt++)
		loss->first_ns = time;
	loss->last_ns = time;
}

bool tasks_read_loss(struct tasks *t, enum tasks_loss_kind kind, struct tasks_loss *out)
{
	*out = t->losses[kind];
	t->losses[kind] = (struct tasks_loss){ 0 };
	return out->cnt != 0;
}
