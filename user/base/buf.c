/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing byte string: the one place where text is put together.
 *
 * One byte more than asked for is always kept, so that the terminating NUL can be written after
 * each addition without another check. Nothing in here looks at the bytes.
 */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

char *buf_reserve(struct buf *b, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->len, n, &need) || need == SIZE_MAX)
		need = SIZE_MAX - 1; /* fails below, and says so */
	b->data = array_reserve(b->data, &b->cap, need + 1, 1);
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	char *to = buf_reserve(b, n);

	if (n)
		memcpy(to, p, n);
	to[n] = '\0';
	b->len += n;
}

void buf_addstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addch(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *to;
	int n;

	va_copy(again, ap);
	to = buf_reserve(b, 64);
	n = vsnprintf(to, 65, fmt, ap);
	if (n > 64) {
		to = buf_reserve(b, n);
		n = vsnprintf(to, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	if (n > 0)
		b->len += n;
	b->data[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

const char *buf_cstr(struct buf *b)
{
	buf_reserve(b, 0)[0] = '\0';
	return b->data;
}

char *buf_steal(struct buf *b)
{
	char *data;

	buf_cstr(b);
	data = b->data;
	*b = (struct buf){ 0 };
	return data;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}
