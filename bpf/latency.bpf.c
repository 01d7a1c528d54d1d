// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * latency.bpf.c - finds threads that were blocked or runnable for too long: --trigger-latency
 *
 * Loaded next to the programs that record, if asked for. The times are in task storage, which is freed with the
 * task. They are updated while recording is paused, too: otherwise an interval across a pause would be wrong.
 */
#include "prof.bpf.h"

/* The kernel's BPF_LOCAL_STORAGE_GET_F_CREATE and BPF_F_NO_PREALLOC. */
enum { LATENCY_CREATE = 1, LATENCY_NO_PREALLOC = 1 };

struct latency_times {
	__u64 blocked_ns; /* start of the block; 0: not blocked, or unknown */
	__u64 ready_ns; /* start of the time runnable without a CPU, likewise */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, LATENCY_NO_PREALLOC);
	__type(key, int);
	__type(value, struct latency_times);
} latency_times SEC(".maps");

const volatile __u64 cfg_latency_blocked_ns = 0;
const volatile __u64 cfg_latency_ready_ns = 0;
const volatile __u32 cfg_latency_helpers[PROF_HELPERS_MAX] = {}; /* tgids; 0: no more */

struct prof_latency_hit latency_hit;

static __always_inline bool is_helper(__u32 tgid)
{
	int i;

	for (i = 0; i < PROF_HELPERS_MAX; i++)
		if (tgid && tgid == cfg_latency_helpers[i])
			return true;
	return false;
}

/*
 * The recorder, its helper processes and their children, which are blocked most of the time. Other children of the
 * recorder are not excluded: some existed before its exec.
 */
static __always_inline bool is_recorder(const struct task_struct *task)
{
	return (__u32)task->tgid == cfg_self_tgid || is_helper(task->tgid) ||
	       is_helper(task->real_parent->tgid);
}

static __always_inline bool is_watched(const struct task_struct *task)
{
	return task->pid && is_target(task->pid, task->tgid) && !is_recorder(task);
}

/* One hit at a time: the recorder reads it and resets the state. */
static __always_inline void report_latency(enum prof_latency_kind kind,
					   const struct task_struct *task, __u64 ts, __u64 ns)
{
	if (!recording || latency_hit.state ||
	    __sync_val_compare_and_swap(&latency_hit.state, PROF_LATENCY_NONE,
					PROF_LATENCY_WRITING))
		return;
	latency_hit.kind = kind;
	latency_hit.tid = task->pid;
	latency_hit.tgid = task->tgid;
	latency_hit.ts = ts;
	latency_hit.ns = ns;
	__sync_val_compare_and_swap(&latency_hit.state, PROF_LATENCY_WRITING, PROF_LATENCY_THERE);
}

static __always_inline void on_switch_out(struct task_struct *task, bool runnable, __u64 now)
{
	struct latency_times *t = bpf_task_storage_get(&latency_times, task, 0, LATENCY_CREATE);

	if (!t)
		return;
	t->blocked_ns = runnable ? 0 : now;
	t->ready_ns = runnable ? now : 0;
}

static __always_inline void on_switch_in(struct task_struct *task, __u64 now)
{
	struct latency_times *t = bpf_task_storage_get(&latency_times, task, 0, 0);
	__u64 blocked, ready;

	if (!t)
		return;
	blocked = t->blocked_ns;
	ready = t->ready_ns;
	t->blocked_ns = t->ready_ns = 0;
	if (cfg_latency_ready_ns && ready && now - ready > cfg_latency_ready_ns)
		report_latency(PROF_LATENCY_RUNQ, task, now, now - ready);
	if (!ready)
		ready = now;
	if (cfg_latency_blocked_ns && blocked && ready - blocked > cfg_latency_blocked_ns)
		report_latency(PROF_LATENCY_OFFCPU, task, now, ready - blocked);
}

SEC("?tp_btf/sched_switch")
int prof_latency_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 state = cfg_switch_state_arg ? ctx[3] : prev->__state;
	bool preempt = ctx[0];
	__u64 now = clock_now();

	if (is_watched(prev))
		on_switch_out(prev, preempt || !state, now);
	if (is_watched(next))
		on_switch_in(next, now);
	return 0;
}

/* A thread that has not left its CPU yet was not blocked. */
SEC("?tp_btf/sched_waking")
int prof_latency_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct latency_times *t;

	if (!is_watched(task))
		return 0;
	t = bpf_task_storage_get(&latency_times, task, 0, 0);
	if (t && t->blocked_ns && !t->ready_ns)
		t->ready_ns = clock_now();
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int prof_latency_new(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct latency_times *t;

	if (!is_watched(task))
		return 0;
	t = bpf_task_storage_get(&latency_times, task, 0, LATENCY_CREATE);
	if (t)
		t->ready_ns = clock_now();
	return 0;
}
