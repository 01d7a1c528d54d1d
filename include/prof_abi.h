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
 */
#ifndef D9_PROF_ABI_H
#define D9_PROF_ABI_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum prof_limits {
	PROF_RAW_MAX = 8192, /* what the kernel itself allows a tracepoint record */
	PROF_STACK_MAX = 127, /* frames a stack, kernel.perf_event_max_stack by default */
	PROF_COPY_REGS = 21, /* words of x86-64's struct pt_regs */
	PROF_COPY_WORDS = 2026, /* of a stack */
	PROF_RINGS_MAX = 64, /* CPUs beyond share the rings of those below */
	PROF_CPUS_MAX = 512, /* slots of counters; CPUs beyond share them */
	PROF_TASK_WORDS = 4194304 / 64, /* one bit for each pid the kernel can give */
	PROF_PID_FIELDS = 4,
	PROF_TEXT_FIELDS = 4,
	PROF_TEXT_MAX = 256, /* bytes of one text that a field points to, its NUL included */
	PROF_COMM_SIZE = 16,
	PROF_WAIT_SLOTS =
		65536, /* for targets that wait; those whose ids differ by that share one */
	PROF_TIMED_RUNS = 64, /* one run in so many measures itself */
};

enum prof_rec_kind {
	PROF_REC_TRACEPOINT = 1,
	PROF_REC_SAMPLE = 2,
};

enum prof_rec_flags {
	PROF_REC_KSTACK_CUT = 1, /* the kernel stack had more frames than fit */
	PROF_REC_USTACK_CUT = 2, /* the same of the user stack */
	PROF_REC_RAW_CUT = 4, /* the raw record was longer than PROF_RAW_MAX */
	PROF_REC_STACKS = 8, /* stacks were asked for, even if they came out empty */
	PROF_REC_WALKED = 16, /* user frames are as prof_unwind.h says, not addresses */
	/* in place of user frames: the PROF_COPY_REGS words of pt_regs, then the stack from sp on */
	PROF_REC_COPIED = 32,
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
		__u16 context; /* of a waking without stacks: see PROF_F_CONTEXT */
	};
};

enum {
	PROF_REC_MAX = sizeof(struct prof_rec) + PROF_RAW_MAX +
		       8 * (PROF_STACK_MAX + PROF_COPY_REGS + PROF_COPY_WORDS)
};

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
	PROF_PROG_MARK, /* those that note which interrupt a CPU is in */
	PROF_PROG_CNT,
};

struct prof_class_stat {
	__u64 produced; /* records that the programs wanted to write */
	__u64 lost; /* those for which the ring had no room */
	__u64 lost_first; /* time of the first loss since the loader last zeroed this */
	__u64 lost_last;
};

struct prof_prog_stat {
	__u64 runs;
	__u64 timed_runs;
	__u64 timed_ns;
};

/* One CPU's counters, mapped into the loader. */
struct prof_cpu_stat {
	struct prof_class_stat classes[PROF_CLASS_CNT];
	struct prof_prog_stat progs[PROF_PROG_CNT];
	__u64 switches_produced; /* of the first class, by the one program that nothing interrupts */
	__u64 read_failed; /* of the first class too: produced, but the kernel did not give it */
	__u64 read_failed_first; /* times, as of other losses */
	__u64 read_failed_last;
	__u64 stacks_reused; /* of switches, for which a walk made before was true */
	__u64 spare[4];
};

/* Which interrupts a CPU is in. */
struct prof_cpu_interrupt {
	__u32 irq; /* line + 1; 0: in no handler */
	__u32 softirq; /* vector + 1, likewise */
	__u32 ipi; /* in one that another CPU, or its own kernel, asked for */
	__u32 hard_timer, soft_timer; /* in the callback of a timer, in either kind */
	__u32 spare[11];
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
_Static_assert(sizeof(struct prof_cpu_stat) % 64 == 0, "counters of two CPUs share no cache line");
_Static_assert(sizeof(struct prof_cpu_interrupt) == 64, "nor do these");
_Static_assert(sizeof(struct prof_cpu_watch) == 64, "nor these");

#endif
