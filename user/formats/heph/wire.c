// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bytes of a Heph packet, both ways.
 *
 * Knows one packet at a time and nothing of where it came from: the scanner finds packets and sees
 * to it that all of one is in memory. Everything is big-endian. Two kinds exist:
 *
 *   metadata  magic u32, size u32, name str16, value to the end
 *   event     magic u32, size u32, stream u32, counter u32, substream u64, start u64, end u64,
 *             description str16, then attributes to the end: name str16, type u8, value
 *
 * There is no count of attributes, so that the tail of a packet is either a whole attribute or a
 * fault; what stands before a fault is good.
 */
#include "formats/heph/wire.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static uint16_t get_u16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

uint32_t heph_wire_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

uint64_t heph_wire_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

uint32_t heph_wire_magic(const void *p)
{
	uint32_t v = heph_wire_u32(p);

	return v == HEPH_META_MAGIC || v == HEPH_EVENT_MAGIC ? v : 0;
}

/*
 * ---- reading -----------------------------------------------------------------------------------
 */

static void skip(struct dial9_str *rest, size_t n)
{
	rest->ptr += n;
	rest->len -= n;
}

static bool need_bytes(const struct dial9_str *rest, const void *base, size_t n,
		       struct heph_fault *fault)
{
	if (rest->len >= n)
		return true;
	*fault = (struct heph_fault){ .kind = HEPH_SHORT,
				      .at = (size_t)(rest->ptr - (const char *)base),
				      .need = n };
	return false;
}

static bool get_str16(struct dial9_str *rest, const void *base, struct dial9_str *out,
		      struct heph_fault *fault)
{
	size_t len;

	if (!need_bytes(rest, base, 2, fault))
		return false;
	len = get_u16(rest->ptr);
	skip(rest, 2);
	if (!need_bytes(rest, base, len, fault))
		return false;
	*out = (struct dial9_str){ rest->ptr, len };
	skip(rest, len);
	return true;
}

bool heph_wire_meta(const void *p, size_t sz, struct heph_meta *out, struct heph_fault *fault)
{
	struct dial9_str rest = { (const char *)p + 8, sz - 8 };

	if (!get_str16(&rest, p, &out->name, fault))
		return false;
	out->value = rest;
	return true;
}

bool heph_wire_event(const void *p, size_t sz, struct heph_event *out, struct heph_fault *fault)
{
	struct dial9_str rest = { (const char *)p + 40, sz - 40 };
	const char *b = p;

	*out = (struct heph_event){ .stream = heph_wire_u32(b + 8),
				    .counter = heph_wire_u32(b + 12),
				    .substream = heph_wire_u64(b + 16),
				    .start_ns = heph_wire_u64(b + 24),
				    .end_ns = heph_wire_u64(b + 32) };
	if (!get_str16(&rest, p, &out->desc, fault))
		return false;
	out->attrs = rest;
	return true;
}

static bool get_array(struct dial9_str *rest, const void *base, struct heph_attr *out,
		      struct heph_fault *fault)
{
	struct dial9_str text;
	const char *from;

	if (!need_bytes(rest, base, 2, fault))
		return false;
	out->cnt = get_u16(rest->ptr);
	skip(rest, 2);
	from = rest->ptr;
	for (unsigned int i = 0; i < out->cnt; i++) {
		if (out->type == (HEPH_STR | HEPH_ARRAY)) {
			if (!get_str16(rest, base, &text, fault))
				return false;
			continue;
		}
		if (!need_bytes(rest, base, 8, fault))
			return false;
		skip(rest, 8);
	}
	out->elems = (struct dial9_str){ from, (size_t)(rest->ptr - from) };
	return true;
}

static bool get_attr(struct dial9_str *rest, const void *base, struct heph_attr *out,
		     struct heph_fault *fault)
{
	uint8_t scalar;

	*out = (struct heph_attr){ 0 };
	if (!get_str16(rest, base, &out->name, fault) || !need_bytes(rest, base, 1, fault))
		return false;
	out->type = (uint8_t)*rest->ptr;
	scalar = out->type & (uint8_t)~HEPH_ARRAY;
	if (scalar < HEPH_U64 || scalar > HEPH_STR) {
		*fault = (struct heph_fault){ .kind = HEPH_BAD_TYPE, .type = out->type };
		return false;
	}
	skip(rest, 1);
	if (out->type & HEPH_ARRAY)
		return get_array(rest, base, out, fault);
	if (out->type == HEPH_STR)
		return get_str16(rest, base, &out->text, fault);
	if (!need_bytes(rest, base, 8, fault))
		return false;
	out->bits = heph_wire_u64(rest->ptr);
	skip(rest, 8);
	return true;
}

int heph_wire_attr(struct dial9_str *rest, const void *base, struct heph_attr *out,
		   struct heph_fault *fault)
{
	struct dial9_str at = *rest;

	if (!at.len)
		return 0;
	if (!get_attr(&at, base, out, fault))
		return -EBADMSG;
	*rest = at;
	return 1;
}

bool heph_wire_elem(struct dial9_str *elems, uint8_t type, uint64_t *bits, struct dial9_str *text)
{
	if (!elems->len)
		return false;
	if (type == (HEPH_STR | HEPH_ARRAY)) {
		*text = (struct dial9_str){ elems->ptr + 2, get_u16(elems->ptr) };
		skip(elems, 2 + text->len);
	} else {
		*bits = heph_wire_u64(elems->ptr);
		skip(elems, 8);
	}
	return true;
}

/*
 * ---- writing -----------------------------------------------------------------------------------
 */

static void put_u16(struct buf *out, size_t v)
{
	uint16_t be = htobe16((uint16_t)v);

	buf_add(out, &be, sizeof(be));
}

static void put_u32(struct buf *out, uint32_t v)
{
	uint32_t be = htobe32(v);

	buf_add(out, &be, sizeof(be));
}

void heph_wire_put_bits(struct buf *out, uint64_t bits)
{
	uint64_t be = htobe64(bits);

	buf_add(out, &be, sizeof(be));
}

static void put_raw(struct buf *out, struct dial9_str s)
{
	if (s.len)
		buf_add(out, s.ptr, s.len);
}

void heph_wire_put_text(struct buf *out, struct dial9_str text)
{
	put_u16(out, text.len);
	put_raw(out, text);
}

void heph_wire_put_meta(struct buf *out, const struct heph_meta *m)
{
	put_u32(out, HEPH_META_MAGIC);
	put_u32(out, (uint32_t)(HEPH_META_MIN + m->name.len + m->value.len));
	heph_wire_put_text(out, m->name);
	put_raw(out, m->value);
}

void heph_wire_put_event(struct buf *out, const struct heph_event *ev)
{
	put_u32(out, HEPH_EVENT_MAGIC);
	put_u32(out, (uint32_t)(HEPH_EVENT_MIN + ev->desc.len + ev->attrs.len));
	put_u32(out, ev->stream);
	put_u32(out, ev->counter);
	heph_wire_put_bits(out, ev->substream);
	heph_wire_put_bits(out, ev->start_ns);
	heph_wire_put_bits(out, ev->end_ns);
	heph_wire_put_text(out, ev->desc);
	put_raw(out, ev->attrs);
}

void heph_wire_put_attr(struct buf *out, const struct heph_attr *a)
{
	heph_wire_put_text(out, a->name);
	buf_addch(out, (char)a->type);
	if (a->type & HEPH_ARRAY) {
		put_u16(out, a->cnt);
		put_raw(out, a->elems);
	} else if (a->type == HEPH_STR) {
		heph_wire_put_text(out, a->text);
	} else {
		heph_wire_put_bits(out, a->bits);
	}
}
