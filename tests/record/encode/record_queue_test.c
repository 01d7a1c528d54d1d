// SPDX-License-Identifier: BSD-2-Clause
/* What is held comes out as it went in: order, bytes, names. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "record/capture/ring_merge.h"
#include "record/encode/record_queue.h"

enum { STOP = -7 };

static bool later; /* is when the record of time 98 is taken */

static int see_record(void *ctx, const struct prof_rec *rec)
{
	const char *raw = (const char *)(rec + 1);

	cr_assert_eq((uintptr_t)rec % 8, 0, "a record that is not aligned");
	buf_printf(ctx, "r%llu:%.*s ", (unsigned long long)rec->ts, rec->raw_len, raw);
	if (later && rec->ts == 98)
		return RING_MERGE_LATER;
	return rec->ts == 99 ? STOP : 0;
}

static int see_side(void *ctx, const struct perf_side *side)
{
	buf_printf(ctx, "s%llu:%s ", (unsigned long long)side->time, side->name);
	return 0;
}

static void put_record(struct record_queue *h, uint64_t ts, const char *raw)
{
	struct {
		struct prof_rec rec;
		char raw[64];
	} r = { .rec = { .kind = PROF_REC_TRACEPOINT, .ts = ts } };

	r.rec.raw_len = strlen(raw);
	r.rec.size = sizeof(r.rec) + r.rec.raw_len;
	memcpy(r.raw, raw, r.rec.raw_len);
	record_queue_add(h, &r.rec);
	memset(&r, 0xff, sizeof(r));
}

static void put_side(struct record_queue *h, uint64_t ts, const char *text)
{
	char name[64];
	struct perf_side side = { .type = PERF_SIDE_COMM, .time = ts, .name = name };

	strcpy(name, text);
	side.name_len = strlen(name);
	record_queue_add_side(h, &side);
	memset(name, 'x', sizeof(name) - 1);
}

Test(record_queue, hands_over_in_the_order_of_arrival)
{
	struct buf seen = { 0 };
	const struct ring_merge_sink sink = { .record = see_record,
					      .side = see_side,
					      .ctx = &seen };
	struct record_queue *h = record_queue_new(1 << 20);

	put_record(h, 5, "abc");
	put_side(h, 3, "a-name-of-some-length");
	put_record(h, 7, "");
	put_side(h, 8, "");
	put_record(h, 9, "0123456789");
	cr_expect_eq(record_queue_release(h, &sink), 0);
	cr_expect_str_eq(buf_cstr(&seen), "r5:abc s3:a-name-of-some-length r7: s8: r9:0123456789 ");
	buf_clear(&seen);
	cr_expect_eq(record_queue_release(h, &sink), 0);
	cr_expect_str_eq(buf_cstr(&seen), "", "what was handed over is forgotten");
	buf_free(&seen);
	record_queue_free(h);
}

Test(record_queue, stops_where_the_sink_does)
{
	struct buf seen = { 0 };
	const struct ring_merge_sink sink = { .record = see_record,
					      .side = see_side,
					      .ctx = &seen };
	struct record_queue *h = record_queue_new(1 << 20);

	put_record(h, 1, "x");
	put_record(h, 99, "y");
	put_record(h, 3, "z");
	cr_expect_eq(record_queue_release(h, &sink), STOP);
	cr_expect_str_eq(buf_cstr(&seen), "r1:x r99:y ");
	buf_free(&seen);
	record_queue_free(h);
}

Test(record_queue, what_is_not_taken_yet_comes_again_and_then_what_came_meanwhile)
{
	struct buf seen = { 0 };
	const struct ring_merge_sink sink = { .record = see_record,
					      .side = see_side,
					      .ctx = &seen };
	struct record_queue *h = record_queue_new(1 << 20);

	put_record(h, 1, "x");
	put_record(h, 98, "y");
	put_side(h, 3, "z");
	later = true;
	cr_expect_eq(record_queue_release(h, &sink), RING_MERGE_LATER);
	cr_expect_eq(record_queue_release(h, &sink), RING_MERGE_LATER);
	put_record(h, 4, "w");
	later = false;
	cr_expect_eq(record_queue_release(h, &sink), 0);
	cr_expect_str_eq(buf_cstr(&seen), "r1:x r98:y r98:y r98:y s3:z r4:w ");
	buf_free(&seen);
	record_queue_free(h);
}

Test(record_queue, says_when_there_is_enough)
{
	struct record_queue *h = record_queue_new(1000);
	struct buf seen = { 0 };
	const struct ring_merge_sink sink = { .record = see_record,
					      .side = see_side,
					      .ctx = &seen };

	cr_expect_not(record_queue_is_full(h));
	while (!record_queue_is_full(h))
		put_side(h, 1, "0123456789");
	put_side(h, 2, "one more is taken all the same");
	cr_expect_eq(record_queue_release(h, &sink), 0);
	cr_expect_lt(seen.len, 1000);
	cr_expect_not_null(strstr(buf_cstr(&seen), "s2:"));
	cr_expect_not(record_queue_is_full(h));
	buf_free(&seen);
	record_queue_free(h);
}
