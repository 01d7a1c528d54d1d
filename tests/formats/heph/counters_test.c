// SPDX-License-Identifier: BSD-2-Clause
/* Gaps in counters: what is lost, what is merely late, and what is a new beginning. */
#include "formats/heph/counters.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define RANGES_MAX 64

struct seen {
	struct {
		uint32_t stream, first, cnt;
	} v[RANGES_MAX];
	size_t cnt;
};

static int on_lost(void *ctx, uint32_t stream, uint32_t first, uint32_t cnt)
{
	struct seen *s = ctx;

	cr_assert_lt(s->cnt, RANGES_MAX);
	s->v[s->cnt].stream = stream;
	s->v[s->cnt].first = first;
	s->v[s->cnt++].cnt = cnt;
	return 0;
}

static struct heph_counters run(struct seen *s, const uint32_t *counters, size_t cnt)
{
	struct heph_counters c = { .lost = on_lost, .ctx = s };

	for (size_t i = 0; i < cnt; i++)
		cr_assert_eq(heph_counters_add(&c, 7, counters[i]), 0);
	cr_assert_eq(heph_counters_finish(&c), 0);
	heph_counters_fini(&c);
	return c;
}

#define RUN(s, ...)                                                                                \
	run(s, (const uint32_t[]){ __VA_ARGS__ },                                                  \
	    sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void assert_range(const struct seen *s, size_t i, uint32_t first, uint32_t cnt)
{
	cr_assert_lt(i, s->cnt);
	cr_assert_eq(s->v[i].stream, 7);
	cr_assert_eq(s->v[i].first, first, "%u", s->v[i].first);
	cr_assert_eq(s->v[i].cnt, cnt, "%u", s->v[i].cnt);
}

Test(heph_counters, finds_no_gap_in_complete_counters)
{
	struct seen s = { 0 };
	struct heph_counters c = RUN(&s, 5, 6, 7, 8);

	cr_assert_eq(s.cnt, 0);
	cr_assert_eq(c.lost_cnt + c.twice + c.restarts, 0);
}

Test(heph_counters, continues_after_the_counter_wraps)
{
	struct seen s = { 0 };

	RUN(&s, UINT32_MAX - 1, UINT32_MAX, 0, 3, 2);
	cr_assert_eq(s.cnt, 1);
	assert_range(&s, 0, 1, 1);
}

Test(heph_counters, accepts_late_packets)
{
	struct seen s = { 0 };

	RUN(&s, 1, 0, 5, 4, 3, 2);
	cr_assert_eq(s.cnt, 0);
}

Test(heph_counters, joins_missing_counters_to_ranges)
{
	struct seen s = { 0 };
	struct heph_counters c = RUN(&s, 0, 1000, 1001, 1003);

	cr_assert_eq(s.cnt, 2);
	assert_range(&s, 0, 1, 999);
	assert_range(&s, 1, 1002, 1);
	cr_assert_eq(c.lost_cnt, 1000);
}

Test(heph_counters, counts_the_longest_possible_gap)
{
	struct seen s = { 0 };

	RUN(&s, 0, INT32_MAX);
	cr_assert_eq(s.cnt, 1);
	assert_range(&s, 0, 1, INT32_MAX - 1);
}

Test(heph_counters, treats_a_large_step_back_as_a_restart)
{
	struct seen s = { 0 };
	struct heph_counters c = RUN(&s, 100000, 100002, 0, 1, 2);

	cr_assert_eq(c.restarts, 1);
	cr_assert_eq(s.cnt, 1);
	assert_range(&s, 0, 100001, 1);
}

Test(heph_counters, finds_repeated_counters)
{
	struct seen s = { 0 };
	struct heph_counters c = RUN(&s, 1, 2, 2, 1, 3);

	cr_assert_eq(c.twice, 2);
	cr_assert_eq(s.cnt, 0);
}

Test(heph_counters, separates_streams_and_ignores_streams_above_the_limit)
{
	struct heph_counters c = { 0 };

	for (uint32_t i = 0; i < HEPH_COUNTERS_STREAMS_MAX + 10; i++)
		cr_assert_eq(heph_counters_add(&c, i * 3, i), 0);
	cr_assert_eq(heph_counters_add(&c, 0, 2), 0);
	cr_assert_eq(heph_counters_finish(&c), 0);
	cr_assert_eq(c.unwatched, 10);
	cr_assert_eq(c.lost_cnt, 1);
	heph_counters_fini(&c);
}

/* For any order in which no packet is later than the window allows, exactly the dropped counters must be reported. */
Test(heph_counters, agrees_with_a_list_of_dropped_packets)
{
	uint32_t order[2000], x = 1;

	for (int round = 0; round < 200; round++) {
		uint32_t base = x * 2654435761U, left_out = 0;
		size_t n = 0;
		struct heph_counters c = { 0 };

		for (uint32_t i = 0; i < 500; i++) {
			x = x * 1664525 + 1013904223;
			if (i && i < 499 && (x >> 20) % 5 == 0)
				left_out++;
			else
				order[n++] = base + i;
		}
		/* Neighbours are swapped, a few at a time, so that the distance stays small. */
		for (size_t i = 1; i + 1 < n; i++) {
			size_t k = i + (x >> 8) % 4;

			x = x * 1664525 + 1013904223;
			if (k + 1 < n) {
				uint32_t keep = order[i];

				order[i] = order[k];
				order[k] = keep;
			}
		}
		for (size_t i = 0; i < n; i++)
			heph_counters_add(&c, 1, order[i]);
		heph_counters_finish(&c);
		cr_assert_eq(c.lost_cnt, left_out, "round %d: %u", round, left_out);
		cr_assert_eq(c.twice + c.restarts, 0);
		heph_counters_fini(&c);
	}
}
