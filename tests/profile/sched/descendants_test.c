// SPDX-License-Identifier: BSD-2-Clause
/* Descendants of a process, from the parents recorded in the trace. */
#include "profile/sched/descendants.h"

#include <criterion/criterion.h>

#include "trace/read/names.h"

static void add_task(struct names *n, uint32_t tid, uint32_t pid, uint32_t ppid)
{
	names_task_learn(n, 0,
			 &(struct names_task){ .tid = tid,
					       .pid = pid,
					       .ppid = ppid,
					       .comm = NAMES_NONE,
					       .exe = NAMES_NONE,
					       .cgroup = NAMES_NONE,
					       .recorded = true });
}

static bool has(const struct hmap *pids, uint32_t pid)
{
	return hmap_get(pids, pid) != NULL;
}

Test(descendants, only_children_and_their_descendants_are_found)
{
	struct hmap pids = { 0 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	add_task(n, 10, 10, 1);
	add_task(n, 20, 20, 10);
	add_task(n, 21, 20, 10); /* a thread */
	add_task(n, 30, 30, 20);
	add_task(n, 31, 31, 20);
	add_task(n, 40, 40, 1); /* siblings */
	add_task(n, 50, 50, 40);
	add_task(n, 60, 60, 999); /* an unknown parent */
	descendants_of(n, 10, &pids);
	cr_expect_eq(pids.cnt, 4);
	cr_expect(has(&pids, 10) && has(&pids, 20) && has(&pids, 30) && has(&pids, 31));
	hmap_fini(&pids);
	descendants_of(n, 1, &pids);
	cr_expect_eq(pids.cnt, 7, "also of one that has no event of its own");
	cr_expect(has(&pids, 1) && has(&pids, 50) && !has(&pids, 60));
	hmap_fini(&pids);
	names_free(n);
}

/* Numbers are reused, and damaged data may have any values. */
Test(descendants, circular_parents_end, .timeout = 10)
{
	struct hmap pids = { 0 };
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	add_task(n, 20, 20, 30);
	add_task(n, 30, 30, 20);
	add_task(n, 40, 40, 40);
	add_task(n, 50, 50, UINT32_MAX);
	descendants_of(n, 10, &pids);
	cr_expect_eq(pids.cnt, 1);
	hmap_fini(&pids);
	descendants_of(n, 20, &pids);
	cr_expect_eq(pids.cnt, 2);
	hmap_fini(&pids);
	names_free(n);
}

Test(descendants, long_chain_needs_one_pass, .timeout = 20)
{
	enum { LINKS = 200000 };
	struct hmap pids = { 0 };
	struct names *n;
	uint32_t i;

	cr_assert_eq(names_new(&n), 0);
	for (i = 2; i < LINKS; i++)
		add_task(n, i, i, i - 1);
	descendants_of(n, 1000, &pids);
	cr_expect_eq(pids.cnt, LINKS - 1000);
	hmap_fini(&pids);
	names_free(n);
}
