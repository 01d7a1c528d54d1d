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

struct process {
	uint32_t pid;
	char *exe; /* NULL: unknown */
	struct perfdata_maps maps;
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
		free(((struct process *)value)->maps.v);
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
	free(t->kernel.maps.v);
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
		p->maps.cnt = 0;
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
		p->maps.cnt = 0;
		set_text(&p->exe, NULL);
	} else if (parent) {
		task->ppid = parent->ppid;
	}
	if (f->bare || !from)
		return 0;
	set_text(&task->comm, parent ? parent->comm : NULL);
	if (p != from) {
		perfdata_maps_copy(&p->maps, &from->maps);
		set_text(&p->exe, from->exe);
	}
	return write_task(t, ts, f->tid, task);
}

/* ---- mappings ---------------------------------------------------------------------------------- */

int perfdata_tasks_mmap(struct perfdata_tasks *t, uint64_t ts, const struct perfdata_mmap *m)
{
	struct process *p = m->pid == UINT32_MAX ? &t->kernel : process_get(t, m->pid);
	struct perfdata_map map = { .start = m->start, .end = m->start + m->sz, .off = m->off };
	struct task *task;

	if (!m->sz || map.end < map.start || p->maps.cnt >= MAPS_MAX)
		return 0;
	map.module = perfdata_modules_add(t->modules, &m->code);
	perfdata_maps_add(&p->maps, &map);
	/* the kernel and perf list a program's own file first */
	if (p == &t->kernel || p->exe || m->code.kind != PROF_MODULE_ELF)
		return 0;
	set_text(&p->exe, m->code.path);
	task = hmap_get(&t->tasks, m->pid);
	return task ? write_task(t, ts, m->pid, task) : 0;
}

void perfdata_tasks_munmap(struct perfdata_tasks *t, uint64_t start)
{
	const struct perfdata_map *map = perfdata_maps_at(&t->kernel.maps, start);

	if (map && map->start == start)
		perfdata_maps_clear(&t->kernel.maps, start, map->end);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static int write_map(struct perfdata_tasks *t, uint64_t ts, uint32_t pid, struct perfdata_map *map,
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
static int name_program(struct perfdata_tasks *t, const struct perfdata_map *map, uint64_t frame,
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
	struct perfdata_map *map = p ? perfdata_maps_at(&p->maps, addr) : NULL;
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

const struct perfdata_map *perfdata_tasks_map(const struct perfdata_tasks *t, uint32_t pid,
					      uint64_t addr)
{
	const struct process *p = hmap_get(&t->processes, pid);

	return p ? perfdata_maps_at(&p->maps, addr) : NULL;
}

bool perfdata_tasks_file(const struct perfdata_tasks *t, uint32_t module,
			 struct foreign_module *out)
{
	if (perfdata_modules_kind(t->modules, module) != PROF_MODULE_ELF)
		return false;
	perfdata_modules_file(t->modules, module, out);
	return true;
}
