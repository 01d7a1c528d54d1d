/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EVENTS_OWN_EVENTS_H
#define D9_EVENTS_OWN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dial9.h"
#include "prof_events.h"

/*
 * The events that dial9-prof itself writes, each declared once. Schemas, the structs of encoder and readers,
 * annotations, `info --json` and the tables of dial9-trace(5) follow from the rows:
 *
 *	X(TYPE, name, UNIT, KIND, doc)
 *
 * TYPE: OWN_WIRE_*. UNIT and KIND: PROF_UNIT_* and PROF_KIND_*. doc: text of the man page. Rows of a file format:
 * names and types never change, and a new field goes after the others. Readers find fields by name, since older
 * and merged traces have fewer, more, or others.
 */
#define OWN_SAMPLE_FIELDS(X)                                                                       \
	X(VARINT, worker_id, NONE, NONE, "Tokio worker; 255: none")                                \
	X(U32, tid, NONE, TID, "thread")                                                           \
	X(U8, source, NONE, NONE, "0: CPU sample, 1: switch-out, 2: waker, 3: other tracepoint")   \
	X(OPT_TEXT, thread_name, NONE, NONE, "name of the thread, from other writers")             \
	X(STACK, callchain, NONE, ADDR, "kernel frames, leaf first, then user frames")             \
	X(OPT_VARINT, cpu, NONE, CPU, "CPU")                                                       \
	X(U32, pid, NONE, PID, "process")                                                          \
	X(U8, flags, NONE, NONE, "1: user stack truncated, 2: kernel stack truncated")             \
	X(U8, user_end, NONE, NONE, "reason why the user stack ends")

/* The last one is written after emit_include_followed() only: a new field goes before it. */
#define OWN_TASK_FIELDS(X)                                                                         \
	X(U32, pid, NONE, PID, "process")                                                          \
	X(U32, tid, NONE, TID, "thread")                                                           \
	X(U32, ppid, NONE, PID, "parent process")                                                  \
	X(TEXT, comm, NONE, NONE, "name of the thread")                                            \
	X(TEXT, exe, NONE, NONE, "path of the executable; empty: unknown, or a kernel thread")     \
	X(TEXT, cgroup, NONE, NONE, "path of the cgroup")                                          \
	X(FOLLOWED, followed, NONE, NONE, "1: a target, all of its switches and wakeups follow")

#define OWN_MODULE_FIELDS(X)                                                                       \
	X(VARINT, module_id, NONE, NONE, "number of the module, in frame addresses")               \
	X(TEXT, path, NONE, NONE, "file")                                                          \
	X(BYTES, build_id, NONE, NONE, "build-id; may be empty")                                   \
	X(U8, kind, NONE, NONE,                                                                    \
	  "0: ELF file, 1: kernel, 2: kernel module, 3: BPF, 4: vDSO, 5: anonymous")

#define OWN_MODULE_STATUS_FIELDS(X)                                                                \
	X(VARINT, module_id, NONE, NONE, "number of the module")                                   \
	X(TEXT, status, NONE, NONE, "named, or the reason why symbols are missing")                \
	X(TEXT, detail, NONE, NONE, "the same for people; may be empty")

#define OWN_MAP_FIELDS(X)                                                                          \
	X(U32, pid, NONE, PID, "process")                                                          \
	X(VARINT, start, NONE, ADDR, "first address")                                              \
	X(VARINT, end, NONE, ADDR, "end address")                                                  \
	X(VARINT, offset, BYTES, NONE, "offset of the first address in the file")                  \
	X(VARINT, module_id, NONE, NONE, "module")

#define OWN_SYMBOL_FIELDS(X)                                                                       \
	X(VARINT, addr, NONE, ADDR, "frame address")                                               \
	X(VARINT, size, BYTES, NONE, "size of the function")                                       \
	X(TEXT, symbol_name, NONE, NONE, "function")                                               \
	X(VARINT, inline_depth, NONE, NONE, "0: the function itself; higher: inlined into it")     \
	X(TEXT, source_file, NONE, NONE, "source file; empty: unknown")                            \
	X(VARINT, source_line, NONE, NONE, "source line; 0: unknown")                              \
	X(VARINT, base_addr, NONE, ADDR, "frame address of the start of the function")

#define OWN_CLOCK_FIELDS(X) X(VARINT, realtime_ns, NS, NONE, "wall-clock time of the event")

#define OWN_METADATA_FIELDS(X)                                                                     \
	X(STRING_MAP, entries, NONE, NONE, "keys and values; numbers as decimal text")

#define OWN_TP_SYMBOL_FIELDS(X)                                                                    \
	X(TEXT, event, NONE, NONE, "tracepoint, SYSTEM:EVENT")                                     \
	X(TEXT, field, NONE, NONE, "field")                                                        \
	X(U8, kind, NONE, NONE, "0: value, 1: flag; others: how to compute the text from values")  \
	X(VARINT, value, NONE, NONE, "value or flag")                                              \
	X(TEXT, name, NONE, NONE, "text that the kernel prints for it")

#define OWN_LOST_FIELDS(X)                                                                         \
	X(U32, cpu, NONE, CPU, "CPU; 4294967295: unknown, or all")                                 \
	X(TEXT, kind, NONE, NONE, "kind of loss")                                                  \
	X(VARINT, count, NONE, NONE, "lost events")                                                \
	X(VARINT, first_ns, NS, NONE, "no event was lost before")                                  \
	X(VARINT, last_ns, NS, NONE, "no event was lost after")

/*
 * Cumulative, each second and at the end. The last column says when `info --json` has the counter:
 *	ALWAYS	0 in traces without it
 *	FIELD	if the trace has the field: for new counters
 *	STACKS	if kernel stacks were taken
 *	LATE	if one of these counters is not 0
 *	NEVER
 */
#define OWN_STATS_FIELDS(X)                                                                        \
	X(VARINT, elapsed_ns, NS, COUNTER, "duration of the recording so far", ALWAYS)             \
	X(VARINT, produced, NONE, COUNTER, "events of the BPF programs: written + lost", ALWAYS)   \
	X(VARINT, written, NONE, COUNTER, "events written", ALWAYS)                                \
	X(VARINT, lost, NONE, COUNTER, "events lost", ALWAYS)                                      \
	X(VARINT, samples, NONE, COUNTER, "stacks written", ALWAYS)                                \
	X(VARINT, bpf_ns, NS, COUNTER, "CPU time of the BPF programs", ALWAYS)                     \
	X(VARINT, bpf_runs, NONE, COUNTER, "runs of the BPF programs", ALWAYS)                     \
	X(VARINT, cpu_ns, NS, COUNTER, "CPU time of the recorder while recording", ALWAYS)         \
	X(VARINT, rss_bytes, BYTES, GAUGE, "resident memory of the recorder", ALWAYS)              \
	X(VARINT, ring_fill_max_bytes, BYTES, GAUGE, "highest fill level of a ring buffer",        \
	  ALWAYS)                                                                                  \
	X(VARINT, bytes_written, BYTES, COUNTER, "size of the trace, uncompressed", ALWAYS)        \
	X(VARINT, bpf_switch_ns, NS, COUNTER, "part of bpf_ns: context switches", NEVER)           \
	X(VARINT, bpf_wakeup_ns, NS, COUNTER, "part of bpf_ns: wakeups", NEVER)                    \
	X(VARINT, bpf_tracepoint_ns, NS, COUNTER, "part of bpf_ns: other tracepoints", NEVER)      \
	X(VARINT, bpf_sample_ns, NS, COUNTER, "part of bpf_ns: CPU samples", NEVER)                \
	X(VARINT, closed, NONE, NONE,                                                              \
	  "1: last event of the recording; 2: last of this file, the next file continues", NEVER)  \
	X(VARINT, realtime_ns, NS, COUNTER, "part of cpu_ns: at real-time priority", ALWAYS)       \
	X(VARINT, end_cpu_ns, NS, COUNTER, "CPU time of the recorder after the end of recording",  \
	  ALWAYS)                                                                                  \
	X(VARINT, memory_bytes, BYTES, GAUGE, "memory for tasks, mappings, modules and stacks",    \
	  NEVER)                                                                                   \
	X(VARINT, forgotten, NONE, COUNTER, "modules and mapping lists dropped for --mem-max",     \
	  NEVER)                                                                                   \
	X(VARINT, unwind_tables, NONE, COUNTER, "unwind tables loaded into the kernel", FIELD)     \
	X(VARINT, unwind_evicted, NONE, COUNTER, "unwind tables evicted to make room", FIELD)      \
	X(VARINT, unwind_tables_left_out, NONE, COUNTER, "unwind tables without room", FIELD)      \
	X(VARINT, unwind_bytes, BYTES, GAUGE, "size of the loaded unwind tables", FIELD)           \
	X(VARINT, unwind_lists, NONE, COUNTER, "mapping lists loaded into the kernel", FIELD)      \
	X(VARINT, unwind_lists_left_out, NONE, COUNTER, "mapping lists without room", FIELD)       \
	X(VARINT, unwind_modules_left_out, NONE, COUNTER, "modules without room", FIELD)           \
	X(VARINT, kernel_stacks_walked, NONE, COUNTER, "kernel stacks walked by ORC tables",       \
	  STACKS)                                                                                  \
	X(VARINT, kernel_stacks_helped, NONE, COUNTER,                                             \
	  "kernel stacks walked by the kernel's helper, ten times as slow", STACKS)                \
	X(VARINT, user_stacks_reused, NONE, COUNTER, "user stacks known from an earlier walk",     \
	  STACKS)                                                                                  \
	X(VARINT, stacks_compared, NONE, COUNTER,                                                  \
	  "walked, reused or repeated stacks also taken the slow way, as a check", STACKS)         \
	X(VARINT, stacks_differing, NONE, COUNTER,                                                 \
	  "compared stacks that differ; the trace has the slow result", STACKS)                    \
	X(VARINT, waited_ns, NS, COUNTER, "run-queue latency of the recorder", LATE)               \
	X(VARINT, output_full_ns, NS, COUNTER, "time in which the output had no room", LATE)       \
	X(VARINT, helper_cpu_ns, NS, COUNTER, "CPU time of the helper processes", FIELD)           \
	X(VARINT, helper_bytes, BYTES, GAUGE, "resident memory of the helper processes", FIELD)    \
	X(VARINT, helpers, NONE, GAUGE, "number of helper processes", FIELD)

#define OWN_COST_FIELDS(X)                                                                         \
	X(U32, pid, NONE, PID, "process")                                                          \
	X(TEXT, comm, NONE, NONE, "name of the process; empty: unknown")                           \
	X(VARINT, copies_ns, NS, COUNTER, "CPU time of the recorder for copied stacks")            \
	X(VARINT, lists_ns, NS, COUNTER, "CPU time for its mappings and mapping list")             \
	X(VARINT, tables_ns, NS, COUNTER, "CPU time of helpers for unwind tables of its files")    \
	X(VARINT, symbols_ns, NS, COUNTER, "CPU time of helpers for symbols of its files")

#define OWN_SUMMARY_FIELDS(X)                                                                      \
	X(U32, pid, NONE, PID, "process; 4294967295: all processes without a row")                 \
	X(TEXT, comm, NONE, NONE, "name of the process")                                           \
	X(U8, kind, NONE, NONE, "0: run-queue latency, 1: blocked, 2: running")                    \
	X(VARINT, count, NONE, NONE, "intervals that ended in the period; running: switches")      \
	X(VARINT, sum_ns, NS, NONE, "their sum")                                                   \
	X(VARINT, max_ns, NS, NONE, "the longest")                                                 \
	X(VARINT, period_ns, NS, NONE, "period, up to the time of the event")                      \
	X(VARINT, involuntary, NONE, NONE, "running: preempted or time slice over")                \
	X(VARINT, unknown, NONE, NONE,                                                             \
	  "run-queue latency: intervals with unknown start, not in count")                         \
	X(STRING_MAP, log2_ns, NONE, NONE, "K: number of intervals of 2^K to 2^(K+1) ns")

#define OWN_TRIGGER_FIELDS(X)                                                                      \
	X(TEXT, reason, NONE, NONE, "event, offcpu, runq, signal, control or end")                 \
	X(TEXT, event, NONE, NONE, "the event, if that is the reason")                             \
	X(U32, pid, NONE, PID, "process; 0: none")                                                 \
	X(U32, tid, NONE, TID, "thread; 0: none")                                                  \
	X(VARINT, duration_ns, NS, NONE, "duration that was too long; 0: other reason")            \
	X(VARINT, too_soon, NONE, NONE, "triggers since the last snapshot, ignored for --rearm")

#define OWN_THINNING_FIELDS(X)                                                                     \
	X(VARINT, one_in, NONE, NONE, "1 of N time slices is recorded; 1: all")                    \
	X(BOOL, stacks, NONE, NONE, "stacks of switches and wakeups are taken")                    \
	X(VARINT, overhead_ppm, NONE, NONE, "measured cost, in millionths of the time of all CPUs")

/* Every ten seconds and at the end; of a process that has ended, once more. */
#define OWN_RECORDER_PROCESS_FIELDS(X)                                                             \
	X(U32, pid, NONE, PID, "process of the recorder")                                          \
	X(TEXT, name, NONE, NONE, "its name")                                                      \
	X(VARINT, cpu_ns, NS, COUNTER, "its CPU time since it started")                            \
	X(VARINT, pss_bytes, BYTES, GAUGE, "resident memory; shared pages count in part")          \
	X(VARINT, peak_bytes, BYTES, GAUGE, "highest reading of that so far")

/* All i64, so that readers find them from the end of the file. */
#define OWN_SEGMENT_END_FIELDS(X)                                                                  \
	X(I64, first_ns, NS, NONE, "earliest time of an event in the file")                        \
	X(I64, last_ns, NS, NONE, "latest time of an event in the file")                           \
	X(I64, bytes_before, BYTES, NONE, "size of the uncompressed trace before this event")      \
	X(I64, mark, NONE, NONE, "the bytes D9SEGEND")

/* The first one is PROF_F_PART in files, as in the events of a recording. */
#define OWN_MERGED_PART_FIELDS(X)                                                                  \
	X(PART, part, NONE, NONE, "number of the recording in this stream")                        \
	X(VARINT, clock, NONE, NONE, "equal: same boot of one host")                               \
	X(I64, shift_ns, NONE, NONE, "what merge added to the times of the recording, in ns")

/* X(ID, id, name): fields in OWN_<ID>_FIELDS, struct own_<id>. */
#define OWN_EVENTS(X)                                                                              \
	X(SAMPLE, sample, PROF_EV_CPU_SAMPLE)                                                      \
	X(TASK, task, PROF_EV_TASK)                                                                \
	X(MODULE, module, PROF_EV_MODULE)                                                          \
	X(MODULE_STATUS, module_status, PROF_EV_MODULE_STATUS)                                     \
	X(MAP, map, PROF_EV_PROC_MAPS)                                                             \
	X(SYMBOL, symbol, PROF_EV_SYMBOL)                                                          \
	X(CLOCK, clock, PROF_EV_CLOCK_SYNC)                                                        \
	X(METADATA, metadata, PROF_EV_METADATA)                                                    \
	X(TP_SYMBOL, tp_symbol, PROF_EV_TP_SYMBOL)                                                 \
	X(LOST, lost, PROF_EV_LOST)                                                                \
	X(STATS, stats, PROF_EV_STATS)                                                             \
	X(COST, cost, PROF_EV_COST)                                                                \
	X(SUMMARY, summary, PROF_EV_SUMMARY)                                                       \
	X(TRIGGER, trigger, PROF_EV_TRIGGER)                                                       \
	X(THINNING, thinning, PROF_EV_THINNING)                                                    \
	X(RECORDER_PROCESS, recorder_process, PROF_EV_RECORDER_PROCESS)                            \
	X(SEGMENT_END, segment_end, PROF_EV_SEGMENT_END)                                           \
	X(MERGED_PART, merged_part, PROF_EV_MERGED_PART)

/* Types as schemas have them, */
enum {
	OWN_WIRE_U8 = DIAL9_U8,
	OWN_WIRE_FOLLOWED = DIAL9_U8,
	OWN_WIRE_U32 = DIAL9_U32,
	OWN_WIRE_VARINT = DIAL9_VARINT,
	OWN_WIRE_OPT_VARINT = DIAL9_VARINT | DIAL9_OPTIONAL,
	OWN_WIRE_I64 = DIAL9_I64,
	OWN_WIRE_BOOL = DIAL9_BOOL,
	OWN_WIRE_TEXT = DIAL9_POOLED_STRING,
	OWN_WIRE_OPT_TEXT = DIAL9_POOLED_STRING | DIAL9_OPTIONAL,
	OWN_WIRE_BYTES = DIAL9_BYTES,
	OWN_WIRE_STACK = DIAL9_STACK,
	OWN_WIRE_STRING_MAP = DIAL9_STRING_MAP,
	OWN_WIRE_PART = DIAL9_VARINT,
};

/* and as structs have them. Text may have a NULL ptr: empty, or an absent OPT_TEXT. */
typedef uint8_t own_type_U8;
typedef uint8_t own_type_FOLLOWED;
typedef uint32_t own_type_U32;
typedef uint64_t own_type_VARINT;
typedef struct dial9_opt_varint own_type_OPT_VARINT;
typedef int64_t own_type_I64;
typedef bool own_type_BOOL;
typedef struct dial9_str own_type_TEXT;
typedef struct dial9_str own_type_OPT_TEXT;
typedef struct dial9_bytes own_type_BYTES;
typedef struct dial9_stack own_type_STACK;
typedef struct dial9_string_map own_type_STRING_MAP;
typedef struct {
	uint64_t number;
} own_type_PART;

/* struct own_task and so on: members are named as the fields. */
#define OWN_MEMBER(type, member, ...) own_type_##type member;
#define OWN_STRUCT(ID, id, name)                                                                   \
	struct own_##id {                                                                          \
		OWN_##ID##_FIELDS(OWN_MEMBER)                                                      \
	};
OWN_EVENTS(OWN_STRUCT)
#undef OWN_STRUCT
#undef OWN_MEMBER

enum own_event_id {
#define OWN_ID(ID, id, name) OWN_##ID,
	OWN_EVENTS(OWN_ID)
#undef OWN_ID
		OWN_EVENT_CNT,
};

/* What numbers of a field are: static text, NULL where that is not certain. */
struct field_note {
	const char *unit; /* PROF_UNIT_* and others */
	const char *kind; /* PROF_KIND_* */
};

#define OWN_FIELDS_MAX 64 /* of an event: a set of fields is a uint64_t */

struct own_field {
	const char *name;
	uint8_t type; /* OWN_WIRE_* */
	uint16_t off; /* of the struct's member */
	struct field_note note;
};

struct own_event {
	const char *name;
	const struct own_field *fields;
	size_t cnt;
};

const struct own_event *own_event(enum own_event_id id);
/* Whether a set of rows has a member of an own event. */
#define OWN_HAS(set, ID, id, member)                                                               \
	own_event_has((set), OWN_##ID, offsetof(struct own_##id, member))
static inline bool own_event_has(uint64_t set, enum own_event_id id, size_t off)
{
	const struct own_event *e = own_event(id);
	size_t i = 0;

	while (i < e->cnt && e->fields[i].off != off)
		i++;
	return i < e->cnt && (set >> i & 1);
}

/* NULL: no event of ours. */
const struct own_event *own_event_find(struct dial9_str name);

static inline struct dial9_str own_text(const char *s)
{
	return (struct dial9_str){ s, s ? strlen(s) : 0 };
}

/*
 * Unit and kind of a field by name alone: of own events, and of tracepoints ("<system>:<event>") that the kernel's
 * formats do not describe.
 */
struct field_note own_event_note(struct dial9_str event, struct dial9_str field);

#endif /* D9_EVENTS_OWN_EVENTS_H */
