// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * select.bpf.c - forks and renames: updates the selection state of a task
 *
 * These programs also run before recording starts. The iterator matches the names of existing tasks, the hooks
 * match the names of new tasks.
 */
#include "select.bpf.h"

static __always_inline bool matches_any(const volatile struct prof_glob *globs, __u32 cnt,
					const char *name)
{
	__u32 i;

	for (i = 0; i < PROF_SELECT_GLOBS && i < cnt; i++)
		if (prof_glob_matches(&globs[i], name))
			return true;
	return false;
}

static __always_inline void put_bit(__u64 *word, __u32 id, bool on)
{
	if (on)
		__sync_fetch_and_or(word, 1ULL << (id & 63));
	else
		__sync_fetch_and_and(word, ~(1ULL << (id & 63)));
}

/* @name: the new name, PROF_COMM_SIZE bytes. */
static __always_inline void update_name_bits(const struct task_struct *task, const char *name)
{
	struct prof_select_word *w = select_word(task->pid);

	if (!w)
		return;
	if (cfg_select.thread_cnt)
		put_bit(&w->thread, task->pid,
			matches_any(cfg_select.threads, cfg_select.thread_cnt, name));
	if (cfg_select.comm_cnt + cfg_select.no_comm_cnt && task->pid == task->tgid)
		put_bit(&w->process, task->pid,
			(!cfg_select.comm_cnt ||
			 matches_any(cfg_select.comms, cfg_select.comm_cnt, name)) &&
				!matches_any(cfg_select.no_comms, cfg_select.no_comm_cnt, name));
}

static __always_inline void update_own_name_bits(const struct task_struct *task)
{
	char name[PROF_COMM_SIZE] = "";

	bpf_probe_read_kernel_str(name, sizeof(name), task->comm);
	update_name_bits(task, name);
}

/* Runs in the parent, before the child runs. Clears the bit of an earlier task with this id. */
SEC("?tp_btf/sched_process_fork")
int prof_select_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct prof_select_word *w = select_word(child->pid);

	if (w)
		put_bit(&w->followed, child->pid, false);
	if (cfg_follow && !cfg_system_wide && is_requested(parent->pid, parent->tgid)) {
		task_bit_set(target_tids, child->pid);
		task_bit_set(target_tgids, child->tgid);
	}
	update_own_name_bits(child);
	if (recording)
		select_update(child);
	return 0;
}

SEC("?tp_btf/task_rename")
int prof_select_rename(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	char name[PROF_COMM_SIZE] = "";

	bpf_probe_read_kernel_str(name, sizeof(name), (const void *)ctx[1]);
	update_name_bits(task, name);
	if (recording)
		select_update(task);
	return 0;
}

/* All tasks: matches their names before recording starts, and selects them after that. */
SEC("?iter/task")
int prof_select_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	update_own_name_bits(task);
	if (recording)
		select_update(task);
	return 0;
}
