/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_RESUMABLE_SORT_H
#define D9_SYMBOL_RESUMABLE_SORT_H

#include <stddef.h>

struct budget;

/* A sort that can pause. {0} is one that has not begun. */
struct resumable_sort {
	void *other; /* as large as the array; merges go from one to the other */
	size_t width; /* runs of that many elements are in order; 0 = not begun */
	size_t lo, left, right; /* the merge that is under way, and how far it is */
};

/*
 * Sorts cnt elements of elem_sz bytes in *array (from malloc(); it may become another one), stable,
 * in O(n log n) comparisons. Memory for a second array is taken from the budget and given back.
 * Returns 0, -EAGAIN (call again with the same arguments; nobody may touch the array meanwhile), or
 * -ENOMEM or -EDQUOT: the first resumable_sort_sorted() elements are in order, the rest is not.
 */
int resumable_sort_run(struct resumable_sort *s, void **array, size_t cnt, size_t elem_sz,
		       int (*compare)(const void *, const void *), struct budget *budget);

size_t resumable_sort_sorted(const struct resumable_sort *s, size_t cnt);

/* Frees what a sort that was not brought to its end holds. */
void resumable_sort_free(struct resumable_sort *s, size_t cnt, size_t elem_sz,
			 struct budget *budget);

#endif /* D9_SYMBOL_RESUMABLE_SORT_H */
