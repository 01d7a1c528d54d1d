/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_VALUE_H
#define D9_FORMATS_APITRACE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/apitrace/signatures.h"

/* One event's details may take this much; beyond it the trace is refused there. */
#define APITRACE_EVENT_MAX ((size_t)120 << 20)
/* Values in values. */
#define APITRACE_DEPTH_MAX 1000
/* The newest version whose meaning is known; newer ones are read as if they were of it. */
#define APITRACE_VERSION 6

enum apitrace_event_tag { APITRACE_EVENT_ENTER = 0, APITRACE_EVENT_LEAVE = 1 };

enum apitrace_detail_tag {
	APITRACE_DETAIL_END = 0,
	APITRACE_DETAIL_ARG = 1, /* uint index, value */
	APITRACE_DETAIL_RET = 2, /* value */
	APITRACE_DETAIL_STACK = 4, /* uint count, frames */
	APITRACE_DETAIL_FLAGS = 5, /* uint */
};

enum apitrace_value_tag {
	APITRACE_NULL = 0,
	APITRACE_FALSE = 1,
	APITRACE_TRUE = 2,
	APITRACE_NEG = 3, /* uint: the magnitude */
	APITRACE_UINT = 4, /* uint */
	APITRACE_FLOAT = 5, /* 4 bytes */
	APITRACE_DOUBLE = 6, /* 8 bytes */
	APITRACE_STRING = 7, /* uint length, bytes */
	APITRACE_BLOB = 8, /* uint size, bytes */
	APITRACE_ENUM = 9, /* signature, tag 3 or 4, uint */
	APITRACE_MASK = 10, /* signature, uint */
	APITRACE_ARRAY = 11, /* uint count, values */
	APITRACE_STRUCT = 12, /* signature, a value for each member */
	APITRACE_POINTER = 13, /* uint */
	APITRACE_REPR = 14, /* value for people, value for machines */
	APITRACE_WSTRING = 15, /* uint count, uints */
};

/* A walk through details or values in the flat form of struct apitrace_event. */
struct apitrace_cur {
	const uint8_t *pos, *end;
};

/* The next number or byte; 0 past the end, so that a walk over damaged bytes ends and never strays. */
uint64_t apitrace_value_uint(struct apitrace_cur *c);
uint8_t apitrace_value_byte(struct apitrace_cur *c);

/* The next `n` bytes, fewer at the end; *got says how many. */
const uint8_t *apitrace_value_bytes(struct apitrace_cur *c, uint64_t n, size_t *got);

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

/* The bits of a float or double value, after its tag. */
uint64_t apitrace_value_bits(struct apitrace_cur *c, unsigned int bytes);

#endif /* D9_FORMATS_APITRACE_VALUE_H */
