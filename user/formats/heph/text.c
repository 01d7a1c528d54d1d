// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values of Heph attributes as text: for the dump, and for events that hold what dial9 has no type
 * for.
 *
 * Owns nothing. Numbers keep every bit, also the ones that JSON has no word for.
 */
#include "formats/heph/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define NAN_BITS 0x7ff8000000000000ULL

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

const char *heph_text_type_name(uint8_t type)
{
	return (type & HEPH_ARRAY ? array_names : type_names)[type & (uint8_t)~HEPH_ARRAY];
}

uint8_t heph_text_type_find(struct dial9_str name)
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

void heph_text_f64(struct buf *out, uint64_t bits)
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
		heph_text_f64(out, bits);
		break;
	default:
		str_json(out, text.ptr, text.len);
		break;
	}
}

void heph_text_value(struct buf *out, const struct heph_attr *a)
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

void heph_text_fault(struct buf *out, const struct heph_fault *fault, uint64_t base)
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

void heph_text_hex(struct buf *out, const void *p, size_t sz)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = p;
	char *to = buf_reserve(out, sz * 2);

	for (size_t i = 0; i < sz; i++) {
		*to++ = digits[b[i] >> 4];
		*to++ = digits[b[i] & 15];
	}
	*to = '\0';
	out->len += sz * 2;
}
