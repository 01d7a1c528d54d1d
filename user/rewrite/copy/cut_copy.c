// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies decoded events to an encoder. Owns their schemas and metadata. Callers choose the events, and which texts
 * are names.
 */
#include "rewrite/copy/cut_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void cut_copy_fini(struct cut_copy *c)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&c->schemas, &pos, &key, &value))
		dial9_schema_free(value);
	hmap_fini(&c->schemas);
	notes_copy_fini(&c->notes);
	value_record_fini(&c->record);
	buf_free(&c->bytes);
}

/* ---- values ------------------------------------------------------------------------------------ */

static void fit_text(void *ctx, uint8_t type, const struct dial9_str *key, struct dial9_str s,
		     struct buf *out)
{
	const struct cut_copy *c = ctx;

	if (type == DIAL9_BYTES)
		anonymize_bytes(c->anonymize, c->as, s.ptr, s.len, out);
	else
		anonymize_text(c->anonymize,
			       key && c->metadata ? anonymize_meta(key->ptr, key->len) : c->as,
			       s.ptr, s.len, out);
}

static bool is_replaced(const struct cut_entry *entries, size_t cnt, const struct dial9_value *key)
{
	for (size_t i = 0; i < cnt; i++)
		if (key->str.len == strlen(entries[i].key) &&
		    !memcmp(key->str.ptr, entries[i].key, key->str.len))
			return true;
	return false;
}

/* The metadata: kept entries, then the @cnt new ones. */
static void add_metadata(struct cut_copy *c, const struct dial9_value *v,
			 const struct cut_entry *entries, size_t cnt)
{
	struct dial9_value key, value;
	struct dial9_iter it;
	uint32_t kept = 0;

	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) == 1)
		kept += !is_replaced(entries, cnt, &key);
	value_record_add_map(kept + (uint32_t)cnt, &c->bytes);
	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) == 1)
		if (!is_replaced(entries, cnt, &key))
			value_record_add_entry(&c->record,
					       (struct dial9_str){ key.str.ptr, key.str.len },
					       (struct dial9_str){ value.str.ptr, value.str.len },
					       &c->bytes);
	c->record.text_of = NULL;
	for (size_t i = 0; i < cnt; i++)
		value_record_add_entry(
			&c->record, (struct dial9_str){ entries[i].key, strlen(entries[i].key) },
			(struct dial9_str){ entries[i].value, strlen(entries[i].value) },
			&c->bytes);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* A schema with the same fields and another name. */
static int rename_schema(const struct trace_schema *ts, struct dial9_str name,
			 struct dial9_schema **out)
{
	struct dial9_field_n *fields = xcalloc(ts->field_cnt, sizeof(*fields));
	int err;

	for (size_t i = 0; i < ts->field_cnt; i++)
		fields[i] = (struct dial9_field_n){ dial9_schema_field_name_n(ts->schema, i),
						    dial9_schema_field_type(ts->schema, i) };
	err = dial9_schema_new_n(name, dial9_schema_has_timestamp(ts->schema), fields,
				 ts->field_cnt, out);
	free(fields);
	return err;
}

static int new_schema(struct cut_copy *c, const struct trace_schema *ts, struct dial9_schema **out)
{
	struct dial9_str name = dial9_schema_name_n(ts->schema), other;
	struct buf text = { 0 };
	int err = 0;

	anonymize_event(c->anonymize, ts->kind, name.ptr, name.len, &text);
	other = (struct dial9_str){ buf_cstr(&text), text.len };
	if (name.len == other.len && !memcmp(name.ptr, other.ptr, name.len))
		*out = dial9_schema_ref(ts->schema);
	else
		err = rename_schema(ts, other, out);
	buf_free(&text);
	return err;
}

/* The schema of @ts in the copy. */
static int schema_of(struct cut_copy *c, const struct trace_schema *ts,
		     const struct dial9_schema **out)
{
	struct dial9_schema *s;
	int err;

	*out = ts->schema;
	if (!c->anonymize)
		return 0;
	s = hmap_get(&c->schemas, (uintptr_t)ts->schema);
	if (!s) {
		err = new_schema(c, ts, &s);
		if (err)
			return err;
		hmap_set(&c->schemas, (uintptr_t)ts->schema, s);
	}
	*out = s;
	return 0;
}

static int begin_event(struct cut_copy *c, const struct trace_event *ev, uint64_t ts)
{
	const struct dial9_schema *s;
	int err = schema_of(c, ev->schema, &s);

	if (!err)
		err = notes_copy(&c->notes, c->enc, s, &ev->schema->notes,
				 c->anonymize ? anonymize_notes(ev->kind) : NULL);
	return err ? err : dial9_enc_begin(c->enc, s, ts);
}

/* Writes the event with the values added to the record. */
static int write_event(struct cut_copy *c, const struct trace_event *ev, uint64_t ts)
{
	const char *pos = c->bytes.data;
	int err = begin_event(c, ev, ts), end;

	if (err)
		return err;
	for (size_t i = 0; !err && i < ev->schema->field_cnt; i++)
		err = value_record_write(&pos, c->enc);
	end = dial9_enc_end(c->enc);
	return err ? err : end;
}

static void begin_record(struct cut_copy *c)
{
	c->record.trace = reader_trace(c->reader);
	c->record.ctx = c;
	c->record.text_of = NULL;
	buf_clear(&c->bytes);
}

int cut_copy_event(struct cut_copy *c, const struct trace_event *ev, uint64_t ts, uint32_t module,
		   const struct cut_entry *entries, size_t cnt)
{
	begin_record(c);
	c->metadata = ev->kind == TRACE_METADATA;
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		const struct dial9_value *v = &ev->values[i];

		if (c->anonymize) {
			c->record.text_of = fit_text;
			c->as = anonymize_field(reader_names(c->reader), ev, i, module);
		}
		if (c->metadata && cnt && v->type == DIAL9_STRING_MAP &&
		    (int32_t)i == ev->schema->role[ROLE_ENTRIES])
			add_metadata(c, v, entries, cnt);
		else
			value_record_add(&c->record, v, &c->bytes);
	}
	return write_event(c, ev, ts);
}

int cut_copy_clock(struct cut_copy *c, const struct trace_event *ev, uint64_t ts)
{
	const int32_t real = ev->schema->role[ROLE_REALTIME_NS];

	begin_record(c);
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		struct dial9_value v = ev->values[i];

		if ((int32_t)i == real && v.type == DIAL9_VARINT)
			v.u64 += ts - ev->ts;
		value_record_add(&c->record, &v, &c->bytes);
	}
	return write_event(c, ev, ts);
}
