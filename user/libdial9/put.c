// SPDX-License-Identifier: BSD-2-Clause
/*
 * Puts values into the open event and checks each against its field.
 *
 * Each put starts with next_field(): it finds the next field and checks that it accepts this kind
 * of value, with one bit mask for all types. After an error the event has no fields, so the fast
 * path needs no error check: it finds no field, and the slow path returns the error. Inside a list
 * there are no fields either; the slow path then writes an element with its own type.
 *
 * Numbers fit into the room that begin reserved. Only payloads of variable size reserve more, and
 * keep enough room for the remaining fields.
 */
#include "encode.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "schema.h"
#include "wire.h"

#define BIT(type) (1u << (type))
#define UINTS (BIT(DIAL9_VARINT) | BIT(DIAL9_U8) | BIT(DIAL9_U16) | BIT(DIAL9_U32))

/* Maximum size of an element without payload: its type and the widest fixed part. */
#define ELEM_MAX (1 + WIRE_VARINT_MAX)

/* The field of the last value; -1 if there was none. */
static long begun_field(const struct dial9_enc *enc)
{
	const uint8_t *next = enc->depth ? enc->outer_type : enc->type;

	return (long)(next - enc->entry->schema->types) - 1;
}

/* Makes the open event fail at that field, with the standard reason of err or a given reason. */
static int fail(struct dial9_enc *enc, int err)
{
	return encode_poison(enc, encode_error(enc, enc->entry->schema, begun_field(enc), err, "%s",
					       encode_reason(err)));
}

#define fail_why(enc, err, ...)                                                                    \
	encode_poison(enc,                                                                         \
		      encode_error(enc, (enc)->entry->schema, begun_field(enc), err, __VA_ARGS__))

/* The next field does not accept the given type; 0 means absent. */
static int fail_type(struct dial9_enc *enc, uint8_t given)
{
	long field = begun_field(enc) + 1;

	return encode_poison(enc, encode_error(enc, enc->entry->schema, field, -EPROTOTYPE,
					       "is %s, given %s", dial9_type_name(*enc->type),
					       given ? dial9_type_name(given) : "nothing"));
}

static int begin_elem(struct dial9_enc *enc, uint32_t accepts, uint8_t elem_type)
{
	int err;

	if (enc->err)
		return enc->err;
	if (!enc->open)
		return encode_error(enc, NULL, -1, -EINVAL, "no event is begun");
	if (!enc->depth)
		return encode_poison(enc, encode_error(enc, enc->entry->schema, -1, -EPROTOTYPE,
						       "all fields have their values"));
	if (!(accepts & BIT(elem_type)))
		return fail_why(enc, -EPROTOTYPE, "an element is never absent");
	if (enc->nest[enc->depth - 1].cnt == UINT32_MAX * 2ull)
		return fail(enc, -E2BIG);
	err = encode_ensure(enc, ELEM_MAX + enc->reserve);
	if (err)
		return fail(enc, err);
	enc->nest[enc->depth - 1].cnt++;
	enc->cur = wire_put_u8(enc->cur, elem_type);
	return elem_type;
}

/* The base type of the next field, or -errno; elem_type is used in lists. */
static inline int next_field(struct dial9_enc *enc, uint32_t accepts, uint8_t elem_type)
{
	uint8_t type;

	if (enc->type == enc->type_end)
		return begin_elem(enc, accepts, elem_type);
	type = *enc->type;
	if (!(accepts & BIT(type & 0x7f)))
		return fail_type(enc, elem_type);
	enc->type++;
	if (type & DIAL9_OPTIONAL)
		enc->cur = wire_put_u8(enc->cur, 1);
	return type & 0x7f;
}

static int put_uint(struct dial9_enc *enc, int type, uint64_t v)
{
	switch (type) {
	case DIAL9_VARINT:
		enc->cur = wire_put_varint(enc->cur, v);
		return 0;
	case DIAL9_U8:
	case DIAL9_BOOL:
		if (v > (type == DIAL9_BOOL ? 1 : UINT8_MAX))
			break;
		enc->cur = wire_put_u8(enc->cur, (uint8_t)v);
		return 0;
	case DIAL9_U16:
		if (v > UINT16_MAX)
			break;
		enc->cur = wire_put_u16(enc->cur, (uint16_t)v);
		return 0;
	case DIAL9_U32:
		if (v > UINT32_MAX)
			break;
		enc->cur = wire_put_u32(enc->cur, (uint32_t)v);
		return 0;
	case DIAL9_I64:
		if (v > INT64_MAX)
			break;
		enc->cur = wire_put_u64(enc->cur, v);
		return 0;
	default:
		return type;
	}
	return fail_why(enc, -ERANGE, "%" PRIu64 " does not fit %s", v,
			dial9_type_name((uint8_t)type));
}

static int put_u64_as(struct dial9_enc *enc, uint64_t v, uint8_t elem_type)
{
	return put_uint(enc, next_field(enc, UINTS | BIT(DIAL9_BOOL) | BIT(DIAL9_I64), elem_type),
			v);
}

int dial9_enc_put_u64(struct dial9_enc *enc, uint64_t v)
{
	/* The most frequent case. */
	if (enc->type != enc->type_end && *enc->type == DIAL9_VARINT) {
		enc->type++;
		enc->cur = wire_put_varint(enc->cur, v);
		return 0;
	}
	return put_u64_as(enc, v, DIAL9_VARINT);
}

int dial9_enc_put_i64(struct dial9_enc *enc, int64_t v)
{
	int type = next_field(enc, UINTS | BIT(DIAL9_I64), DIAL9_I64);

	if (type != DIAL9_I64)
		return type > 0 && v < 0 ? fail_why(enc, -ERANGE, "%" PRId64 " does not fit %s", v,
						    dial9_type_name((uint8_t)type)) :
					   put_uint(enc, type, (uint64_t)v);
	enc->cur = wire_put_u64(enc->cur, (uint64_t)v);
	return 0;
}

static int put_f64_bits(struct dial9_enc *enc, uint64_t bits)
{
	int type = next_field(enc, BIT(DIAL9_F64), DIAL9_F64);

	if (type < 0)
		return type;
	enc->cur = wire_put_u64(enc->cur, bits);
	return 0;
}

int dial9_enc_put_f64(struct dial9_enc *enc, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return put_f64_bits(enc, bits);
}

int dial9_enc_put_bool(struct dial9_enc *enc, bool v)
{
	return put_uint(enc, next_field(enc, BIT(DIAL9_BOOL), DIAL9_BOOL), v);
}

/* Writes a count or length and the payload. */
static int put_counted(struct dial9_enc *enc, uint32_t cnt, const void *data, size_t sz)
{
	int err = encode_ensure(enc, 4 + sz + enc->reserve);

	if (err)
		return fail(enc, err);
	enc->cur = wire_put_u32(enc->cur, cnt);
	enc->cur = wire_put_bytes(enc->cur, data, sz);
	return 0;
}

static int put_id(struct dial9_enc *enc, uint8_t type, uint32_t id)
{
	int taken = next_field(enc, BIT(type), type);

	if (taken < 0)
		return taken;
	enc->cur = wire_put_u32(enc->cur, id);
	return 0;
}

int dial9_enc_put_str_id(struct dial9_enc *enc, uint32_t id)
{
	return put_id(enc, DIAL9_POOLED_STRING, id);
}

int dial9_enc_put_stack_id(struct dial9_enc *enc, uint32_t id)
{
	return put_id(enc, DIAL9_POOLED_STACK, id);
}

int dial9_enc_put_str(struct dial9_enc *enc, const char *s, size_t len)
{
	int err, type = next_field(enc, BIT(DIAL9_STRING) | BIT(DIAL9_POOLED_STRING), DIAL9_STRING);
	uint32_t id;

	if (type < 0)
		return type;
	if (type == DIAL9_POOLED_STRING) {
		err = dial9_enc_intern(enc, s, len, &id);
		if (err)
			return fail(enc, err);
		enc->cur = wire_put_u32(enc->cur, id);
		return 0;
	}
	if (len > UINT32_MAX)
		return fail(enc, -E2BIG);
	if (dial9_utf8_valid_len(s, len) != len)
		return fail(enc, -EILSEQ);
	return put_counted(enc, (uint32_t)len, s, len);
}

int dial9_enc_put_bytes(struct dial9_enc *enc, const void *p, size_t sz)
{
	int type = next_field(enc, BIT(DIAL9_BYTES), DIAL9_BYTES);

	if (type < 0)
		return type;
	if (sz > UINT32_MAX)
		return fail(enc, -E2BIG);
	return put_counted(enc, (uint32_t)sz, p, sz);
}

int dial9_enc_put_stack(struct dial9_enc *enc, const uint64_t *frames, size_t cnt)
{
	int err, type = next_field(enc, BIT(DIAL9_STACK) | BIT(DIAL9_POOLED_STACK), DIAL9_STACK);
	uint32_t id;

	if (type < 0)
		return type;
	if (type == DIAL9_POOLED_STACK) {
		err = dial9_enc_intern_stack(enc, frames, cnt, &id);
		if (err)
			return fail(enc, err);
		enc->cur = wire_put_u32(enc->cur, id);
		return 0;
	}
	if (cnt > UINT32_MAX)
		return fail(enc, -E2BIG);
	err = encode_ensure(enc, 4 + cnt * 8 + enc->reserve);
	if (err)
		return fail(enc, err);
	enc->cur = wire_put_u32(enc->cur, (uint32_t)cnt);
	enc->cur = wire_put_frames(enc->cur, frames, cnt);
	return 0;
}

/* Writes one text of a map; in a MAP it has a type. */
static int put_map_text(struct dial9_enc *enc, const struct dial9_str *s, bool tagged)
{
	int err;

	if (s->len > UINT32_MAX)
		return fail(enc, -E2BIG);
	if (dial9_utf8_valid_len(s->ptr, s->len) != s->len)
		return fail(enc, -EILSEQ);
	err = encode_ensure(enc, 1 + 4 + s->len + enc->reserve);
	if (err)
		return fail(enc, err);
	if (tagged)
		enc->cur = wire_put_u8(enc->cur, DIAL9_STRING);
	enc->cur = wire_put_u32(enc->cur, (uint32_t)s->len);
	enc->cur = wire_put_bytes(enc->cur, s->ptr, s->len);
	return 0;
}

int dial9_enc_put_map(struct dial9_enc *enc, const struct dial9_str (*kv)[2], size_t cnt)
{
	int err, type = next_field(enc, BIT(DIAL9_STRING_MAP) | BIT(DIAL9_MAP), DIAL9_STRING_MAP);
	size_t i;

	if (type < 0)
		return type;
	if (cnt > UINT32_MAX)
		return fail(enc, -E2BIG);
	err = put_counted(enc, (uint32_t)cnt, NULL, 0);
	for (i = 0; !err && i < cnt; i++) {
		err = put_map_text(enc, &kv[i][0], type == DIAL9_MAP);
		if (!err)
			err = put_map_text(enc, &kv[i][1], type == DIAL9_MAP);
	}
	return err;
}

int dial9_enc_put_none(struct dial9_enc *enc)
{
	if (enc->type == enc->type_end)
		return begin_elem(enc, 0, 0);
	if (!(*enc->type & DIAL9_OPTIONAL))
		return fail_type(enc, 0);
	enc->type++;
	enc->cur = wire_put_u8(enc->cur, 0);
	return 0;
}

static int open_nest(struct dial9_enc *enc, uint8_t type)
{
	int err, taken = next_field(enc, BIT(type), type);
	struct encode_nest *nest;

	if (taken < 0)
		return taken;
	if (enc->depth == VALUE_DEPTH_MAX)
		return fail_why(enc, -E2BIG, "lists nested more than 64 deep");
	err = put_counted(enc, 0, NULL, 0);
	if (err)
		return err;
	if (!enc->depth) {
		enc->outer_type = enc->type;
		enc->outer_type_end = enc->type_end;
		enc->type = enc->type_end = NULL;
	}
	nest = &enc->nest[enc->depth++];
	nest->cnt_off = (size_t)(enc->cur - enc->h.pos) - 4;
	nest->cnt = 0;
	nest->is_map = type == DIAL9_MAP;
	return 0;
}

int dial9_enc_open_list(struct dial9_enc *enc)
{
	return open_nest(enc, DIAL9_LIST);
}

int dial9_enc_open_map(struct dial9_enc *enc)
{
	return open_nest(enc, DIAL9_MAP);
}

int dial9_enc_close(struct dial9_enc *enc)
{
	struct encode_nest *nest;

	if (!enc->depth)
		return enc->err	 ? enc->err :
		       enc->open ? fail_why(enc, -EINVAL, "no list or map is open") :
				   encode_error(enc, NULL, -1, -EINVAL, "no event is begun");
	nest = &enc->nest[enc->depth - 1];
	if (nest->is_map) {
		if (nest->cnt % 2)
			return fail_why(enc, -EPROTOTYPE, "a key without value");
		nest->cnt /= 2;
	}
	if (nest->cnt > UINT32_MAX)
		return fail(enc, -E2BIG);
	wire_put_u32(enc->h.pos + nest->cnt_off, (uint32_t)nest->cnt);
	if (--enc->depth == 0) {
		enc->type = enc->outer_type;
		enc->type_end = enc->outer_type_end;
	}
	return 0;
}

/* Writes raw entries. They are checked again, because they need not come from a decoder. */
static int put_raw(struct dial9_enc *enc, const struct dial9_value *v)
{
	int err, type = next_field(enc, BIT(v->type), v->type);

	if (type < 0)
		return type;
	err = value_check_raw(v, enc->depth);
	if (err)
		return err == -EBADMSG ? fail_why(enc, -EPROTOTYPE, "entries that are no %s",
						  dial9_type_name(v->type)) :
					 fail(enc, err);
	return put_counted(enc, v->map.cnt, v->map.raw, v->map.sz);
}

static int put_raw_stack(struct dial9_enc *enc, const struct dial9_value *v)
{
	int type = next_field(enc, BIT(DIAL9_STACK), DIAL9_STACK);

	return type < 0 ? type :
			  put_counted(enc, v->stack.cnt, v->stack.le, (size_t)v->stack.cnt * 8);
}

int dial9_enc_put_value(struct dial9_enc *enc, const struct dial9_value *v)
{
	uint64_t bits;

	switch ((int)v->type) {
	case 0:
		return dial9_enc_put_none(enc);
	case DIAL9_I64:
		return dial9_enc_put_i64(enc, v->i64);
	case DIAL9_F64:
		memcpy(&bits, &v->f64, sizeof(bits));
		return put_f64_bits(enc, bits);
	case DIAL9_BOOL:
		return dial9_enc_put_bool(enc, v->b);
	case DIAL9_STRING:
		return dial9_enc_put_str(enc, v->str.ptr, v->str.len);
	case DIAL9_BYTES:
		return dial9_enc_put_bytes(enc, v->str.ptr, v->str.len);
	case DIAL9_POOLED_STACK:
		return dial9_enc_put_stack_id(enc, v->id);
	case DIAL9_POOLED_STRING:
		return dial9_enc_put_str_id(enc, v->id);
	case DIAL9_STACK:
		return put_raw_stack(enc, v);
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		return put_u64_as(enc, v->u64, v->type);
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		return put_raw(enc, v);
	}
	return fail_why(enc, -EINVAL, "%u is no type", v->type);
}

/* Writes a payload with its count; NULL unless `reserve` bytes remain after it. */
static inline uint8_t *quick_counted(uint8_t *p, const uint8_t *end, size_t reserve, uint32_t cnt,
				     const void *data, size_t sz)
{
	if ((size_t)(end - p) < sz + reserve)
		return NULL;
	return dial9_inline_copy(wire_put_u32(p, cnt), data, sz);
}

/* Writes a value of exactly the field's type; NULL if the slow path has to check it. */
static inline __attribute__((always_inline)) uint8_t *quick_value(enum schema_code code, uint8_t *p,
								  const uint8_t *end,
								  size_t reserve,
								  const struct dial9_value *v)
{
	switch (code) {
	case SCHEMA_VARINTS:
		return wire_put_varint(p, v->u64);
	case SCHEMA_8:
		return v->u64 <= UINT8_MAX ? wire_put_u8(p, (uint8_t)v->u64) : NULL;
	case SCHEMA_16:
		return v->u64 <= UINT16_MAX ? wire_put_u16(p, (uint16_t)v->u64) : NULL;
	case SCHEMA_32:
		return v->u64 <= UINT32_MAX ? wire_put_u32(p, (uint32_t)v->u64) : NULL;
	case SCHEMA_64:
		return wire_put_u64(p, v->u64);
	case SCHEMA_BOOL:
		return wire_put_u8(p, v->b);
	case SCHEMA_ID:
		return wire_put_u32(p, v->id);
	case SCHEMA_BYTES:
		return quick_counted(p, end, reserve, v->str.len, v->str.ptr, v->str.len);
	case SCHEMA_STACK:
		return quick_counted(p, end, reserve, v->stack.cnt, v->stack.le,
				     (size_t)v->stack.cnt * 8);
	case SCHEMA_TEXT:
	case SCHEMA_OTHER:
	case SCHEMA_OPTIONAL:
		break;
	}
	return NULL;
}

/* Writes the fields after an event's head at p; NULL if the slow path has to. */
static inline __attribute__((always_inline)) uint8_t *quick_fields(const struct dial9_schema *s,
								   const struct dial9_value *v,
								   uint8_t *p, const uint8_t *end)
{
	const struct schema_op *op = s->ops, *ops_end = s->ops_end;
	const struct dial9_value *first = v;
	uint32_t left;

	for (; op < ops_end; op++) {
		if (op->code == SCHEMA_VARINTS) {
			left = op->cnt;
			do {
				if (v->type != DIAL9_VARINT)
					return NULL;
				p = wire_put_varint(p, v->u64);
				v++;
			} while (--left);
			continue;
		}
		if (op->code & SCHEMA_OPTIONAL) {
			*p++ = v->type != 0;
			if (!v->type) {
				v++;
				continue;
			}
		}
		if (v->type != (s->types[v - first] & 0x7f))
			return NULL;
		p = quick_value((enum schema_code)(op->code & ~SCHEMA_OPTIONAL), p, end,
				s->fixed_max, v);
		if (!p)
			return NULL;
		v++;
	}
	return p;
}

/*
 * Fast path for most events: writes the event after pos, and then moves pos. If the event needs the
 * slow path, nothing changes. The schema of `id` must be in the stream.
 */
static inline __attribute__((always_inline)) bool
quick_write(struct dial9_enc *enc, const struct dial9_schema *s, uint16_t id, uint64_t ts,
	    const struct dial9_value *values, size_t cnt)
{
	uint64_t delta = ts - enc->h.ts_base;
	uint8_t *p = enc->h.pos;

	if (cnt != s->field_cnt || !s->has_ts || delta > WIRE_DELTA_MAX || ts < enc->h.ts_base ||
	    (uintptr_t)p + s->fixed_max + DIAL9_INLINE_SLACK > (uintptr_t)enc->h.limit)
		return false;
	wire_put_u64(p, WIRE_EVENT | (uint64_t)id << 8 | delta << 24);
	p = quick_fields(s, values, p + WIRE_EVENT_TS_SZ, enc->h.limit);
	if (!p)
		return false;
	enc->h.pos = p;
	enc->h.ts_base = ts;
	return true;
}

static int careful_write(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts,
			 const struct dial9_value *values, size_t cnt)
{
	int err = dial9_enc_begin(enc, s, ts);
	size_t i;

	for (i = 0; !err && i < cnt; i++)
		err = dial9_enc_put_value(enc, &values[i]);
	/* After a failed begin, dial9_enc_end() clears the error and returns it. */
	return err == -EBUSY ? err : dial9_enc_end(enc);
}

int dial9_enc_write(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts,
		    const struct dial9_value *values, size_t cnt)
{
	const struct schema_set_entry *entry = schema_set_find(&enc->schemas, s);

	if (entry && entry->emitted && quick_write(enc, s, entry->id, ts, values, cnt))
		return 0;
	return careful_write(enc, s, ts, values, cnt);
}

int dial9_enc_write_type(struct dial9_enc *enc, struct dial9_event_type *type, uint64_t ts,
			 const struct dial9_value *values, size_t cnt)
{
	int err;

	if (type->epoch == enc->h.epoch &&
	    quick_write(enc, type->schema, type->id, ts, values, cnt))
		return 0;
	err = careful_write(enc, type->schema, ts, values, cnt);
	if (!err) {
		type->id = enc->entry->id;
		type->epoch = enc->h.epoch;
	}
	return err;
}
