// SPDX-License-Identifier: BSD-2-Clause
/* Held records are returned unchanged: order, bytes, names. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "prof_events.h"
#include "record/ring/ring_merge.h"
#include "record/encode/record_queue.h"

enum { STOP = -7, ALL = 1000, LIMIT = 4096 };

static struct record_queue *queue; /* of at most LIMIT bytes */
static struct buf seen; /* what its sink received */

static bool later; /* the sink refuses the record of time 98 until this is set */

static int on_record(void *ctx, const struct prof_rec *rec)
{
	const char *raw = (const char *)(rec + 1);

	cr_assert_eq((uintptr_t)rec % 8, 0, "a record that is not aligned");
	buf_printf(ctx, "r%llu:%.*s ", (unsigned long long)rec->ts, rec->raw_len, raw);
	if (later && rec->ts == 98)
		return RING_MERGE_LATER;
	return rec->ts == 99 ? STOP : 0;
}

static int on_side(void *ctx, const struct perf_side *side)
{
	buf_printf(ctx, "s%llu:%s ", (unsigned long long)side->time, side->name);
	return 0;
}

static unsigned int without;

static int on_counted(void *ctx, const struct prof_rec *rec)
{
	if (rec->flags & PROF_REC_STACKS) {
		buf_addstr(ctx, "with ");
		return 0;
	}
	without++;
	cr_expect_eq(rec->flags, PROF_REC_THINNED | PROF_REC_RAW_CUT);
	cr_expect_eq(rec->size, sizeof(*rec) + rec->raw_len);
	cr_expect_eq(rec->kstack_cnt + rec->ustack_cnt, 0);
	cr_expect_eq(rec->context, PROF_CONTEXT_TASK, "only tasks have stacks");
	return 0;
}

static void put_record(uint64_t ts, const char *raw)
{
	struct {
		struct prof_rec rec;
		char raw[64];
	} r = { .rec = { .kind = PROF_REC_TRACEPOINT, .ts = ts } };

	r.rec.raw_len = strlen(raw);
	r.rec.size = sizeof(r.rec) + r.rec.raw_len;
	memcpy(r.raw, raw, r.rec.raw_len);
	record_queue_add(queue, &r.rec);
	memset(&r, 0xff, sizeof(r));
}

static void put_side(uint64_t ts, const char *text)
{
	char name[64];
	struct perf_side side = { .type = PERF_SIDE_COMM, .time = ts, .name = name };

	strcpy(name, text);
	side.name_len = strlen(name);
	record_queue_add_side(queue, &side);
	memset(name, 'x', sizeof(name) - 1);
}

static const struct ring_merge_sink sink = {
	.record = on_record,
	.side = on_side,
	.ctx = &seen,
};

static void init(void)
{
	queue = record_queue_new(LIMIT);
}

static void fini(void)
{
	record_queue_free(queue);
	buf_free(&seen);
}

TestSuite(record_queue, .init = init, .fini = fini);

Test(record_queue, records_are_returned_in_order_of_arrival)
{
	put_record(5, "abc");
	put_side(3, "a-name-of-some-length");
	put_record(7, "");
	put_side(8, "");
	put_record(9, "0123456789");
	cr_expect_eq(record_queue_release(queue, ALL, &sink), 5);
	cr_expect_str_eq(buf_cstr(&seen), "r5:abc s3:a-name-of-some-length r7: s8: r9:0123456789 ");
	buf_clear(&seen);
	cr_expect_eq(record_queue_release(queue, ALL, &sink), 0);
	cr_expect_str_eq(buf_cstr(&seen), "", "what was handed over is forgotten");
}

Test(record_queue, release_stops_when_the_sink_stops)
{
	put_record(1, "x");
	put_record(99, "y");
	put_record(3, "z");
	cr_expect_eq(record_queue_release(queue, ALL, &sink), STOP);
	cr_expect_str_eq(buf_cstr(&seen), "r1:x r99:y ");
}

Test(record_queue, refused_record_is_returned_again_before_later_records)
{
	put_record(1, "x");
	put_record(98, "y");
	put_side(3, "z");
	later = true;
	cr_expect_eq(record_queue_time(queue), 1);
	cr_expect_eq(record_queue_release(queue, ALL, &sink), 1);
	cr_expect_eq(record_queue_time(queue), 98);
	cr_expect_eq(record_queue_release(queue, ALL, &sink), 0);
	put_record(4, "w");
	later = false;
	cr_expect_eq(record_queue_release(queue, 1, &sink), 1);
	cr_expect_eq(record_queue_time(queue), 3);
	cr_expect_eq(record_queue_release(queue, ALL, &sink), 2);
	cr_expect_eq(record_queue_time(queue), UINT64_MAX);
	cr_expect_str_eq(buf_cstr(&seen), "r1:x r98:y r98:y r98:y s3:z r4:w ");
}

Test(record_queue, memory_depends_only_on_records_in_the_queue)
{
	char last[32];
	uint64_t i;

	/* never empty, never crowded: released records are removed */
	for (i = 0; i < 20; i++)
		put_record(1000 + i, "0123456789");
	for (; i < 4000; i++) {
		put_record(1000 + i, "0123456789");
		cr_assert_eq(record_queue_time(queue), 1000 + i - 20);
		buf_clear(&seen);
		cr_assert_eq(record_queue_release(queue, 1, &sink), 1);
		snprintf(last, sizeof(last), "r%llu:0123456789 ", (unsigned long long)(980 + i));
		cr_assert_str_eq(buf_cstr(&seen), last);
		cr_assert_not(record_queue_is_crowded(queue));
	}
	while (!record_queue_is_crowded(queue))
		put_record(9999, "");
	cr_expect_not(record_queue_is_full(queue));
}

Test(record_queue, full_queue_is_reported)
{
	cr_expect_not(record_queue_is_full(queue));
	cr_expect_eq(record_queue_fill(queue), 0);
	while (!record_queue_is_full(queue)) {
		cr_assert_lt(record_queue_fill(queue), 100);
		put_side(1, "0123456789");
	}
	cr_expect_geq(record_queue_fill(queue), 100);
	cr_expect_lt(record_queue_fill(queue), 110);
	put_side(2, "one more is taken all the same");
	cr_expect_gt(record_queue_release(queue, ALL, &sink), 1);
	cr_expect_lt(seen.len, LIMIT);
	cr_expect_not_null(strstr(buf_cstr(&seen), "s2:"));
	cr_expect_not(record_queue_is_full(queue));
}

/* Stacks are most of the bytes. */
Test(record_queue, events_have_no_stacks_when_little_room_is_left)
{
	enum { STACK_WORDS = 40, RAW = 8 };
	struct {
		struct prof_rec rec;
		uint64_t raw, stack[STACK_WORDS];
	} r = { .rec = { .kind = PROF_REC_TRACEPOINT,
			 .flags = PROF_REC_STACKS | PROF_REC_WALKED | PROF_REC_RAW_CUT,
			 .ts = 1,
			 .raw_len = RAW,
			 .kstack_cnt = 1,
			 .ustack_cnt = STACK_WORDS - 1,
			 .size = sizeof(r) } };
	const struct ring_merge_sink counting = { .record = on_counted, .ctx = &seen };
	unsigned int cnt = 0;

	while (!record_queue_is_full(queue) && cnt++ < ALL)
		record_queue_add(queue, &r.rec);
	cr_assert_eq(record_queue_release(queue, ALL, &counting), cnt);
	cr_expect_gt(cnt, 2 * LIMIT / sizeof(r), "%u", cnt);
	cr_expect_str_eq(buf_cstr(&seen), "with with with with with with with ");
	cr_expect_eq(without, cnt - 7);
}
