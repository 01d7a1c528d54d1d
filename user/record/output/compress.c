// SPDX-License-Identifier: BSD-2-Clause
/*
 * compress.c - gzip and zstd for traces: flushed often
 *
 * Owns the libraries' states. Both are used in the same way: input is passed in, and output is fetched one block at
 * a time until there is no more. Neither can fail if memory is available.
 */
#include "record/output/compress.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

enum { GZIP_WINDOW = 15 + 16, MEM_LEVEL = 8, BLOCK = 64 << 10, INPUT_MAX = 1 << 30 };

enum { GOOD_LEN = 32, MATCH_MAX = 258, CHAIN_MAX = 64 };

enum step { STEP_PUT, STEP_FLUSH, STEP_END };

struct compress {
	enum compress_kind kind;
	compress_write_fn fn;
	void *ctx;
	z_stream z;
	ZSTD_CCtx *zstd;
	int level; /* requested, for gzip */
	enum compress_pace pace;
	bool dirty; /* bytes were added since the last flush */
	uint32_t flushed_crc, flushed_len; /* for gzip: trailer values at the last flush */
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

unsigned int compress_level_max(enum compress_kind kind)
{
	return kind == COMPRESS_GZIP ? Z_BEST_COMPRESSION :
	       kind == COMPRESS_ZSTD ? ZSTD_maxCLevel() :
				       0;
}

const char *compress_suffix(enum compress_kind kind)
{
	return kind == COMPRESS_GZIP ? ".gz" : kind == COMPRESS_ZSTD ? ".zst" : "";
}

/*
 * The defaults without a requested level. Repetitions in a trace, such as stacks, are recent and long. Half of the
 * library's default search with full effort for the best match takes less time and room than the library's default
 * level.
 */
static void tune(struct compress *p)
{
	if (p->level == Z_DEFAULT_COMPRESSION)
		deflateTune(&p->z, GOOD_LEN, MATCH_MAX, MATCH_MAX, CHAIN_MAX);
}

struct compress *compress_new(enum compress_kind kind, unsigned int level, compress_write_fn fn,
			      void *ctx)
{
	struct compress *p;

	if (kind == COMPRESS_NONE)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->kind = kind;
	p->fn = fn;
	p->ctx = ctx;
	if (kind == COMPRESS_ZSTD) {
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

void compress_free(struct compress *p)
{
	if (!p)
		return;
	if (p->kind == COMPRESS_GZIP)
		deflateEnd(&p->z);
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

static int gzip_step(struct compress *p, const void *data, size_t sz, enum step step)
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

static int zstd_step(struct compress *p, const void *data, size_t sz, enum step step)
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

static int compress_step(struct compress *p, const void *data, size_t sz, enum step step)
{
	return p->kind == COMPRESS_GZIP ? gzip_step(p, data, sz, step) :
					  zstd_step(p, data, sz, step);
}

int compress_put(struct compress *p, const void *data, size_t sz)
{
	const uint8_t *at = data;
	int err = 0;

	p->dirty |= sz != 0;
	while (sz && !err) {
		size_t n = sz < INPUT_MAX ? sz : INPUT_MAX;

		err = compress_step(p, at, n, STEP_PUT);
		at += n;
		sz -= n;
	}
	return err;
}

int compress_flush(struct compress *p)
{
	int err;

	if (!p->dirty)
		return 0;
	p->dirty = false;
	err = compress_step(p, NULL, 0, STEP_FLUSH);
	if (err)
		return err;
	p->flushed_crc = (uint32_t)p->z.adler;
	p->flushed_len = (uint32_t)p->z.total_in;
	return 0;
}

/* Flushes first, so that no input is left for the old level. */
int compress_set_pace(struct compress *p, enum compress_pace pace)
{
	const int levels[] = { p->level, Z_BEST_SPEED, Z_NO_COMPRESSION };
	int err;

	if (p->kind != COMPRESS_GZIP || pace == p->pace)
		return 0;
	err = compress_step(p, NULL, 0, STEP_FLUSH);
	p->pace = pace;
	p->z.next_out = p->block;
	p->z.avail_out = BLOCK;
	deflateParams(&p->z, levels[pace], Z_DEFAULT_STRATEGY);
	if (pace == COMPRESS_AS_ASKED)
		tune(p);
	if (!err && p->z.avail_out < BLOCK)
		err = p->fn(p->ctx, p->block, BLOCK - p->z.avail_out);
	return err;
}

int compress_end(struct compress *p)
{
	return compress_step(p, NULL, 0, STEP_END);
}

/* A block in a separate frame: neither has a checksum. */
static int end_zstd_with(struct compress *p, const void *tail, size_t sz)
{
	const uint32_t block = (uint32_t)sz << 3 | 1; /* last block, stored */
	const unsigned char head[] = { 0x28,
				       0xb5,
				       0x2f,
				       0xfd,
				       0x20 /* single segment, its size in one byte */,
				       (unsigned char)sz,
				       (unsigned char)block,
				       (unsigned char)(block >> 8),
				       (unsigned char)(block >> 16) };
	unsigned char frame[sizeof(head) + COMPRESS_TAIL_MAX];
	int err = compress_step(p, NULL, 0, STEP_END);

	memcpy(frame, head, sizeof(head));
	memcpy(frame + sizeof(head), tail, sz);
	return err ? err : p->fn(p->ctx, frame, sizeof(head) + sz);
}

int compress_end_with(struct compress *p, const void *tail, size_t sz)
{
	int err;

	if (sz > COMPRESS_TAIL_MAX)
		return -EINVAL;
	if (p->kind == COMPRESS_ZSTD)
		return end_zstd_with(p, tail, sz);
	err = compress_flush(p);
	if (!err)
		err = compress_set_pace(p, COMPRESS_STORE);
	return err ? err : compress_step(p, tail, sz, STEP_END);
}

static void put_u32(unsigned char *out, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(v >> 8 * i);
}

/* A flush ends at a byte boundary; an empty last block after it ends the stream. */
size_t compress_ending(const struct compress *p, unsigned char out[COMPRESS_ENDING_MAX])
{
	static const unsigned char deflate_block[] = { 0x03, 0x00 }, zstd_block[] = { 1, 0, 0 };

	if (p->kind == COMPRESS_ZSTD) {
		memcpy(out, zstd_block, sizeof(zstd_block));
		return sizeof(zstd_block);
	}
	memcpy(out, deflate_block, sizeof(deflate_block));
	put_u32(out + 2, p->flushed_crc);
	put_u32(out + 6, p->flushed_len);
	return 10;
}

/* ---- reading the first bytes -------------------------------------------------------------------- */

enum { PEEK_STEP = 4 << 10, PEEK_MAX = 192 << 10 };

static size_t peek_gzip(int fd, void *out, size_t sz)
{
	z_stream z = { .next_out = out, .avail_out = (uInt)sz };
	uint8_t in[PEEK_STEP];
	off_t at = 0;
	ssize_t n;
	int ret = inflateInit2(&z, GZIP_WINDOW);

	while (ret == Z_OK && z.avail_out && at < PEEK_MAX &&
	       (n = pread(fd, in, sizeof(in), at)) > 0) {
		at += n;
		z.next_in = in;
		z.avail_in = (uInt)n;
		ret = inflate(&z, Z_SYNC_FLUSH);
	}
	inflateEnd(&z);
	return sz - z.avail_out;
}

static size_t peek_zstd(int fd, void *out, size_t sz)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_outBuffer to = { out, sz, 0 };
	uint8_t data[PEEK_STEP];
	size_t left = 1;
	off_t at = 0;
	ssize_t n;

	while (zstd && left && !ZSTD_isError(left) && to.pos < sz && at < PEEK_MAX &&
	       (n = pread(fd, data, sizeof(data), at)) > 0) {
		ZSTD_inBuffer in = { data, (size_t)n, 0 };

		at += n;
		do {
			left = ZSTD_decompressStream(zstd, &to, &in);
		} while (!ZSTD_isError(left) && left && in.pos < in.size && to.pos < sz);
	}
	ZSTD_freeDCtx(zstd);
	return to.pos;
}

size_t compress_peek(enum compress_kind kind, int fd, void *out, size_t sz)
{
	ssize_t n;

	if (kind == COMPRESS_GZIP)
		return peek_gzip(fd, out, sz);
	if (kind == COMPRESS_ZSTD)
		return peek_zstd(fd, out, sz);
	n = pread(fd, out, sz, 0);
	return n > 0 ? (size_t)n : 0;
}

enum compress_kind compress_kind_of(int fd)
{
	static const unsigned char gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char head[sizeof(zstd)] = { 0 };

	if (pread(fd, head, sizeof(head), 0) < 2)
		return COMPRESS_NONE;
	return !memcmp(head, gzip, sizeof(gzip)) ? COMPRESS_GZIP :
	       !memcmp(head, zstd, sizeof(zstd)) ? COMPRESS_ZSTD :
						   COMPRESS_NONE;
}
