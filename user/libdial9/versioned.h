/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_VERSIONED_H
#define D9_LIBDIAL9_VERSIONED_H

#include <stddef.h>

/*
 * A struct that begins with its caller's idea of its size, into our idea of it (dst_sz bytes): what the caller does
 * not have is zero. -EINVAL if it has fewer than `least` bytes, or more than we know and not all of them zero.
 */
int versioned_copy(void *dst, size_t dst_sz, const void *src, size_t least);

#endif
