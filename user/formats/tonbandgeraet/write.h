/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_WRITE_H
#define D9_FORMATS_TONBANDGERAET_WRITE_H

#include "formats/foreign.h"
#include "formats/tonbandgeraet/event.h"

/* Events in, frames out: in order of time, with core_id frames where the core changes. */
struct tonband_write;

struct tonband_out {
	struct tonband_event ev; /* str is copied */
	bool exact; /* from a recording: its time and its place among its like are kept */
	bool has_core;
	uint32_t core;
	const void *raw; /* instead of ev: a frame without its delimiter; copied */
	size_t raw_sz;
	bool ended; /* raw has a delimiter */
};

/* core: what a reader takes the first events to be of. window: put times in order; else as given. */
void tonband_write_new(dial9_write_fn write, void *ctx, struct foreign_notes *notes, uint32_t core,
		       bool window, struct tonband_write **out);

/* 0, or the first error of write(), from then on. */
int tonband_write_push(struct tonband_write *w, const struct tonband_out *out);

/* Writes what is still held back. */
int tonband_write_finish(struct tonband_write *w);
void tonband_write_free(struct tonband_write *w);

#endif /* D9_FORMATS_TONBANDGERAET_WRITE_H */
