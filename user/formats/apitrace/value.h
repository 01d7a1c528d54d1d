/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_VALUE_H
#define D9_FORMATS_APITRACE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/apitrace/parse.h"
#include "formats/apitrace/signatures.h"

/* A walk through details or values in the flat form of struct apitrace_event. */
struct apitrace_cur {
	const uint8_t *pos, *end;
};

/* The next number or byte; 0 past the end, so that a walk over damaged bytes ends and never strays. */
uint64_t apitrace_value_uint(struct apitrace_cur *c);
uint8_t apitrace_value_byte(struct apitrace_cur *c);

/* The next `n` bytes, fewer at the end; *got says how many. */
const uint8_t *apitrace_value_bytes(struct apitrace_cur *c, uint64_t n, size_t *got);

/* Moves past one value; false when it is not whole or names a structure that is not known. */
bool apitrace_value_skip(const struct apitrace_sigs *sigs, struct apitrace_cur *c);

/* One detail of an event. */
struct apitrace_detail {
	uint8_t tag; /* enum apitrace_detail_tag */
	uint64_t number; /* ARG: index, FLAGS: the flags, STACK: count of frames */
	struct apitrace_cur value; /* ARG, RET: the value; STACK: that many ids */
};

/* False at the end, and at damage. */
bool apitrace_value_detail(const struct apitrace_sigs *sigs, struct apitrace_cur *c,
			   struct apitrace_detail *out);

/* Appends the parts of the flat form. */
void apitrace_value_put_uint(struct buf *b, uint64_t v);
void apitrace_value_put_tagged(struct buf *b, uint8_t tag, uint64_t v);

/* The bits of a float or double value, behind its tag. */
uint64_t apitrace_value_bits(struct apitrace_cur *c, unsigned int bytes);

#endif /* D9_FORMATS_APITRACE_VALUE_H */
