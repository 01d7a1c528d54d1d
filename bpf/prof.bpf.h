/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * prof.bpf.h - shared by all programs: configuration, targets, counters, output to the rings
 *
 * Configuration is rodata, fixed before load, so the verifier removes disabled code. All mutable state is in .bss,
 * which the loader maps. The loader must not make map system calls while recording, because tracepoint programs do
 * not run on a CPU that is inside such a call.
 */
#ifndef D9_PROF_BPF_H
#define D9_PROF_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "prof_abi.h"
#include "prof_bound.h"
#include "prof_select.h"
#include "words.bpf.h"

enum { PF_KTHREAD = 0x00200000, TASK_DEAD = 0x80, RING_AVAIL_DATA = 0 };

extern const volatile bool cfg_system_wide;
extern const volatile bool cfg_follow;
extern const volatile struct prof_select cfg_select;
extern const volatile bool cfg_boot_clock;
extern const volatile __u32 cfg_ring_cnt;
extern const volatile __u32 cfg_event_bytes;
extern const volatile __u32 cfg_wake_bytes;
extern const volatile __u32 cfg_self_tgid;
extern const volatile __u32 cfg_switch_stacks;
extern const volatile __u32 cfg_wakeup_stacks;
extern const volatile __u32 cfg_event_stacks;
extern const volatile __u32 cfg_call_graph;
extern const volatile __u32 cfg_max_stack;
extern const volatile __u32 cfg_unwind_procs;
extern const volatile __u32 cfg_unwind_knowns;
extern const volatile __u64 cfg_code_mask; /* bits of a return address without its signature */
extern const volatile bool cfg_switch_state_arg;
extern const volatile struct prof_switch_layout cfg_switch;
extern const volatile struct prof_wakeup_layout cfg_wakeup;
extern const volatile struct prof_wakeup_layout cfg_wakeup_new;
extern const volatile struct prof_migrate_layout cfg_migrate;

extern volatile bool recording;
extern volatile bool stacks_off; /* no stacks of switches and wakeups, to reduce the overhead */
extern __u64 target_tids[PROF_TASK_WORDS];
extern __u64 target_tgids[PROF_TASK_WORDS];
extern struct prof_cpu_stat cpu_stats[PROF_CPUS_MAX];

enum {
	STACK_GROUPS = PROF_STACK_MAX / WORDS_GROUP + 1,
	STACK_PARTS = STACK_GROUPS / 2,
	STACK_PART = 2 * WORDS_GROUP,
};

/* A walk fills in one part at a time. */
struct stack_part {
	__u64 at[STACK_PART];
};

/* As an argument of global functions: the verifier checks that there is room for all frames. */
struct stack_frames {
	union {
		__u64 at[STACK_PARTS * STACK_PART];
		struct words_group groups[STACK_GROUPS];
		struct stack_part parts[STACK_PARTS];
	};
};

/* The clock of the trace. */
static __always_inline __u64 clock_now(void)
{
	return cfg_boot_clock ? bpf_ktime_get_boot_ns() : bpf_ktime_get_ns();
}

struct ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct ring_maps {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, PROF_RINGS_MAX);
	__type(key, __u32);
	__array(values, struct ring_map);
};

extern struct ring_maps rings SEC(".maps");

/* By task id / 64; used with cfg_select.by_task only. */
struct select_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_select_word);
};

extern struct select_map selects SEC(".maps");

static __always_inline bool task_bit(const __u64 *bits, __u32 id)
{
	return bits[PROF_BOUND_INDEX(id >> 6, PROF_TASK_WORDS)] >> (id & 63) & 1;
}

static __always_inline void task_bit_set(__u64 *bits, __u32 id)
{
	__sync_fetch_and_or(&bits[PROF_BOUND_INDEX(id >> 6, PROF_TASK_WORDS)], 1ULL << (id & 63));
}

static __always_inline void task_bit_clear(__u64 *bits, __u32 id)
{
	__sync_fetch_and_and(&bits[PROF_BOUND_INDEX(id >> 6, PROF_TASK_WORDS)],
			     ~(1ULL << (id & 63)));
}

static __always_inline struct prof_select_word *select_word(__u32 id)
{
	__u32 idx = PROF_BOUND_INDEX(id >> 6, PROF_TASK_WORDS);

	return bpf_map_lookup_elem(&selects, &idx);
}

/* Whether the command line, or a fork of a target, makes the task a candidate. */
static __always_inline bool is_requested(__u32 tid, __u32 tgid)
{
	return cfg_system_wide || task_bit(target_tids, tid) || task_bit(target_tgids, tgid);
}

/* The result of the last select_update() of the thread. */
static __always_inline bool is_followed(__u32 tid)
{
	const struct prof_select_word *w = select_word(tid);

	return w && w->followed >> (tid & 63) & 1;
}

static __always_inline bool is_target(__u32 tid, __u32 tgid)
{
	return cfg_select.by_task ? is_followed(tid) : is_requested(tid, tgid);
}

/* Whether events of a CPU are wanted. */
static __always_inline bool is_cpu_wanted(__u32 cpu)
{
	if (!cfg_select.by_cpu)
		return true;
	if (cpu >= PROF_CPUS_MAX)
		return false;
	return cfg_select.cpus[PROF_BOUND_INDEX(cpu >> 6, PROF_CPUS_MAX / 64)] >> (cpu & 63) & 1;
}

static __always_inline struct prof_cpu_stat *cpu_stat(__u32 cpu)
{
	return &cpu_stats[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)];
}

static __always_inline __u32 ring_number(__u32 cpu)
{
	return cpu < cfg_ring_cnt ? cpu : cpu % cfg_ring_cnt;
}

/* The ring of a CPU; NULL only if the recorder made none. */
static __always_inline void *ring_of(__u32 cpu)
{
	__u32 idx = ring_number(cpu);

	return bpf_map_lookup_elem(&rings, &idx);
}

static __always_inline void count_produced(__u32 cpu, enum prof_class class)
{
	__sync_fetch_and_add(&cpu_stat(cpu)->classes[class].produced, 1);
}

static __always_inline void count_lost(__u32 cpu, enum prof_class class, __u32 cnt, __u64 first,
				       __u64 last)
{
	struct prof_class_stat *s = &cpu_stat(cpu)->classes[class];

	__sync_fetch_and_add(&s->lost, cnt);
	if (!s->lost_first)
		s->lost_first = first;
	s->lost_last = last;
}

/* A tracepoint's record that could not be read counts as produced and lost. */
static __always_inline void count_read_failed(__u32 cpu, __u64 ts)
{
	struct prof_cpu_stat *s = cpu_stat(cpu);

	count_produced(cpu, PROF_CLASS_TRACEPOINT);
	__sync_fetch_and_add(&s->read_failed, 1);
	if (!s->read_failed_first)
		s->read_failed_first = ts;
	s->read_failed_last = ts;
}

/*
 * Measures each PROF_TIMED_RUNS-th run that wrote a record: a clock read costs more than all other bookkeeping.
 * @start: start of the run.
 */
static __always_inline void count_run(__u32 cpu, enum prof_prog prog, __u64 start)
{
	struct prof_prog_stat *s = &cpu_stat(cpu)->progs[prog];

	if (s->runs++ % PROF_TIMED_RUNS == 0) {
		s->timed_ns += clock_now() - start;
		s->timed_runs++;
	}
}

static __always_inline void rec_init(struct prof_rec *rec, enum prof_rec_kind kind, __u32 cpu,
				     __u64 ts, __u64 pid_tgid)
{
	rec->kind = kind;
	rec->flags = 0;
	rec->cpu = cpu;
	rec->ts = ts;
	rec->pid = pid_tgid >> 32;
	rec->tid = pid_tgid;
	rec->kstack_cnt = 0;
	rec->ustack_cnt = 0;
	rec->context = 0;
}

/* Fills in the common fields of a tracepoint record that a program can know. */
static __always_inline void raw_init(void *raw, __u16 type, __u32 tid)
{
	*(__u64 *)raw = type | (__u64)tid << 32;
}

/* Whether an event of that size may enter: the last part of a ring is reserved for samples. */
static __always_inline bool ring_has_room(__u64 fill, __u32 size)
{
	return fill + size <= cfg_event_bytes;
}

/*
 * Flags that wake the recorder once each time the ring fills up, since it sleeps long at low rates. A wakeup for each
 * record would cost many times what the record does.
 */
static __always_inline __u64 wakeup_of(__u32 cpu, __u64 fill)
{
	struct prof_cpu_stat *s = cpu_stat(ring_number(cpu));
	bool filled = fill > cfg_wake_bytes;

	if (filled == s->woken)
		return BPF_RB_NO_WAKEUP;
	s->woken = filled;
	return filled ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/*
 * Writes to the ring, and returns whether that failed: no room, and no wakeup. @fill: bytes in the ring. @max: a
 * constant, at least @size.
 */
static __always_inline bool ring_output(void *ring, __u32 cpu, __u64 fill, void *data, __u32 size,
					__u32 max)
{
	__u64 wakeup = wakeup_of(cpu, fill + size);

	if (!bpf_ringbuf_output(ring, data, PROF_BOUND_SIZE(size, max), wakeup))
		return false;
	cpu_stat(ring_number(cpu))->woken = 0;
	return true;
}

/* @max: size of the record's memory, a constant. */
static __always_inline void rec_output(struct prof_rec *rec, __u32 size, __u32 max,
				       enum prof_class class)
{
	void *ring = ring_of(rec->cpu);
	__u64 fill = ring ? bpf_ringbuf_query(ring, RING_AVAIL_DATA) : 0;

	count_produced(rec->cpu, class);
	rec->size = size;
	if (!ring || (class == PROF_CLASS_TRACEPOINT && !ring_has_room(fill, size)) ||
	    ring_output(ring, rec->cpu, fill, rec, size, max))
		count_lost(rec->cpu, class, 1, rec->ts, rec->ts);
}

#endif
