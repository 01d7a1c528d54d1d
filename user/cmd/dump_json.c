// SPDX-License-Identifier: BSD-2-Clause
/*
 * A frame as one JSON object, losslessly: what can be told apart on the wire can be told apart here.
 *
 * JSON has one kind of number and text that must be Unicode, so doubles are written as their bits, byte
 * strings and text that is not UTF-8 as hexadecimal in an object, maps as arrays of pairs (order
 * and duplicates count). Types stand beside names, as the numbers of the wire. The golden traces under
 * tests/ are written in the same form by another implementation; equal lines mean equal decoding.
 */
#include "cmd/dump_frame.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "dial9.h"
#include "trace/value.h"

static void put_hex(struct buf *out, const void *data, size_t sz)
{
	buf_addstr(out, "{\"hex\":\"");
	str_hex(out, data, sz);
	buf_addstr(out, "\"}");
}

static void put_text(struct buf *out, const char *s, size_t len)
{
	size_t i, start = 0;

	if (dial9_utf8_valid_len(s, len) != len) {
		put_hex(out, s, len);
		return;
	}
	buf_addch(out, '"');
	for (i = 0; i < len; i++) {
		if ((uint8_t)s[i] >= 0x20 && s[i] != 0x7f && s[i] != '"' && s[i] != '\\')
			continue;
		buf_add(out, s + start, i - start);
		if (s[i] == '"' || s[i] == '\\')
			buf_printf(out, "\\%c", s[i]);
		else
			buf_printf(out, "\\u%04x", (unsigned int)s[i]);
		start = i + 1;
	}
	buf_add(out, s + start, len - start);
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
	if (v->type == DIAL9_POOLED_STRING)
		buf_printf(out, "{\"pool\":%" PRIu32 ",\"str\":", v->id);
	else
		buf_printf(out, "{\"stack\":%" PRIu32 ",\"frames\":", v->id);
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
		buf_printf(out, "%s[%" PRIu32 ",", sep, id);
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
		buf_printf(out, "%s[%" PRIu32 ",", sep, id);
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

static void put_event(struct buf *out, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	size_t i;

	buf_printf(out, "{\"f\":\"event\",\"type_id\":%u,\"name\":", ev->type_id);
	put_str(out, dial9_schema_name_n(ev->schema));
	if (ev->has_ts)
		buf_printf(out, ",\"ts\":%" PRIu64 ",\"fields\":[", ev->ts);
	else
		buf_addstr(out, ",\"ts\":null,\"fields\":[");
	for (i = 0; i < ev->value_cnt; i++) {
		buf_addstr(out, i ? ",[" : "[");
		put_str(out, dial9_schema_field_name_n(ev->schema, i));
		buf_printf(out, ",%u,", dial9_schema_field_type(ev->schema, i));
		value_print(out, &style, dec, &ev->values[i]);
		buf_addch(out, ']');
	}
	buf_addstr(out, "]}");
}

void dump_json_frame(struct buf *out, const struct dial9_dec *dec, const struct dial9_frame *f)
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
		put_event(out, dec, &f->event);
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
