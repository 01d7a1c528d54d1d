// SPDX-License-Identifier: BSD-2-Clause
/* Typed reading by field name: layouts that grew, shrank, changed widths, and those that cannot be read. */
#include "tests/libdial9/support.h"

/* clang-format off */
#define WAKE_FIELDS(X) \
	X(U32, pid) \
	X(OPT_VARINT, when) \
	X(I64, delta) \
	X(STRING, comm) \
	X(OPT_U16, cpu) \
	X(STACK, stack) \
	X(OPT_STACK, other) \
	X(BOOL, sync) \
	X(BYTES, blob) \
	X(F64, load) \
	X(OPT_STRING, note)
/* clang-format on */
DIAL9_EVENT(wake, "Wake", WAKE_FIELDS)

/* The same event in the layout of another program. */
static const struct dial9_field foreign[] = {
	{ "note", DIAL9_STRING },
	{ "extra", DIAL9_LIST },
	{ "delta", DIAL9_VARINT },
	{ "pid", DIAL9_I64 },
	{ "stack", DIAL9_POOLED_STACK },
	{ "comm", DIAL9_POOLED_STRING },
	{ "cpu", DIAL9_U8 | DIAL9_OPTIONAL },
};

static struct dial9_enc *encoder(void)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	return enc;
}

static const uint64_t frames[] = { 100, 200, 300 };

static int put_foreign(struct dial9_enc *enc, const struct dial9_schema *s, int64_t pid, bool cpu)
{
	dial9_enc_begin(enc, s, 5);
	dial9_enc_put_str(enc, "a note", 6);
	dial9_enc_open_list(enc);
	dial9_enc_close(enc);
	dial9_enc_put_u64(enc, 12);
	dial9_enc_put_i64(enc, pid);
	dial9_enc_put_stack(enc, frames, 2);
	dial9_enc_put_str(enc, "sh", 2);
	if (cpu)
		dial9_enc_put_u64(enc, 3);
	else
		dial9_enc_put_none(enc);
	return dial9_enc_end(enc);
}

struct fixture {
	struct dial9_dec *dec;
	struct dial9_reader *reader;
};

static struct fixture over(const struct dial9_enc *enc)
{
	struct fixture fx;
	const uint8_t *p;
	size_t n;

	p = enc_bytes(enc, &n);
	fx.dec = dec_memory(p, n);
	cr_assert_eq(wake_reader(&fx.reader), 0);
	return fx;
}

/* The reader's result for the next event. */
static int next(struct fixture *fx, struct wake *w)
{
	struct dial9_frame f;

	do
		cr_assert_eq(dial9_dec_next(fx->dec, &f), 1);
	while (f.kind != DIAL9_FRAME_EVENT);
	return wake_read(fx->reader, fx->dec, &f.event, w);
}

static void done(struct fixture *fx)
{
	dial9_reader_free(fx->reader);
	dial9_dec_free(fx->dec);
}

Test(reader, reads_its_own_layout_back)
{
	struct dial9_event_type t = { 0 };
	struct dial9_enc *enc = encoder();
	struct dial9_schema *s;
	struct fixture fx;
	struct wake w = { .timestamp_ns = 9,
			  .pid = 7,
			  .delta = -3,
			  .comm = { "sh", 2 },
			  .cpu = { true, 65535 },
			  .stack = { frames, 3 },
			  .other = { true, { frames + 1, 2 } },
			  .sync = true,
			  .blob = { "\0x", 2 },
			  .load = 0.5 };
	struct wake r;

	cr_assert_eq(wake_schema(&s), 0);
	t.schema = s;
	cr_assert_eq(wake_write(enc, &t, &w), 0);
	fx = over(enc);
	cr_assert_eq(next(&fx, &r), 1);
	cr_assert_eq(r.timestamp_ns, 9);
	cr_assert_eq(r.pid, 7);
	cr_assert_eq(r.delta, -3);
	cr_assert_eq(strncmp(r.comm.ptr, "sh", r.comm.len), 0);
	cr_assert(r.cpu.present);
	cr_assert_eq(r.cpu.value, 65535);
	cr_assert_eq(r.stack.cnt, 3);
	cr_assert_arr_eq(r.stack.frames, frames, sizeof(frames));
	cr_assert(r.other.present);
	cr_assert_eq(r.other.value.cnt, 2);
	cr_assert_eq(r.other.value.frames[0], 200);
	cr_assert(r.sync);
	cr_assert_eq(r.blob.sz, 2);
	cr_assert_eq(r.load, 0.5);
	cr_assert_not(r.note.present);
	done(&fx);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(reader, reads_another_layout_by_name)
{
	struct dial9_schema *s = schema("Wake", true, foreign, 7),
			    *o = schema("Other", true, NULL, 0);
	struct dial9_enc *enc = encoder();
	struct fixture fx;
	struct wake r;

	cr_assert_eq(put_foreign(enc, s, 42, true), 0);
	cr_assert_eq(dial9_enc_write(enc, o, 6, NULL, 0), 0);
	cr_assert_eq(put_foreign(enc, s, 43, false), 0);
	fx = over(enc);
	cr_assert_eq(next(&fx, &r), 1);
	cr_assert_eq(r.pid, 42);
	cr_assert_eq(r.delta, 12);
	cr_assert_eq(strncmp(r.comm.ptr, "sh", r.comm.len), 0);
	cr_assert_eq(r.stack.cnt, 2);
	cr_assert_eq(r.stack.frames[1], 200);
	cr_assert(r.cpu.present);
	cr_assert_eq(r.cpu.value, 3);
	cr_assert(r.note.present);
	cr_assert_eq(r.note.value.len, 6);
	cr_assert_not(r.other.present, "the layout has none");
	cr_assert_eq(r.blob.sz, 0);
	cr_assert_eq(next(&fx, &r), 0, "another event");
	cr_assert_eq(next(&fx, &r), 1);
	cr_assert_eq(r.pid, 43);
	cr_assert_not(r.cpu.present);
	done(&fx);
	dial9_schema_free(s);
	dial9_schema_free(o);
	dial9_enc_free(enc);
}

Test(reader, reports_values_that_do_not_fit_and_unsupported_types)
{
	const struct dial9_field text_pid[] = { { "pid", DIAL9_STRING } };
	const struct dial9_field when[] = { { "when", DIAL9_I64 } };
	struct dial9_schema *s = schema("Wake", true, foreign, 7);
	struct dial9_schema *bad = schema("Wake", true, text_pid, 1);
	struct dial9_schema *before = schema("Wake", true, when, 1);
	struct dial9_value v = { .type = DIAL9_STRING }, past = { .type = DIAL9_I64, .i64 = -5 };
	struct dial9_enc *enc = encoder();
	struct fixture fx;
	struct wake r;

	cr_assert_eq(put_foreign(enc, s, -1, true), 0);
	cr_assert_eq(put_foreign(enc, s, 1ll << 32, true), 0);
	cr_assert_eq(dial9_enc_write(enc, bad, 6, &v, 1), 0);
	cr_assert_eq(dial9_enc_write(enc, before, 6, &past, 1), 0);
	cr_assert_eq(put_foreign(enc, s, UINT32_MAX, true), 0);
	fx = over(enc);
	cr_assert_eq(next(&fx, &r), -ERANGE);
	cr_assert_eq(next(&fx, &r), -ERANGE);
	cr_assert_eq(next(&fx, &r), -EPROTOTYPE);
	cr_assert_eq(next(&fx, &r), -ERANGE);
	cr_assert_eq(next(&fx, &r), 1);
	cr_assert_eq(r.pid, UINT32_MAX);
	done(&fx);
	dial9_schema_free(s);
	dial9_schema_free(bad);
	dial9_schema_free(before);
	dial9_enc_free(enc);
}

/* clang-format off */
#define BAG_FIELDS(X) \
	X(LIST, list) \
	X(MAP, map) \
	X(STACK, stack)
/* clang-format on */
DIAL9_EVENT(bag, "Bag", BAG_FIELDS)

/* An event need not come from a decoder: missing bytes are values of no type. */
Test(reader, too_short_lists_and_maps_end_with_values_of_no_type)
{
	static const uint8_t list[] = { DIAL9_U8, 7, DIAL9_U32, 1 }, map[] = { DIAL9_U8, 8 };
	struct dial9_value v[] = {
		{ .type = DIAL9_LIST, .list = { list, sizeof(list), 3 } },
		{ .type = DIAL9_MAP, .map = { map, sizeof(map), 2 } },
		{ .type = DIAL9_STACK },
	};
	struct dial9_event ev = { .values = v, .value_cnt = 3 };
	struct dial9_reader *reader;
	struct dial9_schema *s;
	struct dial9_dec *dec = dec_memory("", 0);
	struct bag r;

	cr_assert_eq(bag_schema(&s), 0);
	cr_assert_eq(bag_reader(&reader), 0);
	ev.schema = s;
	cr_assert_eq(bag_read(reader, dec, &ev, &r), 1);
	cr_assert_eq(r.list.cnt, 3);
	cr_expect(r.list.values[0].type == DIAL9_U8 && r.list.values[0].u64 == 7);
	cr_expect_eq(r.list.values[2].type, 0);
	cr_assert_eq(r.map.cnt, 2);
	cr_expect_eq(r.map.kv[1][0].type, 0);
	cr_expect_eq(r.map.kv[1][1].type, 0);
	dial9_reader_free(reader);
	dial9_dec_free(dec);
	dial9_schema_free(s);
}

/* More layouts than it caches, one after the other and again. */
Test(reader, survives_many_layouts_of_one_name)
{
	struct dial9_field f[2] = { { "pid", DIAL9_U32 }, { "x", DIAL9_U8 } };
	struct dial9_value v[2] = { { .type = DIAL9_U32 }, { .type = DIAL9_U8 } };
	struct dial9_enc *enc = encoder();
	struct dial9_schema *s;
	char name[16];
	struct fixture fx;
	unsigned int i;
	struct wake r;

	for (i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "x%u", i % 200);
		f[1].name = name;
		s = schema("Wake", true, f, 2);
		v[0].u64 = i;
		cr_assert_eq(dial9_enc_write(enc, s, i, v, 2), 0);
		dial9_schema_free(s);
	}
	fx = over(enc);
	for (i = 0; i < 400; i++) {
		cr_assert_eq(next(&fx, &r), 1);
		cr_assert_eq(r.pid, i);
	}
	done(&fx);
	dial9_enc_free(enc);
}

Test(reader, refuses_members_of_unknown_kind)
{
	const struct dial9_member none = { "l", DIAL9_OPTIONAL, 8 }, later = { "l", 16, 8 };
	struct dial9_reader *r = NULL;

	cr_assert_eq(dial9_reader_new("x", &none, 1, 64, &r), -EINVAL);
	cr_assert_eq(dial9_reader_new("x", &later, 1, 64, &r), -EINVAL);
	cr_assert_eq(dial9_reader_new("x", NULL, 0, 4, &r), -EINVAL);
	cr_assert_null(r);
	dial9_reader_free(NULL);
}
