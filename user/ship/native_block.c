// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks of ClickHouse's format Native. Owns the bytes of each column. A block is the numbers of columns and rows, then of
 * each column its name, type and values. Knows neither tables nor servers.
 */
#include "ship/native_block.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

/* zlib: a gzip header, and the largest window. */
#define GZIP_WINDOW (15 + 16)
#define GZIP_LEVEL 1
#define GZIP_PIECE (64u << 10)

static const struct {
	const char *name;
	size_t sz; /* of numbers */
} types[] = {
	[NATIVE_DATE] = { "Date", 2 },		 [NATIVE_U8] = { "UInt8", 1 },
	[NATIVE_U32] = { "UInt32", 4 },		 [NATIVE_I32] = { "Int32", 4 },
	[NATIVE_I64] = { "Int64", 8 },		 [NATIVE_U64] = { "UInt64", 8 },
	[NATIVE_TEXT] = { "String", 0 },	 [NATIVE_U64S] = { "Array(UInt64)", 0 },
	[NATIVE_TEXTS] = { "Array(String)", 0 },
};

const char *native_block_type_name(enum native_type type)
{
	return types[type].name;
}

void native_block_init(struct native_block *b, const struct native_def *defs, size_t def_cnt)
{
	*b = (struct native_block){
		.defs = defs,
		.def_cnt = def_cnt,
		.columns = xcalloc(def_cnt, sizeof(*b->columns)),
	};
}

void native_block_fini(struct native_block *b)
{
	for (size_t i = 0; i < b->def_cnt; i++) {
		buf_free(&b->columns[i].data);
		buf_free(&b->columns[i].ends);
	}
	free(b->columns);
	*b = (struct native_block){ 0 };
}

void native_block_clear(struct native_block *b)
{
	for (size_t i = 0; i < b->def_cnt; i++) {
		struct native_column *c = &b->columns[i];

		if (c->constant)
			continue;
		buf_clear(&c->data);
		buf_clear(&c->ends);
		c->elements = 0;
	}
	b->rows = 0;
}

/* ---- values ----------------------------------------------------------------------------------- */

static void put_number(struct buf *out, uint64_t v, size_t sz)
{
	unsigned char bytes[sizeof(v)];

	for (size_t i = 0; i < sz; i++)
		bytes[i] = (unsigned char)(v >> (8 * i));
	buf_add(out, bytes, sz);
}

static void put_varint(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addch(out, (char)(v | 0x80));
	buf_addch(out, (char)v);
}

static void put_text(struct buf *out, const char *s, size_t len)
{
	put_varint(out, len);
	buf_add(out, s, len);
}

void native_block_put(struct native_block *b, size_t column, uint64_t v)
{
	put_number(&b->columns[column].data, v, types[b->defs[column].type].sz);
}

void native_block_put_text(struct native_block *b, size_t column, const char *s, size_t len)
{
	put_text(&b->columns[column].data, s, len);
}

void native_block_put_u64s(struct native_block *b, size_t column, const uint64_t *v, size_t cnt)
{
	struct native_column *c = &b->columns[column];

	for (size_t i = 0; i < cnt; i++)
		put_number(&c->data, v[i], sizeof(v[i]));
	c->elements += cnt;
	put_number(&c->ends, c->elements, sizeof(c->elements));
}

void native_block_end_row(struct native_block *b)
{
	b->rows++;
}

static struct native_column *set_constant(struct native_block *b, size_t column)
{
	struct native_column *c = &b->columns[column];

	buf_clear(&c->data);
	c->constant = true;
	return c;
}

void native_block_set(struct native_block *b, size_t column, uint64_t v)
{
	put_number(&set_constant(b, column)->data, v, types[b->defs[column].type].sz);
}

void native_block_set_text(struct native_block *b, size_t column, const char *s, size_t len)
{
	put_text(&set_constant(b, column)->data, s, len);
}

void native_block_set_texts(struct native_block *b, size_t column, const char *const *v, size_t cnt)
{
	struct native_column *c = set_constant(b, column);

	for (size_t i = 0; i < cnt; i++)
		put_text(&c->data, v[i], strlen(v[i]));
	c->elements = cnt;
}

size_t native_block_bytes(const struct native_block *b)
{
	size_t sum = 0;

	for (size_t i = 0; i < b->def_cnt; i++)
		if (!b->columns[i].constant)
			sum += b->columns[i].data.len + b->columns[i].ends.len;
	return sum;
}

/* ---- output ----------------------------------------------------------------------------------- */

struct packer {
	z_stream z;
	struct buf *out;
};

static int pack(struct packer *p, const void *data, size_t sz, int flush)
{
	int ret;

	p->z.next_in = (Bytef *)data;
	p->z.avail_in = (uInt)sz;
	do {
		p->z.next_out = (Bytef *)buf_reserve(p->out, GZIP_PIECE);
		p->z.avail_out = GZIP_PIECE;
		ret = deflate(&p->z, flush);
		p->out->len += GZIP_PIECE - p->z.avail_out;
	} while (ret == Z_OK && (p->z.avail_in || !p->z.avail_out || flush == Z_FINISH));
	return ret == Z_STREAM_ERROR ? -EINVAL : 0;
}

static int pack_buf(struct packer *p, const struct buf *b)
{
	return pack(p, b->data, b->len, Z_NO_FLUSH);
}

static int pack_constant(struct packer *p, const struct native_column *c, enum native_type type,
			 size_t rows)
{
	const bool is_array = type == NATIVE_U64S || type == NATIVE_TEXTS;
	struct buf ends = { 0 };
	int err = 0;

	for (size_t i = 1; is_array && i <= rows && !err; i++) {
		buf_clear(&ends);
		put_number(&ends, i * c->elements, sizeof(uint64_t));
		err = pack_buf(p, &ends);
	}
	for (size_t i = 0; i < rows && !err; i++)
		err = pack_buf(p, &c->data);
	buf_free(&ends);
	return err;
}

static int pack_column(struct packer *p, const struct native_block *b, size_t column)
{
	const struct native_column *c = &b->columns[column];
	const struct native_def *def = &b->defs[column];
	struct buf head = { 0 };
	int err;

	put_text(&head, def->name, strlen(def->name));
	put_text(&head, native_block_type_name(def->type),
		 strlen(native_block_type_name(def->type)));
	err = pack_buf(p, &head);
	buf_free(&head);
	if (err)
		return err;
	if (c->constant)
		return pack_constant(p, c, def->type, b->rows);
	err = pack_buf(p, &c->ends);
	return err ?: pack_buf(p, &c->data);
}

int native_block_write(const struct native_block *b, struct buf *out)
{
	struct packer p = { .out = out };
	struct buf head = { 0 };
	int err;

	if (deflateInit2(&p.z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	put_varint(&head, b->def_cnt);
	put_varint(&head, b->rows);
	err = pack_buf(&p, &head);
	for (size_t i = 0; i < b->def_cnt && !err; i++)
		err = pack_column(&p, b, i);
	if (!err)
		err = pack(&p, NULL, 0, Z_FINISH);
	deflateEnd(&p.z);
	buf_free(&head);
	return err;
}
