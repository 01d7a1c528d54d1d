/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_THRIFT_H
#define D9_EXPORT_PARQUET_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Writes structs in Thrift's compact protocol: page headers and the footer of Parquet. Fields of a struct are written
 * in ascending order of their ids. A struct begins with parquet_thrift_struct(), or parquet_thrift_element() in a list,
 * and ends with parquet_thrift_end(). The outermost struct has only the end.
 */
#define PARQUET_THRIFT_DEPTH 8

struct parquet_thrift {
	struct buf *out;
	int depth;
	int16_t last[PARQUET_THRIFT_DEPTH]; /* id of the last field, by nested struct */
};

/* Types of list elements. */
enum { PARQUET_THRIFT_I32 = 5, PARQUET_THRIFT_BINARY = 8, PARQUET_THRIFT_STRUCT = 12 };

void parquet_thrift_bool(struct parquet_thrift *t, int16_t id, bool v);
void parquet_thrift_byte(struct parquet_thrift *t, int16_t id, int8_t v);
void parquet_thrift_i32(struct parquet_thrift *t, int16_t id, int32_t v);
void parquet_thrift_i64(struct parquet_thrift *t, int16_t id, int64_t v);
void parquet_thrift_binary(struct parquet_thrift *t, int16_t id, const void *p, size_t sz);
void parquet_thrift_struct(struct parquet_thrift *t, int16_t id);
/* @cnt elements follow. */
void parquet_thrift_list(struct parquet_thrift *t, int16_t id, int type, size_t cnt);
void parquet_thrift_element(struct parquet_thrift *t);
void parquet_thrift_element_i32(struct parquet_thrift *t, int32_t v);
void parquet_thrift_element_binary(struct parquet_thrift *t, const void *p, size_t sz);
void parquet_thrift_end(struct parquet_thrift *t);

#endif /* D9_EXPORT_PARQUET_PARQUET_THRIFT_H */
