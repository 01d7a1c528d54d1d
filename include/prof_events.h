/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROF_EVENTS_H
#define D9_PROF_EVENTS_H

/*
 * Names that recorder and readers share: events, their fields, and the values of enumerations.
 * Everything here reaches a file: append only, never renumber.
 *
 * Every event carries a timestamp, CLOCK_MONOTONIC nanoseconds. Tracepoints are not listed: they
 * are "<system>:<event>" with the two fields of PROF_TP_* first and then the kernel's own, in the
 * kernel's order. Types are dial9 types ("string" below is a pooled string).
 */

/* ---- tracepoints: <system>:<event> ---------------------------------------------------------- */
#define PROF_TP_COMMON_CPU "common_cpu" /* varint */
#define PROF_TP_COMMON_PID "common_pid" /* varint; the thread id, which the kernel calls pid */
/* Suffix of the field with the text that an argument points to: optional string, absent if it could not be read */
#define PROF_TP_TEXT_SUFFIX "_str"
#define PROF_EV_SCHED_SWITCH "sched:sched_switch"
#define PROF_EV_SCHED_WAKING "sched:sched_waking"
#define PROF_EV_SCHED_WAKEUP_NEW "sched:sched_wakeup_new"
#define PROF_EV_SCHED_MIGRATE_TASK "sched:sched_migrate_task"
#define PROF_EV_SCHED_PROCESS_FORK "sched:sched_process_fork"
#define PROF_EV_SCHED_PROCESS_EXEC "sched:sched_process_exec"
#define PROF_EV_SCHED_PROCESS_EXIT "sched:sched_process_exit"
#define PROF_F_PREV_COMM "prev_comm"
#define PROF_F_PREV_PID "prev_pid"
#define PROF_F_PREV_STATE "prev_state"
#define PROF_F_NEXT_COMM "next_comm"
#define PROF_F_TARGET_CPU "target_cpu"
#define PROF_F_DEST_CPU "dest_cpu"
#define PROF_F_CHILD_PID "child_pid"
#define PROF_F_OLD_PID "old_pid"

/*
 * ---- sched_waking, after the kernel's fields: the context of the wakeup ----
 *
 * varint: enum prof_context in the low bits, and above them 1 + the number of the interrupt: the vector
 * of a softirq, the line of a hard irq; 0: none, or unknown. common_pid is the waker only with
 * PROF_CONTEXT_TASK; otherwise it is the interrupted thread.
 */
#define PROF_F_CONTEXT "context"
#define PROF_CONTEXT_SHIFT 3

enum prof_context {
	PROF_CONTEXT_UNKNOWN = 0,
	PROF_CONTEXT_TASK = 1,
	PROF_CONTEXT_SOFTIRQ = 2,
	PROF_CONTEXT_HARDIRQ = 3,
	PROF_CONTEXT_IPI = 4, /* an interrupt that the kernel sent, to another CPU or itself */
	PROF_CONTEXT_TIMER = 5, /* the callback of a high-resolution timer */
	PROF_CONTEXT_MASK = 7,
};
#define PROF_F_NEXT_PID "next_pid"

/*
 * ---- --neighbours: whether the trace has all switches of a CPU ----
 *
 * Laid out as a tracepoint. After PROF_WATCH_BEGUN the trace has every switch of common_cpu, also of threads
 * that are not targets. The watch ends when a target that was runnable on that CPU is switched in there.
 * common_pid runs there when the watch begins. If a target is switched in without a watch, PROF_WATCH_ENDED
 * precedes the switch, and switches before it may be missing. So two switches of a CPU are consecutive if no
 * PROF_EV_CPU_WATCH lies between them, and the second switches out the thread that the first switched in.
 */
#define PROF_EV_CPU_WATCH "dial9:cpu_watch"
#define PROF_F_WATCH "watch" /* u8: enum prof_cpu_watch_kind */

enum prof_cpu_watch_kind {
	PROF_WATCH_ENDED = 0, /* common_pid has no meaning */
	PROF_WATCH_BEGUN = 1,
	PROF_WATCH_BEGUN_UNSEEN = 2, /* likewise, but the next switch has the running thread */
};

/*
 * ---- --min-block, --max-block: one event per off-CPU interval, at its end ----
 *
 * Laid out as a tracepoint, in place of switches and wakeups. common_pid, named PROF_F_COMM, left
 * PROF_F_FROM_CPU in state PROF_F_PREV_STATE (0 or 0x100: runnable). PROF_F_OFF_NS later, at the time of the
 * event, it was switched in on common_cpu. It was blocked for PROF_F_BLOCKED_NS, and runnable for the rest;
 * a thread that is woken before it has blocked has a blocked time of 0. PROF_F_WOKEN: the wakeup was recorded,
 * by the thread PROF_F_WAKER_PID, in PROF_F_CONTEXT as in sched_waking; without it, the runnable time is
 * unknown. PROF_F_UNFINISHED: the interval had not ended when recording ended or was paused. The stack of the
 * switch-out is the next event, PROF_SOURCE_EVENT. PROF_META_OFF_* have the limits of the intervals' lengths.
 */
#define PROF_EV_OFF_CPU "dial9:off_cpu"
#define PROF_F_OFF_NS "off_ns"
#define PROF_F_BLOCKED_NS "blocked_ns"
#define PROF_F_FROM_CPU "from_cpu"
#define PROF_F_WOKEN "woken" /* u8: 0 or 1 */
#define PROF_F_WAKER_PID "waker_pid"
#define PROF_F_WAKER_COMM "waker_comm"
#define PROF_F_UNFINISHED "unfinished" /* u8: 0 or 1 */

/*
 * Longest time, in ns, from a thread's decision to block to its switch. Interrupts are off in between, so only another
 * CPU can wake the thread; an earlier wakeup ended an earlier attempt to block. 30,000 switches of a busy machine had 18
 * wakeups in that time, 0.3 to 2.3 us before the switch; other wakeups came at least 5.7 us before it.
 */
#define PROF_BLOCKING_NS 5000

/* ---- CpuSampleEvent: upstream's event, followed by our fields --------------------------------- */
#define PROF_EV_CPU_SAMPLE "CpuSampleEvent"
#define PROF_F_WORKER_ID "worker_id" /* varint; PROF_WORKER_NONE: not a Tokio worker */
#define PROF_F_TID "tid" /* u32 */
#define PROF_F_SOURCE "source" /* u8: enum prof_sample_source */
#define PROF_F_THREAD_NAME "thread_name" /* optional string */
#define PROF_F_CALLCHAIN "callchain" /* stack: kernel frames leaf first, then user frames */
#define PROF_F_CPU "cpu" /* optional varint */
#define PROF_F_PID "pid" /* u32 */
#define PROF_F_FLAGS "flags" /* u8: PROF_SAMPLE_* */
#define PROF_F_USER_END "user_end" /* u8: enum prof_user_end, and PROF_USER_* bits */

#define PROF_WORKER_NONE 255

enum prof_sample_source {
	PROF_SOURCE_SAMPLE = 0, /* taken by the sampling clock */
	PROF_SOURCE_SWITCH_OUT = 1, /* stack of a switch-out: same time and tid as its switch */
	PROF_SOURCE_WAKING =
		2, /* of a waker: same time and tid as its wakeup, and the next event */
	PROF_SOURCE_EVENT = 3, /* of another tracepoint: likewise, --event-stacks */
};

#define PROF_SAMPLE_USER_TRUNCATED 0x01
#define PROF_SAMPLE_KERNEL_TRUNCATED 0x02

/* Why a user stack ends where it does. */
enum prof_user_end {
	PROF_END_NOT_WALKED = 0, /* no user stack was taken */
	PROF_END_COMPLETE = 1, /* up to the outermost frame */
	PROF_END_FULL = 2, /* the limit of frames was reached */
	PROF_END_NO_LIST =
		3, /* the process's mappings were not known yet, or had changed: frame pointers,
		      unchecked, or the part that was still valid */
	PROF_END_NO_MAPPING = 4, /* the next address is in no known executable mapping */
	PROF_END_NO_TABLE =
		5, /* for the module of the last frame, and its frame pointer leads nowhere */
	PROF_END_NO_ROW = 6, /* the module's table has no row for the address, likewise */
	PROF_END_UNSUPPORTED = 7, /* the module has a rule that is not supported */
	PROF_END_READ_FAILED = 8, /* the stack's memory could not be read */
	PROF_END_NO_PROGRESS = 9, /* the caller's stack would not lie above */
	PROF_END_NO_RETURN = 10, /* the return address is 0 */
	PROF_END_FRAME_POINTER =
		11, /* code known by frame pointers only, and the last leads nowhere */
	PROF_END_32BIT = 12, /* a 32-bit task */
	PROF_END_UNCHECKED = 13, /* --call-graph fp: frame pointers, unchecked */
	PROF_END_COPY_LIMIT =
		14, /* above the part of the stack that was copied to be walked later */
	PROF_END_EXEC = 15, /* inside execve(), which has replaced the memory of the stack */
	PROF_END_OVER_BUDGET =
		16, /* the recorder was loaded, and the process or its user had used their share */
	PROF_END_CNT,
};

#define PROF_USER_END_MASK 0x1f
/*
 * The caller of the leaf, or of a function without unwind information, is uncertain: it was a stack word that looks
 * like a return address, or the frame pointer may belong to another function.
 */
#define PROF_USER_GUESSED 0x20
#define PROF_USER_FRAME_POINTERS 0x40 /* some steps used checked frame pointers */
#define PROF_USER_SIGNAL 0x80 /* some step went through a signal frame */

/*
 * A frame address as packed by the recorder:
 *
 *   63     62                40 39                                  0
 *   kernel | module id (23 bits) | offset in the module (40 bits)   |
 *
 * Module id 0 is "in no known module": the offset is then the low 40 bits of the raw address.
 */
#define PROF_FRAME_KERNEL (1ULL << 63)
#define PROF_FRAME_MODULE_SHIFT 40
#define PROF_FRAME_MODULE_MAX 0x7fffffU
#define PROF_FRAME_OFFSET_MASK 0xffffffffffULL

/* ---- ModuleEvent: introduces a module id ----------------------------------------------------- */
#define PROF_EV_MODULE "ModuleEvent"
#define PROF_F_MODULE_ID "module_id" /* varint */
#define PROF_F_PATH "path" /* string */
#define PROF_F_BUILD_ID "build_id" /* bytes, may be empty */
#define PROF_F_KIND "kind" /* u8: enum prof_module_kind */

enum prof_module_kind {
	PROF_MODULE_ELF = 0,
	PROF_MODULE_KERNEL = 1,
	PROF_MODULE_KMOD = 2,
	PROF_MODULE_BPF = 3,
	PROF_MODULE_VDSO = 4,
	PROF_MODULE_ANON = 5,
};

/* ---- ModuleStatus: result of the symbol lookup; the last one for a module holds --------------- */
#define PROF_EV_MODULE_STATUS "ModuleStatus" /* module_id varint, then: */
#define PROF_F_STATUS "status" /* string: one of PROF_STATUS_* */
#define PROF_F_DETAIL "detail" /* string for people; may be empty */
#define PROF_STATUS_NAMED "named"
#define PROF_STATUS_STRIPPED "stripped" /* the file has no symbols */
#define PROF_STATUS_GONE "gone" /* no file any more */
#define PROF_STATUS_REPLACED "replaced" /* only a file of another build */
#define PROF_STATUS_DENIED "denied" /* no permission to open it */
#define PROF_STATUS_NOT_ELF "not_elf"
#define PROF_STATUS_GAVE_UP "gave_up" /* a budget was used up; its symbol table is kept */
#define PROF_STATUS_CRASHED "crashed" /* the worker crashed on it */
#define PROF_STATUS_HUNG "hung" /* the worker was killed after a timeout */
#define PROF_STATUS_NO_ANSWER "no_answer" /* opening it never returned */
#define PROF_STATUS_PENDING "pending" /* the recording ended before */
#define PROF_STATUS_ANONYMOUS "anonymous" /* no file */
#define PROF_STATUS_NO_MAP "no_map" /* code made at run time, without a perf map */
#define PROF_STATUS_MAP_NOT_READ                                                                   \
	"map_not_read" /* its process exited before a perf map was opened */
#define PROF_STATUS_FORGOTTEN "forgotten" /* dropped to stay below the memory cap */
#define PROF_STATUS_NO_WORKER "no_worker" /* no worker process was left to read it */
#define PROF_STATUS_NOT_ASKED "not_asked" /* more code than the limit of symbol lookups */

/* ---- ProcMapsEntry: an executable mapping, enough to rebuild raw addresses ------------------- */
#define PROF_EV_PROC_MAPS "ProcMapsEntry" /* pid u32, then: */
#define PROF_F_START "start" /* varint */
#define PROF_F_END "end" /* varint */
#define PROF_F_OFFSET "offset" /* varint; followed by module_id varint */

/* ---- TaskEvent: who a thread is, from this time on ------------------------------------------- */
#define PROF_EV_TASK "TaskEvent" /* pid u32, tid u32, then: */
#define PROF_F_PPID "ppid" /* u32 */
#define PROF_F_COMM "comm" /* string */
#define PROF_F_EXE "exe" /* string; empty: unknown, or a kernel thread */
#define PROF_F_CGROUP "cgroup" /* string */
/*
 * u8, 1: the trace has all of its switches and wakeups from this time on. 0: not all, or unknown if
 * PROF_META_FOLLOWED is absent. Without PROF_META_FOLLOWED, 1 covers the whole process and its descendants.
 */
#define PROF_F_FOLLOWED "followed"

/*
 * ---- SymbolTableEntry: upstream's; the last one for an (addr, inline_depth) wins -------------
 *
 * A symbol_name in brackets with size 0 at depth 0, such as "[libc.so.6]" or "[jit]", is a label: for
 * readers without modules, it names the location of an unresolved address. It is shown like a symbol, but a
 * symbol wins over it in either order.
 */
#define PROF_EV_SYMBOL "SymbolTableEntry"
#define PROF_F_ADDR "addr" /* varint: packed frame address, exact */
#define PROF_F_SIZE "size" /* varint: bytes of the function */
#define PROF_F_SYMBOL_NAME "symbol_name" /* string */
#define PROF_F_INLINE_DEPTH "inline_depth" /* varint: 0 is the outermost function */
#define PROF_F_SOURCE_FILE "source_file" /* string; empty: unknown */
#define PROF_F_SOURCE_LINE "source_line" /* varint; 0: unknown */
#define PROF_F_BASE_ADDR "base_addr" /* varint: packed address of the function's start */

/* ---- time and recording ---------------------------------------------------------------------- */
#define PROF_EV_CLOCK_SYNC "ClockSyncEvent"
#define PROF_F_REALTIME_NS "realtime_ns" /* varint: CLOCK_REALTIME at the event's timestamp */

#define PROF_EV_METADATA "SegmentMetadataEvent"
#define PROF_F_ENTRIES "entries" /* string map of PROF_META_* keys; numbers as decimal text */
#define PROF_META_HOST "host"
#define PROF_META_KERNEL "kernel"
#define PROF_META_ARCH "arch"
#define PROF_META_CPUS "cpus"
#define PROF_META_COMMAND_LINE "command_line"
#define PROF_META_VERSION "version"
#define PROF_META_TARGET "target"
#define PROF_META_TARGET_PIDS "target_pids" /* of a command: its process id */
#define PROF_META_RECORDER_PID "recorder_pid"
/*
 * A list, "17,18": children of the recorder that are its helper processes, as are their descendants. Other
 * children are not helpers: some may be older than the recorder itself, from before its exec.
 */
#define PROF_META_RECORDER_HELPERS "recorder_helpers"
#define PROF_META_INHERIT "inherit" /* "no": what targets fork is not recorded */
#define PROF_META_NEIGHBOURS                                                                       \
	"neighbours" /* "yes": the trace has PROF_EV_CPU_WATCH and its switches; "no": removed by cut */
#define PROF_META_SUMMARY_NS                                                                       \
	"summary_ns" /* --summary: the period; there are sums in place of events */
/*
 * `told`: TaskEvents mark the followed threads (PROF_F_FOLLOWED). `within`: likewise, but only threads
 * that the target names are followed, since the trace was cut to the target.
 */
#define PROF_META_FOLLOWED "followed"
#define PROF_META_SELECTION "selection" /* for people: further conditions on targets */
/*
 * A list, "0,2-3": there are no events of other CPUs, except sched_migrate_task from or to one of these CPUs,
 * and sched_wakeup_new of threads that start on one.
 */
#define PROF_META_RECORDED_CPUS "recorded_cpus"
#define PROF_META_SWITCHES "switches" /* "no": the trace has wakeups, but no sched_switch */
/* The filter (--filter) of sched_switch: the trace has the events that pass it. */
#define PROF_META_SWITCH_FILTER "switch_filter"
#define PROF_META_WAKING_FILTER "waking_filter" /* of sched_waking: likewise */
#define PROF_META_MAX_OVERHEAD_PPM "max_overhead_ppm" /* of the CPU time of all CPUs */
#define PROF_META_CLOCK "clock"
#define PROF_META_SAMPLE_EVENT "sample_event" /* "cycles" or "cpu-clock" */
#define PROF_META_SAMPLE_PERIOD_NS "sample_period_ns"
#define PROF_META_SAMPLE_HZ "sample_hz"
#define PROF_META_SWITCH_STACKS "switch_stacks" /* "none", "user" or "both" */
#define PROF_META_WAKING_STACKS "waking_stacks" /* of wakers: likewise, or absent */
#define PROF_META_EVENT_STACKS "event_stacks" /* of tracepoints named by -e: likewise, or absent */
#define PROF_META_OFF_MIN_NS                                                                       \
	"off_cpu_min_ns" /* with PROF_EV_OFF_CPU: the shortest interval recorded */
#define PROF_META_OFF_MAX_NS "off_cpu_max_ns" /* the longest; absent: no limit */
#define PROF_META_CALL_GRAPH "call_graph" /* of user stacks: "auto", "fp" or "no" */
#define PROF_META_START_REALTIME_NS "start_realtime_ns"
#define PROF_META_RING_BYTES "ring_bytes"
/*
 * Of the kernel: times of one boot are on one clock. Times that include suspend are on another clock; then
 * PROF_BOOT_ID_SUSPEND follows the id.
 */
#define PROF_META_BOOT_ID "boot_id"
#define PROF_BOOT_ID_SUSPEND " boottime"
/*
 * Of a file that was cut from a recording: the command, and the number of events removed by all cuts. If the
 * command has PROF_CUT_CPUS, there are no events of other CPUs, not even migrations.
 */
#define PROF_META_CUT "cut"
#define PROF_CUT_CPUS " -C "
#define PROF_CUT_EVENTS " -e "
#define PROF_META_CUT_LEFT_OUT "cut_left_out"

/*
 * ---- MergedPart: several recordings merged into a stream, in order of time ----
 *
 * One event per recording, before all other events after a header. Each recording is a part of the stream.
 * Events of other parts than 0 have an additional last field with the number of their part. Parts with the
 * same clock belong to the same host and boot, so a TID means the same thread in them. Times of a part were
 * moved by shift_ns, to align them with the other parts.
 */
#define PROF_EV_MERGED_PART "MergedPart"
#define PROF_F_PART "dial9:part" /* varint */

/* ---- TracepointSymbol: text for a value, from a tracepoint's print fmt ------------------------ */
#define PROF_EV_TP_SYMBOL "TracepointSymbol"
#define PROF_F_EVENT "event" /* string: <system>:<event> */
#define PROF_F_FIELD "field" /* string */
#define PROF_F_VALUE "value" /* varint */
#define PROF_F_NAME "name" /* string */

/*
 * The rows of a field, in file order, are one or more parts. Each part turns the value v into text; the
 * texts are joined. x starts as v, sign-extended if v is signed. An address of kernel code gets a row with
 * its symbol, before the first event that has the address.
 */
enum prof_tp_symbol_kind {
	PROF_TP_SYMBOL = 0, /* name when x == value, and the part is done */
	PROF_TP_FLAG = 1, /* name when x != 0 and (x & value) == value; then x &= ~value */
	PROF_TP_MASK =
		2, /* starts a part: x &= value; name is printed unless the part is the first */
	PROF_TP_SHIFT = 3, /* x >>= value; follows its MASK, applied before it */
	PROF_TP_DELIM = 4, /* name goes between flags; "|" without such a row */
	PROF_TP_ZERO = 5, /* name when the part began with x == 0, and the part is done */
	PROF_TP_NONZERO = 6, /* name when it began with x != 0, and the part is done */
	PROF_TP_HEX = 7, /* alone: print the number in hexadecimal */
	PROF_TP_DECIMAL = 8, /* x, signed, in decimal, and the part is done */
	PROF_TP_ERRNO = 9, /* -4095 to -1: "-2 ENOENT", and the part is done */
	PROF_TP_ARRAY = 10, /* alone, of bytes: integers of value bytes each, little-endian */
};

/* ---- LostEvents: events missing from the trace, and the time range ----------------------------- */
#define PROF_EV_LOST "LostEvents" /* cpu u32 (PROF_LOST_ANY_CPU: unknown or all), kind string: */
#define PROF_F_COUNT "count" /* varint */
#define PROF_F_FIRST_NS "first_ns" /* varint */
#define PROF_F_LAST_NS "last_ns" /* varint */
#define PROF_LOST_ANY_CPU 0xffffffffU
#define PROF_LOST_RING_FULL "ring_full"
#define PROF_LOST_NESTED "nested" /* by generic tracepoints; never a switch or a wakeup */
#define PROF_LOST_NESTED_SCHED "nested_sched" /* a scheduler event during another scheduler event */
/* likewise, if not all events are recorded: some of them might not have been recorded anyway */
#define PROF_LOST_NESTED_AT_MOST "nested_at_most"
#define PROF_LOST_SIDEBAND "sideband" /* perf records of tasks and mappings, lost by the kernel */
#define PROF_LOST_SIDEBAND_DAMAGED "sideband_damaged" /* malformed perf records */
#define PROF_LOST_SIDEBAND_MAPS "sideband_maps" /* mappings of processes with too many mappings */
#define PROF_LOST_SIDEBAND_STALLED                                                                 \
	"sideband_stalled" /* a CPU's records were not read in the time range */
/* no loss: stacks resolved with mappings that may have changed, since sideband records were lost */
#define PROF_LOST_SIDEBAND_DOUBT "sideband_doubt"
#define PROF_LOST_SAMPLE_ESTIMATE "sample_estimate" /* estimated from clock and period */
#define PROF_LOST_SAMPLE_RING_FULL "sample_ring_full"
#define PROF_LOST_READ_FAILED "read_failed" /* tracepoint records that a program could not read */
#define PROF_LOST_MALFORMED "malformed"
/* a time range without a readable file: unknown events. Written by readers, never by the recorder */
#define PROF_LOST_HOLE "hole"
/* no loss: no stacks of switches and wakeups, to reduce overhead */
#define PROF_LOST_STACKS_OFF "stacks_off"
#define PROF_LOST_THINNED "thinned" /* no loss: a skipped time slice, to reduce overhead */
/* no loss: recording was paused in the time range; count is the number of pauses */
#define PROF_LOST_PAUSED "paused"
/* no loss: a time range for which --flight had no trigger; count likewise */
#define PROF_LOST_NOT_KEPT "not_kept"
/* no loss: stacks of switches and wakeups, dropped while a ring or the recorder's queue was filling up */
#define PROF_LOST_STACKS_THINNED "stacks_thinned"

/* ---- Trigger: cause of a --flight snapshot, at the time of the cause -------------------------- */
#define PROF_EV_TRIGGER                                                                            \
	"Trigger" /* reason string, event string, pid u32, tid u32: 0 if no thread, then: */
#define PROF_F_REASON "reason" /* one of PROF_TRIGGER_* */
#define PROF_F_DURATION_NS                                                                         \
	"duration_ns" /* varint: of the interval over the threshold; 0 for other reasons */
/* varint: triggers ignored since the last Trigger, since they came too soon after a snapshot (--rearm) */
#define PROF_F_TOO_SOON "too_soon"
#define PROF_TRIGGER_EVENT "event" /* its name is in PROF_F_EVENT, which is empty otherwise */
#define PROF_TRIGGER_OFFCPU "offcpu" /* the thread was blocked */
#define PROF_TRIGGER_RUNQ "runq" /* its run-queue latency was too long */
#define PROF_TRIGGER_SIGNAL "signal" /* SIGUSR2 */
#define PROF_TRIGGER_CONTROL "control" /* --control */
#define PROF_TRIGGER_END "end" /* of the recording */

/* ---- RecorderStats: cumulative, each second and at the end; fields: user/events/own_events.h ---- */
#define PROF_EV_STATS "RecorderStats"

/* ---- RecorderProcess: what one process of the recorder has used; the last one of a pid holds ---- */
#define PROF_EV_RECORDER_PROCESS "RecorderProcess"
/* 1: the rings are empty, and produced = written + lost. 2: the file ends, and the recording goes on in the next */
#define PROF_F_CLOSED "closed"
#define PROF_CLOSED_SEGMENT 2

/* ---- RecorderCost: of a process that costs the recorder most; cumulative, when it has grown and at the end ---- */
#define PROF_EV_COST "RecorderCost"

/*
 * ---- ThinningEvent: level of load shedding from its time on (--max-overhead) ----
 *
 * First the stacks of switches and wakeups are dropped, then whole time slices are skipped, each with a
 * LostEvents of kind PROF_LOST_THINNED. The recorded slices are complete otherwise.
 */
#define PROF_EV_THINNING "ThinningEvent"
#define PROF_F_ONE_IN "one_in" /* varint: N, one of N slices is recorded; 1: all */
#define PROF_F_STACKS "stacks" /* bool: stacks of switches and wakeups are recorded */
#define PROF_F_OVERHEAD_PPM                                                                        \
	"overhead_ppm" /* varint: measured before, of the CPU time of all CPUs */

/*
 * ---- SegmentEnd: the last event of a finished rotated file, whose last bytes are its fields ----
 *
 * Readers find it from the end: it has a fixed size, and is not compressed in compressed files. All are i64.
 */
#define PROF_EV_SEGMENT_END "SegmentEnd" /* first_ns, last_ns: times of the file's events; then: */
#define PROF_F_BYTES_BEFORE "bytes_before" /* of the trace, uncompressed */
#define PROF_F_MARK "mark" /* PROF_SEGMENT_END_MARK */
#define PROF_SEGMENT_END_MARK 0x444e454745533944ULL /* "D9SEGEND" */
#define PROF_SEGMENT_END_SIZE 32 /* bytes of the fields */
#define PROF_SEGMENT_END_MAX 256 /* most bytes that are written for it, schema included */

/*
 * ---- SchedSummary: sums over the threads of a process, for the period that ends at its time ----
 *
 * In place of events (--summary). An interval counts in the period in which it ends.
 */
#define PROF_EV_SUMMARY "SchedSummary" /* pid u32 (or PROF_SUMMARY_OTHER), comm string, then: */
/* kind u8: enum prof_summary_kind; count varint */
#define PROF_F_SUM_NS "sum_ns" /* varint: of all intervals */
#define PROF_F_MAX_NS "max_ns" /* varint: the longest */
#define PROF_F_PERIOD_NS "period_ns" /* varint: length of the period */
/* varint; of PROF_SUMMARY_RUN: runs that ended while the thread was runnable */
#define PROF_F_INVOLUNTARY "involuntary"
/* varint; of PROF_SUMMARY_WAIT: intervals not in count, since their start was not recorded */
#define PROF_F_UNKNOWN "unknown"
/* string map: "k" -> number of intervals, in decimal, from 2^k to below 2^(k+1) ns; "0" includes 0 ns */
#define PROF_F_LOG2_NS "log2_ns"
#define PROF_SUMMARY_OTHER 0xffffffffU /* sum of the processes without a row of their own */

enum prof_summary_kind {
	PROF_SUMMARY_WAIT = 0, /* run-queue latency */
	PROF_SUMMARY_BLOCKED = 1, /* off-CPU and not runnable */
	PROF_SUMMARY_RUN = 2, /* on a CPU; count: switches */
};

/*
 * ---- annotations of fields: at spec level 4 --------------------------------------------------
 *
 * See user/libdial9/FORMAT.md for their meaning, and for the lines of an enum.
 */
#define PROF_NOTE_UNIT "unit"
#define PROF_NOTE_KIND "kind"
#define PROF_NOTE_ENUM "enum"
#define PROF_UNIT_NS "ns"
#define PROF_UNIT_BYTES "bytes"
#define PROF_KIND_PID "pid" /* of a process, or the kernel's pid of a task */
#define PROF_KIND_TID "tid"
#define PROF_KIND_CPU "cpu"
#define PROF_KIND_ADDR "addr"
#define PROF_KIND_STATE "state"
#define PROF_KIND_COUNTER "counter"
#define PROF_KIND_GAUGE "gauge"

#endif /* D9_PROF_EVENTS_H */
