/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_APITRACE_SUPPORT_H
#define D9_TESTS_FORMATS_APITRACE_SUPPORT_H

/* apitrace streams in memory: loaded, dumped, converted there and back. */
#include "tests/formats/support.h"

#include <zlib.h>

#include "formats/apitrace/apitrace.h"
#include "formats/container.h"

/* gzopen() reads files that are not gzip unchanged; raw keeps gzip unchanged, too. */
static inline struct buf load(const char *name, bool raw)
{
	struct buf path, full = { 0 }, b = { 0 };
	char piece[65536];
	FILE *f = NULL;
	gzFile gz = NULL;
	long n = 0;

	buf_printf(&full, "apitrace/%s", name);
	path = golden_path(buf_cstr(&full));
	buf_free(&full);
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
	return dump_one(&apitrace_format, trace, out, notes);
}

static inline int import(const struct buf *trace, const struct foreign_opts *opts, struct buf *out,
			 struct foreign_notes *notes)
{
	return import_one(&apitrace_format, trace, opts, out, notes);
}

static inline int export(const struct buf *trace, struct buf *out, struct foreign_notes *notes)
{
	return export_one(&apitrace_format, trace, out, notes);
}

/* The bytes inside a container; NULL reason if it is complete. */
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
