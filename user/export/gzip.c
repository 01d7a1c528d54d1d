// SPDX-License-Identifier: BSD-2-Clause
/* gzip for the compressed formats. Owns zlib's stream; only memory can fail. */
#include "export/gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

enum { GZIP_WINDOW = 15 + 16, MEM_LEVEL = 8, BLOCK = 64 << 10 };

struct gzip {
	z_stream z;
	gzip_fn fn;
	void *ctx;
	uint8_t block[BLOCK];
};

static void *z_alloc(void *ctx, uInt cnt, uInt sz)
{
	return xcalloc(cnt, sz);
}

static void z_free(void *ctx, void *p)
{
	free(p);
}

struct gzip *gzip_new(gzip_fn fn, void *ctx)
{
	struct gzip *g = xcalloc(1, sizeof(*g));

	g->fn = fn;
	g->ctx = ctx;
	g->z.zalloc = z_alloc;
	g->z.zfree = z_free;
	deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEM_LEVEL,
		     Z_DEFAULT_STRATEGY);
	return g;
}

void gzip_free(struct gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->z);
	free(g);
}

static void compress_input(struct gzip *g, int flush)
{
	int ret;

	do {
		g->z.next_out = g->block;
		g->z.avail_out = BLOCK;
		ret = deflate(&g->z, flush);
		if (g->z.avail_out < BLOCK)
			g->fn(g->ctx, g->block, BLOCK - g->z.avail_out);
	} while (ret == Z_OK && !g->z.avail_out);
}

void gzip_put(struct gzip *g, const void *data, size_t sz)
{
	g->z.next_in = (Bytef *)data;
	g->z.avail_in = (uInt)sz;
	compress_input(g, Z_NO_FLUSH);
}

void gzip_end(struct gzip *g)
{
	compress_input(g, Z_FINISH);
}
