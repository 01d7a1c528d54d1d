// SPDX-License-Identifier: BSD-2-Clause
/* Values of events in tables and JSON. Independent of tables and columns. */
#include "query/field_value.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "trace/read/value.h"

const char *field_value_type(uint8_t type)
{
	switch (type & ~(unsigned int)DIAL9_OPTIONAL) {
	case DIAL9_F64:
		return "REAL";
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		return "TEXT";
	case DIAL9_BYTES:
		return "BLOB";
	default:
		return "INTEGER";
	}
}

/* ---- lists and maps ----------------------------------------------------------------------------- */

static void put_f64(struct buf *out, double v)
{
	if (isfinite(v))
		value_print_f64(out, v);
	else
		buf_addstr(out, "null");
}

static void put_text(struct buf *out, struct dial9_str s, bool nested)
{
	str_json(out, s.ptr, s.len);
}

static void put_bytes(struct buf *out, const void *p, size_t sz)
{
	buf_addch(out, '"');
	str_hex(out, p, sz);
	buf_addch(out, '"');
}

static void put_pooled(struct buf *out, const struct dial9_value *v, bool defined)
{
	if (!defined)
		buf_addstr(out, "null");
}

/* Keys of any type: a list of pairs. */
static const struct value_style style = {
	.absent = "null",
	.sep = ",",
	.list = { "[", "]" },
	.map = { "[", "]" },
	.string_map = { "{", "}" },
	.pair = { "", "" },
	.colon = ":",
	.f64 = put_f64,
	.text = put_text,
	.bytes = put_bytes,
	.pooled = put_pooled,
	.pooled_close = "",
};

static const struct value_style map_style = {
	.absent = "null",
	.sep = ",",
	.list = { "[", "]" },
	.map = { "[", "]" },
	.string_map = { "{", "}" },
	.pair = { "[", "]" },
	.colon = ",",
	.f64 = put_f64,
	.text = put_text,
	.bytes = put_bytes,
	.pooled = put_pooled,
	.pooled_close = "",
};

static void put_nested(struct buf *out, const struct dial9_value *v)
{
	value_print(out, v->type == DIAL9_STRING_MAP ? &style : &map_style, NULL, v);
}

/* ---- all of them -------------------------------------------------------------------------------- */

static int64_t stack_of(struct trace_input *in, const struct trace *t, const struct dial9_value *v)
{
	uint64_t *frames;
	const uint8_t *le;
	uint32_t cnt;
	int64_t id;

	if (!trace_value_stack(t, v, &le, &cnt) || !cnt)
		return -1;
	cnt = cnt < TRACE_STACK_MAX ? cnt : TRACE_STACK_MAX;
	frames = xcalloc(cnt, sizeof(*frames));
	for (uint32_t i = 0; i < cnt; i++)
		frames[i] = trace_frame((struct trace *)t, dial9_frame_at(le, i));
	id = trace_input_add_stack(in, frames, cnt);
	free(frames);
	return id;
}

static bool is_stack(const struct dial9_value *v)
{
	return v->type == DIAL9_STACK || v->type == DIAL9_POOLED_STACK;
}

static bool is_nested(const struct dial9_value *v)
{
	return v->type == DIAL9_LIST || v->type == DIAL9_MAP || v->type == DIAL9_STRING_MAP;
}

void field_value_get(struct scan *s, const struct dial9_value *v, struct query_value *out)
{
	struct dial9_str text;
	uint64_t n;

	if (trace_value_u64(v, &n)) {
		query_value_integer(out, (int64_t)n);
	} else if (trace_value_str(s->trace, v, &text)) {
		query_value_bytes(out, QUERY_TEXT, text.ptr, text.len);
	} else if (v->type == DIAL9_BOOL) {
		query_value_integer(out, v->b);
	} else if (v->type == DIAL9_F64) {
		out->type = QUERY_REAL;
		out->real = v->f64;
	} else if (v->type == DIAL9_BYTES) {
		query_value_bytes(out, QUERY_BLOB, v->str.ptr, v->str.len);
	} else if (is_stack(v)) {
		scan_value_stack(out, stack_of(s->in, s->trace, v));
	} else if (is_nested(v)) {
		buf_clear(&s->text);
		put_nested(&s->text, v);
		scan_value_built(s, out);
	}
}

void field_value_json(struct buf *out, struct trace_input *in, const struct trace *t,
		      const struct dial9_value *v)
{
	struct dial9_str text;
	int64_t stack;
	uint64_t n;

	if (v->type == DIAL9_I64) {
		json_i64(out, NULL, v->i64);
	} else if (trace_value_u64(v, &n)) {
		json_u64(out, NULL, n);
	} else if (trace_value_str(t, v, &text)) {
		json_text(out, NULL, text.ptr, text.len);
	} else if (v->type == DIAL9_BOOL) {
		json_bool(out, NULL, v->b);
	} else if (v->type == DIAL9_F64) {
		json_double(out, NULL, v->f64);
	} else if (v->type == DIAL9_BYTES) {
		json_hex(out, NULL, v->str.ptr, v->str.len);
	} else if (is_stack(v)) {
		stack = stack_of(in, t, v);
		if (stack < 0)
			json_null(out, NULL);
		else
			json_i64(out, NULL, stack);
	} else if (is_nested(v)) {
		json_key(out, NULL);
		put_nested(out, v);
	} else {
		json_null(out, NULL);
	}
}
