/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PERFETTO_PERFETTO_TRACKS_H
#define D9_EXPORT_PERFETTO_PERFETTO_TRACKS_H

#include "export/perfetto/perfetto_packet.h"

/* An interval as a slice on a track of the thread: with its state as name, its stack, and who ended it. */
void perfetto_slice(struct export *x, const struct export_interval *i);
/*
 * The fields of an event that count something or are a level of it, by what the trace says of them, as values of
 * counters of the thread, or of no thread.
 */
void perfetto_counters(struct export *x, const struct export_thread *t,
		       const struct trace_event *ev);

void perfetto_tracks_fini(struct perfetto *p);

#endif /* D9_EXPORT_PERFETTO_PERFETTO_TRACKS_H */
