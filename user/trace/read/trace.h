/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_TRACE_H
#define D9_TRACE_READ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"
#include "trace/read/field_units.h"
#include "trace/read/names.h"

struct buf;

#define TRACE_NONE UINT32_MAX /* a tid, pid or cpu that is not known */

enum trace_kind {
	TRACE_OTHER, /* an event of somebody else's: shown as it is */
	TRACE_TRACEPOINT,
	TRACE_SCHED_SWITCH,
	TRACE_SCHED_WAKING, /* also wakeup_new */
	TRACE_CPU_WATCH,
	TRACE_OFF_CPU, /* a whole stay, when it ends */
	TRACE_SAMPLE,
	TRACE_MODULE,
	TRACE_MODULE_STATUS,
	TRACE_PROC_MAPS,
	TRACE_TASK,
	TRACE_SYMBOL,
	TRACE_CLOCK_SYNC,
	TRACE_METADATA,
	TRACE_MERGED_PART,
	TRACE_TP_SYMBOL,
	TRACE_LOST,
	TRACE_STATS,
	TRACE_SUMMARY,
	TRACE_SEGMENT_END,
};

/* What the recorder says of itself and of the file, which is nothing that happened. */
static inline bool trace_is_account(enum trace_kind kind)
{
	return kind == TRACE_CLOCK_SYNC || kind == TRACE_STATS || kind == TRACE_SEGMENT_END;
}

/* What happened in the kernel, as sets of kinds: all but samples; of these, all but switches. */
#define TRACE_KINDS_QUIET                                                                          \
	(1u << TRACE_TRACEPOINT | 1u << TRACE_SCHED_WAKING | 1u << TRACE_CPU_WATCH |               \
	 1u << TRACE_OFF_CPU)
#define TRACE_KINDS_TRACEPOINT (TRACE_KINDS_QUIET | 1u << TRACE_SCHED_SWITCH)

/* Fields that the readers look at, whatever event they stand in. */
enum trace_role {
	ROLE_COMMON_CPU,
	ROLE_COMMON_PID,
	ROLE_TID,
	ROLE_PID,
	ROLE_PPID,
	ROLE_CPU,
	ROLE_COMM,
	ROLE_EXE,
	ROLE_CGROUP,
	ROLE_SOURCE,
	ROLE_THREAD_NAME,
	ROLE_CALLCHAIN,
	ROLE_FLAGS,
	ROLE_USER_END,
	ROLE_WORKER_ID,
	ROLE_MODULE_ID,
	ROLE_PATH,
	ROLE_BUILD_ID,
	ROLE_STATUS,
	ROLE_DETAIL,
	ROLE_KIND,
	ROLE_ADDR,
	ROLE_SIZE,
	ROLE_SYMBOL_NAME,
	ROLE_INLINE_DEPTH,
	ROLE_SOURCE_FILE,
	ROLE_SOURCE_LINE,
	ROLE_BASE_ADDR,
	ROLE_REALTIME_NS,
	ROLE_ENTRIES,
	ROLE_EVENT,
	ROLE_FIELD,
	ROLE_VALUE,
	ROLE_NAME,
	ROLE_COUNT,
	ROLE_FIRST_NS,
	ROLE_LAST_NS,
	ROLE_PART,
	ROLE_CLOCK,
	ROLE_SHIFT_NS,
	ROLE_PREV_PID,
	ROLE_PREV_COMM,
	ROLE_PREV_STATE,
	ROLE_NEXT_PID,
	ROLE_NEXT_COMM,
	ROLE_TARGET_CPU,
	ROLE_DEST_CPU,
	ROLE_CHILD_PID,
	ROLE_OLD_PID,
	ROLE_CONTEXT,
	ROLE_OFF_NS,
	ROLE_BLOCKED_NS,
	ROLE_FROM_CPU,
	ROLE_WOKEN,
	ROLE_WAKER_PID,
	ROLE_WAKER_COMM,
	ROLE_UNFINISHED,
	ROLE_WATCH,
	ROLE_FOLLOWED,
	ROLE_ELAPSED_NS,
	ROLE_PRODUCED,
	ROLE_WRITTEN,
	ROLE_LOST,
	ROLE_SAMPLES,
	ROLE_BPF_NS,
	ROLE_BPF_RUNS,
	ROLE_CPU_NS,
	ROLE_RSS_BYTES,
	ROLE_RING_FILL_MAX_BYTES,
	ROLE_BYTES_WRITTEN,
	ROLE_CLOSED,
	ROLE_END_CPU_NS,
	ROLE_UNWIND_TABLES,
	ROLE_UNWIND_EVICTED,
	ROLE_UNWIND_TABLES_LEFT_OUT,
	ROLE_UNWIND_BYTES,
	ROLE_UNWIND_LISTS,
	ROLE_UNWIND_LISTS_LEFT_OUT,
	ROLE_UNWIND_MODULES_LEFT_OUT,
	ROLE_KSTACKS_WALKED,
	ROLE_KSTACKS_HELPED,
	ROLE_USTACKS_REUSED,
	ROLE_STACKS_COMPARED,
	ROLE_STACKS_DIFFERING,
	ROLE_WAITED_NS,
	ROLE_OUTPUT_FULL_NS,
	ROLE_SUM_NS,
	ROLE_MAX_NS,
	ROLE_INVOLUNTARY,
	ROLE_UNKNOWN,
	ROLE_LOG2_NS,
	TRACE_ROLE_CNT,
};

/* Events that only name things: their time is when that was written, not when something happened. */
static inline bool trace_is_naming(enum trace_kind kind)
{
	return (kind >= TRACE_MODULE && kind <= TRACE_SYMBOL) || kind == TRACE_METADATA ||
	       kind == TRACE_MERGED_PART || kind == TRACE_TP_SYMBOL;
}

#define TRACE_NUMBER_MAYBE (-2) /* it depends on the event */

/* A schema with what reading it needs. Valid as long as the trace, past midheaders too. */
struct trace_schema {
	const struct dial9_schema
		*schema; /* one for all of a layout, whatever is said of their fields */
	enum trace_kind kind;
	uint32_t name; /* string id of the event's name */
	size_t field_cnt;
	bool tells_birth; /* wakeup_new: there was no such thread before */
	int32_t role[TRACE_ROLE_CNT]; /* field index, or -1 */
	/* Where that role's number is, in bytes from the first value; -1: none, or TRACE_NUMBER_MAYBE. */
	int32_t number[TRACE_ROLE_CNT];
	uint32_t *field_names; /* string ids */
	const struct tp_symbols **syms; /* per field, NULL: print the number */
	uint64_t syms_version;
	uint32_t syms_part; /* of which these are */
	struct field_units *meanings; /* per field */
	struct dial9_iter notes; /* all that was said of its fields: walk a copy of it */
	bool seen; /* in an event */
	bool outdated; /* more was said of its fields; without an event it is none of the stream's */
};

/* The first field of that name; -1: there is none. */
int32_t trace_field_at(const struct trace_schema *schema, const char *name);

/* What field @i means: kind, unit and who says so. Borrowed, like the schema. */
static inline const struct field_units *trace_field_meaning(const struct trace_schema *schema,
							    size_t i)
{
	return &schema->meanings[i];
}

/* Whether a schema of trace_schemas() is one of the stream's, as it says it is. */
static inline bool trace_schema_is_real(const struct trace_schema *schema)
{
	return schema->seen || !schema->outdated;
}
/* Whether it has a type that only 0.4 has, or something is said of its fields. */
bool trace_schema_needs_level4(const struct trace_schema *schema);

/* One event. All pointers are borrowed until the next trace_next() on the same trace. */
struct trace_event {
	const struct trace_schema *schema;
	enum trace_kind kind;
	bool has_ts;
	uint64_t offset; /* in the stream */
	uint64_t bytes; /* of this event's frame */
	uint64_t segment; /* headers of the stream before its own */
	/* Not beside the offset: a compiler would fetch both at once, right behind the writing of one. */
	uint64_t ts; /* ns, CLOCK_MONOTONIC */
	uint32_t part; /* of the stream: see struct part */
	uint32_t tid, pid, cpu; /* TRACE_NONE: unknown */
	uint32_t comm, cgroup; /* string ids, or NAMES_NONE */
	const struct dial9_value *values;
	const uint64_t
		*frames; /* of the callchain, TRACE_STACK_MAX at most: see names_frame_module() */
	uint32_t frame_cnt;
	uint8_t source, flags; /* samples */
	uint8_t user_end; /* samples: enum prof_user_end and PROF_USER_* bits; 0 in older traces */
};

struct trace_opts {
	dial9_read_fn read;
	void *ctx;
	struct names *names; /* borrowed; may be shared by traces over the same bytes */
	bool learn; /* put the names of these bytes into @names */
	bool names_only; /* that is all: events come without thread, CPU and stack */
};

struct trace;

/* A reader of one dial9 stream from its first byte. 0 or -errno; free with trace_free(). */
int trace_new(const struct trace_opts *opts, struct trace **out);
void trace_free(struct trace *t);
/* The names that it was made with. */
const struct names *trace_names(const struct trace *t);
/* From now on stacks of switches and wakings come without frames. */
void trace_skip_stacks(struct trace *t);
/*
 * From now on events of these kinds, a set of 1 << enum trace_kind, are passed over, of which nobody asks more than
 * trace_skipped(). Without TRACE_SCHED_SWITCH threads that no TaskEvent tells of have no name.
 */
void trace_skip_kinds(struct trace *t, unsigned int kinds);
/* How many were passed over in that part so far, and when. */
struct dial9_skipped trace_skipped(const struct trace *t, uint32_t part);
/* From now on events come as with trace_opts.names_only. */
void trace_names_only(struct trace *t);

/*
 * The next event, metadata events included (they are absorbed before they are handed out). 1, or
 * what dial9_dec_next() says: 0 clean end, -ENODATA torn tail, -EPROTONOSUPPORT a newer writer's frame,
 * -EBADMSG, -E2BIG, other -errno.
 */
int trace_next(struct trace *t, struct trace_event *ev);

/* Details of the last failure, and how many bytes of whole frames came before it. */
void trace_error(const struct trace *t, struct dial9_error *err);
uint64_t trace_consumed(const struct trace *t);

/* What is known of a thread at the current event; NULL when nothing is. Borrowed until the next. */
const struct names_task *trace_task(const struct trace *t, uint32_t tid);

/* Bytes of frames that are no events (schemas, pools, headers); not for who passes over events. */
uint64_t trace_overhead_bytes(const struct trace *t);
/* What only level 0.4 of the format has, as a set; 0: any reader of 0.3 reads the stream. */
#define TRACE_USES_STACK_POOL 1u
#define TRACE_USES_ANNOTATIONS 2u
#define TRACE_USES_NESTING 4u /* lists and maps of any type */
/* Which of it the stream has so far, in frames or types of fields, whether events use it or not. */
unsigned int trace_uses(const struct trace *t);
/* All schemas met so far; @cnt receives how many. Borrowed. */
struct trace_schema *const *trace_schemas(const struct trace *t, size_t *cnt);

/* The number that a value is; false for one of another type, and for a truth. */
static inline bool trace_value_u64(const struct dial9_value *v, uint64_t *out)
{
	const unsigned int numbers = 1u << DIAL9_VARINT | 1u << DIAL9_U8 | 1u << DIAL9_U16 |
				     1u << DIAL9_U32 | 1u << DIAL9_I64;

	if (!(numbers & 1u << v->type))
		return false;
	/* the bits of an i64 stand in the same place */
	*out = v->u64;
	return true;
}
/* trace_u64() of a field that may be absent, or is a truth. */
bool trace_maybe_u64(const struct trace_event *ev, enum trace_role role, uint64_t *out);
/* The number in the field of that role: false when the event has no such field or no number there. */
static inline bool trace_u64(const struct trace_event *ev, enum trace_role role, uint64_t *out)
{
	const int32_t at = ev->schema->number[role];

	if (at < 0)
		return at == TRACE_NUMBER_MAYBE && trace_maybe_u64(ev, role, out);
	*out = *(const uint64_t *)((const char *)ev->values + at);
	return true;
}
/* As trace_u64(), or @otherwise. */
static inline uint64_t trace_u64_or(const struct trace_event *ev, enum trace_role role,
				    uint64_t otherwise)
{
	uint64_t v;

	return trace_u64(ev, role, &v) ? v : otherwise;
}
/* Text of a role's field; false when there is none. Borrowed until the next trace_next(). */
bool trace_str(const struct trace *t, const struct trace_event *ev, enum trace_role role,
	       struct dial9_str *out);
/* The same as an id among the names, to which it is added; NAMES_NONE when there is none, or it is empty. */
uint32_t trace_str_id(const struct trace *t, const struct trace_event *ev, enum trace_role role);
/* Text of any STRING or POOLED_STRING value. */
bool trace_value_str(const struct trace *t, const struct dial9_value *v, struct dial9_str *out);
/*
 * Frames of a stack, at most: those next to the root of a longer one are left out. A pool says in a few bytes
 * what would take minutes in each of many events.
 */
#define TRACE_STACK_MAX 1024
/* Stacks so far that were longer, each of a pool once. */
uint64_t trace_long_stacks(const struct trace *t);
/* Addresses of any STACK or POOLED_STACK value, raw; of a pooled one TRACE_STACK_MAX. */
bool trace_value_stack(const struct trace *t, const struct dial9_value *v, const uint8_t **le,
		       uint32_t *cnt);

/*
 * An address as written, in an event of the segment at hand, as trace_event.frames has it: see
 * names_frame_module().
 */
uint64_t trace_frame(struct trace *t, uint64_t addr);

/*
 * What tells the values of field @i of @ev by name, NULL when nothing does. Borrowed; it means the same as
 * long as the names' tp_symbols_version does.
 */
const struct tp_symbols *trace_field_symbols(const struct trace *t, const struct trace_event *ev,
					     size_t i);
/* What the kernel prints for field @i of @ev, or false: print the number. */
bool trace_field_text(const struct trace *t, const struct trace_event *ev, size_t i,
		      struct buf *out);

#endif /* D9_TRACE_READ_TRACE_H */
