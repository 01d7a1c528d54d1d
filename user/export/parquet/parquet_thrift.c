// SPDX-License-Identifier: BSD-2-Clause
/* Thrift's compact protocol, as far as Parquet's headers need it. Knows no Parquet. */
#include "export/parquet/parquet_thrift.h"

#include <assert.h>

#include "base/buf.h"
#include "export/parquet/parquet_encode.h"

/* Types of fields. */
enum { TRUE_FIELD = 1, FALSE_FIELD = 2, BYTE_FIELD = 3, I64_FIELD = 6, LIST_FIELD = 9 };

/* larger distances of ids, and longer lists, have a number of their own */
enum { SHORT_DISTANCE = 15, SHORT_LIST = 14 };

static void put_field(struct parquet_thrift *t, int16_t id, int type)
{
	const int distance = id - t->last[t->depth];

	assert(distance > 0);
	t->last[t->depth] = id;
	if (distance <= SHORT_DISTANCE) {
		buf_addch(t->out, (char)(distance << 4 | type));
		return;
	}
	buf_addch(t->out, (char)type);
	parquet_encode_varint(t->out, parquet_encode_zigzag(id));
}

static void put_binary(struct parquet_thrift *t, const void *p, size_t sz)
{
	parquet_encode_varint(t->out, sz);
	buf_add(t->out, p, sz);
}

void parquet_thrift_bool(struct parquet_thrift *t, int16_t id, bool v)
{
	put_field(t, id, v ? TRUE_FIELD : FALSE_FIELD);
}

void parquet_thrift_byte(struct parquet_thrift *t, int16_t id, int8_t v)
{
	put_field(t, id, BYTE_FIELD);
	buf_addch(t->out, (char)v);
}

void parquet_thrift_i32(struct parquet_thrift *t, int16_t id, int32_t v)
{
	put_field(t, id, PARQUET_THRIFT_I32);
	parquet_encode_varint(t->out, parquet_encode_zigzag(v));
}

void parquet_thrift_i64(struct parquet_thrift *t, int16_t id, int64_t v)
{
	put_field(t, id, I64_FIELD);
	parquet_encode_varint(t->out, parquet_encode_zigzag(v));
}

void parquet_thrift_binary(struct parquet_thrift *t, int16_t id, const void *p, size_t sz)
{
	put_field(t, id, PARQUET_THRIFT_BINARY);
	put_binary(t, p, sz);
}

void parquet_thrift_struct(struct parquet_thrift *t, int16_t id)
{
	put_field(t, id, PARQUET_THRIFT_STRUCT);
	parquet_thrift_element(t);
}

void parquet_thrift_list(struct parquet_thrift *t, int16_t id, int type, size_t cnt)
{
	put_field(t, id, LIST_FIELD);
	if (cnt <= SHORT_LIST) {
		buf_addch(t->out, (char)(cnt << 4 | (size_t)type));
		return;
	}
	buf_addch(t->out, (char)(0xf0 | type));
	parquet_encode_varint(t->out, cnt);
}

void parquet_thrift_element(struct parquet_thrift *t)
{
	assert(t->depth + 1 < PARQUET_THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void parquet_thrift_element_i32(struct parquet_thrift *t, int32_t v)
{
	parquet_encode_varint(t->out, parquet_encode_zigzag(v));
}

void parquet_thrift_element_binary(struct parquet_thrift *t, const void *p, size_t sz)
{
	put_binary(t, p, sz);
}

void parquet_thrift_end(struct parquet_thrift *t)
{
	buf_addch(t->out, '\0');
	if (t->depth)
		t->depth--;
}
