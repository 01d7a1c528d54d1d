/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_NATIVE_BLOCK_H
#define D9_SHIP_NATIVE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/packed_bytes.h"

enum native_type {
	NATIVE_DATE, /* days since 1970 */
	NATIVE_U8,
	NATIVE_U32,
	NATIVE_I32,
	NATIVE_I64,
	NATIVE_U64,
	NATIVE_TEXT,
	NATIVE_U64S, /* an array of NATIVE_U64 */
	NATIVE_TEXTS, /* an array of NATIVE_TEXT */
};

/* ClickHouse's name of a type. */
const char *native_block_type_name(enum native_type type);

struct native_def {
	const char *name;
	enum native_type type;
};

struct native_column {
	struct packed_bytes data; /* as in the block; of arrays the elements */
	struct packed_bytes ends; /* of arrays: numbers of elements up to the end of each row */
	uint64_t elements;
	bool constant; /* data.plain is the value of all rows, ends of arrays unused */
};

/*
 * Rows of one insert, in ClickHouse's format Native: one block, so that a server takes all of it or nothing. The values of a
 * column follow each other, so each column is compressed on its own while rows are added.
 */
struct native_block {
	const struct native_def *defs; /* borrowed */
	struct packer *packer; /* the same */
	size_t def_cnt;
	struct native_column *columns;
	size_t rows;
};

void native_block_init(struct native_block *b, struct packer *packer, const struct native_def *defs,
		       size_t def_cnt);
void native_block_fini(struct native_block *b);
/* Removes the rows, and keeps constants. */
void native_block_clear(struct native_block *b);

/* Each column gets one value in each row, unless it has a constant. */
void native_block_put(struct native_block *b, size_t column, uint64_t v);
void native_block_put_text(struct native_block *b, size_t column, const char *s, size_t len);
/* A text as native_block_add_text() appends it. */
void native_block_put_bytes(struct native_block *b, size_t column, const char *s, size_t len);
void native_block_add_text(struct buf *out, const char *s, size_t len);
void native_block_put_u64s(struct native_block *b, size_t column, const uint64_t *v, size_t cnt);
void native_block_end_row(struct native_block *b);

/* The value of all rows: takes no memory for each of them. */
void native_block_set(struct native_block *b, size_t column, uint64_t v);
void native_block_set_text(struct native_block *b, size_t column, const char *s, size_t len);
void native_block_set_texts(struct native_block *b, size_t column, const char *const *v,
			    size_t cnt);

/* Bytes of the rows, as they are before compression. */
uint64_t native_block_bytes(const struct native_block *b);
/* Appends the block, compressed by gzip. The rows are gone, only their number is left: native_block_clear() comes next. */
void native_block_write(struct native_block *b, struct buf *out);

#endif /* D9_SHIP_NATIVE_BLOCK_H */
