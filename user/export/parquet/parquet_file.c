// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parquet files. Owns their columns, row groups and footer. A row group is collected in memory, and its description is
 * encoded at once, so that only that remains until the footer. Knows no tables.
 */
#include "export/parquet/parquet_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/out_dir.h"
#include "base/str.h"
#include "export/parquet/parquet_format.h"
#include "export/parquet/parquet_order.h"
#include "export/parquet/parquet_thrift.h"

#define CREATED_BY "dial9-prof version " PROF_VERSION

struct parquet_file {
	struct parquet_file_opts opts;
	struct parquet_column *columns;
	size_t rows; /* of the current group, */
	size_t bytes; /* and their memory */
	size_t row_bytes; /* of each */
	uint64_t written_rows;
	uint64_t off; /* bytes in the file */
	struct buf groups; /* encoded RowGroup structs */
	size_t group_cnt;
	struct buf text;
};

struct parquet_file *parquet_file_new(const struct parquet_file_opts *opts)
{
	struct parquet_file *f = xcalloc(1, sizeof(*f));

	f->opts = *opts;
	f->columns = xcalloc(opts->def_cnt, sizeof(*f->columns));
	for (size_t i = 0; i < opts->def_cnt; i++)
		f->columns[i].def = &opts->defs[i];
	for (size_t i = 0; i < opts->def_cnt; i++)
		f->row_bytes += parquet_column_row_bytes(&f->columns[i]);
	return f;
}

void parquet_file_free(struct parquet_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->opts.def_cnt; i++)
		parquet_column_clear(&f->columns[i]);
	free(f->columns);
	buf_free(&f->groups);
	buf_free(&f->text);
	free(f);
}

/* ---- rows ------------------------------------------------------------------------------------- */

void parquet_file_put(struct parquet_file *f, size_t column, uint64_t v)
{
	parquet_column_put(&f->columns[column], v);
}

void parquet_file_put_text(struct parquet_file *f, size_t column, const char *s, size_t len)
{
	if (str_is_plain(s, len)) {
		parquet_file_put_bytes(f, column, s, len);
		return;
	}
	buf_clear(&f->text);
	str_escape_utf8(&f->text, s, len);
	parquet_file_put_bytes(f, column, buf_cstr(&f->text), f->text.len);
}

void parquet_file_put_bytes(struct parquet_file *f, size_t column, const void *p, size_t sz)
{
	f->bytes += parquet_column_put_text(&f->columns[column], p, sz);
}

void parquet_file_put_list(struct parquet_file *f, size_t column, const uint64_t *v, size_t cnt)
{
	parquet_column_put_list(&f->columns[column], v, cnt);
	f->bytes += cnt * sizeof(*v);
}

size_t parquet_file_bytes(const struct parquet_file *f)
{
	return f->bytes;
}

int parquet_file_row(struct parquet_file *f)
{
	f->rows++;
	f->bytes += f->row_bytes;
	for (size_t i = 0; i < f->opts.def_cnt; i++) {
		if (f->columns[i].cnt < f->rows) {
			assert(f->opts.defs[i].optional);
			parquet_column_put_none(&f->columns[i]);
		}
	}
	return f->rows == PARQUET_FILE_ROWS || f->bytes >= PARQUET_FILE_GROUP_BYTES ?
		       parquet_file_flush(f) :
		       0;
}

/* ---- row groups ------------------------------------------------------------------------------- */

static enum parquet_physical physical_type(uint8_t type)
{
	static const uint8_t types[] = {
		[PARQUET_I64] = PARQUET_PHYSICAL_INT64,
		[PARQUET_U8] = PARQUET_PHYSICAL_INT32,
		[PARQUET_U16] = PARQUET_PHYSICAL_INT32,
		[PARQUET_U32] = PARQUET_PHYSICAL_INT32,
		[PARQUET_BOOL] = PARQUET_PHYSICAL_BOOLEAN,
		[PARQUET_F64] = PARQUET_PHYSICAL_DOUBLE,
		[PARQUET_TEXT] = PARQUET_PHYSICAL_BYTE_ARRAY,
		[PARQUET_BYTES] = PARQUET_PHYSICAL_BYTE_ARRAY,
		[PARQUET_LIST] = PARQUET_PHYSICAL_INT64,
	};

	return types[type];
}

static void put_encodings(struct parquet_thrift *t, const struct parquet_def *def,
			  const struct parquet_chunk *c)
{
	const bool has_levels = def->optional || def->type == PARQUET_LIST;

	parquet_thrift_list(t, 2, PARQUET_THRIFT_I32, 1u + has_levels + c->has_dictionary);
	parquet_thrift_element_i32(t, c->encoding);
	if (has_levels)
		parquet_thrift_element_i32(t, PARQUET_PAGE_RLE);
	if (c->has_dictionary)
		parquet_thrift_element_i32(t, PARQUET_PAGE_PLAIN);
}

/* The path from the root to the leaf. */
static void put_path(struct parquet_thrift *t, const struct parquet_def *def)
{
	const bool list = def->type == PARQUET_LIST;

	parquet_thrift_list(t, 3, PARQUET_THRIFT_BINARY, list ? 3 : 1);
	parquet_thrift_element_binary(t, def->name, strlen(def->name));
	if (list) {
		parquet_thrift_element_binary(t, "list", strlen("list"));
		parquet_thrift_element_binary(t, "element", strlen("element"));
	}
}

static void put_range(struct parquet_thrift *t, const struct parquet_def *def,
		      const struct parquet_chunk *c)
{
	enum { STATISTICS = 12, NULL_COUNT = 3, MAX_VALUE = 5, MIN_VALUE = 6 };
	const size_t sz = physical_type(def->type) == PARQUET_PHYSICAL_INT64 ? 8 : 4;

	parquet_thrift_struct(t, STATISTICS);
	if (def->type != PARQUET_LIST)
		parquet_thrift_i64(t, NULL_COUNT, (int64_t)c->absent);
	if (c->has_range) {
		parquet_thrift_binary(t, MAX_VALUE, &c->max, sz); /* little endian */
		parquet_thrift_binary(t, MIN_VALUE, &c->min, sz);
	}
	parquet_thrift_end(t);
}

/* A ColumnChunk, whose pages begin at @off in the file. */
static void put_chunk(struct parquet_thrift *t, const struct parquet_def *def,
		      const struct parquet_chunk *c, uint64_t off)
{
	parquet_thrift_element(t);
	parquet_thrift_i64(t, 2, 0);
	parquet_thrift_struct(t, 3);
	parquet_thrift_i32(t, 1, (int32_t)physical_type(def->type));
	put_encodings(t, def, c);
	put_path(t, def);
	parquet_thrift_i32(t, 4, PARQUET_CODEC_ZSTD);
	parquet_thrift_i64(t, 5, (int64_t)c->values);
	parquet_thrift_i64(t, 6, (int64_t)c->plain_sz);
	parquet_thrift_i64(t, 7, (int64_t)c->sz);
	parquet_thrift_i64(t, 9, (int64_t)(off + c->data_off));
	if (c->has_dictionary)
		parquet_thrift_i64(t, 11, (int64_t)(off + c->dictionary_off));
	put_range(t, def, c);
	parquet_thrift_end(t);
	parquet_thrift_end(t);
}

static void put_sorting(struct parquet_thrift *t)
{
	parquet_thrift_list(t, 4, PARQUET_THRIFT_STRUCT, 1);
	parquet_thrift_element(t);
	parquet_thrift_i32(t, 1, 0); /* the first column, */
	parquet_thrift_bool(t, 2, false); /* ascending, */
	parquet_thrift_bool(t, 3, false); /* absent ones last */
	parquet_thrift_end(t);
}

/* The columns' pages go to @out, and the description of the group to its list. */
static void put_group(struct parquet_file *f, const uint32_t *order, struct buf *out)
{
	struct parquet_thrift t = { .out = &f->groups };
	uint64_t plain_sz = 0, sz = 0;

	parquet_thrift_list(&t, 1, PARQUET_THRIFT_STRUCT, f->opts.def_cnt);
	for (size_t i = 0; i < f->opts.def_cnt; i++) {
		const struct parquet_chunk c =
			parquet_column_write(&f->columns[i], order, f->opts.pages, out);

		put_chunk(&t, &f->opts.defs[i], &c, f->off);
		parquet_column_clear(&f->columns[i]);
		plain_sz += c.plain_sz;
		sz += c.sz;
	}
	parquet_thrift_i64(&t, 2, (int64_t)plain_sz);
	parquet_thrift_i64(&t, 3, (int64_t)f->rows);
	if (f->opts.sorted)
		put_sorting(&t);
	parquet_thrift_i64(&t, 5, (int64_t)f->off);
	parquet_thrift_i64(&t, 6, (int64_t)sz);
	parquet_thrift_end(&t);
}

static int append(struct parquet_file *f, const struct buf *b)
{
	f->off += b->len;
	return out_dir_append(f->opts.out, b->data, b->len);
}

static int begin_file(struct parquet_file *f)
{
	const struct buf magic = { .data = (char *)PARQUET_MAGIC, .len = strlen(PARQUET_MAGIC) };

	return f->off ? 0 : append(f, &magic);
}

int parquet_file_flush(struct parquet_file *f)
{
	struct buf out = { 0 };
	uint32_t *order;
	int err;

	if (!f->rows)
		return 0;
	err = begin_file(f);
	order = f->opts.sorted ? parquet_order(f->columns[0].wide, f->rows) : NULL;
	put_group(f, order, &out);
	free(order);
	f->group_cnt++;
	f->written_rows += f->rows;
	f->rows = f->bytes = 0;
	if (!err)
		err = append(f, &out);
	buf_free(&out);
	return err;
}

/* ---- the footer ------------------------------------------------------------------------------- */

static void put_integer_type(struct parquet_thrift *t, int32_t converted, int8_t bits)
{
	parquet_thrift_i32(t, 6, converted);
	parquet_thrift_struct(t, 10);
	parquet_thrift_struct(t, PARQUET_LOGICAL_INTEGER);
	parquet_thrift_byte(t, 1, bits);
	parquet_thrift_bool(t, 2, false);
	parquet_thrift_end(t);
	parquet_thrift_end(t);
}

/* A logical type without parameters. */
static void put_plain_type(struct parquet_thrift *t, int32_t converted, int16_t logical)
{
	parquet_thrift_i32(t, 6, converted);
	parquet_thrift_struct(t, 10);
	parquet_thrift_struct(t, logical);
	parquet_thrift_end(t);
	parquet_thrift_end(t);
}

static void put_logical_type(struct parquet_thrift *t, uint8_t type)
{
	if (type == PARQUET_U8)
		put_integer_type(t, PARQUET_CONVERTED_UINT_8, 8);
	else if (type == PARQUET_U16)
		put_integer_type(t, PARQUET_CONVERTED_UINT_16, 16);
	else if (type == PARQUET_U32)
		put_integer_type(t, PARQUET_CONVERTED_UINT_32, 32);
	else if (type == PARQUET_TEXT)
		put_plain_type(t, PARQUET_CONVERTED_UTF8, PARQUET_LOGICAL_STRING);
}

static void put_node(struct parquet_thrift *t, const char *name, enum parquet_repetition repetition)
{
	parquet_thrift_element(t);
	parquet_thrift_i32(t, 3, (int32_t)repetition);
	parquet_thrift_binary(t, 4, name, strlen(name));
	parquet_thrift_i32(t, 5, 1);
}

/* A list has two nodes around its elements. */
static void put_leaf(struct parquet_thrift *t, const char *name, uint8_t type, bool optional)
{
	parquet_thrift_element(t);
	parquet_thrift_i32(t, 1, (int32_t)physical_type(type));
	parquet_thrift_i32(t, 3, optional ? PARQUET_OPTIONAL : PARQUET_REQUIRED);
	parquet_thrift_binary(t, 4, name, strlen(name));
	put_logical_type(t, type);
	parquet_thrift_end(t);
}

static void put_list_schema(struct parquet_thrift *t, const char *name)
{
	put_node(t, name, PARQUET_REQUIRED);
	put_plain_type(t, PARQUET_CONVERTED_LIST, PARQUET_LOGICAL_LIST);
	parquet_thrift_end(t);
	put_node(t, "list", PARQUET_REPEATED);
	parquet_thrift_end(t);
	put_leaf(t, "element", PARQUET_I64, false);
}

static void put_schema(struct parquet_thrift *t, const struct parquet_def *defs, size_t cnt)
{
	size_t elements = 1;

	for (size_t i = 0; i < cnt; i++)
		elements += defs[i].type == PARQUET_LIST ? 3 : 1;
	parquet_thrift_list(t, 2, PARQUET_THRIFT_STRUCT, elements);
	parquet_thrift_element(t);
	parquet_thrift_binary(t, 4, "schema", strlen("schema"));
	parquet_thrift_i32(t, 5, (int32_t)cnt);
	parquet_thrift_end(t);
	for (size_t i = 0; i < cnt; i++) {
		if (defs[i].type == PARQUET_LIST)
			put_list_schema(t, defs[i].name);
		else
			put_leaf(t, defs[i].name, defs[i].type, defs[i].optional);
	}
}

static void put_metadata(struct parquet_thrift *t, const struct parquet_file_meta *meta, size_t cnt)
{
	parquet_thrift_list(t, 5, PARQUET_THRIFT_STRUCT, cnt);
	for (size_t i = 0; i < cnt; i++) {
		parquet_thrift_element(t);
		parquet_thrift_binary(t, 1, meta[i].key, strlen(meta[i].key));
		parquet_thrift_binary(t, 2, meta[i].value, strlen(meta[i].value));
		parquet_thrift_end(t);
	}
}

/* Smallest and largest values are meant in the order of the type: without this, readers ignore them. */
static void put_column_orders(struct parquet_thrift *t, size_t cnt)
{
	parquet_thrift_list(t, 7, PARQUET_THRIFT_STRUCT, cnt);
	for (size_t i = 0; i < cnt; i++) {
		parquet_thrift_element(t);
		parquet_thrift_struct(t, 1);
		parquet_thrift_end(t);
		parquet_thrift_end(t);
	}
}

int parquet_file_end(struct parquet_file *f, const struct parquet_file_meta *meta, size_t cnt)
{
	struct buf footer = { 0 };
	struct parquet_thrift t = { .out = &footer };
	int err = parquet_file_flush(f);
	uint32_t sz;

	if (!err)
		err = begin_file(f);
	parquet_thrift_i32(&t, 1, 2);
	put_schema(&t, f->opts.defs, f->opts.def_cnt);
	parquet_thrift_i64(&t, 3, (int64_t)f->written_rows);
	parquet_thrift_list(&t, 4, PARQUET_THRIFT_STRUCT, f->group_cnt);
	buf_add(&footer, f->groups.data, f->groups.len);
	put_metadata(&t, meta, cnt);
	parquet_thrift_binary(&t, 6, CREATED_BY, strlen(CREATED_BY));
	put_column_orders(&t, f->opts.def_cnt);
	parquet_thrift_end(&t);
	sz = (uint32_t)footer.len;
	buf_add(&footer, &sz, sizeof(sz));
	buf_addstr(&footer, PARQUET_MAGIC);
	if (!err)
		err = append(f, &footer);
	buf_free(&footer);
	return err;
}
