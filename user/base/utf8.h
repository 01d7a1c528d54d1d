/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_UTF8_H
#define D9_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/* The code point at the start of n > 0 bytes, and its length; UTF8_INVALID, 1: not UTF-8. */
uint32_t utf8_code_point(const char *s, size_t n, size_t *len);
/*
 * Whether a code point is not printed as it is, because it is invisible or changes what surrounds it: C0
 * and C1 controls, line separators, characters that set the direction of text, invisible ones.
 */
bool utf8_is_unprintable(uint32_t c);

#endif /* D9_BASE_UTF8_H */
