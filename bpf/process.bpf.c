// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * process.bpf.c - lists of mappings across fork and exec
 *
 * The loader hears of both milliseconds later. Until then a child is unwound by its parent's list, which
 * is true of it, and a new program by none rather than by the old one's.
 */
#include "unwind_maps.bpf.h"

/* A place for a process that has none; NULL: all of its places are others'. */
static __always_inline struct prof_unwind_proc *take_place(__u32 tgid)
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

/* Runs in the parent, before the child does. */
SEC("?tp_btf/sched_process_fork")
int prof_unwind_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct prof_unwind_proc *from, *to;
	__u64 list;

	if (parent->tgid == child->tgid)
		return 0;
	from = unwind_proc_find(parent->tgid);
	list = from ? from->list : 0;
	to = unwind_proc_find(child->tgid); /* of a process of the same id that is gone */
	if (!to && list)
		to = take_place(child->tgid);
	if (to) {
		to->execs = 0;
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
		p->list = 0;
	}
	return 0;
}
