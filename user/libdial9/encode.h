/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_ENCODE_H
#define D9_LIBDIAL9_ENCODE_H

#include "dial9.h"
#include "pool.h"
#include "schema_set.h"
#include "value.h"

/*
 * One buffer:   buf [ complete frames ] pos [ the open event ] cur [ room ] end
 *
 * The frames that only the open event needs (its schema and a reset frame) precede it, and are
 * committed or discarded with it. Without an open event, cur has no meaning; settle() sets it to
 * pos.
 *
 * While an event is open, `reserve` bytes after cur are enough for all of its fields except
 * variable payloads, so writing a number needs no check.
 */
struct dial9_enc {
	struct dial9_enc_head h; /* pos, and the data for inline writers; must be first */
	uint8_t *cur, *end, *buf;
	const uint8_t *type,
		*type_end; /* remaining fields; empty while inside a list, or after an error */
	size_t reserve;
	uint64_t ts;
	struct schema_set_entry *entry; /* of the open event */
	int err; /* of the open event, or of the failed begin */
	bool open;
	int level;
	unsigned int depth;
	const uint8_t *outer_type, *outer_type_end; /* type, type_end outside of all lists */
	struct encode_nest {
		size_t cnt_off; /* position of the u32 count, relative to pos */
		uint64_t cnt; /* values so far; in a map, keys count, too */
		bool is_map;
	} nest[VALUE_DEPTH_MAX];
	dial9_write_fn write;
	void *ctx;
	size_t buf_max, flush_at;
	uint64_t flushed; /* bytes written from the buffer */
	struct schema_set schemas;
	struct pool strings, stacks;
	char why[192]; /* set by the last call that failed */
};

/*
 * Makes room for n bytes after cur. May move the buffer. 0, -E2BIG, -ENOMEM, or the result of
 * write().
 */
int encode_grow(struct dial9_enc *enc, size_t n);

static inline int encode_ensure(struct dial9_enc *enc, size_t n)
{
	return (size_t)(enc->end - enc->cur) >= n ? 0 : encode_grow(enc, n);
}

/*
 * Records an error for dial9_enc_error(), with a field of an event (-1: the whole event; s NULL: no
 * event). Returns err.
 */
int encode_error(struct dial9_enc *enc, const struct dial9_schema *s, long field, int err,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Standard text of err. Static. */
const char *encode_reason(int err);

/* Makes the open event fail with err, and returns err. Later puts find no field and fail, too. */
int encode_poison(struct dial9_enc *enc, int err);

#endif
