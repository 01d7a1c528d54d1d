// SPDX-License-Identifier: BSD-2-Clause
/*
 * tasks.c - threads, processes and their mappings
 *
 * Owns what is mapped where in each process, by the records so far: a new mapping replaces what it overlaps, a child
 * starts with the mappings of its parent, and a new program with none. Mappings outlive their process, until its number
 * is used again: its last samples come after its exit. A mapping is written to the trace when a frame is in it.
 */
#include "formats/perfdata/tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hmap.h"

enum { MAPS_MAX = 1 << 16 /* of a process, as the kernel's own limit */ };

struct map {
	uint64_t start, end, off;
	uint32_t module;
	bool written;
};

struct process {
	uint32_t pid;
	char *exe; /* NULL: unknown */
	struct map *v; /* by start, without overlaps */
	size_t cnt, cap;
};

struct task {
	uint32_t pid, ppid;
	char *comm; /* NULL: unknown */
};

struct perfdata_tasks {
	struct emit *emit;
	struct perfdata_modules *modules;
	struct hmap processes, tasks; /* by number */
	struct process kernel;
	struct hmap named; /* frames of BPF programs with a symbol */
};

void perfdata_tasks_new(struct emit *emit, struct perfdata_modules *modules,
			struct perfdata_tasks **out)
{
	struct perfdata_tasks *t = xcalloc(1, sizeof(*t));

	t->emit = emit;
	t->modules = modules;
	*out = t;
}

void perfdata_tasks_free(struct perfdata_tasks *t)
{
	uint64_t key;
	size_t pos = 0;
	void *value;

	if (!t)
		return;
	while (hmap_next(&t->processes, &pos, &key, &value)) {
		free(((struct process *)value)->exe);
		free(((struct process *)value)->v);
		free(value);
	}
	pos = 0;
	while (hmap_next(&t->tasks, &pos, &key, &value)) {
		free(((struct task *)value)->comm);
		free(value);
	}
	hmap_fini(&t->processes);
	hmap_fini(&t->tasks);
	hmap_fini(&t->named);
	free(t->kernel.v);
	free(t);
}

static struct process *process_get(struct perfdata_tasks *t, uint32_t pid)
{
	struct process *p = hmap_get(&t->processes, pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	hmap_set(&t->processes, pid, p);
	return p;
}

static struct task *task_get(struct perfdata_tasks *t, uint32_t tid)
{
	struct task *task = hmap_get(&t->tasks, tid);

	if (task)
		return task;
	task = xcalloc(1, sizeof(*task));
	hmap_set(&t->tasks, tid, task);
	return task;
}

/* ---- tasks ------------------------------------------------------------------------------------- */

static void set_text(char **to, const char *text)
{
	char *copy = text ? xstrdup(text) : NULL;

	free(*to);
	*to = copy;
}

static int write_task(struct perfdata_tasks *t, uint64_t ts, uint32_t tid, const struct task *task)
{
	const struct process *p = hmap_get(&t->processes, task->pid);
	struct own_task ev = { .pid = task->pid,
			       .tid = tid,
			       .ppid = task->ppid,
			       .comm = own_text(task->comm),
			       .exe = own_text(p ? p->exe : NULL) };

	return emit_task(t->emit, ts, &ev);
}

int perfdata_tasks_comm(struct perfdata_tasks *t, uint64_t ts, uint32_t pid, uint32_t tid,
			const char *comm, bool exec)
{
	struct task *task = task_get(t, tid);
	struct process *p = process_get(t, pid);

	if (exec) {
		p->cnt = 0;
		set_text(&p->exe, NULL);
	}
	task->pid = pid;
	set_text(&task->comm, comm);
	return write_task(t, ts, tid, task);
}

int perfdata_tasks_fork(struct perfdata_tasks *t, uint64_t ts, const struct perfdata_fork *f)
{
	const struct task *parent = hmap_get(&t->tasks, f->ptid);
	const struct process *from = hmap_get(&t->processes, f->ppid);
	struct task *task = task_get(t, f->tid);
	struct process *p = process_get(t, f->pid);

	task->pid = f->pid;
	if (f->pid != f->ppid) {
		task->ppid = f->ppid;
		p->cnt = 0;
		set_text(&p->exe, NULL);
	} else if (parent) {
		task->ppid = parent->ppid;
	}
	if (f->bare || !from)
		return 0;
	set_text(&task->comm, parent ? parent->comm : NULL);
	if (p != from) {
		p->v = array_reserve(p->v, &p->cap, from->cnt, sizeof(*p->v));
		if (from->cnt)
			memcpy(p->v, from->v, from->cnt * sizeof(*p->v));
		p->cnt = from->cnt;
		for (size_t i = 0; i < p->cnt; i++)
			p->v[i].written = false;
		set_text(&p->exe, from->exe);
	}
	return write_task(t, ts, f->tid, task);
}

/* ---- mappings ---------------------------------------------------------------------------------- */

/* The first mapping that ends after @addr. */
static size_t find_map(const struct process *p, uint64_t addr)
{
	size_t low = 0, high = p->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->v[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void insert_map(struct process *p, size_t at, const struct map *map)
{
	p->v = array_reserve(p->v, &p->cap, p->cnt + 1, sizeof(*p->v));
	memmove(&p->v[at + 1], &p->v[at], (p->cnt - at) * sizeof(*p->v));
	p->v[at] = *map;
	p->cnt++;
}

/* Makes room from start to end: parts of mappings before and after remain. */
static void clear_range(struct process *p, uint64_t start, uint64_t end)
{
	size_t from = find_map(p, start), to;
	struct map rest;

	if (!p->cnt)
		return;
	if (from < p->cnt && p->v[from].start < start) {
		rest = p->v[from];
		p->v[from].end = start;
		p->v[from++].written = false;
		if (rest.end > end) {
			rest.off += end - rest.start;
			rest.start = end;
			rest.written = false;
			insert_map(p, from, &rest);
			return;
		}
	}
	for (to = from; to < p->cnt && p->v[to].end <= end; to++)
		;
	memmove(&p->v[from], &p->v[to], (p->cnt - to) * sizeof(*p->v));
	p->cnt -= to - from;
	if (from < p->cnt && p->v[from].start < end) {
		p->v[from].off += end - p->v[from].start;
		p->v[from].start = end;
		p->v[from].written = false;
	}
}

int perfdata_tasks_mmap(struct perfdata_tasks *t, uint64_t ts, const struct perfdata_mmap *m)
{
	struct process *p = m->pid == UINT32_MAX ? &t->kernel : process_get(t, m->pid);
	struct map map = { .start = m->start, .end = m->start + m->sz, .off = m->off };
	struct task *task;

	if (!m->sz || map.end < map.start || p->cnt >= MAPS_MAX)
		return 0;
	map.module = perfdata_modules_add(t->modules, &m->code);
	clear_range(p, map.start, map.end);
	insert_map(p, find_map(p, map.start), &map);
	/* the kernel and perf list a program's own file first */
	if (p == &t->kernel || p->exe || m->code.kind != PROF_MODULE_ELF)
		return 0;
	set_text(&p->exe, m->code.path);
	task = hmap_get(&t->tasks, m->pid);
	return task ? write_task(t, ts, m->pid, task) : 0;
}

void perfdata_tasks_munmap(struct perfdata_tasks *t, uint64_t start)
{
	size_t at = find_map(&t->kernel, start);

	if (at < t->kernel.cnt && t->kernel.v[at].start == start)
		clear_range(&t->kernel, start, t->kernel.v[at].end);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static int write_map(struct perfdata_tasks *t, uint64_t ts, uint32_t pid, struct map *map,
		     uint32_t module_id)
{
	struct own_map ev = { .pid = pid,
			      .start = map->start,
			      .end = map->end,
			      .offset = map->off,
			      .module_id = module_id };

	if (map->written)
		return 0;
	map->written = true;
	return emit_map(t->emit, ts, &ev);
}

/* The kernel names BPF programs when it loads them. */
static int name_program(struct perfdata_tasks *t, const struct map *map, uint64_t frame,
			const char *name)
{
	struct emit_symbol sym = { .addr = frame,
				   .size = map->end - map->start,
				   .name = name,
				   .name_len = strlen(name),
				   .base = frame & ~PROF_FRAME_OFFSET_MASK };

	if (hmap_get(&t->named, frame))
		return 0;
	hmap_set(&t->named, frame, t);
	return emit_symbol(t->emit, &sym);
}

int perfdata_tasks_frame(struct perfdata_tasks *t, uint64_t ts, uint32_t pid, uint64_t addr,
			 bool kernel, uint64_t *frame)
{
	struct process *p = kernel ? &t->kernel : hmap_get(&t->processes, pid);
	size_t at = p ? find_map(p, addr) : 0;
	struct map *map = p && at < p->cnt && p->v[at].start <= addr ? &p->v[at] : NULL;
	uint32_t id = 0;
	int err;

	*frame = (kernel ? PROF_FRAME_KERNEL : 0) | (addr & PROF_FRAME_OFFSET_MASK);
	if (!map)
		return 0;
	err = perfdata_modules_use(t->modules, map->module, ts, &id);
	if (err || !id)
		return err;
	*frame = (kernel ? PROF_FRAME_KERNEL : 0) | (uint64_t)id << PROF_FRAME_MODULE_SHIFT |
		 ((addr - map->start + map->off) & PROF_FRAME_OFFSET_MASK);
	if (!kernel)
		return write_map(t, ts, pid, map, id);
	if (perfdata_modules_kind(t->modules, map->module) == PROF_MODULE_BPF)
		return name_program(t, map, *frame, perfdata_modules_path(t->modules, map->module));
	return 0;
}
