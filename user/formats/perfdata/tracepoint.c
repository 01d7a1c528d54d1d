// SPDX-License-Identifier: BSD-2-Clause
/*
 * tracepoint.c - raw records of tracepoints as dial9 events
 *
 * The layout is the recorder's: the CPU, the thread, and the fields in the kernel's order. A tracepoint with
 * signed fields has two schemas of one name: the compact one, where they are varints, is for records without negative
 * values.
 */
#include "formats/perfdata/tracepoint.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "events/emit.h"

/* Of every record, as include/linux/trace_events.h of the kernel has it: type, flags, depth, thread. */
enum {
	COMMON_SZ = 8,
	FLAGS_AT = 2,
	PID_AT = 4,
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
	COMMON_FIELDS = 2,
	NAME_MAX_LEN = 1024,
};

struct writer {
	struct dial9_schema *compact, *wide; /* wide: NULL without signed fields */
	bool has_context;
};

struct perfdata_tracepoints {
	struct dial9_enc *enc;
	struct hmap writers; /* by number of the format */
	struct hmap others; /* event's index in the header -> schema */
	struct buf text;
};

void perfdata_tracepoints_new(struct dial9_enc *enc, struct perfdata_tracepoints **out)
{
	struct perfdata_tracepoints *t = xcalloc(1, sizeof(*t));

	t->enc = enc;
	*out = t;
}

static void free_writer(struct writer *w)
{
	dial9_schema_free(w->compact);
	dial9_schema_free(w->wide);
	free(w);
}

void perfdata_tracepoints_free(struct perfdata_tracepoints *t)
{
	size_t pos = 0;
	uint64_t key;
	void *w;

	if (!t)
		return;
	while (hmap_next(&t->writers, &pos, &key, &w))
		free_writer(w);
	hmap_fini(&t->writers);
	pos = 0;
	while (hmap_next(&t->others, &pos, &key, &w))
		dial9_schema_free(w);
	hmap_fini(&t->others);
	buf_free(&t->text);
	free(t);
}

/* ---- schemas ----------------------------------------------------------------------------------- */

static uint8_t type_of(const struct perfdata_field *f, bool wide)
{
	switch (f->kind) {
	case PERFDATA_FIELD_UINT:
		return f->size == 1 ? DIAL9_U8 :
		       f->size == 2 ? DIAL9_U16 :
		       f->size == 4 ? DIAL9_U32 :
				      DIAL9_VARINT;
	case PERFDATA_FIELD_SINT:
		return wide ? DIAL9_I64 : DIAL9_VARINT;
	case PERFDATA_FIELD_BOOL:
		return DIAL9_BOOL;
	case PERFDATA_FIELD_CHARS:
	case PERFDATA_FIELD_STRING:
	case PERFDATA_FIELD_REL_STRING:
		return DIAL9_POOLED_STRING;
	case PERFDATA_FIELD_BYTES:
	case PERFDATA_FIELD_DYN_BYTES:
	case PERFDATA_FIELD_REL_BYTES:
		break;
	}
	return DIAL9_BYTES;
}

static int new_schema(const struct perfdata_format *format, bool has_context, bool wide,
		      struct dial9_schema **out)
{
	struct dial9_field *fields = xcalloc(format->cnt + COMMON_FIELDS + 1, sizeof(*fields));
	size_t cnt = COMMON_FIELDS;
	int err;

	fields[0] = (struct dial9_field){ PROF_TP_COMMON_CPU, DIAL9_VARINT };
	fields[1] = (struct dial9_field){ PROF_TP_COMMON_PID, DIAL9_VARINT };
	for (size_t i = 0; i < format->cnt; i++)
		fields[cnt++] = (struct dial9_field){ format->fields[i].name,
						      type_of(&format->fields[i], wide) };
	if (has_context)
		fields[cnt++] = (struct dial9_field){ PROF_F_CONTEXT, DIAL9_VARINT };
	err = dial9_schema_new(format->name, true, fields, cnt, out);
	free(fields);
	return err;
}

static bool has_signed(const struct perfdata_format *format)
{
	for (size_t i = 0; i < format->cnt; i++)
		if (format->fields[i].kind == PERFDATA_FIELD_SINT)
			return true;
	return false;
}

static int get_writer(struct perfdata_tracepoints *t, const struct perfdata_format *format,
		      struct writer **out)
{
	struct writer *w = hmap_get(&t->writers, format->id);
	int err;

	*out = w;
	if (w)
		return 0;
	w = xcalloc(1, sizeof(*w));
	w->has_context = !strcmp(format->name, PROF_EV_SCHED_WAKING) ||
			 !strcmp(format->name, PROF_EV_SCHED_WAKEUP_NEW);
	err = new_schema(format, w->has_context, false, &w->compact);
	if (!err && has_signed(format))
		err = new_schema(format, w->has_context, true, &w->wide);
	if (err) {
		free_writer(w);
		return err;
	}
	hmap_set(&t->writers, format->id, w);
	*out = w;
	return 0;
}

/* ---- events ------------------------------------------------------------------------------------ */

/* All fields are inside of the record; *negative: a signed one is below 0. */
static bool check_fields(const struct perfdata_format *format, struct perfdata_bytes raw,
			 bool *negative)
{
	struct perfdata_bytes bytes;
	int64_t v;

	for (size_t i = 0; i < format->cnt; i++) {
		const struct perfdata_field *f = &format->fields[i];

		if (f->kind <= PERFDATA_FIELD_BOOL) {
			if (!perfdata_field_int(f, raw, &v))
				return false;
			*negative |= f->kind == PERFDATA_FIELD_SINT && v < 0;
		} else if (!perfdata_field_bytes(f, raw, &bytes)) {
			return false;
		}
	}
	return true;
}

static void put_field(struct perfdata_tracepoints *t, const struct perfdata_field *f,
		      struct perfdata_bytes raw)
{
	struct perfdata_bytes bytes = { 0 };
	struct dial9_str text;
	int64_t v = 0;

	switch (f->kind) {
	case PERFDATA_FIELD_SINT:
		perfdata_field_int(f, raw, &v);
		dial9_enc_put_i64(t->enc, v);
		break;
	case PERFDATA_FIELD_UINT:
		perfdata_field_int(f, raw, &v);
		dial9_enc_put_u64(t->enc, (uint64_t)v);
		break;
	case PERFDATA_FIELD_BOOL:
		perfdata_field_int(f, raw, &v);
		dial9_enc_put_bool(t->enc, v);
		break;
	case PERFDATA_FIELD_CHARS:
	case PERFDATA_FIELD_STRING:
	case PERFDATA_FIELD_REL_STRING:
		perfdata_field_bytes(f, raw, &bytes);
		text = emit_text(&t->text, (const char *)bytes.p, bytes.sz);
		dial9_enc_put_str(t->enc, text.ptr, text.len);
		break;
	case PERFDATA_FIELD_BYTES:
	case PERFDATA_FIELD_DYN_BYTES:
	case PERFDATA_FIELD_REL_BYTES:
		perfdata_field_bytes(f, raw, &bytes);
		dial9_enc_put_bytes(t->enc, bytes.p, bytes.sz);
		break;
	}
}

/* Where a wakeup came from; the number of the interrupt is not in the record. */
static uint64_t context_of(struct perfdata_bytes raw)
{
	if (raw.p[FLAGS_AT] & FLAG_HARDIRQ)
		return PROF_CONTEXT_HARDIRQ;
	return raw.p[FLAGS_AT] & FLAG_SOFTIRQ ? PROF_CONTEXT_SOFTIRQ : PROF_CONTEXT_TASK;
}

int perfdata_tracepoints_write(struct perfdata_tracepoints *t, const struct perfdata_format *format,
			       uint64_t ts, const struct perfdata_sample *s)
{
	struct writer *w;
	bool negative = false;
	uint32_t tid;
	int err;

	if (s->raw.sz < COMMON_SZ || !check_fields(format, s->raw, &negative))
		return -EBADMSG;
	err = get_writer(t, format, &w);
	if (err)
		return err;
	memcpy(&tid, s->raw.p + PID_AT, sizeof(tid));
	dial9_enc_begin(t->enc, negative ? w->wide : w->compact, ts);
	dial9_enc_put_u64(t->enc, s->cpu);
	dial9_enc_put_u64(t->enc, tid);
	for (size_t i = 0; i < format->cnt; i++)
		put_field(t, &format->fields[i], s->raw);
	if (w->has_context)
		dial9_enc_put_u64(t->enc, context_of(s->raw));
	return dial9_enc_end(t->enc);
}

/* ---- other events ------------------------------------------------------------------------------ */

static int get_other(struct perfdata_tracepoints *t, size_t index, const struct perfdata_event *ev,
		     struct dial9_schema **out)
{
	static const struct dial9_field fields[] = {
		{ PROF_TP_COMMON_CPU, DIAL9_VARINT | DIAL9_OPTIONAL },
		{ PROF_TP_COMMON_PID, DIAL9_VARINT },
		{ "period", DIAL9_VARINT },
		{ PROF_F_ADDR, DIAL9_VARINT | DIAL9_OPTIONAL },
	};
	struct buf name = { 0 };
	int err;

	*out = hmap_get(&t->others, index);
	if (*out)
		return 0;
	buf_addstr(&name, "perf:");
	if (ev->name)
		str_escape_utf8(&name, ev->name, strnlen(ev->name, NAME_MAX_LEN));
	else
		buf_printf(&name, "type%u-config%llx", ev->attr.type,
			   (unsigned long long)ev->attr.config);
	err = dial9_schema_new(buf_cstr(&name), true, fields, sizeof(fields) / sizeof(fields[0]),
			       out);
	buf_free(&name);
	if (!err)
		hmap_set(&t->others, index, *out);
	return err;
}

static void put_optional(struct dial9_enc *enc, bool has, uint64_t v)
{
	if (has)
		dial9_enc_put_u64(enc, v);
	else
		dial9_enc_put_none(enc);
}

int perfdata_tracepoints_write_other(struct perfdata_tracepoints *t, size_t index, uint64_t ts,
				     const struct perfdata_sample *s)
{
	struct dial9_schema *schema;
	int err = get_other(t, index, s->event, &schema);

	if (err)
		return err;
	dial9_enc_begin(t->enc, schema, ts);
	put_optional(t->enc, s->has & PERF_SAMPLE_CPU, s->cpu);
	dial9_enc_put_u64(t->enc, s->tid);
	dial9_enc_put_u64(t->enc,
			  s->has & PERF_SAMPLE_PERIOD ? s->period : s->event->attr.sample_period);
	put_optional(t->enc, s->has & PERF_SAMPLE_ADDR, s->addr);
	return dial9_enc_end(t->enc);
}
