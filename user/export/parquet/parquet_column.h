/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_COLUMN_H
#define D9_EXPORT_PARQUET_PARQUET_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strtab.h"

struct buf;
struct parquet_pages;

enum parquet_type {
	PARQUET_I64,
	PARQUET_U8,
	PARQUET_U16,
	PARQUET_U32,
	PARQUET_BOOL,
	PARQUET_F64, /* the bits of a double */
	PARQUET_TEXT, /* UTF-8 */
	PARQUET_BYTES,
	PARQUET_LIST, /* of signed 64-bit numbers */
};

/* How numbers are encoded if they do not repeat enough for a dictionary. */
enum parquet_encoding {
	PARQUET_PLAIN,
	PARQUET_DELTA, /* differences, without trying a dictionary; 64 bits only */
};

struct parquet_def {
	const char *name;
	uint8_t type; /* enum parquet_type */
	bool optional; /* rows may have no value; not for lists */
	uint8_t encoding; /* enum parquet_encoding */
};

/* The values of one column in the current row group. {0} with def set is empty. */
struct parquet_column {
	const struct parquet_def *def;
	size_t cnt; /* rows */
	/* by row; of texts the number in texts, of lists the number of elements; 0 if absent */
	union {
		uint64_t *wide;
		uint32_t *narrow; /* types of up to 32 bits, texts and lists */
	};
	size_t cap;
	uint8_t *present; /* by row: 0 or 1; optional columns only */
	size_t present_cap;
	size_t absent; /* rows without a value */
	struct strtab texts;
	uint64_t *elements; /* of lists */
	size_t element_cnt, element_cap;
};

/* Each adds a row. */
void parquet_column_put(struct parquet_column *c, uint64_t v);
/* The text must be UTF-8. Returns the memory of a text that the group did not have, in addition to the row's. */
size_t parquet_column_put_text(struct parquet_column *c, const char *s, size_t len);
void parquet_column_put_list(struct parquet_column *c, const uint64_t *v, size_t cnt);
void parquet_column_put_none(struct parquet_column *c);

/* Memory of a row, without distinct texts and elements of lists. */
size_t parquet_column_row_bytes(const struct parquet_column *c);
/* Removes all rows, and frees the memory. */
void parquet_column_clear(struct parquet_column *c);

/* A column of a row group in the file. Offsets are in the output of parquet_column_write(). */
struct parquet_chunk {
	uint64_t values; /* with absent ones; of lists the elements */
	uint64_t absent;
	uint64_t plain_sz, sz; /* of all pages with headers: before and after compression */
	uint64_t dictionary_off, data_off;
	bool has_dictionary;
	bool has_range;
	uint8_t encoding; /* Parquet's number, of the data page */
	uint64_t min, max; /* of integers, if has_range */
};

/*
 * Appends the pages of all rows, in @order (row numbers), or as they are if that is NULL, as it must be
 * for lists. @pages has the working memory.
 */
struct parquet_chunk parquet_column_write(const struct parquet_column *c, const uint32_t *order,
					  struct parquet_pages *pages, struct buf *out);

/* Never NULL. */
struct parquet_pages *parquet_pages_new(void);
void parquet_pages_free(struct parquet_pages *p);

#endif /* D9_EXPORT_PARQUET_PARQUET_COLUMN_H */
