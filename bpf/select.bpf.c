// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * select.bpf.c - tasks come to be, or are called something else: are they targets now?
 *
 * These programs run while recording is prepared, too: the names of who is there already are judged by the
 * iterator, of others by the hooks.
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

/* @name: PROF_COMM_SIZE bytes, which the task is about to have. */
static __always_inline void judge_name(const struct task_struct *task, const char *name)
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

static __always_inline void judge_own_name(const struct task_struct *task)
{
	char name[PROF_COMM_SIZE] = "";

	bpf_probe_read_kernel_str(name, sizeof(name), task->comm);
	judge_name(task, name);
}

/* In the parent, before the child runs: what its number said of another is over. */
SEC("?tp_btf/sched_process_fork")
int prof_select_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct prof_select_word *w = select_word(child->pid);

	if (w)
		put_bit(&w->followed, child->pid, false);
	if (cfg_follow && !cfg_system_wide && is_asked_for(parent->pid, parent->tgid)) {
		task_bit_set(target_tids, child->pid);
		task_bit_set(target_tgids, child->tgid);
	}
	judge_own_name(child);
	if (recording)
		select_look(child);
	return 0;
}

SEC("?tp_btf/task_rename")
int prof_select_rename(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	char name[PROF_COMM_SIZE] = "";

	bpf_probe_read_kernel_str(name, sizeof(name), (const void *)ctx[1]);
	judge_name(task, name);
	if (recording)
		select_look(task);
	return 0;
}

/* All who are there: their names before recording starts, and who is a target when it has. */
SEC("?iter/task")
int prof_select_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	judge_own_name(task);
	if (recording)
		select_look(task);
	return 0;
}
