// SPDX-License-Identifier: BSD-2-Clause
/*
 * emit.c - the events that are not tracepoints: their schemas, and one function to write each
 *
 * Names and order of the fields are what readers go by: upstream's events keep all of upstream's
 * fields first. Everything knows where it stands in time, since upstream's viewer refuses events
 * that do not; what has no time of its own takes the time of the event before it.
 */
#include "events/emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "dial9.h"

enum schema_id {
	SCHEMA_SAMPLE,
	SCHEMA_TASK,
	SCHEMA_MODULE,
	SCHEMA_MODULE_STATUS,
	SCHEMA_MAP,
	SCHEMA_SYMBOL,
	SCHEMA_CLOCK,
	SCHEMA_METADATA,
	SCHEMA_TP_SYMBOL,
	SCHEMA_LOST,
	SCHEMA_STATS,
	SCHEMA_SUMMARY,
	SCHEMA_TRIGGER,
	SCHEMA_THINNING,
	SCHEMA_SEGMENT_END,
	SCHEMA_CNT,
};

struct schema_def {
	const char *name;
	size_t cnt;
	struct dial9_field fields[36];
};

static const struct schema_def schema_defs[SCHEMA_CNT] = {
	[SCHEMA_SAMPLE] = { PROF_EV_CPU_SAMPLE,
			    9,
			    {
				    { PROF_F_WORKER_ID, DIAL9_VARINT },
				    { PROF_F_TID, DIAL9_U32 },
				    { PROF_F_SOURCE, DIAL9_U8 },
				    { PROF_F_THREAD_NAME, DIAL9_POOLED_STRING | DIAL9_OPTIONAL },
				    { PROF_F_CALLCHAIN, DIAL9_STACK },
				    { PROF_F_CPU, DIAL9_VARINT | DIAL9_OPTIONAL },
				    { PROF_F_PID, DIAL9_U32 },
				    { PROF_F_FLAGS, DIAL9_U8 },
				    { PROF_F_USER_END, DIAL9_U8 },
			    } },
	[SCHEMA_TASK] = { PROF_EV_TASK,
			  6,
			  {
				  { PROF_F_PID, DIAL9_U32 },
				  { PROF_F_TID, DIAL9_U32 },
				  { PROF_F_PPID, DIAL9_U32 },
				  { PROF_F_COMM, DIAL9_POOLED_STRING },
				  { PROF_F_EXE, DIAL9_POOLED_STRING },
				  { PROF_F_CGROUP, DIAL9_POOLED_STRING },
			  } },
	[SCHEMA_MODULE] = { PROF_EV_MODULE,
			    4,
			    {
				    { PROF_F_MODULE_ID, DIAL9_VARINT },
				    { PROF_F_PATH, DIAL9_POOLED_STRING },
				    { PROF_F_BUILD_ID, DIAL9_BYTES },
				    { PROF_F_KIND, DIAL9_U8 },
			    } },
	[SCHEMA_MODULE_STATUS] = { PROF_EV_MODULE_STATUS,
				   3,
				   {
					   { PROF_F_MODULE_ID, DIAL9_VARINT },
					   { PROF_F_STATUS, DIAL9_POOLED_STRING },
					   { PROF_F_DETAIL, DIAL9_POOLED_STRING },
				   } },
	[SCHEMA_MAP] = { PROF_EV_PROC_MAPS,
			 5,
			 {
				 { PROF_F_PID, DIAL9_U32 },
				 { PROF_F_START, DIAL9_VARINT },
				 { PROF_F_END, DIAL9_VARINT },
				 { PROF_F_OFFSET, DIAL9_VARINT },
				 { PROF_F_MODULE_ID, DIAL9_VARINT },
			 } },
	[SCHEMA_SYMBOL] = { PROF_EV_SYMBOL,
			    7,
			    {
				    { PROF_F_ADDR, DIAL9_VARINT },
				    { PROF_F_SIZE, DIAL9_VARINT },
				    { PROF_F_SYMBOL_NAME, DIAL9_POOLED_STRING },
				    { PROF_F_INLINE_DEPTH, DIAL9_VARINT },
				    { PROF_F_SOURCE_FILE, DIAL9_POOLED_STRING },
				    { PROF_F_SOURCE_LINE, DIAL9_VARINT },
				    { PROF_F_BASE_ADDR, DIAL9_VARINT },
			    } },
	[SCHEMA_CLOCK] = { PROF_EV_CLOCK_SYNC, 1, { { PROF_F_REALTIME_NS, DIAL9_VARINT } } },
	[SCHEMA_METADATA] = { PROF_EV_METADATA, 1, { { PROF_F_ENTRIES, DIAL9_STRING_MAP } } },
	[SCHEMA_TP_SYMBOL] = { PROF_EV_TP_SYMBOL,
			       5,
			       {
				       { PROF_F_EVENT, DIAL9_POOLED_STRING },
				       { PROF_F_FIELD, DIAL9_POOLED_STRING },
				       { PROF_F_KIND, DIAL9_U8 },
				       { PROF_F_VALUE, DIAL9_VARINT },
				       { PROF_F_NAME, DIAL9_POOLED_STRING },
			       } },
	[SCHEMA_LOST] = { PROF_EV_LOST,
			  5,
			  {
				  { PROF_F_CPU, DIAL9_U32 },
				  { PROF_F_KIND, DIAL9_POOLED_STRING },
				  { PROF_F_COUNT, DIAL9_VARINT },
				  { PROF_F_FIRST_NS, DIAL9_VARINT },
				  { PROF_F_LAST_NS, DIAL9_VARINT },
			  } },
	[SCHEMA_TRIGGER] = { PROF_EV_TRIGGER,
			     6,
			     {
				     { PROF_F_REASON, DIAL9_POOLED_STRING },
				     { PROF_F_EVENT, DIAL9_POOLED_STRING },
				     { PROF_F_PID, DIAL9_U32 },
				     { PROF_F_TID, DIAL9_U32 },
				     { PROF_F_DURATION_NS, DIAL9_VARINT },
				     { PROF_F_TOO_SOON, DIAL9_VARINT },
			     } },
	[SCHEMA_STATS] = { PROF_EV_STATS,
			   34,
			   {
				   { PROF_F_ELAPSED_NS, DIAL9_VARINT },
				   { PROF_F_PRODUCED, DIAL9_VARINT },
				   { PROF_F_WRITTEN, DIAL9_VARINT },
				   { PROF_F_LOST, DIAL9_VARINT },
				   { PROF_F_SAMPLES, DIAL9_VARINT },
				   { PROF_F_BPF_NS, DIAL9_VARINT },
				   { PROF_F_BPF_RUNS, DIAL9_VARINT },
				   { PROF_F_CPU_NS, DIAL9_VARINT },
				   { PROF_F_RSS_BYTES, DIAL9_VARINT },
				   { PROF_F_RING_FILL_MAX_BYTES, DIAL9_VARINT },
				   { PROF_F_BYTES_WRITTEN, DIAL9_VARINT },
				   { PROF_F_BPF_SWITCH_NS, DIAL9_VARINT },
				   { PROF_F_BPF_WAKEUP_NS, DIAL9_VARINT },
				   { PROF_F_BPF_TRACEPOINT_NS, DIAL9_VARINT },
				   { PROF_F_BPF_SAMPLE_NS, DIAL9_VARINT },
				   { PROF_F_CLOSED, DIAL9_VARINT },
				   { PROF_F_REALTIME_CPU_NS, DIAL9_VARINT },
				   { PROF_F_END_CPU_NS, DIAL9_VARINT },
				   { PROF_F_MEMORY_BYTES, DIAL9_VARINT },
				   { PROF_F_FORGOTTEN, DIAL9_VARINT },
				   { PROF_F_UNWIND_TABLES, DIAL9_VARINT },
				   { PROF_F_UNWIND_EVICTED, DIAL9_VARINT },
				   { PROF_F_UNWIND_TABLES_LEFT_OUT, DIAL9_VARINT },
				   { PROF_F_UNWIND_BYTES, DIAL9_VARINT },
				   { PROF_F_UNWIND_LISTS, DIAL9_VARINT },
				   { PROF_F_UNWIND_LISTS_LEFT_OUT, DIAL9_VARINT },
				   { PROF_F_UNWIND_MODULES_LEFT_OUT, DIAL9_VARINT },
				   { PROF_F_KSTACKS_WALKED, DIAL9_VARINT },
				   { PROF_F_KSTACKS_HELPED, DIAL9_VARINT },
				   { PROF_F_USTACKS_REUSED, DIAL9_VARINT },
				   { PROF_F_STACKS_COMPARED, DIAL9_VARINT },
				   { PROF_F_STACKS_DIFFERING, DIAL9_VARINT },
				   { PROF_F_WAITED_NS, DIAL9_VARINT },
				   { PROF_F_OUTPUT_FULL_NS, DIAL9_VARINT },
			   } },
	[SCHEMA_THINNING] = { PROF_EV_THINNING,
			      3,
			      {
				      { PROF_F_ONE_IN, DIAL9_VARINT },
				      { PROF_F_STACKS, DIAL9_BOOL },
				      { PROF_F_OVERHEAD_PPM, DIAL9_VARINT },
			      } },
	[SCHEMA_SEGMENT_END] = { PROF_EV_SEGMENT_END,
				 4,
				 {
					 { PROF_F_FIRST_NS, DIAL9_I64 },
					 { PROF_F_LAST_NS, DIAL9_I64 },
					 { PROF_F_BYTES_BEFORE, DIAL9_I64 },
					 { PROF_F_MARK, DIAL9_I64 },
				 } },
	[SCHEMA_SUMMARY] = { PROF_EV_SUMMARY,
			     10,
			     {
				     { PROF_F_PID, DIAL9_U32 },
				     { PROF_F_COMM, DIAL9_POOLED_STRING },
				     { PROF_F_KIND, DIAL9_U8 },
				     { PROF_F_COUNT, DIAL9_VARINT },
				     { PROF_F_SUM_NS, DIAL9_VARINT },
				     { PROF_F_MAX_NS, DIAL9_VARINT },
				     { PROF_F_PERIOD_NS, DIAL9_VARINT },
				     { PROF_F_INVOLUNTARY, DIAL9_VARINT },
				     { PROF_F_UNKNOWN, DIAL9_VARINT },
				     { PROF_F_LOG2_NS, DIAL9_STRING_MAP },
			     } },
};

struct emit {
	struct dial9_enc *enc;
	struct dial9_schema *schemas[SCHEMA_CNT];
	struct dial9_event_type sample; /* as its schema */
	struct buf text;
	bool followed;
	bool pooled_stacks;
};

int emit_new(struct dial9_enc *enc, bool pooled_stacks, struct emit **out)
{
	struct emit *e = xcalloc(1, sizeof(*e));
	int i, err;
	size_t k;

	e->enc = enc;
	for (i = 0; i < SCHEMA_CNT; i++) {
		struct schema_def def = schema_defs[i];

		for (k = 0; k < def.cnt; k++)
			if (pooled_stacks && def.fields[k].type == DIAL9_STACK)
				def.fields[k].type = DIAL9_POOLED_STACK;
		err = dial9_schema_new(def.name, true, def.fields, def.cnt, &e->schemas[i]);
		if (err) {
			emit_free(e);
			return err;
		}
	}
	e->sample.schema = e->schemas[SCHEMA_SAMPLE];
	e->pooled_stacks = pooled_stacks;
	*out = e;
	return 0;
}

int emit_tell_followed(struct emit *e)
{
	struct schema_def def = schema_defs[SCHEMA_TASK];
	struct dial9_schema *schema;
	int err;

	def.fields[def.cnt++] = (struct dial9_field){ PROF_F_FOLLOWED, DIAL9_U8 };
	err = dial9_schema_new(def.name, true, def.fields, def.cnt, &schema);
	if (err)
		return err;
	dial9_schema_free(e->schemas[SCHEMA_TASK]);
	e->schemas[SCHEMA_TASK] = schema;
	e->followed = true;
	return 0;
}

void emit_free(struct emit *e)
{
	int i;

	if (!e)
		return;
	for (i = 0; i < SCHEMA_CNT; i++)
		dial9_schema_free(e->schemas[i]);
	buf_free(&e->text);
	free(e);
}

struct dial9_schema *const *emit_schemas(const struct emit *e, size_t *cnt)
{
	*cnt = SCHEMA_CNT;
	return e->schemas;
}

struct dial9_str emit_text(struct buf *tmp, const char *s, size_t len)
{
	if (str_utf8_valid_len(s, len) == len)
		return (struct dial9_str){ s, len };
	buf_clear(tmp);
	str_escape_utf8(tmp, s, len);
	return (struct dial9_str){ buf_cstr(tmp), tmp->len };
}

/* The put functions remember the first error until dial9_enc_end(), so their results can wait. */
static void begin_event(struct emit *e, enum schema_id id, uint64_t ts)
{
	if (ts == EMIT_NOW)
		ts = dial9_enc_last_ts(e->enc);
	dial9_enc_begin(e->enc, e->schemas[id], ts);
}

static void put_text(struct emit *e, const char *s, size_t len)
{
	struct dial9_str str = emit_text(&e->text, s ? s : "", s ? len : 0);

	dial9_enc_put_str(e->enc, str.ptr, str.len);
}

static void put_name(struct emit *e, const char *s)
{
	put_text(e, s, s ? strlen(s) : 0);
}

/* Of the fields other than the frames: worker, thread, source, no name, count, CPU, process, flags and end. */
enum { BARE_SAMPLE_SZ_MAX = 10 + 4 + 1 + 1 + 4 + 1 + 10 + 4 + 1 + 1 };

/* What nearly all stacks are, written in one go. */
static int emit_bare_sample(struct emit *e, const struct emit_sample *s)
{
	const struct dial9_stack stack = { s->frames, s->frame_cnt };
	int err;
	uint8_t *p = dial9_inline_begin(e->enc, &e->sample, s->ts,
					BARE_SAMPLE_SZ_MAX + 8 * s->frame_cnt, &err);

	if (!p)
		return err;
	p = dial9_inline_varint(p, PROF_WORKER_NONE);
	p = dial9_inline_int(p, s->tid, 4);
	p = dial9_inline_int(p, s->source, 1);
	p = dial9_inline_int(p, false, 1);
	p = dial9_inline_stack(p, &stack);
	p = dial9_inline_int(p, true, 1);
	p = dial9_inline_varint(p, s->cpu);
	p = dial9_inline_int(p, s->pid, 4);
	p = dial9_inline_int(p, s->flags, 1);
	p = dial9_inline_int(p, s->user_end, 1);
	dial9_inline_end(e->enc, p);
	return 0;
}

int emit_sample(struct emit *e, const struct emit_sample *s)
{
	if (!s->thread_name && !e->pooled_stacks && s->ts != EMIT_NOW)
		return emit_bare_sample(e, s);
	begin_event(e, SCHEMA_SAMPLE, s->ts);
	dial9_enc_put_u64(e->enc, PROF_WORKER_NONE);
	dial9_enc_put_u64(e->enc, s->tid);
	dial9_enc_put_u64(e->enc, s->source);
	if (s->thread_name)
		put_name(e, s->thread_name);
	else
		dial9_enc_put_none(e->enc);
	dial9_enc_put_stack(e->enc, s->frames, s->frame_cnt);
	dial9_enc_put_u64(e->enc, s->cpu);
	dial9_enc_put_u64(e->enc, s->pid);
	dial9_enc_put_u64(e->enc, s->flags);
	dial9_enc_put_u64(e->enc, s->user_end);
	return dial9_enc_end(e->enc);
}

int emit_task(struct emit *e, uint64_t ts, const struct emit_task *t)
{
	begin_event(e, SCHEMA_TASK, ts);
	dial9_enc_put_u64(e->enc, t->pid);
	dial9_enc_put_u64(e->enc, t->tid);
	dial9_enc_put_u64(e->enc, t->ppid);
	put_name(e, t->comm);
	put_name(e, t->exe);
	put_name(e, t->cgroup);
	if (e->followed)
		dial9_enc_put_u64(e->enc, t->followed);
	return dial9_enc_end(e->enc);
}

int emit_module(struct emit *e, uint64_t ts, uint32_t id, const char *path, const uint8_t *build_id,
		size_t build_id_sz, enum prof_module_kind kind)
{
	begin_event(e, SCHEMA_MODULE, ts);
	dial9_enc_put_u64(e->enc, id);
	put_name(e, path);
	dial9_enc_put_bytes(e->enc, build_id, build_id_sz);
	dial9_enc_put_u64(e->enc, kind);
	return dial9_enc_end(e->enc);
}

int emit_module_status(struct emit *e, uint64_t ts, uint32_t id, const char *status,
		       const char *detail)
{
	begin_event(e, SCHEMA_MODULE_STATUS, ts);
	dial9_enc_put_u64(e->enc, id);
	put_name(e, status);
	put_name(e, detail);
	return dial9_enc_end(e->enc);
}

int emit_map(struct emit *e, uint64_t ts, const struct emit_map *m)
{
	begin_event(e, SCHEMA_MAP, ts);
	dial9_enc_put_u64(e->enc, m->pid);
	dial9_enc_put_u64(e->enc, m->start);
	dial9_enc_put_u64(e->enc, m->end);
	dial9_enc_put_u64(e->enc, m->offset);
	dial9_enc_put_u64(e->enc, m->module_id);
	return dial9_enc_end(e->enc);
}

int emit_symbol(struct emit *e, const struct emit_symbol *s)
{
	begin_event(e, SCHEMA_SYMBOL, EMIT_NOW);
	dial9_enc_put_u64(e->enc, s->addr);
	dial9_enc_put_u64(e->enc, s->size);
	put_text(e, s->name, s->name_len);
	dial9_enc_put_u64(e->enc, s->depth);
	put_text(e, s->file, s->file_len);
	dial9_enc_put_u64(e->enc, s->line);
	dial9_enc_put_u64(e->enc, s->base);
	return dial9_enc_end(e->enc);
}

int emit_clock_sync(struct emit *e, uint64_t ts, uint64_t realtime_ns)
{
	begin_event(e, SCHEMA_CLOCK, ts);
	dial9_enc_put_u64(e->enc, realtime_ns);
	return dial9_enc_end(e->enc);
}

int emit_metadata(struct emit *e, uint64_t ts, const struct dial9_str (*kv)[2], size_t cnt)
{
	begin_event(e, SCHEMA_METADATA, ts);
	dial9_enc_put_map(e->enc, kv, cnt);
	return dial9_enc_end(e->enc);
}

int emit_tp_symbol(struct emit *e, uint64_t ts, const char *event, const char *field, uint8_t kind,
		   uint64_t value, const char *name)
{
	begin_event(e, SCHEMA_TP_SYMBOL, ts);
	put_name(e, event);
	put_name(e, field);
	dial9_enc_put_u64(e->enc, kind);
	dial9_enc_put_u64(e->enc, value);
	put_name(e, name);
	return dial9_enc_end(e->enc);
}

int emit_lost(struct emit *e, uint64_t ts, uint32_t cpu, const char *kind, uint64_t cnt,
	      uint64_t first_ns, uint64_t last_ns)
{
	begin_event(e, SCHEMA_LOST, ts);
	dial9_enc_put_u64(e->enc, cpu);
	put_name(e, kind);
	dial9_enc_put_u64(e->enc, cnt);
	dial9_enc_put_u64(e->enc, first_ns);
	dial9_enc_put_u64(e->enc, last_ns);
	return dial9_enc_end(e->enc);
}

int emit_trigger(struct emit *e, const struct emit_trigger *t)
{
	begin_event(e, SCHEMA_TRIGGER, t->ts);
	put_name(e, t->reason);
	put_name(e, t->event ? t->event : "");
	dial9_enc_put_u64(e->enc, t->pid);
	dial9_enc_put_u64(e->enc, t->tid);
	dial9_enc_put_u64(e->enc, t->ns);
	dial9_enc_put_u64(e->enc, t->too_soon);
	return dial9_enc_end(e->enc);
}

int emit_stats(struct emit *e, uint64_t ts, const struct emit_stats *s)
{
	const uint64_t values[] = {
		s->elapsed_ns,
		s->produced,
		s->written,
		s->lost,
		s->samples,
		s->bpf_ns,
		s->bpf_runs,
		s->cpu_ns,
		s->rss_bytes,
		s->ring_fill_max_bytes,
		s->bytes_written,
		s->bpf_switch_ns,
		s->bpf_wakeup_ns,
		s->bpf_tracepoint_ns,
		s->bpf_sample_ns,
		s->closed,
		s->realtime_ns,
		s->end_cpu_ns,
		s->memory_bytes,
		s->forgotten,
		s->unwind_tables,
		s->unwind_evicted,
		s->unwind_tables_left_out,
		s->unwind_bytes,
		s->unwind_lists,
		s->unwind_lists_left_out,
		s->unwind_modules_left_out,
		s->kernel_stacks_walked,
		s->kernel_stacks_helped,
		s->user_stacks_reused,
		s->stacks_compared,
		s->stacks_differing,
		s->waited_ns,
		s->output_full_ns,
	};
	size_t i;

	begin_event(e, SCHEMA_STATS, ts);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		dial9_enc_put_u64(e->enc, values[i]);
	return dial9_enc_end(e->enc);
}

int emit_thinning(struct emit *e, uint64_t ts, uint64_t one_in, bool stacks, uint64_t overhead_ppm)
{
	begin_event(e, SCHEMA_THINNING, ts);
	dial9_enc_put_u64(e->enc, one_in);
	dial9_enc_put_bool(e->enc, stacks);
	dial9_enc_put_u64(e->enc, overhead_ppm);
	return dial9_enc_end(e->enc);
}

int emit_segment_end(struct emit *e, uint64_t first_ns, uint64_t last_ns)
{
	const uint64_t bytes = dial9_enc_bytes(e->enc);

	begin_event(e, SCHEMA_SEGMENT_END, EMIT_NOW);
	dial9_enc_put_i64(e->enc, (int64_t)first_ns);
	dial9_enc_put_i64(e->enc, (int64_t)last_ns);
	dial9_enc_put_i64(e->enc, (int64_t)bytes);
	dial9_enc_put_i64(e->enc, (int64_t)PROF_SEGMENT_END_MARK);
	return dial9_enc_end(e->enc);
}

int emit_summary(struct emit *e, uint64_t ts, const struct emit_summary *s)
{
	struct dial9_str kv[EMIT_BUCKETS_MAX][2];
	char text[EMIT_BUCKETS_MAX][2][12];
	size_t i, cnt = 0;

	for (i = 0; i < s->bucket_cnt; i++) {
		if (!s->buckets[i])
			continue;
		kv[cnt][0].len = snprintf(text[cnt][0], sizeof(text[0][0]), "%zu", i);
		kv[cnt][1].len = snprintf(text[cnt][1], sizeof(text[0][1]), "%u", s->buckets[i]);
		kv[cnt][0].ptr = text[cnt][0];
		kv[cnt][1].ptr = text[cnt][1];
		cnt++;
	}
	begin_event(e, SCHEMA_SUMMARY, ts);
	dial9_enc_put_u64(e->enc, s->pid);
	put_name(e, s->comm);
	dial9_enc_put_u64(e->enc, s->kind);
	dial9_enc_put_u64(e->enc, s->cnt);
	dial9_enc_put_u64(e->enc, s->sum_ns);
	dial9_enc_put_u64(e->enc, s->max_ns);
	dial9_enc_put_u64(e->enc, s->period_ns);
	dial9_enc_put_u64(e->enc, s->involuntary);
	dial9_enc_put_u64(e->enc, s->unknown);
	dial9_enc_put_map(e->enc, kv, cnt);
	return dial9_enc_end(e->enc);
}
