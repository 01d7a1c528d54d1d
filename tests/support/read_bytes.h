/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_READ_BYTES_H
#define D9_TESTS_SUPPORT_READ_BYTES_H

#include <string.h>
#include <sys/types.h>

/* A stream in memory, for readers that call a function. */
struct bytes {
	const void *data;
	size_t sz, pos;
};

/* @ctx: struct bytes. */
static inline ssize_t read_bytes(void *ctx, void *buf, size_t sz)
{
	struct bytes *b = ctx;
	size_t n = b->sz - b->pos < sz ? b->sz - b->pos : sz;

	memcpy(buf, (const char *)b->data + b->pos, n);
	b->pos += n;
	return (ssize_t)n;
}

#endif /* D9_TESTS_SUPPORT_READ_BYTES_H */
