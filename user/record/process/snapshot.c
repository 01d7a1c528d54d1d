// SPDX-License-Identifier: BSD-2-Clause
/*
 * snapshot.c - one process as described in /proc, read at once and in any thread
 *
 * Independent of the recorder's state. Reading may block while the process's locks are held, so it runs in a thread
 * that may block. The result is passed on as a whole.
 */
#include "record/process/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "kernel/proc.h"
#include "record/process/proc_maps.h"

enum { TEXTS_MAX = 16 << 20 };

static size_t add_text(struct snapshot *s, const char *text, size_t len)
{
	size_t off = s->texts.len;

	buf_add(&s->texts, text, len);
	buf_addch(&s->texts, '\0');
	return off;
}

const char *snapshot_text(const struct snapshot *s, size_t off)
{
	return s->texts.data + off;
}

static int add_map(const struct proc_map *pm, void *ctx)
{
	struct snapshot *s = ctx;

	if (!pm->exec)
		return 0;
	s->maps_cut = s->map_cnt == PROC_MAPS_MAX || s->texts.len > TEXTS_MAX;
	if (s->maps_cut)
		return 1;
	s->maps = array_reserve(s->maps, &s->map_cap, s->map_cnt + 1, sizeof(*s->maps));
	s->maps[s->map_cnt++] = (struct snapshot_map){
		.start = pm->start,
		.end = pm->end,
		.pgoff = pm->pgoff,
		.dev = (uint64_t)pm->dev_major << 32 | pm->dev_minor,
		.inode = pm->inode,
		.path_off = add_text(s, pm->path, pm->path_len),
	};
	return 0;
}

static void read_exe(struct snapshot *s)
{
	struct buf b = { 0 };

	if (!proc_read_exe((pid_t)s->pid, &b))
		s->exe_off = add_text(s, buf_cstr(&b), b.len);
	buf_free(&b);
}

static void read_cgroup(struct snapshot *s)
{
	struct buf b = { 0 };

	if (!proc_read_cgroup((pid_t)s->pid, &b))
		s->cgroup_off = add_text(s, buf_cstr(&b), b.len);
	buf_free(&b);
}

static int read_tasks(struct snapshot *s)
{
	pid_t *tids = NULL;
	size_t cnt = 0, i;
	struct buf b = { 0 };
	int err = proc_list_tids((pid_t)s->pid, &tids, &cnt);

	for (i = 0; i < cnt; i++) {
		struct snapshot_task *task;

		buf_clear(&b);
		if (proc_read_comm(tids[i], &b))
			continue;
		s->tasks =
			array_reserve(s->tasks, &s->task_cap, s->task_cnt + 1, sizeof(*s->tasks));
		task = &s->tasks[s->task_cnt++];
		*task = (struct snapshot_task){ .tid = (uint32_t)tids[i] };
		memcpy(task->comm, buf_cstr(&b), b.len < 15 ? b.len : 15);
	}
	buf_free(&b);
	free(tids);
	return err;
}

struct snapshot *snapshot_read(uint32_t pid, size_t maps_sz)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));
	struct proc_status status;
	uint64_t began;
	bool cut = false;

	s->pid = pid;
	s->from_ns = clock_mono_ns();
	began = clock_thread_cpu_ns();
	s->exe_off = s->cgroup_off = add_text(s, "", 0);
	s->err = proc_read_status((pid_t)pid, &status);
	if (!s->err) {
		s->ppid = (uint32_t)status.ppid;
		s->err = read_tasks(s);
	}
	if (!s->err) {
		read_exe(s);
		read_cgroup(s);
	}
	if (!s->err && maps_sz && proc_read_maps((pid_t)pid, maps_sz, &cut, add_map, s) == -ESRCH)
		s->err = -ESRCH; /* otherwise some may be missing, and stay unknown */
	s->maps_cut |= cut;
	s->to_ns = clock_mono_ns();
	s->cpu_ns = clock_thread_cpu_ns() - began;
	return s;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	free(s->maps);
	free(s->tasks);
	buf_free(&s->texts);
	free(s);
}
