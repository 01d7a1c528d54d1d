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
 * The open event is preceded by what it alone needs: its schema's frame and a reset frame. They become part
 * of the stream with it or not at all. Without an open event cur means nothing: settle() makes it pos.
 *
 * While an event is open, `reserve` bytes of room behind cur are enough for all of its fields but for
 * variable payloads, so that a put of a number needs no check.
 */
struct dial9_enc {
	struct dial9_enc_head h; /* pos, and what inline writers need; must be first */
	uint8_t *cur, *end, *buf;
	const uint8_t *type,
		*type_end; /* fields still to come; empty while inside a list, or poisoned */
	size_t reserve;
	uint64_t ts;
	struct schema_set_entry *entry; /* of the open event */
	int err; /* sticks to the open event, or to the begin that failed */
	bool open;
	int level;
	unsigned int depth;
	const uint8_t *outer_type, *outer_type_end; /* type, type_end outside of all lists */
	struct encode_nest {
		size_t cnt_off; /* of the u32 count, from pos */
		uint64_t cnt; /* values so far; in a map keys count as well */
		bool is_map;
	} nest[VALUE_DEPTH_MAX];
	dial9_write_fn write;
	void *ctx;
	size_t buf_max, flush_at;
	uint64_t flushed; /* bytes that left the buffer */
	struct schema_set schemas;
	struct pool strings, stacks;
	char why[192]; /* the last call that failed did */
};

/* Room for n bytes behind cur. 0, -E2BIG, -ENOMEM, or what write() returned. Moves the buffer. */
int encode_grow(struct dial9_enc *enc, size_t n);

static inline int encode_ensure(struct dial9_enc *enc, size_t n)
{
	return (size_t)(enc->end - enc->cur) >= n ? 0 : encode_grow(enc, n);
}

/*
 * Note for dial9_enc_error() what went wrong, with an event's field (-1: the event as a whole; s NULL: neither).
 * Returns err.
 */
int encode_error(struct dial9_enc *enc, const struct dial9_schema *s, long field, int err,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* What err means where nothing more is known. Static. */
const char *encode_reason(int err);

/* Make the open event fail with err; returns it. The puts that follow find no field and end up there too. */
int encode_poison(struct dial9_enc *enc, int err);

#endif
