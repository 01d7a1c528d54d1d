/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event types known at compile time, for programs that write or read the same events often. dial9.h
 * includes this file.
 *
 * DIAL9_EVENT() declares an event type once, as a list of fields. It defines a struct, its schema, and an
 * inline writer with constant sizes and no dispatch on types.
 *
 *	#define POLL_FIELDS(X) \
 *		X(VARINT, worker_id) \
 *		X(OPT_U32, cpu) \
 *		X(STACK, frames)
 *	DIAL9_EVENT(poll, "PollEvent", POLL_FIELDS)
 *
 * defines
 *
 *	struct poll { uint64_t timestamp_ns; uint64_t worker_id; struct dial9_opt_u32 cpu;
 *		      struct dial9_stack frames; };
 *	int poll_schema(struct dial9_schema **out);
 *	int poll_write(struct dial9_enc *enc, struct dial9_event_type *type, const struct poll *ev);
 *	int poll_reader(struct dial9_reader **out);	(see dial9_reader_new())
 *	int poll_read(struct dial9_reader *r, const struct dial9_dec *dec,
 *		      const struct dial9_event *ev, struct poll *out);
 *
 * Kinds are all types of dial9.h, each also with the prefix OPT_; POOLED_STRING and POOLED_STACK are ids of
 * the encoder's pools. Such events always have a timestamp.
 *
 * _write() writes the event whole or not at all. Its errors are the errors of dial9_enc_begin() and
 *   -EILSEQ, -E2BIG   text that is not UTF-8, payload that is too long
 *   -EPROTOTYPE, -ERANGE   an element of a LIST or MAP that its type does not allow
 *   -EBUSY            inside an event
 *   -ENOSYS           the program was compiled with a dial9_event.h that this library does not support
 */
#ifndef D9_DIAL9_EVENT_H
#define D9_DIAL9_EVENT_H

#include "dial9.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The writers below depend on struct dial9_enc_head, struct dial9_event_type and the bytes of each
 * kind. They are compiled into the program, so the first event of each type in an encoder compares
 * both versions.
 */
#define DIAL9_INLINE_ABI 1

struct dial9_stack {
	const uint64_t *frames; /* leaf first */
	size_t cnt;
};

struct dial9_bytes {
	const void *ptr;
	size_t sz;
};

struct dial9_string_map {
	const struct dial9_str (*kv)[2]; /* keys and values, in order */
	size_t cnt; /* of pairs */
};

/* Elements of any type, as for dial9_enc_put_value() */
struct dial9_list {
	const struct dial9_value *values;
	size_t cnt;
};

struct dial9_map {
	const struct dial9_value (*kv)[2];
	size_t cnt; /* of pairs */
};

/* The first part of an encoder. Private to the inline functions. */
struct dial9_enc_head {
	uint64_t epoch; /* of the trace: unique, never 0; is first with any DIAL9_INLINE_ABI */
	uint8_t *pos; /* end of the complete frames */
	uint8_t *limit; /* end of the room for inline writers; NULL: none */
	uint64_t ts_base;
};

#define DIAL9_INLINE_SLACK 8 /* stores write eight bytes, of which only some may count */
#define DIAL9_INLINE_HEAD_SZ 6

/*
 * Returns where the fields of an event go, with sz bytes of room, after writing everything before
 * them. NULL: see *err.
 */
DIAL9_API uint8_t *dial9_enc_reserve(struct dial9_enc *enc, struct dial9_event_type *type,
				     uint64_t ts, size_t sz, unsigned int inline_abi, int *err);

/* Sets the error of dial9_enc_error() to err, for that field of the event; returns err. */
DIAL9_API int dial9_enc_refuse(struct dial9_enc *enc, const struct dial9_event_type *type,
			       const char *field, int err);

/* Writes the low sz bytes of v; stores eight. */
static inline uint8_t *dial9_inline_int(uint8_t *p, uint64_t v, size_t sz)
{
	v = dial9_inline_le64(v);
	__builtin_memcpy(p, &v, sizeof(v));
	return p + sz;
}

static inline uint8_t *dial9_inline_varint(uint8_t *p, uint64_t v)
{
	unsigned int sz;

	if (v < 0x80) {
		*p = (uint8_t)v;
		return p + 1;
	}
	if (v < 0x4000) {
		p[0] = (uint8_t)(v | 0x80);
		p[1] = (uint8_t)(v >> 7);
		return p + 2;
	}
	if (v >> 56) {
		for (; v >= 0x80; v >>= 7)
			*p++ = (uint8_t)(v | 0x80);
		*p = (uint8_t)v;
		return p + 1;
	}
	/* Spread groups of seven bits to bytes, by halves; then mark all but the last byte. */
	sz = (70 - (unsigned int)__builtin_clzll(v)) / 7;
	v = (v & 0x000000000fffffffull) | (v & 0x00fffffff0000000ull) << 4;
	v = (v & 0x00003fff00003fffull) | (v & 0x0fffc0000fffc000ull) << 2;
	v = (v & 0x007f007f007f007full) | (v & 0x3f803f803f803f80ull) << 1;
	v |= 0x8080808080808080ull & ((1ull << (8 * (sz - 1))) - 1);
	return dial9_inline_int(p, v, sz);
}

/* Short copies without a call. */
static inline uint8_t *dial9_inline_copy(uint8_t *p, const void *src, size_t sz)
{
	const uint8_t *from = (const uint8_t *)src;
	uint8_t *end = p + sz;

	if (sz > 64 || sz % 8) {
		__builtin_memcpy(p, from, sz);
		return end;
	}
	for (; p < end; p += 8, from += 8)
		__builtin_memcpy(p, from, 8);
	return p;
}

static inline uint8_t *dial9_inline_begin(struct dial9_enc *enc, struct dial9_event_type *type,
					  uint64_t ts, size_t sz, int *err)
{
	struct dial9_enc_head *h = (struct dial9_enc_head *)enc;
	uint64_t delta = ts - h->ts_base;

	sz += DIAL9_INLINE_SLACK;
	if (type->epoch != h->epoch || delta > 0xffffff || ts < h->ts_base ||
	    (uintptr_t)h->pos + DIAL9_INLINE_HEAD_SZ + sz > (uintptr_t)h->limit)
		return dial9_enc_reserve(enc, type, ts, sz, DIAL9_INLINE_ABI, err);
	dial9_inline_int(h->pos, 2 | (uint64_t)type->id << 8 | delta << 24, 8);
	h->ts_base = ts;
	return h->pos + DIAL9_INLINE_HEAD_SZ;
}

static inline void dial9_inline_end(struct dial9_enc *enc, uint8_t *p)
{
	((struct dial9_enc_head *)enc)->pos = p;
}

/*
 * A kind K: its C type, the maximum size of its fixed part on the wire, and three functions:
 * dial9_payload_K returns the size of the rest, or -errno if the value cannot be written;
 * dial9_emit_K writes it; both also exist for OPT_K.
 */
#define DIAL9_KIND(K, lower, ctype, fixed, payload_expr, emit_expr)                                \
	typedef ctype dial9_ctype_##K;                                                             \
	struct dial9_opt_##lower {                                                                 \
		bool present;                                                                      \
		ctype value;                                                                       \
	};                                                                                         \
	typedef struct dial9_opt_##lower dial9_ctype_OPT_##K;                                      \
	enum {                                                                                     \
		dial9_fixed_##K = fixed,                                                           \
		dial9_fixed_OPT_##K = (fixed) + 1,                                                 \
		dial9_tag_##K = DIAL9_##K,                                                         \
		dial9_tag_OPT_##K = DIAL9_##K | 0x80                                               \
	};                                                                                         \
	static inline int64_t dial9_payload_##K(const ctype *v)                                    \
	{                                                                                          \
		(void)v;                                                                           \
		return payload_expr;                                                               \
	}                                                                                          \
	static inline uint8_t *dial9_emit_##K(uint8_t *p, const ctype *v)                          \
	{                                                                                          \
		return emit_expr;                                                                  \
	}                                                                                          \
	static inline int64_t dial9_payload_OPT_##K(const struct dial9_opt_##lower *v)             \
	{                                                                                          \
		return v->present ? dial9_payload_##K(&v->value) : 0;                              \
	}                                                                                          \
	static inline uint8_t *dial9_emit_OPT_##K(uint8_t *p, const struct dial9_opt_##lower *v)   \
	{                                                                                          \
		*p++ = v->present;                                                                 \
		return v->present ? dial9_emit_##K(p, &v->value) : p;                              \
	}

static inline uint64_t dial9_inline_bits(double v)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Maximum size of a payload on the wire, or -errno; also -errno for too many elements */
DIAL9_API int64_t dial9_payload_text(const char *s, size_t len);
DIAL9_API int64_t dial9_payload_string_map(const struct dial9_string_map *v);
DIAL9_API int64_t dial9_payload_values(const struct dial9_value *values, size_t cnt);
DIAL9_API int64_t dial9_payload_too_big(void);

/* Write such payloads with their counts; return the end. */
DIAL9_API uint8_t *dial9_emit_string_map(uint8_t *p, const struct dial9_string_map *v);
DIAL9_API uint8_t *dial9_emit_values(uint8_t *p, const struct dial9_value *values, size_t cnt);

static inline int64_t dial9_inline_limit(size_t cnt, size_t unit)
{
	return cnt > UINT32_MAX ? dial9_payload_too_big() : (int64_t)(cnt * unit);
}

static inline uint8_t *dial9_inline_stack(uint8_t *p, const struct dial9_stack *v)
{
	size_t i;

	p = dial9_inline_int(p, v->cnt, 4);
	if (dial9_inline_le64(1) == 1)
		return dial9_inline_copy(p, v->frames, v->cnt * 8);
	for (i = 0; i < v->cnt; i++)
		p = dial9_inline_int(p, v->frames[i], 8);
	return p;
}

/* A pair is two consecutive values. */
static inline int64_t dial9_inline_pairs(const struct dial9_map *v)
{
	return v->cnt > UINT32_MAX ?
		       dial9_payload_too_big() :
		       dial9_payload_values((const struct dial9_value *)v->kv, v->cnt * 2);
}

DIAL9_KIND(I64, i64, int64_t, 8, 0, dial9_inline_int(p, (uint64_t)*v, 8))
DIAL9_KIND(F64, f64, double, 8, 0, dial9_inline_int(p, dial9_inline_bits(*v), 8))
DIAL9_KIND(BOOL, bool, bool, 1, 0, dial9_inline_int(p, *v, 1))
DIAL9_KIND(VARINT, varint, uint64_t, 10, 0, dial9_inline_varint(p, *v))
DIAL9_KIND(U8, u8, uint8_t, 1, 0, dial9_inline_int(p, *v, 1))
DIAL9_KIND(U16, u16, uint16_t, 2, 0, dial9_inline_int(p, *v, 2))
DIAL9_KIND(U32, u32, uint32_t, 4, 0, dial9_inline_int(p, *v, 4))
DIAL9_KIND(POOLED_STRING, pooled_string, uint32_t, 4, 0, dial9_inline_int(p, *v, 4))
DIAL9_KIND(POOLED_STACK, pooled_stack, uint32_t, 4, 0, dial9_inline_int(p, *v, 4))
DIAL9_KIND(STRING, string, struct dial9_str, 4, dial9_payload_text(v->ptr, v->len),
	   dial9_inline_copy(dial9_inline_int(p, v->len, 4), v->ptr, v->len))
DIAL9_KIND(BYTES, bytes, struct dial9_bytes, 4, dial9_inline_limit(v->sz, 1),
	   dial9_inline_copy(dial9_inline_int(p, v->sz, 4), v->ptr, v->sz))
DIAL9_KIND(STACK, stack, struct dial9_stack, 4, dial9_inline_limit(v->cnt, 8),
	   dial9_inline_stack(p, v))
DIAL9_KIND(STRING_MAP, string_map, struct dial9_string_map, 4, dial9_payload_string_map(v),
	   dial9_emit_string_map(p, v))
DIAL9_KIND(LIST, list, struct dial9_list, 4, dial9_payload_values(v->values, v->cnt),
	   dial9_emit_values(dial9_inline_int(p, v->cnt, 4), v->values, v->cnt))
DIAL9_KIND(MAP, map, struct dial9_map, 4, dial9_inline_pairs(v),
	   dial9_emit_values(dial9_inline_int(p, v->cnt, 4), (const struct dial9_value *)v->kv,
			     v->cnt * 2))

#define DIAL9_EACH_MEMBER(K, name) dial9_ctype_##K name;
#define DIAL9_EACH_FIELD(K, name) { #name, dial9_tag_##K },
#define DIAL9_EACH_COUNT(K, name) +1
#define DIAL9_EACH_FIXED(K, name) +dial9_fixed_##K
#define DIAL9_EACH_PAYLOAD(K, name)                                                                \
	more = dial9_payload_##K(&ev->name);                                                       \
	if (more < 0)                                                                              \
		return dial9_enc_refuse(enc, type, #name, (int)more);                              \
	sz += (size_t)more;
#define DIAL9_EACH_EMIT(K, name) p = dial9_emit_##K(p, &ev->name);
#define DIAL9_EACH_OFFSET(K, member) { #member, dial9_tag_##K, offsetof(dial9_this, member) },

#define DIAL9_EVENT(name, wire_name, FIELDS)                                                       \
	struct name {                                                                              \
		uint64_t timestamp_ns;                                                             \
		FIELDS(DIAL9_EACH_MEMBER)                                                          \
	};                                                                                         \
	enum { name##_field_cnt = 0 FIELDS(DIAL9_EACH_COUNT) };                                    \
	static inline DIAL9_UNUSED int name##_schema(struct dial9_schema **out)                    \
	{                                                                                          \
		static const struct dial9_field fields[] = { FIELDS(DIAL9_EACH_FIELD){ NULL,       \
										       0 } };      \
                                                                                                   \
		return dial9_schema_new(wire_name, true, fields, name##_field_cnt, out);           \
	}                                                                                          \
	static inline DIAL9_UNUSED int name##_write(                                               \
		struct dial9_enc *enc, struct dial9_event_type *type, const struct name *ev)       \
	{                                                                                          \
		size_t sz = 0 FIELDS(DIAL9_EACH_FIXED);                                            \
		int64_t more;                                                                      \
		int err = 0;                                                                       \
		uint8_t *p;                                                                        \
                                                                                                   \
		(void)more;                                                                        \
		FIELDS(DIAL9_EACH_PAYLOAD)                                                         \
		p = dial9_inline_begin(enc, type, ev->timestamp_ns, sz, &err);                     \
		if (!p)                                                                            \
			return err;                                                                \
		FIELDS(DIAL9_EACH_EMIT)                                                            \
		dial9_inline_end(enc, p);                                                          \
		return 0;                                                                          \
	}                                                                                          \
	static inline DIAL9_UNUSED int name##_reader(struct dial9_reader **out)                    \
	{                                                                                          \
		typedef struct name dial9_this;                                                    \
		static const struct dial9_member members[] = { FIELDS(DIAL9_EACH_OFFSET){ NULL, 0, \
											  0 } };   \
                                                                                                   \
		return dial9_reader_new(wire_name, members, name##_field_cnt, sizeof(struct name), \
					out);                                                      \
	}                                                                                          \
	static inline DIAL9_UNUSED int name##_read(struct dial9_reader *r,                         \
						   const struct dial9_dec *dec,                    \
						   const struct dial9_event *ev, struct name *out) \
	{                                                                                          \
		return dial9_reader_read(r, dec, ev, out);                                         \
	}

#ifdef __cplusplus
}
#endif

#endif
