// SPDX-License-Identifier: BSD-2-Clause
/* Open spans: which start an end belongs to. */
#include "formats/heph/open_spans.h"

#include <criterion/criterion.h>

static void add(struct heph_spans *s, bool is_poll, uint64_t worker, uint64_t id, uint64_t start)
{
	struct heph_span *span = heph_span_add(s, is_poll, worker, id);

	cr_assert(span);
	span->start_ns = start;
	buf_addstr(&span->attrs, "some bytes");
	heph_span_weigh(s, span);
}

static void assert_removed(struct heph_spans *s, bool is_poll, uint64_t worker, uint64_t id,
			   uint64_t start)
{
	struct heph_span *span = heph_span_remove(s, is_poll, worker, id);

	cr_assert(span);
	cr_assert_eq(span->start_ns, start);
	heph_span_free(span);
}

Test(heph_span, matches_an_end_with_the_latest_start_of_its_key)
{
	struct heph_spans s = { 0 };

	add(&s, false, 1, 5, 10);
	add(&s, false, 2, 5, 11);
	add(&s, false, 1, 5, 12);
	add(&s, true, 1, 5, 13);
	assert_removed(&s, false, 1, 5, 12);
	assert_removed(&s, false, 1, 5, 10);
	cr_assert_null(heph_span_remove(&s, false, 1, 5));
	assert_removed(&s, true, 1, 5, 13);
	assert_removed(&s, false, 2, 5, 11);
	cr_assert_eq(s.cnt + s.bytes, 0);
	heph_span_fini(&s);
}

Test(heph_span, returns_open_spans_oldest_first)
{
	struct heph_spans s = { 0 };
	struct heph_span *span;

	for (uint64_t i = 0; i < 10; i++)
		add(&s, false, 1, i % 2, i);
	assert_removed(&s, false, 1, 1, 9);
	for (uint64_t i = 0; i < 9; i++) {
		span = heph_span_shift(&s);
		cr_assert_eq(span->start_ns, i);
		heph_span_free(span);
	}
	cr_assert_null(heph_span_shift(&s));
	heph_span_fini(&s);
}

Test(heph_span, refuses_spans_above_the_size_limit)
{
	struct heph_spans s = { 0 };
	struct heph_span *span;

	span = heph_span_add(&s, false, 0, 0);
	buf_reserve(&span->attrs, HEPH_SPAN_BYTES_MAX);
	heph_span_weigh(&s, span);
	cr_assert_null(heph_span_add(&s, false, 0, 1));
	heph_span_free(heph_span_remove(&s, false, 0, 0));
	cr_assert(heph_span_add(&s, false, 0, 1));
	heph_span_fini(&s);
}
