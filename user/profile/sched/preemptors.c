// SPDX-License-Identifier: BSD-2-Clause
/* Threads that ran while others waited, summed by thread and CPU. Owns no memory. */
#include "profile/sched/preemptors.h"

#include <stdlib.h>

void preemptors_add(struct preemptors *r, const struct interval_preemptor *one)
{
	size_t k = 0;

	while (k < r->cnt && (r->v[k].tid != one->tid || r->v[k].cpu != one->cpu))
		k++;
	if (k == PREEMPTORS_MAX) {
		r->other_ns += one->ns;
		return;
	}
	if (k == r->cnt) {
		r->v[r->cnt++] = *one;
		return;
	}
	r->v[k].ns += one->ns;
	if (one->from < r->v[k].from)
		r->v[k].from = one->from;
}

static int longest_first(const void *a, const void *b)
{
	const struct interval_preemptor *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

size_t preemptors_top(struct preemptors *r, struct interval_preemptor *out, size_t max)
{
	size_t n = 0;

	qsort(r->v, r->cnt, sizeof(r->v[0]), longest_first);
	for (size_t k = 0; k < r->cnt; k++) {
		if (k < max)
			out[n++] = r->v[k];
		else
			r->other_ns += r->v[k].ns;
	}
	r->cnt = 0;
	return n;
}
