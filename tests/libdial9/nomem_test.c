// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
/*
 * The library must survive a lack of memory: each of its allocations fails once, one in each run of the same
 * work. The call returns -ENOMEM, nothing has changed, and repeated it succeeds. Linked so that malloc() and
 * its like go through the functions below (see the Makefile).
 */
#include "tests/libdial9/support.h"

static size_t until_failure; /* allocations, 0: none fails */
static size_t refused; /* calls that returned -ENOMEM */

void *__real_malloc(size_t sz);
void *__real_calloc(size_t cnt, size_t sz);
void *__real_realloc(void *p, size_t sz);
void *__wrap_malloc(size_t sz);
void *__wrap_calloc(size_t cnt, size_t sz);
void *__wrap_realloc(void *p, size_t sz);

static bool is_failing(void)
{
	return until_failure && !--until_failure;
}

void *__wrap_malloc(size_t sz)
{
	return is_failing() ? NULL : __real_malloc(sz);
}

void *__wrap_calloc(size_t cnt, size_t sz)
{
	return is_failing() ? NULL : __real_calloc(cnt, sz);
}

void *__wrap_realloc(void *p, size_t sz)
{
	return is_failing() ? NULL : __real_realloc(p, sz);
}

/* Calls it, and again if it fails. */
#define DO(call)                                                                                   \
	do {                                                                                       \
		int err_ = (call);                                                                 \
		if (err_ == -ENOMEM) {                                                             \
			refused++;                                                                 \
			err_ = (call);                                                             \
		}                                                                                  \
		cr_assert_eq(err_, 0, "%s: %d", #call, err_);                                      \
	} while (0)

#define SCHEMA_CNT 200

#define SEEN(X) X(STRING, text) X(POOLED_STRING, pooled) X(STACK, stack) X(OPT_LIST, list)
DIAL9_EVENT(seen, "Seen", SEEN)

static int put_seen(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t i)
{
	static const uint64_t frames[] = { 1, 2, 3 };
	char text[64];
	uint64_t j;

	snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);
	dial9_enc_begin(enc, s, i);
	dial9_enc_put_str(enc, text, strlen(text));
	dial9_enc_put_str(enc, text, strlen(text));
	dial9_enc_put_stack(enc, frames, 3);
	dial9_enc_open_list(enc);
	for (j = 0; j < 20; j++)
		dial9_enc_put_u64(enc, j);
	dial9_enc_close(enc);
	return dial9_enc_end(enc);
}

static int declared_seen(struct dial9_enc *enc, struct dial9_event_type *type, uint64_t i)
{
	static const uint64_t frames[600] = { 4, 5 };
	struct seen ev = { .timestamp_ns = i, .text = { "declared", 8 }, .stack = { frames, 600 } };
	int err = dial9_enc_intern(enc, "declared", 8, &ev.pooled);

	return err ? err : seen_write(enc, type, &ev);
}

static int many_schemas(struct dial9_enc *enc)
{
	struct dial9_value v = { .type = DIAL9_VARINT, .u64 = 7 };
	const struct dial9_field f = { "n", DIAL9_VARINT };
	struct dial9_schema *s;
	char name[16];
	size_t i;

	for (i = 0; i < SCHEMA_CNT; i++) {
		snprintf(name, sizeof(name), "type %zu", i);
		DO(dial9_schema_new(name, true, &f, 1, &s));
		DO(dial9_enc_write(enc, s, i, &v, 1));
		dial9_schema_free(s);
	}
	return 0;
}

static struct dial9_enc *write_all(void)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	const uint64_t frames[] = { 6, 7, 8 };
	struct dial9_event_type type = { 0 };
	struct dial9_schema *s;
	struct dial9_enc *enc;
	uint32_t id;
	uint64_t i;

	DO(dial9_enc_new(&o, &enc));
	DO(seen_schema(&s));
	DO(dial9_enc_register(enc, s, 100));
	DO(dial9_enc_annotate(enc, s, 0, (struct dial9_str){ "unit", 4 },
			      (struct dial9_str){ "words", 5 }));
	many_schemas(enc);
	type.schema = s;
	for (i = 0; i < 400; i++) {
		DO(put_seen(enc, s, i));
		DO(declared_seen(enc, &type, i));
		DO(dial9_enc_intern_stack(enc, frames, 1 + i % 3, &id));
	}
	DO(dial9_enc_define_string(enc, 1u << 20, "far", 3));
	DO(dial9_enc_define_stack(enc, 1u << 20, frames, 3));
	DO(dial9_enc_reset(enc));
	DO(put_seen(enc, s, 1));
	dial9_schema_free(s);
	return enc;
}

struct sums {
	uint64_t frames, events, text;
};

static int keep_one(const struct dial9_dec *dec, const struct dial9_event *ev, struct sums *sums)
{
	const struct dial9_event *in_batch;
	struct dial9_copies *copies;
	struct dial9_event *copy;

	DO(dial9_event_copy(dec, ev, &copy));
	sums->events++;
	sums->text += copy->value_cnt > 1 ? copy->values[1].str.len : 0;
	DO(dial9_copies_new(&copies));
	DO(dial9_copies_add(copies, dec, copy, &in_batch));
	sums->text += in_batch->value_cnt - copy->value_cnt;
	dial9_event_free(copy);
	dial9_copies_free(copies);
	return 0;
}

static int one_more(struct dial9_reader *r, const struct dial9_dec *dec,
		    const struct dial9_event *ev, struct sums *sums)
{
	struct seen s;
	int got = seen_read(r, dec, ev, &s);

	if (got < 0)
		return got;
	if (got)
		sums->text += s.text.len * 3 + s.stack.cnt + s.list.value.cnt;
	return 0;
}

static struct sums read_all(const void *data, size_t sz)
{
	struct feed feed = { data, sz, 0, 1000, 0 };
	struct dial9_dec_opts o = { .sz = sizeof(o), .read = feed_read, .ctx = &feed };
	struct sums sums = { 0 };
	struct dial9_reader *r;
	struct dial9_dec *dec;
	struct dial9_frame f;
	int more;

	DO(dial9_dec_new(&o, &dec));
	DO(seen_reader(&r));
	do {
		more = dial9_dec_next(dec, &f);
		if (more == -ENOMEM) {
			refused++;
			more = dial9_dec_next(dec, &f);
		}
		if (more != 1)
			break;
		sums.frames++;
		if (f.kind == DIAL9_FRAME_EVENT) {
			DO(one_more(r, dec, &f.event, &sums));
			keep_one(dec, &f.event, &sums);
		}
	} while (1);
	cr_assert_eq(more, 0);
	dial9_reader_free(r);
	dial9_dec_free(dec);
	return sums;
}

Test(nomem, writing_continues_after_any_failed_allocation)
{
	struct dial9_enc *want = write_all(), *got;
	size_t n, want_n, at = 0;
	const uint8_t *p, *want_p = enc_bytes(want, &want_n);

	do {
		refused = 0;
		until_failure = ++at;
		got = write_all();
		p = enc_bytes(got, &n);
		cr_assert_eq(n, want_n, "%zu bytes, not %zu, after allocation %zu", n, want_n, at);
		cr_assert_eq(memcmp(p, want_p, n), 0, "other bytes after allocation %zu", at);
		cr_assert(refused == 1 || until_failure, "allocation %zu failed unseen", at);
		dial9_enc_free(got);
	} while (!until_failure);
	cr_assert_gt(at, SCHEMA_CNT, "so many allocations there are at least");
	until_failure = 0;
	dial9_enc_free(want);
}

Test(nomem, reading_continues_after_any_failed_allocation)
{
	struct dial9_enc *enc = write_all();
	struct sums want, got;
	size_t n, at = 0;
	const uint8_t *p = enc_bytes(enc, &n);

	want = read_all(p, n);
	cr_assert_eq(want.events, SCHEMA_CNT + 801);
	do {
		refused = 0;
		until_failure = ++at;
		got = read_all(p, n);
		cr_assert_eq(memcmp(&got, &want, sizeof(got)), 0, "after allocation %zu", at);
		cr_assert(refused == 1 || until_failure, "allocation %zu failed unseen", at);
		/* The copies of each event are compared; they are all equal. */
		if (at > 2 * SCHEMA_CNT + 50)
			at += 100;
	} while (!until_failure);
	until_failure = 0;
	dial9_enc_free(enc);
}
