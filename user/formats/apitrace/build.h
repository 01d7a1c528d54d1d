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

/*
 * Details without a field, as JSON: {"enter": details, "leave": details}, each omitted if the fields
 * are complete; details are a list of [1, index, value], [2, value], [4, [frame ids]], [5, flags].
 */

/* enter, leave NULL: omitted. Appends to out; -E2BIG if it would get too large. */
int apitrace_details_print(const struct apitrace_sigs *sigs, const struct apitrace_cur *enter,
			   const struct apitrace_cur *leave, struct buf *out);

/* The inverse: fills the parts that exist, and sets *has_enter and *has_leave. 0, -EBADMSG, -E2BIG. */
int apitrace_details_parse(struct dial9_str json, struct buf *enter, bool *has_enter,
			   struct buf *leave, bool *has_leave);

#endif /* D9_FORMATS_APITRACE_BUILD_H */
