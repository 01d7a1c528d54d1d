// SPDX-License-Identifier: BSD-2-Clause
/* Copies of events: independent of decoder, input and trace, pool ids resolved, stacks aligned. */
#include "tests/libdial9/support.h"

#include <pthread.h>

enum { MANY = 3000, SCHEMAS = 100 };

static const struct dial9_field fields[] = {
	{ "v", DIAL9_VARINT }, { "s", DIAL9_STRING },	     { "p", DIAL9_POOLED_STRING },
	{ "k", DIAL9_STACK },  { "q", DIAL9_POOLED_STACK },  { "m", DIAL9_STRING_MAP },
	{ "l", DIAL9_LIST },   { "u", DIAL9_POOLED_STRING }, { "o", DIAL9_BYTES | DIAL9_OPTIONAL },
	{ "y", DIAL9_BYTES },
};

static struct dial9_event *make_copy(void)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	const struct dial9_str kv[1][2] = { { { "key", 3 }, { "value", 5 } } };
	struct dial9_schema *s = schema("E", true, fields, 10);
	const uint64_t frames[] = { 11, 22, 33 };
	struct dial9_event *copy = NULL;
	struct dial9_enc *enc;
	struct dial9_frame f;
	struct dial9_dec *dec;
	struct bytes bytes;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	dial9_enc_begin(enc, s, 99);
	dial9_enc_put_u64(enc, 7);
	dial9_enc_put_str(enc, "odd", 3);
	dial9_enc_put_str(enc, "pooled", 6);
	dial9_enc_put_stack(enc, frames, 3);
	dial9_enc_put_stack(enc, frames, 2);
	dial9_enc_put_map(enc, kv, 1);
	dial9_enc_open_list(enc);
	dial9_enc_put_u64(enc, 5);
	dial9_enc_close(enc);
	dial9_enc_put_str_id(enc, 1000);
	dial9_enc_put_none(enc);
	dial9_enc_put_bytes(enc, "\1\2", 2);
	cr_assert_eq(dial9_enc_end(enc), 0);
	bytes.p = malloc(4096);
	memcpy(bytes.p, enc_bytes(enc, &bytes.n), dial9_enc_bytes(enc));
	dec = dec_memory(bytes.p, bytes.n);
	while (dial9_dec_next(dec, &f) == 1)
		if (f.kind == DIAL9_FRAME_EVENT)
			cr_assert_eq(dial9_event_copy(dec, &f.event, &copy), 0);
	memset(bytes.p, 0xee, bytes.n);
	free(bytes.p);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_schema_free(s);
	return copy;
}

Test(copy, copy_outlives_its_source)
{
	struct dial9_event *ev = make_copy();
	const struct dial9_value *v = ev->values;
	struct dial9_value key, value;
	struct dial9_iter it;

	cr_assert_eq(ev->ts, 99);
	cr_assert_eq(ev->value_cnt, 10);
	cr_assert_str_eq(dial9_schema_field_name(ev->schema, 2), "p");
	cr_assert_eq(v[0].u64, 7);
	cr_assert_eq(strncmp(v[1].str.ptr, "odd", 3), 0);
	cr_assert_eq(v[2].type, DIAL9_STRING);
	cr_assert_eq(strncmp(v[2].str.ptr, "pooled", v[2].str.len), 0);
	cr_assert_eq((uintptr_t)v[3].stack.le % 8, 0);
	cr_assert_eq(dial9_value_frame(&v[3], 2), 33);
	cr_assert_eq(v[4].type, DIAL9_STACK);
	cr_assert_eq(v[4].stack.cnt, 2);
	cr_assert_eq(dial9_value_frame(&v[4], 1), 22);
	dial9_iter_init(&it, &v[5]);
	cr_assert_eq(dial9_map_next(&it, &key, &value), 1);
	cr_assert_eq(strncmp(value.str.ptr, "value", 5), 0);
	dial9_iter_init(&it, &v[6]);
	cr_assert_eq(dial9_list_next(&it, &value), 1);
	cr_assert_eq(value.u64, 5);
	cr_assert_eq(v[7].type, DIAL9_POOLED_STRING, "nothing defines it");
	cr_assert_eq(v[7].id, 1000);
	cr_assert_eq(v[8].type, 0);
	cr_assert_eq(v[9].str.ptr[1], 2);
	dial9_event_free(ev);
	dial9_event_free(NULL);
}

static struct dial9_enc *write_many(uint64_t first, struct dial9_schema **schemas)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	const struct dial9_field two[] = { { "v", DIAL9_VARINT }, { "s", DIAL9_STRING } };
	static char text[200000];
	struct dial9_enc *enc;
	char name[16];
	uint64_t i;

	memset(text, 'x', sizeof(text));
	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	for (i = 0; i < SCHEMAS; i++) {
		snprintf(name, sizeof(name), "E%d", (int)i);
		schemas[i] = schema(name, true, two, 2);
	}
	for (i = 0; i < MANY; i++) {
		dial9_enc_begin(enc, schemas[i * 7 % SCHEMAS], i);
		dial9_enc_put_u64(enc, first + i);
		dial9_enc_put_str(enc, text, i % 1000 ? i % 100 : sizeof(text) - i);
		cr_assert_eq(dial9_enc_end(enc), 0);
	}
	return enc;
}

/* Copies all events; the source is gone when it returns. */
static void copy_many(struct dial9_copies *copies, uint64_t first, const struct dial9_event **out)
{
	struct dial9_schema *schemas[SCHEMAS];
	struct dial9_enc *enc = write_many(first, schemas);
	struct dial9_frame f;
	struct dial9_dec *dec;
	struct bytes b;
	size_t cnt = 0;

	b.p = malloc(dial9_enc_bytes(enc));
	memcpy(b.p, enc_bytes(enc, &b.n), dial9_enc_bytes(enc));
	dec = dec_memory(b.p, b.n);
	while (dial9_dec_next(dec, &f) == 1)
		if (f.kind == DIAL9_FRAME_EVENT)
			cr_assert_eq(dial9_copies_add(copies, dec, &f.event, &out[cnt++]), 0);
	cr_assert_eq(cnt, MANY);
	memset(b.p, 0xee, b.n);
	free(b.p);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	for (cnt = 0; cnt < SCHEMAS; cnt++)
		dial9_schema_free(schemas[cnt]);
}

static void check_many(const struct dial9_event **evs, uint64_t first)
{
	const struct dial9_value *v;
	char name[16];
	uint64_t i, len;

	for (i = 0; i < MANY; i++) {
		v = evs[i]->values;
		len = i % 1000 ? i % 100 : 200000 - i;
		snprintf(name, sizeof(name), "E%d", (int)(i * 7 % SCHEMAS));
		cr_assert_eq(evs[i]->ts, i);
		cr_assert_str_eq(dial9_schema_name(evs[i]->schema), name);
		cr_assert_eq(v[0].u64, first + i);
		cr_assert_eq(v[1].str.len, len);
		cr_assert(!len || v[1].str.ptr[len - 1] == 'x', "event %d", (int)i);
	}
}

Test(copy, copies_of_many_events_outlive_their_source_and_each_other)
{
	static const struct dial9_event *evs[MANY];
	struct dial9_copies *copies;

	cr_assert_eq(dial9_copies_new(&copies), 0);
	copy_many(copies, 1, evs);
	check_many(evs, 1);
	dial9_copies_clear(copies);
	copy_many(copies, 1000000, evs);
	check_many(evs, 1000000);
	dial9_copies_free(copies);
	dial9_copies_free(NULL);
}

/* Single copies of all events; the source is gone when it returns. */
static void copy_singly(struct dial9_event **out)
{
	struct dial9_schema *schemas[SCHEMAS];
	struct dial9_enc *enc = write_many(1, schemas);
	struct dial9_frame f;
	struct dial9_dec *dec;
	struct bytes b;
	size_t cnt = 0;

	b.p = (uint8_t *)enc_bytes(enc, &b.n);
	dec = dec_memory(b.p, b.n);
	while (dial9_dec_next(dec, &f) == 1)
		if (f.kind == DIAL9_FRAME_EVENT)
			cr_assert_eq(dial9_event_copy(dec, &f.event, &out[cnt++]), 0);
	cr_assert_eq(cnt, MANY);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	for (cnt = 0; cnt < SCHEMAS; cnt++)
		dial9_schema_free(schemas[cnt]);
}

/* Frees every second copy from the given one on. */
static void *free_every_second(void *copies)
{
	struct dial9_event **ev = copies;
	int i;

	for (i = 0; i + 1 < MANY; i += 2)
		dial9_event_free(ev[i]);
	return NULL;
}

Test(copy, two_threads_may_free_copies_of_one_decoder)
{
	static struct dial9_event *evs[MANY + 1];
	pthread_t thread;

	copy_singly(evs);
	check_many((const struct dial9_event **)evs, 1);
	cr_assert_eq(pthread_create(&thread, NULL, free_every_second, evs + 1), 0);
	free_every_second(evs);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}
