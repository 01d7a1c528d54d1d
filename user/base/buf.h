/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_BUF_H
#define D9_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

/*
 * A growing byte string. {0} is a valid empty one. `data` is NUL-terminated (the NUL is not counted
 * in len) as soon as anything was added, and always after buf_cstr().
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

void buf_add(struct buf *b, const void *p, size_t n);
void buf_addstr(struct buf *b, const char *s);
void buf_addch(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Room for n more bytes; returns where they go. The caller then adds what it wrote to len. */
char *buf_reserve(struct buf *b, size_t n);

/* The contents as a C string, borrowed until the next change; "" when nothing was ever added. */
const char *buf_cstr(struct buf *b);

/* Hands the memory over (free() it); the buffer is empty afterwards. Never NULL. */
char *buf_steal(struct buf *b);

/* Length back to 0, memory kept. */
void buf_clear(struct buf *b);
void buf_free(struct buf *b);

#endif /* D9_BASE_BUF_H */
