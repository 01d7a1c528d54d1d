// SPDX-License-Identifier: BSD-2-Clause
/* Every kind of value against every type of field, at the limits of its range; lists; all survive a round trip. */
#include "tests/libdial9/support.h"

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

Test(put, scalars_survive_a_round_trip)
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

Test(put, nested_lists_and_maps_survive_a_round_trip)
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

Test(put, incomplete_pairs_and_open_lists_are_refused)
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

Test(put, event_of_a_cached_type_fails_like_any_other)
{
	const struct dial9_field f[] = { { "u", DIAL9_U8 } };
	struct dial9_value good = { .type = DIAL9_U8, .u64 = 7 },
			   large = { .type = DIAL9_VARINT, .u64 = 256 },
			   other = { .type = DIAL9_F64 };
	struct dial9_event_type type = { .schema = schema("x", false, f, 1) };
	struct dial9_enc *enc = encoder();
	size_t before, after;
	int round;

	/* With the type unknown, then known. */
	for (round = 0; round < 2; round++) {
		enc_bytes(enc, &before);
		cr_assert_eq(dial9_enc_write_type(enc, &type, 0, &large, 1), -ERANGE);
		cr_assert_eq(dial9_enc_write_type(enc, &type, 0, &other, 1), -EPROTOTYPE);
		cr_assert_eq(dial9_enc_write_type(enc, &type, 0, &good, 0), -EPROTOTYPE);
		enc_bytes(enc, &after);
		cr_assert_eq(after, before);
		cr_assert_eq(dial9_enc_write_type(enc, &type, 0, &good, 1), 0);
	}
	dial9_schema_free((struct dial9_schema *)type.schema);
	dial9_enc_free(enc);
}

/* ---- what dial9_enc_error() says ------------------------------------------------------------------- */

static const struct dial9_field some_fields[] = {
	{ "n", DIAL9_VARINT },
	{ "small", DIAL9_U16 },
	{ "who", DIAL9_STRING | DIAL9_OPTIONAL },
	{ "tags", DIAL9_LIST },
	{ "m", DIAL9_MAP | DIAL9_OPTIONAL },
};

enum step { WORDS, BIG, NEGATIVE, BAD_TEXT, ABSENT, TOO_MANY, MISSING, OPEN, HALF_PAIR, NO_LIST };

/* An event of some_fields with one error. */
static int wrong(struct dial9_enc *enc, enum step step)
{
	int err = 0;

	dial9_enc_put_u64(enc, 1);
	if (step == WORDS)
		return dial9_enc_put_str(enc, "words", 5);
	if (step == BIG)
		return dial9_enc_put_u64(enc, 70000);
	if (step == NEGATIVE)
		return dial9_enc_put_i64(enc, -5);
	if (step == ABSENT)
		return dial9_enc_put_none(enc);
	dial9_enc_put_u64(enc, 2);
	if (step == BAD_TEXT)
		return dial9_enc_put_str(enc, "\xff", 1);
	if (step == MISSING)
		return dial9_enc_end(enc);
	dial9_enc_put_none(enc);
	if (step == NO_LIST)
		return dial9_enc_close(enc);
	dial9_enc_open_list(enc);
	if (step == OPEN)
		return dial9_enc_end(enc);
	dial9_enc_close(enc);
	dial9_enc_open_map(enc);
	dial9_enc_put_u64(enc, 1);
	if (step == HALF_PAIR)
		return dial9_enc_close(enc);
	dial9_enc_put_u64(enc, 1);
	err = dial9_enc_close(enc);
	return err ? err : dial9_enc_put_u64(enc, 1);
}

Test(put, failed_event_returns_the_field_and_the_reason)
{
	static const struct {
		enum step step;
		int err;
		const char *why;
	} cases[] = {
		{ WORDS, -EPROTOTYPE, "Request.small: is U16, given String" },
		{ BIG, -ERANGE, "Request.small: 70000 does not fit U16" },
		{ NEGATIVE, -ERANGE, "Request.small: -5 does not fit U16" },
		{ ABSENT, -EPROTOTYPE, "Request.small: is U16, given nothing" },
		{ BAD_TEXT, -EILSEQ, "Request.who: text that is not UTF-8" },
		{ MISSING, -EPROTOTYPE, "Request.who: has no value" },
		{ NO_LIST, -EINVAL, "Request.who: no list or map is open" },
		{ OPEN, -EPROTOTYPE, "Request.tags: a list or map is still open" },
		{ HALF_PAIR, -EPROTOTYPE, "Request.m: a key without value" },
		{ TOO_MANY, -EPROTOTYPE, "Request: all fields have their values" },
	};
	struct dial9_schema *s = schema("Request", true, some_fields, 5);
	struct dial9_enc *enc = encoder();
	size_t i;
	int err;

	cr_assert_str_eq(dial9_enc_error(enc), "");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
		err = wrong(enc, cases[i].step);
		cr_assert_eq(err, cases[i].err, "%s: %d", cases[i].why, err);
		cr_assert_str_eq(dial9_enc_error(enc), cases[i].why);
		cr_assert_eq(dial9_enc_put_u64(enc, 1),
			     cases[i].step == MISSING || cases[i].step == OPEN ? -EINVAL : err);
		dial9_enc_cancel(enc);
	}
	assert_stream(enc, HEADER);
	dial9_enc_free(enc);
	dial9_schema_free(s);
}

Test(put, calls_outside_events_return_a_reason_too)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123456789";
	const struct dial9_field f = { long_name, DIAL9_U8 };
	struct dial9_schema *s = schema("x", true, &f, 1), *other = schema(long_name, true, &f, 1);
	struct dial9_enc *enc = encoder();
	uint32_t id;

	cr_assert_eq(dial9_enc_put_u64(enc, 1), -EINVAL);
	cr_assert_str_eq(dial9_enc_error(enc), "no event is begun");
	cr_assert_eq(dial9_enc_intern(enc, "\xff", 1, &id), -EILSEQ);
	cr_assert_str_eq(dial9_enc_error(enc), "text that is not UTF-8");
	cr_assert_eq(dial9_enc_register(enc, s, 3), 0);
	cr_assert_eq(dial9_enc_register(enc, other, 3), -EEXIST);
	cr_assert_str_eq(dial9_enc_error(enc),
			 "0123456789012345678901234567890123456789012345678901234567890123"
			 ": the type id has another layout");
	cr_assert_eq(dial9_enc_begin(enc, other, 0), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 0), -EBUSY);
	cr_assert(strstr(dial9_enc_error(enc), ": an event is open"));
	cr_assert_eq(dial9_enc_put_u64(enc, 256), -ERANGE);
	cr_assert_str_eq(dial9_enc_error(enc),
			 "0123456789012345678901234567890123456789012345678901234567890123"
			 ".0123456789012345678901234567890123456789012345678901234567890123"
			 ": 256 does not fit U8");
	dial9_enc_free(enc);
	dial9_schema_free(s);
	dial9_schema_free(other);
}

/* A list of `depth` nested lists, as returned by a decoder. */
static size_t nested_lists(uint8_t *raw, unsigned int depth)
{
	size_t sz = 0;

	for (; depth; depth--, sz += 5)
		memcpy(raw + sz, depth == 1 ? "\x0e\0\0\0\0" : "\x0e\1\0\0\0", 5);
	return sz;
}

/* Everything written can be read: 64 deep in total, also if a part comes as one value. */
Test(put, nesting_of_a_value_adds_to_open_lists)
{
	const struct dial9_field f = { "l", DIAL9_LIST };
	struct dial9_schema *s = schema("x", true, &f, 1);
	struct dial9_enc *enc = encoder();
	unsigned int open, deep, i;
	struct dial9_value v;
	struct dial9_frame fr;
	struct dial9_dec *dec;
	uint8_t raw[64 * 5];
	const uint8_t *p;
	int err, more;
	size_t n;

	for (open = 1; open <= 64; open += 21) {
		for (deep = 63 - open; deep <= 65 - open && deep; deep++) {
			v = (struct dial9_value){ .type = DIAL9_LIST };
			v.list =
				(struct dial9_entries){ raw, (uint32_t)nested_lists(raw, deep), 1 };
			cr_assert_eq(dial9_enc_begin(enc, s, 0), 0);
			for (i = 0; i < open; i++)
				cr_assert_eq(dial9_enc_open_list(enc), 0);
			err = dial9_enc_put_value(enc, &v);
			cr_assert_eq(err, open + 1 + deep > 64 ? -EPROTOTYPE : 0, "%u and %u: %d",
				     open, deep, err);
			for (i = 0; i < open; i++)
				dial9_enc_close(enc);
			cr_assert_eq(dial9_enc_end(enc), err);
		}
	}
	p = enc_bytes(enc, &n);
	dec = dec_memory(p, n);
	while ((more = dial9_dec_next(dec, &fr)) == 1)
		;
	cr_assert_eq(more, 0);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_schema_free(s);
}
