// SPDX-License-Identifier: BSD-2-Clause
/* Every kind of value against every type of field, at the edges of its range; lists; all comes back. */
#include "support.h"

static struct dial9_enc *encoder(void)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	return enc;
}

static const uint64_t one_frame[] = { 1 };
static const struct dial9_str one_pair[1][2] = { { { "k", 1 }, { "v", 1 } } };

static int put_u64(struct dial9_enc *e)
{
	return dial9_enc_put_u64(e, 1);
}
static int put_i64(struct dial9_enc *e)
{
	return dial9_enc_put_i64(e, 1);
}
static int put_f64(struct dial9_enc *e)
{
	return dial9_enc_put_f64(e, 1.5);
}
static int put_bool(struct dial9_enc *e)
{
	return dial9_enc_put_bool(e, true);
}
static int put_str(struct dial9_enc *e)
{
	return dial9_enc_put_str(e, "s", 1);
}
static int put_str_id(struct dial9_enc *e)
{
	return dial9_enc_put_str_id(e, 1);
}
static int put_bytes(struct dial9_enc *e)
{
	return dial9_enc_put_bytes(e, "b", 1);
}
static int put_stack(struct dial9_enc *e)
{
	return dial9_enc_put_stack(e, one_frame, 1);
}
static int put_stack_id(struct dial9_enc *e)
{
	return dial9_enc_put_stack_id(e, 1);
}
static int put_map(struct dial9_enc *e)
{
	return dial9_enc_put_map(e, one_pair, 1);
}
static int put_list(struct dial9_enc *e)
{
	int err = dial9_enc_open_list(e);

	return err ? err : dial9_enc_close(e);
}

#define B(t) (1u << DIAL9_##t)
static const struct {
	const char *name;
	int (*put)(struct dial9_enc *enc);
	uint32_t fits;
} kinds[] = {
	{ "u64", put_u64, B(VARINT) | B(U8) | B(U16) | B(U32) | B(BOOL) | B(I64) },
	{ "i64", put_i64, B(VARINT) | B(U8) | B(U16) | B(U32) | B(I64) },
	{ "f64", put_f64, B(F64) },
	{ "bool", put_bool, B(BOOL) },
	{ "str", put_str, B(STRING) | B(POOLED_STRING) },
	{ "str_id", put_str_id, B(POOLED_STRING) },
	{ "bytes", put_bytes, B(BYTES) },
	{ "stack", put_stack, B(STACK) | B(POOLED_STACK) },
	{ "stack_id", put_stack_id, B(POOLED_STACK) },
	{ "map", put_map, B(STRING_MAP) | B(MAP) },
	{ "list", put_list, B(LIST) },
	{ "none", dial9_enc_put_none, 0 },
};

/* Clarification e: the type is checked when the value is put, for each pair there is. */
Test(put, value_kinds_fit_their_types_and_no_others)
{
	struct dial9_enc *enc = encoder();
	struct dial9_schema *s;
	size_t i, before, after;
	uint8_t type, opt;
	bool fits;
	int err;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (type = 1; type <= 15; type++) {
			for (opt = 0; opt <= 0x80; opt += 0x80) {
				const struct dial9_field f = { "f", type | opt };

				fits = kinds[i].fits >> type & 1 || (!kinds[i].fits && opt);
				s = schema("x", true, &f, 1);
				enc_bytes(enc, &before);
				cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
				err = kinds[i].put(enc);
				cr_assert_eq(err, fits ? 0 : -EPROTOTYPE, "%s into %u: %d",
					     kinds[i].name, f.type, err);
				cr_assert_eq(dial9_enc_end(enc), err);
				enc_bytes(enc, &after);
				cr_assert_eq(after > before, fits);
				dial9_schema_free(s);
				if (opt == 0x80)
					break;
			}
		}
	}
	dial9_enc_free(enc);
}

static void check_range(uint8_t type, uint64_t max)
{
	const struct dial9_field f = { "f", type };
	struct dial9_schema *s = schema("x", true, &f, 1);
	struct dial9_enc *enc = encoder();

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, max), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	if (max != UINT64_MAX) {
		cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
		cr_assert_eq(dial9_enc_put_u64(enc, max + 1), -ERANGE, "type %u", type);
		cr_assert_eq(dial9_enc_end(enc), -ERANGE);
	}
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	if (type != DIAL9_I64 && type != DIAL9_BOOL)
		cr_assert_eq(dial9_enc_put_i64(enc, -1), -ERANGE, "type %u", type);
	dial9_enc_cancel(enc);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(put, numbers_are_checked_against_the_width_of_the_field)
{
	check_range(DIAL9_U8, UINT8_MAX);
	check_range(DIAL9_U16, UINT16_MAX);
	check_range(DIAL9_U32, UINT32_MAX);
	check_range(DIAL9_VARINT, UINT64_MAX);
	check_range(DIAL9_I64, INT64_MAX);
	check_range(DIAL9_BOOL, 1);
}

/* The one event of an encoder, through a decoder. */
static struct dial9_dec *only_event(const struct dial9_enc *enc, struct dial9_frame *f)
{
	struct dial9_dec *dec;
	const uint8_t *p;
	size_t n;

	p = enc_bytes(enc, &n);
	dec = dec_memory(p, n);
	do
		cr_assert_eq(dial9_dec_next(dec, f), 1);
	while (f->kind != DIAL9_FRAME_EVENT);
	return dec;
}

Test(put, scalars_come_back_exactly)
{
	const struct dial9_field f[] = {
		{ "i", DIAL9_I64 },
		{ "f", DIAL9_F64 },
		{ "b", DIAL9_BOOL },
		{ "u", DIAL9_U16 },
		{ "n", DIAL9_VARINT | DIAL9_OPTIONAL },
		{ "v", DIAL9_VARINT },
		{ "y", DIAL9_BYTES },
	};
	struct dial9_schema *s = schema("x", true, f, 7);
	struct dial9_enc *enc = encoder();
	struct dial9_frame fr;
	struct dial9_dec *dec;

	cr_assert_eq(dial9_enc_begin(enc, s, 77), 0);
	cr_assert_eq(dial9_enc_put_i64(enc, INT64_MIN), 0);
	cr_assert_eq(dial9_enc_put_f64(enc, -0.0), 0);
	cr_assert_eq(dial9_enc_put_bool(enc, true), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 65535), 0);
	cr_assert_eq(dial9_enc_put_none(enc), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, UINT64_MAX), 0);
	cr_assert_eq(dial9_enc_put_bytes(enc, "a\0b", 3), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dec = only_event(enc, &fr);
	cr_assert_eq(fr.event.ts, 77);
	cr_assert_eq(fr.event.values[0].i64, INT64_MIN);
	cr_assert_eq(fr.event.values[1].u64, 1ull << 63);
	cr_assert_eq(fr.event.values[2].b, true);
	cr_assert_eq(fr.event.values[3].u64, 65535);
	cr_assert_eq(fr.event.values[4].type, 0);
	cr_assert_eq(fr.event.values[5].u64, UINT64_MAX);
	cr_assert_eq(fr.event.values[6].str.len, 3);
	cr_assert_arr_eq(fr.event.values[6].str.ptr, "a\0b", 3);
	dial9_dec_free(dec);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

static void put_nested(struct dial9_enc *enc)
{
	cr_assert_eq(dial9_enc_open_list(enc), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 300), 0);
	cr_assert_eq(dial9_enc_open_map(enc), 0);
	cr_assert_eq(dial9_enc_put_str(enc, "key", 3), 0);
	cr_assert_eq(dial9_enc_open_list(enc), 0);
	cr_assert_eq(dial9_enc_close(enc), 0);
	cr_assert_eq(dial9_enc_put_i64(enc, -1), 0);
	cr_assert_eq(dial9_enc_put_stack(enc, one_frame, 1), 0);
	cr_assert_eq(dial9_enc_close(enc), 0);
	cr_assert_eq(dial9_enc_put_bool(enc, false), 0);
	cr_assert_eq(dial9_enc_close(enc), 0);
}

Test(put, lists_and_maps_nest_and_come_back)
{
	const struct dial9_field f[] = { { "l", DIAL9_LIST | DIAL9_OPTIONAL }, { "u", DIAL9_U8 } };
	struct dial9_schema *s = schema("x", true, f, 2);
	struct dial9_value elem, key, value;
	struct dial9_enc *enc = encoder();
	struct dial9_iter list, map;
	struct dial9_frame fr;
	struct dial9_dec *dec;

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	put_nested(enc);
	cr_assert_eq(dial9_enc_put_u64(enc, 9), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dec = only_event(enc, &fr);
	cr_assert_eq(fr.event.values[1].u64, 9);
	cr_assert_eq(fr.event.values[0].list.cnt, 3);
	dial9_iter_init(&list, &fr.event.values[0]);
	cr_assert_eq(dial9_list_next(&list, &elem), 1);
	cr_assert_eq(elem.type, DIAL9_VARINT);
	cr_assert_eq(elem.u64, 300);
	cr_assert_eq(dial9_list_next(&list, &elem), 1);
	cr_assert_eq(elem.type, DIAL9_MAP);
	cr_assert_eq(elem.map.cnt, 2);
	dial9_iter_init(&map, &elem);
	cr_assert_eq(dial9_map_next(&map, &key, &value), 1);
	cr_assert_arr_eq(key.str.ptr, "key", 3);
	cr_assert_eq(value.type, DIAL9_LIST);
	cr_assert_eq(value.list.cnt, 0);
	cr_assert_eq(dial9_map_next(&map, &key, &value), 1);
	cr_assert_eq(key.i64, -1);
	cr_assert_eq(dial9_value_frame(&value, 0), 1);
	cr_assert_eq(dial9_map_next(&map, &key, &value), 0);
	cr_assert_eq(dial9_list_next(&list, &elem), 1);
	cr_assert_eq(elem.type, DIAL9_BOOL);
	cr_assert_eq(dial9_list_next(&list, &elem), 0);
	dial9_dec_free(dec);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

/* Clarification g, the writer's side. */
Test(put, lists_nest_64_deep_and_no_deeper)
{
	const struct dial9_field f[] = { { "l", DIAL9_LIST } };
	struct dial9_schema *s = schema("x", true, f, 1);
	struct dial9_enc *enc = encoder();
	struct dial9_frame fr;
	unsigned int i;

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	for (i = 0; i < 64; i++)
		cr_assert_eq(dial9_enc_open_list(enc), 0);
	for (i = 0; i < 64; i++)
		cr_assert_eq(dial9_enc_close(enc), 0);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dial9_dec_free(only_event(enc, &fr));
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	for (i = 0; i < 64; i++)
		cr_assert_eq(dial9_enc_open_list(enc), 0);
	cr_assert_eq(dial9_enc_open_list(enc), -E2BIG);
	cr_assert_eq(dial9_enc_end(enc), -E2BIG);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(put, half_pairs_and_open_lists_are_refused)
{
	const struct dial9_field f[] = { { "m", DIAL9_MAP } };
	struct dial9_schema *s = schema("x", true, f, 1);
	struct dial9_enc *enc = encoder();

	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_open_map(enc), 0);
	cr_assert_eq(dial9_enc_put_u64(enc, 1), 0);
	cr_assert_eq(dial9_enc_close(enc), -EPROTOTYPE);
	cr_assert_eq(dial9_enc_end(enc), -EPROTOTYPE);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_open_map(enc), 0);
	cr_assert_eq(dial9_enc_end(enc), -EPROTOTYPE);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_close(enc), -EINVAL);
	cr_assert_eq(dial9_enc_end(enc), -EINVAL);
	assert_stream(enc, HEADER);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

Test(put, raw_containers_are_checked_before_they_are_copied)
{
	static const uint8_t torn[] = { DIAL9_STRING, 5, 0, 0, 0, 'a' };
	static const uint8_t bad_text[] = { DIAL9_STRING, 1, 0, 0, 0, 0xff };
	static const uint8_t good[] = { DIAL9_BOOL, 1, DIAL9_U8, 7 };
	const struct dial9_field f[] = { { "l", DIAL9_LIST } };
	struct dial9_schema *s = schema("x", true, f, 1);
	struct dial9_enc *enc = encoder();
	struct dial9_value v = { .type = DIAL9_LIST };

	v.list.raw = torn;
	v.list.sz = sizeof(torn);
	v.list.cnt = 1;
	cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EPROTOTYPE);
	v.list.raw = bad_text;
	cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EILSEQ);
	v.list.raw = good;
	v.list.sz = sizeof(good);
	cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EPROTOTYPE, "bytes left over");
	v.list.cnt = 3;
	cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EPROTOTYPE);
	assert_stream(enc, HEADER);
	v.list.cnt = 2;
	cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), 0);
	v.type = 200;
	cr_assert_eq(dial9_enc_write(enc, s, 0, &v, 1), -EINVAL);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}
