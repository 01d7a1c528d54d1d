/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_VALUE_H
#define D9_LIBDIAL9_VALUE_H

#include "dial9.h"

#define VALUE_DEPTH_MAX 64

/* An error and its position. For -ENODATA, short_by is a lower bound of the missing bytes. */
struct value_fault {
	const uint8_t *at;
	const char *reason;
	uint64_t short_by;
};

/* Sets *f and returns the error code, for `return value_bad(...)`. */
int value_bad(struct value_fault *f, const uint8_t *at, const char *reason);
int value_short(struct value_fault *f, uint64_t short_by);

/*
 * Decodes one value of `type` (a base type that wire_base_type() knows) from *pos. Values may be
 * nested depth levels deep. 0 with *pos moved; or -ENODATA, -EBADMSG or -E2BIG with *f set.
 */
int value_parse(const uint8_t **pos, const uint8_t *end, uint8_t type, unsigned int depth,
		struct dial9_value *out, struct value_fault *f);

/*
 * Checks a list or map that a caller built, `depth` levels down: value_parse() could have returned
 * it. 0; -EBADMSG; -EILSEQ if text in it is not UTF-8.
 */
int value_check_raw(const struct dial9_value *v, unsigned int depth);

#endif
