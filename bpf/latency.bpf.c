// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * latency.bpf.c - who was blocked, or waited for a CPU, for too long: --trigger-latency
 *
 * Beside the programs that record, and loaded only when asked for. A thread's times lie with the thread, so
 * that they go when it does. They are kept while recording is paused, too: else what spans a pause would
 * look like a wait.
 */
#include "prof.bpf.h"

/* As the kernel has them: BPF_LOCAL_STORAGE_GET_F_CREATE, BPF_F_NO_PREALLOC. */
enum { LATENCY_CREATE = 1, LATENCY_NO_PREALLOC = 1 };

struct latency_times {
	__u64 blocked_ns; /* since when; 0: it is not, or was when nobody looked */
	__u64 ready_ns; /* likewise: ready to run, without a CPU */
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
 * The recorder, its helper processes and their children. They wait for work most of the time. Other children of it
 * are not its own: some were there before the exec.
 */
static __always_inline bool is_recorder(const struct task_struct *task)
{
	return (__u32)task->tgid == cfg_self_tgid || is_helper(task->tgid) ||
	       is_helper(task->real_parent->tgid);
}

static __always_inline bool is_looked_at(const struct task_struct *task)
{
	return task->pid && is_target(task->pid, task->tgid) && !is_recorder(task);
}

/* One at a time: the loader takes it, and makes room for the next. */
static __always_inline void hit(enum prof_latency_kind kind, const struct task_struct *task,
				__u64 ts, __u64 ns)
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

static __always_inline void leaves(struct task_struct *task, bool runnable, __u64 now)
{
	struct latency_times *t = bpf_task_storage_get(&latency_times, task, 0, LATENCY_CREATE);

	if (!t)
		return;
	t->blocked_ns = runnable ? 0 : now;
	t->ready_ns = runnable ? now : 0;
}

static __always_inline void comes(struct task_struct *task, __u64 now)
{
	struct latency_times *t = bpf_task_storage_get(&latency_times, task, 0, 0);
	__u64 blocked, ready;

	if (!t)
		return;
	blocked = t->blocked_ns;
	ready = t->ready_ns;
	t->blocked_ns = t->ready_ns = 0;
	if (cfg_latency_ready_ns && ready && now - ready > cfg_latency_ready_ns)
		hit(PROF_LATENCY_RUNQ, task, now, now - ready);
	if (!ready)
		ready = now;
	if (cfg_latency_blocked_ns && blocked && ready - blocked > cfg_latency_blocked_ns)
		hit(PROF_LATENCY_OFFCPU, task, now, ready - blocked);
}

SEC("?tp_btf/sched_switch")
int prof_latency_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 state = cfg_switch_state_arg ? ctx[3] : prev->__state;
	bool preempt = ctx[0];
	__u64 now = clock_now();

	if (is_looked_at(prev))
		leaves(prev, preempt || !state, now);
	if (is_looked_at(next))
		comes(next, now);
	return 0;
}

/* One that has not left its CPU yet was not blocked, either. */
SEC("?tp_btf/sched_waking")
int prof_latency_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct latency_times *t;

	if (!is_looked_at(task))
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

	if (!is_looked_at(task))
		return 0;
	t = bpf_task_storage_get(&latency_times, task, 0, LATENCY_CREATE);
	if (t)
		t->ready_ns = clock_now();
	return 0;
}
