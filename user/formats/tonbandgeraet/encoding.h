/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_ENCODING_H
#define D9_FORMATS_TONBANDGERAET_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/foreign.h"

/* How the bytes of a recording are packed in a file. */
struct tonband_encoding;

/* Some bytes of the recording. */
struct tonband_piece {
	const uint8_t *p; /* borrowed until the next call */
	size_t sz; /* may be 0 */
	bool fresh; /* a new buffer begins here: what came before is complete, or was cut */
	bool has_core; /* with fresh: the encoding names the core of the buffer */
	uint32_t core;
};

/* `in` must outlive the encoding. Damage to the packing is counted in notes (NULL: nowhere). */
void tonband_encoding_new(const struct foreign_input *in, struct foreign_notes *notes,
			  struct tonband_encoding **out);
void tonband_encoding_free(struct tonband_encoding *c);

/* 1 and a piece, 0 at the end, or what read() failed with. */
int tonband_encoding_next(struct tonband_encoding *c, struct tonband_piece *out);

/* "binary", "hex", "base64", "JSON"; with markers "marked hex" and so on. Known after a first piece. */
const char *tonband_encoding_name(const struct tonband_encoding *c);

/* True when the encoding is certain of itself: it has marker lines, or is the JSON of the web tool. */
bool tonband_encoding_is_sure(const struct tonband_encoding *c);

#endif /* D9_FORMATS_TONBANDGERAET_ENCODING_H */
