/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * stage.bpf.h - collects a CPU's hot events before they enter its ring (prof_abi.h: struct prof_stage)
 *
 * A reservation in a ring costs more than everything else done for a switch. So records are written in place,
 * one after the other, in mapped memory (Linux 5.5), and enter the ring 4 KiB at a time.
 *
 * A program holds the busy word from before it reads the clock, so that times only grow. A program of another
 * event that interrupts it finds the word set and counts its event as lost: only wakeups of the current task
 * run with interrupts on. Programs run to their end on one CPU with preemption off: a
 * nested program ends before the outer one continues, so plain loads and stores of the word suffice. With
 * PREEMPT_RT the kernel may preempt programs, but not migrate them: there the word is exchanged.
 *
 * If the recorder is late, stacks are dropped first, then events, samples last: the first part of a ring takes
 * everything, the next part events without stacks, the last part samples only. The fill level is read once for
 * each batch.
 *
 * The recorder reads on other CPUs. x86 keeps stores in order, and barrier() stops the compiler from moving
 * them. Elsewhere positions are published by atomic exchanges, which order the accesses before and after them.
 * BPF has no weaker store that suffices before Linux 6.15.
 */
#ifndef D9_STAGE_BPF_H
#define D9_STAGE_BPF_H

#include "prof.bpf.h"

struct stage_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_stage);
};

extern struct stage_map stages SEC(".maps");
extern const volatile bool cfg_preemptible;
extern const volatile __u32 cfg_batch_bytes;
extern const volatile __u32 cfg_stack_bytes;

#ifndef barrier
#define barrier() asm volatile("" ::: "memory")
#endif
#define STAGE_PLAIN(word) (*(volatile __typeof__(word) *)&(word))

/* The stage for one record, until stage_leave(); NULL: the event was counted as nested. */
static __always_inline struct prof_stage *stage_enter(__u32 cpu)
{
	struct prof_stage *s = bpf_map_lookup_elem(&stages, &cpu);

	/* there is one for each possible CPU */
	if (!s)
		return NULL;
	if (cfg_preemptible ? __sync_lock_test_and_set(&s->busy, 1) : STAGE_PLAIN(s->busy)) {
		__sync_fetch_and_add(&s->nested, 1);
		return NULL;
	}
	STAGE_PLAIN(s->busy) = 1;
	s->produced++;
	return s;
}

/* An offset in its data, a multiple of 8. */
static __always_inline __u64 stage_offset(__u64 at)
{
	return PROF_BOUND_INDEX(at, PROF_STAGE_BYTES) & -8ULL;
}

/* The place of the next record: PROF_STAGE_REC_MAX bytes. */
static __always_inline struct prof_rec *stage_place(struct prof_stage *s)
{
	return (void *)s->data + stage_offset(s->head);
}

static __always_inline void stage_publish(struct prof_stage *s, __u64 head)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	STAGE_PLAIN(s->head) = head;
	barrier();
#else
	__sync_lock_test_and_set(&s->head, head);
#endif
}

/* Writes what the recorder has not read to the ring, or counts it as lost. @head: its end. */
static __noinline int stage_pass_on(struct prof_stage *s, __u32 cpu, __u64 head)
{
	__u64 next = PROF_STAGE_AT(PROF_STAGE_SEQ(head) + 1, 0, 0);
	__u64 taken = __sync_lock_test_and_set(&s->taken, next);
	__u32 from = stage_offset(taken), len = PROF_STAGE_POS(head) - from;
	__u32 cnt = PROF_STAGE_CNT(head) - PROF_STAGE_CNT(taken);
	struct prof_batch *batch = (void *)&s->batch + from;
	void *ring = ring_of(cpu);
	__u64 fill = ring ? bpf_ringbuf_query(ring, RING_AVAIL_DATA) : 0;

	s->drop_stacks = fill > cfg_stack_bytes;
	*batch = (struct prof_batch){
		.size = sizeof(*batch),
		.kind = PROF_REC_BATCH,
		.cpu = cpu,
		.cnt = cnt,
		.seq = PROF_STAGE_SEQ(head),
	};
	if (!ring || !ring_has_room(fill, sizeof(*batch) + len) ||
	    ring_output(ring, cpu, fill, batch, sizeof(*batch) + len,
			sizeof(*batch) + PROF_STAGE_BYTES + PROF_STAGE_REC_MAX)) {
		count_lost(cpu, PROF_CLASS_TRACEPOINT, cnt, ((struct prof_rec *)(batch + 1))->ts,
			   s->last_ts);
		__sync_fetch_and_add(&s->repeat_epoch, 1);
	}
	stage_publish(s, next);
	return 0;
}

/* @size: of the record, a multiple of 8. */
static __always_inline void stage_leave(struct prof_stage *s, struct prof_rec *rec, __u32 size)
{
	__u64 head = s->head + PROF_STAGE_AT(0, 1, size);
	__u32 cpu = bpf_get_smp_processor_id();

	rec->size = size;
	s->last_ts = rec->ts;
	if (PROF_STAGE_POS(head) < cfg_batch_bytes)
		stage_publish(s, head);
	else
		stage_pass_on(s, cpu, head);
	barrier();
	STAGE_PLAIN(s->busy) = 0;
}

#endif
