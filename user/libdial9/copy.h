/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_COPY_H
#define D9_LIBDIAL9_COPY_H

#include "dial9.h"

/* Bytes of a copy */
size_t copy_size(const struct dial9_dec *dec, const struct dial9_event *ev);

/*
 * Makes a copy at *pos, a multiple of 8, and moves *pos past it. NULL if it would reach past end.
 * Takes no reference to the schema.
 */
struct dial9_event *copy_put(const struct dial9_dec *dec, const struct dial9_event *ev,
			     uint8_t **pos, const uint8_t *end);

#endif
