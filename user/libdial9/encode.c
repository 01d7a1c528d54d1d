// SPDX-License-Identifier: BSD-2-Clause
/*
 * The encoder: one buffer of whole frames, followed by at most one open event.
 *
 * Frames have no length, so a partial frame would make the rest unreadable. An event is built in
 * place after the last complete frame. It becomes part of the stream when `pos` moves past it;
 * otherwise it is discarded. The schema and reset frames that an event needs precede it and are
 * kept or discarded with it. Strings interned during an event are committed at once: they are
 * inserted before the open event, which moves up. That is rare, because a string is defined once.
 *
 * The buffer is passed to write() when an event begins, not when it ends. So after a failed write()
 * it is clear which events were accepted. put.c encodes fields, schema_set.c assigns type ids.
 */
#include "encode.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "frame_buf.h"
#include "schema.h"
#include "versioned.h"
#include "wire.h"

#define FLUSH_AT (64u << 10)
#define BUF_MIN 4096

const char *encode_reason(int err)
{
	switch (err) {
	case -EILSEQ:
		return "text that is not UTF-8";
	case -E2BIG:
		return "longer than the format or the encoder's buf_max allows";
	case -ENOMEM:
		return "no memory";
	case -ENOSPC:
		return "all ids are used, or no space is left to write to";
	case -ENOTSUP:
		return "not without DIAL9_LEVEL_4";
	case -EBUSY:
		return "an event is open";
	case -EEXIST:
		return "the type id has another layout";
	}
	return "write() failed";
}

/* Names are cut if they would leave no room for the reason. */
#define NAME_MAX_LEN 64

static int cut(size_t len)
{
	return len < NAME_MAX_LEN ? (int)len : NAME_MAX_LEN;
}

int encode_error(struct dial9_enc *enc, const struct dial9_schema *s, long field, int err,
		 const char *fmt, ...)
{
	struct dial9_str name;
	size_t at = 0;
	va_list args;

	if (s) {
		name = dial9_schema_name_n(s);
		at += (size_t)snprintf(enc->why, sizeof(enc->why), "%.*s", cut(name.len), name.ptr);
	}
	if (s && field >= 0) {
		name = dial9_schema_field_name_n(s, (size_t)field);
		at += (size_t)snprintf(enc->why + at, sizeof(enc->why) - at, ".%.*s", cut(name.len),
				       name.ptr);
	}
	if (s)
		at += (size_t)snprintf(enc->why + at, sizeof(enc->why) - at, ": ");
	va_start(args, fmt);
	vsnprintf(enc->why + at, sizeof(enc->why) - at, fmt, args);
	va_end(args);
	return err;
}

/* The same with the standard text of err; passes 0 through. */
static int explain(struct dial9_enc *enc, const struct dial9_schema *s, int err)
{
	return err < 0 ? encode_error(enc, s, -1, err, "%s", encode_reason(err)) : err;
}

const char *dial9_enc_error(const struct dial9_enc *enc)
{
	return enc->why;
}

int encode_poison(struct dial9_enc *enc, int err)
{
	enc->err = err;
	enc->type = enc->type_end = NULL;
	enc->depth = 0;
	return err;
}

/* Without an open event, sets cur to pos. */
static void settle(struct dial9_enc *enc)
{
	if (!enc->open)
		enc->cur = enc->h.pos;
}

/*
 * Sets the limit of inline writers: they may write if no event is open, there is room, and no data
 * waits to be written.
 */
static void set_limit(struct dial9_enc *enc)
{
	if (enc->open)
		enc->h.limit = NULL;
	else if (enc->write && (size_t)(enc->end - enc->buf) > enc->flush_at)
		enc->h.limit = enc->buf + enc->flush_at;
	else
		enc->h.limit = enc->end;
}

static void buf_moved(struct dial9_enc *enc, uint8_t *buf, size_t cap)
{
	enc->h.pos = buf + (enc->h.pos - enc->buf);
	enc->cur = buf + (enc->cur - enc->buf);
	enc->buf = buf;
	enc->end = buf + cap;
	set_limit(enc);
}

/* Removes the complete frames from the front of the buffer. */
static void drop_complete(struct dial9_enc *enc)
{
	size_t sz = (size_t)(enc->h.pos - enc->buf);

	memmove(enc->buf, enc->h.pos, (size_t)(enc->cur - enc->h.pos));
	enc->cur -= sz;
	enc->h.pos = enc->buf;
	enc->flushed += sz;
}

int dial9_enc_flush(struct dial9_enc *enc)
{
	int err;

	settle(enc);
	if (!enc->write || enc->h.pos == enc->buf)
		return 0;
	err = enc->write(enc->ctx, enc->buf, (size_t)(enc->h.pos - enc->buf));
	if (err < 0)
		return encode_error(enc, NULL, -1, err, "write() failed: error %d", -err);
	drop_complete(enc);
	return 0;
}

int encode_grow(struct dial9_enc *enc, size_t n)
{
	size_t used = (size_t)(enc->cur - enc->buf), cap = (size_t)(enc->end - enc->buf);
	uint8_t *buf;
	int err;

	if (n > SIZE_MAX - used)
		return -E2BIG;
	if (used + n > enc->buf_max) {
		if (!enc->write || enc->h.pos == enc->buf)
			return -E2BIG;
		err = dial9_enc_flush(enc);
		return err ? err : encode_ensure(enc, n);
	}
	cap = cap < BUF_MIN ? BUF_MIN : cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
	if (cap < used + n)
		cap = used + n;
	if (cap > enc->buf_max)
		cap = enc->buf_max;
	buf = frame_buf_grow(enc->buf, (size_t)(enc->end - enc->buf), cap);
	if (!buf)
		return -ENOMEM;
	buf_moved(enc, buf, cap);
	return 0;
}

/* Marks the bytes between pos and cur as complete. */
static void commit(struct dial9_enc *enc)
{
	enc->h.pos = enc->cur;
}

static int put_header(struct dial9_enc *enc)
{
	int err;

	settle(enc);
	err = encode_ensure(enc, WIRE_HEADER_SZ);
	if (err)
		return err;
	enc->cur = wire_put_bytes(enc->cur, WIRE_MAGIC, sizeof(WIRE_MAGIC));
	enc->cur = wire_put_u8(enc->cur, WIRE_VERSION);
	commit(enc);
	return 0;
}

/*
 * Identifies a trace across all encoders, so a struct dial9_event_type never uses an id of
 * another trace. Never 0, which marks an unused type.
 */
static uint64_t new_epoch(const struct dial9_enc *enc)
{
	uint64_t epoch;

	if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != sizeof(epoch))
		epoch = enc->h.epoch * 0x9e3779b97f4a7c15ull + (uintptr_t)enc;
	return epoch | 1;
}

int dial9_enc_new(const struct dial9_enc_opts *opts, struct dial9_enc **out)
{
	struct dial9_enc_opts o = { 0 };
	struct dial9_enc *enc;
	int err = 0;

	if (opts)
		err = versioned_copy(&o, sizeof(o), opts, offsetof(struct dial9_enc_opts, write));
	if (err)
		return err;
	if (o.level && o.level != DIAL9_LEVEL_3 && o.level != DIAL9_LEVEL_4)
		return -EINVAL;
	enc = calloc(1, sizeof(*enc));
	if (!enc)
		return -ENOMEM;
	enc->write = o.write;
	enc->ctx = o.ctx;
	enc->level = o.level ? o.level : DIAL9_LEVEL_3;
	enc->buf_max = o.buf_max ? o.buf_max : SIZE_MAX;
	enc->flush_at = o.flush_at ? o.flush_at : FLUSH_AT;
	pool_init(&enc->strings, o.pool_bytes_max);
	pool_init(&enc->stacks, o.pool_bytes_max);
	enc->h.epoch = new_epoch(enc);
	err = schema_set_init(&enc->schemas, o.first_type_id);
	if (!err)
		err = put_header(enc);
	if (err) {
		dial9_enc_free(enc);
		return err;
	}
	*out = enc;
	return 0;
}

void dial9_enc_free(struct dial9_enc *enc)
{
	if (!enc)
		return;
	schema_set_fini(&enc->schemas);
	pool_fini(&enc->strings);
	pool_fini(&enc->stacks);
	frame_buf_free(enc->buf, (size_t)(enc->end - enc->buf));
	free(enc);
}

static uint8_t *put_schema(uint8_t *p, const struct schema_set_entry *entry)
{
	p = wire_put_u8(p, WIRE_SCHEMA);
	p = wire_put_u16(p, entry->id);
	return wire_put_bytes(p, entry->schema->wire, entry->schema->wire_sz);
}

#define SCHEMA_SZ(s) (1 + 2 + (s)->wire_sz)

static uint8_t *put_event_head(struct dial9_enc *enc, uint8_t *p, uint64_t ts)
{
	uint64_t delta = ts - enc->h.ts_base;

	if (!enc->entry->schema->has_ts) {
		p = wire_put_u8(p, WIRE_EVENT);
		return wire_put_u16(p, enc->entry->id);
	}
	if (ts < enc->h.ts_base || delta > WIRE_DELTA_MAX) {
		p = wire_put_u8(p, WIRE_RESET);
		p = wire_put_u64(p, ts);
		delta = 0;
	}
	p = wire_put_u8(p, WIRE_EVENT);
	p = wire_put_u16(p, enc->entry->id);
	return wire_put_u24(p, (uint32_t)delta);
}

/* The schema has a type that this encoder does not write. */
static int refuse_level(struct dial9_enc *enc, const struct dial9_schema *s)
{
	long i = 0;

	while (!wire_is_level4(s->types[i]))
		i++;
	return encode_error(enc, s, i, -ENOTSUP, "%s needs DIAL9_LEVEL_4",
			    dial9_type_name(s->types[i]));
}

/* The event's head was written up to cur; its fields follow. */
static inline void open_event(struct dial9_enc *enc, const struct dial9_schema *s, uint8_t *cur,
			      uint64_t ts)
{
	enc->cur = cur;
	enc->ts = ts;
	enc->type = s->types;
	enc->type_end = s->types + s->field_cnt;
	enc->reserve = s->fixed_max;
	enc->open = true;
	enc->h.limit = NULL;
}

static int begin_event(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts)
{
	int err = 0;

	if (s->level4 && enc->level < DIAL9_LEVEL_4)
		return refuse_level(enc, s);
	if (enc->write && (size_t)(enc->h.pos - enc->buf) >= enc->flush_at)
		err = dial9_enc_flush(enc);
	if (err)
		return err; /* the flush has set the reason */
	enc->entry = schema_set_find(&enc->schemas, s);
	if (!enc->entry)
		err = schema_set_get(&enc->schemas, s, &enc->entry);
	if (!err)
		err = encode_ensure(enc, (enc->entry->emitted ? 0 : SCHEMA_SZ(s)) + WIRE_RESET_SZ +
						 s->fixed_max);
	if (err)
		return explain(enc, s, err);
	if (!enc->entry->emitted)
		enc->cur = put_schema(enc->cur, enc->entry);
	open_event(enc, s, put_event_head(enc, enc->cur, ts), s->has_ts ? ts : enc->h.ts_base);
	return 0;
}

/* Discards an open event that failed. 0, or -EBUSY if another event is open. */
static int must_be_closed(struct dial9_enc *enc)
{
	if (enc->err) {
		dial9_enc_cancel(enc);
		return 0;
	}
	settle(enc);
	return enc->open ? explain(enc, enc->entry->schema, -EBUSY) : 0;
}

static __attribute__((noinline)) int careful_begin(struct dial9_enc *enc,
						   const struct dial9_schema *s, uint64_t ts)
{
	int err = must_be_closed(enc);

	if (err)
		return err;
	err = begin_event(enc, s, ts);
	return err ? encode_poison(enc, err) : 0;
}

/* Most events have room before the limit, a known schema and a small delta. */
int dial9_enc_begin(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts)
{
	uint64_t delta = ts - enc->h.ts_base;
	struct schema_set_entry *entry;
	uint8_t *p = enc->h.pos;

	if (enc->err || !s->has_ts || delta > WIRE_DELTA_MAX || ts < enc->h.ts_base ||
	    (uintptr_t)p + s->fixed_max + DIAL9_INLINE_SLACK > (uintptr_t)enc->h.limit)
		return careful_begin(enc, s, ts);
	entry = schema_set_find(&enc->schemas, s);
	if (!entry || !entry->emitted)
		return careful_begin(enc, s, ts);
	wire_put_u64(p, WIRE_EVENT | (uint64_t)entry->id << 8 | delta << 24);
	enc->entry = entry;
	open_event(enc, s, p + WIRE_EVENT_TS_SZ, ts);
	return 0;
}

static inline void close_event(struct dial9_enc *enc)
{
	enc->type = enc->type_end = NULL;
	enc->open = false;
	enc->reserve = 0;
	set_limit(enc);
}

void dial9_enc_cancel(struct dial9_enc *enc)
{
	encode_poison(enc, 0);
	enc->cur = enc->h.pos;
	close_event(enc);
}

/* Why the event cannot end here. */
static int incomplete(struct dial9_enc *enc)
{
	const struct dial9_schema *s;

	if (enc->err)
		return enc->err;
	if (!enc->open)
		return encode_error(enc, NULL, -1, -EINVAL, "no event is begun");
	s = enc->entry->schema;
	if (enc->depth)
		return encode_error(enc, s, (long)(enc->outer_type - s->types) - 1, -EPROTOTYPE,
				    "a list or map is still open");
	return encode_error(enc, s, (long)(enc->type - s->types), -EPROTOTYPE, "has no value");
}

int dial9_enc_end(struct dial9_enc *enc)
{
	int err;

	if (!enc->open || enc->err || enc->depth || enc->type != enc->type_end) {
		err = incomplete(enc);
		dial9_enc_cancel(enc);
		return err;
	}
	commit(enc);
	enc->entry->emitted = true;
	enc->h.ts_base = enc->ts;
	close_event(enc);
	return 0;
}

uint8_t *dial9_enc_reserve(struct dial9_enc *enc, struct dial9_event_type *type, uint64_t ts,
			   size_t sz, unsigned int inline_abi, int *err)
{
	*err = must_be_closed(enc);
	if (*err)
		return NULL;
	if (inline_abi != DIAL9_INLINE_ABI) {
		*err = encode_error(enc, NULL, -1, -ENOSYS,
				    "the program's inline writers have ABI %u, this libdial9's %u: "
				    "compile it against this library's dial9_event.h",
				    inline_abi, DIAL9_INLINE_ABI);
		return NULL;
	}
	*err = begin_event(enc, type->schema, ts);
	if (!*err)
		*err = explain(enc, type->schema, encode_ensure(enc, sz));
	if (*err) {
		dial9_enc_cancel(enc);
		return NULL;
	}
	/* Nothing can fail from here on: the caller writes the fields and moves pos past them. */
	enc->entry->emitted = true;
	enc->h.ts_base = enc->ts;
	type->epoch = enc->h.epoch;
	type->id = enc->entry->id;
	enc->open = false;
	enc->reserve = 0;
	encode_poison(enc, 0);
	set_limit(enc);
	return enc->cur;
}

int dial9_enc_refuse(struct dial9_enc *enc, const struct dial9_event_type *type, const char *field,
		     int err)
{
	return encode_error(enc, type->schema, dial9_schema_find(type->schema, field), err, "%s",
			    err == -EPROTOTYPE ? "an element of an impossible type" :
			    err == -ERANGE     ? "an element that does not fit its type" :
						 encode_reason(err));
}

/* Makes room for a frame of n bytes before the open event; *at is its position. */
static void insert(struct dial9_enc *enc, size_t n, uint8_t **at)
{
	if (enc->open)
		memmove(enc->h.pos + n, enc->h.pos, (size_t)(enc->cur - enc->h.pos));
	*at = enc->h.pos;
	enc->h.pos += n;
	enc->cur += n;
}

#define POOL_FRAME_SZ(sz) (WIRE_POOL_HEAD_SZ + WIRE_POOL_ENTRY_SZ + (size_t)(sz))

/* A pool frame of one entry; cnt is in units of the kind. */
static void put_pool_frame(uint8_t *p, uint8_t tag, uint32_t id, uint32_t cnt, const void *data,
			   size_t sz)
{
	p = wire_put_u8(p, tag);
	p = wire_put_u32(p, 1);
	p = wire_put_u32(p, id);
	p = wire_put_u32(p, cnt);
	wire_put_bytes(p, data, sz);
}

static int intern_new(struct pool *pool, uint64_t hash, const void *data, uint32_t sz, uint32_t *id)
{
	int err;

	if (pool->next_id > UINT32_MAX)
		return -ENOSPC;
	err = pool_add(pool, hash, data, sz, (uint32_t)pool->next_id);
	if (err)
		return err;
	*id = (uint32_t)pool->next_id++;
	return 0;
}

int dial9_enc_intern(struct dial9_enc *enc, const char *s, size_t len, uint32_t *id)
{
	uint64_t hash;
	uint8_t *at;
	int err;

	settle(enc);
	if (len > UINT32_MAX)
		return explain(enc, NULL, -E2BIG);
	hash = pool_hash(&enc->strings, s, len);
	if (pool_find(&enc->strings, hash, s, (uint32_t)len, id))
		return 0;
	if (dial9_utf8_valid_len(s, len) != len)
		return explain(enc, NULL, -EILSEQ);
	err = encode_ensure(enc, POOL_FRAME_SZ(len) + enc->reserve);
	if (!err)
		err = intern_new(&enc->strings, hash, s, (uint32_t)len, id);
	if (err)
		return explain(enc, NULL, err);
	insert(enc, POOL_FRAME_SZ(len), &at);
	put_pool_frame(at, WIRE_STRINGS, *id, (uint32_t)len, s, len);
	return 0;
}

/* The frames in wire order: as they are, or written to scratch. */
static const void *frames_le(const uint64_t *frames, size_t cnt, uint8_t *scratch)
{
	if (WIRE_IS_NATIVE)
		return frames;
	wire_put_frames(scratch, frames, cnt);
	return scratch;
}

int dial9_enc_intern_stack(struct dial9_enc *enc, const uint64_t *frames, size_t cnt, uint32_t *id)
{
	size_t sz = POOL_FRAME_SZ(cnt * 8);
	const void *le;
	uint64_t hash;
	uint8_t *at;
	int err;

	settle(enc);
	if (enc->level < DIAL9_LEVEL_4)
		return explain(enc, NULL, -ENOTSUP);
	if (cnt > UINT32_MAX / 8)
		return explain(enc, NULL, -E2BIG);
	err = encode_ensure(enc, 2 * sz + enc->reserve);
	if (err)
		return explain(enc, NULL, err);
	/* Leave enough distance for the open event to move. */
	le = frames_le(frames, cnt, enc->cur + sz);
	hash = pool_hash(&enc->stacks, le, cnt * 8);
	if (pool_find(&enc->stacks, hash, le, (uint32_t)cnt * 8, id))
		return 0;
	err = intern_new(&enc->stacks, hash, le, (uint32_t)cnt * 8, id);
	if (err)
		return explain(enc, NULL, err);
	insert(enc, sz, &at);
	put_pool_frame(at, WIRE_STACKS, *id, (uint32_t)cnt, le, cnt * 8);
	return 0;
}

/* The caller has chosen this id, so an older table entry for it is invalid. */
static void claim_id(struct pool *pool, uint32_t id)
{
	if (id < pool->next_id)
		pool_clear(pool, false);
	else
		pool->next_id = (uint64_t)id + 1;
}

int dial9_enc_define_string(struct dial9_enc *enc, uint32_t id, const char *s, size_t len)
{
	uint8_t *at;
	int err = must_be_closed(enc);

	if (err)
		return err;
	if (len > UINT32_MAX)
		return explain(enc, NULL, -E2BIG);
	if (dial9_utf8_valid_len(s, len) != len)
		return explain(enc, NULL, -EILSEQ);
	err = encode_ensure(enc, POOL_FRAME_SZ(len));
	if (err)
		return explain(enc, NULL, err);
	insert(enc, POOL_FRAME_SZ(len), &at);
	put_pool_frame(at, WIRE_STRINGS, id, (uint32_t)len, s, len);
	claim_id(&enc->strings, id);
	return 0;
}

int dial9_enc_define_stack(struct dial9_enc *enc, uint32_t id, const uint64_t *frames, size_t cnt)
{
	size_t sz = POOL_FRAME_SZ(cnt * 8);
	uint8_t *at;
	int err = must_be_closed(enc);

	if (err)
		return err;
	if (enc->level < DIAL9_LEVEL_4)
		return explain(enc, NULL, -ENOTSUP);
	if (cnt > UINT32_MAX)
		return explain(enc, NULL, -E2BIG);
	err = encode_ensure(enc, sz);
	if (err)
		return explain(enc, NULL, err);
	insert(enc, sz, &at);
	put_pool_frame(at, WIRE_STACKS, id, (uint32_t)cnt, NULL, 0);
	wire_put_frames(at + sz - cnt * 8, frames, cnt);
	claim_id(&enc->stacks, id);
	return 0;
}

/* Writes the schema's frame outside of an event. */
static int announce(struct dial9_enc *enc, struct schema_set_entry *entry)
{
	int err = encode_ensure(enc, SCHEMA_SZ(entry->schema));

	if (err)
		return err;
	enc->cur = put_schema(enc->cur, entry);
	commit(enc);
	entry->emitted = true;
	return 0;
}

int dial9_enc_register(struct dial9_enc *enc, const struct dial9_schema *s, uint16_t type_id)
{
	struct schema_set_entry *entry;
	int err = must_be_closed(enc);

	if (err)
		return err;
	if (s->level4 && enc->level < DIAL9_LEVEL_4)
		return refuse_level(enc, s);
	err = schema_set_get_as(&enc->schemas, s, type_id, &entry);
	if (!err)
		err = announce(enc, entry);
	return explain(enc, s, err);
}

/* Size of the frame; 0 and *err if an entry cannot be written. */
static size_t annotations_sz(const struct dial9_annotation *a, size_t cnt, int *err)
{
	size_t sz = 1 + WIRE_VARINT_MAX + 2, i;

	*err = cnt > UINT16_MAX ? -E2BIG : 0;
	for (i = 0; i < cnt && !*err; i++) {
		if (a[i].key.len > UINT16_MAX || a[i].value.len > UINT32_MAX ||
		    a[i].value.len > SIZE_MAX / 2 - sz)
			*err = -E2BIG;
		else if (dial9_utf8_valid_len(a[i].key.ptr, a[i].key.len) != a[i].key.len ||
			 dial9_utf8_valid_len(a[i].value.ptr, a[i].value.len) != a[i].value.len)
			*err = -EILSEQ;
		else
			sz += 8 + a[i].key.len + a[i].value.len;
	}
	return *err ? 0 : sz;
}

int dial9_enc_annotate_all(struct dial9_enc *enc, const struct dial9_schema *s,
			   const struct dial9_annotation *a, size_t cnt)
{
	struct schema_set_entry *entry;
	int err = must_be_closed(enc);
	size_t sz, i;
	uint8_t *p;

	if (err)
		return err;
	if (enc->level < DIAL9_LEVEL_4)
		return explain(enc, s, -ENOTSUP);
	sz = annotations_sz(a, cnt, &err);
	if (err || !cnt)
		return explain(enc, s, err);
	err = schema_set_get(&enc->schemas, s, &entry);
	if (!err && !entry->emitted)
		err = announce(enc, entry);
	if (!err)
		err = encode_ensure(enc, sz);
	if (err)
		return explain(enc, s, err);
	p = wire_put_u8(enc->cur, WIRE_ANNOTATIONS);
	p = wire_put_varint(p, entry->id);
	p = wire_put_u16(p, (uint16_t)cnt);
	for (i = 0; i < cnt; i++) {
		p = wire_put_u16(p, a[i].field);
		p = wire_put_u16(p, (uint16_t)a[i].key.len);
		p = wire_put_bytes(p, a[i].key.ptr, a[i].key.len);
		p = wire_put_u32(p, (uint32_t)a[i].value.len);
		p = wire_put_bytes(p, a[i].value.ptr, a[i].value.len);
	}
	enc->cur = p;
	commit(enc);
	return 0;
}

int dial9_enc_annotate(struct dial9_enc *enc, const struct dial9_schema *s, uint16_t field,
		       struct dial9_str key, struct dial9_str value)
{
	const struct dial9_annotation one = { field, key, value };

	return dial9_enc_annotate_all(enc, s, &one, 1);
}

int dial9_enc_reset(struct dial9_enc *enc)
{
	int err = must_be_closed(enc);

	if (!err)
		err = dial9_enc_flush(enc);
	if (!err)
		err = put_header(enc);
	if (err)
		return err;
	enc->h.epoch = new_epoch(enc);
	schema_set_clear(&enc->schemas);
	pool_clear(&enc->strings, true);
	pool_clear(&enc->stacks, true);
	enc->h.ts_base = 0;
	return 0;
}

const void *dial9_enc_data(const struct dial9_enc *enc, size_t *sz)
{
	*sz = enc->write ? 0 : (size_t)(enc->h.pos - enc->buf);
	return enc->write ? NULL : enc->buf;
}

void dial9_enc_clear(struct dial9_enc *enc)
{
	settle(enc);
	if (!enc->write)
		drop_complete(enc);
}

uint64_t dial9_enc_bytes(const struct dial9_enc *enc)
{
	return enc->flushed + (uint64_t)(enc->h.pos - enc->buf);
}

uint64_t dial9_enc_last_ts(const struct dial9_enc *enc)
{
	return enc->h.ts_base;
}
