// SPDX-License-Identifier: BSD-2-Clause
/*
 * A frame as a line to look at: offset, kind, and the content with names where there are some.
 *
 * Unlike the JSON form this one may lose things: text is shown with what is not printable escaped, an
 * undefined pool id as "?", long byte strings cut.
 */
#include "cmd/dump_frame.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/str.h"
#include "dial9.h"

#define BYTES_SHOWN 64

static const char *const type_names[16] = {
	[DIAL9_I64] = "i64",
	[DIAL9_F64] = "f64",
	[DIAL9_BOOL] = "bool",
	[DIAL9_STRING] = "string",
	[DIAL9_BYTES] = "bytes",
	[DIAL9_POOLED_STACK] = "pooled-stack",
	[DIAL9_POOLED_STRING] = "pooled-string",
	[DIAL9_STACK] = "stack",
	[DIAL9_VARINT] = "varint",
	[DIAL9_STRING_MAP] = "string-map",
	[DIAL9_U8] = "u8",
	[DIAL9_U16] = "u16",
	[DIAL9_U32] = "u32",
	[DIAL9_LIST] = "list",
	[DIAL9_MAP] = "map",
};

/* A name as it is, but for what would break the line. */
static void put_name(struct buf *out, struct dial9_str s)
{
	size_t i, start = out->len;

	str_escape_utf8(out, s.ptr, s.len);
	for (i = start; i < out->len; i++)
		if ((uint8_t)out->data[i] < 0x20 || out->data[i] == 0x7f)
			out->data[i] = '.';
}

static void put_quoted(struct buf *out, struct dial9_str s)
{
	str_json(out, s.ptr, s.len);
}

static void put_frames(struct buf *out, const uint8_t *le, uint32_t cnt)
{
	uint32_t i;

	buf_addch(out, '[');
	for (i = 0; i < cnt; i++)
		buf_printf(out, "%s0x%" PRIx64, i ? " " : "", dial9_frame_at(le, i));
	buf_addch(out, ']');
}

static void put_bytes(struct buf *out, const char *p, uint32_t sz)
{
	uint32_t i;

	buf_printf(out, "%" PRIu32 ":", sz);
	for (i = 0; i < sz && i < BYTES_SHOWN; i++)
		buf_printf(out, "%02x", (uint8_t)p[i]);
	if (sz > BYTES_SHOWN)
		buf_addstr(out, "..");
}

static void put_pooled(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_str s;
	const uint8_t *le;
	uint32_t cnt;

	buf_printf(out, "#%" PRIu32 " ", v->id);
	if (v->type == DIAL9_POOLED_STRING && !dial9_dec_string(dec, v->id, &s))
		put_quoted(out, s);
	else if (v->type == DIAL9_POOLED_STACK && !dial9_dec_stack(dec, v->id, &le, &cnt))
		put_frames(out, le, cnt);
	else
		buf_addch(out, '?');
}

static void put_value(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v);

static void put_entries(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_value key, value;
	struct dial9_iter it;
	const char *sep = "";

	dial9_iter_init(&it, v);
	buf_addch(out, v->type == DIAL9_LIST ? '[' : '{');
	while (v->type == DIAL9_LIST ? dial9_list_next(&it, &value) > 0 :
				       dial9_map_next(&it, &key, &value) > 0) {
		buf_addstr(out, sep);
		if (v->type != DIAL9_LIST) {
			put_value(out, dec, &key);
			buf_addch(out, ':');
		}
		put_value(out, dec, &value);
		sep = " ";
	}
	buf_addch(out, v->type == DIAL9_LIST ? ']' : '}');
}

static void put_value(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v)
{
	switch ((int)v->type) {
	case 0:
		buf_addch(out, '-');
		break;
	case DIAL9_I64:
		buf_printf(out, "%" PRId64, v->i64);
		break;
	case DIAL9_F64:
		buf_printf(out, "%.17g", v->f64);
		break;
	case DIAL9_BOOL:
		buf_addstr(out, v->b ? "true" : "false");
		break;
	case DIAL9_STRING:
		put_quoted(out, (struct dial9_str){ v->str.ptr, v->str.len });
		break;
	case DIAL9_BYTES:
		put_bytes(out, v->str.ptr, v->str.len);
		break;
	case DIAL9_POOLED_STACK:
	case DIAL9_POOLED_STRING:
		put_pooled(out, dec, v);
		break;
	case DIAL9_STACK:
		put_frames(out, v->stack.le, v->stack.cnt);
		break;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		put_entries(out, dec, v);
		break;
	default:
		buf_printf(out, "%" PRIu64, v->u64);
	}
}

static void put_schema(struct buf *out, const struct dial9_frame *f)
{
	const struct dial9_schema *s = f->schema.schema;
	uint8_t type;
	size_t i;

	buf_printf(out, "%u ", f->schema.type_id);
	put_name(out, dial9_schema_name_n(s));
	if (dial9_schema_has_timestamp(s))
		buf_addstr(out, " @ts");
	for (i = 0; i < dial9_schema_field_cnt(s); i++) {
		type = dial9_schema_field_type(s, i);
		buf_addch(out, ' ');
		put_name(out, dial9_schema_field_name_n(s, i));
		buf_printf(out, ":%s%s", type_names[type & 0x7f], type & DIAL9_OPTIONAL ? "?" : "");
	}
}

static void put_event(struct buf *out, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	size_t i;

	if (ev->has_ts)
		buf_printf(out, "%" PRIu64 ".%09" PRIu64 " ", ev->ts / 1000000000,
			   ev->ts % 1000000000);
	put_name(out, dial9_schema_name_n(ev->schema));
	for (i = 0; i < ev->value_cnt; i++) {
		buf_addch(out, ' ');
		put_name(out, dial9_schema_field_name_n(ev->schema, i));
		buf_addch(out, '=');
		put_value(out, dec, &ev->values[i]);
	}
}

static void put_pool(struct buf *out, const struct dial9_frame *f)
{
	struct dial9_iter it = f->pool.iter;
	struct dial9_str s, value;
	uint32_t id, cnt;
	const uint8_t *le;
	uint16_t field;

	while (dial9_strings_next(&it, &id, &s) > 0) {
		buf_printf(out, " #%" PRIu32 "=", id);
		put_quoted(out, s);
	}
	while (dial9_stacks_next(&it, &id, &le, &cnt) > 0) {
		buf_printf(out, " #%" PRIu32 "=", id);
		put_frames(out, le, cnt);
	}
	while (dial9_annotations_next(&it, &field, &s, &value) > 0) {
		buf_printf(out, " %u.", field);
		put_name(out, s);
		buf_addch(out, '=');
		put_quoted(out, value);
	}
}

void dump_text_frame(struct buf *out, const struct dial9_dec *dec, const struct dial9_frame *f)
{
	buf_printf(out, "%10" PRIu64 "  ", f->offset);
	switch (f->kind) {
	case DIAL9_FRAME_HEADER:
		buf_printf(out, "header   version %u", f->version);
		break;
	case DIAL9_FRAME_MIDHEADER:
		buf_printf(out, "restart  version %u", f->version);
		break;
	case DIAL9_FRAME_SCHEMA:
		buf_addstr(out, "schema   ");
		put_schema(out, f);
		break;
	case DIAL9_FRAME_STRINGS:
		buf_addstr(out, "strings ");
		put_pool(out, f);
		break;
	case DIAL9_FRAME_STACKS:
		buf_addstr(out, "stacks  ");
		put_pool(out, f);
		break;
	case DIAL9_FRAME_RESET:
		buf_printf(out, "reset    %" PRIu64 ".%09" PRIu64, f->reset_ts / 1000000000,
			   f->reset_ts % 1000000000);
		break;
	case DIAL9_FRAME_ANNOTATIONS:
		buf_printf(out, "annotate %u", f->pool.type_id);
		put_pool(out, f);
		break;
	case DIAL9_FRAME_EVENT:
		buf_addstr(out, "event    ");
		put_event(out, dec, &f->event);
		break;
	}
}
