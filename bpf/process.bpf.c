// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * process.bpf.c - lists of mappings across fork and exec
 *
 * The loader receives both events milliseconds later. Until then a child uses its parent's list, which is valid for
 * it. After an exec no list is used, because the old one is wrong.
 */
#include "unwind_maps.bpf.h"

enum { CONDEMNED_WORDS = PROF_UNWIND_MAPS_MAX / PROF_UNWIND_LIST_ROUND / 64 };

extern volatile __u64 unwind_condemned[CONDEMNED_WORDS];

static __always_inline bool is_condemned(__u64 list)
{
	__u32 i = (list >> 32) / PROF_UNWIND_LIST_ROUND;

	return unwind_condemned[PROF_BOUND_INDEX(i / 64, CONDEMNED_WORDS)] >> i % 64 & 1;
}

/* A free place for a process; NULL: other processes have all of its places. */
static __always_inline struct prof_unwind_proc *claim_place(__u32 tgid)
{
	struct prof_unwind_proc *p;
	__u32 i;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++) {
		p = unwind_proc_place(tgid, i);
		if (p && !p->tgid && !__sync_val_compare_and_swap(&p->tgid, 0, tgid))
			return p;
	}
	return NULL;
}

/*
 * Replaces the place of an exited process with the same id. The loader is about to receive that exit, so it may
 * free the place, or another process may claim it, at any time. Returns false if that happened.
 */
static __always_inline bool replace_place(struct prof_unwind_proc *p, __u32 tgid, __u32 execs,
					  __u64 list)
{
	__u64 old = p->list;

	if (p->tgid != tgid || __sync_val_compare_and_swap(&p->list, old, list) != old)
		return false;
	p->execs = execs;
	if (p->tgid == tgid)
		return true;
	__sync_val_compare_and_swap(&p->list, list, 0);
	return false;
}

/* Runs in the parent, before the child runs. */
SEC("?tp_btf/sched_process_fork")
int prof_unwind_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	__u32 execs = BPF_CORE_READ(child, mm) == BPF_CORE_READ(parent, mm) ?
			      PROF_UNWIND_SHARES_MEMORY :
			      0;
	struct prof_unwind_proc *from, *to;
	__u64 list;

	if (parent->tgid == child->tgid)
		return 0;
	from = unwind_proc_find(parent->tgid);
	list = from ? from->list : 0;
	if (list && is_condemned(list))
		list = 0;
	to = unwind_proc_find(child->tgid);
	if (to && replace_place(to, child->tgid, execs, list))
		return 0;
	to = list || (from && execs) ? claim_place(child->tgid) : NULL;
	if (to) {
		to->execs = execs;
		to->list = list;
	}
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int prof_unwind_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct prof_unwind_proc *p = unwind_proc_find(task->tgid);

	if (p) {
		__sync_fetch_and_add(&p->execs, 1);
		__sync_fetch_and_and(&p->execs, ~PROF_UNWIND_SHARES_MEMORY);
		p->list = 0;
	}
	return 0;
}
