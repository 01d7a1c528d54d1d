// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records that are staged, and pass through a ring in batches: over a ring and stages in plain memory, written
 * here as stage.bpf.h writes them.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "prof_abi.h"
#include "record/ring/ring.h"
#include "record/ring/ring_merge.h"
#include "tests/record/membuf.h"

enum { CPU = 5, OTHER_CPU = 6, RING_SZ = 1 << 16 };

struct bench {
	struct membuf m;
	struct ring staged;
	struct prof_stage stage;
	uint64_t lost;
};

static struct bench bench;

static struct bench *bench_new(void)
{
	bench = (struct bench){ .lost = 0 };
	membuf_init(&bench.m, RING_SZ);
	ring_open_staged(&bench.m.ring, &bench.stage, CPU, &bench.staged);
	return &bench;
}

static void bench_end(struct bench *b)
{
	ring_close(&b->staged);
	membuf_fini(&b->m);
}

/* ---- the programs' side -------------------------------------------------------------------------- */

static void pass_on(struct bench *b, uint64_t head)
{
	uint64_t next = PROF_STAGE_AT(PROF_STAGE_SEQ(head) + 1, 0, 0);
	uint64_t taken = __atomic_exchange_n(&b->stage.taken, next, __ATOMIC_SEQ_CST);
	size_t from = PROF_STAGE_POS(taken), len = PROF_STAGE_POS(head) - from;
	const struct prof_batch batch = {
		.size = sizeof(batch),
		.kind = PROF_REC_BATCH,
		.cpu = CPU,
		.cnt = PROF_STAGE_CNT(head) - PROF_STAGE_CNT(taken),
		.seq = PROF_STAGE_SEQ(head),
	};
	uint8_t *at = (uint8_t *)&b->stage.batch + from;

	memcpy(at, &batch, sizeof(batch));
	if (membuf_has_room(&b->m, sizeof(batch) + len))
		membuf_put(&b->m, at, sizeof(batch) + len, 0);
	else
		b->lost += batch.cnt;
	__atomic_store_n(&b->stage.head, next, __ATOMIC_RELEASE);
}

static void stage(struct bench *b, uint64_t ts, size_t frame_cnt)
{
	uint64_t head = b->stage.head;
	const struct prof_rec rec = {
		.size = sizeof(rec) + 8 * frame_cnt,
		.kind = PROF_REC_TRACEPOINT,
		.ts = ts,
		.ustack_cnt = frame_cnt,
	};
	uint8_t *at = b->stage.data + PROF_STAGE_POS(head);
	size_t i;

	memcpy(at, &rec, sizeof(rec));
	for (i = 0; i < frame_cnt; i++)
		memcpy(at + sizeof(rec) + 8 * i, &ts, sizeof(ts));
	head += PROF_STAGE_AT(0, 1, rec.size);
	if (PROF_STAGE_POS(head) < PROF_STAGE_BYTES)
		__atomic_store_n(&b->stage.head, head, __ATOMIC_RELEASE);
	else
		pass_on(b, head);
}

static void flush(struct bench *b)
{
	pass_on(b, b->stage.head);
}

static void put_single(struct bench *b, uint64_t ts)
{
	const struct prof_rec rec = { .size = sizeof(rec), .kind = PROF_REC_SAMPLE, .ts = ts };

	membuf_put(&b->m, &rec, sizeof(rec), 0);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void expect(struct ring *r, uint64_t ts)
{
	const struct prof_rec *rec = ring_peek(r);

	cr_assert_not_null(rec, "no %d", (int)ts);
	cr_assert_eq(rec->ts, ts);
	cr_assert_eq(ring_peek(r), rec, "it stays until it is passed");
	ring_pass(r);
}

Test(staged, staged_records_are_read_in_place_and_once)
{
	struct bench *b = bench_new();

	cr_expect_null(ring_peek(&b->staged));
	stage(b, 1, 0);
	stage(b, 2, 3);
	expect(&b->staged, 1);
	stage(b, 3, 0);
	expect(&b->staged, 2);
	expect(&b->staged, 3);
	cr_expect_null(ring_peek(&b->staged));
	cr_expect_eq(b->m.producer, 0);
	bench_end(b);
}

Test(staged, flushed_batch_contains_only_unread_records)
{
	struct bench *b = bench_new();

	stage(b, 1, 0);
	stage(b, 2, 0);
	expect(&b->staged, 1);
	stage(b, 3, 0);
	flush(b);
	stage(b, 4, 0);
	expect(&b->staged, 2);
	expect(&b->staged, 3);
	expect(&b->staged, 4);
	cr_expect_null(ring_peek(&b->staged));
	ring_publish(&b->staged);
	cr_expect_eq(b->m.consumer, b->m.producer);
	cr_expect_eq(b->m.producer, 8 + sizeof(struct prof_batch) + sizeof(struct prof_rec));
	cr_expect_eq(b->staged.malformed, 0);
	bench_end(b);
}

Test(staged, batch_without_room_loses_only_unread_records)
{
	struct bench *b = bench_new();

	stage(b, 1, 0);
	expect(&b->staged, 1);
	b->m.producer = RING_SZ; /* full, of unreadable frames */
	membuf_set_header(&b->m, 0, (RING_SZ - 8) | BPF_RINGBUF_DISCARD_BIT);
	stage(b, 2, 0);
	flush(b);
	cr_expect_eq(b->lost, 1, "what was taken is not lost");
	stage(b, 3, 0);
	expect(&b->staged, 3);
	bench_end(b);
}

Test(staged, nothing_is_read_while_a_program_flushes_the_stage)
{
	struct bench *b = bench_new();

	stage(b, 1, 0);
	b->stage.taken = PROF_STAGE_AT(1, 0, 0);
	cr_expect_null(ring_peek(&b->staged));
	bench_end(b);
}

Test(staged, records_after_an_unfinished_frame_are_not_read)
{
	const struct prof_rec rec = { .size = sizeof(rec) };
	struct bench *b = bench_new();
	uint32_t at = membuf_put(&b->m, &rec, sizeof(rec), BPF_RINGBUF_BUSY_BIT);

	stage(b, 1, 0);
	flush(b);
	stage(b, 2, 0);
	cr_expect_null(ring_peek(&b->staged));
	membuf_set_header(&b->m, at, sizeof(rec));
	expect(&b->staged, 1);
	expect(&b->staged, 2);
	bench_end(b);
}

/* The batch is flushed, and another begun, between the reads of the ring and of the stage. */
Test(staged, copied_records_are_returned_after_earlier_batches)
{
	struct bench *b = bench_new();

	stage(b, 1, 0);
	stage(b, 2, 0);
	expect(&b->staged, 1);
	/* as if it had been read from the next batch */
	b->staged.copy_seq = 1;
	b->staged.at = NULL;
	b->staged.copy_cnt = 2;
	stage(b, 3, 0);
	flush(b);
	expect(&b->staged, 3);
	expect(&b->staged, 1);
	expect(&b->staged, 2);
	cr_expect_null(ring_peek(&b->staged));
	bench_end(b);
}

/* ---- stacks that repeat -------------------------------------------------------------------------- */

/* As stage(), with a number of the stack after its frames. */
static void stage_numbered(struct bench *b, uint64_t ts, size_t frame_cnt, uint64_t number)
{
	struct prof_rec *rec = (void *)(b->stage.data + PROF_STAGE_POS(b->stage.head));
	size_t words = number & PROF_REPEAT_OMITTED ? 0 : frame_cnt;

	stage(b, ts, words + 1);
	rec->ustack_cnt = frame_cnt;
	rec->flags = PROF_REC_STACKS | PROF_REC_NUMBERED;
	((uint64_t *)(rec + 1))[words] = number;
}

/* Reads a record whose frames all have this value. */
static void expect_frames(struct ring *r, uint64_t ts, size_t frame_cnt, uint64_t frame)
{
	const struct prof_rec *rec = ring_peek(r);
	const uint64_t *frames = (const uint64_t *)(rec + 1);
	size_t i;

	cr_assert(rec);
	cr_assert_eq(rec->ustack_cnt, frame_cnt);
	for (i = 0; i < frame_cnt; i++)
		cr_assert_eq(frames[i], frame);
	expect(r, ts);
}

enum { OMITTED = PROF_REPEAT_SAME | PROF_REPEAT_OMITTED };

Test(staged, frames_that_were_omitted_are_put_back)
{
	struct bench *b = bench_new();

	stage_numbered(b, 1, 3, 9);
	stage_numbered(b, 2, 3, 9 | OMITTED);
	stage_numbered(b, 3, 3, 9);
	flush(b);
	stage_numbered(b, 4, 3, 9 | OMITTED);
	expect_frames(&b->staged, 1, 3, 1);
	expect_frames(&b->staged, 2, 3, 1);
	expect_frames(&b->staged, 3, 3, 3);
	expect_frames(&b->staged, 4, 3, 3);
	cr_expect_null(ring_peek(&b->staged));
	cr_expect_eq(b->staged.malformed, 0);
	cr_expect_eq(b->stage.repeat_epoch, 0);
	bench_end(b);
}

Test(staged, after_skipped_records_no_earlier_stack_is_used)
{
	struct bench *b = bench_new();

	stage_numbered(b, 1, 3, 9);
	stage_numbered(b, 2, 3, PROF_REPEATS_MAX);
	stage_numbered(b, 3, 4, 9);
	flush(b);
	stage_numbered(b, 4, 3, 9 | OMITTED);
	expect_frames(&b->staged, 1, 3, 1);
	expect_frames(&b->staged, 4, 0, 0);
	cr_expect_eq(b->staged.malformed, 2);
	cr_expect_eq(b->stage.repeat_epoch, 1, "the programs send it again");
	bench_end(b);
}

Test(staged, single_record_with_a_number_is_malformed)
{
	const struct {
		struct prof_rec rec;
		uint64_t words[4];
	} single = { .rec = { .size = sizeof(single),
			      .kind = PROF_REC_SAMPLE,
			      .flags = PROF_REC_STACKS | PROF_REC_NUMBERED,
			      .ustack_cnt = 3 } };
	struct bench *b = bench_new();

	membuf_put(&b->m, &single, sizeof(single), 0);
	cr_expect_null(ring_peek(&b->m.ring));
	cr_expect_eq(b->m.ring.malformed, 1);
	bench_end(b);
}

/* ---- two readers --------------------------------------------------------------------------------- */

static uint64_t seen[64];
static size_t seen_cnt;

static int on_record(void *ctx, const struct prof_rec *rec)
{
	seen[seen_cnt++] = rec->ts;
	return 0;
}

/* Both readers of the ring, in one array. */
static struct ring_merge *merge_readers(struct bench *b, struct ring readers[2])
{
	readers[0] = b->m.ring;
	ring_close(&b->staged);
	readers[0].next = NULL;
	ring_open_staged(&readers[0], &b->stage, CPU, &readers[1]);
	return ring_merge_new(readers, 2, NULL, 0);
}

static void end_merge(struct bench *b, struct ring_merge *m, struct ring readers[2])
{
	ring_merge_free(m);
	ring_close(&readers[1]);
	membuf_fini(&b->m);
}

Test(staged, single_records_and_batches_of_one_ring_are_sorted_by_time)
{
	const struct ring_merge_sink sink = { .record = on_record };
	struct bench *b = bench_new();
	struct ring readers[2];
	struct ring_merge *m;
	size_t i;

	stage(b, 1, 0);
	put_single(b, 2);
	stage(b, 3, 0);
	put_single(b, 4);
	stage(b, 5, 0);
	flush(b);
	put_single(b, 6);
	stage(b, 7, 0);
	m = merge_readers(b, readers);
	cr_assert_eq(ring_merge_pass(m, 4, 100, &sink), 4);
	cr_assert_eq(ring_merge_pass(m, 100, 100, &sink), 3);
	for (i = 0; i < 7; i++)
		cr_expect_eq(seen[i], i + 1);
	cr_expect_eq(b->m.consumer, b->m.producer);
	end_merge(b, m, readers);
}

Test(staged, space_is_returned_when_both_readers_have_passed_it)
{
	struct bench *b = bench_new();
	size_t first;

	put_single(b, 1);
	first = b->m.producer;
	stage(b, 2, 0);
	flush(b);
	put_single(b, 3);
	expect(&b->staged, 2);
	ring_publish(&b->m.ring);
	cr_expect_eq(b->m.consumer, 0);
	expect(&b->m.ring, 1);
	ring_publish(&b->m.ring);
	cr_expect_eq(b->m.consumer, first, "as far as both have come");
	expect(&b->m.ring, 3);
	ring_publish(&b->m.ring);
	cr_expect_eq(b->m.consumer, b->m.producer);
	cr_expect_eq(b->m.ring.malformed, 0);
	bench_end(b);
}

Test(staged, unreadable_ring_is_abandoned_by_all_its_readers)
{
	struct bench *b = bench_new();

	stage(b, 1, 0);
	stage(b, 2, 0);
	flush(b);
	expect(&b->staged, 1);
	b->m.producer = 1UL << 40;
	cr_expect_null(ring_peek(&b->m.ring));
	cr_expect_null(ring_peek(&b->staged));
	cr_expect_eq(b->staged.pos, 1UL << 40);
	cr_expect(b->m.ring.torn);
	bench_end(b);
}

/* The other reader abandons it between ring_peek() and the next call. */
Test(staged, unreadable_ring_has_no_record_after_the_returned_record)
{
	struct bench *b = bench_new();
	unsigned long end = 1UL << 40;

	for (int i = 0; i < 2; i++, end <<= 1) {
		put_single(b, 1);
		put_single(b, 2);
		stage(b, 1, 0);
		stage(b, 2, 0);
		flush(b);
		cr_assert_not_null(ring_peek(&b->staged));
		cr_assert_not_null(ring_peek(&b->m.ring));
		b->m.producer = end;
		ring_publish(&b->staged);
		if (i) {
			ring_pass(&b->staged);
			ring_pass(&b->m.ring);
		} else {
			cr_expect_null(ring_next(&b->staged));
			cr_expect_null(ring_next(&b->m.ring));
		}
		cr_expect_eq(b->staged.pos, end);
		cr_expect_eq(b->m.ring.pos, end);
		cr_expect_null(ring_peek(&b->staged));
		cr_expect_null(ring_peek(&b->m.ring));
		b->m.consumer = end;
	}
	bench_end(b);
}

static int break_ring(void *ctx, const struct prof_rec *rec)
{
	struct bench *b = ctx;

	b->m.producer = 1UL << 40;
	return 0;
}

Test(staged, ring_that_becomes_unreadable_ends_the_pass)
{
	struct bench *b = bench_new();
	const struct ring_merge_sink sink = { .record = break_ring, .ctx = b };
	struct ring readers[2];
	struct ring_merge *m;

	for (int i = 0; i < 100; i++)
		stage(b, 1, 0);
	flush(b);
	m = merge_readers(b, readers);
	cr_expect_lt(ring_merge_pass(m, 100, 1000, &sink), 100);
	cr_expect(readers[0].torn);
	end_merge(b, m, readers);
}

/* ---- what only a broken kernel writes ------------------------------------------------------------ */

Test(staged, impossible_positions_are_not_used)
{
	static const struct {
		const char *what;
		uint64_t taken, head;
	} cases[] = {
		{ "beyond the end", 0, PROF_STAGE_AT(0, 1, PROF_STAGE_BYTES + 8) },
		{ "the last there can be", 0, PROF_STAGE_AT(0, 9, 65535) },
		{ "backwards", PROF_STAGE_AT(0, 2, 80), PROF_STAGE_AT(0, 1, 40) },
		{ "both beyond", PROF_STAGE_AT(7, 0, 60000), PROF_STAGE_AT(7, 1, 60040) },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench *b = bench_new();

		b->stage.taken = cases[i].taken;
		b->stage.head = cases[i].head;
		cr_expect_null(ring_peek(&b->staged), "%s", cases[i].what);
		cr_expect_eq(b->stage.taken, cases[i].taken, "%s", cases[i].what);
		bench_end(b);
	}
}

Test(staged, malformed_records_end_their_batch_and_are_counted)
{
	static const struct {
		const char *what;
		struct prof_rec bad;
		uint64_t malformed;
	} cases[] = {
		{ "no size", { .size = 0 }, 2 },
		{ "a size beyond the batch", { .size = 256 }, 2 },
		{ "a size that is no multiple of 8", { .size = 36 }, 2 },
		{ "frames beyond the size", { .size = 32, .ustack_cnt = 1 }, 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench *b = bench_new();

		stage(b, 1, 0);
		stage(b, 2, 0);
		stage(b, 3, 0);
		memcpy(b->stage.data + sizeof(struct prof_rec), &cases[i].bad,
		       sizeof(cases[i].bad));
		if (i % 2)
			flush(b);
		expect(&b->staged, 1);
		cr_expect_null(ring_peek(&b->staged), "%s", cases[i].what);
		cr_expect_eq(b->staged.malformed, cases[i].malformed, "%s", cases[i].what);
		cr_expect_not(b->staged.torn);
		flush(b);
		stage(b, 4, 0);
		expect(&b->staged, 4);
		bench_end(b);
	}
}

Test(staged, batch_with_a_wrong_record_count_is_counted)
{
	static const uint16_t counts_written[] = { 0, 1, 3, 65535 };
	static const uint64_t malformed[] = { 1, 1, 1, 65533 };
	size_t i;

	for (i = 0; i < sizeof(counts_written) / sizeof(counts_written[0]); i++) {
		struct bench *b = bench_new();
		uint64_t ts;

		stage(b, 1, 0);
		stage(b, 2, 0);
		flush(b);
		((struct prof_batch *)(b->m.data + 8))->cnt = counts_written[i];
		for (ts = 1; ts <= 2 && ts <= counts_written[i]; ts++)
			expect(&b->staged, ts);
		cr_expect_null(ring_peek(&b->staged));
		cr_expect_eq(b->staged.malformed, malformed[i], "%u", counts_written[i]);
		cr_expect_eq(b->staged.torn, counts_written[i] < 2);
		bench_end(b);
	}
}

Test(staged, batch_without_an_owner_is_malformed)
{
	static const struct {
		const char *what;
		struct prof_batch batch;
		uint32_t len;
	} cases[] = {
		{ "of a CPU that is not there",
		  { .size = 16, .kind = PROF_REC_BATCH, .cpu = OTHER_CPU },
		  16 },
		{ "a header of another size",
		  { .size = 24, .kind = PROF_REC_BATCH, .cpu = CPU },
		  24 },
		{ "less than its header", { .size = 16, .kind = PROF_REC_BATCH, .cpu = CPU }, 8 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench *b = bench_new();
		uint8_t bytes[64] = { 0 };

		memcpy(bytes, &cases[i].batch, sizeof(cases[i].batch));
		membuf_put(&b->m, bytes, cases[i].len, 0);
		cr_expect_null(ring_peek(&b->staged), "%s", cases[i].what);
		cr_expect_null(ring_peek(&b->m.ring), "%s", cases[i].what);
		cr_expect_eq(b->m.ring.malformed, 1, "%s", cases[i].what);
		cr_expect_eq(b->staged.malformed, 0, "%s", cases[i].what);
		bench_end(b);
	}
}

/* ---- at the same time ---------------------------------------------------------------------------- */

enum { RACED = 2000000 };

static bool written_all;

/* Writes as fast as it can, and yields to the reader if both share a CPU. */
static void *write_all(void *ctx)
{
	struct bench *b = ctx;
	uint64_t ts;

	for (ts = 1; ts <= RACED; ts++) {
		stage(b, ts, ts % 7);
		if (ts % 1000 == 0)
			sched_yield();
	}
	__atomic_store_n(&written_all, true, __ATOMIC_RELEASE);
	return NULL;
}

Test(staged, concurrent_writer_delivers_each_record_once_in_order_or_counts_it_lost)
{
	struct bench *b = bench_new();
	uint64_t got = 0, last = 0, from_stage = 0;
	const struct prof_rec *rec;
	pthread_t writer;
	bool all;
	size_t i;

	cr_assert_eq(pthread_create(&writer, NULL, write_all, b), 0);
	do {
		all = __atomic_load_n(&written_all, __ATOMIC_ACQUIRE);
		while ((rec = ring_peek(&b->staged))) {
			const uint64_t *frames = (const uint64_t *)(rec + 1);

			cr_assert_gt(rec->ts, last);
			cr_assert_eq(rec->ustack_cnt, rec->ts % 7);
			for (i = 0; i < rec->ustack_cnt; i++)
				cr_assert_eq(frames[i], rec->ts);
			last = rec->ts;
			got++;
			from_stage += !b->staged.in_ring;
			ring_pass(&b->staged);
		}
		ring_publish(&b->staged);
	} while (!all);
	pthread_join(writer, NULL);
	cr_expect_eq(got + b->lost, RACED);
	cr_expect_eq(last, RACED);
	cr_expect_gt(from_stage, 0);
	cr_expect_eq(b->staged.malformed, 0);
	cr_log_info("%d read, %d of them where they lay, %d lost\n", (int)got, (int)from_stage,
		    (int)b->lost);
	bench_end(b);
}
