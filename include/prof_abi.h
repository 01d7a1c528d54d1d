/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_abi.h - the records that the BPF programs hand to the loader
 *
 * A record lies in a BPF ring buffer as
 *
 *	struct prof_rec | raw_len bytes, padded to 8 | kernel frames | user frames
 *
 * where each trailing part has its own length in the header. The raw part is a tracepoint's record
 * in the layout that its tracefs format file describes, whichever program wrote it; samples have
 * none. Frames are addresses as the CPU saw them, leaf first. There are no pointers in here and
 * nothing of it reaches a file.
 *
 * Records of the hot events gather in their CPU's struct prof_stage and pass through the ring many at a
 * time, behind a struct prof_batch.
 */
#ifndef D9_PROF_ABI_H
#define D9_PROF_ABI_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "prof_machine.h"

enum prof_limits {
	PROF_RAW_MAX = 8192, /* what the kernel itself allows a tracepoint record */
	PROF_STACK_MAX = 127, /* frames a stack, kernel.perf_event_max_stack by default */
	PROF_COPY_WORDS = 2047 - PROF_COPY_REGS, /* of a stack */
	PROF_HELPERS_MAX = 4, /* processes of the recorder that its others descend from */
	PROF_RINGS_MAX = 64, /* CPUs beyond share the rings of those below */
	PROF_CPUS_MAX = 512, /* slots of counters; CPUs beyond share them */
	PROF_TASK_WORDS = 4194304 / 64, /* one bit for each pid the kernel can give */
	PROF_PID_FIELDS = 4,
	PROF_TEXT_FIELDS = 4,
	PROF_TEXT_MAX = 256, /* bytes of one text that a field points to, its NUL included */
	PROF_COMM_SIZE = 16,
	PROF_OFF_HELD_MIN = 4096, /* threads that have a place, --min-block and --max-block */
	PROF_OFF_HELD_MAX = 65536,
	PROF_OFF_COPIES = 256, /* of them with a copied stack */
	PROF_WAIT_SLOTS =
		65536, /* for targets that wait; those whose ids differ by that share one */
	PROF_TIMED_RUNS = 64, /* one run in so many measures itself */
	PROF_RECIPE_LANES = 3, /* pairs of programs that make records by recipes */
	PROF_STAGE_BYTES = 4096, /* of records at most, when another is begun; a power of two */
};

enum prof_rec_kind {
	PROF_REC_TRACEPOINT = 1,
	PROF_REC_SAMPLE = 2,
	PROF_REC_BATCH = 3, /* not a record, but a struct prof_batch and its records */
	/* of the task in pid and tid, without parts: from here on it is a target, if event is 1, or none */
	PROF_REC_FOLLOWED = 4,
};

enum prof_rec_flags {
	PROF_REC_KSTACK_CUT = 1, /* the kernel stack had more frames than fit */
	PROF_REC_USTACK_CUT = 2, /* the same of the user stack */
	PROF_REC_RAW_CUT = 4, /* the raw record was longer than PROF_RAW_MAX */
	PROF_REC_STACKS = 8, /* stacks were asked for, even if they came out empty */
	PROF_REC_WALKED = 16, /* user frames are as prof_unwind.h says, not addresses */
	/* in place of user frames: the PROF_COPY_REGS words of pt_regs, then the stack from sp on */
	PROF_REC_COPIED = 32,
	PROF_REC_THINNED = 64, /* stacks were asked for, and left out while the ring filled up */
};

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
	PROF_STAGE_RAW_MAX = 504, /* of a record that is staged */
	PROF_STAGE_REC_MAX = sizeof(struct prof_rec) + PROF_STAGE_RAW_MAX +
			     8 * (PROF_STACK_MAX + PROF_COPY_REGS + PROF_COPY_WORDS)
};

/* What is before the records of a batch in a ring; it starts as a record does. */
struct prof_batch {
	__u16 size; /* of this header alone */
	__u8 kind; /* PROF_REC_BATCH */
	__u8 spare;
	__u16 cpu;
	__u16 cnt; /* of records */
	__u32 seq; /* of the CPU's batches: 0, 1, 2, ...; one that found no room leaves a gap */
	__u32 spare2;
};

/*
 * Where records of one CPU's hot events gather, mapped into the loader. A record is written at the end of
 * those that are there, then `head` says that it is. When they are PROF_STAGE_BYTES or more, they pass to
 * the ring together, and the next batch begins.
 *
 * The loader takes from an unfinished batch what there is so far: it reads `taken`, then `head`, copies what
 * is in between, and makes `taken` what `head` was, if it is still the same. Who changes `taken` first has
 * these records: a program that passes a batch on exchanges it for the start of the next batch before
 * anything else, passes on what comes after what was taken, and only then says by `head` that the next
 * batch has begun. So each record is passed on once, or counted as lost once, and nothing that is copied
 * is written over meanwhile.
 */
struct prof_stage {
	__u64 head; /* PROF_STAGE_AT: written by the CPU's programs alone */
	__u64 last_ts; /* of the last record */
	__u64 produced; /* records, whatever became of them */
	__u64 nested; /* events that came while a record was being written: not produced */
	__u32 busy; /* a record is being written */
	__u32 drop_stacks; /* the ring fills up: records go without stacks */
	__u64 spare2[3];
	__u64 taken; /* PROF_STAGE_AT of the first record that the loader has not taken */
	__u64 spare3[5];
	struct prof_batch batch; /* or over what was taken, just before the rest */
	/* what a batch may have, and as much again so that any two offsets in it can be added up */
	__u8 data[2 * PROF_STAGE_BYTES + PROF_STAGE_REC_MAX];
};

/* A place in a stage: 32 bits of the batch's number, 16 of the records before it, 16 of their bytes. */
#define PROF_STAGE_AT(seq, cnt, pos) ((__u64)(seq) << 32 | (__u64)(cnt) << 16 | (pos))
#define PROF_STAGE_SEQ(at) ((__u32)((at) >> 32))
#define PROF_STAGE_CNT(at) ((__u16)((at) >> 16))
#define PROF_STAGE_POS(at) ((__u16)(at))

/* What the generic tracepoint program knows of an event: one entry an attached tracepoint. */
struct prof_event_cfg {
	__u16 type; /* common_type: the event's tracefs id */
	__u16 size; /* end of the fixed part */
	__u16 dyn_off; /* the __data_loc or __rel_loc word that ends the record; 0: none */
	__u8 dyn_relative; /* it is a __rel_loc */
	__u8 pid_cnt;
	__u16 pid_off[PROF_PID_FIELDS]; /* 4-byte fields that name a task */
	__u16 has_context; /* the record's `context` is wanted */
	/*
	 * Fields that point to text of the task's. It is put behind the record: at text_at a word a field,
	 * length << 16 | offset as a __data_loc has them, 0 when the text could not be read; then the texts.
	 */
	__u16 text_at, text_cnt;
	__u16 text_off[PROF_TEXT_FIELDS];
	__u16 has_stacks; /* they are wanted: --event-stacks, of events named by -e */
	__u16 filter; /* 1 + index of its filter (prof_filter.h); 0: all records are wanted */
};

/*
 * Where a hot event's fields lie, by the kernel's own format file. Names of tasks are char[16] in
 * some kernels' events and __data_loc strings in others': comm_dyn.
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

/* Records are counted in two classes, since only the first can be exact (a sample that hits a
 * running BPF program never reaches ours). */
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
	PROF_PROG_RECIPE, /* generic too, but samples go on meanwhile */
	PROF_PROG_MARK, /* those that note which interrupt a CPU is in */
	PROF_PROG_CNT,
};

struct prof_class_stat {
	__u64 produced; /* records that the programs wanted to write, but for those staged */
	__u64 lost; /* those for which the ring had no room */
	__u64 lost_first; /* time of the first loss since the loader last zeroed this */
	__u64 lost_last;
};

struct prof_prog_stat {
	__u64 runs;
	__u64 timed_runs;
	__u64 timed_ns;
};

/* Kernel stacks that were asked for. */
struct prof_kstack_stat {
	__u64 walked; /* by ORC tables */
	__u64 helped; /* by the kernel's helper, at a tenth of the speed */
	__u64 compared; /* walked, and asked of the helper too */
	__u64 differing; /* of those: the helper's was taken */
};

/* One CPU's counters, mapped into the loader. */
struct prof_cpu_stat {
	struct prof_class_stat classes[PROF_CLASS_CNT];
	struct prof_prog_stat progs[PROF_PROG_CNT];
	__u64 read_failed; /* of the first class too: produced, but the kernel did not give it */
	__u64 read_failed_first; /* times, as of other losses */
	__u64 read_failed_last;
	__u64 stacks_reused; /* of switches, for which a walk made before was true */
	struct prof_kstack_stat kstacks[2]; /* of tracepoints, of samples */
	__u64 reused_compared; /* of stacks_reused, walked all the same */
	__u64 reused_differing;
	__u64 stacks_dropped; /* of switches and wakeups, to reduce the overhead */
	__u64 woken; /* of the ring of this number, not CPU: it is so full that who reads it was woken */
	__u64 spare[6];
};

/*
 * Where the kernel's ORC tables lie: addresses, and the kernel's text that they are about. All 0 until the
 * loader knows it; then `cnt` is written last.
 */
struct prof_orc_tables {
	__u64 cnt; /* rows */
	__u64 ips; /* of places, an s32 each, relative to where it lies */
	__u64 rows;
	__u64 text, text_sz;
	__u64 hooks[2]; /* return addresses that tracers put in place of others; or 0 */
};

/* Which interrupts a CPU is in. */
struct prof_cpu_interrupt {
	__u32 irq; /* line + 1; 0: in no handler */
	__u32 softirq; /* vector + 1, likewise */
	__u32 ipi; /* in one that another CPU, or its own kernel, asked for */
	__u32 hard_timer, soft_timer; /* in the callback of a timer, in either kind */
	__u32 spare[11];
};

/* Which of the programs that make records by recipes are running on a CPU: recipe.bpf.c */
struct prof_cpu_recipe {
	__u32 busy[PROF_RECIPE_LANES];
	__u32 walking; /* one of them is at the stacks of its record */
	__u64 stood_in[PROF_RECIPE_LANES]; /* events for which the kernel refused one, and another ran */
	__u64 pad[3];
};

/* Whether targets wait for a CPU, --neighbours */
struct prof_cpu_watch {
	__u64 waiting; /* generation << 32 | how many */
	__u64 since; /* when the first of them began to */
	__u64 running; /* pid << 32 | tid of who is on it; the top bit: it is known */
	__u64 spare[5];
};

/* The record of PROF_EV_CPU_WATCH. There is no tracepoint like that. */
struct prof_watch_raw {
	__u64 common;
	__u8 watch; /* enum prof_cpu_watch_kind */
	__u8 spare[7];
};

/*
 * --summary: what threads did, summed up per process. Each CPU has two tables of its own; its programs write
 * to the one and the loader reads the other, and changes them over (summary_active). A row is of the process that
 * wrote to it first; behind the rows of a table stands one for all processes that found none.
 */
enum prof_summary_limits {
	PROF_SUMMARY_ROWS = 256, /* a power of two */
	PROF_SUMMARY_PROBES = 8,
	PROF_SUMMARY_TABLE = PROF_SUMMARY_ROWS + 1,
	PROF_SUMMARY_BUCKETS = 40, /* the last one also takes what is longer */
	PROF_SUMMARY_WAYS =
		2, /* threads whose ids differ by the number of sets find so many places */
	PROF_SUMMARY_SETS_MAX = 131072,
	PROF_SUMMARY_KINDS = 3, /* enum prof_summary_kind (prof_events.h) */
};

struct prof_summary_hist {
	__u64 sum_ns;
	__u64 max_ns;
	__u32 buckets[PROF_SUMMARY_BUCKETS]; /* k: of 2^k up to 2^(k+1) ns; 0 also those of 0 */
};

struct prof_summary_row {
	__u32 tgid; /* 0: free */
	__u32 involuntary; /* of the times on a CPU: those that ended though the thread could go on */
	__u32 unknown; /* waits whose start, or whose wakeup, was not seen */
	__u32 spare;
	char comm[PROF_COMM_SIZE]; /* of the main thread, */
	__u64 named_ns; /* when it was called so last */
	struct prof_summary_hist hists[PROF_SUMMARY_KINDS]; /* by enum prof_summary_kind */
};

/* A thread between two times on a CPU. */
struct prof_summary_task {
	__u32 tid; /* 0: free */
	__u32 blocked; /* it left its CPU to wait for something */
	__u64 out_ns; /* when it left its CPU; 0: not seen */
	__u64 woken_ns; /* the last time it was woken since it had come to that; 0: not */
};

struct prof_summary_set {
	struct prof_summary_task tasks[PROF_SUMMARY_WAYS];
	__u64 spare[2];
};

/* Who is on a CPU, and since when. */
struct prof_summary_cpu {
	__u32 tid; /* 0: none that is summed up */
	__u32 spare;
	__u64 in_ns;
	__u64 pad[6];
};

/* Who was blocked, or waited for a CPU, longer than --trigger-latency says. Mapped into the loader, */
struct prof_latency_hit {
	__u32 state; /* enum prof_latency_state */
	__u32 kind; /* enum prof_latency_kind */
	__u32 tid, tgid;
	__u64 ts; /* when it came on a CPU: CLOCK_MONOTONIC, ns */
	__u64 ns; /* for how long */
};

/* ... which takes what is there, and only then may there be another one. */
enum prof_latency_state {
	PROF_LATENCY_NONE,
	PROF_LATENCY_WRITING,
	PROF_LATENCY_THERE,
};

enum prof_latency_kind {
	PROF_LATENCY_OFFCPU, /* from leaving the CPU, not to run on, until it was woken */
	PROF_LATENCY_RUNQ, /* from being woken, made, or taken off the CPU until it came on one */
};

/* The record of PROF_EV_OFF_CPU. There is no tracepoint like that, either. */
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

/* What is kept of a thread, --min-block and --max-block. */
struct prof_off_held {
	__u64 out_ns; /* when it left its CPU; 0: it has not, or nobody looked */
	__u64 woken_ns; /* when it was woken, since then or while it was about to; 0: it was not */
	__u32 waker_pid; /* by this thread, */
	__u16 context; /* or in what, as PROF_F_CONTEXT says */
	__u16 copied; /* its user stack was copied, and is elsewhere */
	__u8 waker_comm[PROF_COMM_SIZE];
	/* What is to be written when it comes back, with stacks that were walked. */
	struct prof_rec rec;
	struct prof_off_raw raw;
	__u64 frames[2 * PROF_STACK_MAX];
};

/* Of switch-outs, --switch-stacks */
enum prof_stacks {
	PROF_STACKS_USER = 1,
	PROF_STACKS_KERNEL = 2,
};

/* Of user stacks, --call-graph */
enum prof_call_graph {
	PROF_CALL_GRAPH_NO,
	PROF_CALL_GRAPH_FP, /* by frame pointers, unchecked */
	PROF_CALL_GRAPH_AUTO, /* by prof_unwind.h's tables and lists */
};

_Static_assert(sizeof(struct prof_rec) == 32, "record header is part of the ABI");
_Static_assert(PROF_REC_MAX <= 65535, "size is 16 bits");
_Static_assert(sizeof(struct prof_batch) == 16 && sizeof(struct prof_stage) % 8 == 0,
	       "records of a stage are aligned");
_Static_assert(PROF_STAGE_BYTES + PROF_STAGE_REC_MAX <= 65535, "a place in a stage has 16 bits");
_Static_assert(sizeof(struct prof_cpu_stat) % 64 == 0, "counters of two CPUs share no cache line");
_Static_assert(sizeof(struct prof_cpu_interrupt) == 64, "nor do these");
_Static_assert(sizeof(struct prof_cpu_recipe) == 64, "nor these");
_Static_assert(sizeof(struct prof_cpu_watch) == 64, "nor these");
_Static_assert(sizeof(struct prof_summary_cpu) == 64, "nor these");
_Static_assert(sizeof(struct prof_summary_set) == 64, "a thread's place is in one cache line");

#endif
