// SPDX-License-Identifier: BSD-2-Clause
/*
 * drain_bench.c - what the loader spends on a record: from a merged ring to dial9 bytes
 *
 * Fills a ring in memory with batches of switches among a few dozen tasks, as the BPF programs write them, and
 * times the pass that drains them, without and with stacks. Needs root for the kernel's formats.
 *
 *	build/bench/drain_bench [MILLIONS [FRAMES]]
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "dial9.h"
#include "kernel/tracefs/tracefs.h"
#include "prof_abi.h"
#include "events/emit.h"
#include "record/tracepoint/eventset.h"
#include "record/symbols/frames.h"
#include "record/ring/ring_merge.h"
#include "record/ring/ring.h"
#include "record/symbols/stacks.h"
#include "record/process/tasks.h"
#include "record/encode/translate.h"

enum { RING_BYTES = 1 << 22, TASKS = 48, FRAMES = 12, RAW = 64 };
enum { BATCH_BYTES = sizeof(struct prof_batch) + PROF_STAGE_BYTES };

struct bench {
	struct eventset *events;
	struct dial9_enc *enc;
	struct emit *emit;
	struct tasks *tasks;
	struct frames *frames;
	struct stacks *stacks;
	struct translate *translate;
	uint8_t *data;
	struct prof_stage *stage;
	unsigned long producer, consumer;
};

static int drop(void *ctx, const void *data, size_t sz)
{
	return 0;
}

static size_t record_size(size_t frame_cnt)
{
	return sizeof(struct prof_rec) + RAW + 8 * frame_cnt;
}

static void put_record(uint8_t *at, uint64_t i, size_t frame_cnt)
{
	uint32_t prev = 1000 + i % TASKS, next = 1000 + (i + 1) % TASKS;
	struct prof_rec *rec = (void *)at;
	uint8_t *raw = (uint8_t *)(rec + 1);
	uint64_t *frames = (uint64_t *)(raw + RAW);
	size_t k;

	*rec = (struct prof_rec){
		.size = record_size(frame_cnt),
		.kind = PROF_REC_TRACEPOINT,
		.ts = 1000000 + i * 700,
		.pid = prev,
		.tid = prev,
		.raw_len = RAW,
		.ustack_cnt = frame_cnt,
		.flags = frame_cnt ? PROF_REC_STACKS : 0,
	};
	memset(raw, 0, RAW);
	snprintf((char *)raw + 8, 16, "worker-%u", prev);
	memcpy(raw + 24, &prev, 4);
	raw[28] = 120;
	raw[32] = i % 3 == 0;
	snprintf((char *)raw + 40, 16, "worker-%u", next);
	memcpy(raw + 56, &next, 4);
	raw[60] = 120;
	for (k = 0; k < frame_cnt; k++)
		frames[k] = 0x400000 + (i % 7) * 64 + k * 4096;
}

/* A batch of records from number @first on, with its header in the ring. Returns its bytes in the ring. */
static size_t put_batch(uint8_t *at, uint32_t seq, uint64_t first, size_t cnt, size_t frame_cnt)
{
	struct prof_batch *batch = (void *)(at + BPF_RINGBUF_HDR_SZ);
	size_t len = sizeof(*batch) + cnt * record_size(frame_cnt), i;

	*(uint32_t *)at = len;
	*batch = (struct prof_batch){
		.size = sizeof(*batch),
		.kind = PROF_REC_BATCH,
		.cnt = cnt,
		.seq = seq,
	};
	for (i = 0; i < cnt; i++)
		put_record((uint8_t *)(batch + 1) + i * record_size(frame_cnt), first + i,
			   frame_cnt);
	return BPF_RINGBUF_HDR_SZ + len;
}

/* As many whole batches as the ring holds. Returns the number of records. */
static size_t fill(struct bench *b, size_t frame_cnt)
{
	size_t per_batch = PROF_STAGE_BYTES / record_size(frame_cnt), cnt = 0;
	uint32_t seq = 0;

	for (b->producer = 0; b->producer + BATCH_BYTES + BPF_RINGBUF_HDR_SZ <= RING_BYTES;
	     cnt += per_batch)
		b->producer += put_batch(b->data + b->producer, seq++, cnt, per_batch, frame_cnt);
	return cnt;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int on_record(void *ctx, const struct prof_rec *rec)
{
	struct bench *b = ctx;

	return translate_record(b->translate, rec);
}

static void set_up(struct bench *b)
{
	static const char *const pattern[] = { "sched:sched_switch" };
	const struct eventset_cfg cfg = { .patterns = pattern, .pattern_cnt = 1 };
	const struct dial9_enc_opts opts = { .sz = sizeof(opts),
					     .write = drop,
					     .first_type_id = 256 };
	int fd;

	if (tracefs_open(&fd) || eventset_new(fd, &cfg, &b->events) ||
	    dial9_enc_new(&opts, &b->enc) || emit_new(b->enc, false, &b->emit) ||
	    frames_new(b->emit, NULL, false, &b->frames))
		exit(1);
	b->tasks = tasks_new(false);
	b->stacks = stacks_new(b->frames);
	b->translate = translate_new(&(struct translate_cfg){
		.enc = b->enc,
		.emit = b->emit,
		.events = b->events,
		.tasks = b->tasks,
		.stacks = b->stacks,
	});
	b->data = xmalloc(RING_BYTES * 2);
	b->stage = xcalloc(1, sizeof(*b->stage));
}

static void run(struct bench *b, size_t want, size_t frame_cnt)
{
	const struct ring_merge_sink sink = { .record = on_record, .ctx = b };
	uint64_t bytes = dial9_enc_bytes(b->enc), start, spent = 0;
	size_t per_pass = fill(b, frame_cnt), done = 0;

	while (done < want) {
		struct ring rings[2] = { {
			.data = b->data,
			.consumer = &b->consumer,
			.producer = &b->producer,
			.sz = 2 * RING_BYTES,
		} };
		struct ring_merge *merge = ring_merge_new(rings, 2, NULL, 0);

		ring_open_staged(&rings[0], b->stage, 0, &rings[1]);
		start = cpu_ns();
		if (ring_merge_pass(merge, UINT64_MAX, SIZE_MAX, &sink) < 0)
			exit(1);
		spent += cpu_ns() - start;
		ring_merge_free(merge);
		ring_close(&rings[1]);
		b->consumer = 0;
		done += per_pass;
	}
	printf("%2zu frames: %6.1f ns/record, %5.1f B/record\n", frame_cnt, (double)spent / done,
	       (double)(dial9_enc_bytes(b->enc) - bytes) / done);
}

int main(int argc, char **argv)
{
	size_t want = (argc > 1 ? strtoul(argv[1], NULL, 10) : 5) * 1000000;
	struct bench b = { 0 };

	set_up(&b);
	if (argc > 2) {
		run(&b, want, strtoul(argv[2], NULL, 10) % PROF_STACK_MAX);
		return 0;
	}
	run(&b, want, 0);
	run(&b, want, FRAMES);
	return 0;
}
