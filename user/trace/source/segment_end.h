/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_SEGMENT_END_H
#define D9_TRACE_SOURCE_SEGMENT_END_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Time range of all events of a finished rotated file, from its last bytes. False: the file is not
 * finished, or the last bytes do not match its size.
 */
bool segment_end_read(int fd, uint64_t *first_ns, uint64_t *last_ns);

#endif
