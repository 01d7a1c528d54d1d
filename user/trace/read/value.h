/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_VALUE_H
#define D9_TRACE_READ_VALUE_H

#include "base/buf.h"
#include "dial9.h"

struct value_brackets {
	const char *open, *close;
};

/*
 * How an output format writes values of dial9. Integers and booleans are the same in all formats.
 * Functions are required unless noted.
 */
struct value_style {
	const char *absent; /* an optional field without a value */
	const char *sep; /* between elements, frames and pairs */
	struct value_brackets list, map, string_map;
	struct value_brackets pair; /* around key and value of a map */
	const char *colon; /* between them */
	bool hex_frames; /* addresses as 0x... instead of decimal */
	size_t max; /* stop soon after out reaches this length; 0: never */

	void (*f64)(struct buf *out, double v);
	void (*text)(struct buf *out, struct dial9_str s, bool nested); /* any bytes */
	void (*bytes)(struct buf *out, const void *p, size_t sz);
	/* A key of a map without string keys; NULL: like a value. */
	void (*key)(struct buf *out, const struct dial9_value *key);
	/*
	 * Text before a pooled value: its id, if any. If the id is not defined, also the
	 * replacement for the value.
	 */
	void (*pooled)(struct buf *out, const struct dial9_value *v, bool defined);
	const char *pooled_close; /* text after it */
};

/* Common members of styles for people: put it first in an initialiser. */
#define VALUE_STYLE_PLAIN                                                                          \
	.list = { "[", "]" }, .map = { "{", "}" }, .string_map = { "{", "}" }, .pair = { "", "" }, \
	.pooled_close = ""

/* A value_style's f64: decimal, with enough digits to restore the same bits. */
void value_print_f64(struct buf *out, double v);

/* Appends a value. @dec resolves pool ids; NULL: none is defined. */
void value_print(struct buf *out, const struct value_style *style, const struct dial9_dec *dec,
		 const struct dial9_value *v);

/* Appends the frames of a stack. */
void value_print_frames(struct buf *out, const struct value_style *style, const uint8_t *le,
			uint32_t cnt);

#endif /* D9_TRACE_READ_VALUE_H */
