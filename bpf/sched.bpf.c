// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * sched.bpf.c - the scheduler's hot events, and which tasks are targets
 *
 * These are tp_btf programs: they run for every event, also during another program, and are cheaper than the
 * generic program. They write the kernel's record field by field at the offsets of its format file. Readers cannot
 * see a difference.
 *
 * Threads and children of a target become targets in the fork, before they first run, until their last switch out.
 */
#include "context.bpf.h"
#include "filter.bpf.h"
#include "neighbour.bpf.h"
#include "repeat.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"
#include "switch.bpf.h"

/* Fields of PREEMPT_RT kernels are aligned to 4 bytes, and the verifier rejects unaligned stores to the stack. */
static __always_inline void put_words(__u32 *to, __u64 val)
{
	to[0] = val;
	to[1] = val >> 32;
}

/* @end: end of the record. Returns its new end. */
static __always_inline __u32 put_comm(void *raw, __u32 off, bool dynamic, __u32 end,
				      struct task_struct *task)
{
	long len;

	if (!dynamic) {
		put_words(raw + off, ((__u64 *)task->comm)[0]);
		put_words(raw + off + 8, ((__u64 *)task->comm)[1]);
		return end;
	}
	len = bpf_probe_read_kernel_str(raw + end, PROF_COMM_SIZE, task->comm);
	if (len < 0 || len > PROF_COMM_SIZE)
		len = 0;
	*(__u32 *)(raw + off) = len << 16 | end;
	return end + len;
}

#define PUT(raw, off, type, value) (*(type *)((raw) + (off)) = (value))

static __always_inline __u32 put_switch(void *raw, bool preempt, struct task_struct *prev,
					struct task_struct *next, __u32 state)
{
	__u32 end = cfg_switch.size;

	raw_init(raw, cfg_switch.type, prev->pid);
	end = put_comm(raw, cfg_switch.prev_comm, cfg_switch.comm_dyn, end, prev);
	PUT(raw, cfg_switch.prev_pid, __s32, prev->pid);
	PUT(raw, cfg_switch.prev_prio, __s32, prev->prio);
	PUT(raw, cfg_switch.prev_state, __u64, report_state(preempt, state, prev->exit_state));
	end = put_comm(raw, cfg_switch.next_comm, cfg_switch.comm_dyn, end, next);
	PUT(raw, cfg_switch.next_pid, __s32, next->pid);
	PUT(raw, cfg_switch.next_prio, __s32, next->prio);
	return end;
}

/* Builds the record a second time, on the stack: only filters of switches cost this. */
static __attribute__((noinline)) bool switch_is_wanted(bool preempt, struct task_struct *prev,
						       struct task_struct *next, __u32 state)
{
	struct filter_short at = { 0 };

	return filter_wants_short(&at, put_switch(at.bytes, preempt, prev, next, state),
				  cfg_switch.filter);
}

/* The record of a hot event. The caller has entered the stage. */
static __always_inline struct prof_rec *rec_begin(struct prof_stage *s, __u32 cpu, __u32 event,
						  __u64 pid_tgid)
{
	struct prof_rec *rec = stage_place(s);

	rec_init(rec, PROF_REC_TRACEPOINT, cpu, clock_now(), pid_tgid);
	rec->event = event;
	return rec;
}

/* Whether the record is written without stacks because the ring fills up. Marks it. */
static __always_inline bool mark_if_dropped(const struct prof_stage *s, struct prof_rec *rec)
{
	if (!s->drop_stacks)
		return false;
	rec->flags = PROF_REC_THINNED;
	return true;
}

/* Size of the raw part with padding. */
static __always_inline __u32 staged_raw_size(const struct prof_rec *rec)
{
	return PROF_BOUND_INDEX(rec->raw_len + 7, PROF_STAGE_RAW_MAX + 8) & -8U;
}

/* Adds the stacks of @task, the current one, after the raw part. Returns the record's size. */
static __always_inline __u32 rec_add_stacks(void *ctx, struct prof_stage *s, struct prof_rec *rec,
					    struct task_struct *task, __u32 which,
					    enum orc_from from, bool orc)
{
	__u32 raw_sz = staged_raw_size(rec), words;
	__u64 *stack = (void *)(rec + 1) + raw_sz, *frames = stack;
	bool user = which & PROF_STACKS_USER && has_user_stack(task);

	if (stacks_off) {
		__sync_fetch_and_add(&cpu_stat(rec->cpu)->stacks_dropped, 1);
		return sizeof(*rec) + raw_sz;
	}
	rec->flags = PROF_REC_STACKS;
	if (which & PROF_STACKS_KERNEL)
		rec->kstack_cnt = kernel_stack(ctx, rec, frames, from, orc);
	frames += kstack_words(rec);
	if (user)
		user_stack_of_switch(rec, (void *)frames);
	words = repeat_omit(s, rec, stack, kstack_words(rec) + ustack_words(rec));
	return sizeof(*rec) + raw_sz + 8 * words;
}

static __always_inline int on_switch(__u64 *ctx, bool orc)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	bool preempt = ctx[0], watched = false, stacks;
	__u32 state, size, cpu = bpf_get_smp_processor_id();
	struct prof_stage *stage;
	struct prof_rec *rec;
	__u64 start;

	if (cfg_neighbours)
		neighbours_set_running(cpu, next);
	state = cfg_switch_state_arg ? ctx[3] : prev->__state;
	if (!recording || !is_cpu_wanted(cpu)) {
		forget_dead(prev, state);
		return 0;
	}
	if (cfg_select.by_task) {
		select_update(prev);
		select_update(next);
	}
	if (cfg_neighbours)
		watched = neighbours_switch(cpu, prev, preempt || !state, next);
	stacks = cfg_switch_stacks && prev->pid && prev->tgid != cfg_self_tgid;
	if (!is_target(prev->pid, prev->tgid)) {
		if (!is_target(next->pid, next->tgid) && !watched) {
			if (cfg_select.by_task)
				forget_dead(prev, state);
			return 0;
		}
		stacks = false;
	}
	if (cfg_switch.filter && !switch_is_wanted(preempt, prev, next, state))
		goto out;
	stage = stage_enter(cpu);
	if (!stage)
		goto out;
	rec = rec_begin(stage, cpu, cfg_switch.event, (__u64)prev->tgid << 32 | (__u32)prev->pid);
	start = rec->ts;
	rec->raw_len = put_switch(rec + 1, preempt, prev, next, state);
	if (stacks && !mark_if_dropped(stage, rec))
		size = rec_add_stacks(ctx, stage, rec, prev, cfg_switch_stacks, ORC_OF_SWITCH, orc);
	else
		size = sizeof(*rec) + staged_raw_size(rec);
	stage_leave(stage, rec, size);
	if (watched)
		neighbours_end_old_watch(cpu, start);
	count_run(cpu, PROF_PROG_SWITCH, start);
out:
	forget_dead(prev, state);
	return 0;
}

SEC("?tp_btf/sched_switch")
int prof_sched_switch(__u64 *ctx)
{
	return on_switch(ctx, false);
}

/* The same, with kernel stacks by ORC. */
SEC("?tp_btf/sched_switch")
int prof_sched_switch_orc(__u64 *ctx)
{
	return on_switch(ctx, true);
}

/* Whether events of this CPU or of CPU @to are wanted. If so, updates the selection of @task. */
static __always_inline bool begin_about(struct task_struct *task, __u32 to)
{
	if (!recording || (!is_cpu_wanted(bpf_get_smp_processor_id()) && !is_cpu_wanted(to)))
		return false;
	if (cfg_select.by_task)
		select_update(task);
	return true;
}

/* Whether @task or the current one is a target. */
static __always_inline bool is_about_target(struct task_struct *task)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	return is_target(pid_tgid, pid_tgid >> 32) || is_target(task->pid, task->tgid);
}

/* The stage for a record about @task, if @task or the current task is a target. */
static __always_inline struct prof_stage *stage_about(struct task_struct *task, __u32 cpu)
{
	return is_about_target(task) ? stage_enter(cpu) : NULL;
}

static __always_inline void rec_end(struct prof_stage *s, struct prof_rec *rec, __u32 cpu,
				    __u32 size)
{
	__u64 start = rec->ts;

	stage_leave(s, rec, size);
	count_run(cpu, PROF_PROG_WAKEUP, start);
}

static __always_inline __u32 put_wakeup(void *raw, __u32 tid, struct task_struct *task,
					const volatile struct prof_wakeup_layout *at)
{
	__u32 end;

	raw_init(raw, at->type, tid);
	end = put_comm(raw, at->comm, at->comm_dyn, at->size, task);
	PUT(raw, at->pid, __s32, task->pid);
	PUT(raw, at->prio, __s32, task->prio);
	PUT(raw, at->target_cpu, __s32, task_cpu(task));
	return end;
}

/* For events with a filter: as switch_is_wanted(), for events about targets. */
static __always_inline bool wakeup_passes_filter(struct task_struct *task,
						 const volatile struct prof_wakeup_layout *at)
{
	struct filter_short raw = { 0 };

	return is_about_target(task) &&
	       filter_wants_short(&raw, put_wakeup(raw.bytes, bpf_get_current_pid_tgid(), task, at),
				  at->filter);
}

static __attribute__((noinline)) bool wakeup_is_wanted(struct task_struct *task)
{
	return wakeup_passes_filter(task, &cfg_wakeup);
}

static __attribute__((noinline)) bool wakeup_new_is_wanted(struct task_struct *task)
{
	return wakeup_passes_filter(task, &cfg_wakeup_new);
}

static __always_inline int emit_wakeup(struct task_struct *task,
				       const volatile struct prof_wakeup_layout *at)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_stage *s = stage_about(task, cpu);
	struct prof_rec *rec;

	if (!s)
		return 0;
	rec = rec_begin(s, cpu, at->event, bpf_get_current_pid_tgid());
	rec->context = context_now(cpu);
	rec->raw_len = put_wakeup(rec + 1, rec->tid, task, at);
	rec_end(s, rec, cpu, sizeof(*rec) + staged_raw_size(rec));
	return 0;
}

/*
 * With the stacks of the current task, the waker. This program and a switch on its CPU exclude each other: they
 * share the stage and the memory of the walk. If the waker is not a target, its mappings are unknown.
 */
static __always_inline int wakeup_with_stacks(void *ctx, struct task_struct *task, bool orc)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 cpu = bpf_get_smp_processor_id(), which = cfg_wakeup_stacks, size;
	struct prof_stage *s = stage_about(task, cpu);
	struct prof_rec *rec;

	if (!s)
		return 0;
	rec = rec_begin(s, cpu, cfg_wakeup.event, pid_tgid);
	rec->raw_len = put_wakeup(rec + 1, rec->tid, task, &cfg_wakeup);
	if (!is_target(pid_tgid, pid_tgid >> 32))
		which &= ~PROF_STACKS_USER;
	if (mark_if_dropped(s, rec)) {
		rec->context = PROF_CONTEXT_TASK;
		size = sizeof(*rec) + staged_raw_size(rec);
	} else {
		size = rec_add_stacks(ctx, s, rec, bpf_get_current_task_btf(), which, ORC_OF_WAKEUP,
				      orc);
		if (!(rec->flags & PROF_REC_STACKS))
			rec->context = PROF_CONTEXT_TASK;
	}
	rec_end(s, rec, cpu, size);
	return 0;
}

static __always_inline int on_wakeup(__u64 *ctx, bool orc)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	/* the CPU of the blocked thread counts as well: another CPU may end its block */
	if (!begin_about((void *)ctx[0], task_cpu((void *)ctx[0])))
		return 0;
	if (cfg_neighbours)
		neighbours_wakeup((void *)ctx[0]);
	if (cfg_wakeup.filter && !wakeup_is_wanted((void *)ctx[0]))
		return 0;
	if (cfg_wakeup_stacks && (__u32)pid_tgid && pid_tgid >> 32 != cfg_self_tgid &&
	    context_now(bpf_get_smp_processor_id()) == PROF_CONTEXT_TASK)
		return wakeup_with_stacks(ctx, (void *)ctx[0], orc);
	return emit_wakeup((void *)ctx[0], &cfg_wakeup);
}

SEC("?tp_btf/sched_waking")
int prof_sched_waking(__u64 *ctx)
{
	return on_wakeup(ctx, false);
}

SEC("?tp_btf/sched_waking")
int prof_sched_waking_orc(__u64 *ctx)
{
	return on_wakeup(ctx, true);
}

SEC("?tp_btf/sched_wakeup_new")
int prof_sched_wakeup_new(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (!begin_about(task, task_cpu(task)))
		return 0;
	if (cfg_neighbours)
		neighbours_woken(task);
	if (cfg_wakeup_new.filter && !wakeup_new_is_wanted(task))
		return 0;
	return emit_wakeup(task, &cfg_wakeup_new);
}

/* Not recorded. For --neighbours: a target woken just before it left its CPU was not yet runnable at sched_waking. */
SEC("?tp_btf/sched_wakeup")
int prof_wait_wakeup(__u64 *ctx)
{
	if (recording)
		neighbours_woken((void *)ctx[0]);
	return 0;
}

static __always_inline __u32 put_migrate(void *raw, __u32 tid, struct task_struct *task, __u32 dest)
{
	__u32 end;

	raw_init(raw, cfg_migrate.type, tid);
	end = put_comm(raw, cfg_migrate.comm, cfg_migrate.comm_dyn, cfg_migrate.size, task);
	PUT(raw, cfg_migrate.pid, __s32, task->pid);
	PUT(raw, cfg_migrate.prio, __s32, task->prio);
	PUT(raw, cfg_migrate.orig_cpu, __s32, task_cpu(task));
	PUT(raw, cfg_migrate.dest_cpu, __s32, dest);
	return end;
}

static __attribute__((noinline)) bool migrate_is_wanted(struct task_struct *task, __u32 dest)
{
	struct filter_short raw = { 0 };

	return is_about_target(task) &&
	       filter_wants_short(&raw,
				  put_migrate(raw.bytes, bpf_get_current_pid_tgid(), task, dest),
				  cfg_migrate.filter);
}

SEC("?tp_btf/sched_migrate_task")
int prof_sched_migrate(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_stage *s;
	struct prof_rec *rec;

	/* from or to a CPU that is wanted, wherever the program runs: readers then know which tasks are there */
	if (!begin_about(task, is_cpu_wanted(task_cpu(task)) ? task_cpu(task) : ctx[1]))
		return 0;
	if (cfg_neighbours)
		neighbours_migrate(task, ctx[1]);
	if (cfg_migrate.filter && !migrate_is_wanted(task, ctx[1]))
		return 0;
	s = stage_about(task, cpu);
	if (!s)
		return 0;
	rec = rec_begin(s, cpu, cfg_migrate.event, bpf_get_current_pid_tgid());
	rec->raw_len = put_migrate(rec + 1, rec->tid, task, ctx[1]);
	rec_end(s, rec, cpu, sizeof(*rec) + staged_raw_size(rec));
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int prof_follow_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];

	if (!is_requested(parent->pid, parent->tgid))
		return 0;
	task_bit_set(target_tids, child->pid);
	task_bit_set(target_tgids, child->tgid);
	return 0;
}

/* For recordings without switches: the last event of a task. */
SEC("?tp_btf/sched_process_free")
int prof_forget_freed(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (task_bit(target_tids, task->pid))
		task_bit_clear(target_tids, task->pid);
	if (task->pid == task->tgid && task_bit(target_tgids, task->tgid))
		task_bit_clear(target_tgids, task->tgid);
	return 0;
}

/* A thread that execs takes over the leader's tid. */
SEC("?tp_btf/sched_process_exec")
int prof_follow_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 old = ctx[1];

	if ((__u32)task->pid == old || !task_bit(target_tids, old))
		return 0;
	task_bit_set(target_tids, task->pid);
	task_bit_clear(target_tids, old);
	return 0;
}
