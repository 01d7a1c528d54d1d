// SPDX-License-Identifier: BSD-2-Clause
/*
 * codec_bench.c - events a second through libdial9, on the mix that the format's reference is measured with
 *
 * A million events: four kinds of scheduler events of a runtime, all varints, and a CPU sample with 3 or 16
 * addresses. Encoding with types declared at compile time, with values in one call, and with a put for each
 * field; decoding by visitor, as views and into owned copies; the same bytes by memcpy. Each figure is the
 * best of several rounds, in CPU time of this thread, so that other load on the machine counts little.
 *
 *	build/bench/codec_bench [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "dial9.h"

#define EVENTS 1000000

#define POLL_START(X)                                                                              \
	X(VARINT, worker_id) X(VARINT, local_queue_depth) X(VARINT, task_id) X(VARINT, spawn_loc_id)
#define POLL_END(X) X(VARINT, worker_id)
#define PARK(X) X(VARINT, worker_id) X(VARINT, local_queue_depth) X(VARINT, cpu_time_ns)
#define WAKE(X) X(VARINT, waker_task_id) X(VARINT, woken_task_id) X(VARINT, target_worker)
#define SAMPLE(X) X(VARINT, worker_id) X(U32, tid) X(U8, source) X(STACK, frames)

DIAL9_EVENT(poll_start, "PollStart", POLL_START)
DIAL9_EVENT(poll_end, "PollEnd", POLL_END)
DIAL9_EVENT(park, "WorkerPark", PARK)
DIAL9_EVENT(wake, "WakeEvent", WAKE)
DIAL9_EVENT(sample, "CpuSample", SAMPLE)

struct bench {
	struct dial9_event_type types[5];
	uint64_t frames[16];
	size_t frame_cnt;
	struct dial9_enc *enc;
	const void *data; /* a stream of all events */
	size_t sz;
	void *copy; /* as large, for memcpy */
	uint64_t sum;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void must(int err)
{
	if (err) {
		fprintf(stderr, "codec_bench: %s\n", strerror(-err));
		exit(1);
	}
}

static uint64_t next_ts(uint64_t ts, uint64_t i)
{
	return ts + 500 + i % 200;
}

static void encode_declared(struct bench *b)
{
	struct dial9_event_type *t = b->types;
	uint64_t i, ts = 1000000000;
	int err = 0;

	for (i = 0; i < EVENTS; i++) {
		ts = next_ts(ts, i);
		switch (i % 5) {
		case 0:
			err |= poll_start_write(b->enc, &t[0],
						&(struct poll_start){ ts, i % 8, i % 32,
								      1000 + i % 5000, i % 20 });
			break;
		case 1:
			err |= poll_end_write(b->enc, &t[1], &(struct poll_end){ ts, i % 8 });
			break;
		case 2:
			err |= park_write(b->enc, &t[2],
					  &(struct park){ ts, i % 8, i % 16, 500000000 + i * 100 });
			break;
		case 3:
			err |= wake_write(b->enc, &t[3],
					  &(struct wake){ ts, 1000 + i % 5000,
							  1000 + (i + 1) % 5000, i % 8 });
			break;
		case 4:
			err |= sample_write(b->enc, &t[4],
					    &(struct sample){ ts,
							      i % 8,
							      (uint32_t)(12345 + i % 4),
							      0,
							      { b->frames, b->frame_cnt } });
			break;
		}
	}
	must(err);
}

/* Types are set beforehand, as they are known when a run-time schema is made. */
static void encode_values(struct bench *b)
{
	struct dial9_value v[4], k[4];
	struct dial9_event_type *t = b->types;
	uint64_t i, ts = 1000000000;
	int err = 0;

	for (i = 0; i < 4; i++)
		v[i].type = DIAL9_VARINT;
	k[0].type = DIAL9_VARINT;
	k[1].type = DIAL9_U32;
	k[2].type = DIAL9_U8;
	k[3].type = DIAL9_STACK;
	k[3].stack.le = (const uint8_t *)b->frames;
	k[3].stack.cnt = (uint32_t)b->frame_cnt;
	for (i = 0; i < EVENTS; i++) {
		ts = next_ts(ts, i);
		v[0].u64 = i % 8;
		switch (i % 5) {
		case 0:
			v[1].u64 = i % 32;
			v[2].u64 = 1000 + i % 5000;
			v[3].u64 = i % 20;
			err |= dial9_enc_write_type(b->enc, &t[0], ts, v, 4);
			break;
		case 1:
			err |= dial9_enc_write_type(b->enc, &t[1], ts, v, 1);
			break;
		case 2:
			v[1].u64 = i % 16;
			v[2].u64 = 500000000 + i * 100;
			err |= dial9_enc_write_type(b->enc, &t[2], ts, v, 3);
			break;
		case 3:
			v[0].u64 = 1000 + i % 5000;
			v[1].u64 = 1000 + (i + 1) % 5000;
			v[2].u64 = i % 8;
			err |= dial9_enc_write_type(b->enc, &t[3], ts, v, 3);
			break;
		case 4:
			k[0].u64 = i % 8;
			k[1].u64 = 12345 + i % 4;
			k[2].u64 = 0;
			err |= dial9_enc_write_type(b->enc, &t[4], ts, k, 4);
			break;
		}
	}
	must(err);
}

static void put_three(struct dial9_enc *enc, uint64_t a, uint64_t b, uint64_t c)
{
	dial9_enc_put_u64(enc, a);
	dial9_enc_put_u64(enc, b);
	dial9_enc_put_u64(enc, c);
}

static void encode_puts(struct bench *b)
{
	struct dial9_event_type *t = b->types;
	uint64_t i, ts = 1000000000;
	int err = 0;

	for (i = 0; i < EVENTS; i++) {
		ts = next_ts(ts, i);
		dial9_enc_begin(b->enc, t[i % 5].schema, ts);
		switch (i % 5) {
		case 0:
			put_three(b->enc, i % 8, i % 32, 1000 + i % 5000);
			dial9_enc_put_u64(b->enc, i % 20);
			break;
		case 1:
			dial9_enc_put_u64(b->enc, i % 8);
			break;
		case 2:
			put_three(b->enc, i % 8, i % 16, 500000000 + i * 100);
			break;
		case 3:
			put_three(b->enc, 1000 + i % 5000, 1000 + (i + 1) % 5000, i % 8);
			break;
		case 4:
			put_three(b->enc, i % 8, 12345 + i % 4, 0);
			dial9_enc_put_stack(b->enc, b->frames, b->frame_cnt);
			break;
		}
		err |= dial9_enc_end(b->enc);
	}
	must(err);
}

static void copy_bytes(struct bench *b)
{
	memcpy(b->copy, b->data, b->sz);
	/* The copy is used, as far as the compiler knows. */
	__asm__ volatile("" ::"r"(b->copy) : "memory");
}

static int on_event(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	uint64_t *sum = ctx;

	(void)dec;
	*sum += ev->ts + ev->values[0].u64;
	return 0;
}

static struct dial9_dec *decoder(const struct bench *b)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .data = b->data, .data_sz = b->sz };
	struct dial9_dec *dec;

	must(dial9_dec_new(&o, &dec));
	return dec;
}

static void decode_visitor(struct bench *b)
{
	struct dial9_visitor v = { .sz = sizeof(v), .event = on_event, .ctx = &b->sum };
	struct dial9_dec *dec = decoder(b);

	must(dial9_dec_visit(dec, &v));
	dial9_dec_free(dec);
}

static void decode_views(struct bench *b)
{
	struct dial9_dec *dec = decoder(b);
	struct dial9_frame f;
	int more;

	while ((more = dial9_dec_next(dec, &f)) == 1)
		if (f.kind == DIAL9_FRAME_EVENT)
			b->sum += f.event.ts + f.event.values[0].u64;
	must(more);
	dial9_dec_free(dec);
}

static void decode_owned(struct bench *b)
{
	struct dial9_dec *dec = decoder(b);
	struct dial9_event *copy;
	struct dial9_frame f;
	int more;

	while ((more = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		must(dial9_event_copy(dec, &f.event, &copy));
		b->sum += copy->ts + copy->values[0].u64;
		dial9_event_free(copy);
	}
	must(more);
	dial9_dec_free(dec);
}

static const struct row {
	const char *name;
	void (*run)(struct bench *b);
	bool fresh; /* a new encoder each round, so that memory is touched for the first time */
	bool encodes;
} rows[] = {
	{ "memcpy of the bytes", copy_bytes, false, false },
	{ "encode, compile-time types", encode_declared, false, true },
	{ "encode, run-time, one call", encode_values, false, true },
	{ "encode, run-time, puts", encode_puts, false, true },
	{ "encode fresh, compile-time", encode_declared, true, true },
	{ "encode fresh, run-time", encode_values, true, true },
	{ "decode, visitor", decode_visitor, false, false },
	{ "decode, views", decode_views, false, false },
	{ "decode, owned copies", decode_owned, false, false },
};

static double best_ns(struct bench *b, const struct row *row, unsigned int rounds)
{
	uint64_t best = UINT64_MAX, t;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		if (row->encodes && (row->fresh || !b->enc)) {
			dial9_enc_free(b->enc);
			must(dial9_enc_new(NULL, &b->enc));
		}
		if (row->encodes)
			dial9_enc_clear(b->enc);
		t = now_ns();
		row->run(b);
		t = now_ns() - t;
		if (t < best)
			best = t;
	}
	return (double)best;
}

static void bench_mix(struct bench *b, size_t frame_cnt, unsigned int rounds)
{
	double ns, copy_ns = 0;
	const struct row *row;
	const void *data;
	size_t i;

	b->frame_cnt = frame_cnt;
	must(dial9_enc_new(NULL, &b->enc));
	encode_declared(b);
	data = dial9_enc_data(b->enc, &b->sz);
	b->data = memcpy(malloc(b->sz), data, b->sz);
	b->copy = memset(malloc(b->sz), 1, b->sz);
	printf("%zu addresses a sample: %.3f bytes an event\n", frame_cnt, (double)b->sz / EVENTS);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		row = &rows[i];
		ns = best_ns(b, row, rounds);
		if (!i)
			copy_ns = ns;
		printf("  %-28s %7.1f M events/s %7.2f ns/event %7.0f MB/s %5.2f of memcpy\n",
		       row->name, EVENTS * 1e3 / ns, ns / EVENTS, (double)b->sz * 1e3 / ns,
		       copy_ns / ns);
	}
	free((void *)b->data);
	free(b->copy);
	dial9_enc_free(b->enc);
	b->enc = NULL;
}

int main(int argc, char **argv)
{
	static int (*const make[])(struct dial9_schema **) = {
		poll_start_schema, poll_end_schema, park_schema, wake_schema, sample_schema,
	};
	unsigned int i, rounds = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 9;
	struct dial9_schema *schemas[5];
	struct bench b = { 0 };
	struct rusage ru;

	for (i = 0; i < 5; i++) {
		must(make[i](&schemas[i]));
		b.types[i].schema = schemas[i];
	}
	for (i = 0; i < 16; i++)
		b.frames[i] = 0x555555550000ull + i * 0x40;
	bench_mix(&b, 3, rounds);
	bench_mix(&b, 16, rounds);
	for (i = 0; i < 5; i++)
		dial9_schema_free(schemas[i]);
	getrusage(RUSAGE_SELF, &ru);
	printf("peak memory %ld MB (sum %llx)\n", ru.ru_maxrss / 1024, (unsigned long long)b.sum);
	return 0;
}
