/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_ANNOTATE_H
#define D9_RECORD_TRACEPOINT_ANNOTATE_H

struct dial9_enc;
struct emit;
struct eventset;

/*
 * Writes the properties of the fields of all events, both own events and tracepoints: units, kinds, names of
 * values. For encoders of level 4. 0 or the encoder's -errno.
 */
int annotate_all(struct dial9_enc *enc, const struct emit *emit, const struct eventset *events);

#endif
