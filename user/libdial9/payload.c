// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parts of compile-time event types (dial9_event.h) that are too long to be inlined: text, maps
 * and lists.
 *
 * Each kind has two functions. The first checks a payload and returns its maximum size. The second
 * writes it and cannot fail, because all payloads are measured before the event's frame begins.
 * Both walk the same values.
 */
#include <errno.h>
#include <string.h>

#include "dial9.h"
#include "value.h"
#include "wire.h"

/* All payloads of an event together stay far below the maximum of int64_t. */
#define PAYLOAD_MAX ((int64_t)1 << 60)

int64_t dial9_payload_too_big(void)
{
	return -E2BIG;
}

int64_t dial9_payload_text(const char *s, size_t len)
{
	if (len > UINT32_MAX)
		return -E2BIG;
	return dial9_utf8_valid_len(s, len) == len ? (int64_t)len : -EILSEQ;
}

int64_t dial9_payload_string_map(const struct dial9_string_map *v)
{
	int64_t key, value, sum = 0;
	size_t i;

	if (v->cnt > UINT32_MAX)
		return -E2BIG;
	for (i = 0; i < v->cnt; i++) {
		key = dial9_payload_text(v->kv[i][0].ptr, v->kv[i][0].len);
		value = dial9_payload_text(v->kv[i][1].ptr, v->kv[i][1].len);
		if (key < 0 || value < 0)
			return key < 0 ? key : value;
		sum += 4 + key + 4 + value;
		if (sum > PAYLOAD_MAX)
			return -E2BIG;
	}
	return sum;
}

static uint8_t *emit_text(uint8_t *p, const char *s, size_t len)
{
	return wire_put_bytes(wire_put_u32(p, (uint32_t)len), s, len);
}

uint8_t *dial9_emit_string_map(uint8_t *p, const struct dial9_string_map *v)
{
	size_t i;

	p = wire_put_u32(p, (uint32_t)v->cnt);
	for (i = 0; i < v->cnt; i++) {
		p = emit_text(p, v->kv[i][0].ptr, v->kv[i][0].len);
		p = emit_text(p, v->kv[i][1].ptr, v->kv[i][1].len);
	}
	return p;
}

/* Size of a value without its type. Lists and maps in an element are already one level deeper. */
static int64_t measure(const struct dial9_value *v)
{
	int err;

	switch ((int)v->type) {
	case DIAL9_I64:
	case DIAL9_F64:
		return 8;
	case DIAL9_BOOL:
		return 1;
	case DIAL9_U8:
		return v->u64 > UINT8_MAX ? -ERANGE : 1;
	case DIAL9_U16:
		return v->u64 > UINT16_MAX ? -ERANGE : 2;
	case DIAL9_U32:
		return v->u64 > UINT32_MAX ? -ERANGE : 4;
	case DIAL9_POOLED_STRING:
	case DIAL9_POOLED_STACK:
		return 4;
	case DIAL9_VARINT:
		return WIRE_VARINT_MAX;
	case DIAL9_STRING:
		err = dial9_utf8_valid_len(v->str.ptr, v->str.len) == v->str.len ? 0 : -EILSEQ;
		return err ? err : 4 + (int64_t)v->str.len;
	case DIAL9_BYTES:
		return 4 + (int64_t)v->str.len;
	case DIAL9_STACK:
		return 4 + (int64_t)v->stack.cnt * 8;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		err = value_check_raw(v, 1);
		return err ? (err == -EBADMSG ? -EPROTOTYPE : err) : 4 + (int64_t)v->map.sz;
	}
	return -EPROTOTYPE;
}

int64_t dial9_payload_values(const struct dial9_value *values, size_t cnt)
{
	int64_t sz, sum = 0;
	size_t i;

	if (cnt > UINT32_MAX * 2ull)
		return -E2BIG;
	for (i = 0; i < cnt; i++) {
		sz = measure(&values[i]);
		if (sz < 0)
			return sz;
		sum += 1 + sz;
		if (sum > PAYLOAD_MAX)
			return -E2BIG;
	}
	return sum;
}

static uint8_t *emit_value(uint8_t *p, const struct dial9_value *v)
{
	p = wire_put_u8(p, v->type);
	switch ((int)v->type) {
	case DIAL9_I64:
	case DIAL9_F64:
		return wire_put_u64(p, v->u64);
	case DIAL9_BOOL:
		return wire_put_u8(p, v->b);
	case DIAL9_U8:
		return wire_put_u8(p, (uint8_t)v->u64);
	case DIAL9_U16:
		return wire_put_u16(p, (uint16_t)v->u64);
	case DIAL9_U32:
		return wire_put_u32(p, (uint32_t)v->u64);
	case DIAL9_POOLED_STRING:
	case DIAL9_POOLED_STACK:
		return wire_put_u32(p, v->id);
	case DIAL9_VARINT:
		return wire_put_varint(p, v->u64);
	case DIAL9_STACK:
		p = wire_put_u32(p, v->stack.cnt);
		return wire_put_bytes(p, v->stack.le, (size_t)v->stack.cnt * 8);
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		return wire_put_bytes(wire_put_u32(p, v->map.cnt), v->map.raw, v->map.sz);
	}
	return emit_text(p, v->str.ptr, v->str.len);
}

uint8_t *dial9_emit_values(uint8_t *p, const struct dial9_value *values, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		p = emit_value(p, &values[i]);
	return p;
}
