/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_VALUE_H
#define D9_TRACE_READ_VALUE_H

#include "base/buf.h"
#include "dial9.h"

struct value_brackets {
	const char *open, *close;
};

/*
 * How one output form writes the values of dial9. Integers and booleans look the same in all of them.
 * Where nothing is said of a function, it must be there.
 */
struct value_style {
	const char *absent; /* an optional field without a value */
	const char *sep; /* between elements, frames and pairs */
	struct value_brackets list, map, string_map;
	struct value_brackets pair; /* around key and value of a map */
	const char *colon; /* between them */
	bool hex_frames; /* addresses as 0x... and not in decimal */
	size_t max; /* stop soon after out is that long; 0: never */

	void (*f64)(struct buf *out, double v);
	void (*text)(struct buf *out, struct dial9_str s, bool nested); /* any bytes */
	void (*bytes)(struct buf *out, const void *p, size_t sz);
	/* The key of a map that is not of strings; NULL: like any value. */
	void (*key)(struct buf *out, const struct dial9_value *key);
	/*
	 * What stands in front of a pooled value: its id, if at all; when it is not defined, also what
	 * stands for it.
	 */
	void (*pooled)(struct buf *out, const struct dial9_value *v, bool defined);
	const char *pooled_close; /* what stands behind it */
};

/* What styles have in common that write values for people: first in an initialiser, the rest behind it. */
#define VALUE_STYLE_PLAIN                                                                          \
	.list = { "[", "]" }, .map = { "{", "}" }, .string_map = { "{", "}" }, .pair = { "", "" }, \
	.pooled_close = ""

/* A value_style's f64: in decimal, with as many digits as it takes to get the same bits back. */
void value_print_f64(struct buf *out, double v);

/* Appends a value. dec resolves pool ids; NULL: none is defined. */
void value_print(struct buf *out, const struct value_style *style, const struct dial9_dec *dec,
		 const struct dial9_value *v);

/* Appends the frames of a stack. */
void value_print_frames(struct buf *out, const struct value_style *style, const uint8_t *le,
			uint32_t cnt);

#endif /* D9_TRACE_READ_VALUE_H */
