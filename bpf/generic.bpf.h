/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * generic.bpf.h - shared by the programs for any tracepoint
 *
 * The attach cookie is the index of the event's prof_event_cfg: length of the record, offsets of its pid fields,
 * and its last dynamic field.
 */
#ifndef D9_GENERIC_BPF_H
#define D9_GENERIC_BPF_H

#include "context.bpf.h"
#include "filter.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"

struct event_cfg_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_event_cfg);
};

extern struct event_cfg_map event_cfgs SEC(".maps");

/* The first bytes of a record, written by raw_init(). */
enum { COMMON_SIZE = 8 };

/* Whether a pid field names a target. @from: the record, or data with its layout. */
static __always_inline bool names_target(const void *from, const struct prof_event_cfg *cfg)
{
	__u32 pid, i;

	for (i = 0; i < PROF_PID_FIELDS; i++) {
		if (i >= cfg->pid_cnt)
			break;
		if (!bpf_probe_read_kernel(&pid, sizeof(pid), from + cfg->pid_off[i]) &&
		    (cfg_select.by_task ? is_followed(pid) : task_bit(target_tids, pid)))
			return true;
	}
	return false;
}

/*
 * Writes the stacks of an event after its record, at @raw_sz. There is no user stack in interrupts, because they
 * are unrelated to user code. There is none for a task that is not a target either, because its mappings are
 * unknown. @user: the memory of @walker's walk is free. @skip: leaf frames of the tracing itself.
 */
static __always_inline __u32 add_stacks(void *ctx, struct prof_rec *rec, __u32 raw_sz, __u32 skip,
					bool user, enum unwind_walker walker)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 *frames;

	if (raw_sz > PROF_RAW_MAX)
		return 0;
	user = user && cfg_event_stacks & PROF_STACKS_USER && has_user_stack(task);
	rec->flags |= PROF_REC_STACKS;
	frames = (void *)(rec + 1) + raw_sz;
	if (cfg_event_stacks & PROF_STACKS_KERNEL)
		rec->kstack_cnt = kernel_stack_helped(ctx, frames, skip, &rec->flags);
	frames += kstack_words(rec);
	if (user && is_target(rec->tid, rec->pid) && context_now(rec->cpu) == PROF_CONTEXT_TASK)
		user_stack(rec, (void *)frames, walker);
	return 8 * (kstack_words(rec) + ustack_words(rec));
}

#endif
