// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the wire format of Protocol Buffers. Knows field numbers, not messages. A message follows
 * its length, which is known only at its end. So one byte is reserved, and the message is moved if
 * its length needs more.
 */
#include "export/proto.h"

#include <string.h>

#include "base/buf.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

#define VARINT_MAX 10

static size_t encode(uint8_t out[VARINT_MAX], uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)(v | 0x80);
	out[n++] = (uint8_t)v;
	return n;
}

static void put_varint(struct buf *out, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	/* the common case */
	if (v < 0x80) {
		buf_addch(out, (char)v);
		return;
	}
	buf_add(out, bytes, encode(bytes, v));
}

static void put_tag(struct buf *out, uint32_t field, enum wire wire)
{
	put_varint(out, (uint64_t)field << 3 | wire);
}

void proto_u64(struct buf *out, uint32_t field, uint64_t v)
{
	put_tag(out, field, WIRE_VARINT);
	put_varint(out, v);
}

void proto_fixed64(struct buf *out, uint32_t field, uint64_t v)
{
	uint8_t le[8];

	for (size_t i = 0; i < sizeof(le); i++)
		le[i] = (uint8_t)(v >> 8 * i);
	put_tag(out, field, WIRE_64);
	buf_add(out, le, sizeof(le));
}

void proto_double(struct buf *out, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	proto_fixed64(out, field, bits);
}

void proto_bytes(struct buf *out, uint32_t field, const void *p, size_t sz)
{
	put_tag(out, field, WIRE_BYTES);
	put_varint(out, sz);
	buf_add(out, p, sz);
}

void proto_packed(struct buf *out, uint32_t field, const uint64_t *v, size_t cnt)
{
	size_t begun = proto_begin(out, field);

	for (size_t i = 0; i < cnt; i++)
		put_varint(out, v[i]);
	proto_end(out, begun);
}

size_t proto_begin(struct buf *out, uint32_t field)
{
	put_tag(out, field, WIRE_BYTES);
	buf_addch(out, 0);
	return out->len;
}

void proto_end(struct buf *out, size_t begun)
{
	size_t sz = out->len - begun;
	uint8_t len[VARINT_MAX];
	size_t n = encode(len, sz);

	buf_fill(out, 0, n - 1);
	memmove(out->data + begun + n - 1, out->data + begun, sz);
	memcpy(out->data + begun - 1, len, n);
}
