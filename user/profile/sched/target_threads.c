// SPDX-License-Identifier: BSD-2-Clause
/*
 * Targets of a recording, from its metadata ("system", "pid 1,2", "tid 3", "command ls") and then
 * from forks. Owns the sets; numbers only. As in the BPF programs, a child of a target thread
 * is a target with its whole process. Children from before the segment are known from TaskEvents.
 */
#include "profile/sched/target_threads.h"

#include <stdlib.h>
#include <string.h>

/*
 * Values of the sets. With a forked thread its whole process is a target; with a named one only the
 * thread.
 */
static char named, forked;

static void add(struct hmap *set, uint64_t id, void *how)
{
	if (id < TRACE_NONE)
		hmap_set(set, id, how);
}

/* "12,13" */
static void add_list(struct hmap *set, const char *s)
{
	char *end;

	for (;; s = end + 1) {
		unsigned long long id = strtoull(s, &end, 10);

		if (end == s)
			return;
		add(set, id, &named);
		if (*end != ',')
			return;
	}
}

void target_threads_init(struct target_threads *f, const struct names *n, uint32_t part)
{
	const char *target = names_meta(n, part, PROF_META_TARGET);
	const char *pids = names_meta(n, part, PROF_META_TARGET_PIDS);
	const char *inherit = names_meta(n, part, PROF_META_INHERIT);
	const char *followed = names_meta(n, part, PROF_META_FOLLOWED);

	*f = (struct target_threads){ .inherit = !inherit || strcmp(inherit, "no") };
	f->from_task_events = followed != NULL;
	f->within = followed && !strcmp(followed, "within");
	f->not_all = f->from_task_events;
	if (!target || (f->from_task_events && !f->within))
		return;
	f->command = !strncmp(target, "command ", 8);
	f->not_all |= f->command || !strncmp(target, "pid ", 4) || !strncmp(target, "tid ", 4);
	if (!strncmp(target, "pid ", 4))
		add_list(&f->pids, target + 4);
	if (!strncmp(target, "tid ", 4)) {
		add_list(&f->tids, target + 4);
		f->inherit = false;
	}
	if (f->command && pids) {
		add_list(&f->pending, pids);
		f->command = false;
	}
}

/* Without inherit, a command is its first thread: the others are new. */
static void add_command(struct target_threads *f, uint64_t pid)
{
	add(f->inherit ? &f->pids : &f->tids, pid, &named);
}

static void activate_pending(struct target_threads *f, uint64_t pid)
{
	if (f->pending.cnt && hmap_del(&f->pending, pid))
		add_command(f, pid);
}

static uint64_t number(const struct trace_event *ev, enum trace_role role)
{
	return trace_u64_or(ev, role, TRACE_NONE);
}

static void handle_tracepoint(struct target_threads *f, const struct trace_event *ev)
{
	void *how;

	if (ev->schema->role[ROLE_CHILD_PID] >= 0) {
		if (!f->inherit)
			add(&f->excluded, number(ev, ROLE_CHILD_PID), &forked);
		else if (target_threads_has(f, ev->pid, ev->tid))
			add(&f->tids, number(ev, ROLE_CHILD_PID), &forked);
	} else if (ev->schema->role[ROLE_OLD_PID] >= 0) {
		if (f->command)
			add_command(f, number(ev, ROLE_PID));
		f->command = false;
		activate_pending(f, number(ev, ROLE_PID));
		how = hmap_get(&f->tids, number(ev, ROLE_OLD_PID));
		if (how && f->inherit)
			add(&f->tids, number(ev, ROLE_PID), how);
	}
}

/* In a trace that was cut to the named targets, no other thread counts. */
static bool is_reported_target(const struct target_threads *f, const struct trace_event *ev)
{
	return f->inherit && !f->from_task_events && trace_u64_or(ev, ROLE_FOLLOWED, 0);
}

void target_threads_event(struct target_threads *f, const struct trace *t,
			  const struct trace_event *ev)
{
	const struct names_task *task;

	if (!f->not_all)
		return;
	if (ev->kind == TRACE_TRACEPOINT) {
		handle_tracepoint(f, ev);
	} else if (ev->kind == TRACE_SAMPLE) {
		activate_pending(f, ev->pid);
	} else if (ev->kind == TRACE_TASK && ev->tid != TRACE_NONE) {
		task = trace_task(t, ev->tid);
		if (task)
			activate_pending(f, task->pid);
		if (task && (hmap_get(&f->tids, ev->tid) == &forked || is_reported_target(f, ev)))
			add(&f->pids, task->pid, &forked);
	}
}

bool target_threads_has(const struct target_threads *f, uint32_t pid, uint32_t tid)
{
	if (!f->not_all || hmap_get(&f->tids, tid))
		return true;
	return pid != TRACE_NONE && hmap_get(&f->pids, pid) && !hmap_get(&f->excluded, tid);
}

void target_threads_forget(struct target_threads *f, uint32_t tid)
{
	if (f->not_all)
		hmap_del(&f->tids, tid);
}

void target_threads_fini(struct target_threads *f)
{
	hmap_fini(&f->pids);
	hmap_fini(&f->pending);
	hmap_fini(&f->tids);
	hmap_fini(&f->excluded);
	*f = (struct target_threads){ 0 };
}
