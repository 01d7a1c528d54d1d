/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_RESUMABLE_SORT_H
#define D9_SYMBOL_RESUMABLE_SORT_H

#include <stddef.h>

struct budget;

/* A sort that can pause. {0} is a sort that has not started. */
struct resumable_sort {
	void *other; /* a second array of the same size; merges alternate between both */
	size_t width; /* sorted runs have this many elements; 0: not started */
	size_t lo, left, right; /* state of the current merge */
};

/*
 * Sorts cnt elements of elem_sz bytes in *array, stable, in O(n log n) comparisons. *array is from
 * malloc() and may be replaced. Memory for a second array comes from the budget and is returned.
 * Returns 0; -EAGAIN: call again with the same arguments, and do not change the array before that;
 * or -ENOMEM or -EDQUOT: only the first resumable_sort_sorted() elements are sorted.
 */
int resumable_sort_run(struct resumable_sort *s, void **array, size_t cnt, size_t elem_sz,
		       int (*compare)(const void *, const void *), struct budget *budget);

size_t resumable_sort_sorted(const struct resumable_sort *s, size_t cnt);

/* Frees the memory of a sort that was not finished. */
void resumable_sort_free(struct resumable_sort *s, size_t cnt, size_t elem_sz,
			 struct budget *budget);

#endif /* D9_SYMBOL_RESUMABLE_SORT_H */
