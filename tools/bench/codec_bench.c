// SPDX-License-Identifier: BSD-2-Clause
/*
 * codec_bench.c - events a second through libdial9
 *
 * A million events of two mixes. The first is that which the format's reference is measured with: four kinds of
 * scheduler events of a runtime, all varints, and a CPU sample with 3 or 16 addresses. The second is what a service
 * writes: text of many lengths, fields that are mostly absent, strings and stacks that go through the pools as
 * they come, and stacks of 1 to 64 addresses, each another.
 *
 * Encoding with types declared at compile time, with values in one call, and with a put for each field; decoding by
 * visitor, as views, into owned copies and into batches of them; the same bytes by memcpy. Each figure is the least and
 * the median of several rounds, in CPU time of this thread, so that other load on the machine counts little.
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

#define REQUEST(X)                                                                                 \
	X(POOLED_STRING, route)                                                                    \
	X(STRING, client) X(OPT_STRING, error) X(OPT_U32, retries) X(U16, status) X(VARINT, bytes)
#define MESSAGE(X) X(U8, severity) X(STRING, text)
#define TASK(X) X(OPT_POOLED_STRING, name) X(OPT_I64, nice) X(VARINT, id) X(OPT_F64, load)
#define POOLED_SAMPLE(X) X(U32, tid) X(OPT_VARINT, cpu) X(POOLED_STACK, frames)
#define DEEP_SAMPLE(X) X(U32, tid) X(OPT_VARINT, cpu) X(STACK, frames)

DIAL9_EVENT(poll_start, "PollStart", POLL_START)
DIAL9_EVENT(poll_end, "PollEnd", POLL_END)
DIAL9_EVENT(park, "WorkerPark", PARK)
DIAL9_EVENT(wake, "WakeEvent", WAKE)
DIAL9_EVENT(sample, "CpuSample", SAMPLE)
DIAL9_EVENT(request, "Request", REQUEST)
DIAL9_EVENT(message, "Message", MESSAGE)
DIAL9_EVENT(task, "Task", TASK)
DIAL9_EVENT(pooled_sample, "PooledSample", POOLED_SAMPLE)
DIAL9_EVENT(deep_sample, "DeepSample", DEEP_SAMPLE)

#define TYPE_CNT 5 /* in each mix */
#define ROUTE_CNT 500
#define STACK_CNT 2000
#define DEPTH_MAX 64
#define ROUNDS_MAX 101
#define BATCH 1000 /* copies that are released together, or events of a short stream */

struct bench {
	struct dial9_event_type types[TYPE_CNT];
	uint64_t frames[STACK_CNT + DEPTH_MAX]; /* a stack is a piece of it */
	size_t frame_cnt;
	char routes[ROUTE_CNT][40];
	char text[256];
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

static void new_enc(struct bench *b)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };

	dial9_enc_free(b->enc);
	must(dial9_enc_new(&o, &b->enc));
}

static uint64_t next_ts(uint64_t ts, uint64_t i)
{
	return ts + 500 + i % 200;
}

static void declare_events(struct bench *b, uint64_t from, uint64_t to)
{
	struct dial9_event_type *t = b->types;
	uint64_t i, ts = 1000000000 + from * 600;
	int err = 0;

	for (i = from; i < to; i++) {
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

static void encode_declared(struct bench *b)
{
	declare_events(b, 0, EVENTS);
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

/* Many short streams, as of threads that each fill a buffer: most of the cost is their beginning. */
static void encode_short(struct bench *b)
{
	uint64_t i;

	for (i = 0; i < EVENTS; i += BATCH) {
		new_enc(b);
		declare_events(b, i, i + BATCH);
	}
}

/* ---- the mix of a service ------------------------------------------------------------------------- */

/* What the i-th event of the mix holds, whichever way it is written. */
static struct request request_of(const struct bench *b, uint64_t i)
{
	return (struct request){ .client = { b->text, 7 + i % 9 },
				 .error = { i % 16 == 0, { b->text, 20 + i % 50 } },
				 .retries = { i % 8 == 0, (uint32_t)(i % 5) },
				 .status = i % 16 ? 200 : 503,
				 .bytes = i * i % 100000 };
}

static struct dial9_str route_of(const struct bench *b, uint64_t i)
{
	const char *route = b->routes[i * 31 % ROUTE_CNT];

	return (struct dial9_str){ route, strlen(route) };
}

static struct dial9_str message_of(const struct bench *b, uint64_t i)
{
	return (struct dial9_str){ b->text, 10 + i * 7 % 200 };
}

static struct dial9_stack stack_of(const struct bench *b, uint64_t i)
{
	return (struct dial9_stack){ b->frames + i * 17 % STACK_CNT, 1 + i * 13 % DEPTH_MAX };
}

static int write_request(struct bench *b, uint64_t i, uint64_t ts)
{
	struct request r = request_of(b, i);
	struct dial9_str route = route_of(b, i);
	int err = dial9_enc_intern(b->enc, route.ptr, route.len, &r.route);

	r.timestamp_ns = ts;
	return err | request_write(b->enc, &b->types[0], &r);
}

static int write_task(struct bench *b, uint64_t i, uint64_t ts)
{
	struct dial9_str name = route_of(b, i);
	struct task t = { ts, { i % 4 == 0, 0 }, { i % 32 == 0, -5 }, i, { false, 0 } };
	int err = t.name.present ? dial9_enc_intern(b->enc, name.ptr, name.len, &t.name.value) : 0;

	return err | task_write(b->enc, &b->types[2], &t);
}

static int write_pooled_sample(struct bench *b, uint64_t i, uint64_t ts)
{
	struct pooled_sample s = { ts, (uint32_t)(12345 + i % 4), { i % 2, i % 64 }, 0 };
	struct dial9_stack stack = stack_of(b, i % STACK_CNT);
	int err = dial9_enc_intern_stack(b->enc, stack.frames, stack.cnt, &s.frames);

	return err | pooled_sample_write(b->enc, &b->types[3], &s);
}

static void encode_service(struct bench *b)
{
	uint64_t i, ts = 1000000000;
	int err = 0;

	for (i = 0; i < EVENTS; i++) {
		ts = next_ts(ts, i);
		switch (i % TYPE_CNT) {
		case 0:
			err |= write_request(b, i, ts);
			break;
		case 1:
			err |= message_write(b->enc, &b->types[1],
					     &(struct message){ ts, i % 8, message_of(b, i) });
			break;
		case 2:
			err |= write_task(b, i, ts);
			break;
		case 3:
			err |= write_pooled_sample(b, i, ts);
			break;
		case 4:
			err |= deep_sample_write(b->enc, &b->types[4],
						 &(struct deep_sample){ ts,
									(uint32_t)(12345 + i % 4),
									{ i % 2, i % 64 },
									stack_of(b, i) });
			break;
		}
	}
	must(err);
}

static void put_optional(struct dial9_enc *enc, bool present, uint64_t v)
{
	if (present)
		dial9_enc_put_u64(enc, v);
	else
		dial9_enc_put_none(enc);
}

static void put_request(struct bench *b, uint64_t i)
{
	struct dial9_str route = route_of(b, i);
	struct request r = request_of(b, i);

	dial9_enc_put_str(b->enc, route.ptr, route.len);
	dial9_enc_put_str(b->enc, r.client.ptr, r.client.len);
	if (r.error.present)
		dial9_enc_put_str(b->enc, r.error.value.ptr, r.error.value.len);
	else
		dial9_enc_put_none(b->enc);
	put_optional(b->enc, r.retries.present, r.retries.value);
	dial9_enc_put_u64(b->enc, r.status);
	dial9_enc_put_u64(b->enc, r.bytes);
}

static void put_task(struct bench *b, uint64_t i)
{
	struct dial9_str name = route_of(b, i);

	if (i % 4 == 0)
		dial9_enc_put_str(b->enc, name.ptr, name.len);
	else
		dial9_enc_put_none(b->enc);
	if (i % 32 == 0)
		dial9_enc_put_i64(b->enc, -5);
	else
		dial9_enc_put_none(b->enc);
	dial9_enc_put_u64(b->enc, i);
	dial9_enc_put_none(b->enc);
}

static void put_service(struct bench *b)
{
	uint64_t i, ts = 1000000000;
	struct dial9_stack stack;
	struct dial9_str text;
	int err = 0;

	for (i = 0; i < EVENTS; i++) {
		ts = next_ts(ts, i);
		dial9_enc_begin(b->enc, b->types[i % TYPE_CNT].schema, ts);
		switch (i % TYPE_CNT) {
		case 0:
			put_request(b, i);
			break;
		case 1:
			text = message_of(b, i);
			dial9_enc_put_u64(b->enc, i % 8);
			dial9_enc_put_str(b->enc, text.ptr, text.len);
			break;
		case 2:
			put_task(b, i);
			break;
		case 3:
		case 4:
			stack = stack_of(b, i % TYPE_CNT == 3 ? i % STACK_CNT : i);
			dial9_enc_put_u64(b->enc, 12345 + i % 4);
			put_optional(b->enc, i % 2, i % 64);
			dial9_enc_put_stack(b->enc, stack.frames, stack.cnt);
			break;
		}
		err |= dial9_enc_end(b->enc);
	}
	must(err);
}

/* ---- reading -------------------------------------------------------------------------------------- */

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

struct batch {
	struct dial9_copies *copies;
	unsigned int cnt;
	uint64_t sum;
};

static int on_copied_event(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	const struct dial9_event *copy;
	struct batch *batch = ctx;

	must(dial9_copies_add(batch->copies, dec, ev, &copy));
	batch->sum += copy->ts + copy->values[0].u64;
	if (++batch->cnt % BATCH == 0)
		dial9_copies_clear(batch->copies);
	return 0;
}

static void decode_batches(struct bench *b)
{
	struct batch batch = { 0 };
	struct dial9_visitor v = { .sz = sizeof(v), .event = on_copied_event, .ctx = &batch };
	struct dial9_dec *dec = decoder(b);

	must(dial9_copies_new(&batch.copies));
	must(dial9_dec_visit(dec, &v));
	dial9_copies_free(batch.copies);
	dial9_dec_free(dec);
	b->sum += batch.sum;
}

static const struct row {
	const char *name;
	void (*run)(struct bench *b);
	bool fresh; /* a new encoder each round, so that memory is touched for the first time */
	bool encodes;
} runtime_rows[] = {
	{ "memcpy of the bytes", copy_bytes, false, false },
	{ "encode, compile-time types", encode_declared, false, true },
	{ "encode, run-time, one call", encode_values, false, true },
	{ "encode, run-time, puts", encode_puts, false, true },
	{ "encode fresh, compile-time", encode_declared, true, true },
	{ "encode fresh, run-time", encode_values, true, true },
	{ "encode, 1000 short streams", encode_short, false, true },
	{ "decode, visitor", decode_visitor, false, false },
	{ "decode, views", decode_views, false, false },
	{ "decode, owned copies", decode_owned, false, false },
	{ "decode, batches of copies", decode_batches, false, false },
	{ 0 },
}, service_rows[] = {
	{ "memcpy of the bytes", copy_bytes, false, false },
	{ "encode, compile-time types", encode_service, false, true },
	{ "encode, run-time, puts", put_service, false, true },
	{ "encode fresh, compile-time", encode_service, true, true },
	{ "encode fresh, puts", put_service, true, true },
	{ "decode, visitor", decode_visitor, false, false },
	{ "decode, views", decode_views, false, false },
	{ "decode, owned copies", decode_owned, false, false },
	{ "decode, batches of copies", decode_batches, false, false },
	{ 0 },
};

static int compare_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The times of all rounds, sorted. */
static void run_rounds(struct bench *b, const struct row *row, unsigned int rounds, uint64_t *ns)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		if (row->encodes && row->fresh)
			new_enc(b);
		if (row->encodes)
			dial9_enc_clear(b->enc);
		ns[i] = now_ns();
		row->run(b);
		ns[i] = now_ns() - ns[i];
	}
	qsort(ns, rounds, sizeof(*ns), compare_ns);
}

/* The first row is memcpy, the second writes the stream that is decoded. */
static void bench_mix(struct bench *b, const struct row *rows, unsigned int rounds)
{
	uint64_t ns[ROUNDS_MAX];
	const struct row *row;
	double copy_ns = 0;
	const void *data;

	new_enc(b);
	rows[1].run(b);
	data = dial9_enc_data(b->enc, &b->sz);
	b->data = memcpy(malloc(b->sz), data, b->sz);
	b->copy = memset(malloc(b->sz), 1, b->sz);
	printf("  %-28s %9s %9s %9s %8s %9s\n", "", "least", "median", "M/s", "MB/s", "memcpy");
	for (row = rows; row->name; row++) {
		run_rounds(b, row, rounds, ns);
		if (row == rows)
			copy_ns = (double)ns[0];
		printf("  %-28s %6.2f ns %6.2f ns %9.1f %8.0f %9.2f\n", row->name,
		       (double)ns[0] / EVENTS, (double)ns[rounds / 2] / EVENTS,
		       EVENTS * 1e3 / (double)ns[0], (double)b->sz * 1e3 / (double)ns[0],
		       copy_ns / (double)ns[0]);
	}
	free((void *)b->data);
	free(b->copy);
}

typedef int (*make_fn)(struct dial9_schema **);

static void set_types(struct bench *b, const make_fn make[TYPE_CNT])
{
	struct dial9_schema *s = NULL;
	size_t i;

	for (i = 0; i < TYPE_CNT; i++) {
		dial9_schema_free((struct dial9_schema *)b->types[i].schema);
		if (make)
			must(make[i](&s));
		b->types[i] = (struct dial9_event_type){ .schema = make ? s : NULL };
	}
}

static void fill(struct bench *b)
{
	size_t i;

	for (i = 0; i < STACK_CNT + DEPTH_MAX; i++)
		b->frames[i] = 0x555555550000ull + i * 0x40;
	for (i = 0; i < ROUTE_CNT; i++)
		snprintf(b->routes[i], sizeof(b->routes[i]), "/api/v%zu/resource/%zu", i % 3, i);
	for (i = 0; i < sizeof(b->text); i++)
		b->text[i] = "a few words of plain text "[i % 26];
}

int main(int argc, char **argv)
{
	static const make_fn runtime[] = { poll_start_schema, poll_end_schema, park_schema,
					   wake_schema, sample_schema };
	static const make_fn service[] = { request_schema, message_schema, task_schema,
					   pooled_sample_schema, deep_sample_schema };
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 9;
	static struct bench b;
	struct rusage ru;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	fill(&b);
	set_types(&b, runtime);
	for (b.frame_cnt = 3; b.frame_cnt <= 16; b.frame_cnt += 13) {
		printf("a runtime, %zu addresses a sample:\n", b.frame_cnt);
		bench_mix(&b, runtime_rows, (unsigned int)rounds);
	}
	set_types(&b, service);
	printf("a service:\n");
	bench_mix(&b, service_rows, (unsigned int)rounds);
	set_types(&b, NULL);
	dial9_enc_free(b.enc);
	getrusage(RUSAGE_SELF, &ru);
	printf("peak memory %ld MB (sum %llx)\n", ru.ru_maxrss / 1024, (unsigned long long)b.sum);
	return 0;
}
