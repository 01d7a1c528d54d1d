// SPDX-License-Identifier: BSD-2-Clause
/* A sort that pauses has the same result as a sort without pauses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "symbol/resumable_sort.h"
#include "tests/symbol/support.h"

struct elem {
	uint32_t key, order;
};

static int compare(const void *pa, const void *pb)
{
	const struct elem *a = pa, *b = pb;

	return a->key < b->key ? -1 : a->key > b->key;
}

static void *random_elems(size_t cnt, uint32_t keys)
{
	struct elem *v = malloc((cnt ? cnt : 1) * sizeof(*v));
	size_t i;

	for (i = 0; i < cnt; i++)
		v[i] = (struct elem){ .key = random() % keys, .order = i };
	return v;
}

static bool in_order(const struct elem *v, size_t cnt)
{
	size_t i;

	for (i = 1; i < cnt; i++)
		if (v[i - 1].key > v[i].key ||
		    (v[i - 1].key == v[i].key && v[i - 1].order > v[i].order))
			return false;
	return true;
}

Test(resumable_sort, sorts_any_number_of_elements_and_keeps_the_order_of_equals)
{
	const size_t cnts[] = { 0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 4096, 5001 };
	struct budget *b = unbounded();
	size_t i;

	srandom(3);
	for (i = 0; i < sizeof(cnts) / sizeof(cnts[0]); i++) {
		struct resumable_sort s = { 0 };
		void *v = random_elems(cnts[i], 50);

		cr_assert_eq(resumable_sort_run(&s, &v, cnts[i], sizeof(struct elem), compare, b),
			     0);
		cr_expect(in_order(v, cnts[i]), "%zu elements", cnts[i]);
		free(v);
	}
	cr_expect_eq(b->mem, 0u);
}

Test(resumable_sort, pauses_and_continues)
{
	enum { CNT = 100000 };
	struct budget *b = unbounded();
	struct resumable_sort s = { 0 };
	void *v = random_elems(CNT, 1000);
	size_t pauses = 0;
	int err;

	budget_enter(b);
	budget_slice(b, 0);
	while ((err = resumable_sort_run(&s, &v, CNT, sizeof(struct elem), compare, b)) == -EAGAIN)
		pauses++;
	cr_assert_eq(err, 0);
	cr_expect_gt(pauses, 100u);
	cr_expect(in_order(v, CNT));
	free(v);
}

Test(resumable_sort, leaves_a_sorted_part_when_its_budget_ends)
{
	enum { CNT = 100000 };
	const struct budget_max max = { .cpu_ns = 2000000, .mem = UINT64_MAX };
	struct resumable_sort s = { 0 };
	void *v = random_elems(CNT, 1000);
	struct budget b;
	size_t sorted;

	budget_init(&b, &max);
	budget_enter(&b);
	cr_assert_eq(resumable_sort_run(&s, &v, CNT, sizeof(struct elem), compare, &b), -EDQUOT);
	sorted = resumable_sort_sorted(&s, CNT);
	cr_expect_geq(sorted, 8u);
	cr_expect_lt(sorted, (size_t)CNT);
	cr_expect(in_order(v, sorted));
	resumable_sort_free(&s, CNT, sizeof(struct elem), &b);
	free(v);
}

Test(resumable_sort, reserves_its_memory)
{
	const struct budget_max max = { .cpu_ns = UINT64_MAX, .mem = 100 };
	struct resumable_sort s = { 0 };
	void *v = random_elems(100, 10);
	struct budget b;

	budget_init(&b, &max);
	budget_enter(&b);
	cr_expect_eq(resumable_sort_run(&s, &v, 100, sizeof(struct elem), compare, &b), -ENOMEM);
	cr_expect_eq(b.mem, 0u);
	resumable_sort_free(&s, 100, sizeof(struct elem), &b);
	free(v);
}
