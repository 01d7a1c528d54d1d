/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PERFETTO_PERFETTO_TRACKS_H
#define D9_EXPORT_PERFETTO_PERFETTO_TRACKS_H

#include "export/perfetto/perfetto_packet.h"

/* An interval as a slice on a track of the thread: with state, stack, and waker. */
void perfetto_slice(struct export *x, const struct export_interval *i);
/*
 * Writes the fields of an event that are counters or gauges, according to the trace's annotations,
 * as counters of the thread, or of no thread.
 */
void perfetto_counters(struct export *x, const struct export_thread *t,
		       const struct trace_event *ev);

void perfetto_tracks_fini(struct perfetto *p);

#endif /* D9_EXPORT_PERFETTO_PERFETTO_TRACKS_H */
