// SPDX-License-Identifier: BSD-2-Clause
/* Lists on disk: complete and in order, and write errors are reported. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "export/temp_lists.h"

struct record {
	uint64_t list, number, pad;
};

struct seen {
	uint64_t list, next;
};

static void check_record(void *ctx, const void *record, size_t sz)
{
	struct seen *s = ctx;
	struct record r;

	cr_assert_eq(sz, sizeof(r));
	cr_assert_eq((uintptr_t)record % 8, 0);
	memcpy(&r, record, sizeof(r));
	cr_assert_eq(r.list, s->list);
	cr_assert_eq(r.number, s->next);
	s->next++;
}

/* More than many blocks; list N is N * 600 records long. */
Test(temp_lists, interleaved_lists_are_read_in_order)
{
	struct temp_lists *s = temp_lists_new();

	for (uint64_t n = 0; n < 3000; n++)
		for (uint64_t list = 1; list <= 5; list++)
			if (n < list * 600)
				temp_lists_add(s, (uint32_t)list, &(struct record){ list, n, 0 },
					       sizeof(struct record));
	for (int twice = 0; twice < 2; twice++) {
		for (uint64_t list = 0; list <= 7; list++) {
			struct seen seen = { list, 0 };

			temp_lists_each(s, (uint32_t)list, check_record, &seen);
			cr_expect_eq(seen.next, list <= 5 ? list * 600 : 0);
		}
	}
	cr_expect_eq(temp_lists_error(s), 0);
	temp_lists_free(s);
}

/* As many short lists as a machine has threads: a block for each would be 400 MiB. */
Test(temp_lists, short_lists_need_little_memory)
{
	enum { LISTS = 100000 };
	struct temp_lists *s = temp_lists_new();
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (uint64_t n = 0; n < 3; n++)
		for (uint32_t list = 0; list < LISTS; list++)
			temp_lists_add(s, list, &(struct record){ list, n, 0 },
				       sizeof(struct record));
	getrusage(RUSAGE_SELF, &after);
	cr_expect_lt(after.ru_maxrss - before.ru_maxrss, 100 << 10);
	for (uint32_t list = 0; list < LISTS; list++) {
		struct seen seen = { list, 0 };

		temp_lists_each(s, list, check_record, &seen);
		cr_assert_eq(seen.next, 3);
	}
	temp_lists_free(s);
}

Test(temp_lists, missing_directory_is_reported)
{
	struct temp_lists *s = temp_lists_new();

	setenv("TMPDIR", "/nonexistent/at/all", 1);
	for (uint64_t n = 0; n < 1000; n++)
		temp_lists_add(s, 0, &(struct record){ 0, n, 0 }, sizeof(struct record));
	cr_expect_lt(temp_lists_error(s), 0);
	temp_lists_free(s);
}

static void check_length(void *ctx, const void *record, size_t sz)
{
	const char *text = record;
	size_t *want = ctx;

	cr_assert_eq(sz, *want);
	for (size_t i = 0; i < sz; i++)
		cr_assert_eq(text[i], (char)('a' + *want % 26));
	*want = *want % TEMP_LISTS_RECORD_MAX + 1;
}

/* Of all lengths from 1 to the maximum, twice. */
Test(temp_lists, records_keep_their_length)
{
	struct temp_lists *s = temp_lists_new();
	char text[TEMP_LISTS_RECORD_MAX];
	size_t want = 1;

	for (size_t i = 0; i < 2 * TEMP_LISTS_RECORD_MAX; i++) {
		const size_t sz = i % TEMP_LISTS_RECORD_MAX + 1;

		memset(text, (char)('a' + sz % 26), sz);
		temp_lists_add(s, 3, text, sz);
	}
	temp_lists_each(s, 3, check_length, &want);
	cr_expect_eq(want, 1);
	cr_expect_eq(temp_lists_error(s), 0);
	temp_lists_free(s);
}
