// SPDX-License-Identifier: BSD-2-Clause
/*
 * gzip files whose parts are compressed before their order is known. Owns the format: each piece is a run of deflate blocks
 * that ends at a byte and refers to nothing before it, so pieces of several streams can follow each other. The
 * check sum is combined from the pieces.
 */
#include "ship/packed_bytes.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

#define LEVEL 1
#define MEMORY 8
/* deflate without a header; its largest window */
#define WINDOW (-15)
/* A flush after the blocks: beyond deflateBound(). */
#define FLUSH_BYTES 16

struct packer {
	z_stream z;
};

struct packer *packer_new(void)
{
	struct packer *p = xcalloc(1, sizeof(*p));

	if (deflateInit2(&p->z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
		return p;
	free(p);
	return NULL;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	deflateEnd(&p->z);
	free(p);
}

/* The output has room for all of it, so that deflate() cannot fail. */
void packed_bytes_pack(struct packed_bytes *b, struct packer *p)
{
	size_t room;

	if (!b->plain.len)
		return;
	deflateReset(&p->z);
	room = deflateBound(&p->z, b->plain.len) + FLUSH_BYTES;
	p->z.next_in = (Bytef *)b->plain.data;
	p->z.avail_in = (uInt)b->plain.len;
	p->z.next_out = (Bytef *)buf_reserve(&b->packed, room);
	p->z.avail_out = (uInt)room;
	deflate(&p->z, Z_FULL_FLUSH);
	b->packed.len += room - p->z.avail_out;
	b->crc = crc32(b->crc, (Bytef *)b->plain.data, (uInt)b->plain.len);
	b->sz += b->plain.len;
	buf_clear(&b->plain);
}

void packed_bytes_free(struct packed_bytes *b)
{
	buf_free(&b->plain);
	buf_free(&b->packed);
	b->sz = 0;
	b->crc = 0;
}

/* ---- files ------------------------------------------------------------------------------------ */

static void put_u32(struct buf *out, unsigned long v)
{
	for (int i = 0; i < 4; i++)
		buf_addch(out, (char)(v >> (8 * i)));
}

static void add_piece(struct packed_file *f, const struct packed_bytes *b)
{
	buf_add(f->out, b->packed.data, b->packed.len);
	f->crc = crc32_combine(f->crc, b->crc, (z_off_t)b->sz);
	f->sz += b->sz;
}

void packed_file_begin(struct packed_file *f, struct packer *p, struct buf *out)
{
	/* deflate, no name, no time, fastest, Unix */
	static const char head[] = "\x1f\x8b\x08\0\0\0\0\0\x04\x03";

	*f = (struct packed_file){ .out = out, .packer = p };
	buf_add(out, head, sizeof(head) - 1);
}

void packed_file_move(struct packed_file *f, struct packed_bytes *b)
{
	packed_bytes_pack(b, f->packer);
	if (b->sz)
		add_piece(f, b);
	packed_bytes_free(b);
}

/* A piece of many copies is compressed once. */
void packed_file_repeat(struct packed_file *f, const struct buf *bytes, size_t times)
{
	const size_t most = bytes->len ? PACKED_BYTES_PIECE / bytes->len : 0;
	const size_t copies = most > 1 ? most : 1;

	while (bytes->len && times) {
		struct packed_bytes piece = { 0 };
		const size_t cnt = times < copies ? times : copies;

		for (size_t i = 0; i < cnt; i++)
			buf_add(&piece.plain, bytes->data, bytes->len);
		packed_bytes_pack(&piece, f->packer);
		for (; times >= cnt; times -= cnt)
			add_piece(f, &piece);
		packed_bytes_free(&piece);
	}
}

void packed_file_end(struct packed_file *f)
{
	/* an empty last block */
	buf_add(f->out, "\3\0", 2);
	put_u32(f->out, f->crc);
	put_u32(f->out, (unsigned long)f->sz);
}
