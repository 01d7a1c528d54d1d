// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks of ClickHouse's format Native. Owns the bytes of each column. A block is the numbers of columns and rows, then of
 * each column its name, type and values. Knows neither tables nor servers.
 */
#include "ship/native_block.h"

#include <endian.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Rows between two looks for columns with enough bytes to compress: they take a while. */
#define PACK_EVERY 256

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

void native_block_init(struct native_block *b, struct packer *packer, const struct native_def *defs,
		       size_t def_cnt)
{
	*b = (struct native_block){
		.defs = defs,
		.packer = packer,
		.def_cnt = def_cnt,
		.columns = xcalloc(def_cnt, sizeof(*b->columns)),
	};
}

void native_block_fini(struct native_block *b)
{
	for (size_t i = 0; i < b->def_cnt; i++) {
		packed_bytes_free(&b->columns[i].data);
		packed_bytes_free(&b->columns[i].ends);
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
		packed_bytes_free(&c->data);
		packed_bytes_free(&c->ends);
		c->elements = 0;
	}
	b->rows = 0;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* Little endian: the first bytes of a number are the lowest ones. */
static void put_number(struct buf *out, uint64_t v, size_t sz)
{
	const uint64_t le = htole64(v);

	memcpy(buf_reserve(out, sizeof(le)), &le, sizeof(le));
	out->len += sz;
}

static void put_varint(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addch(out, (char)(v | 0x80));
	buf_addch(out, (char)v);
}

void native_block_add_text(struct buf *out, const char *s, size_t len)
{
	put_varint(out, len);
	buf_add(out, s, len);
}

void native_block_put(struct native_block *b, size_t column, uint64_t v)
{
	put_number(&b->columns[column].data.plain, v, types[b->defs[column].type].sz);
}

void native_block_put_text(struct native_block *b, size_t column, const char *s, size_t len)
{
	native_block_add_text(&b->columns[column].data.plain, s, len);
}

void native_block_put_bytes(struct native_block *b, size_t column, const char *s, size_t len)
{
	buf_add(&b->columns[column].data.plain, s, len);
}

void native_block_put_u64s(struct native_block *b, size_t column, const uint64_t *v, size_t cnt)
{
	struct native_column *c = &b->columns[column];

	for (size_t i = 0; i < cnt; i++)
		put_number(&c->data.plain, v[i], sizeof(v[i]));
	c->elements += cnt;
	put_number(&c->ends.plain, c->elements, sizeof(c->elements));
}

static void pack_full(const struct native_block *b, struct packed_bytes *bytes)
{
	if (bytes->plain.len >= PACKED_BYTES_PIECE)
		packed_bytes_pack(bytes, b->packer);
}

void native_block_end_row(struct native_block *b)
{
	if (++b->rows % PACK_EVERY)
		return;
	for (size_t i = 0; i < b->def_cnt; i++) {
		if (b->columns[i].constant)
			continue;
		pack_full(b, &b->columns[i].data);
		pack_full(b, &b->columns[i].ends);
	}
}

static struct native_column *set_constant(struct native_block *b, size_t column)
{
	struct native_column *c = &b->columns[column];

	buf_clear(&c->data.plain);
	c->constant = true;
	return c;
}

void native_block_set(struct native_block *b, size_t column, uint64_t v)
{
	put_number(&set_constant(b, column)->data.plain, v, types[b->defs[column].type].sz);
}

void native_block_set_text(struct native_block *b, size_t column, const char *s, size_t len)
{
	native_block_add_text(&set_constant(b, column)->data.plain, s, len);
}

void native_block_set_texts(struct native_block *b, size_t column, const char *const *v, size_t cnt)
{
	struct native_column *c = set_constant(b, column);

	for (size_t i = 0; i < cnt; i++)
		native_block_add_text(&c->data.plain, v[i], strlen(v[i]));
	c->elements = cnt;
}

static uint64_t all_bytes(const struct packed_bytes *b)
{
	return b->sz + b->plain.len;
}

uint64_t native_block_bytes(const struct native_block *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->def_cnt; i++)
		if (!b->columns[i].constant)
			sum += all_bytes(&b->columns[i].data) + all_bytes(&b->columns[i].ends);
	return sum;
}

/* ---- output ----------------------------------------------------------------------------------- */

static bool is_array(enum native_type type)
{
	return type == NATIVE_U64S || type == NATIVE_TEXTS;
}

static void write_constant(struct packed_file *f, const struct native_block *b,
			   const struct native_column *c, enum native_type type)
{
	struct packed_bytes ends = { 0 };

	for (size_t i = 1; is_array(type) && i <= b->rows; i++) {
		put_number(&ends.plain, i * c->elements, sizeof(uint64_t));
		pack_full(b, &ends);
	}
	packed_file_move(f, &ends);
	packed_file_repeat(f, &c->data.plain, b->rows);
}

static void write_column(struct packed_file *f, const struct native_block *b, size_t column)
{
	struct native_column *c = &b->columns[column];
	const struct native_def *def = &b->defs[column];
	const char *type = native_block_type_name(def->type);
	struct packed_bytes head = { 0 };

	native_block_add_text(&head.plain, def->name, strlen(def->name));
	native_block_add_text(&head.plain, type, strlen(type));
	packed_file_move(f, &head);
	if (c->constant) {
		write_constant(f, b, c, def->type);
		return;
	}
	packed_file_move(f, &c->ends);
	packed_file_move(f, &c->data);
}

void native_block_write(struct native_block *b, struct buf *out)
{
	struct packed_bytes head = { 0 };
	struct packed_file f;

	packed_file_begin(&f, b->packer, out);
	put_varint(&head.plain, b->def_cnt);
	put_varint(&head.plain, b->rows);
	packed_file_move(&f, &head);
	for (size_t i = 0; i < b->def_cnt; i++)
		write_column(&f, b, i);
	packed_file_end(&f);
}
