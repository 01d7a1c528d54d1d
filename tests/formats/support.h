/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_SUPPORT_H
#define D9_TESTS_FORMATS_SUPPORT_H

/* Traces of any format in memory: loaded, imported from whole files and from pipes, exported. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "formats/foreign.h"

/* Refusals are expected to print their line. */
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

/* The path of a file below tests/golden. */
static inline struct buf golden_path(const char *name)
{
	const char *top = getenv("D9_TOP");
	struct buf path = { 0 };

	buf_printf(&path, "%s/tests/golden/%s", top ? top : ".", name);
	buf_cstr(&path);
	return path;
}

static inline struct buf load_golden(const char *name)
{
	struct buf path = golden_path(name), b = { 0 };
	FILE *f = fopen(path.data, "rb");
	char piece[65536];
	size_t n;

	cr_assert(f, "cannot open %s", path.data);
	while ((n = fread(piece, 1, sizeof(piece), f)))
		buf_add(&b, piece, n);
	fclose(f);
	buf_free(&path);
	return b;
}

/* A stream that cannot seek back, in small chunks. */
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

/* To dial9 of opts->level, in out; with opts->follow the inputs become pipes. */
static inline int import_inputs(const struct foreign_format *format, struct foreign_input *in,
				size_t cnt, const struct foreign_opts *opts, struct buf *out,
				struct foreign_notes *notes)
{
	struct dial9_enc_opts enc_opts = { .sz = sizeof(enc_opts),
					   .write = add_to_buf,
					   .ctx = out,
					   .level = opts->level,
					   .first_type_id = 256 };
	struct dial9_enc *enc;
	int err;

	for (size_t i = 0; opts->follow && i < cnt; i++) {
		in[i].read = pipe_read;
		in[i].rewind = NULL;
	}
	cr_assert_eq(dial9_enc_new(&enc_opts, &enc), 0);
	err = format->import(in, cnt, opts, enc, notes);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	dial9_enc_free(enc);
	return err;
}

static inline int import_one(const struct foreign_format *format, const struct buf *trace,
			     const struct foreign_opts *opts, struct buf *out,
			     struct foreign_notes *notes)
{
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	return import_inputs(format, &in, 1, opts, out, notes);
}

static inline int export_one(const struct foreign_format *format, const struct buf *dial9,
			     struct buf *out, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, dial9->data, dial9->len, &in);
	return format->export(&in, &opts, add_to_buf, out, notes);
}

static inline int dump_one(const struct foreign_format *format, const struct buf *trace,
			   struct buf *out, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	return format->dump(&in, &opts, add_to_buf, out, notes);
}

#endif /* D9_TESTS_FORMATS_SUPPORT_H */
