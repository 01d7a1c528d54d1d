/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBAND_MARKS_H
#define D9_FORMATS_TONBAND_MARKS_H

#include "dial9.h"
#include "formats/tonband_write.h"

/* Any dial9 event as Tonbandgerät markers and values. */
struct tonband_marks;

typedef int (*tonband_marks_fn)(void *ctx, const struct tonband_out *out);

void tonband_marks_new(struct tonband_marks **out);
void tonband_marks_free(struct tonband_marks *m);

/*
 * Hands the frames for one event to put(): a marker (or the begin or end of one, for spans) at `ticks`
 * with the fields as text, and a value for each integer that is no id. A name is handed over before
 * its first use, unless tonband_marks_names() did it.
 */
int tonband_marks_event(struct tonband_marks *m, const struct dial9_dec *dec,
			const struct dial9_event *ev, uint64_t ticks, tonband_marks_fn put,
			void *ctx, struct foreign_notes *notes);

/* Takes note of the names that the event will need. */
void tonband_marks_survey(struct tonband_marks *m, const struct dial9_event *ev);

/* Number markers and values from these ids, and hand over all names known so far. */
int tonband_marks_names(struct tonband_marks *m, uint32_t first_evt, uint32_t first_val,
			tonband_marks_fn put, void *ctx);

/* Spans that began and did not end. */
uint64_t tonband_marks_open_spans(const struct tonband_marks *m);

#endif /* D9_FORMATS_TONBAND_MARKS_H */
