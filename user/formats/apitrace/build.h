/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_BUILD_H
#define D9_FORMATS_APITRACE_BUILD_H

#include "formats/apitrace/print.h"

/*
 * Appends one value, in the flat form of struct apitrace_event but with counts in five bytes, whatever
 * they are. 0, -EBADMSG when the words are no value, -E2BIG when it nests too deep or gets too large; out
 * is then as it was.
 */
int apitrace_build_value(struct apitrace_tokens *t, struct buf *out);

/* The value that a token begins; for callers that had to look at it. */
int apitrace_build_from(struct apitrace_tokens *t, const struct apitrace_token *first,
			struct buf *out);

/*
 * Details that fields cannot say, as JSON: {"enter": details, "leave": details}, either left out when
 * fields do say it; details are a list of [1, index, value], [2, value], [4, [frame ids]], [5, flags].
 */

/* enter, leave NULL: left out. Appends to out; -E2BIG when it would get too large. */
int apitrace_details_print(const struct apitrace_sigs *sigs, const struct apitrace_cur *enter,
			   const struct apitrace_cur *leave, struct buf *out);

/* The other way: fills what is there, *has_enter and *has_leave say what. 0, -EBADMSG, -E2BIG. */
int apitrace_details_parse(struct dial9_str json, struct buf *enter, bool *has_enter,
			   struct buf *leave, bool *has_leave);

#endif /* D9_FORMATS_APITRACE_BUILD_H */
