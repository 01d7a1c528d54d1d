// SPDX-License-Identifier: BSD-2-Clause
/*
 * Converts events to records and back. Owns the form of records: each is self-contained, with its pooled text and
 * stacks, so any record can be written at any time. Values that are valid in one file only are converted on input:
 * times, modules, workers, and part numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "rewrite/merge/merge_impl.h"
#include "trace/read/layout.h"

/* ---- into a record ----------------------------------------------------------------------------- */

/* Whether the segment has introduced a module so far. */
static bool is_told(const struct merge_feed *f, const struct trace_event *ev, uint64_t id)
{
	return id < f->module_cap && f->modules[id] >> 32 == (uint32_t)ev->segment + 1;
}

/* The id of a module in the result; an address without a module is unchanged. */
static uint32_t module_of(const struct merge_feed *f, const struct trace_event *ev, uint64_t id)
{
	return (uint32_t)(is_told(f, ev, id) ? f->modules[id] : id);
}

/* The same for a mapping, whose module may be introduced later. */
static uint32_t module_mapped(const struct merge_feed *f, const struct trace_event *ev, uint64_t id)
{
	const struct merge_content *c =
		is_told(f, ev, id) ? NULL :
				     merge_plan_early_module(f->plan, f->file, ev->segment, id);

	return c ? merge_plan_module(f->plan, f->file->part + ev->part, id, c) :
		   module_of(f, ev, id);
}

static uint64_t frame_of(const struct merge_feed *f, const struct trace_event *ev, uint64_t addr)
{
	return (addr & (PROF_FRAME_KERNEL | PROF_FRAME_OFFSET_MASK)) |
	       (uint64_t)module_of(f, ev, names_frame_module(addr)) << PROF_FRAME_MODULE_SHIFT;
}

static uint64_t map_frame(void *ctx, uint64_t addr)
{
	const struct merge_feed *f = ctx;

	return frame_of(f, f->event, addr);
}

/* ---- what means another thing in the result ------------------------------------------------------ */

static uint64_t moved(uint64_t ts, int64_t by)
{
	const uint64_t sum = ts + (uint64_t)by;

	if (by >= 0)
		return sum < ts ? UINT64_MAX : sum;
	return ts < -(uint64_t)by ? 0 : sum;
}

/* The application worker of a thread in the recording. */
static uint64_t worker_of(const struct merge_feed *f, const struct trace_event *ev, uint64_t was)
{
	const uint32_t part = f->file->part + ev->part;
	uint32_t worker, app;
	uint64_t tid;

	if (was != PROF_WORKER_NONE || !names_part(f->plan->names, part)->by_recorder ||
	    !trace_u64(ev, ROLE_TID, &tid) || tid >= TRACE_NONE ||
	    !worker_threads_worker(&f->plan->workers, f->plan->names, part, (uint32_t)tid, ev->ts,
				   &worker, &app))
		return was;
	return worker;
}

static uint64_t number_of(const struct merge_feed *f, const struct trace_event *ev, size_t i,
			  uint64_t was)
{
	const struct merge_part *part = &f->plan->parts[f->file->part + ev->part];
	const int32_t *role = ev->schema->role, at = (int32_t)i;

	if (ev->kind == TRACE_SAMPLE && at == role[ROLE_WORKER_ID])
		return worker_of(f, ev, was);
	if (ev->kind == TRACE_LOST && (at == role[ROLE_FIRST_NS] || at == role[ROLE_LAST_NS]))
		return moved(was, part->shift_ns);
	if (ev->kind == TRACE_SYMBOL &&
	    (at == role[ROLE_ADDR] || (at == role[ROLE_BASE_ADDR] && was)))
		return frame_of(f, ev, was);
	if (at != role[ROLE_MODULE_ID] || was > PROF_FRAME_MODULE_MAX)
		return was;
	if (ev->kind == TRACE_PROC_MAPS)
		return module_mapped(f, ev, was);
	if (ev->kind == TRACE_MODULE || ev->kind == TRACE_MODULE_STATUS)
		return module_of(f, ev, was);
	return was;
}

static void learn_module(struct merge_feed *f, const struct trace_event *ev)
{
	const uint64_t id = trace_u64_or(ev, ROLE_MODULE_ID, 0);
	struct merge_content content;
	uint32_t out;

	if (!id || id > PROF_FRAME_MODULE_MAX)
		return;
	content = merge_plan_content(reader_trace(f->reader), ev);
	out = merge_plan_module(f->plan, f->file->part + ev->part, id, &content);
	buf_free(&content.bytes);
	f->modules = array_reserve(f->modules, &f->module_cap, id + 1, sizeof(*f->modules));
	f->modules[id] = (uint64_t)((uint32_t)ev->segment + 1) << 32 | out;
}

/* ---- schemas ----------------------------------------------------------------------------------- */

/* Schema of events without the input's part fields, and with the result's. */
static int make_schema(const struct trace_schema *ts, bool part, struct dial9_schema **out)
{
	struct dial9_field_n *fields;
	size_t n = 0;
	int err;

	if (!part && ts->role[ROLE_PART] < 0) {
		*out = dial9_schema_ref(ts->schema);
		return 0;
	}
	fields = xcalloc(ts->field_cnt + 1, sizeof(*fields));

	for (size_t i = 0; i < ts->field_cnt; i++)
		if ((int32_t)i != ts->role[ROLE_PART])
			fields[n++] =
				(struct dial9_field_n){ dial9_schema_field_name_n(ts->schema, i),
							dial9_schema_field_type(ts->schema, i) };
	if (part)
		fields[n++] = (struct dial9_field_n){ { PROF_F_PART, strlen(PROF_F_PART) },
						      DIAL9_VARINT };
	err = dial9_schema_new_n(dial9_schema_name_n(ts->schema),
				 dial9_schema_has_timestamp(ts->schema), fields, n, out);
	free(fields);
	return err;
}

/* Returns the first equal layout. Owns @schema. */
static const struct dial9_schema *add_layout(struct merge_schemas *s, struct dial9_schema *schema)
{
	uint64_t h = layout_hash(schema);
	struct dial9_schema *known;

	while ((known = hmap_get(&s->layouts, h)) && !dial9_schema_equal(known, schema))
		h++;
	if (!known) {
		hmap_set(&s->layouts, h, schema);
		return schema;
	}
	dial9_schema_free(schema);
	return known;
}

static void add_u16(struct buf *out, uint16_t v)
{
	buf_add(out, &v, sizeof(v));
}

static void add_u32(struct buf *out, uint32_t v)
{
	buf_add(out, &v, sizeof(v));
}

/* Annotations of @ts, for the fields as placed by make_schema(): entries as in a frame. */
static struct merge_schema *copy_notes(const struct trace_schema *ts)
{
	const int32_t gone = ts->role[ROLE_PART];
	struct merge_schema *out = xcalloc(1, sizeof(*out));
	struct dial9_iter it = ts->notes;
	struct dial9_str key, value;
	uint16_t field;

	while (dial9_annotations_next(&it, &field, &key, &value) == 1) {
		if (gone == field)
			continue;
		add_u16(&out->bytes, (uint16_t)(field - (gone >= 0 && field > gone)));
		add_u16(&out->bytes, (uint16_t)key.len);
		buf_add(&out->bytes, key.ptr, key.len);
		add_u32(&out->bytes, (uint32_t)value.len);
		buf_add(&out->bytes, value.ptr, value.len);
		out->notes.left++;
	}
	out->notes.type = ts->notes.type;
	out->notes.pos = (const uint8_t *)buf_cstr(&out->bytes);
	out->notes.end = out->notes.pos + out->bytes.len;
	return out;
}

static void free_schema(struct merge_schema *m)
{
	buf_free(&m->bytes);
	free(m);
}

/* The number of an equal schema. Owns @schema. */
static uint32_t add_schema(struct merge_schemas *s, struct dial9_schema *schema,
			   const struct trace_schema *ts)
{
	struct merge_schema *m = copy_notes(ts), *known;
	uint64_t h;
	uintptr_t at;

	m->layout = add_layout(s, schema);
	h = hash_u64((uintptr_t)m->layout) + hash_bytes(buf_cstr(&m->bytes), m->bytes.len);
	for (; (at = (uintptr_t)hmap_get(&s->by_content, h)); h++) {
		known = s->v[at - 1];
		if (known->layout != m->layout || known->bytes.len != m->bytes.len ||
		    memcmp(known->notes.pos, m->notes.pos, m->bytes.len) != 0)
			continue;
		free_schema(m);
		return (uint32_t)(at - 1);
	}
	s->v = array_reserve(s->v, &s->cap, s->cnt + 1, sizeof(struct merge_schema *));
	s->v[s->cnt] = m;
	hmap_set(&s->by_content, h, (void *)(s->cnt + 1));
	return (uint32_t)s->cnt++;
}

static int schema_of(struct merge_feed *f, const struct trace_schema *ts, bool part, uint32_t *out)
{
	const uint64_t key = (uintptr_t)ts << 1 | part;
	uintptr_t at = (uintptr_t)hmap_get(&f->known, key);
	struct dial9_schema *schema;
	int err;

	if (!at) {
		err = make_schema(ts, part, &schema);
		if (err)
			return err;
		at = add_schema(f->schemas, schema, ts) + 1;
		hmap_set(&f->known, key, (void *)at);
	}
	*out = (uint32_t)(at - 1);
	return 0;
}

void merge_schemas_fini(struct merge_schemas *s)
{
	size_t pos = 0;
	void *layout;

	for (size_t i = 0; i < s->cnt; i++)
		free_schema(s->v[i]);
	free(s->v);
	while (hmap_next(&s->layouts, &pos, NULL, &layout))
		dial9_schema_free(layout);
	hmap_fini(&s->layouts);
	hmap_fini(&s->by_content);
	notes_copy_fini(&s->notes);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* The metadata of a recorder, which begin its recording and precede its modules. */
static bool begins_recording(const struct merge_feed *f, const struct trace_event *ev)
{
	return ev->kind == TRACE_METADATA &&
	       names_part(f->plan->names, f->file->part + ev->part)->by_recorder;
}

/* If there is no order to keep, modules precede everything that refers to them. */
static uint64_t key_of(const struct merge_feed *f, const struct trace_event *ev, uint64_t ts)
{
	if (!f->file->sorted && (ev->kind == TRACE_MODULE || begins_recording(f, ev)))
		return 0;
	return ev->has_ts ? ts : f->last_key;
}

int merge_record_make(struct merge_feed *f, const struct trace_event *ev, struct buf *out)
{
	const struct merge_part *part;
	struct merge_record r = { .order = (uint32_t)(f->file - f->plan->files),
				  .seq = f->seq++,
				  .has_ts = ev->has_ts };
	int err;

	/* skip the list of parts, and the end of an input file */
	if (ev->kind == TRACE_MERGED_PART || ev->kind == TRACE_SEGMENT_END)
		return -ECANCELED;
	/* the second pass must not find parts that the first did not */
	if (ev->part >= f->file->part_cnt)
		return -ESTALE;
	part = &f->plan->parts[f->file->part + ev->part];
	if (part->again)
		return -ECANCELED;
	err = schema_of(f, ev->schema, part->out, &r.schema);
	if (err)
		return err;
	if (ev->kind == TRACE_MODULE)
		learn_module(f, ev);
	r.ts = moved(ev->ts, part->shift_ns);
	r.key = key_of(f, ev, r.ts);
	if (ev->has_ts)
		f->last_key = r.ts;
	f->event = ev;
	f->record.trace = reader_trace(f->reader);
	f->record.ctx = f;
	f->record.frame_of = map_frame;
	buf_clear(out);
	buf_add(out, &r, sizeof(r));
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		struct dial9_value v = ev->values[i];
		uint64_t number;

		if ((int32_t)i == ev->schema->role[ROLE_PART])
			continue;
		if (trace_value_u64(&v, &number))
			v.u64 = number_of(f, ev, i, number);
		value_record_add(&f->record, &v, out);
	}
	if (part->out)
		value_record_add(&f->record,
				 &(struct dial9_value){ .type = DIAL9_VARINT, .u64 = part->out },
				 out);
	if (out->len > UINT32_MAX)
		return -E2BIG;
	((struct merge_record *)out->data)->sz = (uint32_t)out->len;
	return 0;
}

void merge_feed_fini(struct merge_feed *f)
{
	hmap_fini(&f->known);
	free(f->modules);
	value_record_fini(&f->record);
	reader_free(f->reader);
}

/* ---- out of a record --------------------------------------------------------------------------- */

/* Number of values, including its part. */
int merge_record_write(struct merge_schemas *s, const struct merge_record *r, struct dial9_enc *enc)
{
	const struct dial9_schema *schema = s->v[r->schema]->layout;
	const char *pos = (const char *)(r + 1);
	int err = notes_copy(&s->notes, enc, schema, &s->v[r->schema]->notes, NULL), end;

	if (!err)
		err = dial9_enc_begin(enc, schema, r->ts);
	if (err)
		return err;
	for (size_t i = 0; !err && i < dial9_schema_field_cnt(schema); i++)
		err = value_record_write(&pos, enc);
	end = dial9_enc_end(enc);
	return err ? err : end;
}
