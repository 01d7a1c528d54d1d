// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event types declared at compile time: they write what the run-time calls would, byte for byte, for any
 * values, through resets, flushes, and switches of encoder.
 */
#include "tests/libdial9/support.h"

#define ALL_FIELDS(X)                                                                              \
	X(I64, i)                                                                                  \
	X(F64, f)                                                                                  \
	X(BOOL, b)                                                                                 \
	X(STRING, s)                                                                               \
	X(BYTES, y)                                                                                \
	X(POOLED_STRING, p)                                                                        \
	X(STACK, k)                                                                                \
	X(VARINT, v)                                                                               \
	X(U8, u8)                                                                                  \
	X(U16, u16)                                                                                \
	X(U32, u32)                                                                                \
	X(OPT_I64, oi)                                                                             \
	X(OPT_F64, of)                                                                             \
	X(OPT_BOOL, ob)                                                                            \
	X(OPT_STRING, os)                                                                          \
	X(OPT_BYTES, oy)                                                                           \
	X(OPT_POOLED_STRING, op)                                                                   \
	X(OPT_STACK, ok)                                                                           \
	X(OPT_VARINT, ov)                                                                          \
	X(OPT_U8, o8)                                                                              \
	X(OPT_U16, o16)                                                                            \
	X(OPT_U32, o32)
DIAL9_EVENT(all, "All", ALL_FIELDS)

#define TICK_FIELDS(X) X(VARINT, n)
DIAL9_EVENT(tick, "Tick", TICK_FIELDS)

#define TEXT_FIELDS(X) X(STRING, s)
DIAL9_EVENT(text, "Text", TEXT_FIELDS)

static struct dial9_event_type type_of(int (*make)(struct dial9_schema **))
{
	struct dial9_schema *s;

	cr_assert_eq(make(&s), 0);
	return (struct dial9_event_type){ .schema = s };
}

static void drop_type(struct dial9_event_type *t)
{
	dial9_schema_free((struct dial9_schema *)t->schema);
}

static uint64_t state = 1;

static uint64_t random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> (state & 63);
}

static const uint64_t frames[32] = { 1, 2, 3, 1ull << 63, 5 };
static char letters[256];

static void fill(struct all *a)
{
	memset(letters, 'x', sizeof(letters));
	a->timestamp_ns += random_u64() & 0x1ffffff;
	a->i = (int64_t)random_u64() * (random_u64() & 1 ? -1 : 1);
	a->f = (double)random_u64();
	a->b = random_u64() & 1;
	a->s = (struct dial9_str){ letters, random_u64() & 255 };
	a->y = (struct dial9_bytes){ letters, random_u64() & 63 };
	a->p = (uint32_t)random_u64();
	a->k = (struct dial9_stack){ frames, random_u64() & 31 };
	a->v = random_u64();
	a->u8 = (uint8_t)random_u64();
	a->u16 = (uint16_t)random_u64();
	a->u32 = (uint32_t)random_u64();
	a->oi = (struct dial9_opt_i64){ random_u64() & 1, a->i };
	a->of = (struct dial9_opt_f64){ random_u64() & 1, a->f };
	a->ob = (struct dial9_opt_bool){ random_u64() & 1, a->b };
	a->os = (struct dial9_opt_string){ random_u64() & 1, a->s };
	a->oy = (struct dial9_opt_bytes){ random_u64() & 1, a->y };
	a->op = (struct dial9_opt_pooled_string){ random_u64() & 1, a->p };
	a->ok = (struct dial9_opt_stack){ random_u64() & 1, a->k };
	a->ov = (struct dial9_opt_varint){ random_u64() & 1, a->v };
	a->o8 = (struct dial9_opt_u8){ random_u64() & 1, a->u8 };
	a->o16 = (struct dial9_opt_u16){ random_u64() & 1, a->u16 };
	a->o32 = (struct dial9_opt_u32){ random_u64() & 1, a->u32 };
}

#define PUT_OPT(o, put)                                                                            \
	do {                                                                                       \
		if (o.present)                                                                     \
			put;                                                                       \
		else                                                                               \
			dial9_enc_put_none(enc);                                                   \
	} while (0)

static int by_puts(struct dial9_enc *enc, const struct dial9_schema *s, const struct all *a)
{
	dial9_enc_begin(enc, s, a->timestamp_ns);
	dial9_enc_put_i64(enc, a->i);
	dial9_enc_put_f64(enc, a->f);
	dial9_enc_put_bool(enc, a->b);
	dial9_enc_put_str(enc, a->s.ptr, a->s.len);
	dial9_enc_put_bytes(enc, a->y.ptr, a->y.sz);
	dial9_enc_put_str_id(enc, a->p);
	dial9_enc_put_stack(enc, a->k.frames, a->k.cnt);
	dial9_enc_put_u64(enc, a->v);
	dial9_enc_put_u64(enc, a->u8);
	dial9_enc_put_u64(enc, a->u16);
	dial9_enc_put_u64(enc, a->u32);
	PUT_OPT(a->oi, dial9_enc_put_i64(enc, a->oi.value));
	PUT_OPT(a->of, dial9_enc_put_f64(enc, a->of.value));
	PUT_OPT(a->ob, dial9_enc_put_bool(enc, a->ob.value));
	PUT_OPT(a->os, dial9_enc_put_str(enc, a->os.value.ptr, a->os.value.len));
	PUT_OPT(a->oy, dial9_enc_put_bytes(enc, a->oy.value.ptr, a->oy.value.sz));
	PUT_OPT(a->op, dial9_enc_put_str_id(enc, a->op.value));
	PUT_OPT(a->ok, dial9_enc_put_stack(enc, a->ok.value.frames, a->ok.value.cnt));
	PUT_OPT(a->ov, dial9_enc_put_u64(enc, a->ov.value));
	PUT_OPT(a->o8, dial9_enc_put_u64(enc, a->o8.value));
	PUT_OPT(a->o16, dial9_enc_put_u64(enc, a->o16.value));
	PUT_OPT(a->o32, dial9_enc_put_u64(enc, a->o32.value));
	return dial9_enc_end(enc);
}

static void assert_same_stream(const struct dial9_enc *a, const struct dial9_enc *b)
{
	size_t n, m;
	const uint8_t *p = enc_bytes(a, &n), *q = enc_bytes(b, &m);

	cr_assert_eq(n, m);
	cr_assert_eq(memcmp(p, q, n), 0);
}

Test(event, declared_types_write_the_same_bytes_as_put_calls)
{
	struct dial9_event_type t = type_of(all_schema);
	struct dial9_enc *one, *two;
	struct all a = { 0 };
	unsigned int i;

	cr_assert_eq(dial9_enc_new(NULL, &one) + dial9_enc_new(NULL, &two), 0);
	for (i = 0; i < 3000; i++) {
		fill(&a);
		cr_assert_eq(all_write(one, &t, &a), 0);
		cr_assert_eq(by_puts(two, t.schema, &a), 0);
	}
	assert_same_stream(one, two);
	drop_type(&t);
	dial9_enc_free(one);
	dial9_enc_free(two);
}

/* dial9_enc_write() in its fast and in its careful way, compared with put calls, from decoded values. */
Test(event, whole_event_calls_write_the_same_bytes_as_put_calls)
{
	struct dial9_event_type t = type_of(all_schema), u = t;
	struct dial9_enc *puts, *values, *typed;
	struct all a = { 0 };
	struct dial9_frame f;
	struct dial9_dec *dec;
	const uint8_t *p;
	unsigned int i;
	size_t n;

	cr_assert_eq(dial9_enc_new(NULL, &puts) + dial9_enc_new(NULL, &values) +
			     dial9_enc_new(NULL, &typed),
		     0);
	for (i = 0; i < 1000; i++) {
		fill(&a);
		cr_assert_eq(by_puts(puts, t.schema, &a), 0);
	}
	p = enc_bytes(puts, &n);
	dec = dec_memory(p, n);
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		cr_assert_eq(dial9_enc_write(values, t.schema, f.event.ts, f.event.values,
					     f.event.value_cnt),
			     0);
		cr_assert_eq(dial9_enc_write_type(typed, &u, f.event.ts, f.event.values,
						  f.event.value_cnt),
			     0);
	}
	dial9_dec_free(dec);
	assert_same_stream(puts, values);
	assert_same_stream(puts, typed);
	drop_type(&t);
	dial9_enc_free(puts);
	dial9_enc_free(values);
	dial9_enc_free(typed);
}

Test(event, numbers_too_wide_are_refused_by_whole_event_calls)
{
	static const uint8_t types[] = { DIAL9_U8, DIAL9_U16, DIAL9_U32, DIAL9_VARINT };
	static const uint64_t max[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX };
	struct dial9_value v = { 0 };
	struct dial9_schema *s;
	struct dial9_enc *enc;
	size_t i, before, after;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	for (i = 0; i < 4; i++) {
		const struct dial9_field f = { "f", types[i] };

		s = schema("x", true, &f, 1);
		v.type = types[i];
		v.u64 = max[i];
		cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), 0);
		enc_bytes(enc, &before);
		v.u64++;
		if (v.u64)
			cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -ERANGE);
		v.type = DIAL9_F64;
		cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EPROTOTYPE);
		v.type = 0;
		cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EPROTOTYPE);
		cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 0), -EPROTOTYPE);
		enc_bytes(enc, &after);
		cr_assert_eq(after, before);
		dial9_schema_free(s);
	}
	dial9_enc_free(enc);
}

Test(event, declared_types_refuse_bad_text_and_open_events)
{
	struct dial9_event_type t = type_of(text_schema), n = type_of(tick_schema);
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(text_write(enc, &t, &(struct text){ 0, { "\xff", 1 } }), -EILSEQ);
	assert_stream(enc, HEADER);
	cr_assert_eq(tick_write(enc, &n, &(struct tick){ 4, 0 }), 0);
	dial9_enc_clear(enc);
	cr_assert_eq(dial9_enc_begin(enc, n.schema, 5), 0);
	cr_assert_eq(tick_write(enc, &n, &(struct tick){ 5, 9 }), -EBUSY);
	cr_assert_eq(text_write(enc, &t, &(struct text){ 0, { "x", 1 } }), -EBUSY);
	cr_assert_eq(dial9_enc_put_u64(enc, 1), 0);
	cr_assert_eq(text_write(enc, &t, &(struct text){ 0, { "x", 1 } }), -EBUSY);
	cr_assert_eq(dial9_enc_end(enc), 0, "the open event is unharmed");
	cr_assert_eq(tick_write(enc, &n, &(struct tick){ 6, 2 }), 0);
	assert_stream(enc, 2, 0, 0, 1, 0, 0, 1, 2, 0, 0, 1, 0, 0, 2);
	drop_type(&t);
	drop_type(&n);
	dial9_enc_free(enc);
}

Test(event, whole_event_calls_write_schemas_and_resets_and_follow_new_traces)
{
	struct dial9_event_type n = type_of(tick_schema);
	struct dial9_value v = { .type = DIAL9_VARINT, .u64 = 7 };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(dial9_enc_begin(enc, n.schema, 1), 0);
	dial9_enc_cancel(enc);
	cr_assert_eq(dial9_enc_write(enc, n.schema, 1, &v, 1), 0);
	assert_stream(enc, HEADER, 1, 0, 0, 4, 0, 'T', 'i', 'c', 'k', 1, 1, 0, 1, 0, 'n', 9, 2, 0,
		      0, 1, 0, 0, 7);
	dial9_enc_clear(enc);
	cr_assert_eq(dial9_enc_write(enc, n.schema, 0x1000000, &v, 1), 0);
	cr_assert_eq(dial9_enc_write(enc, n.schema, 0x2000000, &v, 1), 0);
	cr_assert_eq(dial9_enc_write(enc, n.schema, 0x1ffffff, &v, 1), 0);
	assert_stream(enc, 2, 0, 0, 255, 255, 255, 7, 5, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0,
		      7, 5, 255, 255, 255, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 7);
	cr_assert_eq(dial9_enc_write_type(enc, &n, 0x1ffffff, &v, 1), 0);
	dial9_enc_clear(enc);
	cr_assert_eq(dial9_enc_reset(enc), 0);
	cr_assert_eq(dial9_enc_write_type(enc, &n, 2, &v, 1), 0);
	assert_stream(enc, HEADER, 1, 0, 0, 4, 0, 'T', 'i', 'c', 'k', 1, 1, 0, 1, 0, 'n', 9, 2, 0,
		      0, 2, 0, 0, 7);
	drop_type(&n);
	dial9_enc_free(enc);
}

Test(event, declared_types_follow_resets_and_a_change_of_encoder)
{
	struct dial9_event_type t = type_of(text_schema), n = type_of(tick_schema);
	struct dial9_enc *a, *b;

	cr_assert_eq(dial9_enc_new(NULL, &a) + dial9_enc_new(NULL, &b), 0);
	cr_assert_eq(text_write(b, &t, &(struct text){ 0, { "x", 1 } }), 0);
	dial9_enc_clear(b);
	cr_assert_eq(tick_write(a, &n, &(struct tick){ 1, 1 }), 0);
	cr_assert_eq(tick_write(b, &n, &(struct tick){ 1, 1 }), 0);
	cr_assert_eq(tick_write(a, &n, &(struct tick){ 2, 2 }), 0);
	assert_stream(b, 1, 1, 0, 4, 0, 'T', 'i', 'c', 'k', 1, 1, 0, 1, 0, 'n', 9, 2, 1, 0, 1, 0, 0,
		      1);
	dial9_enc_clear(a);
	cr_assert_eq(dial9_enc_reset(a), 0);
	cr_assert_eq(tick_write(a, &n, &(struct tick){ 3, 3 }), 0);
	assert_stream(a, HEADER, 1, 0, 0, 4, 0, 'T', 'i', 'c', 'k', 1, 1, 0, 1, 0, 'n', 9, 2, 0, 0,
		      3, 0, 0, 3);
	drop_type(&t);
	drop_type(&n);
	dial9_enc_free(a);
	dial9_enc_free(b);
}

struct sink {
	size_t n, calls;
	int err;
};

static int sink_write(void *ctx, const void *data, size_t sz)
{
	struct sink *s = ctx;

	(void)data;
	s->calls++;
	s->n += s->err ? 0 : sz;
	return s->err;
}

Test(event, declared_types_are_flushed_and_written_whole_or_not_at_all)
{
	struct dial9_event_type n = type_of(tick_schema);
	struct sink sink = { 0 };
	struct dial9_enc_opts o = {
		.sz = sizeof(o), .write = sink_write, .ctx = &sink, .flush_at = 100
	};
	struct dial9_enc *enc;
	unsigned int i, taken = 0;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	for (i = 0; i < 1000; i++)
		cr_assert_eq(tick_write(enc, &n, &(struct tick){ i, 1 }), 0);
	cr_assert_gt(sink.calls, 50);
	cr_assert_lt(dial9_enc_bytes(enc) - sink.n, 120);
	sink.err = -ENOSPC;
	for (i = 0; i < 100; i++)
		taken += !tick_write(enc, &n, &(struct tick){ 1000, 1 });
	cr_assert_lt(taken, 20);
	sink.err = 0;
	cr_assert_eq(dial9_enc_flush(enc), 0);
	cr_assert_eq(sink.n, 5 + 16 + (1000 + taken) * 7);
	drop_type(&n);
	dial9_enc_free(enc);
}

Test(event, huge_counts_are_refused_without_being_read)
{
	struct dial9_event_type t = type_of(all_schema);
	struct dial9_enc *enc;
	struct all a = { 0 };

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	a.k = (struct dial9_stack){ frames, SIZE_MAX / 8 + 2 };
	cr_assert_eq(all_write(enc, &t, &a), -E2BIG);
	a.k.cnt = 0;
	a.y = (struct dial9_bytes){ letters, (size_t)UINT32_MAX + 1 };
	cr_assert_eq(all_write(enc, &t, &a), -E2BIG);
	assert_stream(enc, HEADER);
	drop_type(&t);
	dial9_enc_free(enc);
}

/* Like a program that was compiled with another dial9_event.h. */
Test(event, callers_with_another_abi_are_refused_before_they_write)
{
	struct dial9_event_type t = type_of(tick_schema);
	struct dial9_enc *enc;
	char want[200];
	int err = 0;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(((struct dial9_enc_head *)enc)->epoch & 1, 1, "a type's first use is noticed");
	cr_assert_null(dial9_enc_reserve(enc, &t, 1, 8, DIAL9_INLINE_ABI + 1, &err));
	cr_assert_eq(err, -ENOSYS);
	snprintf(want, sizeof(want),
		 "the program's inline writers have ABI %d, this libdial9's %d: compile it against "
		 "this library's dial9_event.h",
		 DIAL9_INLINE_ABI + 1, DIAL9_INLINE_ABI);
	cr_assert_str_eq(dial9_enc_error(enc), want);
	assert_stream(enc, HEADER);
	cr_assert_eq(tick_write(enc, &t, &(struct tick){ 1, 1 }), 0);
	drop_type(&t);
	dial9_enc_free(enc);
}
