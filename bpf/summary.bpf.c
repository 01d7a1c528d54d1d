// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * summary.bpf.c - --summary: histograms in place of events
 *
 * A wakeup stores its time in the thread's place. The switch in computes the rest from that time and the time of
 * the switch out: how long the thread was blocked, and its run-queue latency. Only programs of the CPU write to its
 * rows, with interrupts off. Therefore only claiming a place needs an atomic operation.
 *
 * A wakeup before the thread has left its CPU counts only if no other follows: the kernel may have cancelled the
 * block that it belongs to.
 */
#include "prof.bpf.h"
#include "prof_events.h"
#include "select.bpf.h"

extern const volatile __u32 cfg_summary_cpus;
extern const volatile __u32 cfg_summary_sets;

/* The table that each CPU writes to: 0 or 1. */
volatile __u32 summary_active;
/* Start or resume of recording: times before it are not used. */
volatile __u64 summary_since;
struct prof_summary_cpu summary_cpus[PROF_CPUS_MAX] __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_summary_row);
} summary_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_summary_set);
} summary_tasks SEC(".maps");

/* The place of a thread. @make: claims a free one if it has none. NULL: it has none. */
static __noinline struct prof_summary_task *task_of(__u32 tid, bool make)
{
	__u32 idx = PROF_BOUND_MASK(tid, cfg_summary_sets - 1);
	struct prof_summary_set *set = bpf_map_lookup_elem(&summary_tasks, &idx);

	if (!set)
		return NULL;
	if (set->tasks[0].tid == tid)
		return &set->tasks[0];
	if (set->tasks[1].tid == tid)
		return &set->tasks[1];
	if (!make)
		return NULL;
	if (__sync_val_compare_and_swap(&set->tasks[0].tid, 0, tid) == 0)
		return &set->tasks[0];
	if (__sync_val_compare_and_swap(&set->tasks[1].tid, 0, tid) == 0)
		return &set->tasks[1];
	return NULL;
}

static __always_inline void free_place(struct prof_summary_task *t)
{
	t->blocked = 0;
	t->out_ns = t->woken_ns = 0;
	t->tid = 0;
}

/* A global function: the verifier checks it once, not at each call. */
__noinline __u32 summary_bucket(__u64 ns)
{
	__u32 k = 0;

	if (ns >> 32) {
		ns >>= 32;
		k = 32;
	}
	if (ns >> 16) {
		ns >>= 16;
		k += 16;
	}
	if (ns >> 8) {
		ns >>= 8;
		k += 8;
	}
	if (ns >> 4) {
		ns >>= 4;
		k += 4;
	}
	if (ns >> 2) {
		ns >>= 2;
		k += 2;
	}
	return k + (ns >> 1 ? 1 : 0);
}

static __always_inline void hist_add(struct prof_summary_hist *h, __u64 ns)
{
	__u32 k = summary_bucket(ns);

	if (k >= PROF_SUMMARY_BUCKETS)
		k = PROF_SUMMARY_BUCKETS - 1;
	h->buckets[k]++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* The name may have changed after the row was made, mainly by an exec. */
static __always_inline void name_row(struct prof_summary_row *row, struct task_struct *task,
				     __u64 now)
{
	struct task_struct *leader = task->group_leader;

	((__u64 *)row->comm)[0] = ((__u64 *)leader->comm)[0];
	((__u64 *)row->comm)[1] = ((__u64 *)leader->comm)[1];
	row->named_ns = now;
}

/* The row of a task's process in the table of this CPU. */
static __noinline struct prof_summary_row *row_of(__u32 cpu, struct task_struct *task)
{
	__u32 table = ((summary_active & 1) * cfg_summary_cpus + cpu) * PROF_SUMMARY_TABLE;
	__u32 tgid = task->tgid, hash = tgid * 0x9e3779b1U >> 16, idx;
	struct prof_summary_row *row;

	for (int i = 0; i < PROF_SUMMARY_PROBES; i++) {
		idx = table + PROF_BOUND_INDEX(hash + i, PROF_SUMMARY_ROWS);
		row = bpf_map_lookup_elem(&summary_rows, &idx);
		if (!row)
			return NULL;
		if (row->tgid == tgid)
			return row;
		if (!row->tgid) {
			name_row(row, task, 0);
			row->tgid = tgid;
			return row;
		}
	}
	idx = table + PROF_SUMMARY_ROWS;
	return bpf_map_lookup_elem(&summary_rows, &idx);
}

/* Time on the CPU counts if this CPU saw its start. */
static __always_inline void on_switch_out(struct task_struct *task, bool blocks, bool dead,
					  __u32 cpu, __u64 now)
{
	struct prof_summary_cpu *on = &summary_cpus[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)];
	struct prof_summary_row *row = row_of(cpu, task);
	struct prof_summary_task *t;

	if (row && row->tgid)
		name_row(row, task, now);
	if (row && on->tid == (__u32)task->pid && on->in_ns >= summary_since) {
		hist_add(&row->hists[PROF_SUMMARY_RUN], now - on->in_ns);
		row->involuntary += !blocks;
	}
	t = task_of(task->pid, !dead);
	if (!t)
		return;
	if (dead) {
		free_place(t);
		return;
	}
	t->blocked = blocks;
	t->out_ns = now;
}

static __always_inline __u64 since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}

static __always_inline void on_switch_in(struct task_struct *task, __u32 cpu, __u64 now)
{
	struct prof_summary_cpu *on = &summary_cpus[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)];
	struct prof_summary_row *row = row_of(cpu, task);
	struct prof_summary_task *t = task_of(task->pid, false);
	__u64 from = t && t->out_ns >= summary_since ? t->out_ns : 0;
	__u64 woken = t && t->woken_ns >= summary_since ? t->woken_ns : 0;

	on->tid = task->pid;
	on->in_ns = now;
	if (!row)
		return;
	if (!t || (!woken && (!from || t->blocked))) {
		row->unknown++;
		return;
	}
	/* if the next switch out is hidden, these times must not count again */
	t->out_ns = t->woken_ns = 0;
	if (!from || (t->blocked && woken > from)) {
		if (from)
			hist_add(&row->hists[PROF_SUMMARY_BLOCKED], woken - from);
		from = woken;
	}
	hist_add(&row->hists[PROF_SUMMARY_WAIT], since(now, from));
}

SEC("?tp_btf/sched_switch")
int prof_summary_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 state, cpu = bpf_get_smp_processor_id();
	bool out, in;
	__u64 now;

	if (!recording || cpu >= cfg_summary_cpus)
		return 0;
	if (cfg_select.by_task) {
		select_update(prev);
		select_update(next);
	}
	out = prev->pid && is_target(prev->pid, prev->tgid);
	in = next->pid && is_target(next->pid, next->tgid);
	if (!out && !in) {
		summary_cpus[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)].tid = 0;
		return 0;
	}
	now = clock_now();
	state = cfg_switch_state_arg ? ctx[3] : prev->__state;
	if (out)
		on_switch_out(prev, !ctx[0] && state, state & TASK_DEAD, cpu, now);
	if (in)
		on_switch_in(next, cpu, now);
	else
		summary_cpus[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)].tid = 0;
	count_run(cpu, PROF_PROG_SWITCH, now);
	return 0;
}

/* @is_new: the times of an earlier thread with this id do not count. */
static __always_inline int woken(struct task_struct *task, bool is_new)
{
	struct prof_summary_task *t;
	__u64 now;

	if (!recording)
		return 0;
	if (cfg_select.by_task)
		select_update(task);
	if (!is_target(task->pid, task->tgid))
		return 0;
	now = clock_now();
	t = task_of(task->pid, true);
	if (t && is_new)
		t->out_ns = 0;
	if (t)
		t->woken_ns = now;
	count_run(bpf_get_smp_processor_id(), PROF_PROG_WAKEUP, now);
	return 0;
}

SEC("?tp_btf/sched_waking")
int prof_summary_wakeup(__u64 *ctx)
{
	return woken((void *)ctx[0], false);
}

SEC("?tp_btf/sched_wakeup_new")
int prof_summary_wakeup_new(__u64 *ctx)
{
	return woken((void *)ctx[0], true);
}
