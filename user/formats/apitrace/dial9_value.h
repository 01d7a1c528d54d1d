/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_DIAL9_VALUE_H
#define D9_FORMATS_APITRACE_DIAL9_VALUE_H

#include "formats/apitrace/build.h"
#include "formats/apitrace/print.h"

/* A value may nest this deep in the lists and maps of dial9; what is deeper goes in as JSON text. */
#define APITRACE_DIAL9_DEPTH 40

/*
 * Puts one value as a LIST with one element into the event that is open in enc (level 4). Errors are the
 * encoder's, which keeps the first.
 */
void apitrace_dial9_put(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
			struct apitrace_cur c);

/* The value that such a LIST holds, appended to out. 0, -EBADMSG, -E2BIG. */
int apitrace_dial9_get(const struct dial9_value *list, struct buf *out);

#endif /* D9_FORMATS_APITRACE_DIAL9_VALUE_H */
