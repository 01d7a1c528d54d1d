// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a frame as a line for people: offset, kind, and the content with names if known.
 *
 * Unlike JSON this form may lose data: unprintable characters are escaped, an undefined pool id is "?", long byte
 * strings are cut.
 */
#include "cmd/inspect/dump_frame.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "dial9.h"
#include "trace/read/value.h"

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

static void put_name(struct buf *out, struct dial9_str s)
{
	value_text_clean(out, s.ptr, s.len);
}

static void put_string(struct buf *out, struct dial9_str s, bool nested)
{
	str_json(out, s.ptr, s.len);
}

static void put_bytes(struct buf *out, const void *p, size_t sz)
{
	buf_printf(out, "%zu:", sz);
	str_hex(out, p, sz < BYTES_SHOWN ? sz : BYTES_SHOWN);
	if (sz > BYTES_SHOWN)
		buf_addstr(out, "..");
}

static void put_pooled(struct buf *out, const struct dial9_value *v, bool defined)
{
	buf_addch(out, '#');
	buf_addu(out, v->id);
	buf_addstr(out, defined ? " " : " ?");
}

static const struct value_style style = {
	VALUE_STYLE_PLAIN,  .absent = "-",	.sep = " ",
	.colon = ":",	    .hex_frames = true, .f64 = value_print_f64,
	.text = put_string, .bytes = put_bytes, .pooled = put_pooled,
};

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

static void put_time(struct buf *out, uint64_t ns)
{
	buf_addu(out, ns / 1000000000);
	buf_addch(out, '.');
	buf_addu_padded(out, ns % 1000000000, 9, '0');
}

static void put_event(struct buf *out, struct dump_cache *cache, const struct dial9_dec *dec,
		      const struct dial9_event *ev)
{
	const struct dial9_value *v = ev->values;
	size_t i;

	if (ev->has_ts) {
		put_time(out, ev->ts);
		buf_addch(out, ' ');
	}
	put_name(out, dial9_schema_name_n(ev->schema));
	for (i = 0; i < ev->value_cnt; i++) {
		buf_addch(out, ' ');
		put_name(out, dial9_schema_field_name_n(ev->schema, i));
		buf_addch(out, '=');
		if (v[i].type == DIAL9_STACK)
			dump_cache_stack(out, cache, &style, v[i].stack.le, v[i].stack.cnt);
		else
			value_print(out, &style, dec, &v[i]);
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
		str_json(out, s.ptr, s.len);
	}
	while (dial9_stacks_next(&it, &id, &le, &cnt) > 0) {
		buf_printf(out, " #%" PRIu32 "=", id);
		value_print_frames(out, &style, le, cnt);
	}
	while (dial9_annotations_next(&it, &field, &s, &value) > 0) {
		buf_printf(out, " %u.", field);
		put_name(out, s);
		buf_addch(out, '=');
		str_json(out, value.ptr, value.len);
	}
}

void dump_text_frame(struct buf *out, struct dump_cache *cache, const struct dial9_dec *dec,
		     const struct dial9_frame *f)
{
	buf_addu_padded(out, f->offset, 10, ' ');
	buf_addstr(out, "  ");
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
		buf_addstr(out, "reset    ");
		put_time(out, f->reset_ts);
		break;
	case DIAL9_FRAME_ANNOTATIONS:
		buf_printf(out, "annotate %u", f->pool.type_id);
		put_pool(out, f);
		break;
	case DIAL9_FRAME_EVENT:
		buf_addstr(out, "event    ");
		put_event(out, cache, dec, &f->event);
		break;
	}
}
