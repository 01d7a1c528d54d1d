// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which container a file is, and its bytes without it.
 *
 * Owns the decompressors of libsnappy, zlib, libzstd and libbrotli, with one read function. The file of a
 * killed program may end anywhere: that is not an error but a cut, after all bytes that can be
 * decompressed (with snappy, also bytes of the incomplete block: snapblock.c). No
 * length in the file is trusted for an allocation: a chunk's buffer grows as its bytes arrive, and a
 * block's promise is held against the most that snappy can expand what is really there.
 */
#include "formats/container.h"

#include <brotli/decode.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <snappy-c.h>

#include "base/alloc.h"
#include "formats/snapblock.h"

#define IN_SIZE (64 * 1024)
#define CHUNK_MAX ((size_t)256 << 20)
/* A copy of three bytes yields 64. */
#define SNAPPY_EXPANSION 22
#define OUT_CHUNK ((size_t)1 << 20)

struct container {
	const struct foreign_input *in;
	container_chunk_fn on_chunk;
	void *ctx;
	enum container_kind kind;
	bool in_frame; /* gzip, zstd, brotli: begun and not ended */
	bool input_end;
	bool done; /* nothing more will come */
	bool cut;
	const char *reason;
	uint64_t trailing;
	uint8_t *chunk; /* snappy: compressed */
	size_t chunk_cap;
	uint8_t *plain;
	size_t plain_cap, plain_pos, plain_len;
	z_stream z;
	ZSTD_DStream *zstd;
	BrotliDecoderState *brotli;
	size_t pos, len; /* unread part of buf */
	uint8_t buf[IN_SIZE];
};

enum container_kind container_detect(const void *head, size_t sz)
{
	const uint8_t *p = head;

	if (sz >= 2 && p[0] == 'a' && p[1] == 't')
		return CONTAINER_SNAPPY;
	if (sz >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return CONTAINER_GZIP;
	if (sz >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
		return CONTAINER_ZSTD;
	return CONTAINER_BROTLI;
}

const char *container_kind_name(enum container_kind kind)
{
	static const char *const names[] = {
		[CONTAINER_SNAPPY] = "snappy",
		[CONTAINER_GZIP] = "gzip",
		[CONTAINER_ZSTD] = "zstd",
		[CONTAINER_BROTLI] = "brotli?",
	};

	return names[kind];
}

/* Adds to buf after the unread bytes. 1, 0 at the end, -errno. */
static int fill(struct container *c)
{
	ssize_t n;

	if (c->pos) {
		memmove(c->buf, c->buf + c->pos, c->len - c->pos);
		c->len -= c->pos;
		c->pos = 0;
	}
	if (c->input_end || c->len == sizeof(c->buf))
		return 0;
	n = c->in->read(c->in->ctx, c->buf + c->len, sizeof(c->buf) - c->len);
	if (n < 0)
		return (int)n;
	c->input_end = !n;
	c->len += (size_t)n;
	return n > 0;
}

static int open_decoder(struct container *c)
{
	switch (c->kind) {
	case CONTAINER_SNAPPY:
		c->pos = 2;
		return 0;
	case CONTAINER_GZIP:
		return inflateInit2(&c->z, 16 + MAX_WBITS) == Z_OK ? 0 : -ENOMEM;
	case CONTAINER_ZSTD:
		c->zstd = ZSTD_createDStream();
		return c->zstd ? 0 : -ENOMEM;
	case CONTAINER_BROTLI:
		c->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
		c->in_frame = true;
		return c->brotli ? 0 : -ENOMEM;
	}
	return -EINVAL;
}

int container_open(const struct foreign_input *in, container_chunk_fn on_chunk, void *ctx,
		   struct container **out)
{
	struct container *c = xcalloc(1, sizeof(*c));
	int err = 1;

	c->in = in;
	c->on_chunk = on_chunk;
	c->ctx = ctx;
	while (c->len < 4 && err > 0)
		err = fill(c);
	if (err >= 0) {
		c->kind = container_detect(c->buf, c->len);
		err = open_decoder(c);
		if (!c->len)
			c->reason = "an empty file";
	}
	if (err) {
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

void container_close(struct container *c)
{
	if (!c)
		return;
	if (c->kind == CONTAINER_GZIP)
		inflateEnd(&c->z);
	ZSTD_freeDStream(c->zstd);
	if (c->brotli)
		BrotliDecoderDestroyInstance(c->brotli);
	free(c->chunk);
	free(c->plain);
	free(c);
}

enum container_kind container_kind(const struct container *c)
{
	return c->kind;
}

const char *container_error(const struct container *c)
{
	return c->reason;
}

bool container_is_cut(const struct container *c)
{
	return c->cut;
}

uint64_t container_trailing(const struct container *c)
{
	return c->trailing;
}

/* ---- snappy ------------------------------------------------------------------------------------ */

/* Up to `want` bytes of the file into the chunk buffer: how many there were, or -errno. */
static ssize_t read_chunk(struct container *c, size_t want)
{
	size_t have = 0, n;
	int err;

	while (have < want) {
		if (c->pos == c->len) {
			err = fill(c);
			if (err < 0)
				return err;
			if (!err)
				break;
		}
		n = c->len - c->pos < want - have ? c->len - c->pos : want - have;
		c->chunk = array_reserve(c->chunk, &c->chunk_cap, have + n, 1);
		memcpy(c->chunk + have, c->buf + c->pos, n);
		c->pos += n;
		have += n;
	}
	return (ssize_t)have;
}

/* One block, whole or not, from the chunk buffer into plain. */
static void unpack_chunk(struct container *c, size_t have, size_t want)
{
	size_t head, most = have * SNAPPY_EXPANSION + 64, got;
	enum snapblock_end end;
	uint32_t size = 0;
	int err;

	err = snapblock_size(c->chunk, have, &size, &head);
	if (!err && size > CHUNK_MAX)
		err = -EBADMSG;
	if (err) {
		c->cut = err == -ENODATA && have < want;
		if (!c->cut)
			c->reason = "snappy: bad length";
		return;
	}
	if (size > most)
		size = (uint32_t)most;
	c->plain = array_reserve(c->plain, &c->plain_cap, (size_t)size + 1, 1);
	got = c->plain_cap;
	if (have == want &&
	    snappy_uncompress((const char *)c->chunk, have, (char *)c->plain, &got) == SNAPPY_OK) {
		c->plain_len = got;
		if (c->on_chunk)
			c->on_chunk(c->ctx, have, got);
		return;
	}
	end = snapblock_salvage(c->chunk + head, have - head, c->plain, size, &c->plain_len,
				&c->reason);
	if (end == SNAPBLOCK_CUT && have == want)
		c->reason = "snappy: bad length";
	c->cut = have < want && !c->reason;
}

static int next_chunk(struct container *c)
{
	ssize_t have;
	size_t want;

	c->plain_pos = c->plain_len = 0;
	have = read_chunk(c, 4);
	if (have < 4) {
		c->cut = have > 0;
		c->done = true;
		return have < 0 ? (int)have : 0;
	}
	want = (size_t)c->chunk[0] | (size_t)c->chunk[1] << 8 | (size_t)c->chunk[2] << 16 |
	       (size_t)c->chunk[3] << 24;
	if (!want) {
		c->done = true;
		return 0;
	}
	if (want > CHUNK_MAX) {
		c->reason = "snappy: bad length";
		c->done = true;
		return 0;
	}
	have = read_chunk(c, want);
	if (have < 0)
		return (int)have;
	unpack_chunk(c, (size_t)have, want);
	c->done = c->cut || c->reason;
	return 0;
}

static ssize_t read_snappy(struct container *c, void *buf, size_t sz)
{
	size_t n;
	int err;

	while (c->plain_pos == c->plain_len) {
		if (c->done)
			return 0;
		err = next_chunk(c);
		if (err < 0)
			return err;
	}
	n = c->plain_len - c->plain_pos < sz ? c->plain_len - c->plain_pos : sz;
	memcpy(buf, c->plain + c->plain_pos, n);
	c->plain_pos += n;
	return (ssize_t)n;
}

/* ---- gzip, zstd, brotli: one step each over what is buffered; bytes produced --------------------- */

static size_t step_gzip(struct container *c, uint8_t *buf, size_t sz)
{
	int ret;

	c->z.next_in = c->buf + c->pos;
	c->z.avail_in = (uInt)(c->len - c->pos);
	c->z.next_out = buf;
	c->z.avail_out = (uInt)sz;
	c->in_frame = true;
	ret = inflate(&c->z, Z_NO_FLUSH);
	c->pos = c->len - c->z.avail_in;
	if (ret == Z_STREAM_END) {
		c->in_frame = false;
		if (inflateReset(&c->z) != Z_OK)
			c->reason = "gzip: out of memory";
	} else if (ret != Z_OK && ret != Z_BUF_ERROR) {
		c->reason = "gzip: damaged";
	}
	return sz - c->z.avail_out;
}

static size_t step_zstd(struct container *c, uint8_t *buf, size_t sz)
{
	ZSTD_inBuffer in = { c->buf, c->len, c->pos };
	ZSTD_outBuffer out = { buf, sz, 0 };
	size_t ret = ZSTD_decompressStream(c->zstd, &out, &in);

	c->pos = in.pos;
	if (ZSTD_isError(ret))
		c->reason = "zstd: damaged";
	else
		c->in_frame = ret != 0;
	return out.pos;
}

static size_t step_brotli(struct container *c, uint8_t *buf, size_t sz)
{
	const uint8_t *next_in = c->buf + c->pos;
	size_t avail_in = c->len - c->pos, avail_out = sz;
	BrotliDecoderResult ret;

	ret = BrotliDecoderDecompressStream(c->brotli, &avail_in, &next_in, &avail_out, &buf, NULL);
	c->pos = c->len - avail_in;
	if (ret == BROTLI_DECODER_RESULT_ERROR)
		c->reason = "brotli: damaged";
	else if (ret == BROTLI_DECODER_RESULT_SUCCESS)
		c->in_frame = false;
	return sz - avail_out;
}

/* After the last member of a gzip or zstd file more may follow; brotli has just one stream. */
static bool stream_over(const struct container *c)
{
	static const uint8_t gzip_magic[] = { 0x1f, 0x8b };

	if (c->in_frame || c->pos == c->len)
		return false;
	if (c->kind == CONTAINER_BROTLI)
		return true;
	return c->kind == CONTAINER_GZIP && c->len - c->pos >= 2 &&
	       memcmp(c->buf + c->pos, gzip_magic, 2) != 0;
}

static ssize_t read_step(struct container *c, void *buf, size_t sz)
{
	size_t n = 0;
	int err;

	if (sz > IN_SIZE * 16)
		sz = IN_SIZE * 16;
	while (!c->done && !c->reason) {
		/* Decoders hold output back, so inside a frame they are called without input too. */
		if (!stream_over(c) && (c->in_frame || c->pos < c->len)) {
			if (c->kind == CONTAINER_GZIP)
				n = step_gzip(c, buf, sz);
			else if (c->kind == CONTAINER_ZSTD)
				n = step_zstd(c, buf, sz);
			else
				n = step_brotli(c, buf, sz);
			if (n)
				return (ssize_t)n;
			if (c->reason)
				break;
		}
		c->done = stream_over(c) || (c->kind == CONTAINER_BROTLI && !c->in_frame);
		if (c->done || (c->pos < c->len && c->len == sizeof(c->buf) && !c->pos))
			break;
		err = fill(c);
		if (err < 0)
			return err;
		c->done = !err && c->input_end;
		c->cut = c->done && c->in_frame;
	}
	return 0;
}

/* Bytes after the end of the container. */
static int count_trailing(struct container *c)
{
	int err = 1;

	while (err > 0) {
		c->trailing += c->len - c->pos;
		c->pos = c->len;
		err = fill(c);
	}
	return err;
}

ssize_t container_read(void *ctx, void *buf, size_t sz)
{
	struct container *c = ctx;
	ssize_t n;
	int err;

	if (!sz)
		return 0;
	n = c->kind == CONTAINER_SNAPPY ? read_snappy(c, buf, sz) : read_step(c, buf, sz);
	if (n)
		return n;
	if (c->reason)
		return -EBADMSG;
	err = count_trailing(c);
	return err < 0 ? err : 0;
}

/* ---- writing ------------------------------------------------------------------------------------ */

struct container_out {
	dial9_write_fn write;
	void *ctx;
	size_t len;
	uint8_t plain[OUT_CHUNK];
	char *packed;
};

static int write_chunk(struct container_out *o)
{
	size_t n = snappy_max_compressed_length(OUT_CHUNK);

	if (!o->len)
		return 0;
	if (snappy_compress((const char *)o->plain, o->len, o->packed + 4, &n) != SNAPPY_OK)
		return -EIO;
	for (unsigned int i = 0; i < 4; i++)
		o->packed[i] = (char)(n >> (8 * i));
	o->len = 0;
	return o->write(o->ctx, o->packed, n + 4);
}

int container_out_new(dial9_write_fn write, void *ctx, struct container_out **out)
{
	struct container_out *o = xmalloc(sizeof(*o));
	int err = write(ctx, "at", 2);

	if (err) {
		free(o);
		return err;
	}
	o->write = write;
	o->ctx = ctx;
	o->len = 0;
	o->packed = xmalloc(snappy_max_compressed_length(OUT_CHUNK) + 4);
	*out = o;
	return 0;
}

int container_out_add(struct container_out *o, const void *data, size_t sz)
{
	const char *p = data;
	size_t n;
	int err;

	while (sz) {
		n = sizeof(o->plain) - o->len < sz ? sizeof(o->plain) - o->len : sz;
		memcpy(o->plain + o->len, p, n);
		o->len += n;
		p += n;
		sz -= n;
		if (o->len == sizeof(o->plain)) {
			err = write_chunk(o);
			if (err)
				return err;
		}
	}
	return 0;
}

int container_out_finish(struct container_out *o)
{
	return write_chunk(o);
}

void container_out_free(struct container_out *o)
{
	if (!o)
		return;
	free(o->packed);
	free(o);
}
