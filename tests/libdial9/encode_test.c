// SPDX-License-Identifier: BSD-2-Clause
/* What the encoder writes, byte by byte; that it writes all of an event or nothing; its limits. */
#include "tests/libdial9/support.h"

static const struct dial9_field tick_fields[] = { { "n", DIAL9_VARINT } };
static const struct dial9_field pooled_fields[] = {
	{ "a", DIAL9_POOLED_STRING },
	{ "u", DIAL9_U32 },
	{ "b", DIAL9_POOLED_STRING },
};

#define TICK_SCHEMA(id) 1, id, 0, 1, 0, 'T', 1, 1, 0, 1, 0, 'n', 9

static struct dial9_enc *encoder(struct dial9_enc_opts o)
{
	struct dial9_enc *enc;

	o.sz = sizeof(o);
	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	return enc;
}

static struct dial9_schema *tick(void)
{
	return schema("T", true, tick_fields, 1);
}

/* Errors of any step are returned at the end. */
static int put_tick(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts, uint64_t n)
{
	dial9_enc_begin(enc, s, ts);
	dial9_enc_put_u64(enc, n);
	return dial9_enc_end(enc);
}

Test(encode, new_stream_has_a_header_of_five_bytes)
{
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	assert_stream(enc, HEADER);
	cr_assert_eq(dial9_enc_bytes(enc), 5);
	dial9_enc_free(enc);
	dial9_enc_free(NULL);
}

Test(encode, schema_is_written_before_its_first_event_only)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ .first_type_id = 3 });
	struct dial9_schema *s = tick();

	cr_assert_eq(put_tick(enc, s, 7, 300), 0);
	cr_assert_eq(put_tick(enc, s, 8, 1), 0);
	cr_assert_eq(dial9_enc_last_ts(enc), 8);
	assert_stream(enc, HEADER, TICK_SCHEMA(3), 2, 3, 0, 7, 0, 0, 0xac, 2, 2, 3, 0, 1, 0, 0, 1);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, delta_of_24_bits_needs_no_reset_and_a_longer_delta_does)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = tick();

	cr_assert_eq(put_tick(enc, s, 0xffffff, 0), 0);
	cr_assert_eq(put_tick(enc, s, 0x1ffffff, 0), 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 255, 255, 255, 0, 5, 255, 255, 255, 1,
		      0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, earlier_timestamp_is_a_reset)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = tick();

	cr_assert_eq(put_tick(enc, s, 9, 0), 0);
	cr_assert_eq(put_tick(enc, s, 8, 0), 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 9, 0, 0, 0, 5, 8, 0, 0, 0, 0, 0, 0, 0,
		      2, 0, 0, 0, 0, 0, 0);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, event_without_timestamp_leaves_the_time_base_alone)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = schema("T", false, tick_fields, 1);

	cr_assert_eq(put_tick(enc, s, 1ull << 60, 5), 0);
	cr_assert_eq(dial9_enc_last_ts(enc), 0);
	assert_stream(enc, HEADER, 1, 0, 0, 1, 0, 'T', 0, 1, 0, 1, 0, 'n', 9, 2, 0, 0, 5);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, equal_layouts_share_an_id_and_different_layouts_do_not)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	const struct dial9_field wide[] = { { "n", DIAL9_I64 } };
	struct dial9_schema *a = tick(), *b = tick(), *c = schema("T", true, wide, 1);

	cr_assert_eq(put_tick(enc, a, 0, 0), 0);
	cr_assert_eq(put_tick(enc, b, 0, 1), 0);
	cr_assert_eq(put_tick(enc, c, 0, 2), 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 1,
		      0, 1, 0, 'T', 1, 1, 0, 1, 0, 'n', 1, 2, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0,
		      0);
	dial9_schema_free(a);
	dial9_schema_free(b);
	dial9_schema_free(c);
	dial9_enc_free(enc);
}

Test(encode, schema_handle_works_on_another_encoder_under_its_own_id)
{
	struct dial9_enc *one = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_enc *two = encoder((struct dial9_enc_opts){ .first_type_id = 9 });
	struct dial9_schema *s = tick();

	cr_assert_eq(put_tick(one, s, 0, 0), 0);
	cr_assert_eq(put_tick(two, s, 0, 0), 0);
	dial9_schema_free(s);
	assert_stream(one, HEADER, TICK_SCHEMA(0), 2, 0, 0, 0, 0, 0, 0);
	assert_stream(two, HEADER, TICK_SCHEMA(9), 2, 9, 0, 0, 0, 0, 0);
	dial9_enc_free(one);
	dial9_enc_free(two);
}

/* Clarification f: an error in the middle removes the event, its schema and its reset. */
Test(encode, failed_event_leaves_the_stream_unchanged)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = schema("P", true, pooled_fields + 1, 1), *t = tick();

	cr_assert_eq(put_tick(enc, t, 5, 0), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 1ull << 40), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 1ull << 32), -ERANGE);
	cr_assert_eq(dial9_enc_put_u64(enc, 1), -ERANGE, "the first error sticks");
	cr_assert_eq(dial9_enc_end(enc), -ERANGE);
	cr_assert_eq(dial9_enc_last_ts(enc), 5);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 5, 0, 0, 0);
	cr_assert_eq(put_tick(enc, s, 6, 7), 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 5, 0, 0, 0, 1, 1, 0, 1, 0, 'P', 1, 1, 0,
		      1, 0, 'u', 13, 2, 1, 0, 1, 0, 0, 7, 0, 0, 0);
	dial9_schema_free(s);
	dial9_schema_free(t);
	dial9_enc_free(enc);
}

Test(encode, event_with_missing_fields_or_too_many_is_refused)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = tick();

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_end(enc), -EPROTOTYPE);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 0), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 0), -EPROTOTYPE);
	cr_assert_eq(dial9_enc_end(enc), -EPROTOTYPE);
	assert_stream(enc, HEADER);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, calls_out_of_order_are_refused)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = tick();

	cr_assert_eq(dial9_enc_end(enc), -EINVAL);
	cr_assert_eq(dial9_enc_put_u64(enc, 0), -EINVAL);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), -EBUSY);
	cr_assert_eq(dial9_enc_reset(enc), -EBUSY);
	cr_assert_eq(dial9_enc_register(enc, s, 1), -EBUSY);
	cr_assert_eq(dial9_enc_put_u64(enc, 0), 0, "the open event is unharmed");
	cr_assert_eq(dial9_enc_end(enc), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	dial9_enc_cancel(enc);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 0, 0, 0, 0);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, strings_interned_inside_an_event_are_defined_before_it)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = schema("P", true, pooled_fields, 3);
	uint32_t id;

	cr_assert_eq(dial9_enc_begin(enc, s, 1ull << 40), 0);
	cr_assert_eq(dial9_enc_put_str(enc, "x", 1), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 4), 0);
	cr_assert_eq(dial9_enc_intern(enc, "yz", 2, &id), 0);
	cr_assert_eq(id, 1);
	cr_assert_eq(dial9_enc_put_str(enc, "x", 1), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	assert_stream(enc, HEADER, 3, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'x', 3, 1, 0, 0, 0, 1, 0,
		      0, 0, 2, 0, 0, 0, 'y', 'z', 1, 0, 0, 1, 0, 'P', 1, 3, 0, 1, 0, 'a', 7, 1, 0,
		      'u', 13, 1, 0, 'b', 7, 5, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0,
		      0, 4, 0, 0, 0, 0, 0, 0, 0);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, strings_interned_by_a_cancelled_event_stay)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = schema("P", true, pooled_fields, 3);
	uint32_t id;

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_str(enc, "x", 1), 0);
	dial9_enc_cancel(enc);
	cr_assert_eq(dial9_enc_intern(enc, "x", 1, &id), 0);
	cr_assert_eq(id, 0);
	assert_stream(enc, HEADER, 3, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'x');
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, stacks_are_pooled_at_level_4_and_refused_at_3)
{
	const struct dial9_field f[] = { { "s", DIAL9_POOLED_STACK }, { "t", DIAL9_POOLED_STACK } };
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ .level = DIAL9_LEVEL_4 }), *old;
	struct dial9_schema *s = schema("S", true, f, 2);
	const uint64_t frames[] = { 0x1122334455667788ull };
	uint32_t id;

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_stack(enc, frames, 1), 0);
	cr_assert_eq(dial9_enc_put_stack(enc, frames, 1), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	assert_stream(enc, HEADER, 4, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x88, 0x77, 0x66, 0x55,
		      0x44, 0x33, 0x22, 0x11, 1, 0, 0, 1, 0, 'S', 1, 2, 0, 1, 0, 's', 6, 1, 0, 't',
		      6, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	old = encoder((struct dial9_enc_opts){ 0 });
	cr_assert_eq(dial9_enc_intern_stack(old, frames, 1, &id), -ENOTSUP);
	cr_assert_eq(dial9_enc_begin(old, s, 0), -ENOTSUP);
	cr_assert_eq(dial9_enc_end(old), -ENOTSUP);
	assert_stream(old, HEADER);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	dial9_enc_free(old);
}

/* Clarification d: readers of 0.3 fail at tag 6, so it is written at a higher level only. */
Test(encode, annotations_are_written_at_level_4_only)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ .level = DIAL9_LEVEL_4 });
	struct dial9_enc *old = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_str key = { "unit", 4 }, value = { "us", 2 };
	static const char long_key[65536];
	struct dial9_schema *s = tick();

	cr_assert_eq(dial9_enc_annotate(old, s, 0, key, value), -ENOTSUP);
	assert_stream(old, HEADER);
	cr_assert_eq(dial9_enc_annotate(enc, s, 0, (struct dial9_str){ long_key, 65536 }, value),
		     -E2BIG);
	cr_assert_eq(dial9_enc_annotate(enc, s, 0, (struct dial9_str){ "\xff", 1 }, value),
		     -EILSEQ);
	cr_assert_eq(dial9_enc_annotate(enc, s, 0, key, (struct dial9_str){ "\xff", 1 }), -EILSEQ);
	assert_stream(enc, HEADER);
	cr_assert_eq(dial9_enc_annotate(enc, s, 0, key, value), 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 6, 0, 1, 0, 0, 0, 4, 0, 'u', 'n', 'i', 't', 2, 0,
		      0, 0, 'u', 's');
	dial9_schema_free(s);
	dial9_enc_free(enc);
	dial9_enc_free(old);
}

Test(encode, reset_starts_an_independent_trace)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ .first_type_id = 2 });
	struct dial9_schema *s = tick();
	uint32_t id;

	cr_assert_eq(put_tick(enc, s, 5, 0), 0);
	cr_assert_eq(dial9_enc_intern(enc, "x", 1, &id), 0);
	dial9_enc_clear(enc);
	cr_assert_eq(dial9_enc_reset(enc), 0);
	cr_assert_eq(put_tick(enc, s, 5, 1), 0);
	cr_assert_eq(dial9_enc_intern(enc, "y", 1, &id), 0);
	cr_assert_eq(id, 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(2), 2, 2, 0, 5, 0, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0,
		      1, 0, 0, 0, 'y');
	cr_assert_eq(dial9_enc_bytes(enc), 5 + 13 + 7 + 14 + 5 + 13 + 7 + 14);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, invalid_utf8_is_refused_everywhere)
{
	const struct dial9_field f[] = { { "s", DIAL9_STRING } };
	const struct dial9_str kv[1][2] = { { { "k", 1 }, { "\xff", 1 } } };
	const struct dial9_field g[] = { { "m", DIAL9_STRING_MAP } };
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = schema("S", true, f, 1), *m = schema("M", true, g, 1);
	uint32_t id;

	cr_assert_eq(dial9_enc_intern(enc, "\xc0\x80", 2, &id), -EILSEQ);
	cr_assert_eq(dial9_enc_define_string(enc, 0, "\x80", 1), -EILSEQ);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_str(enc, "\xed\xa0\x80", 3), -EILSEQ);
	cr_assert_eq(dial9_enc_end(enc), -EILSEQ);
	cr_assert_eq(dial9_enc_begin(enc, m, 0), 0);
	cr_assert_eq(dial9_enc_put_map(enc, kv, 1), -EILSEQ);
	cr_assert_eq(dial9_enc_end(enc), -EILSEQ);
	assert_stream(enc, HEADER);
	dial9_schema_free(s);
	dial9_schema_free(m);
	dial9_enc_free(enc);
}

Test(encode, chosen_pool_ids_are_never_assigned_again)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	uint32_t id;

	cr_assert_eq(dial9_enc_intern(enc, "a", 1, &id), 0);
	cr_assert_eq(dial9_enc_define_string(enc, 10, "b", 1), 0);
	cr_assert_eq(dial9_enc_intern(enc, "c", 1, &id), 0);
	cr_assert_eq(id, 11);
	cr_assert_eq(dial9_enc_define_string(enc, 0, "not a", 5), 0);
	cr_assert_eq(dial9_enc_intern(enc, "a", 1, &id), 0);
	cr_assert_eq(id, 12, "0 is no longer \"a\"");
	cr_assert_eq(dial9_enc_define_string(enc, UINT32_MAX, "z", 1), 0);
	cr_assert_eq(dial9_enc_intern(enc, "new", 3, &id), -ENOSPC);
	dial9_enc_free(enc);
}

struct sink {
	uint8_t data[4096];
	size_t n;
	unsigned int calls;
	int err;
};

static int sink_write(void *ctx, const void *data, size_t sz)
{
	struct sink *s = ctx;

	s->calls++;
	if (s->err)
		return s->err;
	cr_assert_leq(sz, sizeof(s->data) - s->n);
	memcpy(s->data + s->n, data, sz);
	s->n += sz;
	return 0;
}

Test(encode, frames_are_written_whole_at_the_threshold_and_at_flush)
{
	struct sink sink = { .n = 0 };
	struct dial9_enc *enc = encoder(
		(struct dial9_enc_opts){ .write = sink_write, .ctx = &sink, .flush_at = 30 });
	struct dial9_schema *s = tick();
	size_t n;

	cr_assert_null(dial9_enc_data(enc, &n));
	cr_assert_eq(put_tick(enc, s, 0, 0), 0);
	cr_assert_eq(put_tick(enc, s, 0, 1), 0);
	cr_assert_eq(sink.calls, 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(sink.n, 5 + 13 + 7 + 7, "what waited, at the next begin");
	cr_assert_eq(dial9_enc_put_u64(enc, 2), 0);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	cr_assert_eq(sink.n, 5 + 13 + 7 + 7, "nothing of an open event");
	cr_assert_eq(dial9_enc_end(enc), 0);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	cr_assert_eq(sink.n, 5 + 13 + 7 * 3);
	cr_assert_eq(sink.data[sink.n - 1], 2);
	cr_assert_eq(dial9_enc_bytes(enc), sink.n);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, failed_write_refuses_new_events_and_loses_none)
{
	struct sink sink = { .err = -ENOSPC };
	struct dial9_enc *enc = encoder(
		(struct dial9_enc_opts){ .write = sink_write, .ctx = &sink, .flush_at = 20 });
	struct dial9_schema *s = tick();

	cr_assert_eq(put_tick(enc, s, 0, 0), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), -ENOSPC);
	cr_assert_eq(dial9_enc_put_u64(enc, 9), -ENOSPC);
	cr_assert_eq(dial9_enc_end(enc), -ENOSPC);
	cr_assert_eq(dial9_enc_flush(enc), -ENOSPC);
	sink.err = 0;
	cr_assert_eq(put_tick(enc, s, 0, 1), 0);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	cr_assert_eq(sink.n, 5 + 13 + 7 * 2);
	cr_assert_eq(sink.data[sink.n - 1], 1);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(encode, buffer_stays_below_its_cap)
{
	const struct dial9_field f[] = { { "b", DIAL9_BYTES } };
	struct sink sink = { .n = 0 };
	struct dial9_enc_opts o = { .buf_max = 1000 };
	struct dial9_enc *enc = encoder(o), *writing;
	struct dial9_schema *s = schema("B", true, f, 1);
	uint8_t big[2000] = { 0 };
	unsigned int i;
	size_t n;

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_bytes(enc, big, sizeof(big)), -E2BIG);
	cr_assert_eq(dial9_enc_end(enc), -E2BIG);
	assert_stream(enc, HEADER);
	o.write = sink_write;
	o.ctx = &sink;
	writing = encoder(o);
	for (i = 0; i < 4; i++) {
		cr_assert_eq(dial9_enc_begin(writing, s, 0), 0);
		cr_assert_eq(dial9_enc_put_bytes(writing, big, 600), 0,
			     "the rest is written first");
		cr_assert_eq(dial9_enc_end(writing), 0);
	}
	cr_assert_eq(dial9_enc_flush(writing), 0);
	cr_assert_eq(sink.n, 5 + 13 + 4 * (6 + 4 + 600));
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_bytes(enc, big, 600), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	cr_assert_eq((enc_bytes(enc, &n), n), 5 + 13 + 610);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	dial9_enc_free(writing);
}

Test(encode, options_are_checked)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = 5 };
	struct dial9_enc *enc = NULL;

	cr_assert_eq(dial9_enc_new(&o, &enc), -EINVAL);
	o.level = 4;
	o.sz = 1;
	cr_assert_eq(dial9_enc_new(&o, &enc), -EINVAL);
	cr_assert_null(enc);
}

Test(encode, streams_in_memory_grow_to_many_megabytes)
{
	const struct dial9_field two[] = { { "n", DIAL9_VARINT }, { "b", DIAL9_BYTES } };
	static uint8_t bytes[5 << 20];
	struct dial9_schema *s = schema("T", true, two, 2);
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_dec *dec;
	struct dial9_frame f;
	uint64_t i, events = 0;
	const uint8_t *p;
	size_t n;

	for (i = 0; i < 100; i++) {
		dial9_enc_begin(enc, s, i);
		dial9_enc_put_u64(enc, i);
		memset(bytes, (int)i, 100);
		dial9_enc_put_bytes(enc, bytes, i == 50 ? sizeof(bytes) : 100 * i);
		cr_assert_eq(dial9_enc_end(enc), 0);
	}
	p = enc_bytes(enc, &n);
	dec = dec_memory(p, n);
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		cr_assert_eq(f.event.values[0].u64, events);
		cr_assert_eq(f.event.values[1].str.len,
			     events == 50 ? sizeof(bytes) : 100 * events);
		cr_assert(!events || (uint8_t)f.event.values[1].str.ptr[99] == events);
		events++;
	}
	cr_assert_eq(events, 100);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_schema_free(s);
}

/* The short way to begin an event must end where the head changes. */
Test(encode, events_after_an_error_and_at_the_limits_of_a_delta_begin_as_the_first)
{
	struct dial9_enc *enc = encoder((struct dial9_enc_opts){ 0 });
	struct dial9_schema *s = tick(), *plain = schema("P", false, tick_fields, 1);

	cr_assert_eq(put_tick(enc, s, 7, 1), 0);
	cr_assert_eq(put_tick(enc, s, 7 + 0xffffff, 2), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0x2000000), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0x2000000), -EBUSY);
	cr_assert_eq(dial9_enc_put_none(enc), -EPROTOTYPE);
	cr_assert_eq(dial9_enc_end(enc), -EPROTOTYPE);
	cr_assert_eq(put_tick(enc, s, 7 + 0x1ffffff, 3), 0);
	cr_assert_eq(put_tick(enc, s, 6 + 0x1ffffff, 4), 0);
	cr_assert_eq(put_tick(enc, plain, 1000, 5), 0);
	cr_assert_eq(put_tick(enc, plain, 1, 6), 0);
	assert_stream(enc, HEADER, TICK_SCHEMA(0), 2, 0, 0, 7, 0, 0, 1, /* delta 7 from 0 */
		      2, 0, 0, 0xff, 0xff, 0xff, 2, /* the largest delta */
		      5, 6, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 3, /* one more: a reset */
		      5, 5, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, /* a step back */
		      1, 1, 0, 1, 0, 'P', 0, 1, 0, 1, 0, 'n', 9, 2, 1, 0, 5, 2, 1, 0, 6);
	dial9_schema_free(plain);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}
