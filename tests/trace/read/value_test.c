// SPDX-License-Identifier: BSD-2-Clause
/* The walk over values, with a style in which the output shows each part. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "dial9.h"
#include "trace/read/value.h"

static void put_f64(struct buf *out, double v)
{
	buf_printf(out, "f%g", v);
}

static void put_text(struct buf *out, struct dial9_str s, bool nested)
{
	buf_printf(out, "%s'%.*s'", nested ? "n" : "t", (int)s.len, s.ptr);
}

static void put_bytes(struct buf *out, const void *p, size_t sz)
{
	buf_printf(out, "b%zu", sz);
}

static void put_pooled(struct buf *out, const struct dial9_value *v, bool defined)
{
	buf_printf(out, "p%s=", defined ? "" : "?");
}

static const struct value_style style = {
	.absent = "none",
	.sep = ", ",
	.list = { "[L ", " L]" },
	.map = { "{M ", " M}" },
	.string_map = { "{S ", " S}" },
	.pair = { "<", ">" },
	.colon = ":",
	.f64 = put_f64,
	.text = put_text,
	.bytes = put_bytes,
	.pooled = put_pooled,
	.pooled_close = ";",
};

static struct dial9_enc *begin(const struct dial9_field *fields, size_t cnt,
			       struct dial9_schema **schema)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_schema_new("E", false, fields, cnt, schema), 0);
	cr_assert_eq(dial9_enc_new(&opts, &enc), 0);
	cr_assert_eq(dial9_enc_begin(enc, *schema, 0), 0);
	return enc;
}

/* Reads the one event back and prints its values, blanks between them. */
static void expect(struct dial9_enc *enc, struct dial9_schema *schema,
		   const struct value_style *how, bool resolve, const char *want)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts) };
	struct dial9_dec *dec;
	struct dial9_frame f;
	struct buf out = { 0 };
	size_t sz;

	cr_assert_eq(dial9_enc_end(enc), 0);
	opts.data = dial9_enc_data(enc, &sz);
	opts.data_sz = sz;
	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	do
		cr_assert_eq(dial9_dec_next(dec, &f), 1);
	while (f.kind != DIAL9_FRAME_EVENT);
	for (size_t i = 0; i < f.event.value_cnt; i++) {
		buf_addstr(&out, i ? " " : "");
		value_print(&out, how, resolve ? dec : NULL, &f.event.values[i]);
	}
	cr_assert_str_eq(buf_cstr(&out), want, "%s", buf_cstr(&out));
	buf_free(&out);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_schema_free(schema);
}

Test(value, writes_scalars_and_missing_values)
{
	static const struct dial9_field fields[] = {
		{ "a", DIAL9_VARINT }, { "b", DIAL9_I64 },
		{ "c", DIAL9_F64 },    { "d", DIAL9_BOOL },
		{ "e", DIAL9_STRING }, { "f", DIAL9_BYTES },
		{ "g", DIAL9_U8 },     { "h", DIAL9_U32 | DIAL9_OPTIONAL },
	};
	struct dial9_schema *schema;
	struct dial9_enc *enc = begin(fields, 8, &schema);

	dial9_enc_put_u64(enc, UINT64_MAX);
	dial9_enc_put_i64(enc, INT64_MIN);
	dial9_enc_put_f64(enc, 0.5);
	dial9_enc_put_bool(enc, true);
	dial9_enc_put_str(enc, "x", 1);
	dial9_enc_put_bytes(enc, "abc", 3);
	dial9_enc_put_u64(enc, 255);
	dial9_enc_put_none(enc);
	expect(enc, schema, &style, true,
	       "18446744073709551615 -9223372036854775808 f0.5 true t'x' b3 255 none");
}

static const struct dial9_field nested[] = { { "m", DIAL9_MAP }, { "s", DIAL9_STRING_MAP } };

/* {1: [true, "x"], "k": {}} and {"p": "q", "r": ""} */
static struct dial9_enc *write_nested(struct dial9_schema **schema)
{
	static const struct dial9_str kv[][2] = { { { "p", 1 }, { "q", 1 } },
						  { { "r", 1 }, { "", 0 } } };
	struct dial9_enc *enc = begin(nested, 2, schema);

	dial9_enc_open_map(enc);
	dial9_enc_put_u64(enc, 1);
	dial9_enc_open_list(enc);
	dial9_enc_put_bool(enc, true);
	dial9_enc_put_str(enc, "x", 1);
	dial9_enc_close(enc);
	dial9_enc_put_str(enc, "k", 1);
	dial9_enc_open_map(enc);
	dial9_enc_close(enc);
	dial9_enc_close(enc);
	dial9_enc_put_map(enc, kv, 2);
	return enc;
}

Test(value, writes_nested_lists_and_maps)
{
	struct dial9_schema *schema;
	struct dial9_enc *enc = write_nested(&schema);

	expect(enc, schema, &style, true,
	       "{M <1:[L true, n'x' L]>, <n'k':{M  M}> M} {S <n'p':n'q'>, <n'r':n''> S}");
}

static void put_key(struct buf *out, const struct dial9_value *key)
{
	buf_printf(out, "key%" PRIu64, key->u64);
}

Test(value, calls_the_style_for_keys_that_are_no_text)
{
	struct value_style with_key = style;
	struct dial9_schema *schema;
	struct dial9_enc *enc = write_nested(&schema);

	with_key.key = put_key;
	expect(enc, schema, &with_key, true,
	       "{M <key1:[L true, n'x' L]>, <n'k':{M  M}> M} {S <n'p':n'q'>, <n'r':n''> S}");
}

static const struct dial9_field pooled[] = { { "a", DIAL9_POOLED_STRING },
					     { "b", DIAL9_POOLED_STACK },
					     { "c", DIAL9_STACK } };

static struct dial9_enc *write_pooled(struct dial9_schema **schema)
{
	static const uint64_t frames[] = { 10, 0x1000, 3 };
	struct dial9_enc *enc = begin(pooled, 3, schema);

	dial9_enc_put_str(enc, "x", 1);
	dial9_enc_put_stack(enc, frames, 2);
	dial9_enc_put_stack(enc, frames, 3);
	return enc;
}

Test(value, resolves_known_pool_ids)
{
	struct value_style hex = style;
	struct dial9_schema *schema;
	struct dial9_enc *enc = write_pooled(&schema);

	hex.hex_frames = true;
	expect(enc, schema, &hex, true, "p=t'x'; p=[0xa, 0x1000]; [0xa, 0x1000, 0x3]");
	enc = write_pooled(&schema);
	expect(enc, schema, &style, false, "p?=; p?=; [10, 4096, 3]");
}

Test(value, stops_soon_after_the_limit)
{
	struct value_style limited = style;
	struct dial9_schema *schema;
	struct dial9_enc *enc = write_nested(&schema);

	limited.max = 5;
	expect(enc, schema, &limited, true, "{M <1:[L  L]> M} {S  S}");
}
