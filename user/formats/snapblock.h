/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_SNAPBLOCK_H
#define D9_FORMATS_SNAPBLOCK_H

#include <stddef.h>
#include <stdint.h>

/* What snapblock_salvage() stopped at. */
enum snapblock_end {
	SNAPBLOCK_WHOLE, /* all that the block promised is there */
	SNAPBLOCK_CUT, /* the input ended first */
	SNAPBLOCK_BAD, /* damage: see the reason */
};

/*
 * The decompressed size that a raw snappy block of which sz bytes are at hand promises. 0, -ENODATA
 * when the number itself is cut off, -EBADMSG when it is no 32-bit number.
 */
int snapblock_size(const void *block, size_t sz, uint32_t *plain_sz, size_t *head_sz);

/*
 * Decompresses as much as can be had of a raw snappy block that is cut short or damaged: sz bytes of
 * it, after the head, into plain, which has room for plain_sz. *got is the number of good bytes, and
 * *reason, at SNAPBLOCK_BAD, static text.
 */
enum snapblock_end snapblock_salvage(const uint8_t *in, size_t sz, uint8_t *plain, size_t plain_sz,
				     size_t *got, const char **reason);

#endif /* D9_FORMATS_SNAPBLOCK_H */
