/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_VALUE_H
#define D9_LIBDIAL9_VALUE_H

#include "dial9.h"

#define VALUE_DEPTH_MAX 64

/* What went wrong where. For -ENODATA, short_by is a lower bound of the bytes missing behind the end. */
struct value_fault {
	const uint8_t *at;
	const char *reason;
	uint64_t short_by;
};

/* Fill *f and return the code, so that callers can write `return value_bad(...)`. */
int value_bad(struct value_fault *f, const uint8_t *at, const char *reason);
int value_short(struct value_fault *f, uint64_t short_by);

/*
 * Decode one value of `type` (a base type that wire_base_type() knows) from *pos. Nesting may go depth
 * levels further. 0 and *pos moved, or -ENODATA, -EBADMSG, -E2BIG with *f filled.
 */
int value_parse(const uint8_t **pos, const uint8_t *end, uint8_t type, unsigned int depth,
		struct dial9_value *out, struct value_fault *f);

/*
 * Whether a list or map that a caller made by hand is one that value_parse() could have given, `depth` lists
 * down: 0, or -EBADMSG. -EILSEQ if text in it is not UTF-8.
 */
int value_check_raw(const struct dial9_value *v, unsigned int depth);

#endif
