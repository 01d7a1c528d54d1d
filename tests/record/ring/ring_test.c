// SPDX-License-Identifier: BSD-2-Clause
/*
 * The consumer of a ring buffer, over a ring in plain memory that is written like by the kernel: mapped twice,
 * 8-byte frames of a header word and a record, positions that only grow.
 */
#include "record/ring/ring.h"

#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "prof_abi.h"
#include "tests/record/membuf.h"

static const struct prof_rec plain = { .size = sizeof(plain), .kind = PROF_REC_TRACEPOINT };

static uint32_t put(struct membuf *m, uint64_t ts)
{
	struct prof_rec rec = plain;

	rec.ts = ts;
	return membuf_put(m, &rec, sizeof(rec), 0);
}

Test(ring, empty_ring_has_no_record)
{
	struct membuf m;

	membuf_init(&m, 4096);
	cr_expect_null(ring_peek(&m.ring));
	cr_expect_eq(m.ring.fill_max, 0);
	membuf_fini(&m);
}

Test(ring, peek_returns_the_same_record_until_it_is_passed)
{
	struct membuf m;

	membuf_init(&m, 4096);
	put(&m, 11);
	put(&m, 22);
	cr_assert_eq(ring_peek(&m.ring)->ts, 11);
	cr_assert_eq(ring_peek(&m.ring)->ts, 11);
	ring_pass(&m.ring);
	cr_assert_eq(ring_peek(&m.ring)->ts, 22);
	ring_pass(&m.ring);
	cr_assert_null(ring_peek(&m.ring));
	membuf_fini(&m);
}

Test(ring, space_is_returned_at_publish_and_not_before)
{
	struct membuf m;

	membuf_init(&m, 4096);
	put(&m, 1);
	ring_peek(&m.ring);
	ring_pass(&m.ring);
	cr_expect_eq(m.consumer, 0);
	ring_publish(&m.ring);
	cr_expect_eq(m.consumer, m.producer);
	cr_expect_eq(m.consumer, sizeof(plain) + BPF_RINGBUF_HDR_SZ);
	membuf_fini(&m);
}

Test(ring, unfinished_record_hides_later_records_until_it_is_done)
{
	struct membuf m;
	uint32_t at;

	membuf_init(&m, 4096);
	put(&m, 1);
	at = membuf_put(&m, &plain, sizeof(plain), BPF_RINGBUF_BUSY_BIT);
	put(&m, 3);
	ring_peek(&m.ring);
	ring_pass(&m.ring);
	cr_assert_null(ring_peek(&m.ring));
	cr_assert_null(ring_peek(&m.ring));
	membuf_set_header(&m, at, sizeof(plain));
	cr_assert_eq(ring_peek(&m.ring)->ts, 0);
	ring_pass(&m.ring);
	cr_assert_eq(ring_peek(&m.ring)->ts, 3);
	cr_expect_eq(m.ring.malformed, 0);
	membuf_fini(&m);
}

Test(ring, discarded_record_is_skipped_and_is_no_error)
{
	struct membuf m;

	membuf_init(&m, 4096);
	membuf_put(&m, &plain, sizeof(plain), BPF_RINGBUF_DISCARD_BIT);
	membuf_put(&m, &plain, sizeof(plain), BPF_RINGBUF_DISCARD_BIT);
	put(&m, 3);
	cr_assert_eq(ring_peek(&m.ring)->ts, 3);
	cr_expect_eq(m.ring.malformed, 0);
	ring_pass(&m.ring);
	membuf_put(&m, &plain, sizeof(plain), BPF_RINGBUF_DISCARD_BIT);
	cr_expect_null(ring_peek(&m.ring));
	ring_publish(&m.ring);
	cr_expect_eq(m.consumer, m.producer, "the space of a discarded record comes back too");
	membuf_fini(&m);
}

/* Record 20 was interrupted by records 30 and 31, and record 32 by 33. */
Test(ring, interrupted_record_is_sorted_before_the_records_that_interrupted_it)
{
	static const uint64_t put_as[] = { 10, 30, 31, 20, 40, 33, 32 },
			      taken_as[] = { 10, 20, 30, 31, 32, 33, 40 };
	const size_t frame = sizeof(plain) + BPF_RINGBUF_HDR_SZ, cnt = 7;
	struct membuf m;
	size_t i;

	membuf_init(&m, 4096);
	for (i = 0; i < cnt; i++)
		put(&m, put_as[i]);
	for (i = 0; i < cnt; i++) {
		cr_assert_eq(ring_peek(&m.ring)->ts, taken_as[i]);
		cr_assert_eq(ring_peek(&m.ring)->ts, taken_as[i]);
		ring_pass(&m.ring);
		ring_publish(&m.ring);
		if (i == 1)
			cr_expect_eq(m.consumer, frame, "what is in front of it was not passed");
	}
	cr_expect_null(ring_peek(&m.ring));
	ring_publish(&m.ring);
	cr_expect_eq(m.consumer, m.producer);
	cr_expect_eq(m.ring.late_cnt, 0);
	membuf_fini(&m);
}

/* Even if an earlier record arrives between peek and pass, pass skips the peeked record. */
Test(ring, pass_skips_the_peeked_record_even_if_an_earlier_record_arrived)
{
	struct membuf m;

	membuf_init(&m, 4096);
	put(&m, 30);
	cr_assert_eq(ring_peek(&m.ring)->ts, 30);
	put(&m, 20);
	ring_publish(&m.ring);
	ring_pass(&m.ring);
	cr_assert_eq(ring_peek(&m.ring)->ts, 20);
	ring_pass(&m.ring);
	cr_expect_null(ring_peek(&m.ring));
	membuf_fini(&m);
}

enum { RANDOM_CNT = 20000 };

/* Some records come late, and are read in portions: all of them, once, and in order. */
Test(ring, late_records_are_returned_once_and_in_order)
{
	static uint8_t given[RANDOM_CNT];
	unsigned int seed = 5, wrong = 0, late = 0;
	uint64_t last = 0, at = 0;
	const struct prof_rec *rec;
	struct membuf m;
	size_t i = 0, j, n;

	membuf_init(&m, 1 << 16);
	while (i < RANDOM_CNT) {
		for (n = rand_r(&seed) % 100; n && i < RANDOM_CNT; n--, i++) {
			/* a late record is after one to three records that interrupted it */
			size_t inner = rand_r(&seed) % 20 ? 0 : 1 + rand_r(&seed) % 3;

			for (j = 1; j <= inner && i + inner < RANDOM_CNT; j++)
				put(&m, at + j);
			put(&m, at);
			if (j > inner && inner && i + inner < RANDOM_CNT) {
				late++;
				i += inner;
				at += inner;
			}
			at++;
		}
		while ((rec = ring_peek(&m.ring))) {
			cr_assert_lt(rec->ts, RANDOM_CNT);
			cr_assert_not(given[rec->ts]);
			given[rec->ts] = 1;
			wrong += rec->ts < last;
			last = rec->ts;
			ring_pass(&m.ring);
			if (rand_r(&seed) % 8 == 0)
				ring_publish(&m.ring);
		}
		ring_publish(&m.ring);
		cr_assert_eq(m.consumer, m.producer);
	}
	for (i = 0; i < RANDOM_CNT; i++)
		cr_assert(given[i], "%zu", i);
	cr_expect_gt(late, 100);
	cr_expect_eq(wrong, 0);
	membuf_fini(&m);
}

/* More late records than can be noted: none is lost, and none returned twice. */
Test(ring, each_of_too_many_late_records_is_returned_once)
{
	uint64_t seen = 0;
	struct membuf m;
	int i;

	membuf_init(&m, 4096);
	for (i = 40; i > 0; i--)
		put(&m, i);
	for (i = 0; i < 40; i++) {
		const struct prof_rec *rec = ring_peek(&m.ring);

		cr_assert_not_null(rec);
		cr_assert_not(seen >> rec->ts & 1, "%d", (int)rec->ts);
		seen |= 1ULL << rec->ts;
		ring_pass(&m.ring);
	}
	cr_expect_null(ring_peek(&m.ring));
	membuf_fini(&m);
}

Test(ring, records_that_wrap_around_the_end_are_whole_and_in_order)
{
	struct {
		struct prof_rec rec;
		uint8_t raw[104];
	} in = { .rec = plain };
	uint64_t written = 0, read = 0;
	const struct prof_rec *out;
	struct membuf m;
	size_t i;

	membuf_init(&m, 4096);
	while (read < 1000) {
		for (;;) {
			in.rec.raw_len = written % 100;
			in.rec.size = sizeof(plain) + ((in.rec.raw_len + 7) & ~7);
			in.rec.ts = written;
			if (!membuf_has_room(&m, in.rec.size))
				break;
			memset(in.raw, (int)written, sizeof(in.raw));
			membuf_put(&m, &in.rec, in.rec.size, 0);
			written++;
		}
		while ((out = ring_peek(&m.ring))) {
			cr_assert_eq(out->ts, read);
			cr_assert_eq(out->raw_len, read % 100);
			for (i = 0; i < out->raw_len; i++)
				cr_assert_eq(((const uint8_t *)(out + 1))[i], (uint8_t)read);
			ring_pass(&m.ring);
			read++;
		}
		ring_publish(&m.ring);
	}
	cr_expect_eq(read, written);
	cr_expect_gt(m.producer, 10 * 4096, "it went around more than a few times");
	cr_expect_eq(m.ring.malformed, 0);
	cr_expect_leq(m.ring.fill_max, 4096);
	cr_expect_gt(m.ring.fill_max, 4096 - 160);
	membuf_fini(&m);
}

/* Invalid contents of a record, relative to the length from the kernel. */
static const struct malformed_case {
	const char *what;
	struct prof_rec rec;
	uint32_t len;
} malformed_cases[] = {
	{ "shorter than its header", { .size = 24 }, 24 },
	{ "no bytes at all", { .size = 0 }, 0 },
	{ "size beyond the frame", { .size = 40 }, 32 },
	{ "size below the header", { .size = 31 }, 32 },
	{ "raw beyond the size", { .size = 32, .raw_len = 1 }, 32 },
	{ "raw beyond the size, by its padding", { .size = 36, .raw_len = 4 }, 40 },
	{ "the largest raw", { .size = 32, .raw_len = 65535 }, 32 },
	{ "a kernel frame too many", { .size = 40, .kstack_cnt = 2 }, 40 },
	{ "a user frame too many", { .size = 40, .ustack_cnt = 2 }, 40 },
	{ "both stacks together", { .size = 48, .kstack_cnt = 1, .ustack_cnt = 2 }, 48 },
	{ "the largest of all",
	  { .size = 65535, .raw_len = 65535, .kstack_cnt = 65535, .ustack_cnt = 65535 },
	  64 },
};

Test(ring, records_with_contradicting_lengths_are_skipped_and_counted)
{
	size_t i;

	for (i = 0; i < sizeof(malformed_cases) / sizeof(malformed_cases[0]); i++) {
		const struct malformed_case *c = &malformed_cases[i];
		uint8_t bytes[128] = { 0 };
		struct membuf m;

		memcpy(bytes, &c->rec, sizeof(c->rec));
		membuf_init(&m, 4096);
		membuf_put(&m, bytes, c->len, 0);
		put(&m, 77);
		cr_assert_not_null(ring_peek(&m.ring), "%s", c->what);
		cr_expect_eq(ring_peek(&m.ring)->ts, 77, "%s", c->what);
		cr_expect_eq(m.ring.malformed, 1, "%s", c->what);
		membuf_fini(&m);
	}
}

Test(ring, record_that_just_fits_is_accepted)
{
	struct {
		struct prof_rec rec;
		uint64_t rest[4];
	} in = { .rec = { .size = 64, .raw_len = 9, .kstack_cnt = 1, .ustack_cnt = 1 } };
	struct membuf m;

	membuf_init(&m, 4096);
	membuf_put(&m, &in, 64, 0);
	cr_assert_not_null(ring_peek(&m.ring));
	cr_expect_eq(m.ring.malformed, 0);
	cr_expect_not(m.ring.torn);
	membuf_fini(&m);
}

/* Only a broken kernel writes these; they must be counted and never cause a read out of bounds. */
Test(ring, too_long_frame_skips_everything_written_so_far)
{
	static const uint32_t lens[] = { 40, 4096, 65536, 0x3fffffff };
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct membuf m;
		uint32_t at;

		membuf_init(&m, 4096);
		at = membuf_put(&m, &plain, sizeof(plain), 0);
		membuf_set_header(&m, at, lens[i]);
		cr_expect_null(ring_peek(&m.ring));
		cr_expect_eq(m.ring.malformed, 1);
		cr_expect(m.ring.torn, "the account cannot be closed");
		cr_expect_eq(m.ring.pos, m.producer);
		put(&m, 5);
		cr_assert_not_null(ring_peek(&m.ring), "what comes later is read again");
		cr_expect_eq(ring_peek(&m.ring)->ts, 5);
		membuf_fini(&m);
	}
}

Test(ring, producer_more_than_a_ring_ahead_is_counted_and_skipped)
{
	struct membuf m;

	membuf_init(&m, 4096);
	put(&m, 1);
	m.producer = 1UL << 40;
	cr_expect_null(ring_peek(&m.ring));
	cr_expect_eq(m.ring.malformed, 1);
	cr_expect_eq(m.ring.pos, 1UL << 40);
	membuf_fini(&m);
}
