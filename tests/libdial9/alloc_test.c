// SPDX-License-Identifier: BSD-2-Clause
/*
 * No allocation for an event, on either side, once the first of each type has passed. Allocations are
 * counted by replacing malloc, and under AddressSanitizer by its hooks.
 */
/* ALONE: malloc(), calloc(), realloc() */
#include "tests/libdial9/support.h"

/* Volatile: a compiler assumes that malloc() changes no variable of ours. */
static volatile size_t allocations;

#if defined(__SANITIZE_ADDRESS__)
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
					      void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *p, size_t sz)
{
	(void)p;
	(void)sz;
	allocations++;
}

static void on_free(const volatile void *p)
{
	(void)p;
}

static void start_counting(void)
{
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	allocations = 0;
}
#else
void *__libc_malloc(size_t sz);
void *__libc_calloc(size_t cnt, size_t sz);
void *__libc_realloc(void *p, size_t sz);

void *malloc(size_t sz)
{
	allocations++;
	return __libc_malloc(sz);
}

void *calloc(size_t cnt, size_t sz)
{
	allocations++;
	return __libc_calloc(cnt, sz);
}

void *realloc(void *p, size_t sz)
{
	allocations++;
	return __libc_realloc(p, sz);
}

static void start_counting(void)
{
	allocations = 0;
}
#endif

static const struct dial9_field fields[] = {
	{ "v", DIAL9_VARINT }, { "s", DIAL9_STRING },	  { "p", DIAL9_POOLED_STRING },
	{ "k", DIAL9_STACK },  { "m", DIAL9_STRING_MAP }, { "o", DIAL9_U32 | DIAL9_OPTIONAL },
};

static int put_event(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t i)
{
	const struct dial9_str kv[1][2] = { { { "k", 1 }, { "v", 1 } } };
	const uint64_t frames[] = { i, i + 1, i + 2 };

	dial9_enc_begin(enc, s, i * 30000000);
	dial9_enc_put_u64(enc, i);
	dial9_enc_put_str(enc, "text", 4);
	dial9_enc_put_str(enc, "pooled", 6);
	dial9_enc_put_stack(enc, frames, 3);
	dial9_enc_put_map(enc, kv, 1);
	if (i % 2)
		dial9_enc_put_none(enc);
	else
		dial9_enc_put_u64(enc, i);
	return dial9_enc_end(enc);
}

static int drop(void *ctx, const void *data, size_t sz)
{
	(void)ctx;
	(void)data;
	(void)sz;
	return 0;
}

Test(alloc, allocations_are_counted)
{
	void *volatile p;

	start_counting();
	p = malloc(100);
	cr_assert_geq(allocations, 1);
	free(p);
}

Test(alloc, encoding_an_event_allocates_nothing)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .write = drop, .flush_at = 4096 };
	struct dial9_schema *s = schema("E", true, fields, 6);
	struct dial9_enc *enc;
	int err = 0;
	uint64_t i;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	for (i = 0; i < 1000; i++)
		err |= put_event(enc, s, i);
	start_counting();
	for (; i < 100000; i++)
		err |= put_event(enc, s, i);
	cr_assert_eq(allocations, 0);
	cr_assert_eq(err, 0);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

static void check_decoding(struct dial9_dec *dec, unsigned int cnt)
{
	struct dial9_frame f;
	unsigned int events = 0;
	size_t during = 0;

	while (dial9_dec_next(dec, &f) == 1) {
		events += f.kind == DIAL9_FRAME_EVENT;
		if (events == 100)
			start_counting();
		during = allocations;
	}
	cr_assert_eq(events, cnt);
	cr_assert_eq(during, 0);
	dial9_dec_free(dec);
}

/* 20,000 events. The bytes are the encoder's. */
static const uint8_t *encode_events(struct dial9_schema *s, struct dial9_enc **enc, size_t *n)
{
	uint64_t i;

	cr_assert_eq(dial9_enc_new(NULL, enc), 0);
	for (i = 0; i < 20000; i++)
		cr_assert_eq(put_event(*enc, s, i), 0);
	return enc_bytes(*enc, n);
}

Test(alloc, decoding_an_event_allocates_nothing)
{
	struct dial9_schema *s = schema("E", true, fields, 6);
	struct dial9_enc *enc;
	struct feed feed;
	const uint8_t *p;
	size_t n;

	p = encode_events(s, &enc, &n);
	check_decoding(dec_memory(p, n), 20000);
	feed = (struct feed){ p, n, 0, 4096, 0 };
	check_decoding(dec_feed(&feed), 20000);
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

/* Copies each event; copies are freed ten events later. */
static void check_copying(struct dial9_dec *dec, unsigned int cnt)
{
	struct dial9_event *kept[10] = { 0 };
	struct dial9_frame f;
	unsigned int copies = 0, i;
	size_t during = 0;

	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		dial9_event_free(kept[copies % 10]);
		if (copies == 100)
			start_counting();
		cr_assert_eq(dial9_event_copy(dec, &f.event, &kept[copies++ % 10]), 0);
		during = allocations;
	}
	cr_assert_eq(copies, cnt);
	cr_assert_lt(during, cnt / 10, "an allocation for many copies");
	for (i = 0; i < 10; i++)
		dial9_event_free(kept[i]);
	dial9_dec_free(dec);
}

/* The same without one to keep. */
static void check_copying_one(struct dial9_dec *dec)
{
	struct dial9_event *copy;
	struct dial9_frame f;
	size_t copies = 0, during = 0;

	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		if (copies++ == 100)
			start_counting();
		cr_assert_eq(dial9_event_copy(dec, &f.event, &copy), 0);
		dial9_event_free(copy);
		during = allocations;
	}
	cr_assert_eq(during, 0);
	dial9_dec_free(dec);
}

Test(alloc, copies_that_are_soon_freed_hardly_allocate)
{
	struct dial9_schema *s = schema("E", true, fields, 6);
	struct dial9_enc *enc;
	const uint8_t *p;
	size_t n;

	p = encode_events(s, &enc, &n);
	check_copying(dec_memory(p, n), 20000);
	check_copying_one(dec_memory(p, n));
	dial9_schema_free(s);
	dial9_enc_free(enc);
}
