// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values of an apitrace stream in words: which maps and lists stand for which value.
 *
 * Covers all sixteen types and their names (of an enum's value, the flags of a mask, members). A sink
 * makes JSON or dial9 of the result. The output is lossless, so a float is printed as its bits if a number
 * would lose them.
 */
#include "formats/apitrace/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static void key_uint(const struct apitrace_sink *k, const char *key, uint64_t v)
{
	k->ops->key(k->s, key);
	k->ops->uint(k->s, v);
}

/* {"key": v} */
static void named_uint(const struct apitrace_sink *k, const char *key, uint64_t v)
{
	k->ops->open(k->s, true);
	key_uint(k, key, v);
	k->ops->close(k->s, true);
}

void apitrace_print_text(const struct apitrace_sink *k, const void *p, size_t len)
{
	if (str_utf8_valid_len(p, len) == len) {
		k->ops->text(k->s, p, len);
		return;
	}
	k->ops->open(k->s, true);
	k->ops->key(k->s, "hex");
	k->ops->bytes(k->s, p, len);
	k->ops->close(k->s, true);
}

static void print_bits(const struct apitrace_sink *k, uint64_t bits, int digits)
{
	char hex[17];
	int n = snprintf(hex, sizeof(hex), "%0*" PRIx64, digits, bits);

	k->ops->text(k->s, hex, (size_t)n);
}

/* A negated magnitude. Those that are no negative 64-bit number keep the tracer's spelling. */
static void print_neg(const struct apitrace_sink *k, uint64_t magnitude)
{
	if (magnitude && magnitude <= (uint64_t)1 << 63)
		k->ops->neg(k->s, magnitude);
	else if (k->plain)
		named_uint(k, "neg", magnitude);
	else if ((int64_t)(0 - magnitude) < 0)
		k->ops->neg(k->s, magnitude);
	else
		k->ops->uint(k->s, 0 - magnitude);
}

/* Whether a NaN keeps its bits on the way through a double. */
static bool float_survives(uint32_t bits)
{
	uint32_t exponent = bits >> 23 & 0xff, quiet = bits & 0x400000;

	return exponent != 0xff || !(bits & 0x7fffff) || quiet;
}

static void print_float(const struct apitrace_sink *k, struct apitrace_cur *c)
{
	uint32_t bits = (uint32_t)apitrace_value_bits(c, 4);
	bool as_real;
	float f;

	memcpy(&f, &bits, sizeof(f));
	as_real = isfinite(f) || (k->ops->all_reals && float_survives(bits));
	k->ops->open(k->s, true);
	k->ops->key(k->s, "f");
	if (as_real)
		k->ops->real(k->s, (double)f);
	else if (k->plain)
		print_bits(k, bits, 8);
	else
		k->ops->null(k->s);
	if (!k->plain) {
		k->ops->key(k->s, "bits");
		print_bits(k, bits, 8);
	}
	k->ops->close(k->s, true);
}

static void print_double(const struct apitrace_sink *k, struct apitrace_cur *c)
{
	uint64_t bits = apitrace_value_bits(c, 8);
	bool as_real;
	double d;

	memcpy(&d, &bits, sizeof(d));
	as_real = isfinite(d) || k->ops->all_reals;
	if (k->plain && as_real) {
		k->ops->real(k->s, d);
		return;
	}
	k->ops->open(k->s, true);
	k->ops->key(k->s, "d");
	if (as_real)
		k->ops->real(k->s, d);
	else if (k->plain)
		print_bits(k, bits, 16);
	else
		k->ops->null(k->s);
	if (!k->plain) {
		k->ops->key(k->s, "bits");
		print_bits(k, bits, 16);
	}
	k->ops->close(k->s, true);
}

static void print_string(const struct apitrace_sink *k, struct apitrace_cur *c)
{
	const uint8_t *p;
	bool bare;
	size_t n;

	p = apitrace_value_bytes(c, apitrace_value_uint(c), &n);
	bare = k->plain && str_utf8_valid_len((const char *)p, n) == n;
	if (!bare) {
		k->ops->open(k->s, true);
		k->ops->key(k->s, "s");
	}
	apitrace_print_text(k, p, n);
	if (!bare)
		k->ops->close(k->s, true);
}

static void print_blob(const struct apitrace_sink *k, struct apitrace_cur *c)
{
	const uint8_t *p;
	size_t n;

	p = apitrace_value_bytes(c, apitrace_value_uint(c), &n);
	k->ops->open(k->s, true);
	key_uint(k, "blob", n);
	k->ops->key(k->s, "hex");
	k->ops->bytes(k->s, p, n);
	k->ops->close(k->s, true);
}

static void print_enum(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
		       struct apitrace_cur *c)
{
	uint64_t id = apitrace_value_uint(c);
	const struct apitrace_sig *sig = apitrace_sig_get(sigs, APITRACE_SIG_ENUM, id);
	uint8_t tag = apitrace_value_byte(c);
	uint64_t v = apitrace_value_uint(c);
	const struct apitrace_entry *e = sig ? apitrace_sig_enum_name(sig, tag, v) : NULL;

	k->ops->open(k->s, true);
	k->ops->key(k->s, "enum");
	if (tag == APITRACE_NEG)
		print_neg(k, v);
	else
		k->ops->uint(k->s, v);
	k->ops->key(k->s, "name");
	if (e)
		apitrace_print_text(k, e->name.ptr, e->name.len);
	else
		k->ops->null(k->s);
	key_uint(k, "sig", id);
	k->ops->close(k->s, true);
}

static void print_mask(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
		       struct apitrace_cur *c)
{
	uint64_t id = apitrace_value_uint(c), v = apitrace_value_uint(c), rest = v;
	const struct apitrace_sig *sig = apitrace_sig_get(sigs, APITRACE_SIG_MASK, id);
	const struct apitrace_entry *e;
	size_t pos = 0;

	k->ops->open(k->s, true);
	key_uint(k, "mask", v);
	k->ops->key(k->s, "names");
	k->ops->open(k->s, false);
	while (sig && (e = apitrace_sig_mask_next(sig, &pos, &rest)))
		apitrace_print_text(k, e->name.ptr, e->name.len);
	k->ops->close(k->s, false);
	key_uint(k, "sig", id);
	if (rest)
		key_uint(k, "rest", rest);
	k->ops->close(k->s, true);
}

static void print_array(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
			struct apitrace_cur *c)
{
	uint64_t n = apitrace_value_uint(c);

	if (!k->plain) {
		k->ops->open(k->s, true);
		k->ops->key(k->s, "a");
	}
	k->ops->open(k->s, false);
	for (; n && c->pos < c->end; n--)
		apitrace_print_value(k, sigs, c);
	k->ops->close(k->s, false);
	if (!k->plain)
		k->ops->close(k->s, true);
}

static void print_struct(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
			 struct apitrace_cur *c)
{
	uint64_t id = apitrace_value_uint(c);
	const struct apitrace_sig *sig = apitrace_sig_get(sigs, APITRACE_SIG_STRUCT, id);

	k->ops->open(k->s, true);
	k->ops->key(k->s, "struct");
	apitrace_print_text(k, sig ? sig->name.ptr : "", sig ? sig->name.len : 0);
	key_uint(k, "sig", id);
	k->ops->key(k->s, "m");
	k->ops->open(k->s, false);
	for (size_t i = 0; sig && i < sig->cnt && c->pos < c->end; i++) {
		k->ops->open(k->s, false);
		apitrace_print_text(k, sig->v[i].name.ptr, sig->v[i].name.len);
		apitrace_print_value(k, sigs, c);
		k->ops->close(k->s, false);
	}
	k->ops->close(k->s, false);
	k->ops->close(k->s, true);
}

/* UTF-8 of a wide string whose units all are characters; false when one is not. */
static bool wide_to_utf8(struct apitrace_cur c, uint64_t n, struct buf *out)
{
	for (; n && c.pos < c.end; n--) {
		uint64_t u = apitrace_value_uint(&c);

		if (u > 0x10ffff || (u >= 0xd800 && u < 0xe000))
			return false;
		if (u < 0x80) {
			buf_addch(out, (char)u);
			continue;
		}
		if (u < 0x800) {
			buf_addch(out, (char)(0xc0 | u >> 6));
		} else {
			if (u < 0x10000) {
				buf_addch(out, (char)(0xe0 | u >> 12));
			} else {
				buf_addch(out, (char)(0xf0 | u >> 18));
				buf_addch(out, (char)(0x80 | (u >> 12 & 0x3f)));
			}
			buf_addch(out, (char)(0x80 | (u >> 6 & 0x3f)));
		}
		buf_addch(out, (char)(0x80 | (u & 0x3f)));
	}
	return true;
}

static void print_wide(const struct apitrace_sink *k, struct apitrace_cur *c)
{
	uint64_t n = apitrace_value_uint(c);
	struct buf text = { 0 };

	k->ops->open(k->s, true);
	k->ops->key(k->s, "w");
	if (k->plain && wide_to_utf8(*c, n, &text)) {
		k->ops->text(k->s, buf_cstr(&text), text.len);
		for (; n && c->pos < c->end; n--)
			apitrace_value_uint(c);
	} else {
		k->ops->open(k->s, false);
		for (; n && c->pos < c->end; n--)
			k->ops->uint(k->s, apitrace_value_uint(c));
		k->ops->close(k->s, false);
	}
	k->ops->close(k->s, true);
	buf_free(&text);
}

static void print_number(const struct apitrace_sink *k, uint8_t tag, uint64_t v)
{
	bool bare = k->plain && tag != APITRACE_POINTER;

	if (!bare) {
		k->ops->open(k->s, true);
		k->ops->key(k->s, tag == APITRACE_POINTER ? "p" : tag == APITRACE_NEG ? "i" : "u");
	}
	if (tag == APITRACE_NEG)
		print_neg(k, v);
	else
		k->ops->uint(k->s, v);
	if (!bare)
		k->ops->close(k->s, true);
}

static void print_repr(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
		       struct apitrace_cur *c)
{
	k->ops->open(k->s, true);
	k->ops->key(k->s, "human");
	apitrace_print_value(k, sigs, c);
	k->ops->key(k->s, "machine");
	apitrace_print_value(k, sigs, c);
	k->ops->close(k->s, true);
}

void apitrace_print_value(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
			  struct apitrace_cur *c)
{
	uint8_t tag = apitrace_value_byte(c);

	switch ((enum apitrace_value_tag)tag) {
	case APITRACE_NULL:
		return k->ops->null(k->s);
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		return k->ops->boolean(k->s, tag == APITRACE_TRUE);
	case APITRACE_NEG:
	case APITRACE_UINT:
	case APITRACE_POINTER:
		return print_number(k, tag, apitrace_value_uint(c));
	case APITRACE_FLOAT:
		return print_float(k, c);
	case APITRACE_DOUBLE:
		return print_double(k, c);
	case APITRACE_STRING:
		return print_string(k, c);
	case APITRACE_BLOB:
		return print_blob(k, c);
	case APITRACE_ENUM:
		return print_enum(k, sigs, c);
	case APITRACE_MASK:
		return print_mask(k, sigs, c);
	case APITRACE_ARRAY:
		return print_array(k, sigs, c);
	case APITRACE_STRUCT:
		return print_struct(k, sigs, c);
	case APITRACE_REPR:
		return print_repr(k, sigs, c);
	case APITRACE_WSTRING:
		return print_wide(k, c);
	}
	k->ops->null(k->s);
}

/* ---- depth: a sink that only counts ------------------------------------------------------------- */

struct depth {
	unsigned int now, most;
};

static void depth_open(void *s, bool map)
{
	struct depth *d = s;

	if (++d->now > d->most)
		d->most = d->now;
}

static void depth_close(void *s, bool map)
{
	((struct depth *)s)->now--;
}

static void depth_null(void *s)
{
}
static void depth_boolean(void *s, bool v)
{
}
static void depth_uint(void *s, uint64_t v)
{
}
static void depth_real(void *s, double v)
{
}
static void depth_text(void *s, const char *p, size_t len)
{
}
static void depth_key(void *s, const char *key)
{
}
static void depth_bytes(void *s, const uint8_t *p, size_t sz)
{
}

unsigned int apitrace_print_depth(const struct apitrace_sigs *sigs, struct apitrace_cur c)
{
	static const struct apitrace_sink_ops ops = {
		.null = depth_null,
		.boolean = depth_boolean,
		.uint = depth_uint,
		.neg = depth_uint,
		.real = depth_real,
		.text = depth_text,
		.key = depth_key,
		.bytes = depth_bytes,
		.open = depth_open,
		.close = depth_close,
	};
	struct depth d = { 0 };
	struct apitrace_sink k = { .ops = &ops, .s = &d, .plain = true };

	apitrace_print_value(&k, sigs, &c);
	return d.most + 1;
}
