// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a frame as one JSON object, without loss: different encodings are written differently.
 *
 * JSON has one type of number, and text must be Unicode. So doubles are written as their bits. Byte strings, and
 * text that is not UTF-8, become hexadecimal in an object. Maps become arrays of pairs (order and duplicates
 * count). Types follow names, as the numbers in the encoding. Another implementation writes the golden traces under
 * tests/ in the same form; equal lines mean equal decoding.
 *
 * The text between the values of an event is equal for all events of its type, and is formatted once.
 */
#include "cmd/inspect/dump_frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "dial9.h"
#include "trace/read/value.h"

static void put_hex(struct buf *out, const void *data, size_t sz)
{
	buf_addstr(out, "{\"hex\":\"");
	str_hex(out, data, sz);
	buf_addstr(out, "\"}");
}

static void put_text(struct buf *out, const char *s, size_t len)
{
	size_t i, step;
	uint32_t c;

	if (str_is_plain(s, len)) {
		buf_addch(out, '"');
		buf_add(out, s, len);
		buf_addch(out, '"');
		return;
	}
	if (dial9_utf8_valid_len(s, len) != len) {
		put_hex(out, s, len);
		return;
	}
	buf_addch(out, '"');
	for (i = 0; i < len; i += step) {
		c = utf8_code_point(s + i, len - i, &step);
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", s[i]);
		else if (utf8_is_unprintable(c))
			str_json_escape(out, c);
		else
			buf_add(out, s + i, step);
	}
	buf_addch(out, '"');
}

static void put_str(struct buf *out, struct dial9_str s)
{
	put_text(out, s.ptr, s.len);
}

static void put_f64(struct buf *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	buf_printf(out, "{\"f64\":\"%016" PRIx64 "\"}", bits);
}

static void put_string(struct buf *out, struct dial9_str s, bool nested)
{
	put_str(out, s);
}

static void put_pooled(struct buf *out, const struct dial9_value *v, bool defined)
{
	bool is_text = v->type == DIAL9_POOLED_STRING;

	buf_addstr(out, is_text ? "{\"pool\":" : "{\"stack\":");
	buf_addu(out, v->id);
	buf_addstr(out, is_text ? ",\"str\":" : ",\"frames\":");
	if (!defined)
		buf_addstr(out, "null");
}

static const struct value_style style = {
	.absent = "null",
	.sep = ",",
	.list = { "{\"list\":[", "]}" },
	.map = { "{\"map\":[", "]}" },
	.string_map = { "[", "]" },
	.pair = { "[", "]" },
	.colon = ",",
	.f64 = put_f64,
	.text = put_string,
	.bytes = put_hex,
	.pooled = put_pooled,
	.pooled_close = "}",
};

static void put_schema(struct buf *out, const struct dial9_frame *f)
{
	const struct dial9_schema *s = f->schema.schema;
	size_t i;

	buf_printf(out, "{\"f\":\"schema\",\"type_id\":%u,\"name\":", f->schema.type_id);
	put_str(out, dial9_schema_name_n(s));
	buf_printf(out, ",\"has_ts\":%s,\"fields\":[",
		   dial9_schema_has_timestamp(s) ? "true" : "false");
	for (i = 0; i < dial9_schema_field_cnt(s); i++) {
		buf_addstr(out, i ? ",[" : "[");
		put_str(out, dial9_schema_field_name_n(s, i));
		buf_printf(out, ",%u]", dial9_schema_field_type(s, i));
	}
	buf_addstr(out, "]}");
}

static void put_strings(struct buf *out, struct dial9_iter it)
{
	const char *sep = "";
	struct dial9_str s;
	uint32_t id;

	buf_addstr(out, "{\"f\":\"strings\",\"entries\":[");
	while (dial9_strings_next(&it, &id, &s) > 0) {
		buf_addstr(out, sep);
		buf_addch(out, '[');
		buf_addu(out, id);
		buf_addch(out, ',');
		put_str(out, s);
		buf_addch(out, ']');
		sep = ",";
	}
	buf_addstr(out, "]}");
}

static void put_stacks(struct buf *out, struct dial9_iter it)
{
	const char *sep = "";
	const uint8_t *le;
	uint32_t id, cnt;

	buf_addstr(out, "{\"f\":\"stacks\",\"entries\":[");
	while (dial9_stacks_next(&it, &id, &le, &cnt) > 0) {
		buf_addstr(out, sep);
		buf_addch(out, '[');
		buf_addu(out, id);
		buf_addch(out, ',');
		value_print_frames(out, &style, le, cnt);
		buf_addch(out, ']');
		sep = ",";
	}
	buf_addstr(out, "]}");
}

static void put_annotations(struct buf *out, const struct dial9_frame *f)
{
	struct dial9_iter it = f->pool.iter;
	struct dial9_str key, value;
	const char *sep = "";
	uint16_t field;

	buf_printf(out, "{\"f\":\"annotations\",\"type_id\":%u,\"entries\":[", f->pool.type_id);
	while (dial9_annotations_next(&it, &field, &key, &value) > 0) {
		buf_printf(out, "%s[%u,", sep, field);
		put_str(out, key);
		buf_addch(out, ',');
		put_str(out, value);
		buf_addch(out, ']');
		sep = ",";
	}
	buf_addstr(out, "]}");
}

/* ---- events ------------------------------------------------------------------------------------ */

struct plan {
	struct dial9_schema *schema; /* claimed: its address stands for it */
	struct buf bytes;
	size_t *ends; /* in bytes: of the head, then of what stands before each value */
};

static struct plan *plan_new(const struct dial9_event *ev)
{
	size_t i, cnt = dial9_schema_field_cnt(ev->schema);
	struct plan *p = xcalloc(1, sizeof(*p));
	struct buf *b = &p->bytes;

	p->schema = dial9_schema_ref(ev->schema);
	p->ends = xcalloc(cnt + 1, sizeof(*p->ends));
	buf_printf(b, "{\"f\":\"event\",\"type_id\":%u,\"name\":", ev->type_id);
	put_str(b, dial9_schema_name_n(ev->schema));
	buf_addstr(b, ",\"ts\":");
	p->ends[0] = b->len;
	for (i = 0; i < cnt; i++) {
		buf_addstr(b, i ? "],[" : "[");
		put_str(b, dial9_schema_field_name_n(ev->schema, i));
		buf_printf(b, ",%u,", dial9_schema_field_type(ev->schema, i));
		p->ends[i + 1] = b->len;
	}
	return p;
}

static void plan_free(struct plan *p)
{
	if (!p)
		return;
	dial9_schema_free(p->schema);
	buf_free(&p->bytes);
	free(p->ends);
	free(p);
}

static const struct plan *plan_of(struct dump_cache *cache, const struct dial9_event *ev)
{
	const uint64_t key = (uint64_t)ev->type_id + 1;
	struct plan *p = hmap_get(&cache->plans, key);

	if (p && p->schema == ev->schema)
		return p;
	plan_free(p);
	p = plan_new(ev);
	hmap_set(&cache->plans, key, p);
	return p;
}

void dump_cache_init(struct dump_cache *cache)
{
	hmap_init(&cache->plans);
	cache->stacks = (struct bytes_cache){ .slot_cnt = 1u << 16, .bytes_max = 32u << 20 };
}

void dump_cache_fini(struct dump_cache *cache)
{
	size_t pos = 0;
	void *value;

	while (hmap_next(&cache->plans, &pos, NULL, &value))
		plan_free(value);
	hmap_fini(&cache->plans);
	bytes_cache_fini(&cache->stacks);
}

void dump_cache_stack(struct buf *out, struct dump_cache *cache, const struct value_style *how,
		      const uint8_t *le, uint32_t cnt)
{
	size_t sz = (size_t)cnt * 8, before = out->len;

	if (bytes_cache_get(&cache->stacks, le, sz, 0, out))
		return;
	value_print_frames(out, how, le, cnt);
	bytes_cache_put(&cache->stacks, le, sz, out->data + before, out->len - before);
}

static void put_event(struct buf *out, struct dump_cache *cache, const struct dial9_dec *dec,
		      const struct dial9_event *ev)
{
	const struct plan *p = plan_of(cache, ev);
	const struct dial9_value *v = ev->values;
	size_t i, at = p->ends[0];

	buf_add(out, p->bytes.data, at);
	if (ev->has_ts)
		buf_addu(out, ev->ts);
	else
		buf_addstr(out, "null");
	buf_addstr(out, ",\"fields\":[");
	for (i = 0; i < ev->value_cnt; i++, v++) {
		buf_add(out, p->bytes.data + at, p->ends[i + 1] - at);
		at = p->ends[i + 1];
		if (v->type == DIAL9_STACK)
			dump_cache_stack(out, cache, &style, v->stack.le, v->stack.cnt);
		else
			value_print(out, &style, dec, v);
	}
	buf_addstr(out, ev->value_cnt ? "]]}" : "]}");
}

void dump_json_frame(struct buf *out, struct dump_cache *cache, const struct dial9_dec *dec,
		     const struct dial9_frame *f)
{
	switch (f->kind) {
	case DIAL9_FRAME_HEADER:
		buf_printf(out, "{\"f\":\"header\",\"version\":%u}", f->version);
		break;
	case DIAL9_FRAME_MIDHEADER:
		buf_printf(out, "{\"f\":\"midheader\",\"version\":%u}", f->version);
		break;
	case DIAL9_FRAME_SCHEMA:
		put_schema(out, f);
		break;
	case DIAL9_FRAME_STRINGS:
		put_strings(out, f->pool.iter);
		break;
	case DIAL9_FRAME_STACKS:
		put_stacks(out, f->pool.iter);
		break;
	case DIAL9_FRAME_RESET:
		buf_printf(out, "{\"f\":\"reset\",\"ts\":%" PRIu64 "}", f->reset_ts);
		break;
	case DIAL9_FRAME_ANNOTATIONS:
		put_annotations(out, f);
		break;
	case DIAL9_FRAME_EVENT:
		put_event(out, cache, dec, &f->event);
		break;
	}
}

void dump_json_end(struct buf *out, const struct dial9_dec *dec, const struct dump_tally *tally,
		   int err)
{
	struct dial9_error e;

	buf_printf(out,
		   "{\"f\":\"end\",\"status\":\"%s\",\"frames\":%" PRIu64 ",\"events\":%" PRIu64,
		   !err			   ? "ok" :
		   err == -ENODATA	   ? "truncated" :
		   err == -EPROTONOSUPPORT ? "newer" :
					     "corrupt",
		   tally->frames, tally->events);
	buf_printf(out, ",\"consumed\":%" PRIu64, dial9_dec_consumed(dec));
	if (err) {
		dial9_dec_error(dec, &e);
		buf_addstr(out, ",\"msg\":");
		put_text(out, e.reason, strlen(e.reason));
		buf_printf(out, ",\"offset\":%" PRIu64, e.offset);
	}
	buf_addch(out, '}');
}
