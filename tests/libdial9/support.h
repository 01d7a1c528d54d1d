/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_LIBDIAL9_SUPPORT_H
#define D9_TESTS_LIBDIAL9_SUPPORT_H

/* Streams in memory for the codec's tests: load, feed in pieces, decode to the lines of `dump --json`. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inspect/dump.h"
#include "dial9.h"

struct bytes {
	uint8_t *p;
	size_t n;
};

static inline struct bytes load(const char *dir, const char *name)
{
	const char *top = getenv("D9_TOP");
	struct bytes b = { 0 };
	char path[512];
	long n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/%s%s", top ? top : ".", dir, name);
	f = fopen(path, "rb");
	cr_assert(f, "cannot open %s", path);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	b.p = malloc((size_t)n + 1);
	b.n = fread(b.p, 1, (size_t)n, f);
	cr_assert_eq(b.n, (size_t)n);
	b.p[b.n] = 0;
	fclose(f);
	return b;
}

/* A reader that returns `step` bytes at a time. */
struct feed {
	const uint8_t *p;
	size_t n, at, step;
	int err; /* returned once, at the end of the bytes */
};

static inline ssize_t feed_read(void *ctx, void *buf, size_t sz)
{
	struct feed *f = ctx;
	size_t n = f->n - f->at;
	int err = f->err;

	if (!n && err) {
		f->err = 0;
		return err;
	}
	if (n > f->step)
		n = f->step;
	if (n > sz)
		n = sz;
	memcpy(buf, f->p + f->at, n);
	f->at += n;
	return (ssize_t)n;
}

static inline struct dial9_dec *dec_memory(const void *p, size_t n)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .data = p, .data_sz = n };
	struct dial9_dec *dec;

	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	return dec;
}

static inline struct dial9_dec *dec_feed(struct feed *f)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .read = feed_read, .ctx = f };
	struct dial9_dec *dec;

	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	return dec;
}

/*
 * All frames of a decoder in the format of `dump --json`; the caller frees. (Inlined, gcc 12 takes the text for
 * a dangling pointer.)
 */
__attribute__((noinline, unused)) static char *dump_lines(struct dial9_dec *dec,
							  struct dump_tally *tally, int *err)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	*err = dump_run(dec, &(struct dump_how){ .json = true }, f, tally);
	fclose(f);
	return text;
}

/* The encoder's output; fails the test on an error. */
static inline const uint8_t *enc_bytes(const struct dial9_enc *enc, size_t *n)
{
	const uint8_t *p = dial9_enc_data(enc, n);

	cr_assert(p);
	return p;
}

static inline struct dial9_schema *schema(const char *name, bool ts,
					  const struct dial9_field *fields, size_t cnt)
{
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new(name, ts, fields, cnt, &s), 0);
	return s;
}

/* Expects exactly these bytes as an encoder's output. */
#define assert_stream(enc, ...)                                                                    \
	do {                                                                                       \
		static const uint8_t want_[] = { __VA_ARGS__ };                                    \
		size_t n_;                                                                         \
		const uint8_t *p_ = enc_bytes(enc, &n_);                                           \
		cr_assert_arr_eq(p_, want_, n_ < sizeof(want_) ? n_ : sizeof(want_));              \
		cr_assert_eq(n_, sizeof(want_), "%zu bytes, not %zu", n_, sizeof(want_));          \
	} while (0)

#define HEADER 'T', 'R', 'C', 0, 1

#endif
