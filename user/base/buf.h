/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_BUF_H
#define D9_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * A growing byte string. {0} is a valid empty string. `data` is NUL-terminated after the first
 * addition, and always after buf_cstr(). `len` does not count the NUL.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

/* buf_reserve() when the buffer is full. */
char *buf_grow(struct buf *b, size_t n);

/*
 * Makes room for n more bytes and returns their address. The caller writes them and adds their
 * number to len.
 */
static inline char *buf_reserve(struct buf *b, size_t n)
{
	/* one byte more, for the NUL */
	return n < b->cap - b->len ? b->data + b->len : buf_grow(b, n);
}

static inline void buf_add(struct buf *b, const void *p, size_t n)
{
	char *to = buf_reserve(b, n);

	if (n)
		memcpy(to, p, n);
	to[n] = '\0';
	b->len += n;
}

static inline void buf_addstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

static inline void buf_addch(struct buf *b, char c)
{
	char *to = buf_reserve(b, 1);

	to[0] = c;
	to[1] = '\0';
	b->len++;
}

void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Append numbers like "%llu", "%lld" and "%llx", but several times faster. */
void buf_addu(struct buf *b, uint64_t v);
void buf_addi(struct buf *b, int64_t v);
void buf_addx(struct buf *b, uint64_t v);
/* Append at least width characters, padded on the left: "%3u", "%09u" and "%16x". */
void buf_addu_padded(struct buf *b, uint64_t v, size_t width, char pad);
void buf_addx_padded(struct buf *b, uint64_t v, size_t width, char pad);
/* Appends the same character n times. */
void buf_fill(struct buf *b, char c, size_t n);

/* Returns the contents as a C string, borrowed until the next change; "" if the buffer is empty. */
const char *buf_cstr(struct buf *b);

/* Returns the memory, which the caller frees with free(), and empties the buffer. Never NULL. */
char *buf_steal(struct buf *b);

/* Sets the length to 0 and keeps the memory. */
void buf_clear(struct buf *b);
void buf_free(struct buf *b);
/* Writes all of it, and frees it: for text that was put together to be printed. */
void buf_print(struct buf *b, FILE *f);

#endif /* D9_BASE_BUF_H */
