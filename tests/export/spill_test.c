// SPDX-License-Identifier: BSD-2-Clause
/* Lists on disk: whole and in order, and what cannot be written is told. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "export/spill.h"

struct record {
	uint64_t list, number, pad;
};

struct seen {
	uint64_t list, next;
};

static void see(void *ctx, const void *record)
{
	struct seen *s = ctx;
	struct record r;

	memcpy(&r, record, sizeof(r));
	cr_assert_eq(r.list, s->list);
	cr_assert_eq(r.number, s->next);
	s->next++;
}

/* Beyond many blocks, of lists that are as long as their number. */
Test(spill, mixed_lists_come_apart_in_order)
{
	struct spill *s = spill_new(sizeof(struct record));

	for (uint64_t n = 0; n < 3000; n++)
		for (uint64_t list = 1; list <= 5; list++)
			if (n < list * 600)
				spill_add(s, (uint32_t)list, &(struct record){ list, n, 0 });
	for (int twice = 0; twice < 2; twice++) {
		for (uint64_t list = 0; list <= 7; list++) {
			struct seen seen = { list, 0 };

			spill_each(s, (uint32_t)list, see, &seen);
			cr_expect_eq(seen.next, list <= 5 ? list * 600 : 0);
		}
	}
	cr_expect_eq(spill_error(s), 0);
	spill_free(s);
}

/* As many lists as a machine has threads, of which each did little: a block for each would be 400 MiB. */
Test(spill, short_lists_take_little)
{
	enum { LISTS = 100000 };
	struct spill *s = spill_new(sizeof(struct record));
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (uint64_t n = 0; n < 3; n++)
		for (uint32_t list = 0; list < LISTS; list++)
			spill_add(s, list, &(struct record){ list, n, 0 });
	getrusage(RUSAGE_SELF, &after);
	cr_expect_lt(after.ru_maxrss - before.ru_maxrss, 100 << 10);
	for (uint32_t list = 0; list < LISTS; list++) {
		struct seen seen = { list, 0 };

		spill_each(s, list, see, &seen);
		cr_assert_eq(seen.next, 3);
	}
	spill_free(s);
}

Test(spill, a_directory_that_is_not_there_is_told)
{
	struct spill *s = spill_new(sizeof(struct record));

	setenv("TMPDIR", "/nonexistent/at/all", 1);
	for (uint64_t n = 0; n < 1000; n++)
		spill_add(s, 0, &(struct record){ 0, n, 0 });
	cr_expect_lt(spill_error(s), 0);
	spill_free(s);
}
