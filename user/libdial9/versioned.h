/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_VERSIONED_H
#define D9_LIBDIAL9_VERSIONED_H

#include <stddef.h>

/*
 * Copies a struct that begins with its size in the caller's header to one of dst_sz bytes. Missing
 * bytes are zero. -EINVAL if it has fewer than `least` bytes, or nonzero bytes after dst_sz.
 */
int versioned_copy(void *dst, size_t dst_sz, const void *src, size_t least);

#endif
