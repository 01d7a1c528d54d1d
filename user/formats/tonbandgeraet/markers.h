/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_MARKERS_H
#define D9_FORMATS_TONBANDGERAET_MARKERS_H

#include "dial9.h"
#include "formats/tonbandgeraet/write.h"

/* Any dial9 event as Tonbandgerät markers and values. */
struct tonband_markers;

typedef int (*tonband_markers_fn)(void *ctx, const struct tonband_out *out);

void tonband_markers_new(struct tonband_markers **out);
void tonband_markers_free(struct tonband_markers *m);

/*
 * Hands the frames for one event to put(): a marker (or the begin or end of one, for spans) at `ticks`
 * with the fields as text, and a value for each integer that is no id. A name is handed over before
 * its first use, unless tonband_markers_names() did it.
 */
int tonband_markers_event(struct tonband_markers *m, const struct dial9_dec *dec,
			  const struct dial9_event *ev, uint64_t ticks, tonband_markers_fn put,
			  void *ctx, struct foreign_notes *notes);

/* Takes note of the names that the event will need. */
void tonband_markers_survey(struct tonband_markers *m, const struct dial9_event *ev);

/* Number markers and values from these ids, and hand over all names known so far. */
int tonband_markers_names(struct tonband_markers *m, uint32_t first_evt, uint32_t first_val,
			  tonband_markers_fn put, void *ctx);

/* Spans that began and did not end. */
uint64_t tonband_markers_open_spans(const struct tonband_markers *m);

#endif /* D9_FORMATS_TONBANDGERAET_MARKERS_H */
