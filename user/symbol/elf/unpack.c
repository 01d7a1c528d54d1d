// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decompresses sections, in slices and with limits.
 *
 * The output buffer has the size in the header and never grows, so a header with a small size is
 * safe. A large size is charged to the budget before any allocation, and is limited by the best
 * possible compression of the input.
 */
#include "symbol/elf/unpack.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "symbol/budget.h"
#include "symbol/elf/elfimg.h"

#define CHUNK 16384
/* Work to decompress a chunk, in units of budget_work() */
#define CHUNK_WORK 512
/* zlib's best ratio; zstd has no useful bound. */
#define ZLIB_RATIO_MAX 1032
/* Compilers and linkers use 2 MiB; zstd's other allocations are small. */
#define ZSTD_WINDOW_LOG 23
#define ZSTD_MEM ((1u << ZSTD_WINDOW_LOG) + (1u << 20))
#define TYPE_ZSTD 2

struct unpack {
	struct budget *budget;
	const uint8_t *in;
	size_t in_sz, in_pos;
	uint8_t *out;
	size_t out_sz, out_pos;
	z_stream zlib;
	ZSTD_DStream *zstd; /* NULL: zlib */
};

/* The compressed bytes of a section, their format, and their size in the header */
struct packed {
	const uint8_t *bytes;
	size_t size;
	uint64_t claimed;
	bool zstd;
};

static int read_chdr(const struct elfimg *img, struct packed *p)
{
	Elf64_Chdr c64;
	Elf32_Chdr c32;
	size_t hdr_sz = img->is64 ? sizeof(c64) : sizeof(c32);
	uint32_t type;

	if (p->size < hdr_sz)
		return -EBADMSG;
	if (img->is64) {
		memcpy(&c64, p->bytes, sizeof(c64));
		type = c64.ch_type;
		p->claimed = c64.ch_size;
	} else {
		memcpy(&c32, p->bytes, sizeof(c32));
		type = c32.ch_type;
		p->claimed = c32.ch_size;
	}
	p->bytes += hdr_sz;
	p->size -= hdr_sz;
	p->zstd = type == TYPE_ZSTD;
	return type == ELFCOMPRESS_ZLIB || p->zstd ? 1 : -EBADMSG;
}

/* Reads "ZLIB" and the size, big-endian. */
static int read_gnu_header(struct packed *p)
{
	size_t i;

	if (p->size < 12 || memcmp(p->bytes, "ZLIB", 4))
		return -EBADMSG;
	p->claimed = 0;
	for (i = 4; i < 12; i++)
		p->claimed = p->claimed << 8 | p->bytes[i];
	p->bytes += 12;
	p->size -= 12;
	return 1;
}

static int read_header(const struct elfimg *img, const struct elfimg_sec *sec, struct packed *p)
{
	int ret = 0;

	p->zstd = false;
	p->bytes = elfimg_data(img, sec, &p->size);
	if (!p->bytes)
		return -EBADMSG;
	if (sec->flags & SHF_COMPRESSED)
		ret = read_chdr(img, p);
	else if (p->size >= 4 && !memcmp(p->bytes, "ZLIB", 4))
		ret = read_gnu_header(p);
	if (ret == 1 && !p->zstd && p->claimed / ZLIB_RATIO_MAX > p->size)
		return -EBADMSG;
	return ret;
}

static int start_zstd(struct unpack *u)
{
	if (budget_reserve(u->budget, ZSTD_MEM))
		return budget_exhaust(u->budget, BUDGET_MEMORY);
	u->zstd = ZSTD_createDStream();
	if (!u->zstd)
		budget_give_back(u->budget, ZSTD_MEM);
	if (!u->zstd ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
		return -EBADMSG;
	return 0;
}

int unpack_new(const struct elfimg *img, const struct elfimg_sec *sec, struct budget *budget,
	       struct unpack **out)
{
	struct packed p;
	struct unpack *u;
	int ret = read_header(img, sec, &p);

	if (ret != 1)
		return ret;
	if (budget_reserve(budget, p.claimed))
		return budget_exhaust(budget, BUDGET_MEMORY);
	u = xcalloc(1, sizeof(*u));
	u->budget = budget;
	u->in = p.bytes;
	u->in_sz = p.size;
	u->out_sz = p.claimed;
	u->out = malloc(p.claimed ? p.claimed : 1);
	if (!u->out)
		ret = budget_exhaust(budget, BUDGET_MEMORY);
	else if (p.zstd)
		ret = start_zstd(u);
	else if (inflateInit(&u->zlib) != Z_OK)
		ret = -EBADMSG;
	if (ret < 0) {
		unpack_free(u);
		return ret;
	}
	*out = u;
	return 1;
}

/* 1 at the end of the stream; 0 if there is more; -EBADMSG. */
static int run_zlib(struct unpack *u, size_t in_sz, size_t out_sz)
{
	int ret;

	u->zlib.next_in = (uint8_t *)u->in + u->in_pos;
	u->zlib.avail_in = in_sz;
	u->zlib.next_out = u->out + u->out_pos;
	u->zlib.avail_out = out_sz;
	ret = inflate(&u->zlib, Z_NO_FLUSH);
	u->in_pos += in_sz - u->zlib.avail_in;
	u->out_pos += out_sz - u->zlib.avail_out;
	if (ret == Z_STREAM_END)
		return 1;
	return ret == Z_OK ? 0 : -EBADMSG;
}

static int run_zstd(struct unpack *u, size_t in_sz, size_t out_sz)
{
	ZSTD_inBuffer in = { .src = u->in + u->in_pos, .size = in_sz };
	ZSTD_outBuffer out = { .dst = u->out + u->out_pos, .size = out_sz };
	size_t ret = ZSTD_decompressStream(u->zstd, &out, &in);

	if (ZSTD_isError(ret) || (!in.pos && !out.pos))
		return -EBADMSG;
	u->in_pos += in.pos;
	u->out_pos += out.pos;
	/* several frames may follow each other */
	return !ret && u->in_pos == u->in_sz;
}

int unpack_run(struct unpack *u)
{
	for (;;) {
		size_t in_sz = u->in_sz - u->in_pos, out_sz = u->out_sz - u->out_pos;
		int ret, err;

		in_sz = in_sz < CHUNK ? in_sz : CHUNK;
		out_sz = out_sz < CHUNK ? out_sz : CHUNK;
		ret = u->zstd ? run_zstd(u, in_sz, out_sz) : run_zlib(u, in_sz, out_sz);
		if (ret < 0)
			return ret;
		if (ret)
			return u->out_pos == u->out_sz ? 0 : -EBADMSG;
		err = budget_work(u->budget, CHUNK_WORK);
		if (err)
			return err;
	}
}

uint8_t *unpack_steal(struct unpack *u, size_t *size)
{
	uint8_t *out = u->out;

	*size = u->out_sz;
	u->out = NULL;
	u->out_sz = 0;
	return out;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	if (u->zstd) {
		ZSTD_freeDStream(u->zstd);
		budget_give_back(u->budget, ZSTD_MEM);
	} else {
		inflateEnd(&u->zlib);
	}
	budget_give_back(u->budget, u->out_sz);
	free(u->out);
	free(u);
}
