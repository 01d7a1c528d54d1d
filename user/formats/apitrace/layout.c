// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which dial9 fields a function's arguments become.
 *
 * apitrace tags each value; dial9 gives each field one type. So for each argument the values seen are held
 * in the narrowest kind that all of them fit, from nothing over unsigned to signed to "any", and a layout
 * only ever widens: a file is looked through once to find the final one, and a stream changes schema when
 * a call does not fit, which can happen a few times an argument at most. A kind is so narrow that field
 * and kind give the value back bit for bit; whatever would not is "any".
 */
#include "formats/apitrace/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "formats/apitrace/build.h"
#include "formats/apitrace/dial9_value.h"
#include "formats/apitrace/json.h"

#define JSON_MAX ((size_t)200 << 20)
#define I64_LIMIT ((uint64_t)1 << 63)

/* ---- gathering --------------------------------------------------------------------------------- */

static void gather(const struct apitrace_sigs *sigs, const struct apitrace_sig *fn,
		   struct apitrace_call *call, struct apitrace_cur c, bool leave)
{
	struct apitrace_detail det;
	uint64_t i;

	while (apitrace_value_detail(sigs, &c, &det)) {
		if (det.tag == APITRACE_DETAIL_FLAGS) {
			call->flags = det.number;
		} else if (det.tag == APITRACE_DETAIL_STACK) {
			call->has_stack = true;
			call->stack_cnt = det.number;
			call->stack = det.value;
		} else {
			i = det.tag == APITRACE_DETAIL_RET ? fn->cnt : det.number;
			if (det.tag == APITRACE_DETAIL_ARG && i >= fn->cnt)
				continue;
			call->values[i] = det.value;
			call->at_leave[i] = leave;
		}
	}
}

void apitrace_layout_gather(const struct apitrace_sigs *sigs, const struct apitrace_sig *fn,
			    struct apitrace_call *call)
{
	memset(call->values, 0, (fn->cnt + 1) * sizeof(*call->values));
	memset(call->at_leave, 0, (fn->cnt + 1) * sizeof(*call->at_leave));
	call->flags = 0;
	call->has_stack = false;
	gather(sigs, fn, call, call->enter, false);
	if (call->returned)
		gather(sigs, fn, call, call->leave, true);
}

/* ---- kinds ------------------------------------------------------------------------------------- */

/* What the field of an enum says. */
static void enum_text(const struct apitrace_sig *sig, uint8_t tag, uint64_t v, struct buf *out)
{
	const struct apitrace_entry *e = sig ? apitrace_sig_enum_name(sig, tag, v) : NULL;

	if (e)
		buf_add(out, e->name.ptr, e->name.len);
	else
		buf_printf(out, "%s%" PRIu64, tag == APITRACE_NEG ? "-" : "", v);
}

static int enum_value(const struct apitrace_sig *sig, const char *s, size_t len, uint8_t *tag,
		      uint64_t *v)
{
	char text[32];

	for (size_t i = 0; sig && i < sig->cnt; i++) {
		if (sig->v[i].name.len != len || memcmp(sig->v[i].name.ptr, s, len) != 0)
			continue;
		*tag = sig->v[i].tag;
		*v = sig->v[i].value;
		return 0;
	}
	if (!len || len >= sizeof(text))
		return -EBADMSG;
	memcpy(text, s, len);
	text[len] = 0;
	*tag = *text == '-' ? APITRACE_NEG : APITRACE_UINT;
	return str_parse_u64(text + (*text == '-'), UINT64_MAX, v) ? -EBADMSG : 0;
}

/* Whether name and table give the value back. */
static bool enum_survives(const struct apitrace_sig *sig, uint8_t tag, uint64_t v)
{
	struct buf text = { 0 };
	uint64_t back = 0;
	uint8_t back_tag = 0;
	bool ok;

	enum_text(sig, tag, v, &text);
	ok = str_utf8_valid_len(buf_cstr(&text), text.len) == text.len &&
	     !enum_value(sig, text.data, text.len, &back_tag, &back) && back_tag == tag &&
	     back == v && (tag == APITRACE_UINT || (v && v <= I64_LIMIT)) &&
	     (tag == APITRACE_NEG || v < I64_LIMIT);
	buf_free(&text);
	return ok;
}

/* The slot that would hold just this value. */
static struct apitrace_slot kind_of(const struct apitrace_sigs *sigs, struct apitrace_cur c)
{
	struct apitrace_slot slot = { .base = APITRACE_BASE_ANY };
	uint8_t tag = apitrace_value_byte(&c), enum_tag;
	const uint8_t *p;
	uint64_t v;
	size_t n;

	switch ((enum apitrace_value_tag)tag) {
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		slot.base = APITRACE_BASE_BOOL;
		break;
	case APITRACE_NEG:
		v = apitrace_value_uint(&c);
		if (v && v <= I64_LIMIT)
			slot.base = APITRACE_BASE_INT;
		break;
	case APITRACE_UINT:
		slot.base = APITRACE_BASE_UINT;
		slot.big = apitrace_value_uint(&c) >= I64_LIMIT;
		break;
	case APITRACE_FLOAT:
		v = apitrace_value_bits(&c, 4);
		if ((v & 0x7f800000) != 0x7f800000 || !(v & 0x7fffff) || v & 0x400000)
			slot.base = APITRACE_BASE_FLOAT;
		break;
	case APITRACE_DOUBLE:
		slot.base = APITRACE_BASE_DOUBLE;
		break;
	case APITRACE_STRING:
		p = apitrace_value_bytes(&c, apitrace_value_uint(&c), &n);
		if (str_utf8_valid_len((const char *)p, n) == n)
			slot.base = APITRACE_BASE_STRING;
		break;
	case APITRACE_BLOB:
		slot.base = APITRACE_BASE_BLOB;
		break;
	case APITRACE_ENUM:
		slot.sig = apitrace_value_uint(&c);
		enum_tag = apitrace_value_byte(&c);
		if (enum_survives(apitrace_sig_get(sigs, APITRACE_SIG_ENUM, slot.sig), enum_tag,
				  apitrace_value_uint(&c)))
			slot.base = APITRACE_BASE_ENUM;
		break;
	case APITRACE_MASK:
		slot.base = APITRACE_BASE_MASK;
		slot.sig = apitrace_value_uint(&c);
		break;
	case APITRACE_POINTER:
		slot.base = APITRACE_BASE_POINTER;
		break;
	case APITRACE_NULL:
	case APITRACE_ARRAY:
	case APITRACE_STRUCT:
	case APITRACE_REPR:
	case APITRACE_WSTRING:
		break;
	}
	return slot;
}

static bool is_integer(enum apitrace_base base)
{
	return base == APITRACE_BASE_UINT || base == APITRACE_BASE_INT;
}

static void widen_any(struct apitrace_slot *slot)
{
	slot->base = APITRACE_BASE_ANY;
	slot->sig = 0;
	/* "any" can hold null, so an absent field means that the trace has no value. */
	if (slot->absent == APITRACE_ABSENT_NULL)
		slot->absent = APITRACE_ABSENT_NEVER;
}

static void widen_value(struct apitrace_slot *slot, const struct apitrace_slot *kind)
{
	if (slot->base == APITRACE_BASE_ANY)
		return;
	if (slot->base == APITRACE_BASE_NONE && kind->base != APITRACE_BASE_ANY) {
		slot->base = kind->base;
		slot->sig = kind->sig;
		slot->big = kind->big;
	} else if (is_integer(slot->base) && is_integer(kind->base)) {
		slot->big |= kind->big;
		if (kind->base == APITRACE_BASE_INT)
			slot->base = kind->base;
		if (slot->big && slot->base == APITRACE_BASE_INT)
			widen_any(slot);
	} else if (slot->base != kind->base || slot->sig != kind->sig) {
		widen_any(slot);
	}
}

static void widen_absent(struct apitrace_slot *slot, enum apitrace_absent absent)
{
	if (slot->base == APITRACE_BASE_ANY && absent == APITRACE_ABSENT_NULL)
		return;
	if (slot->absent == APITRACE_ABSENT_NEVER || slot->absent == APITRACE_ABSENT_OPEN) {
		slot->absent = absent > slot->absent ? absent : slot->absent;
	} else if (absent != APITRACE_ABSENT_OPEN && slot->absent != absent) {
		widen_any(slot);
		slot->absent = APITRACE_ABSENT_MISSING;
	}
}

static bool equal(const struct apitrace_slot *a, const struct apitrace_slot *b)
{
	return a->base == b->base && a->absent == b->absent && a->out == b->out && a->sig == b->sig;
}

bool apitrace_layout_widen(const struct apitrace_sigs *sigs, struct apitrace_layout *layout,
			   const struct apitrace_call *call)
{
	bool changed = call->has_stack && !layout->has_stack;
	struct apitrace_slot kind;

	layout->has_stack |= call->has_stack;
	for (size_t i = 0; i <= layout->fn->cnt; i++) {
		struct apitrace_slot *slot = &layout->slots[i], old = *slot;
		struct apitrace_cur c = call->values[i];

		if (c.pos && !slot->placed) {
			slot->placed = true;
			slot->out = call->at_leave[i];
		}
		if (i == layout->fn->cnt)
			slot->out = true;
		if (!c.pos) {
			widen_absent(slot, !call->returned && (slot->out || !slot->placed) ?
						   APITRACE_ABSENT_OPEN :
						   APITRACE_ABSENT_MISSING);
		} else if (*c.pos == APITRACE_NULL) {
			widen_absent(slot, APITRACE_ABSENT_NULL);
		} else {
			kind = kind_of(sigs, c);
			widen_value(slot, &kind);
		}
		/* A null seen before may now be a value of "any". */
		if (slot->base == APITRACE_BASE_ANY && slot->absent == APITRACE_ABSENT_NULL)
			slot->absent = APITRACE_ABSENT_NEVER;
		changed |= !equal(&old, slot);
	}
	return changed;
}

bool apitrace_layout_has_ret(const struct apitrace_slot *ret)
{
	return ret->base != APITRACE_BASE_NONE || ret->absent == APITRACE_ABSENT_NULL;
}

/* ---- details by the rule ----------------------------------------------------------------------- */

static void put_slot(struct buf *out, const struct apitrace_call *call, size_t i, size_t ret)
{
	const struct apitrace_cur *v = &call->values[i];

	if (!v->pos)
		return;
	if (i == ret)
		buf_addch(out, APITRACE_DETAIL_RET);
	else
		apitrace_value_put_tagged(out, APITRACE_DETAIL_ARG, i);
	buf_add(out, v->pos, (size_t)(v->end - v->pos));
}

void apitrace_layout_enter(const struct apitrace_layout *layout, const struct apitrace_call *call,
			   struct buf *out)
{
	if (call->flags)
		apitrace_value_put_tagged(out, APITRACE_DETAIL_FLAGS, call->flags);
	if (call->has_stack) {
		apitrace_value_put_tagged(out, APITRACE_DETAIL_STACK, call->stack_cnt);
		buf_add(out, call->stack.pos, (size_t)(call->stack.end - call->stack.pos));
	}
	for (size_t i = 0; i < layout->fn->cnt; i++)
		if (!layout->slots[i].out)
			put_slot(out, call, i, layout->fn->cnt);
}

void apitrace_layout_leave(const struct apitrace_layout *layout, const struct apitrace_call *call,
			   struct buf *out)
{
	for (size_t i = 0; i < layout->fn->cnt; i++)
		if (layout->slots[i].out)
			put_slot(out, call, i, layout->fn->cnt);
	put_slot(out, call, layout->fn->cnt, layout->fn->cnt);
}

/* ---- names ------------------------------------------------------------------------------------- */

static const char *const base_names[] = {
	[APITRACE_BASE_NONE] = "none",	     [APITRACE_BASE_UINT] = "uint",
	[APITRACE_BASE_INT] = "int",	     [APITRACE_BASE_FLOAT] = "float",
	[APITRACE_BASE_DOUBLE] = "double",   [APITRACE_BASE_BOOL] = "bool",
	[APITRACE_BASE_POINTER] = "pointer", [APITRACE_BASE_STRING] = "string",
	[APITRACE_BASE_BLOB] = "blob",	     [APITRACE_BASE_ENUM] = "enum",
	[APITRACE_BASE_MASK] = "mask",	     [APITRACE_BASE_ANY] = "any",
};

static const char *const absent_names[] = {
	[APITRACE_ABSENT_NEVER] = "",
	[APITRACE_ABSENT_OPEN] = " or open",
	[APITRACE_ABSENT_NULL] = " or null",
	[APITRACE_ABSENT_MISSING] = " or missing",
};

void apitrace_layout_name(const struct apitrace_slot *slot, struct buf *out)
{
	buf_printf(out, "%s%s", slot->out ? "out " : "", base_names[slot->base]);
	if (slot->base == APITRACE_BASE_ENUM || slot->base == APITRACE_BASE_MASK)
		buf_printf(out, ":%" PRIu64, slot->sig);
	buf_addstr(out, absent_names[slot->absent]);
}

int apitrace_layout_parse(struct dial9_str s, struct apitrace_slot *out)
{
	char text[64], *p = text, * or, *colon;
	unsigned int i;

	*out = (struct apitrace_slot){ .placed = true };
	if (s.len >= sizeof(text))
		return -EBADMSG;
	memcpy(text, s.ptr, s.len);
	text[s.len] = 0;
	if (!strncmp(p, "out ", 4)) {
		out->out = true;
		p += 4;
	}
	or = strstr(p, " or ");
	if (or) {
		for (i = APITRACE_ABSENT_OPEN; i <= APITRACE_ABSENT_MISSING; i++)
			if (!strcmp(or, absent_names[i]))
				break;
		if (i > APITRACE_ABSENT_MISSING)
			return -EBADMSG;
		out->absent = (enum apitrace_absent)i;
		* or = 0;
	}
	colon = strchr(p, ':');
	if (colon) {
		*colon = 0;
		if (str_parse_u64(colon + 1, UINT64_MAX, &out->sig))
			return -EBADMSG;
	}
	for (i = 0; i < APITRACE_BASE_CNT; i++)
		if (!strcmp(p, base_names[i]))
			break;
	out->base = (enum apitrace_base)i;
	return i < APITRACE_BASE_CNT ? 0 : -EBADMSG;
}

/* ---- fields ------------------------------------------------------------------------------------ */

uint8_t apitrace_layout_type(const struct apitrace_slot *slot, int level)
{
	static const uint8_t types[] = {
		[APITRACE_BASE_NONE] = DIAL9_VARINT,	[APITRACE_BASE_UINT] = DIAL9_VARINT,
		[APITRACE_BASE_INT] = DIAL9_I64,	[APITRACE_BASE_FLOAT] = DIAL9_F64,
		[APITRACE_BASE_DOUBLE] = DIAL9_F64,	[APITRACE_BASE_BOOL] = DIAL9_BOOL,
		[APITRACE_BASE_POINTER] = DIAL9_VARINT, [APITRACE_BASE_STRING] = DIAL9_STRING,
		[APITRACE_BASE_BLOB] = DIAL9_BYTES,	[APITRACE_BASE_ENUM] = DIAL9_POOLED_STRING,
		[APITRACE_BASE_MASK] = DIAL9_VARINT,	[APITRACE_BASE_ANY] = DIAL9_STRING,
	};
	uint8_t type = types[slot->base];

	if (slot->base == APITRACE_BASE_ANY && level >= DIAL9_LEVEL_4)
		type = DIAL9_LIST;
	return slot->absent == APITRACE_ABSENT_NEVER ? type : type | DIAL9_OPTIONAL;
}

static void put_any(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
		    struct apitrace_cur value, int level, bool *over)
{
	struct apitrace_json json = { .max = JSON_MAX };
	struct apitrace_sink k = { .ops = &apitrace_json_ops, .s = &json, .plain = true };

	if (level >= DIAL9_LEVEL_4) {
		apitrace_dial9_put(enc, sigs, value);
		return;
	}
	apitrace_print_value(&k, sigs, &value);
	*over |= json.over;
	dial9_enc_put_str(enc, buf_cstr(&json.out), json.over ? 0 : json.out.len);
	buf_free(&json.out);
}

static void put_bits(struct dial9_enc *enc, struct apitrace_cur *c, bool is_float)
{
	uint64_t bits = apitrace_value_bits(c, is_float ? 4 : 8);
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &bits, sizeof(d));
	dial9_enc_put_f64(enc, is_float ? (double)f : d);
}

static void put_enum(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
		     struct apitrace_cur *c)
{
	uint64_t id = apitrace_value_uint(c);
	uint8_t tag = apitrace_value_byte(c);
	struct buf text = { 0 };

	enum_text(apitrace_sig_get(sigs, APITRACE_SIG_ENUM, id), tag, apitrace_value_uint(c),
		  &text);
	dial9_enc_put_str(enc, buf_cstr(&text), text.len);
	buf_free(&text);
}

void apitrace_layout_put(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
			 const struct apitrace_slot *slot, struct apitrace_cur c, int level,
			 bool *over)
{
	const uint8_t *p;
	uint8_t tag;
	size_t n;

	if (!c.pos || (*c.pos == APITRACE_NULL && slot->base != APITRACE_BASE_ANY)) {
		dial9_enc_put_none(enc);
		return;
	}
	if (slot->base == APITRACE_BASE_ANY) {
		put_any(enc, sigs, c, level, over);
		return;
	}
	tag = apitrace_value_byte(&c);
	switch (slot->base) {
	case APITRACE_BASE_UINT:
	case APITRACE_BASE_POINTER:
		dial9_enc_put_u64(enc, apitrace_value_uint(&c));
		break;
	case APITRACE_BASE_INT:
		if (tag == APITRACE_NEG)
			dial9_enc_put_i64(enc, (int64_t)(0 - apitrace_value_uint(&c)));
		else
			dial9_enc_put_u64(enc, apitrace_value_uint(&c));
		break;
	case APITRACE_BASE_FLOAT:
	case APITRACE_BASE_DOUBLE:
		put_bits(enc, &c, slot->base == APITRACE_BASE_FLOAT);
		break;
	case APITRACE_BASE_BOOL:
		dial9_enc_put_bool(enc, tag == APITRACE_TRUE);
		break;
	case APITRACE_BASE_STRING:
	case APITRACE_BASE_BLOB:
		p = apitrace_value_bytes(&c, apitrace_value_uint(&c), &n);
		if (slot->base == APITRACE_BASE_BLOB)
			dial9_enc_put_bytes(enc, p, n);
		else
			dial9_enc_put_str(enc, (const char *)p, n);
		break;
	case APITRACE_BASE_ENUM:
		put_enum(enc, sigs, &c);
		break;
	case APITRACE_BASE_MASK:
		apitrace_value_uint(&c);
		dial9_enc_put_u64(enc, apitrace_value_uint(&c));
		break;
	case APITRACE_BASE_NONE:
	case APITRACE_BASE_ANY:
	case APITRACE_BASE_CNT:
		break;
	}
}

/* ---- and back ---------------------------------------------------------------------------------- */

static void add_bits(struct buf *out, uint8_t tag, uint64_t bits, unsigned int bytes)
{
	buf_addch(out, (char)tag);
	for (unsigned int i = 0; i < bytes; i++)
		buf_addch(out, (char)(bits >> (8 * i)));
}

static void get_real(double d, bool is_float, struct buf *out)
{
	uint64_t bits;
	uint32_t low;
	float f = (float)d;

	memcpy(&bits, &d, sizeof(bits));
	memcpy(&low, &f, sizeof(low));
	if (is_float)
		add_bits(out, APITRACE_FLOAT, low, 4);
	else
		add_bits(out, APITRACE_DOUBLE, bits, 8);
}

static int get_enum(const struct dial9_dec *dec, const struct apitrace_sigs *sigs, uint64_t id,
		    const struct dial9_value *v, struct buf *out)
{
	struct dial9_str s;
	uint64_t value;
	uint8_t tag;

	if (dial9_value_str(dec, v, &s) ||
	    enum_value(apitrace_sig_get(sigs, APITRACE_SIG_ENUM, id), s.ptr, s.len, &tag, &value))
		return -EBADMSG;
	apitrace_value_put_tagged(out, APITRACE_ENUM, id);
	apitrace_value_put_tagged(out, tag, value);
	return 0;
}

static int get_any(const struct dial9_value *v, struct buf *out)
{
	struct apitrace_json_tokens t;
	int err;

	if (v->type == DIAL9_LIST)
		return apitrace_dial9_get(v, out);
	apitrace_json_tokens(&t, v->str.ptr, v->str.len);
	err = apitrace_build_value(&t.base, out);
	apitrace_json_tokens_fini(&t);
	return err;
}

int apitrace_layout_get(const struct dial9_dec *dec, const struct apitrace_sigs *sigs,
			const struct apitrace_slot *slot, const struct dial9_value *v,
			bool returned, struct buf *out)
{
	if (!v->type) {
		if (slot->absent == APITRACE_ABSENT_NULL && (returned || !slot->out))
			buf_addch(out, APITRACE_NULL);
		return 0;
	}
	if (slot->base == APITRACE_BASE_ANY && (v->type == DIAL9_LIST || v->type == DIAL9_STRING))
		return get_any(v, out);
	if (v->type != (apitrace_layout_type(slot, DIAL9_LEVEL_3) & ~DIAL9_OPTIONAL))
		return -EBADMSG;
	switch (slot->base) {
	case APITRACE_BASE_UINT:
		apitrace_value_put_tagged(out, APITRACE_UINT, v->u64);
		return 0;
	case APITRACE_BASE_POINTER:
		apitrace_value_put_tagged(out, APITRACE_POINTER, v->u64);
		return 0;
	case APITRACE_BASE_INT:
		apitrace_value_put_tagged(out, v->i64 < 0 ? APITRACE_NEG : APITRACE_UINT,
					  v->i64 < 0 ? 0 - (uint64_t)v->i64 : (uint64_t)v->i64);
		return 0;
	case APITRACE_BASE_FLOAT:
	case APITRACE_BASE_DOUBLE:
		get_real(v->f64, slot->base == APITRACE_BASE_FLOAT, out);
		return 0;
	case APITRACE_BASE_BOOL:
		buf_addch(out, v->b ? APITRACE_TRUE : APITRACE_FALSE);
		return 0;
	case APITRACE_BASE_STRING:
	case APITRACE_BASE_BLOB:
		apitrace_value_put_tagged(
			out, slot->base == APITRACE_BASE_BLOB ? APITRACE_BLOB : APITRACE_STRING,
			v->str.len);
		buf_add(out, v->str.ptr, v->str.len);
		return 0;
	case APITRACE_BASE_ENUM:
		return get_enum(dec, sigs, slot->sig, v, out);
	case APITRACE_BASE_MASK:
		apitrace_value_put_tagged(out, APITRACE_MASK, slot->sig);
		apitrace_value_put_uint(out, v->u64);
		return 0;
	case APITRACE_BASE_NONE:
	case APITRACE_BASE_ANY:
	case APITRACE_BASE_CNT:
		break;
	}
	return -EBADMSG;
}
