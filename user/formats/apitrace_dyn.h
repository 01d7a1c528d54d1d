/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_DYN_H
#define D9_FORMATS_APITRACE_DYN_H

#include "formats/apitrace_build.h"
#include "formats/apitrace_print.h"

/* A value may nest this deep in the lists and maps of dial9; what is deeper goes in as JSON text. */
#define APITRACE_DYN_DEPTH 40

/*
 * Puts one value as a LIST with one element into the event that is open in enc (level 4). Errors are the
 * encoder's, which keeps the first.
 */
void apitrace_dyn_put(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
		      struct apitrace_cur c);

/* The value that such a LIST holds, appended to out. 0, -EBADMSG, -E2BIG. */
int apitrace_dyn_get(const struct dial9_value *list, struct buf *out);

#endif /* D9_FORMATS_APITRACE_DYN_H */
