/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_TRACE_H
#define D9_TRACE_READ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"
#include "trace/read/field_units.h"
#include "trace/read/names.h"
#include "trace/read/own_fields.h"

struct buf;

#define TRACE_NONE UINT32_MAX /* unknown TID, PID or CPU */

enum trace_kind {
	TRACE_OTHER, /* an event of another writer: printed as it is */
	TRACE_TRACEPOINT,
	TRACE_SCHED_SWITCH,
	TRACE_SCHED_WAKING, /* also wakeup_new */
	TRACE_CPU_WATCH,
	TRACE_OFF_CPU, /* an off-CPU interval, when it ends */
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
	TRACE_COST,
	TRACE_SUMMARY,
	TRACE_SEGMENT_END,
};

/* Whether an event describes the recorder and the file, and nothing that happened. */
static inline bool trace_is_recorder_info(enum trace_kind kind)
{
	return kind == TRACE_CLOCK_SYNC || kind == TRACE_STATS || kind == TRACE_COST ||
	       kind == TRACE_SEGMENT_END;
}

/* Kernel events as sets of kinds: all except samples; of these, all except switches. */
#define TRACE_KINDS_QUIET                                                                          \
	(1u << TRACE_TRACEPOINT | 1u << TRACE_SCHED_WAKING | 1u << TRACE_CPU_WATCH |               \
	 1u << TRACE_OFF_CPU)
#define TRACE_KINDS_TRACEPOINT (TRACE_KINDS_QUIET | 1u << TRACE_SCHED_SWITCH)

/*
 * Fields that the readers use, in any event: X(role, name). Fields that only one own event
 * has need no role: see trace_read_task() and its like.
 */
#define TRACE_ROLES(X)                                                                             \
	X(COMMON_CPU, PROF_TP_COMMON_CPU)                                                          \
	X(COMMON_PID, PROF_TP_COMMON_PID)                                                          \
	X(TID, PROF_F_TID)                                                                         \
	X(PID, PROF_F_PID)                                                                         \
	X(PPID, PROF_F_PPID)                                                                       \
	X(CPU, PROF_F_CPU)                                                                         \
	X(COMM, PROF_F_COMM)                                                                       \
	X(SOURCE, PROF_F_SOURCE)                                                                   \
	X(THREAD_NAME, PROF_F_THREAD_NAME)                                                         \
	X(CALLCHAIN, PROF_F_CALLCHAIN)                                                             \
	X(FLAGS, PROF_F_FLAGS)                                                                     \
	X(USER_END, PROF_F_USER_END)                                                               \
	X(WORKER_ID, PROF_F_WORKER_ID)                                                             \
	X(MODULE_ID, PROF_F_MODULE_ID)                                                             \
	X(PATH, PROF_F_PATH)                                                                       \
	X(BUILD_ID, PROF_F_BUILD_ID)                                                               \
	X(STATUS, PROF_F_STATUS)                                                                   \
	X(DETAIL, PROF_F_DETAIL)                                                                   \
	X(KIND, PROF_F_KIND)                                                                       \
	X(ADDR, PROF_F_ADDR)                                                                       \
	X(SIZE, PROF_F_SIZE)                                                                       \
	X(SYMBOL_NAME, PROF_F_SYMBOL_NAME)                                                         \
	X(INLINE_DEPTH, PROF_F_INLINE_DEPTH)                                                       \
	X(SOURCE_FILE, PROF_F_SOURCE_FILE)                                                         \
	X(SOURCE_LINE, PROF_F_SOURCE_LINE)                                                         \
	X(BASE_ADDR, PROF_F_BASE_ADDR)                                                             \
	X(REALTIME_NS, PROF_F_REALTIME_NS)                                                         \
	X(ENTRIES, PROF_F_ENTRIES)                                                                 \
	X(EVENT, PROF_F_EVENT)                                                                     \
	X(FIELD, PROF_F_FIELD)                                                                     \
	X(VALUE, PROF_F_VALUE)                                                                     \
	X(NAME, PROF_F_NAME)                                                                       \
	X(COUNT, PROF_F_COUNT)                                                                     \
	X(FIRST_NS, PROF_F_FIRST_NS)                                                               \
	X(LAST_NS, PROF_F_LAST_NS)                                                                 \
	X(PART, PROF_F_PART)                                                                       \
	X(PREV_PID, PROF_F_PREV_PID)                                                               \
	X(PREV_COMM, PROF_F_PREV_COMM)                                                             \
	X(PREV_STATE, PROF_F_PREV_STATE)                                                           \
	X(NEXT_PID, PROF_F_NEXT_PID)                                                               \
	X(NEXT_COMM, PROF_F_NEXT_COMM)                                                             \
	X(TARGET_CPU, PROF_F_TARGET_CPU)                                                           \
	X(DEST_CPU, PROF_F_DEST_CPU)                                                               \
	X(CHILD_PID, PROF_F_CHILD_PID)                                                             \
	X(OLD_PID, PROF_F_OLD_PID)                                                                 \
	X(CONTEXT, PROF_F_CONTEXT)                                                                 \
	X(OFF_NS, PROF_F_OFF_NS)                                                                   \
	X(BLOCKED_NS, PROF_F_BLOCKED_NS)                                                           \
	X(FROM_CPU, PROF_F_FROM_CPU)                                                               \
	X(WOKEN, PROF_F_WOKEN)                                                                     \
	X(WAKER_PID, PROF_F_WAKER_PID)                                                             \
	X(WAKER_COMM, PROF_F_WAKER_COMM)                                                           \
	X(UNFINISHED, PROF_F_UNFINISHED)                                                           \
	X(WATCH, PROF_F_WATCH)                                                                     \
	X(FOLLOWED, PROF_F_FOLLOWED)                                                               \
	X(SUM_NS, PROF_F_SUM_NS)                                                                   \
	X(MAX_NS, PROF_F_MAX_NS)                                                                   \
	X(INVOLUNTARY, PROF_F_INVOLUNTARY)                                                         \
	X(UNKNOWN, PROF_F_UNKNOWN)                                                                 \
	X(LOG2_NS, PROF_F_LOG2_NS)

enum trace_role {
#define ROLE(role, name) ROLE_##role,
	TRACE_ROLES(ROLE)
#undef ROLE
		TRACE_ROLE_CNT,
};

/* Whether an event only names things: its time is the time of writing. */
static inline bool trace_is_naming(enum trace_kind kind)
{
	return (kind >= TRACE_MODULE && kind <= TRACE_SYMBOL) || kind == TRACE_METADATA ||
	       kind == TRACE_MERGED_PART || kind == TRACE_TP_SYMBOL;
}

#define TRACE_NUMBER_MAYBE (-2) /* it depends on the event */

/* A schema with its description for readers. Valid while the trace is, also across headers. */
struct trace_schema {
	const struct dial9_schema
		*schema; /* shared by all of one layout, whatever their annotations */
	enum trace_kind kind;
	uint32_t name; /* string id of the event's name */
	size_t field_cnt;
	bool is_birth; /* wakeup_new: the thread is created */
	int32_t role[TRACE_ROLE_CNT]; /* field index, or -1 */
	/*
	 * Byte position of that role's number from the first value; -1: none, or
	 * TRACE_NUMBER_MAYBE.
	 */
	int32_t number[TRACE_ROLE_CNT];
	uint32_t *field_names; /* string ids */
	const struct tp_symbols **syms; /* per field, NULL: print the number */
	uint64_t syms_version;
	uint32_t syms_part; /* the part of syms */
	struct field_units *units; /* per field */
	struct dial9_iter notes; /* all annotations of its fields: iterate over a copy */
	struct own_fields own; /* {0}: not an event of dial9-prof */
	bool has_events; /* in an event */
	/* more annotations came; without an event it is not one of the stream's schemas */
	bool outdated;
};

/* The first field of that name; -1: there is none. */
int32_t trace_field_at(const struct trace_schema *schema, const char *name);

/* Kind and unit of field @i, and their origin. Borrowed, like the schema. */
static inline const struct field_units *trace_field_units(const struct trace_schema *schema,
							  size_t i)
{
	return &schema->units[i];
}

/* Whether a schema of trace_schemas() is in the stream in this form. */
static inline bool trace_schema_is_real(const struct trace_schema *schema)
{
	return schema->has_events || !schema->outdated;
}
/* Whether it has a type that needs level 0.4, or annotations. */
bool trace_schema_needs_level4(const struct trace_schema *schema);

/* One event. All pointers are borrowed until the next trace_next() on the same trace. */
struct trace_event {
	const struct trace_schema *schema;
	enum trace_kind kind;
	bool has_ts;
	uint64_t offset; /* in the stream */
	uint64_t bytes; /* of this event's frame */
	uint64_t segment; /* headers of the stream before its own */
	/*
	 * Not next to the offset: a compiler would load both at once, right after one was stored.
	 */
	uint64_t ts; /* ns, CLOCK_MONOTONIC */
	uint32_t part; /* see struct part */
	uint32_t tid, pid, cpu; /* TRACE_NONE: unknown */
	uint32_t comm, cgroup; /* string ids, or NAMES_NONE */
	const struct dial9_value *values;
	const uint64_t
		*frames; /* of the callchain, at most TRACE_STACK_MAX: see names_frame_module() */
	uint32_t frame_cnt;
	uint8_t source, flags; /* samples */
	uint8_t user_end; /* samples: enum prof_user_end and PROF_USER_* bits; 0 in older traces */
};

struct trace_opts {
	dial9_read_fn read;
	void *ctx;
	struct names *names; /* borrowed; traces over the same bytes may share them */
	bool learn; /* add the names of these bytes to @names */
	bool names_only; /* nothing else: events have no thread, CPU and stack */
};

struct trace;

/* Reads one dial9 stream from its first byte. 0 or -errno; free with trace_free(). */
int trace_new(const struct trace_opts *opts, struct trace **out);
void trace_free(struct trace *t);
/* The names from its options. */
const struct names *trace_names(const struct trace *t);
/* From now on stacks of switches and wakeups have no frames. */
void trace_skip_stacks(struct trace *t);
/*
 * From now on skips events of these kinds, a set of 1 << enum trace_kind; trace_skipped() counts
 * them. Without TRACE_SCHED_SWITCH, threads without a TaskEvent have no name.
 */
void trace_skip_kinds(struct trace *t, unsigned int kinds);
/* Number and time range of the events skipped in a part so far. */
struct dial9_skipped trace_skipped(const struct trace *t, uint32_t part);
/* From now on events are as with trace_opts.names_only. */
void trace_names_only(struct trace *t);

/*
 * The next event, metadata events included (absorbed before they are returned). 1, or the result of
 * dial9_dec_next(): 0 clean end, -ENODATA truncated tail, -EPROTONOSUPPORT a later format's frame,
 * -EBADMSG, -E2BIG, other -errno.
 */
int trace_next(struct trace *t, struct trace_event *ev);

/* Details of the last failure, and the number of bytes of complete frames before it. */
void trace_error(const struct trace *t, struct dial9_error *err);
uint64_t trace_consumed(const struct trace *t);

/* The state of a thread at the current event; NULL if unknown. Borrowed until the next event. */
const struct names_task *trace_task(const struct trace *t, uint32_t tid);

/* Bytes of frames that are not events (schemas, pools, headers); invalid if events are skipped. */
uint64_t trace_overhead_bytes(const struct trace *t);
/*
 * Features that only level 0.4 of the format has, as a set; 0: any reader of 0.3 can read the
 * stream.
 */
#define TRACE_USES_STACK_POOL 1u
#define TRACE_USES_ANNOTATIONS 2u
#define TRACE_USES_NESTING 4u /* lists and maps of any type */
/* Features in the stream so far, in frames or types of fields, whether events use them or not. */
unsigned int trace_uses(const struct trace *t);
/* All schemas so far; @cnt receives the number. Borrowed. */
struct trace_schema *const *trace_schemas(const struct trace *t, size_t *cnt);

/* An integer value; false for other types, also booleans. */
static inline bool trace_value_u64(const struct dial9_value *v, uint64_t *out)
{
	const unsigned int numbers = 1u << DIAL9_VARINT | 1u << DIAL9_U8 | 1u << DIAL9_U16 |
				     1u << DIAL9_U32 | 1u << DIAL9_I64;

	if (!(numbers & 1u << v->type))
		return false;
	/* the bits of an i64 are at the same place */
	*out = v->u64;
	return true;
}
/* trace_u64() of a field that may be absent, or a boolean. */
bool trace_maybe_u64(const struct trace_event *ev, enum trace_role role, uint64_t *out);
/* The number in the field of that role: false if the event has no such field or no number in it. */
static inline bool trace_u64(const struct trace_event *ev, enum trace_role role, uint64_t *out)
{
	const int32_t at = ev->schema->number[role];

	if (at < 0)
		return at == TRACE_NUMBER_MAYBE && trace_maybe_u64(ev, role, out);
	*out = *(const uint64_t *)((const char *)ev->values + at);
	return true;
}
/* trace_u64(), or @otherwise. */
static inline uint64_t trace_u64_or(const struct trace_event *ev, enum trace_role role,
				    uint64_t otherwise)
{
	uint64_t v;

	return trace_u64(ev, role, &v) ? v : otherwise;
}
/* Text of a role's field; false if there is none. Borrowed until the next trace_next(). */
bool trace_str(const struct trace *t, const struct trace_event *ev, enum trace_role role,
	       struct dial9_str *out);
/* The same as a string id, added if it is new; NAMES_NONE if there is none or it is empty. */
uint32_t trace_str_id(const struct trace *t, const struct trace_event *ev, enum trace_role role);
/*
 * trace_read_task() and so on: the members of an own event that @ev has, see own_fields_read(). 0 for another event.
 * Text is borrowed until the next trace_next().
 */
uint64_t trace_read_own(const struct trace *t, const struct trace_event *ev, enum own_event_id id,
			void *out);
#define TRACE_READ(ID, id, name)                                                                   \
	static inline uint64_t trace_read_##id(const struct trace *t,                              \
					       const struct trace_event *ev, struct own_##id *out) \
	{                                                                                          \
		return trace_read_own(t, ev, OWN_##ID, out);                                       \
	}
OWN_EVENTS(TRACE_READ)
#undef TRACE_READ
/* Text of any STRING or POOLED_STRING value. */
bool trace_value_str(const struct trace *t, const struct dial9_value *v, struct dial9_str *out);
/*
 * Maximum frames of a stack: beyond it, frames next to the root are dropped. A few bytes of a pool
 * can make a huge stack in each of many events.
 */
#define TRACE_STACK_MAX 1024
/* Number of longer stacks so far, pooled ones counted once. */
uint64_t trace_long_stacks(const struct trace *t);
/* Addresses of any STACK or POOLED_STACK value, raw; of a pooled one at most TRACE_STACK_MAX. */
bool trace_value_stack(const struct trace *t, const struct dial9_value *v, const uint8_t **le,
		       uint32_t *cnt);

/*
 * An address of an event in the current segment, in the form of trace_event.frames: see
 * names_frame_module().
 */
uint64_t trace_frame(struct trace *t, uint64_t addr);

/*
 * The names for values of field @i of @ev, NULL if there are none. Borrowed; valid while
 * tp_symbols_version of the names is unchanged.
 */
const struct tp_symbols *trace_field_symbols(const struct trace *t, const struct trace_event *ev,
					     size_t i);
/* The same for events of a schema in a part of the stream: looked up now, not cached. */
const struct tp_symbols *trace_schema_symbols(const struct trace *t, const struct trace_schema *ts,
					      uint32_t part, size_t i);
/* The text that the kernel prints for field @i of @ev, or false: print the number. */
bool trace_field_text(const struct trace *t, const struct trace_event *ev, size_t i,
		      struct buf *out);

#endif /* D9_TRACE_READ_TRACE_H */
