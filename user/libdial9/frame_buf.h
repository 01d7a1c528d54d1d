/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_FRAME_BUF_H
#define D9_LIBDIAL9_FRAME_BUF_H

#include <stddef.h>

/* From this size on, a buffer is a mapping of its own. A power of two, and the size of a huge page. */
#define FRAME_BUF_MAPPED ((size_t)2 << 20)

/*
 * Enlarges a buffer of old_sz bytes to sz, with the contents; may move it. NULL and 0 make a new
 * one. Returns NULL without memory; the old buffer then stays as it is.
 */
void *frame_buf_grow(void *old, size_t old_sz, size_t sz);
void frame_buf_free(void *buf, size_t sz);

#endif
