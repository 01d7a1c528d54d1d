// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * offcpu.bpf.c - one record per off-CPU interval of some length: --min-block, --max-block
 *
 * The duration is known at the switch in, but the stack can only be walked at the switch out. So the record
 * is started at the switch out and kept in a map by thread. The wakeup adds the waker, and the switch in writes
 * the record if its duration is wanted. When recording ends or pauses, an iterator writes the open intervals.
 *
 * These programs replace the programs of sched.bpf.c. A thread keeps its place in the map until it dies: a wakeup
 * before the thread has left its CPU is stored there, too. A thread's switches alternate and its wakeups come
 * before the switch in, so there is one writer at a time. The exception is a wakeup during the switch out:
 * the two times show which was first.
 */
#define SCRATCH off_cpu_scratch
#include "context.bpf.h"
#include "scratch.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"
#include "switch.bpf.h"

extern const volatile __u32 cfg_off_type;
extern const volatile __u32 cfg_off_event;
extern const volatile __u64 cfg_off_min_ns;
extern const volatile __u64 cfg_off_max_ns;

/* By thread. The loader resizes it if it is needed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_off_held);
} off_held SEC(".maps");

/*
 * By thread: records with a copied user stack, which the recorder unwinds. Few: only processes that are milliseconds
 * old need a copy. If there is no room, the record keeps the leaf only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[PROF_REC_MAX]);
} off_copies SEC(".maps");

/* An empty record. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_off_held);
} off_empty SEC(".maps");

/* A record in off_held: its user stack was walked. */
enum {
	HELD_MAX = sizeof(struct prof_off_held) - offsetof(struct prof_off_held, rec),
};

/* Start of recording: intervals that began before are skipped. */
volatile __u64 off_cpu_since = 0;

/* A copied stack is too long for off_held: keep its leaf. */
static __always_inline void keep_leaf(struct prof_rec *rec, struct task_struct *task, __u64 *frames)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	frames[0] = PROF_UNWIND_RAW | PTREGS_IP(regs);
	rec->ustack_cnt = 1;
	rec->flags = (rec->flags & ~PROF_REC_COPIED) | PROF_REC_WALKED;
	rec->user_end = PROF_END_NO_LIST;
}

static __always_inline void put_stacks(void *ctx, struct prof_rec *rec, struct task_struct *task,
				       __u64 *frames, bool orc)
{
	bool user = cfg_switch_stacks & PROF_STACKS_USER && has_user_stack(task);

	rec->flags = PROF_REC_STACKS;
	if (cfg_switch_stacks & PROF_STACKS_KERNEL)
		rec->kstack_cnt = kernel_stack(ctx, rec, frames, ORC_OF_SWITCH, orc);
	frames += kstack_words(rec);
	if (user)
		user_stack_of_switch(rec, (void *)frames);
}

static __always_inline __u32 rec_size(const struct prof_rec *rec)
{
	return sizeof(*rec) + sizeof(struct prof_off_raw) +
	       8 * (kstack_words(rec) + ustack_words(rec));
}

/* Moves the copied stack to off_copies. Returns whether there was room. */
static __always_inline bool keep_copy(struct prof_rec *rec, struct task_struct *task)
{
	__u32 tid = rec->tid;
	bool kept = !bpf_map_update_elem(&off_copies, &tid, rec, BPF_ANY);
	__u64 *frames = (void *)(rec + 1) + sizeof(struct prof_off_raw);

	keep_leaf(rec, task, frames + kstack_words(rec));
	return kept;
}

/* The place of a thread, made at its first switch out; NULL: the map is full. */
static __always_inline struct prof_off_held *place_of(__u32 tid)
{
	struct prof_off_held *held = bpf_map_lookup_elem(&off_held, &tid), *empty;
	__u32 zero = 0;

	if (held)
		return held;
	empty = bpf_map_lookup_elem(&off_empty, &zero);
	if (!empty || bpf_map_update_elem(&off_held, &tid, empty, BPF_NOEXIST))
		return NULL;
	return bpf_map_lookup_elem(&off_held, &tid);
}

static __always_inline void put_comm(__u8 *to, const char *comm)
{
	((__u64 *)to)[0] = ((const __u64 *)comm)[0];
	((__u64 *)to)[1] = ((const __u64 *)comm)[1];
}

static __always_inline void on_switch_out(void *ctx, struct task_struct *task, __u64 state,
					  __u32 cpu, bool orc)
{
	__u64 start = clock_now();
	struct prof_rec *rec = scratch_get();
	struct prof_off_held *held = place_of(task->pid);
	struct prof_off_raw *raw;

	if (!held || !rec) {
		count_produced(cpu, PROF_CLASS_TRACEPOINT);
		count_lost(cpu, PROF_CLASS_TRACEPOINT, 1, start, start);
		return;
	}
	rec_init(rec, PROF_REC_TRACEPOINT, cpu, start, (__u64)task->tgid << 32 | (__u32)task->pid);
	rec->event = cfg_off_event;
	rec->raw_len = sizeof(*raw);
	raw = (void *)(rec + 1);
	*raw = (struct prof_off_raw){ .prev_state = state, .from_cpu = cpu };
	raw_init(raw, cfg_off_type, task->pid);
	put_comm(raw->comm, task->comm);
	if (cfg_switch_stacks && task->tgid != cfg_self_tgid)
		put_stacks(ctx, rec, task, (void *)(raw + 1), orc);
	held->copied = rec->flags & PROF_REC_COPIED && keep_copy(rec, task);
	bpf_probe_read_kernel(&held->rec, PROF_BOUND_SIZE(rec_size(rec), HELD_MAX), rec);
	held->out_ns = start;
	count_run(cpu, PROF_PROG_SWITCH, start);
}

static __always_inline bool is_wanted(__u64 from, __u64 ns)
{
	return from >= off_cpu_since && ns >= cfg_off_min_ns &&
	       (!cfg_off_max_ns || ns <= cfg_off_max_ns);
}

/*
 * Whether the stored wakeup ended the block. A wakeup before the switch out did if it came during the switch: from
 * another CPU, and after the decision to block. An older one ended an earlier attempt, and the right one is missing.
 */
static __always_inline bool is_woken(const struct prof_off_held *held, __u64 from)
{
	if (held->woken_ns > from)
		return true;
	return held->woken_ns && held->waker_cpu != held->raw.from_cpu &&
	       from - held->woken_ns <= PROF_BLOCKING_NS;
}

/* If the thread was not blocked, wakeups do not count. */
static __always_inline void put_times(struct prof_off_raw *raw, const struct prof_off_held *held,
				      __u64 from, __u64 ns)
{
	raw->off_ns = ns;
	if (!raw->prev_state || raw->prev_state == TASK_REPORT_MAX)
		return;
	raw->blocked_ns = ns;
	if (!is_woken(held, from))
		return;
	raw->blocked_ns = held->woken_ns > from ? held->woken_ns - from : 0;
	raw->woken = 1;
	raw->waker_pid = held->waker_pid;
	raw->context = held->context;
	put_comm(raw->waker_comm, (const char *)held->waker_comm);
}

/* Writes the record of a thread, with the copied stack if there is one. */
static __always_inline void output_held(struct prof_off_held *held)
{
	__u32 tid = held->rec.tid;
	struct prof_rec *rec = held->copied ? bpf_map_lookup_elem(&off_copies, &tid) : NULL;

	if (!rec) {
		rec_output(&held->rec, rec_size(&held->rec), HELD_MAX, PROF_CLASS_TRACEPOINT);
		return;
	}
	rec->ts = held->rec.ts;
	rec->cpu = held->rec.cpu;
	*(struct prof_off_raw *)(rec + 1) = held->raw;
	rec_output(rec, rec_size(rec), PROF_REC_MAX, PROF_CLASS_TRACEPOINT);
}

static __always_inline void forget_copy(struct prof_off_held *held)
{
	__u32 tid = held->rec.tid;

	if (held->copied)
		bpf_map_delete_elem(&off_copies, &tid);
	held->copied = 0;
}

/* @unfinished: recording ends while the thread is still off its CPU. */
static __always_inline void end_interval(struct prof_off_held *held, __u32 cpu, bool wanted,
					 bool unfinished)
{
	__u64 from = held->out_ns, now = clock_now();

	held->out_ns = 0;
	if (from && wanted && is_wanted(from, now - from)) {
		held->rec.ts = now;
		held->rec.cpu = cpu;
		held->raw.unfinished = unfinished;
		put_times(&held->raw, held, from, now - from);
		output_held(held);
	}
	forget_copy(held);
	held->woken_ns = 0;
}

/* A thread that is no longer a target still has its place. */
static __always_inline void on_switch_in(struct task_struct *task, __u32 cpu)
{
	bool target = is_target(task->pid, task->tgid);
	struct prof_off_held *held;
	__u32 tid = task->pid;

	if (!tid || (!target && !cfg_select.by_task))
		return;
	held = bpf_map_lookup_elem(&off_held, &tid);
	if (held)
		end_interval(held, cpu, target && recording, false);
}

static __always_inline int on_switch(__u64 *ctx, bool orc)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 state = cfg_switch_state_arg ? ctx[3] : prev->__state;
	__u32 tid = prev->pid, cpu = bpf_get_smp_processor_id();

	if (recording && cfg_select.by_task) {
		select_update(prev);
		select_update(next);
	}
	on_switch_in(next, cpu);
	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&off_held, &tid);
		bpf_map_delete_elem(&off_copies, &tid);
		forget_dead(prev, state);
	} else if (recording && tid && is_cpu_wanted(cpu) && is_target(tid, prev->tgid)) {
		on_switch_out(ctx, prev, report_state(ctx[0], state, prev->exit_state), cpu, orc);
	}
	return 0;
}

SEC("?tp_btf/sched_switch")
int prof_off_cpu_switch(__u64 *ctx)
{
	return on_switch(ctx, false);
}

/* The same, with kernel stacks by ORC. */
SEC("?tp_btf/sched_switch")
int prof_off_cpu_switch_orc(__u64 *ctx)
{
	return on_switch(ctx, true);
}

/* While the thread is off its CPU the first wakeup counts, before that the last one. */
SEC("?tp_btf/sched_waking")
int prof_off_cpu_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 tid = task->pid, cpu = bpf_get_smp_processor_id();
	struct prof_off_held *held;
	__u64 now;

	if (!recording)
		return 0;
	if (cfg_select.by_task)
		select_update(task);
	if (!is_target(tid, task->tgid))
		return 0;
	held = bpf_map_lookup_elem(&off_held, &tid);
	if (!held || (held->out_ns && held->woken_ns >= held->out_ns))
		return 0;
	now = clock_now();
	held->waker_pid = bpf_get_current_pid_tgid();
	held->waker_cpu = cpu;
	held->context = context_now(cpu);
	bpf_get_current_comm(held->waker_comm, sizeof(held->waker_comm));
	held->woken_ns = now;
	count_run(cpu, PROF_PROG_WAKEUP, now);
	return 0;
}

/* Runs after recording ended or paused: writes the open intervals. */
SEC("?iter/task")
int prof_off_cpu_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct prof_off_held *held;
	__u32 tid;

	if (!task || recording)
		return 0;
	tid = task->pid;
	held = bpf_map_lookup_elem(&off_held, &tid);
	if (!held)
		return 0;
	/* the thread sleeps, so the wakeup came before it left its CPU */
	if (task->__state && task->__state != TASK_WAKING)
		held->woken_ns = 0;
	end_interval(held, bpf_get_smp_processor_id(), is_target(tid, task->tgid), true);
	return 0;
}
