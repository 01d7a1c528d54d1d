/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_ALLOC_H
#define D9_BASE_ALLOC_H

#include <stddef.h>

/*
 * Allocation for program code. Never returns NULL: if memory runs out, the program prints the
 * requested size and exits. A size of 0 is valid. The caller frees with free().
 */
void *xmalloc(size_t sz) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xcalloc(size_t cnt, size_t sz) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xrealloc(void *p, size_t sz) __attribute__((returns_nonnull, warn_unused_result));
/* Like xrealloc(p, cnt * sz). An overflow of the product also ends the program. */
void *xreallocarray(void *p, size_t cnt, size_t sz)
	__attribute__((returns_nonnull, warn_unused_result));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull, warn_unused_result));
/* Copies at most n bytes of s, and adds a NUL. */
char *xstrndup(const char *s, size_t n)
	__attribute__((malloc, returns_nonnull, warn_unused_result));
void *xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull, warn_unused_result));

/* array_reserve() and array_reserve_unset() when the array is full. */
void *array_grow(void *arr, size_t *cap, size_t need, size_t elem_sz)
	__attribute__((warn_unused_result));
void *array_grow_unset(void *arr, size_t *cap, size_t need, size_t elem_sz)
	__attribute__((warn_unused_result));

/*
 * Makes room for at least @need elements of elem_sz bytes in arr, which holds *cap. Grows by half
 * or to @need, whichever is more, and updates *cap; new elements are zeroed. Returns the array,
 * which may have moved. arr may be NULL while *cap is 0.
 */
static inline void *__attribute__((warn_unused_result))
array_reserve(void *arr, size_t *cap, size_t need, size_t elem_sz)
{
	return need <= *cap ? arr : array_grow(arr, cap, need, elem_sz);
}

/* The same, but the caller sets new elements before they are read. */
static inline void *__attribute__((warn_unused_result))
array_reserve_unset(void *arr, size_t *cap, size_t need, size_t elem_sz)
{
	return need <= *cap ? arr : array_grow_unset(arr, cap, need, elem_sz);
}

#endif /* D9_BASE_ALLOC_H */
