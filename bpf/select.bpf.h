/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * select.bpf.h - selects targets by cgroup, user, name
 *
 * Each switch, wakeup, fork and rename of a task updates one bit, `followed`, which everything else uses. Names cost
 * more to match than the rest. Their results are bits, too, set at forks and renames (an exec renames).
 *
 * A change of the bit is recorded, so that readers know the time range in which they have all switches of a
 * thread. If there is no room for that record, the bit is restored and the next update tries again.
 */
#ifndef D9_SELECT_BPF_H
#define D9_SELECT_BPF_H

#include "prof.bpf.h"

#define CGROUP_WANTED (1ULL << 63)

/* By id: the id, and CGROUP_WANTED. The parents of a cgroup never change, and ids are not reused. */
extern __u64 known_cgroups[PROF_SELECT_CGROUP_SLOTS];

static __always_inline bool is_named_cgroup(__u64 id)
{
	__u32 i;

	for (i = 0; i < PROF_SELECT_CGROUPS && i < cfg_select.cgroup_cnt; i++)
		if (cfg_select.cgroups[i] == id)
			return true;
	return false;
}

static __always_inline bool is_below_named(struct cgroup *cgroup)
{
	struct cgroup_subsys_state *parent;
	__u32 i;

	for (i = 0; i < PROF_SELECT_CGROUP_DEPTH; i++) {
		if (is_named_cgroup(cgroup->kn->id))
			return true;
		parent = cgroup->self.parent;
		if (!parent)
			return false;
		cgroup = parent->cgroup;
	}
	return false;
}

static __always_inline bool is_cgroup_selected(struct task_struct *task)
{
	struct cgroup *cgroup = task->cgroups->dfl_cgrp;
	__u64 id = cgroup->kn->id & ~CGROUP_WANTED;
	__u64 *known = &known_cgroups[PROF_BOUND_INDEX(id, PROF_SELECT_CGROUP_SLOTS)], was = *known;

	if ((was & ~CGROUP_WANTED) != id || !id) {
		was = is_below_named(cgroup) ? id | CGROUP_WANTED : id;
		*known = was;
	}
	return was & CGROUP_WANTED;
}

static __always_inline bool is_user_selected(const struct task_struct *task)
{
	__u32 uid = task->real_cred->uid.val, i;

	for (i = 0; i < PROF_SELECT_USERS && i < cfg_select.user_cnt; i++)
		if (cfg_select.users[i] == uid)
			return true;
	return false;
}

static __always_inline bool is_process_named(__u32 tgid)
{
	const struct prof_select_word *w = select_word(tgid);

	return w && w->process >> (tgid & 63) & 1;
}

static __always_inline bool is_thread_named(__u32 tid)
{
	const struct prof_select_word *w = select_word(tid);

	return w && w->thread >> (tid & 63) & 1;
}

/* The filters of struct prof_select_task. */
static __always_inline bool passes_task_filters(const struct task_struct *task)
{
	return !cfg_select.task.no_kthread || !(task->flags & PF_KTHREAD);
}

/* Whether a task is a target now. Idle tasks never are. */
static __always_inline bool is_selected(struct task_struct *task)
{
	if (!task->pid || !is_requested(task->pid, task->tgid))
		return false;
	if (!passes_task_filters(task))
		return false;
	if (cfg_select.comm_cnt + cfg_select.no_comm_cnt && !is_process_named(task->tgid))
		return false;
	if (cfg_select.thread_cnt && !is_thread_named(task->pid))
		return false;
	if (cfg_select.user_cnt && !is_user_selected(task))
		return false;
	return !cfg_select.cgroup_cnt || is_cgroup_selected(task);
}

/* Evaluated again: the task may have changed since it was switched in. */
static __always_inline bool is_current_target(__u64 pid_tgid)
{
	return cfg_select.by_task ? is_selected(bpf_get_current_task_btf()) :
				    is_requested(pid_tgid, pid_tgid >> 32);
}

/* Returns false if there was no room. */
static __always_inline bool select_report(const struct task_struct *task, bool followed)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = ring_of(cpu);
	struct prof_rec *rec;

	if (!ring || !ring_has_room(bpf_ringbuf_query(ring, RING_AVAIL_DATA), sizeof(*rec)))
		return false;
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec), 0);
	if (!rec)
		return false;
	rec_init(rec, PROF_REC_FOLLOWED, cpu, clock_now(),
		 (__u64)task->tgid << 32 | (__u32)task->pid);
	rec->size = sizeof(*rec);
	rec->event = followed;
	rec->raw_len = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return true;
}

/* The task is dead: its last switch shows that in the trace. */
static __always_inline void select_forget(__u32 tid)
{
	struct prof_select_word *w = select_word(tid);

	if (w)
		__sync_fetch_and_and(&w->followed, ~(1ULL << (tid & 63)));
}

/* Updates the bit of a task, and records a change. Only while recording, or the record would be missing. */
static __always_inline void select_update(struct task_struct *task)
{
	bool selected = is_selected(task);
	struct prof_select_word *w = select_word(task->pid);
	__u64 bit = 1ULL << (task->pid & 63);

	if (!w || selected == !!(w->followed & bit))
		return;
	/* if two CPUs see the change at once, one records it */
	if (selected) {
		if (!(__sync_fetch_and_or(&w->followed, bit) & bit) && !select_report(task, true))
			__sync_fetch_and_and(&w->followed, ~bit);
	} else if (__sync_fetch_and_and(&w->followed, ~bit) & bit && !select_report(task, false)) {
		__sync_fetch_and_or(&w->followed, bit);
	}
}

#endif
