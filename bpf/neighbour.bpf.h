/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * neighbour.bpf.h - the CPUs on which a target is runnable: all of their switches are recorded
 *
 * A target waits for a CPU from its wakeup, or from a switch out while runnable, until its switch in; a migration
 * moves the wait to another CPU. A thread has one slot with the CPU it waits for, and a CPU counts the slots that
 * name it. A program that changes a slot releases the old CPU, so that no order of events leaves a wait. Some
 * machines hide switches from tracers: after WATCH_MAX_NS the CPU's count starts at 0 in a new generation, and
 * slots of older generations do not count.
 *
 * Each CPU also stores its running task, which may have started before the watch. A switch first stores the task
 * and then reads whether its CPU is watched; a wait first makes the CPU watched and then reads the task. So one
 * of the two records that switch.
 *
 * A record reports the begin of a CPU's watch, and a target that got its CPU without a watch. All switches in
 * between are complete.
 */
#ifndef D9_NEIGHBOUR_BPF_H
#define D9_NEIGHBOUR_BPF_H

#include "prof_events.h"
#include "stage.bpf.h"

#define WATCH_MAX_NS 30000000000ULL
#define RUNNING_KNOWN (1ULL << 63)

enum {
	WATCH_TRIES = 16,
};

extern const volatile bool cfg_neighbours;
extern const volatile __u32 cfg_watch_type;
extern const volatile __u32 cfg_watch_event;
extern struct prof_cpu_watch cpu_watches[PROF_CPUS_MAX];

/* By thread: tid << 32 | generation << 16 | CPU + 1, or 0. */
struct wait_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

extern struct wait_map waits SEC(".maps");

/* NULL for a CPU without a place: it is never watched. */
static __always_inline struct prof_cpu_watch *watch_of(__u32 cpu)
{
	return cpu < PROF_CPUS_MAX ? &cpu_watches[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)] : NULL;
}

static __always_inline __u64 *wait_slot(__u32 tid)
{
	__u32 idx = PROF_BOUND_INDEX(tid, PROF_WAIT_SLOTS);

	return bpf_map_lookup_elem(&waits, &idx);
}

static __always_inline __u64 wait_entry(__u32 tid, __u64 waiting, __u32 cpu)
{
	return (__u64)tid << 32 | (waiting >> 32 & 0xffff) << 16 | (cpu + 1);
}

/*
 * @watched: the CPU, not always this one. @running: its task, if known. The caller's @ts is accurate: interrupts are
 * off where a wait begins or ends.
 */
static __noinline int watch_report(__u32 watched, enum prof_cpu_watch_kind kind, __u64 ts,
				   __u64 running)
{
	__u64 pid_tgid =
		running & RUNNING_KNOWN ? running & ~RUNNING_KNOWN : bpf_get_current_pid_tgid();
	struct prof_stage *s = stage_enter(bpf_get_smp_processor_id());
	struct prof_watch_raw *raw;
	struct prof_rec *rec;

	if (!s)
		return 0;
	rec = stage_place(s);
	rec_init(rec, PROF_REC_TRACEPOINT, watched, ts, pid_tgid);
	rec->event = cfg_watch_event;
	rec->raw_len = sizeof(*raw);
	raw = (void *)(rec + 1);
	raw_init(raw, cfg_watch_type, rec->tid);
	*(__u64 *)&raw->watch = kind;
	stage_leave(s, rec, sizeof(*rec) + sizeof(*raw));
	return 0;
}

/* Ends the wait of a slot. Returns whether it was the CPU's last wait. */
static __always_inline bool wait_release(__u64 entry)
{
	struct prof_cpu_watch *w = watch_of((entry & 0xffff) - 1);
	__u64 old;
	__u32 i;

	if (!entry || !w)
		return false;
	for (i = 0; i < WATCH_TRIES; i++) {
		old = w->waiting;
		if ((old >> 32 & 0xffff) != (entry >> 16 & 0xffff) || !(__u32)old)
			return false;
		if (__sync_val_compare_and_swap(&w->waiting, old, old - 1) == old)
			return (__u32)old == 1;
	}
	return false;
}

/* @report: false if a switch that is being recorded shows which task runs on that CPU. */
static __always_inline void wait_begin(__u32 tid, __u32 cpu, bool report)
{
	struct prof_cpu_watch *w = watch_of(cpu);
	__u64 *slot = wait_slot(tid), old, was, running, ts;

	if (!w || !slot || *slot == wait_entry(tid, w->waiting, cpu))
		return;
	old = __sync_fetch_and_add(&w->waiting, 1);
	was = __sync_lock_test_and_set(slot, wait_entry(tid, old, cpu));
	/* the slot of another thread with the same hash, whose wait no longer counts */
	if (wait_release(was) && was >> 32 != tid)
		watch_report((was & 0xffff) - 1, PROF_WATCH_ENDED, clock_now(), 0);
	if ((__u32)old)
		return;
	ts = clock_now();
	w->since = ts;
	running = w->running;
	/* the switch out of a target is recorded in any case */
	if (report && !((running & RUNNING_KNOWN) &&
			is_target((__u32)running, (running & ~RUNNING_KNOWN) >> 32)))
		watch_report(cpu,
			     running & RUNNING_KNOWN ? PROF_WATCH_BEGUN : PROF_WATCH_BEGUN_UNSEEN,
			     ts, running);
}

static __always_inline void wait_end(__u32 tid)
{
	__u64 *slot = wait_slot(tid), entry;

	if (!slot)
		return;
	entry = *slot;
	if (entry >> 32 == tid && __sync_val_compare_and_swap(slot, entry, 0) == entry)
		wait_release(entry);
}

static __always_inline bool is_on_cpu(const struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) ? task->on_cpu :
						     task == bpf_get_current_task_btf();
}

static __always_inline __s32 task_cpu(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return task->cpu;
}

/* A target is about to be queued. If it has not left its CPU yet, it remains there. */
static __always_inline void neighbours_wakeup(const struct task_struct *task)
{
	if (is_target(task->pid, task->tgid) && !(task->on_rq && is_on_cpu(task)))
		wait_begin(task->pid, task_cpu(task), true);
}

/* It has been queued. */
static __always_inline void neighbours_woken(const struct task_struct *task)
{
	if (is_target(task->pid, task->tgid) && !is_on_cpu(task))
		wait_begin(task->pid, task_cpu(task), true);
}

static __always_inline void neighbours_migrate(const struct task_struct *task, __u32 to)
{
	const __u64 *slot = wait_slot(task->pid);

	if (slot && *slot >> 32 == (__u32)task->pid)
		wait_begin(task->pid, to, true);
}

/* @next runs on this CPU from now on. Call it before reading the time of the switch. */
static __always_inline void neighbours_set_running(__u32 cpu, const struct task_struct *next)
{
	struct prof_cpu_watch *w = watch_of(cpu);

	if (w)
		__sync_lock_test_and_set(&w->running, RUNNING_KNOWN | (__u64)next->tgid << 32 |
							      (__u32)next->pid);
}

/* Updates the waits of both tasks. Returns whether the CPU was watched until now. */
static __always_inline bool neighbours_switch(__u32 cpu, const struct task_struct *prev,
					      bool prev_runnable, const struct task_struct *next)
{
	const struct prof_cpu_watch *w = watch_of(cpu);
	bool watched = w && (__u32)w->waiting;

	if (is_target(next->pid, next->tgid))
		wait_end(next->pid);
	if (is_target(prev->pid, prev->tgid)) {
		if (prev_runnable)
			wait_begin(prev->pid, cpu, false);
		else
			wait_end(prev->pid);
	} else if (!watched && is_target(next->pid, next->tgid)) {
		watch_report(cpu, PROF_WATCH_ENDED, clock_now(), 0);
	}
	return watched;
}

/* A switch of a CPU that was watched has been recorded. */
static __always_inline void neighbours_end_old_watch(__u32 cpu, __u64 ts)
{
	struct prof_cpu_watch *w = watch_of(cpu);
	__u64 old;

	if (!w || ts < w->since || ts - w->since < WATCH_MAX_NS)
		return;
	old = w->waiting;
	if ((__u32)old &&
	    __sync_val_compare_and_swap(&w->waiting, old, ((old >> 32) + 1) << 32) == old)
		watch_report(cpu, PROF_WATCH_ENDED, ts, 0);
}

#endif
