// SPDX-License-Identifier: BSD-2-Clause
/*
 * tasks_proc.c - tasks as described in /proc, and when that becomes uncertain
 *
 * Lost metadata records make a gap: each process in a later record is in doubt. A process in doubt is read again.
 * The answer counts when the drain has reached the time of reading, and no change was reported since reading began.
 * Otherwise it is read once more. Until then it has the name from its own records, and its addresses are looked up
 * in its last known mappings. Stacks that this may falsify are counted. An answer after another gap is equally
 * uncertain, but is used: if gaps never end, nothing better exists.
 *
 * Most files of /proc need locks of the process, or hold its last reference to gigabytes. So the reader's threads
 * read them. The drain itself only reads whether a task lives, and its name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kernel/proc.h"
#include "prof_abi.h"
#include "record/process/proc_reader.h"
#include "record/process/snapshot.h"
#include "record/process/string_pool.h"
#include "record/process/tasks_impl.h"
#include "record/process/work_budget.h"

enum {
	ASK_AGAIN_NS = 250000000,
	ASKS_PER_S = 500,
	ANSWERS_MAX = 64, /* applied per call */
	CHECKS_MAX = 256, /* tasks checked per call whose end may have been lost */
};

#define SECOND_NS 1000000000ULL
#define SCAN_NS (2 * SECOND_NS)

/* ---- doubt --------------------------------------------------------------------------------------- */

void tasks_open_gap(struct tasks *t)
{
	t->gap++;
	tasks_renounce_all(t);
	t->checks_left = t->by_tid.cnt + 1;
}

void tasks_make_stale(struct tasks *t, struct process *proc)
{
	struct proc_maps none;

	proc->gap = t->gap;
	proc->exe_from_map = false;
	proc->cgroup_known = false;
	if (proc->stale) {
		if (proc->maps.table)
			proc_maps_clear(&proc->maps);
		return;
	}
	tasks_set_text(t, &proc->exe, "");
	tasks_set_text(t, &proc->cgroup, "");
	proc->stale = true;
	none = proc->before;
	proc->before = proc->maps;
	proc->maps = none;
	proc->maps.generation = proc->before.generation + 1;
}

static bool may_ask(struct tasks *t, uint64_t now)
{
	if (now - t->asks_since >= SECOND_NS) {
		t->asks_since = now;
		t->asks_used = 0;
	}
	return ++t->asks_used <= ASKS_PER_S;
}

/* At most once per interval and process. */
static void ask(struct tasks *t, struct process *proc)
{
	uint64_t now;

	if (!t->reader || proc->asked || (!proc->stale && proc->cgroup_known))
		return;
	now = clock_mono_ns();
	if (proc->asked_ns && now - proc->asked_ns < ASK_AGAIN_NS)
		return;
	if (!may_ask(t, now) || !work_budget_may(t->work, proc->pid, WORK_LISTS) ||
	    !proc_reader_ask(t->reader, proc->pid, proc->wanted && proc->stale))
		return;
	proc->asked = true;
	proc->asked_ns = now;
	proc->gap_asked = t->gap;
}

static void doubt_process(struct tasks *t, struct process *proc)
{
	if (proc->gap != t->gap && proc->pid)
		tasks_make_stale(t, proc);
	ask(t, proc);
}

static void doubt_task(struct tasks *t, struct task *task)
{
	doubt_process(t, task->proc);
	if (task->gap == t->gap || !task->tid)
		return;
	task->gap = t->gap;
	memset(task->comm, 0, sizeof(task->comm));
}

struct process *tasks_process(struct tasks *t, uint32_t pid)
{
	struct process *proc = hmap_get(&t->by_pid, pid);

	if (proc && (proc->stale || proc->gap != t->gap))
		doubt_process(t, proc);
	return proc;
}

struct proc_maps *tasks_maps_at(struct process *proc, uint64_t addr)
{
	return proc->stale && !proc_maps_find(&proc->maps, addr) ? &proc->before : &proc->maps;
}

void tasks_count_stack(struct tasks *t, const struct process *proc, uint64_t time)
{
	if (proc->stale && proc->before.table)
		tasks_count_loss(t, TASKS_IN_DOUBT, time);
}

/* Searches for lost ends: a few tasks at a time, and each task once after a gap. */
static void check_alive(struct tasks *t, uint64_t now)
{
	uint64_t key;
	void *value;
	int n;

	for (n = 0; n < CHECKS_MAX && t->checks_left; n++) {
		struct task *task;

		t->checks_left--;

		if (!hmap_next(&t->by_tid, &t->check_pos, &key, &value)) {
			t->check_pos = 0;
			continue;
		}
		task = value;
		if (task->gap != t->gap && task->tid && !task->exit_ns &&
		    syscall(SYS_tgkill, task->proc->pid, task->tid, 0) && errno == ESRCH)
			tasks_end_task(t, task, now);
	}
}

/* ---- /proc ------------------------------------------------------------------------------------ */

/* Copies known properties of an unchanged mapping. */
static void keep_known(const struct process *proc, struct map *m)
{
	const struct map *same = proc_maps_find(&proc->maps, m->start);

	if (!same)
		same = proc_maps_find(&proc->before, m->start);
	if (!proc_maps_is_same(same, m))
		return;
	m->announced = same->announced;
	m->module_id = same->module_id;
	m->build_id_known = same->build_id_known;
	m->build_id_sz = same->build_id_sz;
	memcpy(m->build_id, same->build_id, sizeof(m->build_id));
}

static struct proc_maps make_maps(struct tasks *t, const struct process *proc,
				  const struct snapshot *s)
{
	struct proc_maps now;
	size_t i;

	proc_maps_init(&now, t->texts, &t->maps_memory);
	for (i = 0; i < s->map_cnt; i++) {
		struct map m = proc_maps_from_snapshot(t->texts, s, i);

		keep_known(proc, &m);
		proc_maps_insert(&now, &m);
		string_pool_unref(t->texts, m.path);
	}
	now.generation = proc->maps.generation + 1;
	return now;
}

static void apply_maps(struct tasks *t, struct process *proc, const struct snapshot *s)
{
	struct proc_maps now = make_maps(t, proc, s);

	if (s->maps_cut)
		tasks_count_loss(t, TASKS_LOST_MAPS, s->to_ns);
	proc_maps_free(&proc->before);
	proc_maps_free(&proc->maps);
	proc->maps = now;
}

static void set_texts(struct tasks *t, struct process *proc, const struct snapshot *s)
{
	const char *exe = snapshot_text(s, s->exe_off), *cgroup = snapshot_text(s, s->cgroup_off);

	tasks_set_text(t, &proc->exe, string_pool_get(t->texts, exe, strlen(exe)));
	tasks_set_text(t, &proc->cgroup, string_pool_get(t->texts, cgroup, strlen(cgroup)));
}

/* Applies /proc. Threads without any record so far are added later. */
static void apply(struct tasks *t, struct process *proc, const struct snapshot *s)
{
	struct task *task;
	size_t i;

	proc->ppid = s->ppid;
	proc->gap = t->gap;
	proc->cgroup_known = true;
	set_texts(t, proc, s);
	if (proc->wanted && proc->stale)
		apply_maps(t, proc, s);
	proc->stale = false;
	for (i = 0; i < s->task_cnt; i++) {
		task = hmap_get(&t->by_tid, s->tasks[i].tid);
		if (!task || task->proc != proc)
			continue;
		task->gap = t->gap;
		tasks_set_comm(t, task, s->tasks[i].comm);
		tasks_renounce(t, task->tid);
	}
}

/* The state was valid when it was read, but records have been lost since. */
static void apply_doubtful(struct tasks *t, struct process *proc, const struct snapshot *s)
{
	struct proc_maps now;

	set_texts(t, proc, s);
	tasks_renounce(t, proc->pid);
	if (!proc->wanted || !proc->stale)
		return;
	now = make_maps(t, proc, s);
	proc_maps_free(&proc->before);
	proc->before = now;
	proc_maps_clear(&proc->maps);
}

/* An answer about another time than the drain's is ignored. */
static void apply_answer(struct tasks *t, const struct snapshot *s)
{
	struct process *proc = hmap_get(&t->by_pid, s->pid);

	if (!proc || !proc->asked)
		return;
	proc->asked = false;
	if ((!proc->stale && proc->cgroup_known) || s->err || s->from_ns < proc->asked_ns ||
	    proc->changed_ns >= s->from_ns)
		return;
	if (proc->gap_asked == t->gap)
		apply(t, proc, s);
	else
		apply_doubtful(t, proc, s);
}

void tasks_catch_up(struct tasks *t, uint64_t now_ns)
{
	struct snapshot *s;
	int n;

	check_alive(t, now_ns);
	for (n = 0; t->reader && n < ANSWERS_MAX; n++) {
		s = proc_reader_receive(t->reader, now_ns);
		if (!s)
			return;
		work_budget_charge(t->work, s->pid, WORK_LISTS, s->cpu_ns);
		apply_answer(t, s);
		snapshot_free(s);
	}
}

static void read_exe(struct tasks *t, struct process *proc)
{
	struct buf b = { 0 };

	if (!proc_read_exe(proc->pid, &b))
		tasks_set_text(t, &proc->exe, string_pool_get(t->texts, buf_cstr(&b), b.len));
	buf_free(&b);
}

static void read_comm(struct tasks *t, struct task *task)
{
	struct buf b = { 0 };

	if (!proc_read_comm(task->tid, &b))
		tasks_set_comm(t, task, buf_cstr(&b));
	buf_free(&b);
}

/* Whether tid is a living task of *pid, which is filled in if it is 0. */
static bool is_alive(uint32_t tid, uint32_t *pid)
{
	struct proc_status status;

	if (*pid)
		return !syscall(SYS_tgkill, *pid, tid, 0) || errno != ESRCH;
	if (!tid || proc_read_status(tid, &status))
		return false;
	*pid = status.tgid;
	return true;
}

static void read_ppid(struct process *proc)
{
	struct proc_status status;

	if (!proc->ppid && !proc_read_status(proc->pid, &status))
		proc->ppid = status.ppid;
}

/* Adds a task without any record so far, such as a waker that is not a target. */
static struct task *task_discover(struct tasks *t, uint32_t tid, uint32_t pid)
{
	bool alive = is_alive(tid, &pid); /* otherwise another task may have its number */
	struct process *proc;
	struct task *task;

	pid = pid ? pid : tid;
	proc = hmap_get(&t->by_pid, pid);
	if (!proc) {
		proc = tasks_add_process(t, pid);
		proc->stale = proc->wanted && pid; /* its mappings are unknown */
	}
	task = tasks_add_task(t, tid, proc);
	if (!tid)
		tasks_set_comm(t, task, "swapper");
	if (alive)
		read_comm(t, task);
	if (alive && !t->reader) {
		read_ppid(proc);
		if (!*proc->exe)
			read_exe(t, proc);
	}
	ask(t, proc);
	return task;
}

struct task *tasks_get(struct tasks *t, uint32_t tid, uint32_t pid)
{
	struct task *task = hmap_get(&t->by_tid, tid);

	if (task && pid && task->proc->pid != pid) {
		/* its end and the start of another process were lost */
		hmap_del(&t->by_tid, tid);
		tasks_end_task(t, task, clock_mono_ns());
		task = NULL;
	}
	if (!task)
		return task_discover(t, tid, pid);
	if (task->gap != t->gap || task->proc->stale || !task->proc->cgroup_known)
		doubt_task(t, task);
	return task;
}

/* Before anything is drained, /proc is the initial state. */
static struct process *scan_apply(struct tasks *t, const struct snapshot *s)
{
	struct process *proc = tasks_get_process(t, s->pid);
	size_t i;

	proc->wanted = true;
	proc->asked = false;
	proc->stale = true;
	for (i = 0; i < s->task_cnt; i++)
		if (!hmap_get(&t->by_tid, s->tasks[i].tid))
			tasks_add_task(t, s->tasks[i].tid, proc);
	apply(t, proc, s);
	return proc;
}

/* A process that does not answer: the recording begins without its mappings. */
static void scan_without_maps(struct tasks *t, pid_t pid)
{
	struct snapshot *s = snapshot_read((uint32_t)pid, 0);
	struct process *proc = s->err ? NULL : scan_apply(t, s);

	snapshot_free(s);
	if (!proc)
		return;
	proc->stale = true;
	proc->asked = t->reader != NULL;
	proc->gap_asked = t->gap;
}

int tasks_scan(struct tasks *t, pid_t pid)
{
	uint64_t deadline = clock_mono_ns() + SCAN_NS;
	struct snapshot *s = NULL;
	int err;

	if (!t->reader)
		s = snapshot_read((uint32_t)pid, SNAPSHOT_MAPS_SZ);
	else if (proc_reader_ask(t->reader, (uint32_t)pid, true))
		s = proc_reader_wait(t->reader, deadline);
	if (s && !s->err)
		scan_apply(t, s);
	else if (!s)
		scan_without_maps(t, pid);
	err = s ? s->err : 0;
	snapshot_free(s);
	return err;
}

/* Requests all from *pos on, until the queue is full. */
static size_t scan_ask(struct tasks *t, const pid_t *pids, size_t cnt, size_t *pos)
{
	size_t before = *pos;

	while (*pos < cnt && proc_reader_ask(t->reader, (uint32_t)pids[*pos], true))
		(*pos)++;
	return *pos - before;
}

static void scan_by_reader(struct tasks *t, const pid_t *pids, size_t cnt)
{
	uint64_t deadline = clock_mono_ns() + SCAN_NS;
	size_t pos = 0, open = 0, i;
	struct snapshot *s;

	do {
		open += scan_ask(t, pids, cnt, &pos);
		s = open ? proc_reader_wait(t->reader, deadline) : NULL;
		if (s && !s->err)
			scan_apply(t, s);
		open -= s != NULL;
		snapshot_free(s);
	} while (s && (open || pos < cnt));
	for (i = 0; open && i < cnt; i++)
		if (!hmap_get(&t->by_pid, (uint64_t)pids[i]))
			scan_without_maps(t, pids[i]);
}

void tasks_scan_all(struct tasks *t)
{
	pid_t *pids = NULL;
	size_t cnt = 0, i;

	if (proc_list_pids(&pids, &cnt))
		return;
	if (t->reader)
		scan_by_reader(t, pids, cnt);
	for (i = 0; !t->reader && i < cnt; i++)
		tasks_scan(t, pids[i]);
	free(pids);
}
