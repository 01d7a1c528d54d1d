/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation for program code; it cannot fail. The codec library does not use it and reports
 * -ENOMEM instead.
 *
 * If memory runs out, the program prints the requested size and exits at once: the trace is valid
 * up to this point. Sizes that overflow are handled like missing memory.
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

void *array_grow_unset(void *arr, size_t *cap, size_t need, size_t elem_sz)
{
	size_t grown = *cap + *cap / 2 + 8;

	if (grown < need)
		grown = need;
	arr = xreallocarray(arr, grown, elem_sz);
	*cap = grown;
	return arr;
}

void *array_grow(void *arr, size_t *cap, size_t need, size_t elem_sz)
{
	const size_t had = *cap;

	arr = array_grow_unset(arr, cap, need, elem_sz);
	memset((char *)arr + had * elem_sz, 0, (*cap - had) * elem_sz);
	return arr;
}
