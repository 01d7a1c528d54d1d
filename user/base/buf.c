/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing byte string: all text is built with it.
 *
 * It always keeps one byte more than requested, so each addition can write the terminating NUL
 * without another check. It does not interpret the bytes.
 */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

char *buf_grow(struct buf *b, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->len, n, &need) || need == SIZE_MAX)
		need = SIZE_MAX - 1; /* fails below, with a message */
	b->data = array_reserve_unset(b->data, &b->cap, need + 1, 1);
	return b->data + b->len;
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

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Writes the digits up to @end; returns the first digit. */
static char *decimal(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100)
		memcpy(end -= 2, &pairs[v % 100 * 2], 2);
	if (v >= 10)
		return memcpy(end - 2, &pairs[v * 2], 2);
	*--end = (char)('0' + v);
	return end;
}

static char *hexadecimal(char *end, uint64_t v)
{
	do
		*--end = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	return end;
}

void buf_addu(struct buf *b, uint64_t v)
{
	char digits[20], *end = digits + sizeof(digits), *from;

	if (v < 10) {
		buf_addch(b, (char)('0' + v));
		return;
	}
	from = decimal(end, v);
	buf_add(b, from, (size_t)(end - from));
}

void buf_addi(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_addch(b, '-');
	buf_addu(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void buf_addx(struct buf *b, uint64_t v)
{
	char digits[16], *end = digits + sizeof(digits), *from = hexadecimal(end, v);

	buf_add(b, from, (size_t)(end - from));
}

void buf_fill(struct buf *b, char c, size_t n)
{
	char *to = buf_reserve(b, n);

	memset(to, c, n);
	to[n] = '\0';
	b->len += n;
}

static void add_padded(struct buf *b, const char *from, size_t n, size_t width, char pad)
{
	if (n < width)
		buf_fill(b, pad, width - n);
	buf_add(b, from, n);
}

void buf_addu_padded(struct buf *b, uint64_t v, size_t width, char pad)
{
	char digits[20], *end = digits + sizeof(digits), *from = decimal(end, v);

	add_padded(b, from, (size_t)(end - from), width, pad);
}

void buf_addx_padded(struct buf *b, uint64_t v, size_t width, char pad)
{
	char digits[16], *end = digits + sizeof(digits), *from = hexadecimal(end, v);

	add_padded(b, from, (size_t)(end - from), width, pad);
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

void buf_print(struct buf *b, FILE *f)
{
	if (b->len)
		fwrite(b->data, 1, b->len, f);
	buf_free(b);
}
