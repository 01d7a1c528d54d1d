// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walking the flat form that the parser makes of events.
 *
 * Bytes come from the parser, or were rebuilt from a dial9 file that anyone may have written, so every
 * step checks for the end first. Callers need the signatures: a structure does not have the number of its
 * values.
 */
#include "formats/apitrace/value.h"

uint8_t apitrace_value_byte(struct apitrace_cur *c)
{
	return c->pos < c->end ? *c->pos++ : 0;
}

uint64_t apitrace_value_uint(struct apitrace_cur *c)
{
	unsigned int shift = 0;
	uint64_t v = 0;

	while (c->pos < c->end) {
		uint8_t b = *c->pos++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (!(b & 0x80))
			break;
	}
	return v;
}

const uint8_t *apitrace_value_bytes(struct apitrace_cur *c, uint64_t n, size_t *got)
{
	const uint8_t *p = c->pos;

	*got = (uint64_t)(c->end - c->pos) < n ? (size_t)(c->end - c->pos) : (size_t)n;
	c->pos += *got;
	return p;
}

uint64_t apitrace_value_bits(struct apitrace_cur *c, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v |= (uint64_t)apitrace_value_byte(c) << (8 * i);
	return v;
}

static bool skip_bytes(struct apitrace_cur *c, uint64_t n)
{
	size_t got;

	apitrace_value_bytes(c, n, &got);
	return got == n;
}

/* The numbers and bytes of a value that holds no others; *nested is how many values follow it. */
static bool skip_head(const struct apitrace_sigs *sigs, struct apitrace_cur *c, uint64_t *nested)
{
	const struct apitrace_sig *sig;
	uint64_t n;

	*nested = 0;
	switch (apitrace_value_byte(c)) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		return true;
	case APITRACE_NEG:
	case APITRACE_UINT:
	case APITRACE_POINTER:
		apitrace_value_uint(c);
		return true;
	case APITRACE_FLOAT:
		return skip_bytes(c, 4);
	case APITRACE_DOUBLE:
		return skip_bytes(c, 8);
	case APITRACE_STRING:
	case APITRACE_BLOB:
		return skip_bytes(c, apitrace_value_uint(c));
	case APITRACE_ENUM:
		apitrace_value_uint(c);
		apitrace_value_byte(c);
		apitrace_value_uint(c);
		return true;
	case APITRACE_MASK:
		apitrace_value_uint(c);
		apitrace_value_uint(c);
		return true;
	case APITRACE_ARRAY:
		*nested = apitrace_value_uint(c);
		return true;
	case APITRACE_STRUCT:
		sig = apitrace_sig_get(sigs, APITRACE_SIG_STRUCT, apitrace_value_uint(c));
		*nested = sig ? sig->cnt : 0;
		return sig;
	case APITRACE_REPR:
		*nested = 2;
		return true;
	case APITRACE_WSTRING:
		for (n = apitrace_value_uint(c); n && c->pos < c->end; n--)
			apitrace_value_uint(c);
		return !n;
	default:
		return false;
	}
}

/* Moves past one value; false if it is incomplete or names an unknown structure. */
static bool skip_value(const struct apitrace_sigs *sigs, struct apitrace_cur *c)
{
	uint64_t left = 1, nested;

	/* How values nest does not matter for getting past them. */
	while (left) {
		if (c->pos == c->end || !skip_head(sigs, c, &nested))
			return false;
		left--;
		if (nested > UINT64_MAX - left)
			return false;
		left += nested;
	}
	return true;
}

bool apitrace_value_detail(const struct apitrace_sigs *sigs, struct apitrace_cur *c,
			   struct apitrace_detail *out)
{
	if (c->pos == c->end)
		return false;
	*out = (struct apitrace_detail){ .tag = apitrace_value_byte(c) };
	if (out->tag != APITRACE_DETAIL_RET)
		out->number = apitrace_value_uint(c);
	out->value.pos = c->pos;
	switch (out->tag) {
	case APITRACE_DETAIL_ARG:
	case APITRACE_DETAIL_RET:
		if (!skip_value(sigs, c))
			return false;
		break;
	case APITRACE_DETAIL_STACK:
		for (uint64_t i = 0; i < out->number; i++) {
			if (c->pos == c->end)
				return false;
			apitrace_value_uint(c);
		}
		break;
	case APITRACE_DETAIL_FLAGS:
		break;
	default:
		return false;
	}
	out->value.end = c->pos;
	return true;
}

void apitrace_value_put_uint(struct buf *b, uint64_t v)
{
	char *p = buf_reserve(b, 10);

	for (; v >= 0x80; v >>= 7) {
		*p++ = (char)(v | 0x80);
		b->len++;
	}
	*p = (char)v;
	b->len++;
}

void apitrace_value_put_tagged(struct buf *b, uint8_t tag, uint64_t v)
{
	buf_addch(b, (char)tag);
	apitrace_value_put_uint(b, v);
}
