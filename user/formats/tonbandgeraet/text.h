/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_TEXT_H
#define D9_FORMATS_TONBANDGERAET_TEXT_H

#include "dial9.h"
#include "formats/foreign.h"

/* Bytes of a message; what goes beyond is cut and counted. */
#define TONBAND_TEXT_MAX (64 * 1024)

/*
 * Append the fields as "key=value key=value", always valid UTF-8 and never more than TONBAND_TEXT_MAX.
 * Values that had a type which text has not are counted in notes, absent ones are left out.
 */
void tonband_text_event(struct buf *out, const struct dial9_dec *dec, const struct dial9_event *ev,
			struct foreign_notes *notes);

#endif /* D9_FORMATS_TONBANDGERAET_TEXT_H */
