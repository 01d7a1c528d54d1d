// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decoded events into an encoder, value by value. Owns the ways of each type; which events, and what is
 * a name, others say.
 *
 * Ids of pools mean nothing in another file: pooled text and stacks are looked up and pooled again. One
 * that is not defined stays so, as an id that no pool reaches.
 */
#include "rewrite/copy/cut_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#define UNDEFINED UINT32_MAX

/* What a value is copied as. */
struct how {
	enum anonymize_as as;
	bool metadata; /* the keys of a map say what their values are */
	const struct cut_entry *entries;
	size_t entry_cnt;
};

void cut_copy_fini(struct cut_copy *c)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&c->schemas, &pos, &key, &value))
		dial9_schema_free(value);
	hmap_fini(&c->schemas);
	notes_copy_fini(&c->notes);
	buf_free(&c->text);
	buf_free(&c->texts);
	free(c->frames);
	free(c->ends);
	free(c->pairs);
}

/* ---- text -------------------------------------------------------------------------------------- */

/* Appends a text as the copy has it. */
static void add_text(struct cut_copy *c, enum anonymize_as as, const char *s, size_t len,
		     struct buf *out)
{
	struct buf other = { 0 };

	if (!c->anonymize || as == ANONYMIZE_KEEP) {
		str_escape_invalid(out, s, len);
		return;
	}
	anonymize_text(c->anonymize, as, s, len, &other);
	str_escape_invalid(out, buf_cstr(&other), other.len);
	buf_free(&other);
}

/* A text as the copy has it; borrowed until the next one. */
static struct dial9_str fit_text(struct cut_copy *c, const struct how *how, struct dial9_str s)
{
	if (!c->anonymize && dial9_utf8_valid_len(s.ptr, s.len) == s.len)
		return s;
	buf_clear(&c->text);
	add_text(c, how->as, s.ptr, s.len, &c->text);
	return (struct dial9_str){ buf_cstr(&c->text), c->text.len };
}

static int put_text(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	struct dial9_str s = fit_text(c, how, (struct dial9_str){ v->str.ptr, v->str.len });

	return dial9_enc_put_str(c->enc, s.ptr, s.len);
}

static int put_bytes(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	if (!c->anonymize || how->as == ANONYMIZE_KEEP)
		return dial9_enc_put_value(c->enc, v);
	buf_clear(&c->text);
	anonymize_bytes(c->anonymize, how->as, v->str.ptr, v->str.len, &c->text);
	return dial9_enc_put_bytes(c->enc, buf_cstr(&c->text), c->text.len);
}

static int put_pooled(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	uint32_t id = UNDEFINED;
	struct dial9_str s;
	int err = 0;

	if (trace_value_str(reader_trace(c->reader), v, &s)) {
		s = fit_text(c, how, s);
		err = dial9_enc_intern(c->enc, s.ptr, s.len, &id);
	}
	return err ? err : dial9_enc_put_str_id(c->enc, id);
}

static int put_stack(struct cut_copy *c, const struct dial9_value *v)
{
	uint32_t cnt, id;
	const uint8_t *le;
	int err;

	if (!trace_value_stack(reader_trace(c->reader), v, &le, &cnt))
		return dial9_enc_put_stack_id(c->enc, UNDEFINED);
	c->frames = array_reserve(c->frames, &c->frame_cap, cnt, sizeof(*c->frames));
	for (uint32_t i = 0; i < cnt; i++)
		c->frames[i] = dial9_frame_at(le, i);
	err = dial9_enc_intern_stack(c->enc, c->frames, cnt, &id);
	return err ? err : dial9_enc_put_stack_id(c->enc, id);
}

/* ---- maps and lists ---------------------------------------------------------------------------- */

static size_t add_map_text(struct cut_copy *c, size_t n, enum anonymize_as as, const char *s,
			   size_t len)
{
	add_text(c, as, s, len, &c->texts);
	c->ends = array_reserve(c->ends, &c->end_cap, n + 1, sizeof(*c->ends));
	c->ends[n] = c->texts.len;
	return n + 1;
}

static bool replaced(const struct how *how, const struct dial9_value *key)
{
	for (size_t i = 0; i < how->entry_cnt; i++)
		if (key->str.len == strlen(how->entries[i].key) &&
		    !memcmp(key->str.ptr, how->entries[i].key, key->str.len))
			return true;
	return false;
}

/* Keys and values one behind the other in c->texts: how many. */
static size_t collect_map(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	struct dial9_value key, value;
	enum anonymize_as as;
	struct dial9_iter it;
	size_t n = 0;

	buf_clear(&c->texts);
	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) == 1) {
		if (replaced(how, &key))
			continue;
		as = how->metadata ? anonymize_meta(key.str.ptr, key.str.len) : how->as;
		n = add_map_text(c, n, ANONYMIZE_KEEP, key.str.ptr, key.str.len);
		n = add_map_text(c, n, as, value.str.ptr, value.str.len);
	}
	for (size_t i = 0; i < how->entry_cnt; i++) {
		const struct cut_entry *e = &how->entries[i];

		n = add_map_text(c, n, ANONYMIZE_KEEP, e->key, strlen(e->key));
		n = add_map_text(c, n, ANONYMIZE_KEEP, e->value, strlen(e->value));
	}
	return n;
}

static int put_string_map(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	size_t n = collect_map(c, how, v), at = 0;
	const char *texts = buf_cstr(&c->texts);

	c->pairs = array_reserve(c->pairs, &c->pair_cap, n / 2, sizeof(*c->pairs));
	for (size_t i = 0; i < n; i++) {
		c->pairs[i / 2][i % 2] = (struct dial9_str){ texts + at, c->ends[i] - at };
		at = c->ends[i];
	}
	return dial9_enc_put_map(c->enc, (const struct dial9_str(*)[2])c->pairs, n / 2);
}

static int put_value(struct cut_copy *c, const struct how *how, const struct dial9_value *v);

static int put_list(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	int err = dial9_enc_open_list(c->enc);
	struct dial9_value elem;
	struct dial9_iter it;

	dial9_iter_init(&it, v);
	while (!err && dial9_list_next(&it, &elem) == 1)
		err = put_value(c, how, &elem);
	return err ? err : dial9_enc_close(c->enc);
}

static int put_map(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	const struct how keep = { .as = ANONYMIZE_KEEP };
	int err = dial9_enc_open_map(c->enc);
	struct dial9_value key, value;
	struct dial9_iter it;

	dial9_iter_init(&it, v);
	while (!err && dial9_map_next(&it, &key, &value) == 1) {
		err = put_value(c, &keep, &key);
		if (!err)
			err = put_value(c, how, &value);
	}
	return err ? err : dial9_enc_close(c->enc);
}

/* Lists nest no deeper than the decoder allows. */
static int put_value(struct cut_copy *c, const struct how *how, const struct dial9_value *v)
{
	switch ((int)v->type) {
	case DIAL9_STRING:
		return put_text(c, how, v);
	case DIAL9_POOLED_STRING:
		return put_pooled(c, how, v);
	case DIAL9_POOLED_STACK:
		return put_stack(c, v);
	case DIAL9_BYTES:
		return put_bytes(c, how, v);
	case DIAL9_STRING_MAP:
		if (!c->anonymize && !v->bad_utf8 && !how->entry_cnt)
			return dial9_enc_put_value(c->enc, v);
		return put_string_map(c, how, v);
	case DIAL9_LIST:
		return put_list(c, how, v);
	case DIAL9_MAP:
		return put_map(c, how, v);
	default:
		return dial9_enc_put_value(c->enc, v);
	}
}

/* ---- events ------------------------------------------------------------------------------------ */

/* The same fields under another name. */
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

/* The schema that events of @ts have in the copy. */
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

int cut_copy_event(struct cut_copy *c, const struct trace_event *ev, uint64_t ts, uint32_t module,
		   const struct cut_entry *entries, size_t cnt)
{
	struct how how = { .metadata = ev->kind == TRACE_METADATA };
	int err = begin_event(c, ev, ts), end;

	if (err)
		return err;
	for (size_t i = 0; !err && i < ev->schema->field_cnt; i++) {
		bool map = how.metadata && (int32_t)i == ev->schema->role[ROLE_ENTRIES];

		how.entries = map ? entries : NULL;
		how.entry_cnt = map ? cnt : 0;
		if (c->anonymize)
			how.as = anonymize_field(reader_names(c->reader), ev, i, module);
		err = put_value(c, &how, &ev->values[i]);
	}
	end = dial9_enc_end(c->enc);
	return err ? err : end;
}

int cut_copy_clock(struct cut_copy *c, const struct trace_event *ev, uint64_t ts)
{
	int32_t real = ev->schema->role[ROLE_REALTIME_NS];
	int err = begin_event(c, ev, ts), end;
	const struct how how = { .as = ANONYMIZE_KEEP };

	if (err)
		return err;
	for (size_t i = 0; !err && i < ev->schema->field_cnt; i++) {
		struct dial9_value v = ev->values[i];

		if ((int32_t)i == real && v.type == DIAL9_VARINT)
			v.u64 += ts - ev->ts;
		err = put_value(c, &how, &v);
	}
	end = dial9_enc_end(c->enc);
	return err ? err : end;
}
