/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EVENTS_EMIT_H
#define D9_EVENTS_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"
#include "events/own_events.h"
#include "prof_events.h"

struct buf;

/*
 * The recorder's own events, one function each. All return 0 or the encoder's -errno. Text may be
 * any bytes: what is not UTF-8 is written as \xHH. A ts of EMIT_NOW is the time of the event
 * before, which costs nothing.
 */
struct emit;

#define EMIT_NOW UINT64_MAX

/* enc is borrowed. pooled_stacks: spec level 0.4. */
int emit_new(struct dial9_enc *enc, bool pooled_stacks, struct emit **out);
void emit_free(struct emit *e);
/* From now on tasks say whether they are followed (PROF_F_FOLLOWED). Before the first event. */
int emit_include_followed(struct emit *e);

/* The schemas of them all. Borrowed. */
struct dial9_schema *const *emit_schemas(const struct emit *e, size_t *cnt);

/*
 * The id of a stack in the pool of one trace, kept by the caller next to the frames. emit_sample() sets it when the
 * stack enters the pool, and then writes the stack without looking at its frames.
 */
struct emit_stack_id {
	uint64_t segment; /* for the caller: the trace in which it is valid */
	uint32_t id;
	bool known;
};

struct emit_sample {
	uint64_t ts;
	uint32_t tid;
	uint32_t pid;
	uint32_t cpu;
	bool no_cpu; /* the CPU is unknown */
	enum prof_sample_source source;
	const char *thread_name; /* NULL: not written */
	const uint64_t *frames; /* packed */
	size_t frame_cnt;
	struct emit_stack_id *stack_id; /* may be NULL */
	uint8_t flags; /* PROF_SAMPLE_* */
	uint8_t user_end; /* enum prof_user_end, and PROF_USER_* */
};
int emit_sample(struct emit *e, const struct emit_sample *s);

/* @t->followed counts after emit_include_followed() only. */
int emit_task(struct emit *e, uint64_t ts, const struct own_task *t);

int emit_module(struct emit *e, uint64_t ts, uint32_t id, const char *path, const uint8_t *build_id,
		size_t build_id_sz, enum prof_module_kind kind);

/* status is one of PROF_STATUS_*; detail is for people and may be NULL. */
int emit_module_status(struct emit *e, uint64_t ts, uint32_t id, const char *status,
		       const char *detail);

int emit_map(struct emit *e, uint64_t ts, const struct own_map *m);

struct emit_symbol {
	uint64_t addr; /* packed */
	uint64_t size;
	const char *name;
	size_t name_len;
	uint32_t depth;
	const char *file; /* may be NULL */
	size_t file_len;
	uint32_t line;
	uint64_t base; /* packed */
};
int emit_symbol(struct emit *e, const struct emit_symbol *s);

int emit_clock_sync(struct emit *e, uint64_t ts, uint64_t realtime_ns);
int emit_metadata(struct emit *e, uint64_t ts, const struct dial9_str (*kv)[2], size_t cnt);
int emit_tp_symbol(struct emit *e, uint64_t ts, const char *event, const char *field, uint8_t kind,
		   uint64_t value, const char *name);
int emit_lost(struct emit *e, uint64_t ts, uint32_t cpu, const char *kind, uint64_t cnt,
	      uint64_t first_ns, uint64_t last_ns);

struct emit_trigger {
	uint64_t ts;
	const char *reason; /* PROF_TRIGGER_* */
	const char *event; /* NULL for none */
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t too_soon; /* others, that asked for nothing */
};
int emit_trigger(struct emit *e, const struct emit_trigger *t);

int emit_stats(struct emit *e, uint64_t ts, const struct own_stats *s);

int emit_cost(struct emit *e, uint64_t ts, const struct own_cost *c);
int emit_recorder_process(struct emit *e, uint64_t ts, const struct own_recorder_process *p);

/* Of @one_in time slices one is recorded. */
int emit_thinning(struct emit *e, uint64_t ts, uint64_t one_in, bool stacks, uint64_t overhead_ppm);

/* The last event of a file. first_ns, last_ns: between them lie the times of all its events. */
int emit_segment_end(struct emit *e, uint64_t first_ns, uint64_t last_ns);

/* One of the recordings in a merged stream. */
int emit_merged_part(struct emit *e, uint64_t ts, uint64_t part, uint64_t clock, int64_t shift_ns);

struct emit_summary {
	uint32_t pid; /* or PROF_SUMMARY_OTHER */
	const char *comm;
	enum prof_summary_kind kind;
	uint64_t cnt, sum_ns, max_ns;
	uint64_t period_ns; /* until the event's time */
	uint64_t involuntary, unknown;
	const uint32_t *buckets;
	size_t bucket_cnt; /* at most EMIT_BUCKETS_MAX */
};
#define EMIT_BUCKETS_MAX 64
int emit_summary(struct emit *e, uint64_t ts, const struct emit_summary *s);

/* s as the encoder takes it: itself when it is UTF-8, else escaped into tmp. */
struct dial9_str emit_text(struct buf *tmp, const char *s, size_t len);

#endif
