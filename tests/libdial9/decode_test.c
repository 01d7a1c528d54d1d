// SPDX-License-Identifier: BSD-2-Clause
/* The decoder's outcomes, limits and clarifications, on streams written out by hand. */
#include "tests/libdial9/support.h"

/* Type 0: "T" with a timestamp and one field "n". */
#define T_SCHEMA(type) 1, 0, 0, 1, 0, 'T', 1, 1, 0, 1, 0, 'n', type
#define T_EVENT(delta, ...) 2, 0, 0, delta, 0, 0, __VA_ARGS__

struct outcome {
	int err;
	struct dial9_error e;
	unsigned int frames, events;
	uint64_t last_ts;
};

static struct outcome run(const uint8_t *p, size_t n, size_t step, struct dial9_limits limits)
{
	struct feed feed = { p, n, 0, step, 0 };
	struct dial9_dec_opts o = { .sz = sizeof(o), .limits = limits };
	struct outcome out = { 0 };
	struct dial9_frame f;
	struct dial9_dec *dec;

	if (step) {
		o.read = feed_read;
		o.ctx = &feed;
	} else {
		o.data = p;
		o.data_sz = n;
	}
	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	while ((out.err = dial9_dec_next(dec, &f)) == 1) {
		out.frames++;
		if (f.kind == DIAL9_FRAME_EVENT) {
			out.events++;
			out.last_ts = f.event.ts;
		}
	}
	dial9_dec_error(dec, &out.e);
	cr_assert_eq(dial9_dec_next(dec, &f), out.err, "the outcome stays");
	dial9_dec_free(dec);
	return out;
}

/* From memory and in chunks: the same. */
static struct outcome outcome(const uint8_t *p, size_t n)
{
	struct dial9_limits none = { 0 };
	struct outcome a = run(p, n, 0, none), b = run(p, n, 1, none);

	cr_assert_eq(a.err, b.err);
	cr_assert_eq(a.frames, b.frames);
	cr_assert_eq(a.e.offset, b.e.offset);
	cr_assert_str_eq(a.e.reason, b.e.reason);
	return a;
}

#define OUTCOME(...)                                                                               \
	({                                                                                         \
		static const uint8_t bytes_[] = { __VA_ARGS__ };                                   \
		outcome(bytes_, sizeof(bytes_));                                                   \
	})

/* Clarification a: a header in mid-stream clears schemas, pools and time base. */
Test(decode, header_in_mid_stream_starts_a_new_trace)
{
	static const uint8_t p[] = { HEADER,
				     T_SCHEMA(7),
				     3,
				     1,
				     0,
				     0,
				     0,
				     9,
				     0,
				     0,
				     0,
				     1,
				     0,
				     0,
				     0,
				     'x',
				     T_EVENT(50, 9, 0, 0, 0),
				     HEADER,
				     T_SCHEMA(9), /* the same id, another layout */
				     T_EVENT(3, 1) };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_frame f;
	struct dial9_str s;
	unsigned int i;

	for (i = 0; i < 4; i++)
		cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(f.event.ts, 50);
	cr_assert_eq(dial9_value_str(dec, &f.event.values[0], &s), 0);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(f.kind, DIAL9_FRAME_MIDHEADER);
	cr_assert_eq(dial9_dec_string(dec, 9, &s), -ENOENT);
	cr_assert_null(dial9_dec_schema(dec, 0));
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(f.schema.schema, dial9_dec_schema(dec, 0));
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(f.event.ts, 3);
	cr_assert_eq(dial9_dec_next(dec, &f), 0);
	dial9_dec_free(dec);
}

/* Clarification b: the version is checked, in every header. */
Test(decode, other_versions_are_refused)
{
	struct outcome o = OUTCOME('T', 'R', 'C', 0, 9);

	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 4);
	o = OUTCOME(HEADER, 'T', 'R', 'C', 0, 0);
	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 9);
	cr_assert_eq(o.frames, 1);
}

/* Clarification c: five outcomes for five kinds of end. */
Test(decode, end_truncation_and_corruption_are_distinguished)
{
	struct outcome o = OUTCOME(HEADER, T_SCHEMA(9), T_EVENT(1, 5));

	cr_assert_eq(o.err, 0);
	cr_assert_eq(o.events, 1);
	cr_assert_str_eq(o.e.reason, "");
	o = OUTCOME(HEADER, T_SCHEMA(9), T_EVENT(1, 5), 2, 0, 0, 1);
	cr_assert_eq(o.err, -ENODATA);
	cr_assert_eq(o.events, 1);
	cr_assert_eq(o.e.offset, 5 + 13 + 7);
	o = OUTCOME(HEADER, T_SCHEMA(9), T_EVENT(1, 5), 0x77, 1, 2, 3);
	cr_assert_eq(o.err, -EPROTONOSUPPORT);
	cr_assert_eq(o.events, 1);
	cr_assert_eq(o.e.offset, 5 + 13 + 7);
	cr_assert_str_eq(o.e.reason, "frame tag 0x77: a newer writer (format later than 0.4)");
	o = OUTCOME(HEADER, T_SCHEMA(9), T_EVENT(1, 5), 0, 1, 2, 3);
	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.events, 1);
	cr_assert_eq(o.e.offset, 5 + 13 + 7);
	cr_assert_str_eq(o.e.reason, "unknown frame tag");
}

Test(decode, other_files_are_refused_at_their_first_wrong_byte)
{
	struct outcome o = OUTCOME('T', 'X');

	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 1);
	cr_assert_str_eq(o.e.reason, "not a dial9 stream");
	o = OUTCOME('T', 'R');
	cr_assert_eq(o.err, -ENODATA);
	cr_assert_eq(o.e.offset, 0);
}

Test(decode, flags_other_than_0_and_1_are_corrupt)
{
	struct outcome o = OUTCOME(HEADER, 1, 0, 0, 1, 0, 'T', 2, 0, 0);

	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 11);
	o = OUTCOME(HEADER, T_SCHEMA(0x8b), T_EVENT(0, 2, 1));
	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 5 + 13 + 6);
	o = OUTCOME(HEADER, T_SCHEMA(0x8b), T_EVENT(0, 1, 1), T_EVENT(0, 0));
	cr_assert_eq(o.err, 0);
	cr_assert_eq(o.events, 2);
}

Test(decode, any_bool_except_0_is_true)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(3), T_EVENT(0, 2), T_EVENT(0, 0) };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_frame f;

	cr_assert_eq(dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f),
		     3);
	cr_assert(f.event.values[0].b);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_not(f.event.values[0].b);
	dial9_dec_free(dec);
}

Test(decode, timestamp_beyond_64_bits_is_corrupt)
{
	struct outcome o;

	o = OUTCOME(HEADER, T_SCHEMA(11), 5, 255, 255, 255, 255, 255, 255, 255, 255, T_EVENT(0, 1));
	cr_assert_eq(o.err, 0);
	cr_assert_eq(o.last_ts, UINT64_MAX);
	o = OUTCOME(HEADER, T_SCHEMA(11), 5, 255, 255, 255, 255, 255, 255, 255, 255, T_EVENT(1, 1));
	cr_assert_eq(o.err, -EBADMSG);
}

Test(decode, timestamp_beyond_64_bits_is_corrupt_far_from_the_end_too)
{
	uint8_t p[256] = { HEADER, T_SCHEMA(11), 5,   255, 255, 255,
			   255,	   255,		 255, 255, 255, T_EVENT(1, 1) };
	struct outcome o = run(p, sizeof(p), 0, (struct dial9_limits){ 0 });

	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.events, 0);
	cr_assert_eq(o.e.offset, 5 + 13 + 9 + 3);
	cr_assert_str_eq(o.e.reason, "timestamp beyond 64 bits");
}

Test(decode, type_id_may_be_repeated_with_the_same_layout_only)
{
	struct outcome o = OUTCOME(HEADER, T_SCHEMA(9), 6, 0, 0, 0, T_SCHEMA(9), T_EVENT(0, 1));

	cr_assert_eq(o.err, 0, "also after annotations");
	cr_assert_eq(o.events, 1);
	o = OUTCOME(HEADER, T_SCHEMA(9), T_SCHEMA(11), T_EVENT(0, 1));
	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 5 + 13 + 1);
}

Test(decode, event_of_an_unknown_type_is_corrupt)
{
	struct outcome o = OUTCOME(HEADER, T_SCHEMA(9), 2, 1, 0, 0, 0, 0, 0);

	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.e.offset, 5 + 13 + 1);
}

Test(decode, undefined_pool_id_is_an_id_without_text)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(7), T_EVENT(0, 1, 2, 3, 4) };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_frame f;
	struct dial9_str s;

	cr_assert_eq(dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f),
		     3);
	cr_assert_eq(f.event.values[0].id, 0x04030201);
	cr_assert_eq(dial9_value_str(dec, &f.event.values[0], &s), -ENOENT);
	dial9_dec_free(dec);
}

Test(decode, invalid_utf8_is_returned_and_flagged)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(4), T_EVENT(0, 2, 0, 0, 0, 'a', 0xff),
				     T_EVENT(0, 1, 0, 0, 0, 'a') };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_frame f;

	cr_assert_eq(dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f),
		     3);
	cr_assert(f.event.values[0].bad_utf8);
	cr_assert_arr_eq(f.event.values[0].str.ptr, "a\xff", 2);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_not(f.event.values[0].bad_utf8);
	dial9_dec_free(dec);
}

/* Clarification g: lists nest 64 deep, and the 65th is corrupt, not a stack overflow. */
static struct outcome nested(unsigned int depth)
{
	static const uint8_t head[] = { HEADER, T_SCHEMA(14), T_EVENT(0, 1, 0, 0, 0) };
	size_t n = sizeof(head) + (size_t)depth * 5;
	uint8_t *p = calloc(1, n);
	struct outcome o;
	unsigned int i;

	memcpy(p, head, sizeof(head));
	/* each list but the last holds one list */
	for (i = 0; i < depth; i++) {
		p[sizeof(head) + i * 5] = 14;
		p[sizeof(head) + i * 5 + 1] = i + 1 < depth;
	}
	o = outcome(p, n);
	free(p);
	return o;
}

Test(decode, lists_nest_64_deep_and_no_deeper)
{
	struct outcome o = nested(63);

	cr_assert_eq(o.err, 0);
	cr_assert_eq(o.events, 1);
	o = nested(64);
	cr_assert_eq(o.err, -EBADMSG);
	cr_assert_eq(o.events, 0);
	o = nested(100000);
	cr_assert_eq(o.err, -EBADMSG);
}

Test(decode, limits_are_inclusive)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(4),
				     T_EVENT(0, 5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o') };
	static const uint8_t pool[] = { HEADER, 3, 2,	0, 0, 0, 0, 0, 0, 0, 1, 0,
					0,	0, 'a', 1, 0, 0, 0, 1, 0, 0, 0, 'b' };
	struct dial9_limits l = { .frame_bytes = 15 };

	cr_assert_eq(run(p, sizeof(p), 1, l).err, 0);
	l.frame_bytes = 14;
	cr_assert_eq(run(p, sizeof(p), 1, l).err, -E2BIG);
	cr_assert_eq(run(p, sizeof(p), 1, l).e.offset, 5 + 13);
	l = (struct dial9_limits){ .schema_bytes = 64 };
	cr_assert_eq(run(p, sizeof(p), 0, l).err, -E2BIG);
	l = (struct dial9_limits){ .pool_bytes = 256 };
	cr_assert_eq(run(pool, sizeof(pool), 1, l).err, -E2BIG);
	l.pool_bytes = 8192;
	cr_assert_eq(run(pool, sizeof(pool), 1, l).err, 0);
	l = (struct dial9_limits){ .depth = 1 };
	cr_assert_eq(run(p, sizeof(p), 0, l).err, 0);
}

/* `cnt` schemas of different ids after each of two headers, and how many of these frames are decoded. */
static unsigned int taken(unsigned int cnt, uint64_t limit, int *err)
{
	static uint8_t p[32768];
	const uint8_t header[] = { HEADER };
	struct outcome o;
	unsigned int i;
	size_t n = 0;
	int half;

	for (half = 0; half < 2; half++) {
		memcpy(p + n, header, sizeof(header));
		n += sizeof(header);
		for (i = 0; i < cnt; i++) {
			const uint8_t frame[] = {
				1, (uint8_t)i, (uint8_t)(i >> 8), 1, 0, 'T', 1, 1, 0, 1, 0, 'n', 9
			};

			memcpy(p + n, frame, sizeof(frame));
			n += sizeof(frame);
		}
	}
	o = run(p, n, 0, (struct dial9_limits){ .schema_bytes = limit });
	*err = o.err;
	return o.frames;
}

Test(decode, schemas_share_a_limit_until_the_next_header)
{
	unsigned int full, half;
	int err;

	full = taken(1000, 100000, &err);
	cr_assert_eq(err, -E2BIG);
	half = taken(1000, 50000, &err);
	cr_assert_eq(err, -E2BIG);
	/* all schemas here have the same size; frames are those and the header */
	cr_expect_gt(full, 2);
	cr_expect_lt(full, 1000);
	cr_expect(full - 1 == 2 * (half - 1) || full - 1 == 2 * (half - 1) + 1);
	cr_expect_eq(taken(full - 1, 100000, &err), 2 * full);
	cr_expect_eq(err, 0);
}

/* The start of a frame of one string without its bytes; `sz` bytes in all. */
static struct outcome awaited(uint32_t sz)
{
	uint8_t p[] = { HEADER, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	uint32_t len = sz - 13, i;

	for (i = 0; i < 4; i++)
		p[14 + i] = (uint8_t)(len >> 8 * i);
	return run(p, sizeof(p), 0, (struct dial9_limits){ 0 });
}

Test(decode, default_frame_limit_is_256_mib)
{
	cr_assert_eq(awaited(256u << 20).err, -ENODATA);
	cr_assert_eq(awaited((256u << 20) + 1).err, -E2BIG);
}

/* A length above the limit fails at once, instead of waiting for 4 GiB. */
Test(decode, lengths_above_the_frame_limit_fail_at_once)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(4), T_EVENT(0, 255, 255, 255, 255, 'h') };
	struct outcome o = outcome(p, sizeof(p));

	cr_assert_eq(o.err, -E2BIG);
	cr_assert_str_eq(o.e.reason, "frame over the limit");
}

Test(decode, error_of_the_reader_is_returned_and_decoding_can_continue)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(9), T_EVENT(1, 5) };
	struct feed feed = { p, 20, 0, 64, -EIO };
	struct dial9_dec *dec = dec_feed(&feed);
	struct dial9_frame f;
	struct dial9_error e;

	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(dial9_dec_next(dec, &f), -EIO);
	/* An error code that the decoder also uses itself is reported at the offset that could not be read. */
	feed.err = -EBADMSG;
	cr_assert_eq(dial9_dec_next(dec, &f), -EBADMSG);
	dial9_dec_error(dec, &e);
	cr_assert_eq(e.offset, 20);
	cr_assert_str_eq(e.reason, "the input cannot be read");
	feed.n = sizeof(p);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(f.event.values[0].u64, 5);
	cr_assert_eq(f.offset, 5 + 13);
	cr_assert_eq(dial9_dec_next(dec, &f), 0);
	cr_assert_eq(dial9_dec_consumed(dec), sizeof(p));
	dial9_dec_free(dec);
}

Test(decode, frames_larger_than_the_window_are_read_whole)
{
	const size_t len = 3 << 20;
	static const uint8_t head[] = { HEADER, T_SCHEMA(4), 2, 0, 0, 0, 0, 0 };
	uint8_t *p = malloc(sizeof(head) + 4 + len);
	struct feed feed = { p, sizeof(head) + 4 + len, 0, 4096, 0 };
	struct dial9_dec *dec = dec_feed(&feed);
	struct dial9_frame f;

	memcpy(p, head, sizeof(head));
	p[sizeof(head)] = 0;
	p[sizeof(head) + 1] = 0;
	p[sizeof(head) + 2] = len >> 16;
	p[sizeof(head) + 3] = 0;
	memset(p + sizeof(head) + 4, 'm', len);
	cr_assert_eq(dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f),
		     3);
	cr_assert_eq(f.event.values[0].str.len, len);
	cr_assert_eq(f.event.values[0].str.ptr[len - 1], 'm');
	cr_assert_eq(dial9_dec_next(dec, &f), 0);
	dial9_dec_free(dec);
	free(p);
}

Test(decode, schema_can_be_kept_after_the_trace)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(9), HEADER };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_schema *kept;
	struct dial9_frame f;

	cr_assert_eq(dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f), 2);
	kept = dial9_schema_ref(f.schema.schema);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	dial9_dec_free(dec);
	cr_assert_str_eq(dial9_schema_field_name(kept, 0), "n");
	dial9_schema_free(kept);
}

Test(decode, options_are_checked)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .read = feed_read, .data = "x", .data_sz = 1 };
	struct dial9_dec *dec = NULL;

	cr_assert_eq(dial9_dec_new(&o, &dec), -EINVAL);
	cr_assert_eq(dial9_dec_new(NULL, &dec), -EINVAL);
	o.sz = 4;
	cr_assert_eq(dial9_dec_new(&o, &dec), -EINVAL);
	cr_assert_null(dec);
	dial9_dec_free(NULL);
}

struct visits {
	unsigned int events, frames, stop_at;
	uint64_t sum;
};

static int on_event(void *ctx, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	struct visits *v = ctx;

	v->sum += ev->ts + ev->values[0].u64 + dial9_dec_consumed(dec);
	return ++v->events == v->stop_at ? 77 : 0;
}

static int on_frame(void *ctx, const struct dial9_dec *dec, const struct dial9_frame *f)
{
	(void)dec;
	cr_assert_neq(f->kind, DIAL9_FRAME_EVENT);
	((struct visits *)ctx)->frames++;
	return 0;
}

Test(decode, visitor_gets_the_same_frames_as_next_and_may_stop)
{
	static const uint8_t p[] = { HEADER,
				     T_SCHEMA(9),
				     T_EVENT(1, 5),
				     T_EVENT(2, 0x85, 1),
				     5,
				     9,
				     0,
				     0,
				     0,
				     0,
				     0,
				     0,
				     0,
				     T_EVENT(0, 7),
				     2 };
	struct visits v = { 0 };
	struct dial9_visitor visitor = { sizeof(visitor), on_event, on_frame, &v };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	uint64_t want = (1 + 5 + 25) + (3 + 133 + 33) + (9 + 7 + 49);

	cr_assert_eq(dial9_dec_visit(dec, &visitor), -ENODATA);
	cr_assert_eq(v.events, 3);
	cr_assert_eq(v.frames, 3);
	cr_assert_eq(v.sum, want);
	dial9_dec_free(dec);
	v = (struct visits){ .stop_at = 2 };
	visitor.frame = NULL;
	dec = dec_memory(p, sizeof(p));
	cr_assert_eq(dial9_dec_visit(dec, &visitor), 77);
	cr_assert_eq(dial9_dec_consumed(dec), 33);
	cr_assert_eq(dial9_dec_visit(dec, &visitor), -ENODATA);
	cr_assert_eq(v.events, 3);
	dial9_dec_free(dec);
}

Test(decode, unwanted_events_are_skipped_up_to_the_next_header)
{
	static const uint8_t p[] = { HEADER, T_SCHEMA(9), T_EVENT(1, 5), T_EVENT(2, 6),
				     HEADER, T_SCHEMA(9), T_EVENT(1, 7) };
	struct dial9_visitor visitor = { sizeof(visitor), on_event, on_frame, NULL };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_skipped s;
	struct dial9_frame f;
	struct visits v = { 0 };

	cr_assert_eq(dial9_dec_skip(dec, 0), -ENOENT);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(dial9_dec_next(dec, &f), 1);
	cr_assert_eq(f.kind, DIAL9_FRAME_SCHEMA);
	cr_assert_eq(dial9_dec_skip(dec, f.schema.type_id), 0);
	cr_assert_eq(dial9_dec_skipped(dec, &s), 0);
	visitor.ctx = &v;
	cr_assert_eq(dial9_dec_visit(dec, &visitor), 0);
	cr_assert_eq(v.events, 1);
	cr_assert_eq(v.frames, 2);
	cr_assert_eq(dial9_dec_skipped(dec, &s), 1);
	cr_assert_eq(s.cnt, 2);
	cr_assert_eq(s.first_ts, 1);
	cr_assert_eq(s.last_ts, 3);
	dial9_dec_free(dec);
}

/* Far from the end of the window events use another code path than near it: the results must be equal. */
Test(decode, events_far_from_the_end_are_decoded_like_events_near_it)
{
	static const char *const stems[] = { "core/all_types.bin", "core/optional.bin",
					     "core/no_timestamp.bin", "ext/dynamic.bin",
					     "core/small.bin" };
	static uint8_t tail[4096];
	struct dump_tally a, b;
	struct dial9_dec *dec;
	struct bytes bin;
	char *near, *far;
	size_t i, n;
	int err;

	/* Resets to 0 in such number that no event is near the end. */
	for (n = 0; n + 9 <= sizeof(tail); n += 9)
		tail[n] = 5;
	for (i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
		bin = load("", stems[i]);
		dec = dec_memory(bin.p, bin.n);
		near = dump_lines(dec, &a, &err);
		cr_assert_eq(err, 0);
		dial9_dec_free(dec);
		bin.p = realloc(bin.p, bin.n + n);
		memcpy(bin.p + bin.n, tail, n);
		dec = dec_memory(bin.p, bin.n + n);
		far = dump_lines(dec, &b, &err);
		cr_assert_eq(err, 0);
		dial9_dec_free(dec);
		cr_assert_eq(a.events, b.events);
		*strstr(near, "{\"f\":\"end\"") = '\0';
		cr_assert_eq(strncmp(near, far, strlen(near)), 0, "%s", stems[i]);
		free(near);
		free(far);
		free(bin.p);
	}
}

/* Every length of varint, and malformed ones, far from the end. */
Test(decode, varints_of_every_length_are_read_far_from_the_end)
{
	uint8_t p[256] = { HEADER, T_SCHEMA(9), T_EVENT(0, 0) };
	const size_t at = 5 + 13 + 6;
	struct dial9_dec *dec;
	struct dial9_frame f;
	unsigned int len, i;
	uint64_t want;

	for (len = 1; len <= 10; len++) {
		want = 0;
		for (i = 0; i < len; i++) {
			p[at + i] = (uint8_t)(i + 1 < len ? 0x80 | (0x2a + i) :
					      len == 10	  ? 1 :
							    0x33);
			want |= (uint64_t)(p[at + i] & 0x7f) << (7 * i);
		}
		memset(p + at + len, 0x77, sizeof(p) - at - len);
		dec = dec_memory(p, sizeof(p));
		for (i = 0; i < 3; i++)
			cr_assert_eq(dial9_dec_next(dec, &f), 1);
		cr_assert_eq(f.event.values[0].u64, want, "%u bytes", len);
		cr_assert_eq(dial9_dec_consumed(dec), at + len);
		dial9_dec_free(dec);
	}
	p[at + 9] = 2;
	dec = dec_memory(p, sizeof(p));
	cr_assert_eq(dial9_dec_next(dec, &f) + dial9_dec_next(dec, &f), 2);
	cr_assert_eq(dial9_dec_next(dec, &f), -EBADMSG);
	dial9_dec_free(dec);
}
