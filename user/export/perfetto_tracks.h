/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PERFETTO_TRACKS_H
#define D9_EXPORT_PERFETTO_TRACKS_H

#include "export/perfetto_packet.h"

/* An interval as a slice on a track of the thread: with its state as name, its stack, and who ended it. */
void perfetto_slice(struct export *x, const struct export_interval *i);

void perfetto_tracks_fini(struct perfetto *p);

#endif /* D9_EXPORT_PERFETTO_TRACKS_H */
