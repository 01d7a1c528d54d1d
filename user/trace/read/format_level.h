/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_FORMAT_LEVEL_H
#define D9_TRACE_READ_FORMAT_LEVEL_H

#include <stdint.h>

#include "dial9.h"

/* Format features of a stream so far. {0} before its first frame. */
struct format_level {
	unsigned int level4; /* TRACE_USES_* */
	uint64_t long_stacks; /* trace_long_stacks() */
};

/* Adds a frame that is not an event. */
void format_level_add_frame(struct format_level *u, const struct dial9_frame *f);

#endif /* D9_TRACE_READ_FORMAT_LEVEL_H */
