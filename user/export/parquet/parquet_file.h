/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_FILE_H
#define D9_EXPORT_PARQUET_PARQUET_FILE_H

#include "export/parquet/parquet_column.h"

struct out_dir_file;

/* A Parquet file that is being written: rows, in groups of at most PARQUET_FILE_ROWS. */
struct parquet_file;

#define PARQUET_FILE_ROWS (128u << 10)
/* A row group also ends at this memory, which bounds the size of its pages. */
#define PARQUET_FILE_GROUP_BYTES (32u << 20)

struct parquet_file_opts {
	const struct parquet_def *defs; /* borrowed while the file exists */
	size_t def_cnt;
	bool sorted; /* rows of a group are sorted by the first column; not with lists */
	struct parquet_pages *pages; /* borrowed working memory; files may share it */
	struct out_dir_file *out; /* borrowed */
};

/* Never NULL. Writes nothing by itself: rows that were not written are lost. */
struct parquet_file *parquet_file_new(const struct parquet_file_opts *opts);
void parquet_file_free(struct parquet_file *f);

/*
 * The current row: at most one value for each column, in any order. Columns without one have none, so they
 * must be optional.
 */
void parquet_file_put(struct parquet_file *f, size_t column, uint64_t v);
/* Bytes that are not UTF-8, and NULs, become \xHH. */
void parquet_file_put_text(struct parquet_file *f, size_t column, const char *s, size_t len);
void parquet_file_put_bytes(struct parquet_file *f, size_t column, const void *p, size_t sz);
void parquet_file_put_list(struct parquet_file *f, size_t column, const uint64_t *v, size_t cnt);
/* Ends the row, and writes the group if it is full: 0 or -errno. */
int parquet_file_row(struct parquet_file *f);

/* Approximate memory of rows that are not written. */
size_t parquet_file_bytes(const struct parquet_file *f);
/* Writes these rows as a group: 0 or -errno. */
int parquet_file_flush(struct parquet_file *f);

/* A key and a value in the file's metadata. */
struct parquet_file_meta {
	const char *key, *value;
};

/* Writes the rest, and the footer; the file is complete: 0 or -errno. */
int parquet_file_end(struct parquet_file *f, const struct parquet_file_meta *meta, size_t cnt);

#endif /* D9_EXPORT_PARQUET_PARQUET_FILE_H */
