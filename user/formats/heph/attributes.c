// SPDX-License-Identifier: BSD-2-Clause
/*
 * Heph attributes: dial9 values as such, and their values as text.
 *
 * Heph has four kinds of values and flat lists of them. Most dial9 types have a similar one: values that are widened,
 * converted to text or truncated are counted by kind. Values that came from Heph attributes return by a separate
 * path: nothing is widened there, and a byte string is a text that was not UTF-8.
 *
 * As text, for the dump and for events that hold what dial9 has no type for, numbers keep every bit,
 * also the ones that JSON has no word for.
 */
#include "formats/heph/attributes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "formats/heph/wire.h"
#include "trace/read/value.h"

#define COUNT_MAX 65535
#define NAN_BITS 0x7ff8000000000000ULL

/* ---- as text ------------------------------------------------------------------------------------- */

static const char *const type_names[] = {
	[HEPH_U64] = "u64",
	[HEPH_I64] = "i64",
	[HEPH_F64] = "f64",
	[HEPH_STR] = "str",
};
static const char *const array_names[] = {
	[HEPH_U64] = "u64[]",
	[HEPH_I64] = "i64[]",
	[HEPH_F64] = "f64[]",
	[HEPH_STR] = "str[]",
};

const char *heph_attr_type_name(uint8_t type)
{
	return (type & HEPH_ARRAY ? array_names : type_names)[type & (uint8_t)~HEPH_ARRAY];
}

uint8_t heph_attr_type_find(struct dial9_str name)
{
	for (uint8_t t = HEPH_U64; t <= HEPH_STR; t++)
		if (name.len == strlen(array_names[t]) &&
		    !memcmp(name.ptr, array_names[t], name.len))
			return t | HEPH_ARRAY;
	return 0;
}

/* "1e+16" is how C writes it; 1 to 16 digits in front of the point read better as they are. */
static void put_finite(struct buf *out, double v)
{
	char text[40];
	int digits, exp;

	for (digits = 1; digits < 17; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, v);
		if (strtod(text, NULL) == v)
			break;
	}
	snprintf(text, sizeof(text), "%.*e", digits - 1, v);
	exp = atoi(strchr(text, 'e') + 1);
	if (exp < -4 || exp >= 16) {
		buf_addstr(out, text);
		return;
	}
	buf_printf(out, "%.*f", digits - 1 > exp ? digits - 1 - exp : 1, v);
}

void heph_attr_json_f64(struct buf *out, uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (isnan(v) && bits != NAN_BITS)
		buf_printf(out, "\"NaN(0x%016" PRIx64 ")\"", bits);
	else if (isnan(v))
		buf_addstr(out, "\"NaN\"");
	else if (isinf(v))
		buf_addstr(out, v < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		put_finite(out, v);
}

static void put_scalar(struct buf *out, uint8_t type, uint64_t bits, struct dial9_str text)
{
	switch (type & (uint8_t)~HEPH_ARRAY) {
	case HEPH_U64:
		buf_printf(out, "%" PRIu64, bits);
		break;
	case HEPH_I64:
		buf_printf(out, "%" PRId64, (int64_t)bits);
		break;
	case HEPH_F64:
		heph_attr_json_f64(out, bits);
		break;
	default:
		str_json(out, text.ptr, text.len);
		break;
	}
}

void heph_attr_json(struct buf *out, const struct heph_attr *a)
{
	struct dial9_str elems = a->elems, text = { 0 };
	const char *sep = "";
	uint64_t bits = 0;

	if (!(a->type & HEPH_ARRAY)) {
		put_scalar(out, a->type, a->bits, a->text);
		return;
	}
	buf_addch(out, '[');
	while (heph_wire_elem(&elems, a->type, &bits, &text)) {
		buf_addstr(out, sep);
		put_scalar(out, a->type, bits, text);
		sep = ", ";
	}
	buf_addch(out, ']');
}

void heph_attr_fault(struct buf *out, const struct heph_fault *fault, uint64_t base)
{
	switch (fault->kind) {
	case HEPH_FINE:
		buf_addstr(out, "followed by no packet");
		break;
	case HEPH_BAD_TYPE:
		buf_printf(out, "type byte 0x%02x", fault->type);
		break;
	case HEPH_SHORT:
		buf_printf(out, "short at +%" PRIu64 " need %zu", base + fault->at, fault->need);
		break;
	}
}

/* ---- attributes ---------------------------------------------------------------------------------- */

static void changed(struct heph_attr_out *o, const char *kind, struct dial9_str name)
{
	foreign_note(o->notes, FOREIGN_NOTE_CHANGED, 1, kind, "field %.*s",
		     (int)(name.len < 64 ? name.len : 64), name.ptr ? name.ptr : "");
}

static void lost(struct heph_attr_out *o, const char *kind, struct dial9_str name)
{
	foreign_note(o->notes, FOREIGN_NOTE_NOT_KEPT, 1, kind, "field %.*s",
		     (int)(name.len < 64 ? name.len : 64), name.ptr ? name.ptr : "");
}

struct dial9_str heph_attr_fit(struct heph_attr_out *o, struct dial9_str text)
{
	static const struct dial9_str none = { "", 0 };

	if (str_utf8_valid_len(text.ptr, text.len) < text.len) {
		foreign_note(o->notes, FOREIGN_NOTE_CHANGED, 1, "text that is not UTF-8, escaped",
			     NULL);
		buf_clear(&o->tmp);
		str_escape_utf8(&o->tmp, text.ptr, text.len);
		text = (struct dial9_str){ o->tmp.data, o->tmp.len };
	}
	if (text.len > HEPH_TEXT_MAX) {
		foreign_note(o->notes, FOREIGN_NOTE_NOT_KEPT, 1, "end of a text over 65534 bytes",
			     NULL);
		text.len = str_utf8_valid_len(text.ptr, HEPH_TEXT_MAX);
	}
	return text.len ? text : none;
}

static size_t encoded_size(const struct heph_attr *a)
{
	size_t sz = 2 + a->name.len + 1;

	if (a->type & HEPH_ARRAY)
		return sz + 2 + a->elems.len;
	return sz + (a->type == HEPH_STR ? 2 + a->text.len : 8);
}

/* Every attribute passes here: a packet that is too large could not be read again. */
static void add(struct heph_attr_out *o, const struct heph_attr *a)
{
	if (o->buf.len + encoded_size(a) > o->max)
		lost(o, "attribute beyond what a packet can hold", a->name);
	else
		heph_wire_put_attr(&o->buf, a);
}

void heph_attr_put_raw(struct heph_attr_out *o, const void *p, size_t sz)
{
	if (o->buf.len + sz > o->max)
		lost(o, "undecoded bytes beyond what a packet can hold", (struct dial9_str){ 0 });
	else
		buf_add(&o->buf, p, sz);
}

static void add_bits(struct heph_attr_out *o, struct dial9_str name, uint8_t type, uint64_t bits)
{
	add(o, &(struct heph_attr){ .name = name, .type = type, .bits = bits });
}

void heph_attr_put_u64(struct heph_attr_out *o, const char *name, uint64_t v)
{
	add_bits(o, (struct dial9_str){ name, strlen(name) }, HEPH_U64, v);
}

void heph_attr_put_text(struct heph_attr_out *o, struct dial9_str name, struct dial9_str text)
{
	add(o,
	    &(struct heph_attr){ .name = name, .type = HEPH_STR, .text = heph_attr_fit(o, text) });
}

static uint64_t f64_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/*
 * ---- values that have no relation: as JSON ------------------------------------------------------
 */

static void json_f64(struct buf *out, double v)
{
	heph_attr_json_f64(out, f64_bits(v));
}

static void json_text(struct buf *out, struct dial9_str s, bool nested)
{
	str_json(out, s.ptr, s.len);
}

static void json_bytes(struct buf *out, const void *p, size_t sz)
{
	buf_addch(out, '"');
	str_hex(out, p, sz);
	buf_addch(out, '"');
}

static void json_key(struct buf *out, const struct dial9_value *key);

static void json_pooled(struct buf *out, const struct dial9_value *v, bool defined)
{
	buf_printf(out, "%" PRIu32, v->id);
}

static const struct value_style json_style = {
	VALUE_STYLE_PLAIN,   .absent = "",    .sep = ", ",
	.colon = ": ",	     .f64 = json_f64, .text = json_text,
	.bytes = json_bytes, .key = json_key, .pooled = json_pooled,
};

/* A key is text in JSON, whatever it is here. */
static void json_key(struct buf *out, const struct dial9_value *key)
{
	struct buf text = { 0 };

	value_print(&text, &json_style, NULL, key);
	str_json(out, text.data, text.len);
	buf_free(&text);
}

static void put_json(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v)
{
	struct buf text = { 0 };

	value_print(&text, &json_style, NULL, v);
	heph_attr_put_text(o, name, (struct dial9_str){ text.data, text.len });
	buf_free(&text);
}

/*
 * ---- lists --------------------------------------------------------------------------------------
 */

/* The Heph type of an element; 0 when it has none. */
static uint8_t elem_type(const struct dial9_value *v, bool exact)
{
	switch ((enum dial9_type)v->type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		return HEPH_U64;
	case DIAL9_I64:
		return HEPH_I64;
	case DIAL9_F64:
		return HEPH_F64;
	case DIAL9_STRING:
		return HEPH_STR;
	case DIAL9_BYTES:
		return exact ? HEPH_STR : 0;
	case DIAL9_BOOL:
	case DIAL9_POOLED_STACK:
	case DIAL9_POOLED_STRING:
	case DIAL9_STACK:
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
	case DIAL9_OPTIONAL:
		break;
	}
	return 0;
}

/* The type that all elements have, or 0; if_empty for an empty list. */
static uint8_t list_type(const struct dial9_value *v, uint8_t if_empty, bool exact)
{
	uint8_t type = if_empty, now;
	struct dial9_value elem;
	struct dial9_iter it;
	bool first = true;

	dial9_iter_init(&it, v);
	while (dial9_list_next(&it, &elem) > 0) {
		now = elem_type(&elem, exact);
		if (!now || (!first && now != type) ||
		    (now == HEPH_STR && elem.str.len > (exact ? COUNT_MAX : HEPH_TEXT_MAX)))
			return 0;
		type = now;
		first = false;
	}
	return type;
}

static void put_array(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v,
		      uint8_t type, uint32_t cnt, bool exact)
{
	struct heph_attr a = { .name = name, .type = type | HEPH_ARRAY, .cnt = (uint16_t)cnt };
	struct buf elems = { 0 };
	struct dial9_value elem;
	struct dial9_iter it;

	dial9_iter_init(&it, v);
	while (cnt-- && dial9_list_next(&it, &elem) > 0) {
		struct dial9_str text = { elem.str.ptr, elem.str.len };

		if (type == HEPH_STR)
			heph_wire_put_text(&elems, exact ? text : heph_attr_fit(o, text));
		else
			heph_wire_put_bits(&elems, elem.u64);
	}
	a.elems = (struct dial9_str){ elems.data, elems.len };
	add(o, &a);
	buf_free(&elems);
}

static void put_list(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v)
{
	uint8_t type = list_type(v, HEPH_U64, false);
	uint32_t cnt = v->list.cnt;

	if (!type) {
		changed(o, "list of several kinds as JSON text", name);
		put_json(o, name, v);
		return;
	}
	if (cnt > HEPH_TEXT_MAX) {
		lost(o, "end of a list over 65534 elements", name);
		cnt = HEPH_TEXT_MAX;
	}
	put_array(o, name, v, type, cnt, false);
}

static void put_stack(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v)
{
	struct heph_attr a = { .name = name, .type = HEPH_U64 | HEPH_ARRAY };
	struct buf elems = { 0 };
	const uint8_t *le;
	uint32_t cnt;

	if (dial9_value_stack(o->dec, v, &le, &cnt)) {
		lost(o, "stack whose pool id is not defined", name);
		return;
	}
	changed(o, "stack as array", name);
	if (cnt > HEPH_TEXT_MAX) {
		lost(o, "end of a stack over 65534 frames", name);
		cnt = HEPH_TEXT_MAX;
	}
	for (uint32_t i = 0; i < cnt; i++)
		heph_wire_put_bits(&elems, dial9_frame_at(le, i));
	a.cnt = (uint16_t)cnt;
	a.elems = (struct dial9_str){ elems.data, elems.len };
	add(o, &a);
	buf_free(&elems);
}

/*
 * ---- the rest -----------------------------------------------------------------------------------
 */

static void put_string_map(struct heph_attr_out *o, struct dial9_str name,
			   const struct dial9_value *v)
{
	struct dial9_value key, value;
	struct buf full = { 0 };
	struct dial9_iter it;

	changed(o, "map as attributes", name);
	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) > 0) {
		buf_clear(&full);
		buf_add(&full, name.ptr, name.len);
		buf_addch(&full, '.');
		str_escape_utf8(&full, key.str.ptr, key.str.len);
		if (full.len > HEPH_TEXT_MAX) {
			lost(o, "end of a name over 65534 bytes", name);
			full.len = str_utf8_valid_len(full.data, HEPH_TEXT_MAX);
		}
		heph_attr_put_text(o, (struct dial9_str){ full.data, full.len },
				   (struct dial9_str){ value.str.ptr, value.str.len });
	}
	buf_free(&full);
}

static void put_bytes(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v)
{
	struct buf hex = { 0 };

	changed(o, "bytes as hexadecimal text", name);
	str_hex(&hex, v->str.ptr, v->str.len);
	heph_attr_put_text(o, name, (struct dial9_str){ hex.data, hex.len });
	buf_free(&hex);
}

static void put_string(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v)
{
	struct dial9_str text;

	if (dial9_value_str(o->dec, v, &text))
		lost(o, "text whose pool id is not defined", name);
	else
		heph_attr_put_text(o, name, text);
}

void heph_attr_put(struct heph_attr_out *o, struct dial9_str name, const struct dial9_value *v)
{
	if (!v->type)
		return;
	switch ((enum dial9_type)v->type) {
	case DIAL9_I64:
		add_bits(o, name, HEPH_I64, (uint64_t)v->i64);
		break;
	case DIAL9_F64:
		add_bits(o, name, HEPH_F64, f64_bits(v->f64));
		break;
	case DIAL9_BOOL:
		changed(o, "boolean as number", name);
		add_bits(o, name, HEPH_U64, v->b);
		break;
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
		put_string(o, name, v);
		break;
	case DIAL9_BYTES:
		put_bytes(o, name, v);
		break;
	case DIAL9_POOLED_STACK:
	case DIAL9_STACK:
		put_stack(o, name, v);
		break;
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		changed(o, "narrow number as 64 bits", name);
		add_bits(o, name, HEPH_U64, v->u64);
		break;
	case DIAL9_VARINT:
		add_bits(o, name, HEPH_U64, v->u64);
		break;
	case DIAL9_STRING_MAP:
		put_string_map(o, name, v);
		break;
	case DIAL9_LIST:
		put_list(o, name, v);
		break;
	case DIAL9_MAP:
		changed(o, "map as JSON text", name);
		put_json(o, name, v);
		break;
	case DIAL9_OPTIONAL:
		break;
	}
}

void heph_attr_put_exact(struct heph_attr_out *o, struct dial9_str name,
			 const struct dial9_value *v, uint8_t wire_type)
{
	struct dial9_str text = { v->str.ptr, v->str.len };
	uint8_t type = wire_type ? wire_type & (uint8_t)~HEPH_ARRAY : HEPH_U64;

	if (v->type == DIAL9_LIST) {
		type = list_type(v, type, true);
		if (type && v->list.cnt <= COUNT_MAX) {
			put_array(o, name, v, type, v->list.cnt, true);
			return;
		}
	} else if (v->type == DIAL9_BYTES || (v->type == DIAL9_STRING && v->bad_utf8) ||
		   (!dial9_value_str(o->dec, v, &text))) {
		if (text.len <= COUNT_MAX) {
			add(o, &(struct heph_attr){ .name = name, .type = HEPH_STR, .text = text });
			return;
		}
	}
	heph_attr_put(o, name, v);
}

void heph_attr_fini(struct heph_attr_out *o)
{
	buf_free(&o->buf);
	buf_free(&o->tmp);
}
