/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FILTER_H
#define D9_RECORD_CAPTURE_CAPTURE_FILTER_H

struct eventset;
struct prof;

/* Call before load: reserves room for the filters of all events. */
void capture_filter_size(struct prof *s, const struct eventset *set);
/* Call after load: writes the filters. 0 or -errno. */
int capture_filter_fill(struct prof *s, const struct eventset *set);

#endif
