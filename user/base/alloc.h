/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_ALLOC_H
#define D9_BASE_ALLOC_H

#include <stddef.h>

/*
 * Allocation for program code: never returns NULL; when memory is gone the program ends with a line
 * that says how much was asked for. Sizes of 0 are legal. The caller frees with free().
 */
void *xmalloc(size_t sz) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xcalloc(size_t cnt, size_t sz) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xrealloc(void *p, size_t sz) __attribute__((returns_nonnull, warn_unused_result));
/* As xrealloc(p, cnt * sz); a product that overflows dies as well. */
void *xreallocarray(void *p, size_t cnt, size_t sz)
	__attribute__((returns_nonnull, warn_unused_result));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull, warn_unused_result));
/* At most n bytes of s; always NUL-terminated. */
char *xstrndup(const char *s, size_t n)
	__attribute__((malloc, returns_nonnull, warn_unused_result));
void *xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull, warn_unused_result));

/* What array_reserve() does when there is no room. */
void *array_grow(void *arr, size_t *cap, size_t need, size_t elem_sz)
	__attribute__((warn_unused_result));

/*
 * Makes room for at least `need` elements of elem_sz bytes in arr, which holds *cap. Grows by half
 * or to `need`, whichever is more, and updates *cap; new elements are zeroed. Returns the array,
 * moved or not. arr may be NULL while *cap is 0.
 */
static inline void *__attribute__((warn_unused_result))
array_reserve(void *arr, size_t *cap, size_t need, size_t elem_sz)
{
	return need <= *cap ? arr : array_grow(arr, cap, need, elem_sz);
}

#endif /* D9_BASE_ALLOC_H */
