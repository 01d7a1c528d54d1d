/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SEGMENT_END_H
#define D9_TRACE_SOURCE_SEGMENT_END_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The times of all events of a finished rotated file, read from its last bytes. False: it is not finished, or its
 * last bytes do not agree with its size.
 */
bool segment_end_read(int fd, uint64_t *first_ns, uint64_t *last_ns);

#endif
