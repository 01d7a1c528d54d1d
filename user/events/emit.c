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

struct emit {
	struct dial9_enc *enc;
	struct dial9_schema *schemas[OWN_EVENT_CNT];
	struct dial9_event_type sample; /* as its schema */
	struct dial9_schema *flat_schema; /* level 0.4: of samples whose stack is not pooled */
	struct dial9_event_type flat_sample;
	struct buf text;
	bool followed;
	bool pooled_stacks;
	uint64_t stacks, stack_bytes; /* in the pool */
};

/*
 * Readers keep all pooled stacks in memory, without an end, so a trace has at most this much of them. More are
 * written with each sample.
 */
enum { POOL_BYTES_MAX = 64 << 20 };

/* With the first @cnt of its fields. */
static int new_schema(bool pooled_stacks, enum own_event_id id, size_t cnt,
		      struct dial9_schema **out)
{
	const struct own_event *own = own_event(id);
	struct dial9_field fields[OWN_FIELDS_MAX];

	for (size_t i = 0; i < cnt; i++) {
		fields[i] = (struct dial9_field){ own->fields[i].name, own->fields[i].type };
		if (pooled_stacks && fields[i].type == DIAL9_STACK)
			fields[i].type = DIAL9_POOLED_STACK;
	}
	return dial9_schema_new(own->name, true, fields, cnt, out);
}

int emit_new(struct dial9_enc *enc, bool pooled_stacks, struct emit **out)
{
	struct emit *e = xcalloc(1, sizeof(*e));
	int i, err;

	e->enc = enc;
	e->pooled_stacks = pooled_stacks;
	for (i = 0; i < OWN_EVENT_CNT; i++) {
		err = new_schema(pooled_stacks, i, own_event(i)->cnt - (i == OWN_TASK),
				 &e->schemas[i]);
		if (err)
			break;
	}
	if (!err && pooled_stacks)
		err = new_schema(false, OWN_SAMPLE, own_event(OWN_SAMPLE)->cnt, &e->flat_schema);
	if (err) {
		emit_free(e);
		return err;
	}
	e->sample.schema = e->schemas[OWN_SAMPLE];
	e->flat_sample.schema = e->flat_schema;
	*out = e;
	return 0;
}

int emit_include_followed(struct emit *e)
{
	struct dial9_schema *schema;
	int err = new_schema(e->pooled_stacks, OWN_TASK, own_event(OWN_TASK)->cnt, &schema);

	if (err)
		return err;
	dial9_schema_free(e->schemas[OWN_TASK]);
	e->schemas[OWN_TASK] = schema;
	e->followed = true;
	return 0;
}

void emit_free(struct emit *e)
{
	int i;

	if (!e)
		return;
	for (i = 0; i < OWN_EVENT_CNT; i++)
		dial9_schema_free(e->schemas[i]);
	dial9_schema_free(e->flat_schema);
	buf_free(&e->text);
	free(e);
}

struct dial9_schema *const *emit_schemas(const struct emit *e, size_t *cnt)
{
	*cnt = OWN_EVENT_CNT;
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
static void begin_event(struct emit *e, enum own_event_id id, uint64_t ts)
{
	if (ts == EMIT_NOW)
		ts = dial9_enc_last_ts(e->enc);
	dial9_enc_begin(e->enc, e->schemas[id], ts);
}

static int put_text(struct emit *e, struct dial9_str s)
{
	struct dial9_str str = emit_text(&e->text, s.ptr ? s.ptr : "", s.ptr ? s.len : 0);

	return dial9_enc_put_str(e->enc, str.ptr, str.len);
}

/* How a member of each type is written: PUT() of a row, with these in scope. */
#define PUT(type, member, ...) PUT_##type(ev->member);
#define PUT_U8(v) dial9_enc_put_u64(e->enc, v)
#define PUT_FOLLOWED(v) (e->followed ? dial9_enc_put_u64(e->enc, v) : 0)
#define PUT_U32(v) dial9_enc_put_u64(e->enc, v)
#define PUT_VARINT(v) dial9_enc_put_u64(e->enc, v)
#define PUT_OPT_VARINT(v)                                                                          \
	((v).present ? dial9_enc_put_u64(e->enc, (v).value) : dial9_enc_put_none(e->enc))
#define PUT_I64(v) dial9_enc_put_i64(e->enc, v)
#define PUT_BOOL(v) dial9_enc_put_bool(e->enc, v)
#define PUT_TEXT(v) put_text(e, v)
#define PUT_OPT_TEXT(v) ((v).ptr ? put_text(e, v) : dial9_enc_put_none(e->enc))
#define PUT_BYTES(v) dial9_enc_put_bytes(e->enc, (v).ptr, (v).sz)
#define PUT_STACK(v) dial9_enc_put_stack(e->enc, (v).frames, (v).cnt)
#define PUT_PART(v) dial9_enc_put_u64(e->enc, (v).number)
#define PUT_STRING_MAP(v) dial9_enc_put_map(e->enc, (v).kv, (v).cnt)

/* write_task() and so on: all fields of the struct, in the order of rows. */
#define WRITER(ID, id, name)                                                                       \
	static int write_##id(struct emit *e, uint64_t ts, const struct own_##id *ev)              \
	{                                                                                          \
		begin_event(e, OWN_##ID, ts);                                                      \
		OWN_##ID##_FIELDS(PUT) return dial9_enc_end(e->enc);                               \
	}
OWN_EVENTS(WRITER)

/* Of the fields other than the frames: worker, thread, source, no name, count, CPU, process, flags and end. */
enum { BARE_SAMPLE_SZ_MAX = 10 + 4 + 1 + 1 + 4 + 1 + 10 + 4 + 1 + 1 };

static uint8_t *put_before_stack(uint8_t *p, const struct emit_sample *s)
{
	p = dial9_inline_varint(p, PROF_WORKER_NONE);
	p = dial9_inline_int(p, s->tid, 4);
	p = dial9_inline_int(p, s->source, 1);
	return dial9_inline_int(p, false, 1);
}

static uint8_t *put_after_stack(uint8_t *p, const struct emit_sample *s)
{
	p = dial9_inline_int(p, !s->no_cpu, 1);
	if (!s->no_cpu)
		p = dial9_inline_varint(p, s->cpu);
	p = dial9_inline_int(p, s->pid, 4);
	p = dial9_inline_int(p, s->flags, 1);
	return dial9_inline_int(p, s->user_end, 1);
}

static int emit_flat_sample(struct emit *e, struct dial9_event_type *type,
			    const struct emit_sample *s)
{
	const struct dial9_stack stack = { s->frames, s->frame_cnt };
	int err;
	uint8_t *p = dial9_inline_begin(e->enc, type, s->ts, BARE_SAMPLE_SZ_MAX + 8 * s->frame_cnt,
					&err);

	if (!p)
		return err;
	p = dial9_inline_stack(put_before_stack(p, s), &stack);
	dial9_inline_end(e->enc, put_after_stack(p, s));
	return 0;
}

static int intern_stack(struct emit *e, const struct emit_sample *s, uint32_t *id)
{
	int err = dial9_enc_intern_stack(e->enc, s->frames, s->frame_cnt, id);

	if (err)
		return err;
	if (*id >= e->stacks) {
		e->stacks = (uint64_t)*id + 1;
		e->stack_bytes += 8 * s->frame_cnt;
	}
	if (s->stack_id) {
		s->stack_id->id = *id;
		s->stack_id->known = true;
	}
	return 0;
}

static int emit_pooled_sample(struct emit *e, const struct emit_sample *s)
{
	uint32_t id;
	uint8_t *p;
	int err = 0;

	if (s->stack_id && s->stack_id->known)
		id = s->stack_id->id;
	else if (e->stack_bytes >= POOL_BYTES_MAX)
		return emit_flat_sample(e, &e->flat_sample, s);
	else
		err = intern_stack(e, s, &id);
	if (err)
		return err;
	p = dial9_inline_begin(e->enc, &e->sample, s->ts, BARE_SAMPLE_SZ_MAX, &err);
	if (!p)
		return err;
	p = dial9_inline_int(put_before_stack(p, s), id, 4);
	dial9_inline_end(e->enc, put_after_stack(p, s));
	return 0;
}

int emit_sample(struct emit *e, const struct emit_sample *s)
{
	/* What nearly all stacks are, written in one go. */
	if (!s->thread_name && s->ts != EMIT_NOW)
		return e->pooled_stacks ? emit_pooled_sample(e, s) :
					  emit_flat_sample(e, &e->sample, s);
	return write_sample(e, s->ts,
			    &(struct own_sample){
				    .worker_id = PROF_WORKER_NONE,
				    .tid = s->tid,
				    .source = s->source,
				    .thread_name = own_text(s->thread_name),
				    .callchain = { s->frames, s->frame_cnt },
				    .cpu = { !s->no_cpu, s->cpu },
				    .pid = s->pid,
				    .flags = s->flags,
				    .user_end = s->user_end,
			    });
}

int emit_task(struct emit *e, uint64_t ts, const struct own_task *t)
{
	return write_task(e, ts, t);
}

int emit_module(struct emit *e, uint64_t ts, uint32_t id, const char *path, const uint8_t *build_id,
		size_t build_id_sz, enum prof_module_kind kind)
{
	return write_module(e, ts,
			    &(struct own_module){ .module_id = id,
						  .path = own_text(path),
						  .build_id = { build_id, build_id_sz },
						  .kind = kind });
}

int emit_module_status(struct emit *e, uint64_t ts, uint32_t id, const char *status,
		       const char *detail)
{
	return write_module_status(e, ts,
				   &(struct own_module_status){ .module_id = id,
								.status = own_text(status),
								.detail = own_text(detail) });
}

int emit_map(struct emit *e, uint64_t ts, const struct own_map *m)
{
	return write_map(e, ts, m);
}

int emit_symbol(struct emit *e, const struct emit_symbol *s)
{
	return write_symbol(e, EMIT_NOW,
			    &(struct own_symbol){ .addr = s->addr,
						  .size = s->size,
						  .symbol_name = { s->name, s->name_len },
						  .inline_depth = s->depth,
						  .source_file = { s->file, s->file_len },
						  .source_line = s->line,
						  .base_addr = s->base });
}

int emit_clock_sync(struct emit *e, uint64_t ts, uint64_t realtime_ns)
{
	return write_clock(e, ts, &(struct own_clock){ .realtime_ns = realtime_ns });
}

int emit_metadata(struct emit *e, uint64_t ts, const struct dial9_str (*kv)[2], size_t cnt)
{
	return write_metadata(e, ts, &(struct own_metadata){ .entries = { kv, cnt } });
}

int emit_tp_symbol(struct emit *e, uint64_t ts, const char *event, const char *field, uint8_t kind,
		   uint64_t value, const char *name)
{
	return write_tp_symbol(e, ts,
			       &(struct own_tp_symbol){ .event = own_text(event),
							.field = own_text(field),
							.kind = kind,
							.value = value,
							.name = own_text(name) });
}

int emit_lost(struct emit *e, uint64_t ts, uint32_t cpu, const char *kind, uint64_t cnt,
	      uint64_t first_ns, uint64_t last_ns)
{
	return write_lost(e, ts,
			  &(struct own_lost){ .cpu = cpu,
					      .kind = own_text(kind),
					      .count = cnt,
					      .first_ns = first_ns,
					      .last_ns = last_ns });
}

int emit_trigger(struct emit *e, const struct emit_trigger *t)
{
	return write_trigger(e, t->ts,
			     &(struct own_trigger){ .reason = own_text(t->reason),
						    .event = own_text(t->event),
						    .pid = t->pid,
						    .tid = t->tid,
						    .duration_ns = t->ns,
						    .too_soon = t->too_soon });
}

int emit_stats(struct emit *e, uint64_t ts, const struct own_stats *s)
{
	return write_stats(e, ts, s);
}

int emit_cost(struct emit *e, uint64_t ts, const struct own_cost *c)
{
	return write_cost(e, ts, c);
}

int emit_recorder_process(struct emit *e, uint64_t ts, const struct own_recorder_process *p)
{
	return write_recorder_process(e, ts, p);
}

int emit_thinning(struct emit *e, uint64_t ts, uint64_t one_in, bool stacks, uint64_t overhead_ppm)
{
	return write_thinning(e, ts,
			      &(struct own_thinning){ .one_in = one_in,
						      .stacks = stacks,
						      .overhead_ppm = overhead_ppm });
}

int emit_segment_end(struct emit *e, uint64_t first_ns, uint64_t last_ns)
{
	return write_segment_end(
		e, EMIT_NOW,
		&(struct own_segment_end){ .first_ns = (int64_t)first_ns,
					   .last_ns = (int64_t)last_ns,
					   .bytes_before = (int64_t)dial9_enc_bytes(e->enc),
					   .mark = (int64_t)PROF_SEGMENT_END_MARK });
}

int emit_merged_part(struct emit *e, uint64_t ts, uint64_t part, uint64_t clock, int64_t shift_ns)
{
	return write_merged_part(e, ts,
				 &(struct own_merged_part){
					 .part = { part }, .clock = clock, .shift_ns = shift_ns });
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
	return write_summary(e, ts,
			     &(struct own_summary){ .pid = s->pid,
						    .comm = own_text(s->comm),
						    .kind = s->kind,
						    .count = s->cnt,
						    .sum_ns = s->sum_ns,
						    .max_ns = s->max_ns,
						    .period_ns = s->period_ns,
						    .involuntary = s->involuntary,
						    .unknown = s->unknown,
						    .log2_ns = { kv, cnt } });
}
