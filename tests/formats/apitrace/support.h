/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_APITRACE_SUPPORT_H
#define D9_TESTS_FORMATS_APITRACE_SUPPORT_H

/* apitrace streams in memory: loaded, dumped, converted there and back. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "formats/apitrace/apitrace.h"
#include "formats/container.h"

static inline void quiet(void)
{
	int fd = open("/dev/null", O_WRONLY);

	dup2(fd, STDERR_FILENO);
	close(fd);
}

static inline int add_to_buf(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

/* gzopen() reads what is not gzip as it is; raw keeps gzip as it is, too. */
static inline struct buf load(const char *name, bool raw)
{
	const char *top = getenv("D9_TOP");
	struct buf path = { 0 }, b = { 0 };
	char piece[65536];
	FILE *f = NULL;
	gzFile gz = NULL;
	long n = 0;

	buf_printf(&path, "%s/tests/golden/apitrace/%s", top ? top : ".", name);
	if (raw)
		f = fopen(buf_cstr(&path), "rb");
	else
		gz = gzopen(buf_cstr(&path), "rb");
	cr_assert(f || gz, "cannot open %s", buf_cstr(&path));
	while ((n = raw ? (long)fread(piece, 1, sizeof(piece), f) :
			  (long)gzread(gz, piece, sizeof(piece))) > 0)
		buf_add(&b, piece, (size_t)n);
	if (f)
		fclose(f);
	if (gz)
		gzclose(gz);
	buf_free(&path);
	return b;
}

static inline int dump(const struct buf *trace, struct buf *out, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	return apitrace_format.dump(&in, &opts, add_to_buf, out, notes);
}

/* A stream that cannot go back, in small pieces. */
static inline ssize_t pipe_read(void *ctx, void *buf, size_t sz)
{
	struct foreign_mem *m = ctx;
	size_t n = m->pos % 61 + 1;

	n = n < sz ? n : sz;
	n = n < m->sz - m->pos ? n : m->sz - m->pos;
	memcpy(buf, (const char *)m->data + m->pos, n);
	m->pos += n;
	return (ssize_t)n;
}

static inline int import(const struct buf *trace, const struct foreign_opts *opts, struct buf *out,
			 struct foreign_notes *notes)
{
	struct dial9_enc_opts enc_opts = { .sz = sizeof(enc_opts),
					   .write = add_to_buf,
					   .ctx = out,
					   .level = opts->level,
					   .first_type_id = 256 };
	struct foreign_mem mem;
	struct foreign_input in;
	struct dial9_enc *enc;
	int err;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	if (opts->follow) {
		in.read = pipe_read;
		in.rewind = NULL;
	}
	cr_assert_eq(dial9_enc_new(&enc_opts, &enc), 0);
	err = apitrace_format.import(&in, 1, opts, enc, notes);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	dial9_enc_free(enc);
	return err;
}

static inline int export(const struct buf *trace, struct buf *out, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	return apitrace_format.export(&in, &opts, add_to_buf, out, notes);
}

/* The bytes inside of a container; NULL reason when it is whole. */
static inline struct buf unpack(const struct buf *file, const char **reason, bool *cut)
{
	struct container *box;
	struct foreign_mem mem;
	struct foreign_input in;
	struct buf out = { 0 };
	char piece[4096];
	ssize_t n;

	foreign_mem_input(&mem, file->data, file->len, &in);
	cr_assert_eq(container_open(&in, NULL, NULL, &box), 0);
	while ((n = container_read(box, piece, sizeof(piece))) > 0)
		buf_add(&out, piece, (size_t)n);
	cr_assert(n == 0 || n == -EBADMSG);
	if (reason)
		*reason = container_error(box);
	if (cut)
		*cut = container_is_cut(box);
	container_close(box);
	return out;
}

/* A stream in a snappy container. */
static inline struct buf pack(const void *stream, size_t sz)
{
	struct container_out *box;
	struct buf out = { 0 };

	cr_assert_eq(container_out_new(add_to_buf, &out, &box), 0);
	cr_assert_eq(container_out_add(box, stream, sz), 0);
	cr_assert_eq(container_out_finish(box), 0);
	container_out_free(box);
	return out;
}

#endif /* D9_TESTS_FORMATS_APITRACE_SUPPORT_H */
