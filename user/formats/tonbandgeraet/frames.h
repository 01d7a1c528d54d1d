/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_FRAMES_H
#define D9_FORMATS_TONBANDGERAET_FRAMES_H

#include "formats/foreign.h"
#include "formats/tonbandgeraet/event.h"

/* No frame of a real target comes near this; what is longer is noise, and is skipped. */
#define TONBAND_FRAME_MAX (1024 * 1024)

/* The frames of one input, in order, each decoded or found wanting. */
struct tonband_frames;

struct tonband_item {
	const char *why; /* NULL: ev is an event; else static text that says what is wrong */
	struct tonband_event ev;
	uint32_t core; /* that the frame belongs to; of a core_id the one it names */
	uint64_t offset; /* of the frame in the recording, encoding taken off */
	const uint8_t *frame; /* as recorded, without the delimiter */
	size_t frame_sz;
	bool ended; /* false: the recording ends, or starts again, before the delimiter */
	uint64_t skipped; /* bytes of a frame past TONBAND_FRAME_MAX; frame is empty then */
};

/* `in` must outlive the scan; notes (may be NULL) take what is wrong with the encoding. */
void tonband_frames_new(const struct foreign_input *in, struct foreign_notes *notes,
			struct tonband_frames **out);
void tonband_frames_free(struct tonband_frames *scan);

/* 1 and the next frame (borrowed until the next call), 0 at the end, or what read() failed with. */
int tonband_frames_next(struct tonband_frames *scan, struct tonband_item *out);

/* What carries the recording; known after the first frame. */
const char *tonband_frames_encoding(const struct tonband_frames *scan);
bool tonband_frames_is_sure(const struct tonband_frames *scan);

/* Bytes of the recording so far, encoding taken off. */
uint64_t tonband_frames_bytes(const struct tonband_frames *scan);

#endif /* D9_FORMATS_TONBANDGERAET_FRAMES_H */
