/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_CALLCHAIN_H
#define D9_CMD_COMMON_CALLCHAIN_H

#include "base/buf.h"
#include "trace/read/names.h"

/* Which part of a stack is shown. */
enum callchain_part { CALLCHAIN_BOTH, CALLCHAIN_KERNEL, CALLCHAIN_USER };

/*
 * Stacks as the commands about waits show them. Frames are leaf first, as in struct trace_event; all
 * functions append to @out.
 */

/*
 * One function per line, leaf first, after @indent spaces: "name (module)", "(inlined)" for inlined ones. @cols:
 * columns of a line, names are shortened to fit; 0: unchanged.
 */
void callchain_lines(struct buf *out, const struct names *n, const uint64_t *frames, uint32_t cnt,
		     enum callchain_part part, size_t indent, size_t cols);

/* "main;work;hot (inlined)", root first, as flame graphs take it; a semicolon in a name becomes a colon. */
void callchain_folded(struct buf *out, const struct names *n, const uint64_t *frames, uint32_t cnt,
		      enum callchain_part part);

/* An array of objects, leaf first: sym (null: unknown), dso (null: unknown), inlined when it is. */
void callchain_json(struct buf *out, const char *key, const struct names *n, const uint64_t *frames,
		    uint32_t cnt, enum callchain_part part);

#endif /* D9_CMD_COMMON_CALLCHAIN_H */
