/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_abi.h - the records that the BPF programs pass to the loader
 *
 * A record in a BPF ring buffer is
 *
 *	struct prof_rec | raw_len bytes, padded to 8 | kernel frames | user frames
 *
 * The header has the length of each part. The raw part is a tracepoint's record in the layout of its
 * tracefs format file, for every program; samples have none. Frames are addresses, leaf first. There are
 * no pointers in a record, and records are not written to files.
 *
 * Records of the hot events are collected in their CPU's struct prof_stage and written to the ring
 * together, after a struct prof_batch.
 */
#ifndef D9_PROF_ABI_H
#define D9_PROF_ABI_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "prof_machine.h"

enum prof_limits {
	PROF_RAW_MAX = 8192, /* limit of the kernel for tracepoint records */
	PROF_STACK_MAX = 127, /* frames per stack, default of kernel.perf_event_max_stack */
	PROF_COPY_WORDS = 2047 - PROF_COPY_REGS, /* of a copied stack */
	PROF_COPY_PAGES = 4, /* a copy ends at most this many pages above its first page's start */
	PROF_COPY_PAGE = 4096, /* the smallest page size; others are multiples */
	PROF_HELPERS_MAX = 4, /* recorder processes that all its helpers descend from */
	PROF_RINGS_MAX = 64, /* higher CPUs share the rings of lower ones */
	PROF_CPUS_MAX = 512, /* slots of counters; higher CPUs share them */
	PROF_TASK_WORDS = 4194304 / 64, /* a bit per possible PID */
	PROF_PID_FIELDS = 4,
	PROF_TEXT_FIELDS = 4,
	PROF_TEXT_MAX = 256, /* bytes of a text that a field points to, with its NUL */
	PROF_COMM_SIZE = 16,
	PROF_OFF_HELD_MIN = 4096, /* threads with a place, --min-block and --max-block */
	PROF_OFF_HELD_MAX = 65536,
	PROF_OFF_COPIES = 256, /* of them with a copied stack */
	PROF_WAIT_SLOTS =
		65536, /* for runnable targets; threads whose ids differ by this share a slot */
	PROF_TIMED_RUNS = 64, /* one run of 64 measures itself */
	PROF_EXTRACT_LANES = 3, /* pairs of programs that make records by extracts */
	PROF_STAGE_BYTES = 4096, /* a batch ends when its records reach this size; a power of two */
	PROF_REPEAT_WORDS = 128, /* frames of a numbered stack; a power of two */
	PROF_REPEATS_MAX = 1024, /* numbers of a CPU; a power of two */
};

enum prof_rec_kind {
	PROF_REC_TRACEPOINT = 1,
	PROF_REC_SAMPLE = 2,
	PROF_REC_BATCH = 3, /* not a record: a struct prof_batch with its records */
	/*
	 * of the task in pid and tid, without parts: the task is a target from here on if event is
	 * 1, otherwise not any more
	 */
	PROF_REC_FOLLOWED = 4,
};

enum prof_rec_flags {
	PROF_REC_KSTACK_CUT = 1, /* frames of the kernel stack were dropped */
	PROF_REC_USTACK_CUT = 2, /* frames of the user stack were dropped */
	PROF_REC_RAW_CUT = 4, /* the raw record was longer than PROF_RAW_MAX */
	PROF_REC_STACKS = 8, /* stacks were wanted, even if they are empty */
	PROF_REC_WALKED = 16, /* user frames are encoded as in prof_unwind.h, not addresses */
	/* instead of user frames: PROF_COPY_REGS words of pt_regs, then the stack from sp on */
	PROF_REC_COPIED = 32,
	PROF_REC_THINNED = 64, /* stacks were wanted, but dropped while the ring filled up */
	/*
	 * The record's last word is its stack's PROF_REPEAT_NUMBER; after the ring, where no frames are omitted, it is
	 * another word that two records have in common only if their frames are equal.
	 */
	PROF_REC_NUMBERED = 128,
};

/*
 * Stacks repeat. So each CPU numbers the stacks of its staged records, and remembers the last stack of each number.
 * If a record has the same frames again, they are omitted. The counts in the header stay.
 */
enum prof_repeat {
	PROF_REPEAT_NUMBER = 0xffff,
	PROF_REPEAT_SAME = 0x10000, /* the last stack with this number has the same frames */
	PROF_REPEAT_OMITTED = 0x20000, /* the record does not have them */
};

/* Bytes of a copy from sp on that ends after that many pages, not yet bounded by PROF_COPY_WORDS */
#define PROF_COPY_BYTES(sp, pages) ((__u64)(pages)*PROF_COPY_PAGE - ((sp) & (PROF_COPY_PAGE - 8)))

struct prof_rec {
	__u16 size; /* of all parts together */
	__u8 kind;
	__u8 flags;
	__u16 cpu;
	__u16 event; /* index of the event's prof_event_cfg */
	__u64 ts; /* CLOCK_MONOTONIC, ns */
	__u32 pid; /* thread group of the current task, in the initial pid namespace */
	__u32 tid;
	__u16 raw_len;
	__u16 kstack_cnt;
	__u16 ustack_cnt;
	union {
		struct {
			__u8 user_end; /* enum prof_user_end and PROF_USER_* (prof_events.h) */
			__u8 spare;
		};
		__u16 context; /* of a wakeup without stacks: see PROF_F_CONTEXT */
	};
};

enum {
	PROF_REC_MAX = sizeof(struct prof_rec) + PROF_RAW_MAX +
		       8 * (PROF_STACK_MAX + PROF_COPY_REGS + PROF_COPY_WORDS)
};

enum {
	PROF_STAGE_RAW_MAX = 504, /* maximum for a staged record */
	PROF_STAGE_REC_MAX = sizeof(struct prof_rec) + PROF_STAGE_RAW_MAX +
			     8 * (PROF_STACK_MAX + PROF_COPY_REGS + PROF_COPY_WORDS)
};

/* Header of a batch in a ring; it starts like a record. */
struct prof_batch {
	__u16 size; /* of this header only */
	__u8 kind; /* PROF_REC_BATCH */
	__u8 spare;
	__u16 cpu;
	__u16 cnt; /* number of records */
	__u32 seq; /* number of the batch on its CPU: 0, 1, 2, ...; a lost batch leaves a gap */
	__u32 spare2;
};

/*
 * Records of hot events on one CPU, mapped into the loader. A record is appended, then `head` is
 * updated. When the records reach PROF_STAGE_BYTES, they are written to the ring together, and the
 * next batch begins.
 *
 * The loader takes records of an unfinished batch: it reads `taken`, then `head`, copies the bytes
 * in between, and sets `taken` to the value of `head` if it is unchanged. The side that changes
 * `taken` first owns these records. A program that finishes a batch first exchanges `taken` for the
 * start of the next batch, then writes the records that were not taken to the ring, and only then
 * starts the next batch by `head`. So each record is written once, or counted as lost once, and
 * copied bytes are not overwritten during the copy.
 */
struct prof_stage {
	__u64 head; /* PROF_STAGE_AT: written by programs of this CPU only */
	__u64 last_ts; /* of the last record */
	__u64 produced; /* records, also lost ones */
	__u64 nested; /* events during the write of another record: not produced */
	__u32 busy; /* a record is being written */
	__u32 drop_stacks; /* the ring fills up: records are written without stacks */
	/*
	 * Increased by programs when a batch is lost, and by the loader when it skipped records: numbers of stacks from
	 * before are not used again.
	 */
	__u32 repeat_epoch;
	__u32 spare;
	__u64 spare2[2];
	__u64 taken; /* PROF_STAGE_AT of the first record that the loader did not take */
	__u64 spare3[5];
	struct prof_batch batch; /* replaces taken records, directly before the rest */
	/* maximum of a batch, doubled, so that the verifier accepts the sum of two offsets */
	__u8 data[2 * PROF_STAGE_BYTES + PROF_STAGE_REC_MAX];
};

/*
 * A position in a stage: 32 bits of the batch's number, 16 of the number of records before it, 16
 * of their bytes
 */
#define PROF_STAGE_AT(seq, cnt, pos) ((__u64)(seq) << 32 | (__u64)(cnt) << 16 | (pos))
#define PROF_STAGE_SEQ(at) ((__u32)((at) >> 32))
#define PROF_STAGE_CNT(at) ((__u16)((at) >> 16))
#define PROF_STAGE_POS(at) ((__u16)(at))

/* What the generic tracepoint program knows about an event; one entry per attached tracepoint */
struct prof_event_cfg {
	__u16 type; /* common_type: the event's tracefs id */
	__u16 size; /* end of the fixed part */
	/* offset of the __data_loc or __rel_loc word whose data ends the record; 0: none */
	__u16 dyn_off;
	__u8 dyn_relative; /* it is a __rel_loc */
	__u8 pid_cnt;
	__u16 pid_off[PROF_PID_FIELDS]; /* 4-byte fields that have a PID or TID */
	__u16 has_context; /* the record needs its `context` */
	/*
	 * Fields that point to text of the task. The record is followed by a word per field at text_at, in
	 * __data_loc format: length << 16 | offset, or 0 if the text is unreadable; then by the texts.
	 */
	__u16 text_at, text_cnt;
	__u16 text_off[PROF_TEXT_FIELDS];
	__u16 has_stacks; /* --event-stacks, for events of -e */
	__u16 filter; /* 1 + index of its filter (prof_filter.h); 0: all records are wanted */
};

/*
 * Offsets of a hot event's fields, from the kernel's format file. Names of tasks are char[16] in
 * events of some kernels and __data_loc strings in others: comm_dyn.
 */
struct prof_switch_layout {
	__u16 type, size, event, comm_dyn, filter;
	__u16 prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio;
};

struct prof_wakeup_layout {
	__u16 type, size, event, comm_dyn, filter;
	__u16 comm, pid, prio, target_cpu;
};

struct prof_migrate_layout {
	__u16 type, size, event, comm_dyn, filter;
	__u16 comm, pid, prio, orig_cpu, dest_cpu;
};

/*
 * Records are counted in two classes, because only the first can be exact: a sample during a BPF
 * program does not run ours.
 */
enum prof_class {
	PROF_CLASS_TRACEPOINT,
	PROF_CLASS_SAMPLE,
	PROF_CLASS_CNT,
};

enum prof_prog {
	PROF_PROG_SWITCH,
	PROF_PROG_WAKEUP,
	PROF_PROG_TRACEPOINT,
	PROF_PROG_SAMPLE,
	PROF_PROG_EXTRACT, /* generic, too, but samples continue during it */
	PROF_PROG_MARK, /* programs that store the interrupt of a CPU */
	PROF_PROG_CNT,
};

struct prof_class_stat {
	__u64 produced; /* records to write, without staged ones */
	__u64 lost; /* records without room in the ring */
	__u64 lost_first; /* time of the first loss since the loader last reset this */
	__u64 lost_last;
};

struct prof_prog_stat {
	__u64 runs;
	__u64 timed_runs;
	__u64 timed_ns;
};

/* Kernel stacks requested */
struct prof_kstack_stat {
	__u64 walked; /* by ORC tables */
	__u64 helped; /* by the kernel's helper, at a tenth of the speed */
	__u64 compared; /* walked by both methods */
	__u64 differing; /* different results: the helper's was used */
};

/* One CPU's counters, mapped into the loader. */
struct prof_cpu_stat {
	struct prof_class_stat classes[PROF_CLASS_CNT];
	struct prof_prog_stat progs[PROF_PROG_CNT];
	__u64 read_failed; /* first class: produced, but the kernel could not read it */
	__u64 read_failed_first; /* time of the first, as for other losses */
	__u64 read_failed_last;
	__u64 stacks_reused; /* switch stacks for which an earlier walk was still valid */
	struct prof_kstack_stat kstacks[2]; /* of tracepoints and of samples */
	__u64 reused_compared; /* reused stacks that were walked for comparison */
	__u64 reused_differing;
	__u64 stacks_dropped; /* of switches and wakeups, to reduce the overhead */
	/*
	 * times that the reader of the ring with this number (not CPU) was woken because it was
	 * nearly full
	 */
	__u64 woken;
	__u64 spare[6];
};

/*
 * Location of the kernel's ORC tables: addresses, and the text range that they cover. All 0 until
 * the loader sets it; `cnt` is written last.
 */
struct prof_orc_tables {
	__u64 cnt; /* rows */
	__u64 ips; /* addresses of places: an s32 each, relative to its own location */
	__u64 rows;
	__u64 text, text_sz;
	__u64 hooks[2]; /* return addresses that tracers replace others by; or 0 */
};

/* Interrupts that a CPU is in */
struct prof_cpu_interrupt {
	__u32 irq; /* IRQ + 1; 0: in no handler */
	__u32 softirq; /* vector + 1; 0: in none */
	__u32 ipi; /* in an interrupt from another CPU or from irq_work */
	__u32 hard_timer, soft_timer; /* in the callback of a timer of either kind */
	__u32 spare[11];
};

/* Programs with extracts that run on a CPU: extract.bpf.c */
struct prof_cpu_extract {
	__u32 busy[PROF_EXTRACT_LANES];
	__u32 walking; /* one of them walks the stacks of its record */
	/* events for which the kernel refused one program and another one ran */
	__u64 stood_in[PROF_EXTRACT_LANES];
	__u64 pad[3];
};

/* Whether targets are runnable on a CPU, --neighbours */
struct prof_cpu_watch {
	__u64 waiting; /* generation << 32 | number of runnable targets */
	__u64 since; /* start of the first one */
	__u64 running; /* pid << 32 | tid of the running thread; top bit: it is known */
	__u64 spare[5];
};

/* The record of PROF_EV_CPU_WATCH, which has no tracepoint */
struct prof_watch_raw {
	__u64 common;
	__u8 watch; /* enum prof_cpu_watch_kind */
	__u8 spare[7];
};

/*
 * --summary: sums per process. Each CPU has two tables: its programs write to one, and the loader
 * reads the other and swaps them (summary_active). A row belongs to the process that used it first. A
 * row after the table sums up all processes without a row.
 */
enum prof_summary_limits {
	PROF_SUMMARY_ROWS = 256, /* a power of two */
	PROF_SUMMARY_PROBES = 8,
	PROF_SUMMARY_TABLE = PROF_SUMMARY_ROWS + 1,
	PROF_SUMMARY_BUCKETS = 40, /* the last one also has all longer times */
	PROF_SUMMARY_WAYS = 2, /* places shared by threads whose ids differ by the number of sets */
	PROF_SUMMARY_SETS_MAX = 131072,
	PROF_SUMMARY_KINDS = 3, /* enum prof_summary_kind (prof_events.h) */
};

struct prof_summary_hist {
	__u64 sum_ns;
	__u64 max_ns;
	__u32 buckets[PROF_SUMMARY_BUCKETS]; /* k: from 2^k to 2^(k+1) ns; 0 also has 0 ns */
};

struct prof_summary_row {
	__u32 tgid; /* 0: free */
	__u32 involuntary; /* times on a CPU that ended while the thread was runnable */
	__u32 unknown; /* intervals whose start, or whose wakeup, was not seen */
	__u32 spare;
	char comm[PROF_COMM_SIZE]; /* of the main thread */
	__u64 named_ns; /* time of this name */
	struct prof_summary_hist hists[PROF_SUMMARY_KINDS]; /* by enum prof_summary_kind */
};

/* A thread between two times on a CPU */
struct prof_summary_task {
	__u32 tid; /* 0: free */
	__u32 blocked; /* it left its CPU to wait */
	__u64 out_ns; /* when it left its CPU; 0: unknown */
	__u64 woken_ns; /* its last wakeup since then; 0: none */
};

struct prof_summary_set {
	struct prof_summary_task tasks[PROF_SUMMARY_WAYS];
	__u64 spare[2];
};

/* The thread on a CPU, and its start */
struct prof_summary_cpu {
	__u32 tid; /* 0: no thread to sum up */
	__u32 spare;
	__u64 in_ns;
	__u64 pad[6];
};

/*
 * A thread that was blocked or runnable longer than --trigger-latency. Mapped into the loader;
 * there is one at a time, until the loader takes it.
 */
struct prof_latency_hit {
	__u32 state; /* enum prof_latency_state */
	__u32 kind; /* enum prof_latency_kind */
	__u32 tid, tgid;
	__u64 ts; /* when it got a CPU: CLOCK_MONOTONIC, ns */
	__u64 ns; /* duration */
};

/* State of a struct prof_latency_hit */
enum prof_latency_state {
	PROF_LATENCY_NONE,
	PROF_LATENCY_WRITING,
	PROF_LATENCY_THERE,
};

enum prof_latency_kind {
	PROF_LATENCY_OFFCPU, /* from leaving the CPU blocked to the wakeup */
	PROF_LATENCY_RUNQ, /* from wakeup, creation or preemption to getting a CPU */
};

/* The record of PROF_EV_OFF_CPU, which has no tracepoint */
struct prof_off_raw {
	__u64 common;
	__u64 off_ns;
	__u64 blocked_ns;
	__u64 prev_state;
	__u32 waker_pid;
	__u16 context;
	__u16 from_cpu;
	__u8 waker_comm[PROF_COMM_SIZE];
	__u8 comm[PROF_COMM_SIZE];
	__u8 woken;
	__u8 unfinished;
	__u8 spare[6];
};

/* State of a thread, --min-block and --max-block */
struct prof_off_held {
	__u64 out_ns; /* when it left its CPU; 0: it did not, or this is unknown */
	__u64 woken_ns; /* its wakeup, since then or while it was about to leave; 0: none */
	__u32 waker_pid; /* the waker */
	__u16 context; /* or its context, see PROF_F_CONTEXT */
	__u16 copied; /* its user stack was copied and is stored elsewhere */
	__u32 waker_cpu;
	__u32 spare;
	__u8 waker_comm[PROF_COMM_SIZE];
	/* the record to write when it gets a CPU, with walked stacks */
	struct prof_rec rec;
	struct prof_off_raw raw;
	__u64 frames[2 * PROF_STACK_MAX];
};

/* Stacks of switch-outs, --switch-stacks */
enum prof_stacks {
	PROF_STACKS_USER = 1,
	PROF_STACKS_KERNEL = 2,
};

/* Method for user stacks, --call-graph */
enum prof_call_graph {
	PROF_CALL_GRAPH_NO,
	PROF_CALL_GRAPH_FP, /* frame pointers only, unchecked */
	PROF_CALL_GRAPH_AUTO, /* tables and lists of prof_unwind.h */
};

_Static_assert(sizeof(struct prof_rec) == 32, "record header is part of the ABI");
_Static_assert(PROF_REC_MAX <= 65535, "size is 16 bits");
_Static_assert(sizeof(struct prof_batch) == 16 && sizeof(struct prof_stage) % 8 == 0,
	       "records of a stage are aligned");
_Static_assert(PROF_STAGE_BYTES + PROF_STAGE_REC_MAX <= 65535, "a place in a stage has 16 bits");
_Static_assert(sizeof(struct prof_cpu_stat) % 64 == 0, "counters of two CPUs share no cache line");
_Static_assert(sizeof(struct prof_cpu_interrupt) == 64, "nor do these");
_Static_assert(sizeof(struct prof_cpu_extract) == 64, "nor these");
_Static_assert(sizeof(struct prof_cpu_watch) == 64, "nor these");
_Static_assert(sizeof(struct prof_summary_cpu) == 64, "nor these");
_Static_assert(sizeof(struct prof_summary_set) == 64, "a thread's place is in one cache line");

#endif
