// SPDX-License-Identifier: BSD-2-Clause
/*
 * pack.c - gzip and zstd as a trace wants them: flushed often
 *
 * Owns the libraries' states. Both are driven alike: input is handed over, and output is taken a block at a
 * time until there is no more. With memory at hand neither can fail.
 */
#include "record/pack.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

enum { GZIP_WINDOW = 15 + 16, MEM_LEVEL = 8, BLOCK = 64 << 10, INPUT_MAX = 1 << 30 };

enum { GOOD_LEN = 32, MATCH_MAX = 258, CHAIN_MAX = 64 };

enum step { STEP_PUT, STEP_FLUSH, STEP_END };

struct pack {
	enum pack_kind kind;
	pack_write_fn fn;
	void *ctx;
	z_stream z;
	ZSTD_CCtx *zstd;
	int level; /* of gzip, that was asked for */
	enum pack_pace pace;
	bool dirty; /* something was put since the last flush */
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

unsigned int pack_level_max(enum pack_kind kind)
{
	return kind == PACK_GZIP ? Z_BEST_COMPRESSION : kind == PACK_ZSTD ? ZSTD_maxCLevel() : 0;
}

const char *pack_suffix(enum pack_kind kind)
{
	return kind == PACK_GZIP ? ".gz" : kind == PACK_ZSTD ? ".zst" : "";
}

/*
 * Unless a level is asked for: what stands in a trace often has stood so a few events before, a stack for one, in
 * pieces as long as can be told of. Half the library's own search, but for the best of what it finds,
 * takes less time and room than the library's choice.
 */
static void tune(struct pack *p)
{
	if (p->level == Z_DEFAULT_COMPRESSION)
		deflateTune(&p->z, GOOD_LEN, MATCH_MAX, MATCH_MAX, CHAIN_MAX);
}

struct pack *pack_new(enum pack_kind kind, unsigned int level, pack_write_fn fn, void *ctx)
{
	struct pack *p;

	if (kind == PACK_NONE)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->kind = kind;
	p->fn = fn;
	p->ctx = ctx;
	if (kind == PACK_ZSTD) {
		p->zstd = ZSTD_createCCtx();
		if (!p->zstd)
			abort();
		if (level)
			ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, (int)level);
		return p;
	}
	p->z.zalloc = z_alloc;
	p->z.zfree = z_free;
	p->level = level ? (int)level : Z_DEFAULT_COMPRESSION;
	deflateInit2(&p->z, p->level, Z_DEFLATED, GZIP_WINDOW, MEM_LEVEL, Z_DEFAULT_STRATEGY);
	tune(p);
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	if (p->kind == PACK_GZIP)
		deflateEnd(&p->z);
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

static int gzip_step(struct pack *p, const void *data, size_t sz, enum step step)
{
	static const int flushes[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH };
	int err = 0;

	p->z.next_in = (Bytef *)data;
	p->z.avail_in = (uInt)sz;
	do {
		p->z.next_out = p->block;
		p->z.avail_out = BLOCK;
		deflate(&p->z, flushes[step]);
		if (p->z.avail_out < BLOCK)
			err = p->fn(p->ctx, p->block, BLOCK - p->z.avail_out);
	} while (!err && !p->z.avail_out);
	return err;
}

static int zstd_step(struct pack *p, const void *data, size_t sz, enum step step)
{
	static const ZSTD_EndDirective ends[] = { ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end };
	ZSTD_inBuffer in = { data, sz, 0 };
	size_t left;
	int err = 0;

	do {
		ZSTD_outBuffer out = { p->block, BLOCK, 0 };

		left = ZSTD_compressStream2(p->zstd, &out, &in, ends[step]);
		if (ZSTD_isError(left))
			return -ENOMEM;
		if (out.pos)
			err = p->fn(p->ctx, p->block, out.pos);
	} while (!err && (step == STEP_PUT ? in.pos < in.size : left));
	return err;
}

static int take_step(struct pack *p, const void *data, size_t sz, enum step step)
{
	return p->kind == PACK_GZIP ? gzip_step(p, data, sz, step) : zstd_step(p, data, sz, step);
}

int pack_put(struct pack *p, const void *data, size_t sz)
{
	const uint8_t *at = data;
	int err = 0;

	p->dirty |= sz != 0;
	while (sz && !err) {
		size_t n = sz < INPUT_MAX ? sz : INPUT_MAX;

		err = take_step(p, at, n, STEP_PUT);
		at += n;
		sz -= n;
	}
	return err;
}

int pack_flush(struct pack *p)
{
	if (!p->dirty)
		return 0;
	p->dirty = false;
	return take_step(p, NULL, 0, STEP_FLUSH);
}

/* Flushed before, so that there is nothing left to be packed by the level before. */
int pack_set_pace(struct pack *p, enum pack_pace pace)
{
	const int levels[] = { p->level, Z_BEST_SPEED, Z_NO_COMPRESSION };
	int err;

	if (p->kind != PACK_GZIP || pace == p->pace)
		return 0;
	err = take_step(p, NULL, 0, STEP_FLUSH);
	p->pace = pace;
	p->z.next_out = p->block;
	p->z.avail_out = BLOCK;
	deflateParams(&p->z, levels[pace], Z_DEFAULT_STRATEGY);
	if (pace == PACK_AS_ASKED)
		tune(p);
	if (!err && p->z.avail_out < BLOCK)
		err = p->fn(p->ctx, p->block, BLOCK - p->z.avail_out);
	return err;
}

int pack_end(struct pack *p)
{
	return take_step(p, NULL, 0, STEP_END);
}
