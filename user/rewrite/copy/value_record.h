/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_VALUE_RECORD_H
#define D9_REWRITE_COPY_VALUE_RECORD_H

#include "base/buf.h"
#include "trace/read/trace.h"

/* Makes records of the values that @trace decodes. Zero it, set the members above the line. */
struct value_record {
	const struct trace *trace; /* borrowed */
	void *ctx; /* for text_of, which may be NULL: texts are unchanged */
	/*
	 * Appends a text (bytes if @type is DIAL9_BYTES) in its copied form. Keys of maps are unchanged. @key: the
	 * key of a value in a map of strings, otherwise NULL.
	 */
	void (*text_of)(void *ctx, uint8_t type, const struct dial9_str *key, struct dial9_str s,
			struct buf *out);
	uint64_t (*frame_of)(void *ctx, uint64_t addr);
	/* ---- */
	struct buf text, escaped;
};

void value_record_fini(struct value_record *r);

/* Appends a value to @out. Bytes of text that are not UTF-8 become \xHH, because encoders reject them. */
void value_record_add(struct value_record *r, const struct dial9_value *v, struct buf *out);

/* The same in parts: a map of @cnt strings, then its keys and values alternately. Values go through text_of. */
void value_record_add_map(uint32_t cnt, struct buf *out);
void value_record_add_entry(struct value_record *r, struct dial9_str key, struct dial9_str value,
			    struct buf *out);

/* Encodes the record of one value at *pos, and moves *pos after it. 0, or the encoder's error. */
int value_record_write(const char **pos, struct dial9_enc *enc);

#endif /* D9_REWRITE_COPY_VALUE_RECORD_H */
