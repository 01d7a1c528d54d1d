/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dial9: a codec for the self-describing trace format of that name.
 *
 * A dial9 stream is a header and then frames: schemas define the layout of events, events carry
 * values in that layout, pools define strings and stacks once so that events can refer to them by
 * number. user/libdial9/FORMAT.md describes the bytes.
 *
 * Conventions of all functions:
 *  - 0 or a positive result is success, a negative result is -errno. No function prints or exits, and
 *    there is no state outside the objects.
 *  - Constructors fill *out and leave it unchanged on failure. Every _free accepts NULL.
 *  - An object belongs to one thread at a time. Schemas are immutable and may be shared by any number
 *    of threads, encoders and decoders.
 *  - Text is UTF-8 and is given with its length in bytes: it may hold NUL.
 *  - Structs that start with `sz` are set to zero by the caller, with sz = sizeof(the struct): later
 *    versions add members at the end, and zero always means the default. A library older than the
 *    caller's header refuses unknown members (-EINVAL) unless they are zero.
 *  - Structs that the library fills have `reserved` words, which it sets to zero until a later version uses
 *    them. Their sizes never change, and neither do sizes of
 *    structs with neither `sz` nor `reserved`.
 */
#ifndef D9_DIAL9_H
#define D9_DIAL9_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DIAL9_API __attribute__((visibility("default")))
#define DIAL9_UNUSED __attribute__((unused))
#else
#define DIAL9_API
#define DIAL9_UNUSED
#endif

#define DIAL9_VERSION_MAJOR 0
#define DIAL9_VERSION_MINOR 1
#define DIAL9_VERSION_PATCH 0
#define DIAL9_VERSION (DIAL9_VERSION_MAJOR << 16 | DIAL9_VERSION_MINOR << 8 | DIAL9_VERSION_PATCH)

/* DIAL9_VERSION of the running library */
DIAL9_API unsigned int dial9_version(void);

/* Spec levels an encoder may write. A decoder reads both. */
#define DIAL9_LEVEL_3 3 /* 0.3: supported by all readers */
#define DIAL9_LEVEL_4 4 /* 0.4: also stack pools, annotations, and the types marked [4] below */

/* ---- types, strings, values --------------------------------------------------------------------- */

/*
 * Field types, with their numbers in schema frames. Or DIAL9_OPTIONAL to a type for a field that
 * may be absent.
 */
enum dial9_type {
	DIAL9_I64 = 1, /* 8 bytes, signed */
	DIAL9_F64 = 2, /* IEEE 754 double */
	DIAL9_BOOL = 3,
	DIAL9_STRING = 4, /* UTF-8 text in place */
	DIAL9_BYTES = 5,
	DIAL9_POOLED_STACK = 6, /* [4] id of a stack in the pool */
	DIAL9_POOLED_STRING = 7, /* id of a string in the pool */
	DIAL9_STACK = 8, /* addresses, leaf first */
	DIAL9_VARINT = 9, /* unsigned, 1 to 10 bytes */
	DIAL9_STRING_MAP = 10, /* ordered pairs of text; duplicates are kept */
	DIAL9_U8 = 11,
	DIAL9_U16 = 12,
	DIAL9_U32 = 13,
	DIAL9_LIST = 14, /* [4] elements of any type, nested */
	DIAL9_MAP = 15, /* [4] pairs of any type, nested */
	DIAL9_OPTIONAL = 0x80, /* modifier */
};

/* Borrowed text; not terminated */
struct dial9_str {
	const char *ptr;
	size_t len;
};

/* Parts of a value, below. */
struct dial9_text {
	const char *ptr;
	uint32_t len;
};

struct dial9_frames {
	const uint8_t *le; /* cnt little-endian u64, not aligned: dial9_value_frame() */
	uint32_t cnt;
};

struct dial9_entries {
	const uint8_t *raw; /* encoded, sz bytes of them */
	uint32_t sz;
	uint32_t cnt;
};

/*
 * One value. In a value from a decoder, pointers borrow the decoder's memory until its next call.
 * `type` is the type without DIAL9_OPTIONAL; 0 is an optional field that is absent. It
 * selects the member of the union:
 *
 *   VARINT U8 U16 U32   u64              I64  i64        F64  f64        BOOL  b
 *   STRING BYTES        str              STACK  stack    POOLED_STRING POOLED_STACK  id
 *   STRING_MAP MAP      map              LIST  list      (walk these with struct dial9_iter)
 */
struct dial9_value {
	uint8_t type;
	bool bad_utf8; /* decoder: invalid UTF-8 in a STRING, or in text within a map or list */
	uint8_t reserved[6]; /* ignored by encoders */
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		bool b;
		uint32_t id;
		struct dial9_text str;
		struct dial9_frames stack;
		struct dial9_entries map, list;
	};
};

/* The i-th address of a STACK value, leaf first; 0 if i is out of range. */
DIAL9_API uint64_t dial9_value_frame(const struct dial9_value *v, uint32_t i);

static inline uint64_t dial9_inline_le64(uint64_t v)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(v);
#else
	return v;
#endif
}

/* Same, for the raw form that dial9_dec_stack() and dial9_iter hand out. `i` must be < its count. */
static inline uint64_t dial9_frame_at(const uint8_t *le, uint32_t i)
{
	uint64_t v;

	__builtin_memcpy(&v, le + (size_t)i * 8, sizeof(v));
	return dial9_inline_le64(v);
}

/* "U32", "Varint?" (optional) and so on; "?" for an unknown type. Static. */
DIAL9_API const char *dial9_type_name(uint8_t type);

/* Length of the longest valid UTF-8 prefix of s; equal to len if s is valid. */
DIAL9_API size_t dial9_utf8_valid_len(const char *s, size_t len);

/* ---- schemas ------------------------------------------------------------------------------------ */

struct dial9_schema;

struct dial9_field {
	const char *name; /* terminated */
	uint8_t type; /* enum dial9_type, with or without DIAL9_OPTIONAL */
};

/* A field whose name may hold NUL. */
struct dial9_field_n {
	struct dial9_str name;
	uint8_t type;
};

/*
 * Makes a schema from a name, whether its events have a timestamp, and its fields in wire order
 * (field names may repeat). Everything is copied. Any encoder in any thread can use it. 0; -EINVAL
 * for an unknown type; -EILSEQ for a name that is not UTF-8; -E2BIG for more than 65535 fields or
 * bytes in a name; -ENOMEM. Release it with dial9_schema_free().
 */
DIAL9_API int dial9_schema_new(const char *name, bool has_timestamp,
			       const struct dial9_field *fields, size_t field_cnt,
			       struct dial9_schema **out);
DIAL9_API int dial9_schema_new_n(struct dial9_str name, bool has_timestamp,
				 const struct dial9_field_n *fields, size_t field_cnt,
				 struct dial9_schema **out);

/*
 * Schemas are reference counted: _ref() adds a reference and returns the schema, _free() drops one.
 * Encoders and decoders hold their own references, so a schema may be freed while they use it.
 */
DIAL9_API struct dial9_schema *dial9_schema_ref(const struct dial9_schema *s);
DIAL9_API void dial9_schema_free(struct dial9_schema *s);

/*
 * Borrowed from the schema. Terminated, but names that contain NUL need the _n variants. Getters of
 * fields need i < field_cnt; otherwise they return NULL, or type 0.
 */
DIAL9_API const char *dial9_schema_name(const struct dial9_schema *s);
DIAL9_API struct dial9_str dial9_schema_name_n(const struct dial9_schema *s);
DIAL9_API bool dial9_schema_has_timestamp(const struct dial9_schema *s);
DIAL9_API size_t dial9_schema_field_cnt(const struct dial9_schema *s);
DIAL9_API const char *dial9_schema_field_name(const struct dial9_schema *s, size_t i);
DIAL9_API struct dial9_str dial9_schema_field_name_n(const struct dial9_schema *s, size_t i);
DIAL9_API uint8_t dial9_schema_field_type(const struct dial9_schema *s, size_t i);

/* Index of the first field with that name, or -ENOENT */
DIAL9_API int dial9_schema_find(const struct dial9_schema *s, const char *field);
DIAL9_API int dial9_schema_find_n(const struct dial9_schema *s, struct dial9_str field);

/* Whether name, has_timestamp and fields are equal. */
DIAL9_API bool dial9_schema_equal(const struct dial9_schema *a, const struct dial9_schema *b);

/* ---- encoder ------------------------------------------------------------------------------------ */

struct dial9_enc;

/*
 * Accepts sz bytes, always whole frames; or fails with -errno and accepts none: the next call
 * begins with them.
 */
typedef int (*dial9_write_fn)(void *ctx, const void *data, size_t sz);

/*
 * A write function for a file descriptor; ctx is a struct dial9_fd for this encoder only. After an
 * error (-EAGAIN, -ENOSPC, -EPIPE) the next flush continues where this one ended, also inside a
 * frame.
 */
struct dial9_fd {
	int fd; /* stays open */
	size_t gone; /* set to 0; private */
	uint64_t reserved[2];
};

DIAL9_API int dial9_write_fd(void *ctx, const void *data, size_t sz);

struct dial9_enc_opts {
	size_t sz; /* sizeof(struct dial9_enc_opts) */
	dial9_write_fn write; /* NULL: keep everything in memory, see dial9_enc_data() */
	void *ctx; /* for write */
	int level; /* DIAL9_LEVEL_3 (also 0) or DIAL9_LEVEL_4 */
	uint16_t first_type_id; /* id of the first schema; later ones count up */
	size_t buf_max; /* limit of buffered bytes; 0: none */
	/*
	 * limit of each pool's lookup table; 0: 64 MiB. At the limit the table is emptied: old ids
	 * stay valid, but the same string gets a new id later
	 */
	size_t pool_bytes_max;
	size_t flush_at; /* call write() when this many bytes wait; 0: 64 KiB */
};

/*
 * Makes an encoder; the stream's header is its first output. opts NULL: in memory, level 3. 0,
 * -EINVAL or -ENOMEM.
 */
DIAL9_API int dial9_enc_new(const struct dial9_enc_opts *opts, struct dial9_enc **out);

/* Frees the encoder. Drops bytes that were not flushed, so call dial9_enc_flush() before. */
DIAL9_API void dial9_enc_free(struct dial9_enc *enc);

/*
 * One event: begin, one put for each field in schema order, end. All or nothing: if a step fails, it
 * returns the error, all later steps of the event return it again, and dial9_enc_end() discards the
 * event, so the stream is as it was before begin. The next begin starts a new event.
 *
 * begin: ts in nanoseconds (any order; steps back, and steps of 2^24 ns or more, cost 9 bytes), ignored
 * if the schema has no timestamp. Writes the schema's frame before its first event. -ENOTSUP if the
 * schema needs level 4, -ENOSPC if type ids are used up, -EBUSY inside an open event, -ENOMEM, -E2BIG at
 * buf_max, or the result of write().
 */
DIAL9_API int dial9_enc_begin(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts);
DIAL9_API int dial9_enc_end(struct dial9_enc *enc);
DIAL9_API void dial9_enc_cancel(struct dial9_enc *enc);

/*
 * The puts. Each checks its value against the next field: -EPROTOTYPE if the type does not fit or
 * no field is left, -ERANGE if the value does not, -EILSEQ for text that is not UTF-8, -E2BIG over 2^32-1
 * bytes or elements or at buf_max, -EINVAL outside of an event. Accepted types:
 *
 *   put_u64       VARINT, U8, U16, U32, BOOL (0 or 1), I64 (below 2^63)
 *   put_i64       I64, and the unsigned types if the value is not negative
 *   put_str       STRING; POOLED_STRING by interning it
 *   put_stack     STACK; POOLED_STACK by interning it
 *   put_str_id    POOLED_STRING: an id from dial9_enc_intern() since the last reset; not checked
 *   put_stack_id  POOLED_STACK, the same
 *   put_bytes     BYTES                 put_map   STRING_MAP, MAP
 *   put_none      any optional field: absent
 *   put_value     according to `type`; also LIST and MAP from a decoder
 */
DIAL9_API int dial9_enc_put_u64(struct dial9_enc *enc, uint64_t v);
DIAL9_API int dial9_enc_put_i64(struct dial9_enc *enc, int64_t v);
DIAL9_API int dial9_enc_put_f64(struct dial9_enc *enc, double v);
DIAL9_API int dial9_enc_put_bool(struct dial9_enc *enc, bool v);
DIAL9_API int dial9_enc_put_str(struct dial9_enc *enc, const char *s, size_t len);
DIAL9_API int dial9_enc_put_str_id(struct dial9_enc *enc, uint32_t id);
DIAL9_API int dial9_enc_put_bytes(struct dial9_enc *enc, const void *p, size_t sz);
DIAL9_API int dial9_enc_put_stack(struct dial9_enc *enc, const uint64_t *frames, size_t cnt);
DIAL9_API int dial9_enc_put_stack_id(struct dial9_enc *enc, uint32_t id);
DIAL9_API int dial9_enc_put_map(struct dial9_enc *enc, const struct dial9_str (*kv)[2], size_t cnt);
DIAL9_API int dial9_enc_put_none(struct dial9_enc *enc);
DIAL9_API int dial9_enc_put_value(struct dial9_enc *enc, const struct dial9_value *v);

/*
 * LIST and MAP fields: open, then any puts (each element has its own type: put_u64 makes a VARINT, put_i64
 * an I64, and so on; in a map keys and values alternate), then close. Up to 64 levels, otherwise -E2BIG.
 */
DIAL9_API int dial9_enc_open_list(struct dial9_enc *enc);
DIAL9_API int dial9_enc_open_map(struct dial9_enc *enc);
DIAL9_API int dial9_enc_close(struct dial9_enc *enc);

/*
 * Why the last call on enc that failed did so: "Request.status: 70000 does not fit U16". Names the
 * event's field if there is one. "" if no call has failed; borrowed until the next call on enc.
 */
DIAL9_API const char *dial9_enc_error(const struct dial9_enc *enc);

/* A whole event in one call: cnt values, one for each field. Errors as above. */
DIAL9_API int dial9_enc_write(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts,
			      const struct dial9_value *values, size_t cnt);

/*
 * Caches the id of a type. Set it to zero, set schema, and keep one per type and thread. It stays
 * correct after resets and with another encoder (which costs a lookup). The schema must outlive it.
 */
struct dial9_event_type {
	const struct dial9_schema *schema;
	uint64_t epoch; /* private, and so are the following members */
	uint64_t reserved;
	uint16_t id;
};

/* dial9_enc_write() with a cached type id, which saves the lookup. */
DIAL9_API int dial9_enc_write_type(struct dial9_enc *enc, struct dial9_event_type *type,
				   uint64_t ts, const struct dial9_value *values, size_t cnt);

/*
 * The id of a string, or of a stack (level 4, otherwise -ENOTSUP), in this encoder's pools. It is
 * defined in the stream on first use, and stays the same until the lookup table is emptied at its
 * limit. Valid until dial9_enc_reset(). Allowed while an event is open, and kept if that event is
 * cancelled. -EILSEQ, -E2BIG, -ENOSPC (2^32 ids used), -ENOMEM.
 */
DIAL9_API int dial9_enc_intern(struct dial9_enc *enc, const char *s, size_t len, uint32_t *id);
DIAL9_API int dial9_enc_intern_stack(struct dial9_enc *enc, const uint64_t *frames, size_t cnt,
				     uint32_t *id);

/*
 * For programs that copy streams and keep the numbers: writes a schema's frame now under that type
 * id (-EEXIST if another layout has the id), or defines a pool id. Not inside an event (-EBUSY).
 * Interning does not return these ids later.
 */
DIAL9_API int dial9_enc_register(struct dial9_enc *enc, const struct dial9_schema *s,
				 uint16_t type_id);
DIAL9_API int dial9_enc_define_string(struct dial9_enc *enc, uint32_t id, const char *s,
				      size_t len);
DIAL9_API int dial9_enc_define_stack(struct dial9_enc *enc, uint32_t id, const uint64_t *frames,
				     size_t cnt);

/*
 * Level 4: attaches keys and values to fields of a schema (for example a unit; FORMAT.md lists the
 * known keys). Writes the schema's frame first if needed. All given annotations, at most 65535,
 * become one frame; none write nothing. A later value replaces an earlier one of the same field and
 * key. Keys have at most 65535 bytes (-E2BIG), and all text is UTF-8 (-EILSEQ). -ENOTSUP at level
 * 3, -EBUSY inside an event.
 */
struct dial9_annotation {
	uint16_t field; /* its place in the schema */
	struct dial9_str key, value;
};

DIAL9_API int dial9_enc_annotate(struct dial9_enc *enc, const struct dial9_schema *s,
				 uint16_t field, struct dial9_str key, struct dial9_str value);
DIAL9_API int dial9_enc_annotate_all(struct dial9_enc *enc, const struct dial9_schema *s,
				     const struct dial9_annotation *annotations, size_t cnt);

/* Hand all complete frames to write() (nothing to do in a memory encoder). An open event stays open. On an
 * error the frames stay buffered and a later flush tries again. */
DIAL9_API int dial9_enc_flush(struct dial9_enc *enc);

/*
 * Begins a new trace: flushes; then header, schemas, pools, time base and type ids start again.
 * Schema handles stay valid, pool ids do not. The bytes before and after can be read separately; in
 * one file they are a stream with a mid-stream header. -EBUSY inside an event.
 */
DIAL9_API int dial9_enc_reset(struct dial9_enc *enc);

/*
 * Encoders in memory: all complete frames so far; borrowed until the next call on enc. NULL and 0
 * for other encoders.
 */
DIAL9_API const void *dial9_enc_data(const struct dial9_enc *enc, size_t *sz);

/* Encoders in memory: drops the bytes of dial9_enc_data() and continues the same stream. */
DIAL9_API void dial9_enc_clear(struct dial9_enc *enc);

/* Bytes of complete frames since _new(), flushed or not */
DIAL9_API uint64_t dial9_enc_bytes(const struct dial9_enc *enc);

/* The current time base: an event with this ts has a delta of 0. */
DIAL9_API uint64_t dial9_enc_last_ts(const struct dial9_enc *enc);

/* ---- decoder ------------------------------------------------------------------------------------ */

struct dial9_dec;

/* Fills buf with 1 to sz bytes and returns their number; 0: no more for now; or -errno. */
typedef ssize_t (*dial9_read_fn)(void *ctx, void *buf, size_t sz);

/* Limits of the decoder's memory; 0 is the default, given here. Beyond: -E2BIG. */
struct dial9_limits {
	size_t frame_bytes; /* one frame: 256 MiB */
	size_t pool_bytes; /* all strings and stacks of the pools, with bookkeeping: 1 GiB */
	size_t schema_bytes; /* all schemas with their annotations: 64 MiB */
	uint32_t depth; /* nesting of lists: 64, which is also the maximum; deeper: -EBADMSG */
	uint64_t reserved[4]; /* 0 */
};

struct dial9_dec_opts {
	size_t sz; /* sizeof(struct dial9_dec_opts) */
	dial9_read_fn read; /* a stream, or: */
	void *ctx;
	const void *data; /* all input in memory; must outlive the decoder */
	size_t data_sz;
	struct dial9_limits limits;
};

enum dial9_frame_kind {
	DIAL9_FRAME_HEADER = 1, /* the first frame of every stream */
	DIAL9_FRAME_MIDHEADER, /* a new trace begins: schemas, pools and time base are reset */
	DIAL9_FRAME_SCHEMA,
	DIAL9_FRAME_STRINGS,
	DIAL9_FRAME_STACKS,
	DIAL9_FRAME_RESET,
	DIAL9_FRAME_ANNOTATIONS,
	DIAL9_FRAME_EVENT,
};

struct dial9_event {
	/* valid until the next midheader; see dial9_schema_ref() */
	const struct dial9_schema *schema;
	uint16_t type_id;
	bool has_ts;
	uint64_t ts; /* absolute, ns; 0 for events without a timestamp */
	const struct dial9_value *values; /* one for each field, in schema order */
	size_t value_cnt;
	uint64_t reserved[2];
};

/* Cursor over the entries of a value or frame; its members are private. */
struct dial9_iter {
	const uint8_t *pos, *end;
	uint32_t left;
	uint8_t type;
	uint64_t reserved;
};

struct dial9_frame_schema {
	uint16_t type_id;
	const struct dial9_schema *schema;
};

struct dial9_frame_pool {
	struct dial9_iter iter; /* copy it to iterate */
	uint32_t cnt;
	uint16_t type_id; /* ANNOTATIONS: the annotated schema */
};

struct dial9_frame {
	enum dial9_frame_kind kind;
	uint64_t offset; /* of its first byte in the stream */
	union {
		uint8_t version; /* HEADER, MIDHEADER */
		uint64_t reset_ts; /* RESET */
		struct dial9_frame_schema schema; /* SCHEMA */
		struct dial9_frame_pool pool; /* STRINGS, STACKS, ANNOTATIONS */
		struct dial9_event event; /* EVENT */
		uint64_t reserved[16]; /* for later kinds */
	};
};

/* Makes a decoder over a callback or over memory. 0, -EINVAL or -ENOMEM. */
DIAL9_API int dial9_dec_new(const struct dial9_dec_opts *opts, struct dial9_dec **out);
DIAL9_API void dial9_dec_free(struct dial9_dec *dec);

/*
 * The next frame:
 *   1         *out is a frame; its pointers are borrowed until the next call
 *   0         the input ends at the end of a frame
 *   -ENODATA  the input ends inside a frame, or before the header is complete
 *   -EBADMSG  the bytes are not dial9 (see dial9_dec_error()); -EPROTONOSUPPORT: a newer writer's frame; final
 *   -E2BIG    a limit was reached; final
 *   other     from read(), or -ENOMEM; the call may be repeated
 * After 0 and -ENODATA a later call reads again, so that a growing file can be followed.
 * No memory is allocated for an event.
 */
DIAL9_API int dial9_dec_next(struct dial9_dec *dec, struct dial9_frame *out);

/*
 * The same with callbacks, which saves copies: `event` for each event, `frame` (or NULL) for all
 * other frames, until the input ends or a callback returns other than 0. Returns that value, or the
 * final result of dial9_dec_next(): 0 or -errno. Callbacks should return positive values to
 * distinguish both.
 */
struct dial9_visitor {
	size_t sz; /* sizeof(struct dial9_visitor) */
	int (*event)(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev);
	int (*frame)(void *ctx, const struct dial9_dec *dec, const struct dial9_frame *frame);
	void *ctx;
};

DIAL9_API int dial9_dec_visit(struct dial9_dec *dec, const struct dial9_visitor *visitor);

/*
 * Copies an event, independent of the decoder and of later input. Defined pool ids become STRING and
 * STACK values, except within lists and maps; stacks are aligned. 0 or -ENOMEM. Release the copy with
 * dial9_event_free(), in any thread. Small copies of one decoder share blocks of 4 KiB: a block is
 * freed with its last copy.
 */
DIAL9_API int dial9_event_copy(const struct dial9_dec *dec, const struct dial9_event *ev,
			       struct dial9_event **out);
DIAL9_API void dial9_event_free(struct dial9_event *copy);

/*
 * Copies of many events in few allocations: faster than one by one. Each copy is as if made by
 * dial9_event_copy(), and valid until dial9_copies_clear() or dial9_copies_free(). The memory of
 * cleared copies is used for the next ones. 0 or -ENOMEM.
 */
struct dial9_copies;

DIAL9_API int dial9_copies_new(struct dial9_copies **out);
DIAL9_API int dial9_copies_add(struct dial9_copies *copies, const struct dial9_dec *dec,
			       const struct dial9_event *ev, const struct dial9_event **out);
DIAL9_API void dial9_copies_clear(struct dial9_copies *copies);
DIAL9_API void dial9_copies_free(struct dial9_copies *copies);

/* Bytes of all whole frames returned so far. */
DIAL9_API uint64_t dial9_dec_consumed(const struct dial9_dec *dec);

struct dial9_error {
	uint64_t offset; /* of the truncated frame (-ENODATA), otherwise of the invalid byte */
	const char *reason; /* static; "" if there is no error */
	uint64_t reserved[2];
};

/* The error of the last dial9_dec_next() */
DIAL9_API void dial9_dec_error(const struct dial9_dec *dec, struct dial9_error *out);

/*
 * Current entries of the pools: 0, or -ENOENT for an undefined id. Pointers are valid until the id
 * is redefined, or the next midheader.
 */
DIAL9_API int dial9_dec_string(const struct dial9_dec *dec, uint32_t id, struct dial9_str *out);
DIAL9_API int dial9_dec_stack(const struct dial9_dec *dec, uint32_t id, const uint8_t **le,
			      uint32_t *cnt);

/* Text of a STRING or POOLED_STRING value: 0; -ENOENT (undefined id); -EPROTOTYPE (other types) */
DIAL9_API int dial9_value_str(const struct dial9_dec *dec, const struct dial9_value *v,
			      struct dial9_str *out);

/*
 * Addresses of a STACK or POOLED_STACK value, with the same errors; read them with
 * dial9_frame_at().
 */
DIAL9_API int dial9_value_stack(const struct dial9_dec *dec, const struct dial9_value *v,
				const uint8_t **le, uint32_t *cnt);

/* The current schema of a type id, or NULL */
DIAL9_API const struct dial9_schema *dial9_dec_schema(const struct dial9_dec *dec,
						      uint16_t type_id);

/* Events that were skipped */
struct dial9_skipped {
	uint64_t cnt;
	uint64_t first_ts,
		/* earliest and latest, of types with timestamps; otherwise UINT64_MAX and 0 */
		last_ts;
	uint64_t reserved[5];
};

/*
 * Skips events of a type until the next midheader: they are checked and counted, but not returned,
 * which is several times as fast. 0; -ENOENT if the type does not exist (yet).
 */
DIAL9_API int dial9_dec_skip(struct dial9_dec *dec, uint16_t type_id);
/*
 * Returns 1 and the events skipped since its last such result, or since the start; 0 if there are
 * none.
 */
DIAL9_API int dial9_dec_skipped(struct dial9_dec *dec, struct dial9_skipped *out);

/*
 * Annotations of a field in a type's schema, as far as the stream was read: 0 and the last value of
 * that key, or -ENOENT. And all of them in order, for dial9_annotations_next(); none for a type
 * without schema. Annotations before the schema of their type are ignored. Fields may be outside of
 * the schema, and text need not be UTF-8. Borrowed until the next call to dial9_dec_next().
 */
DIAL9_API int dial9_dec_annotation(const struct dial9_dec *dec, uint16_t type_id, uint16_t field,
				   const char *key, struct dial9_str *out);
DIAL9_API void dial9_dec_annotations(const struct dial9_dec *dec, uint16_t type_id,
				     struct dial9_iter *out);

/*
 * Iteration. dial9_iter_init() for LIST, MAP and STRING_MAP values (other types: empty), then
 * _next: 1 and an entry; 0 at the end; -EBADMSG (never for a value from a decoder).
 * dial9_map_next() handles both kinds of map: a STRING_MAP has STRING values.
 */
DIAL9_API void dial9_iter_init(struct dial9_iter *it, const struct dial9_value *v);
DIAL9_API int dial9_list_next(struct dial9_iter *it, struct dial9_value *elem);
DIAL9_API int dial9_map_next(struct dial9_iter *it, struct dial9_value *key,
			     struct dial9_value *value);

/* Entries of a STRINGS, STACKS or ANNOTATIONS frame, from (a copy of) frame.pool.iter. */
DIAL9_API int dial9_strings_next(struct dial9_iter *it, uint32_t *id, struct dial9_str *str);
DIAL9_API int dial9_stacks_next(struct dial9_iter *it, uint32_t *id, const uint8_t **le,
				uint32_t *cnt);
DIAL9_API int dial9_annotations_next(struct dial9_iter *it, uint16_t *field, struct dial9_str *key,
				     struct dial9_str *value);

/* ---- events into structs -------------------------------------------------------------------------- */

/*
 * Reads events with one name into a struct, by field names, for any order of fields and with any
 * other fields. Members without a field become zero (absent, if optional); fields without a member
 * are skipped. An integer is converted to any other type that holds its value; pooled text and
 * stacks are resolved. The struct begins with a uint64_t, the timestamp. DIAL9_EVENT(x, ...) makes
 * x_reader() and x_read().
 */
struct dial9_member {
	const char *name;
	uint8_t type; /* the kind; its C type is at off */
	size_t off;
};

struct dial9_reader;
/* 0; -EINVAL for an unknown type; -ENOMEM */
DIAL9_API int dial9_reader_new(const char *event_name, const struct dial9_member *members,
			       size_t cnt, size_t struct_sz, struct dial9_reader **out);
DIAL9_API void dial9_reader_free(struct dial9_reader *r);

/*
 * 1: *dst is filled; its text borrows the decoder's memory like ev; its stacks, maps and lists
 * borrow the reader's memory until the next call. 0: an event with another name. -EPROTOTYPE: a
 * field cannot be converted. -ERANGE: a value does not fit. -ENOMEM.
 */
DIAL9_API int dial9_reader_read(struct dial9_reader *r, const struct dial9_dec *dec,
				const struct dial9_event *ev, void *dst);

#ifdef __cplusplus
}
#endif

#include "dial9_event.h"

#endif
