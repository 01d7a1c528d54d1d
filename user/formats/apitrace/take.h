/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_TAKE_H
#define D9_FORMATS_APITRACE_TAKE_H

#include "formats/apitrace/value.h"
#include "formats/foreign.h"

/*
 * Appends a value of dial9 as a value of apitrace: text as string (as blob where it holds a NUL, at which
 * readers would cut it), addresses as an array of pointers, pairs as arrays of two, what is absent as null.
 * Types that differ only in width become one.
 */
void apitrace_take_value(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
			 struct foreign_notes *notes);

#endif /* D9_FORMATS_APITRACE_TAKE_H */
