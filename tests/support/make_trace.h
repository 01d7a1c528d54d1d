/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_MAKE_TRACE_H
#define D9_TESTS_SUPPORT_MAKE_TRACE_H

/*
 * Traces for tests of the readers, written with the public encoder in the recorder's layouts. The
 * test supplies every value, so it can compute the expected result.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dial9.h"
#include "prof_events.h"

struct make {
	struct dial9_enc *enc;
	struct dial9_schema *sample, *module, *status, *task, *symbol, *metadata, *clock, *tpsym,
		*lost, *stats;
	struct dial9_schema *ended; /* samples with the end of their user stack */
	struct dial9_schema *sums; /* SchedSummary */
	struct dial9_schema *sched_switch, *waking;
};

static inline struct dial9_schema *make_schema(const char *name, const struct dial9_field *f,
					       size_t cnt)
{
	struct dial9_schema *s = NULL;
	int err = dial9_schema_new(name, true, f, cnt, &s);

	assert(!err);
	(void)err;
	return s;
}

#define MAKE_SCHEMA(name, ...)                                                                     \
	make_schema(name, (const struct dial9_field[]){ __VA_ARGS__ },                             \
		    sizeof((const struct dial9_field[]){ __VA_ARGS__ }) /                          \
			    sizeof(struct dial9_field))

static inline void make_schemas_meta(struct make *m)
{
	m->module = MAKE_SCHEMA("ModuleEvent", { "module_id", DIAL9_VARINT },
				{ "path", DIAL9_POOLED_STRING }, { "build_id", DIAL9_BYTES },
				{ "kind", DIAL9_U8 });
	m->status =
		MAKE_SCHEMA("ModuleStatus", { "module_id", DIAL9_VARINT },
			    { "status", DIAL9_POOLED_STRING }, { "detail", DIAL9_POOLED_STRING });
	m->task = MAKE_SCHEMA("TaskEvent", { "pid", DIAL9_U32 }, { "tid", DIAL9_U32 },
			      { "ppid", DIAL9_U32 }, { "comm", DIAL9_POOLED_STRING },
			      { "exe", DIAL9_POOLED_STRING }, { "cgroup", DIAL9_POOLED_STRING });
	m->symbol = MAKE_SCHEMA("SymbolTableEntry", { "addr", DIAL9_VARINT },
				{ "size", DIAL9_VARINT }, { "symbol_name", DIAL9_POOLED_STRING },
				{ "inline_depth", DIAL9_VARINT },
				{ "source_file", DIAL9_POOLED_STRING },
				{ "source_line", DIAL9_VARINT }, { "base_addr", DIAL9_VARINT });
	m->metadata = MAKE_SCHEMA("SegmentMetadataEvent", { "entries", DIAL9_STRING_MAP });
	m->clock = MAKE_SCHEMA("ClockSyncEvent", { "realtime_ns", DIAL9_VARINT });
	m->tpsym = MAKE_SCHEMA("TracepointSymbol", { "event", DIAL9_POOLED_STRING },
			       { "field", DIAL9_POOLED_STRING }, { "kind", DIAL9_U8 },
			       { "value", DIAL9_VARINT }, { "name", DIAL9_POOLED_STRING });
	m->lost = MAKE_SCHEMA("LostEvents", { "cpu", DIAL9_U32 }, { "kind", DIAL9_POOLED_STRING },
			      { "count", DIAL9_VARINT }, { "first_ns", DIAL9_VARINT },
			      { "last_ns", DIAL9_VARINT });
	m->sums = MAKE_SCHEMA("SchedSummary", { "pid", DIAL9_U32 }, { "comm", DIAL9_POOLED_STRING },
			      { "kind", DIAL9_U8 }, { "count", DIAL9_VARINT },
			      { "sum_ns", DIAL9_VARINT }, { "max_ns", DIAL9_VARINT },
			      { "involuntary", DIAL9_VARINT }, { "unknown", DIAL9_VARINT },
			      { "log2_ns", DIAL9_STRING_MAP });
	m->stats = MAKE_SCHEMA("RecorderStats", { "elapsed_ns", DIAL9_VARINT },
			       { "produced", DIAL9_VARINT }, { "written", DIAL9_VARINT },
			       { "lost", DIAL9_VARINT }, { "samples", DIAL9_VARINT },
			       { "bpf_ns", DIAL9_VARINT }, { "bpf_runs", DIAL9_VARINT },
			       { "cpu_ns", DIAL9_VARINT }, { "rss_bytes", DIAL9_VARINT },
			       { "ring_fill_max_bytes", DIAL9_VARINT },
			       { "bytes_written", DIAL9_VARINT }, { "closed", DIAL9_VARINT },
			       { "realtime_ns", DIAL9_VARINT }, { "end_cpu_ns", DIAL9_VARINT });
}

/* @opts may be NULL: a memory encoder at level 3. */
static inline void make_init(struct make *m, const struct dial9_enc_opts *opts)
{
	int err = dial9_enc_new(opts, &m->enc);

	assert(!err);
	(void)err;
	make_schemas_meta(m);
	m->sample =
		MAKE_SCHEMA("CpuSampleEvent", { "worker_id", DIAL9_VARINT }, { "tid", DIAL9_U32 },
			    { "source", DIAL9_U8 },
			    { "thread_name", DIAL9_POOLED_STRING | DIAL9_OPTIONAL },
			    { "callchain", DIAL9_STACK }, { "cpu", DIAL9_VARINT | DIAL9_OPTIONAL },
			    { "pid", DIAL9_U32 }, { "flags", DIAL9_U8 });
	m->ended =
		MAKE_SCHEMA("CpuSampleEvent", { "worker_id", DIAL9_VARINT }, { "tid", DIAL9_U32 },
			    { "source", DIAL9_U8 },
			    { "thread_name", DIAL9_POOLED_STRING | DIAL9_OPTIONAL },
			    { "callchain", DIAL9_STACK }, { "cpu", DIAL9_VARINT | DIAL9_OPTIONAL },
			    { "pid", DIAL9_U32 }, { "flags", DIAL9_U8 }, { "user_end", DIAL9_U8 });
	m->sched_switch =
		MAKE_SCHEMA("sched:sched_switch", { "common_cpu", DIAL9_VARINT },
			    { "common_pid", DIAL9_VARINT }, { "prev_comm", DIAL9_POOLED_STRING },
			    { "prev_pid", DIAL9_VARINT }, { "prev_prio", DIAL9_VARINT },
			    { "prev_state", DIAL9_VARINT }, { "next_comm", DIAL9_POOLED_STRING },
			    { "next_pid", DIAL9_VARINT }, { "next_prio", DIAL9_VARINT });
	m->waking = MAKE_SCHEMA("sched:sched_waking", { "common_cpu", DIAL9_VARINT },
				{ "common_pid", DIAL9_VARINT }, { "comm", DIAL9_POOLED_STRING },
				{ "pid", DIAL9_VARINT }, { "prio", DIAL9_VARINT },
				{ "target_cpu", DIAL9_VARINT });
}

static inline void make_fini(struct make *m)
{
	struct dial9_schema *all[] = { m->sample, m->module, m->task,  m->symbol, m->metadata,
				       m->clock,  m->tpsym,  m->lost,  m->stats,  m->sched_switch,
				       m->waking, m->status, m->ended, m->sums };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		dial9_schema_free(all[i]);
	dial9_enc_free(m->enc);
}

static inline void make_str(struct make *m, const char *s)
{
	dial9_enc_put_str(m->enc, s, strlen(s));
}

static inline void make_end(struct make *m)
{
	int err = dial9_enc_end(m->enc);

	assert(!err);
	(void)err;
}

/* A frame as the recorder packs it. */
static inline uint64_t make_frame(uint32_t module, uint64_t off)
{
	return (uint64_t)module << PROF_FRAME_MODULE_SHIFT | off;
}

static inline void make_module_with(struct make *m, uint64_t ts, uint32_t id, const char *path,
				    const char *build_id, enum prof_module_kind kind)
{
	dial9_enc_begin(m->enc, m->module, ts);
	dial9_enc_put_u64(m->enc, id);
	make_str(m, path);
	dial9_enc_put_bytes(m->enc, build_id, strlen(build_id) < 20 ? strlen(build_id) : 20);
	dial9_enc_put_u64(m->enc, kind);
	make_end(m);
}

static inline void make_module(struct make *m, uint64_t ts, uint32_t id, const char *path,
			       enum prof_module_kind kind)
{
	make_module_with(m, ts, id, path, path, kind);
}

static inline void make_status(struct make *m, uint64_t ts, uint32_t id, const char *status,
			       const char *detail)
{
	dial9_enc_begin(m->enc, m->status, ts);
	dial9_enc_put_u64(m->enc, id);
	make_str(m, status);
	make_str(m, detail);
	make_end(m);
}

static inline void make_child_in(struct make *m, uint64_t ts, uint32_t ppid, uint32_t pid,
				 uint32_t tid, const char *comm, const char *cgroup)
{
	dial9_enc_begin(m->enc, m->task, ts);
	dial9_enc_put_u64(m->enc, pid);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_u64(m->enc, ppid);
	make_str(m, comm);
	make_str(m, "/usr/bin/thing");
	make_str(m, cgroup);
	make_end(m);
}

static inline void make_task_in(struct make *m, uint64_t ts, uint32_t pid, uint32_t tid,
				const char *comm, const char *cgroup)
{
	make_child_in(m, ts, 1, pid, tid, comm, cgroup);
}

static inline void make_child(struct make *m, uint64_t ts, uint32_t ppid, uint32_t pid,
			      const char *comm)
{
	make_child_in(m, ts, ppid, pid, pid, comm, "/");
}

static inline void make_task(struct make *m, uint64_t ts, uint32_t pid, uint32_t tid,
			     const char *comm)
{
	make_task_in(m, ts, pid, tid, comm, "/");
}

static inline void make_symbol(struct make *m, uint64_t ts, uint64_t addr, uint32_t depth,
			       uint64_t base, const char *name, const char *file, uint32_t line)
{
	dial9_enc_begin(m->enc, m->symbol, ts);
	dial9_enc_put_u64(m->enc, addr);
	dial9_enc_put_u64(m->enc, 64);
	make_str(m, name);
	dial9_enc_put_u64(m->enc, depth);
	make_str(m, file);
	dial9_enc_put_u64(m->enc, line);
	dial9_enc_put_u64(m->enc, base);
	make_end(m);
}

/* The label of an unresolved address. */
static inline void make_label(struct make *m, uint64_t ts, uint64_t addr, const char *label)
{
	dial9_enc_begin(m->enc, m->symbol, ts);
	dial9_enc_put_u64(m->enc, addr);
	dial9_enc_put_u64(m->enc, 0);
	make_str(m, label);
	dial9_enc_put_u64(m->enc, 0);
	make_str(m, "");
	dial9_enc_put_u64(m->enc, 0);
	dial9_enc_put_u64(m->enc, 0);
	make_end(m);
}

static inline void make_sample_begin(struct make *m, const struct dial9_schema *schema, uint64_t ts,
				     uint32_t pid, uint32_t tid, enum prof_sample_source source,
				     uint32_t cpu, const uint64_t *frames, size_t cnt)
{
	dial9_enc_begin(m->enc, schema, ts);
	dial9_enc_put_u64(m->enc, PROF_WORKER_NONE);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_u64(m->enc, source);
	dial9_enc_put_none(m->enc);
	dial9_enc_put_stack(m->enc, frames, cnt);
	dial9_enc_put_u64(m->enc, cpu);
	dial9_enc_put_u64(m->enc, pid);
	dial9_enc_put_u64(m->enc, 0);
}

/* As older recorders wrote it, without user_end. */
static inline void make_sample(struct make *m, uint64_t ts, uint32_t pid, uint32_t tid,
			       enum prof_sample_source source, uint32_t cpu, const uint64_t *frames,
			       size_t cnt)
{
	make_sample_begin(m, m->sample, ts, pid, tid, source, cpu, frames, cnt);
	make_end(m);
}

/* For one thread, with the end of its user stack: enum prof_user_end and PROF_USER_* bits. */
static inline void make_sample_ended(struct make *m, uint64_t ts, enum prof_sample_source source,
				     const uint64_t *frames, size_t cnt, uint8_t user_end)
{
	make_sample_begin(m, m->ended, ts, 10, 10, source, 0, frames, cnt);
	dial9_enc_put_u64(m->enc, user_end);
	make_end(m);
}

static inline void make_switch(struct make *m, uint64_t ts, uint32_t cpu, const char *prev,
			       uint32_t prev_tid, uint64_t state, const char *next,
			       uint32_t next_tid)
{
	dial9_enc_begin(m->enc, m->sched_switch, ts);
	dial9_enc_put_u64(m->enc, cpu);
	dial9_enc_put_u64(m->enc, prev_tid);
	make_str(m, prev);
	dial9_enc_put_u64(m->enc, prev_tid);
	dial9_enc_put_u64(m->enc, 120);
	dial9_enc_put_u64(m->enc, state);
	make_str(m, next);
	dial9_enc_put_u64(m->enc, next_tid);
	dial9_enc_put_u64(m->enc, 120);
	make_end(m);
}

static inline void make_waking(struct make *m, uint64_t ts, uint32_t cpu, uint32_t by,
			       const char *comm, uint32_t tid)
{
	dial9_enc_begin(m->enc, m->waking, ts);
	dial9_enc_put_u64(m->enc, cpu);
	dial9_enc_put_u64(m->enc, by);
	make_str(m, comm);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_u64(m->enc, 120);
	dial9_enc_put_u64(m->enc, cpu);
	make_end(m);
}

/*
 * Thread 10 leaves CPU 0 with this stack, is woken by 20 after 1500 ns, and runs again after 1600.
 */
static inline void make_wait(struct make *m, uint64_t ts, const char *comm, const uint64_t *frames,
			     size_t cnt)
{
	make_switch(m, ts, 0, comm, 10, 1, "swapper/0", 0);
	if (cnt)
		make_sample(m, ts, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, frames, cnt);
	make_waking(m, ts + 1500, 0, 20, comm, 10);
	make_switch(m, ts + 1600, 0, "swapper/0", 0, 0, comm, 10);
}

static inline void make_tpsym(struct make *m, uint64_t ts, const char *event, const char *field,
			      enum prof_tp_symbol_kind kind, uint64_t value, const char *name)
{
	dial9_enc_begin(m->enc, m->tpsym, ts);
	make_str(m, event);
	make_str(m, field);
	dial9_enc_put_u64(m->enc, kind);
	dial9_enc_put_u64(m->enc, value);
	make_str(m, name);
	make_end(m);
}

/* The rows for prev_state from sched_switch's print fmt, shortened to the states that tests use. */
static inline void make_prev_state(struct make *m, uint64_t ts)
{
	static const struct {
		enum prof_tp_symbol_kind kind;
		uint64_t value;
		const char *name;
	} rows[] = {
		{ PROF_TP_MASK, 0xff, "" },  { PROF_TP_FLAG, 1, "S" }, { PROF_TP_FLAG, 2, "D" },
		{ PROF_TP_FLAG, 0x10, "X" }, { PROF_TP_ZERO, 0, "R" }, { PROF_TP_MASK, 0x100, "" },
		{ PROF_TP_NONZERO, 0, "+" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		make_tpsym(m, ts, "sched:sched_switch", "prev_state", rows[i].kind, rows[i].value,
			   rows[i].name);
}

/* A SchedSummary event whose histogram has one entry: @in_power intervals in the row @power. */
struct make_sums {
	uint32_t pid;
	const char *comm;
	uint8_t kind;
	uint64_t cnt, sum_ns, max_ns, involuntary, unknown;
	const char *power, *in_power;
};

static inline void make_sums(struct make *m, uint64_t ts, const struct make_sums *v)
{
	const struct dial9_str kv[][2] = { { { v->power, strlen(v->power) },
					     { v->in_power, strlen(v->in_power) } } };

	dial9_enc_begin(m->enc, m->sums, ts);
	dial9_enc_put_u64(m->enc, v->pid);
	make_str(m, v->comm);
	dial9_enc_put_u64(m->enc, v->kind);
	dial9_enc_put_u64(m->enc, v->cnt);
	dial9_enc_put_u64(m->enc, v->sum_ns);
	dial9_enc_put_u64(m->enc, v->max_ns);
	dial9_enc_put_u64(m->enc, v->involuntary);
	dial9_enc_put_u64(m->enc, v->unknown);
	dial9_enc_put_map(m->enc, kv, 1);
	make_end(m);
}

static inline void make_lost(struct make *m, uint64_t ts, const char *kind, uint64_t count,
			     uint64_t first, uint64_t last)
{
	dial9_enc_begin(m->enc, m->lost, ts);
	dial9_enc_put_u64(m->enc, 0);
	make_str(m, kind);
	dial9_enc_put_u64(m->enc, count);
	dial9_enc_put_u64(m->enc, first);
	dial9_enc_put_u64(m->enc, last);
	make_end(m);
}

static inline void make_figures(struct make *m, uint64_t ts, uint64_t produced, uint64_t written,
				uint64_t lost, bool closed)
{
	const uint64_t v[] = { 2000000000, produced, written, lost,   20,     10000000, 10000,
			       30000000,   5000000,  65536,   123456, closed, 4000000,	250000000 };

	dial9_enc_begin(m->enc, m->stats, ts);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		dial9_enc_put_u64(m->enc, v[i]);
	make_end(m);
}

/* The last statistics of a recording. */
static inline void make_stats(struct make *m, uint64_t ts, uint64_t produced, uint64_t lost)
{
	make_figures(m, ts, produced, produced - lost, lost, true);
}

static inline void make_clock(struct make *m, uint64_t ts, uint64_t real)
{
	dial9_enc_begin(m->enc, m->clock, ts);
	dial9_enc_put_u64(m->enc, real);
	make_end(m);
}

/* @kv: key, value, key, value, ..., NULL */
static inline void make_metadata(struct make *m, uint64_t ts, const char *const *kv)
{
	struct dial9_str pairs[16][2];
	size_t n = 0;

	for (; n < 16 && kv[2 * n]; n++) {
		pairs[n][0] = (struct dial9_str){ kv[2 * n], strlen(kv[2 * n]) };
		pairs[n][1] = (struct dial9_str){ kv[2 * n + 1], strlen(kv[2 * n + 1]) };
	}
	dial9_enc_begin(m->enc, m->metadata, ts);
	dial9_enc_put_map(m->enc, (const struct dial9_str(*)[2])pairs, n);
	make_end(m);
}

/* A numeric field of a tracepoint, and its value. */
struct make_number {
	const char *name;
	uint64_t value;
};

enum { MAKE_NUMBERS_MAX = 12 };

/* A tracepoint with numeric fields only. */
static inline void make_numbers(struct make *m, uint64_t ts, const char *event,
				const struct make_number *v, size_t cnt)
{
	struct dial9_field fields[MAKE_NUMBERS_MAX];
	struct dial9_schema *s;

	assert(cnt <= MAKE_NUMBERS_MAX);
	for (size_t i = 0; i < cnt; i++)
		fields[i] = (struct dial9_field){ v[i].name, DIAL9_VARINT };
	s = make_schema(event, fields, cnt);
	dial9_enc_begin(m->enc, s, ts);
	for (size_t i = 0; i < cnt; i++)
		dial9_enc_put_u64(m->enc, v[i].value);
	make_end(m);
	dial9_schema_free(s);
}

#define MAKE_NUMBERS(m, ts, event, ...)                                                            \
	make_numbers(m, ts, event, (const struct make_number[]){ __VA_ARGS__ },                    \
		     sizeof((const struct make_number[]){ __VA_ARGS__ }) /                         \
			     sizeof(struct make_number))

static inline void make_wakeup_new(struct make *m, uint64_t ts, uint32_t by, uint32_t tid)
{
	MAKE_NUMBERS(m, ts, "sched:sched_wakeup_new", { "common_cpu", 0 }, { "common_pid", by },
		     { "pid", tid }, { "target_cpu", 0 });
}

static inline void make_fork(struct make *m, uint64_t ts, uint32_t parent, uint32_t child)
{
	MAKE_NUMBERS(m, ts, "sched:sched_process_fork", { "common_cpu", 0 },
		     { "common_pid", parent }, { "parent_pid", parent }, { "child_pid", child });
}

/* The thread @old takes over @pid, the TID of its process. */
static inline void make_exec(struct make *m, uint64_t ts, uint32_t old, uint32_t pid)
{
	MAKE_NUMBERS(m, ts, "sched:sched_process_exec", { "common_cpu", 0 }, { "common_pid", pid },
		     { "pid", pid }, { "old_pid", old });
}

/* As Tokio's dial9 records the start of a poll of a task spawned at @at. */
static inline void make_poll_start(struct make *m, uint64_t ts, uint32_t worker, uint64_t task,
				   const char *at)
{
	struct dial9_schema *s =
		MAKE_SCHEMA("PollStartEvent", { "worker_id", DIAL9_VARINT },
			    { "task_id", DIAL9_VARINT }, { "spawn_loc", DIAL9_POOLED_STRING });

	dial9_enc_begin(m->enc, s, ts);
	dial9_enc_put_u64(m->enc, worker);
	dial9_enc_put_u64(m->enc, task);
	make_str(m, at);
	make_end(m);
	dial9_schema_free(s);
}

/* Bytes in a file in memory, positioned at its start. */
static inline int make_fd(const void *data, size_t sz)
{
	int fd = memfd_create("d9-test", 0);
	ssize_t n;

	assert(fd >= 0);
	n = write(fd, data, sz);
	assert(n == (ssize_t)sz);
	(void)n;
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* The trace so far, as such a file. */
static inline int make_file(struct make *m)
{
	size_t sz;
	const void *data = dial9_enc_data(m->enc, &sz);

	return make_fd(data, sz);
}

/* The same, and frees @m. */
static inline int make_done(struct make *m)
{
	int fd = make_file(m);

	make_fini(m);
	return fd;
}

/* Threads 11 and 12 of the control group /web and 13 of /db, on a clock that starts at @ts. */
static inline void make_grouped_tasks(struct make *m, uint64_t ts)
{
	make_init(m, NULL);
	make_clock(m, ts, 1700000000ULL * 1000000000);
	make_task_in(m, ts, 1, 11, "a", "/web");
	make_task_in(m, ts, 1, 12, "b", "/web");
	make_task_in(m, ts, 2, 13, "a", "/db");
}

#endif /* D9_TESTS_SUPPORT_MAKE_TRACE_H */
