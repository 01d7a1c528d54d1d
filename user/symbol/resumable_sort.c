// SPDX-License-Identifier: BSD-2-Clause
/*
 * A merge sort whose state is a few numbers, so it can stop after any element.
 *
 * First it sorts short runs in place, then it merges pairs of runs from one array to the other and
 * back until one run is left. An interrupted pass has not changed its source, so the runs there
 * stay sorted if the sort has to end early.
 */
#include "symbol/resumable_sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/budget.h"

#define RUN 8
#define ELEM_MAX 64

typedef int (*compare_fn)(const void *, const void *);

static void sort_run(char *v, size_t cnt, size_t sz, compare_fn compare)
{
	char elem[ELEM_MAX];
	size_t i, k;

	for (i = 1; i < cnt; i++) {
		for (k = i; k > 0 && compare(v + (k - 1) * sz, v + i * sz) > 0;)
			k--;
		if (k == i)
			continue;
		memcpy(elem, v + i * sz, sz);
		memmove(v + (k + 1) * sz, v + k * sz, (i - k) * sz);
		memcpy(v + k * sz, elem, sz);
	}
}

/* Sorts runs in place, from s->lo on. */
static int sort_runs(struct resumable_sort *s, char *v, size_t cnt, size_t sz, compare_fn compare,
		     struct budget *budget)
{
	int err;

	while (s->lo < cnt) {
		size_t n = cnt - s->lo < RUN ? cnt - s->lo : RUN;

		sort_run(v + s->lo * sz, n, sz, compare);
		s->lo += n;
		err = budget_work(budget, 2 * n);
		if (err)
			return err;
	}
	s->width = RUN;
	s->lo = s->left = s->right = 0;
	return 0;
}

static size_t min_sz(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One pass: merges pairs of runs from `from` to `to`. */
static int ring_merge_pass(struct resumable_sort *s, const char *from, char *to, size_t cnt,
			   size_t sz, compare_fn compare, struct budget *budget)
{
	while (s->lo < cnt) {
		size_t left_cnt = min_sz(s->width, cnt - s->lo);
		size_t right_cnt = min_sz(s->width, cnt - s->lo - left_cnt);
		const char *left = from + s->lo * sz, *right = left + left_cnt * sz;

		while (s->left < left_cnt || s->right < right_cnt) {
			char *out = to + (s->lo + s->left + s->right) * sz;
			const char *l = left + s->left * sz, *r = right + s->right * sz;
			int err;

			if (s->right == right_cnt || (s->left < left_cnt && compare(l, r) <= 0)) {
				memcpy(out, l, sz);
				s->left++;
			} else {
				memcpy(out, r, sz);
				s->right++;
			}
			err = budget_work(budget, 1);
			if (err)
				return err;
		}
		s->lo += left_cnt + right_cnt;
		s->left = s->right = 0;
	}
	s->lo = 0;
	return 0;
}

int resumable_sort_run(struct resumable_sort *s, void **array, size_t cnt, size_t elem_sz,
		       compare_fn compare, struct budget *budget)
{
	int err;

	if (!s->width) {
		err = sort_runs(s, *array, cnt, elem_sz, compare, budget);
		if (err)
			return err;
	}
	if (s->width < cnt && !s->other) {
		if (budget_reserve(budget, cnt * elem_sz))
			return -ENOMEM;
		s->other = xmalloc(cnt * elem_sz);
	}
	while (s->width < cnt) {
		void *from = *array;

		err = ring_merge_pass(s, from, s->other, cnt, elem_sz, compare, budget);
		if (err)
			return err;
		*array = s->other;
		s->other = from;
		s->width *= 2;
	}
	resumable_sort_free(s, cnt, elem_sz, budget);
	return 0;
}

size_t resumable_sort_sorted(const struct resumable_sort *s, size_t cnt)
{
	size_t sorted = s->width ? s->width : RUN;

	if (!s->width && !s->lo)
		return 0;
	return min_sz(sorted, cnt);
}

void resumable_sort_free(struct resumable_sort *s, size_t cnt, size_t elem_sz,
			 struct budget *budget)
{
	if (s->other)
		budget_give_back(budget, cnt * elem_sz);
	free(s->other);
	*s = (struct resumable_sort){ 0 };
}
