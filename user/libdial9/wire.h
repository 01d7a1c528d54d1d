/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_WIRE_H
#define D9_LIBDIAL9_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dial9.h"

/* Frame tags. 0x54 is the first byte of a header within a stream, so it can never be a tag. */
enum wire_tag {
	WIRE_SCHEMA = 0x01,
	WIRE_EVENT = 0x02,
	WIRE_STRINGS = 0x03,
	WIRE_STACKS = 0x04,
	WIRE_RESET = 0x05,
	WIRE_ANNOTATIONS = 0x06,
	WIRE_HEADER = 0x54,
};

#define WIRE_MAGIC "TRC" /* with its terminator: four bytes */
#define WIRE_VERSION 1

enum wire_size {
	WIRE_HEADER_SZ = 5,
	WIRE_RESET_SZ = 9,
	WIRE_EVENT_SZ = 3, /* tag, type id */
	WIRE_EVENT_TS_SZ = 6, /* with the u24 delta */
	WIRE_POOL_HEAD_SZ = 5, /* tag, count */
	WIRE_POOL_ENTRY_SZ = 8, /* id, length */
	WIRE_VARINT_MAX = 10,
};

#define WIRE_DELTA_MAX 0xffffffu

/* Unaligned little-endian stores; each returns the byte after. */
static inline uint8_t *wire_put_u8(uint8_t *p, uint8_t v)
{
	*p = v;
	return p + 1;
}

static inline uint8_t *wire_put_u16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *wire_put_u24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	return p + 3;
}

static inline uint8_t *wire_put_u32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *wire_put_u64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *wire_put_bytes(uint8_t *p, const void *src, size_t sz)
{
	if (sz)
		memcpy(p, src, sz);
	return p + sz;
}

#define WIRE_IS_NATIVE (htole64(1) == 1)

/* Writes addresses. */
static inline uint8_t *wire_put_frames(uint8_t *p, const uint64_t *frames, size_t cnt)
{
	size_t i;

	if (WIRE_IS_NATIVE)
		return dial9_inline_copy(p, frames, cnt * 8);
	for (i = 0; i < cnt; i++)
		p = wire_put_u64(p, frames[i]);
	return p;
}

/* May write all WIRE_VARINT_MAX bytes; returns the end of the varint. */
static inline uint8_t *wire_put_varint(uint8_t *p, uint64_t v)
{
	return dial9_inline_varint(p, v);
}

/* Unaligned little-endian loads. */
static inline uint16_t wire_get_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t wire_get_u24(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static inline uint32_t wire_get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t wire_get_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/*
 * Reads an unsigned LEB128 between *pos and end, and moves *pos past it. 0; -ENODATA if it
 * continues past end; -EBADMSG if it has bits after the 64th or an 11th byte. Unnecessary trailing
 * zero groups are accepted.
 */
int wire_get_varint(const uint8_t **pos, const uint8_t *end, uint64_t *out);

/* Whether a field's type is new in 0.4. */
static inline bool wire_is_level4(uint8_t type)
{
	type &= 0x7f;
	return type == DIAL9_POOLED_STACK || type == DIAL9_LIST || type == DIAL9_MAP;
}

/* The type without its optional bit, if this codec knows it; otherwise 0. */
static inline uint8_t wire_base_type(uint8_t type)
{
	type &= 0x7f;
	return type <= 15 ? type : 0;
}

#endif
