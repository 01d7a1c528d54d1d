/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation that cannot fail, for program code only: the codec library reports -ENOMEM instead.
 *
 * A profiler that runs out of memory has nothing sensible left to do: what was written so far is a
 * valid trace, so it ends at once, with the size that broke it. Sizes that would overflow are
 * treated as memory that is not there.
 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void __attribute__((noreturn)) die(size_t cnt, size_t sz)
{
	if (cnt == 1)
		log_error("out of memory: cannot allocate %zu bytes", sz);
	else
		log_error("out of memory: cannot allocate %zu x %zu bytes", cnt, sz);
	exit(2);
}

void *xmalloc(size_t sz)
{
	void *p = malloc(sz ? sz : 1);

	if (!p)
		die(1, sz);
	return p;
}

void *xcalloc(size_t cnt, size_t sz)
{
	void *p = calloc(cnt ? cnt : 1, sz ? sz : 1);

	if (!p)
		die(cnt, sz);
	return p;
}

void *xrealloc(void *p, size_t sz)
{
	p = realloc(p, sz ? sz : 1);
	if (!p)
		die(1, sz);
	return p;
}

void *xreallocarray(void *p, size_t cnt, size_t sz)
{
	size_t total;

	if (__builtin_mul_overflow(cnt, sz, &total))
		die(cnt, sz);
	return xrealloc(p, total);
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

void *array_grow(void *arr, size_t *cap, size_t need, size_t elem_sz)
{
	size_t grown = *cap + *cap / 2 + 8;

	if (grown < need)
		grown = need;
	arr = xreallocarray(arr, grown, elem_sz);
	memset((char *)arr + *cap * elem_sz, 0, (grown - *cap) * elem_sz);
	*cap = grown;
	return arr;
}
