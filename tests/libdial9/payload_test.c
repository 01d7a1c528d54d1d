// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps, lists and pooled stacks in types known at compile time: upstream's own events, declared here, come out byte
 * for byte as the format's reference wrote them.
 */
#include "tests/libdial9/support.h"

#include "trace/source/source.h"

#define CPU_SAMPLE(X)                                                                              \
	X(VARINT, worker_id)                                                                       \
	X(U32, tid)                                                                                \
	X(U8, source)                                                                              \
	X(OPT_POOLED_STRING, thread_name)                                                          \
	X(POOLED_STACK, callchain)                                                                 \
	X(OPT_VARINT, cpu)
DIAL9_EVENT(cpu_sample, "CpuSampleEvent", CPU_SAMPLE)

#define SEGMENT_METADATA(X) X(STRING_MAP, entries)
DIAL9_EVENT(segment_metadata, "SegmentMetadataEvent", SEGMENT_METADATA)

#define DYNAMIC(X) X(LIST, list) X(MAP, map) X(OPT_LIST, olist) X(OPT_MAP, omap)
DIAL9_EVENT(dynamic, "Dyn", DYNAMIC)

#define POOLED(X) X(POOLED_STACK, st) X(OPT_POOLED_STACK, ost)
DIAL9_EVENT(pooled, "Sample", POOLED)

#define MAPS(X) X(OPT_STRING_MAP, a) X(STRING_MAP, b) X(STACK, k) X(LIST, l)
DIAL9_EVENT(maps, "Maps", MAPS)

/* A golden trace, inflated. */
static struct bytes load_gz(const char *name)
{
	const char *top = getenv("D9_TOP");
	struct bytes b = { .p = malloc(1 << 25) };
	struct source *src;
	char path[512];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/%s", top ? top : ".", name);
	cr_assert_eq(source_open(path, &src), 0);
	while ((n = source_read(src, b.p + b.n, (1 << 25) - b.n)) > 0)
		b.n += (size_t)n;
	cr_assert_eq(n, 0);
	source_close(src);
	return b;
}

/* Functions that read an event into a struct and write it to enc: 0, 1 if it is another event, -errno. */
typedef int (*again_fn)(struct dial9_reader *r, const struct dial9_dec *dec,
			const struct dial9_event *ev, struct dial9_enc *enc,
			struct dial9_event_type *type);

#define AGAIN(name)                                                                                \
	static int name##_again(struct dial9_reader *r, const struct dial9_dec *dec,               \
				const struct dial9_event *ev, struct dial9_enc *enc,               \
				struct dial9_event_type *type)                                     \
	{                                                                                          \
		struct name s;                                                                     \
		int got = name##_read(r, dec, ev, &s);                                             \
                                                                                                   \
		return got == 1 ? name##_write(enc, type, &s) : got < 0 ? got : 1;                 \
	}
AGAIN(cpu_sample)
AGAIN(segment_metadata)
AGAIN(dynamic)
AGAIN(pooled)

/* Each such event of the trace, read and written again, has the same bytes. Returns their number. */
static unsigned int check_again(const struct bytes *bin, int (*make_schema)(struct dial9_schema **),
				int (*make_reader)(struct dial9_reader **), again_fn again)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct dial9_dec *dec = dec_memory(bin->p, bin->n);
	struct dial9_event_type type = { 0 };
	struct dial9_schema *schema;
	struct dial9_reader *r;
	struct dial9_enc *enc;
	struct dial9_frame f;
	unsigned int cnt = 0;
	const uint8_t *p;
	size_t n, want;
	int err;

	cr_assert_eq(make_schema(&schema) + make_reader(&r) + dial9_enc_new(&o, &enc), 0);
	type.schema = schema;
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		err = again(r, dec, &f.event, enc, &type);
		if (err == 1)
			continue;
		cr_assert_eq(err, 0, "%d: %s", err, dial9_enc_error(enc));
		cr_assert(dial9_schema_equal(f.event.schema, schema));
		/* After tag, type id and delta. */
		want = dial9_dec_consumed(dec) - f.offset - 6;
		p = enc_bytes(enc, &n);
		cr_assert_geq(n, want + 6);
		cr_assert_arr_eq(p + n - want, bin->p + f.offset + 6, want, "at %zu",
				 (size_t)f.offset);
		cr_assert_eq(p[n - want - 6], 2);
		dial9_enc_clear(enc);
		cnt++;
	}
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_reader_free(r);
	dial9_schema_free(schema);
	return cnt;
}

Test(payload, declared_upstream_events_have_the_bytes_of_upstream)
{
	struct bytes bin = load_gz("tokio-service.bin.gz");

	cr_assert_gt(check_again(&bin, cpu_sample_schema, cpu_sample_reader, cpu_sample_again),
		     100);
	cr_assert_gt(check_again(&bin, segment_metadata_schema, segment_metadata_reader,
				 segment_metadata_again),
		     0);
	free(bin.p);
}

Test(payload, lists_maps_and_pooled_stacks_have_the_bytes_of_the_reference)
{
	struct bytes bin = load("ext/", "dynamic.bin");

	cr_assert_gt(check_again(&bin, dynamic_schema, dynamic_reader, dynamic_again), 1);
	free(bin.p);
	bin = load("ext/", "stack_pool.bin");
	cr_assert_gt(check_again(&bin, pooled_schema, pooled_reader, pooled_again), 0);
	free(bin.p);
}

static struct dial9_enc *encoder(int level)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = level };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	return enc;
}

Test(payload, members_with_several_parts_are_written_completely)
{
	static const struct dial9_str pairs[][2] = { { { "a", 1 }, { "", 0 } },
						     { { "a", 1 }, { "long enough", 11 } } };
	static const struct dial9_value values[] = { { .type = DIAL9_VARINT, .u64 = 300 },
						     { .type = DIAL9_F64, .f64 = 1.5 } };
	static const uint64_t frames[] = { 7, 8, 9 };
	struct maps in = { 5, { true, { pairs, 1 } }, { pairs, 2 }, { frames, 3 }, { values, 2 } };
	struct dial9_enc *enc = encoder(DIAL9_LEVEL_4);
	struct dial9_event_type type = { 0 };
	struct dial9_schema *schema;
	struct dial9_reader *r;
	struct dial9_dec *dec;
	struct dial9_frame f;
	struct maps out;
	const uint8_t *p;
	unsigned int i;
	size_t n;

	cr_assert_eq(maps_schema(&schema) + maps_reader(&r), 0);
	type.schema = schema;
	for (i = 0; i < 2; i++, in.a.present = false)
		cr_assert_eq(maps_write(enc, &type, &in), 0);
	p = enc_bytes(enc, &n);
	dec = dec_memory(p, n);
	for (i = 0; dial9_dec_next(dec, &f) == 1;) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		cr_assert_eq(maps_read(r, dec, &f.event, &out), 1);
		cr_assert_eq(out.a.present, !i++);
		cr_assert_eq(out.a.value.cnt, out.a.present ? 1 : 0);
		if (out.a.present)
			cr_assert_arr_eq(out.a.value.kv[0][0].ptr, "a", 1);
		cr_assert_eq(out.b.cnt, 2);
		cr_assert_eq(out.b.kv[1][1].len, 11);
		cr_assert_arr_eq(out.b.kv[1][1].ptr, "long enough", 11);
		cr_assert_eq(out.k.cnt, 3);
		cr_assert_arr_eq(out.k.frames, frames, sizeof(frames));
		cr_assert_eq(out.l.cnt, 2);
		cr_assert_eq(out.l.values[0].u64, 300);
		cr_assert_eq(out.l.values[1].f64, 1.5);
	}
	cr_assert_eq(i, 2);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_reader_free(r);
	dial9_schema_free(schema);
}

/* Bytes, text, stacks and inner lists of 20000 bytes each, ten times the buffer that an encoder begins with. */
Test(payload, buffer_grows_for_large_payloads)
{
	static uint8_t raw[20000], les[20000];
	static char text[20000];
	static struct dial9_str pairs[16][2];
	struct dial9_value v[] = {
		{ .type = DIAL9_BYTES, .str = { text, sizeof(text) } },
		{ .type = DIAL9_STRING, .str = { text, sizeof(text) } },
		{ .type = DIAL9_STACK, .stack = { les, sizeof(les) / 8 } },
		{ .type = DIAL9_LIST, .list = { raw, sizeof(raw), sizeof(raw) / 2 } },
	};
	struct maps in = { 1, { 0 }, { pairs, 1 }, { 0 }, { v, 1 } };
	struct dial9_event_type type = { 0 };
	struct dial9_schema *schema;
	struct dial9_enc *enc;
	size_t i, n, want;

	memset(text, 'x', sizeof(text));
	for (i = 0; i < sizeof(raw); i += 2)
		raw[i] = DIAL9_BOOL;
	cr_assert_eq(maps_schema(&schema), 0);
	type.schema = schema;
	for (i = 0; i < 20; i++) {
		enc = encoder(DIAL9_LEVEL_4);
		in.l.values = &v[i % 4];
		pairs[0][0] = (struct dial9_str){ text, i < 4 ? 0 : sizeof(text) * (i % 2) };
		pairs[0][1] = (struct dial9_str){ text, i < 4 ? 0 : sizeof(text) * (i % 3 == 0) };
		cr_assert_eq(maps_write(enc, &type, &in), 0);
		/* Header, schema; presence, pairs, stack, list. */
		want = 5 + 28 + 6 + 1 + 4 + 8 + pairs[0][0].len + pairs[0][1].len + 4 + 4 + 1 + 4 +
		       sizeof(text);
		enc_bytes(enc, &n);
		cr_assert_eq(n, want, "%zu bytes, not %zu", n, want);
		cr_assert_leq(dial9_enc_bytes(enc) + DIAL9_INLINE_SLACK,
			      (size_t)(((struct dial9_enc_head *)enc)->limit -
				       (const uint8_t *)dial9_enc_data(enc, &n)),
			      "not beyond the buffer");
		dial9_enc_free(enc);
	}
	dial9_schema_free(schema);
}

/* Space is reserved for all elements and not for the first; the widest numbers fit their types. */
Test(payload, buffer_grows_for_lists_of_several_elements)
{
	static char text[20000];
	const struct dial9_value v[] = {
		{ .type = DIAL9_U8, .u64 = UINT8_MAX },
		{ .type = DIAL9_U16, .u64 = UINT16_MAX },
		{ .type = DIAL9_U32, .u64 = UINT32_MAX },
		{ .type = DIAL9_BYTES, .str = { text, sizeof(text) } },
		{ .type = DIAL9_BYTES, .str = { text, sizeof(text) } },
	};
	struct maps in = { .timestamp_ns = 1, .l = { v, 5 } };
	struct dial9_enc *enc = encoder(DIAL9_LEVEL_4);
	struct dial9_event_type type = { 0 };
	struct dial9_schema *schema;
	size_t n;

	cr_assert_eq(maps_schema(&schema), 0);
	type.schema = schema;
	cr_assert_eq(maps_write(enc, &type, &in), 0);
	enc_bytes(enc, &n);
	/* Header, schema, head; no map, an empty one, no stack, the list. */
	cr_assert_eq(n, 5 + 28 + 6 + 1 + 4 + 4 + 4 + 2 + 3 + 5 + 2 * (5 + sizeof(text)));
	dial9_enc_free(enc);
	dial9_schema_free(schema);
}

static void expect_refused(struct dial9_enc *enc, struct dial9_event_type *type,
			   const struct dynamic *d, int err, const char *why)
{
	cr_assert_eq(dynamic_write(enc, type, d), err, "%s", why);
	cr_assert_str_eq(dial9_enc_error(enc), why);
	assert_stream(enc, HEADER);
}

Test(payload, invalid_elements_are_refused_with_the_name_of_the_field)
{
	struct dial9_enc *enc = encoder(DIAL9_LEVEL_4);
	struct dial9_value v[2] = { { .type = DIAL9_U8, .u64 = 255 }, { .type = DIAL9_BOOL } };
	struct dynamic d = { 1, { v, 1 }, { 0 }, { 0 }, { 0 } };
	struct dial9_event_type type = { 0 };
	struct dial9_schema *schema;

	cr_assert_eq(dynamic_schema(&schema), 0);
	type.schema = schema;
	v[0].u64 = 256;
	expect_refused(enc, &type, &d, -ERANGE, "Dyn.list: an element that does not fit its type");
	v[0] = (struct dial9_value){ .type = DIAL9_U16, .u64 = 65536 };
	expect_refused(enc, &type, &d, -ERANGE, "Dyn.list: an element that does not fit its type");
	v[0] = (struct dial9_value){ .type = DIAL9_U32, .u64 = 1ull << 32 };
	expect_refused(enc, &type, &d, -ERANGE, "Dyn.list: an element that does not fit its type");
	v[0] = (struct dial9_value){ 0 };
	expect_refused(enc, &type, &d, -EPROTOTYPE, "Dyn.list: an element of an impossible type");
	v[0] = (struct dial9_value){ .type = DIAL9_BOOL | DIAL9_OPTIONAL };
	expect_refused(enc, &type, &d, -EPROTOTYPE, "Dyn.list: an element of an impossible type");
	v[0] = (struct dial9_value){ .type = DIAL9_STRING, .str = { "\xff", 1 } };
	expect_refused(enc, &type, &d, -EILSEQ, "Dyn.list: text that is not UTF-8");
	v[0] = (struct dial9_value){ .type = DIAL9_LIST,
				     .list = { (const uint8_t *)"\x03", 1, 1 } };
	expect_refused(enc, &type, &d, -EPROTOTYPE, "Dyn.list: an element of an impossible type");
	d.list.cnt = 0;
	d.omap.present = true;
	d.omap.value = (struct dial9_map){ (const struct dial9_value(*)[2])v, (size_t)1 << 33 };
	expect_refused(enc, &type, &d, -E2BIG,
		       "Dyn.omap: longer than the format or the encoder's buf_max allows");
	dial9_enc_free(enc);
	dial9_schema_free(schema);
}

Test(payload, text_of_string_maps_is_checked)
{
	static const struct dial9_str key[1][2] = { { { "\xc0", 1 }, { "", 0 } } };
	static const struct dial9_str value[1][2] = { { { "", 0 }, { "\xc0", 1 } } };
	struct dial9_enc *enc = encoder(DIAL9_LEVEL_3);
	struct dial9_event_type type = { 0 };
	struct segment_metadata m = { 1, { key, 1 } };
	struct dial9_schema *schema;

	cr_assert_eq(segment_metadata_schema(&schema), 0);
	type.schema = schema;
	cr_assert_eq(segment_metadata_write(enc, &type, &m), -EILSEQ);
	m.entries.kv = value;
	cr_assert_eq(segment_metadata_write(enc, &type, &m), -EILSEQ);
	cr_assert_str_eq(dial9_enc_error(enc),
			 "SegmentMetadataEvent.entries: text that is not UTF-8");
	m.entries.cnt = (size_t)1 << 32;
	cr_assert_eq(segment_metadata_write(enc, &type, &m), -E2BIG);
	assert_stream(enc, HEADER);
	dial9_enc_free(enc);
	dial9_schema_free(schema);
}

Test(payload, types_of_level_4_need_an_encoder_of_level_4)
{
	struct dial9_enc *enc = encoder(DIAL9_LEVEL_3);
	struct dial9_event_type type = { 0 };
	struct cpu_sample s = { .tid = 1 };
	struct dial9_schema *schema;

	cr_assert_eq(cpu_sample_schema(&schema), 0);
	type.schema = schema;
	cr_assert_eq(cpu_sample_write(enc, &type, &s), -ENOTSUP);
	cr_assert_str_eq(dial9_enc_error(enc),
			 "CpuSampleEvent.callchain: PooledStack needs DIAL9_LEVEL_4");
	assert_stream(enc, HEADER);
	dial9_enc_free(enc);
	dial9_schema_free(schema);
}
