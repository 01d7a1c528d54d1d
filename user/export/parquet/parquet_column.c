// SPDX-License-Identifier: BSD-2-Clause
/*
 * Columns of a row group: values by row, and their pages. Owns the choice of encoding. A column becomes one data page,
 * after a dictionary page if its values repeat. Knows no files and tables.
 */
#include "export/parquet/parquet_column.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/mix.h"
#include "export/parquet/parquet_encode.h"
#include "export/parquet/parquet_format.h"
#include "export/parquet/parquet_thrift.h"

enum {
	ZSTD_LEVEL = 1,
	DICTIONARY_MAX = 1 << 16, /* numbers */
	SLOTS = 2 * DICTIONARY_MAX,
	TEXT_OVERHEAD = 40, /* memory of a distinct text besides its bytes */
};

/* Working memory of parquet_column_write(). */
struct parquet_pages {
	ZSTD_CCtx *zstd;
	struct buf page; /* uncompressed */
	uint64_t *values; /* that are present, in order */
	size_t value_cap;
	uint32_t *indexes; /* of these in the dictionary */
	size_t index_cap;
	uint32_t *levels;
	size_t level_cap;
	/* the dictionary of numbers: a slot has the index + 1 in distinct */
	uint32_t slots[SLOTS];
	uint64_t distinct[DICTIONARY_MAX];
	size_t distinct_cnt;
};

/* ---- rows ------------------------------------------------------------------------------------- */

static bool is_wide(const struct parquet_column *c)
{
	return c->def->type == PARQUET_I64 || c->def->type == PARQUET_F64;
}

static bool is_text(const struct parquet_column *c)
{
	return c->def->type == PARQUET_TEXT || c->def->type == PARQUET_BYTES;
}

static void add_row(struct parquet_column *c, uint64_t v, bool present)
{
	if (is_wide(c)) {
		c->wide = array_reserve(c->wide, &c->cap, c->cnt + 1, sizeof(*c->wide));
		c->wide[c->cnt] = v;
	} else {
		c->narrow = array_reserve(c->narrow, &c->cap, c->cnt + 1, sizeof(*c->narrow));
		c->narrow[c->cnt] = (uint32_t)v;
	}
	if (c->def->optional) {
		c->present = array_reserve(c->present, &c->present_cap, c->cnt + 1, 1);
		c->present[c->cnt] = present;
	}
	c->absent += !present;
	c->cnt++;
}

void parquet_column_put(struct parquet_column *c, uint64_t v)
{
	add_row(c, v, true);
}

size_t parquet_column_put_text(struct parquet_column *c, const char *s, size_t len)
{
	const uint32_t before = c->texts.cnt;

	add_row(c, strtab_add(&c->texts, s, len), true);
	return c->texts.cnt == before ? 0 : len + TEXT_OVERHEAD;
}

void parquet_column_put_list(struct parquet_column *c, const uint64_t *v, size_t cnt)
{
	c->elements = array_reserve(c->elements, &c->element_cap, c->element_cnt + cnt,
				    sizeof(*c->elements));
	if (cnt)
		memcpy(c->elements + c->element_cnt, v, cnt * sizeof(*v));
	c->element_cnt += cnt;
	add_row(c, cnt, true);
}

void parquet_column_put_none(struct parquet_column *c)
{
	add_row(c, 0, !c->def->optional);
}

size_t parquet_column_row_bytes(const struct parquet_column *c)
{
	return (is_wide(c) ? sizeof(*c->wide) : sizeof(*c->narrow)) + c->def->optional;
}

void parquet_column_clear(struct parquet_column *c)
{
	free(c->wide);
	free(c->present);
	free(c->elements);
	strtab_fini(&c->texts);
	*c = (struct parquet_column){ .def = c->def };
}

/* ---- pages ------------------------------------------------------------------------------------ */

struct parquet_pages *parquet_pages_new(void)
{
	struct parquet_pages *p = xcalloc(1, sizeof(*p));

	p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		abort();
	return p;
}

void parquet_pages_free(struct parquet_pages *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	buf_free(&p->page);
	free(p->values);
	free(p->indexes);
	free(p->levels);
	free(p);
}

static void put_header(struct buf *out, const struct parquet_pages *p, size_t sz,
		       enum parquet_page_kind kind, uint64_t values, uint8_t encoding)
{
	enum { DATA_HEADER = 5, DICTIONARY_HEADER = 7 };
	struct parquet_thrift t = { .out = out };

	parquet_thrift_i32(&t, 1, (int32_t)kind);
	parquet_thrift_i32(&t, 2, (int32_t)p->page.len);
	parquet_thrift_i32(&t, 3, (int32_t)sz);
	parquet_thrift_struct(&t, kind == PARQUET_PAGE_DATA ? DATA_HEADER : DICTIONARY_HEADER);
	parquet_thrift_i32(&t, 1, (int32_t)values);
	parquet_thrift_i32(&t, 2, encoding);
	if (kind == PARQUET_PAGE_DATA) {
		parquet_thrift_i32(&t, 3, PARQUET_PAGE_RLE);
		parquet_thrift_i32(&t, 4, PARQUET_PAGE_RLE);
	}
	parquet_thrift_end(&t);
	parquet_thrift_end(&t);
}

/* Moves the page to the output: its header, and its compressed bytes. */
static void write_page(struct parquet_pages *p, struct buf *out, enum parquet_page_kind kind,
		       uint64_t values, uint8_t encoding, struct parquet_chunk *chunk)
{
	const size_t bound = ZSTD_compressBound(p->page.len), before = out->len;
	struct buf packed = { 0 };
	size_t sz = ZSTD_compressCCtx(p->zstd, buf_reserve(&packed, bound), bound,
				      buf_cstr(&p->page), p->page.len, ZSTD_LEVEL);

	if (ZSTD_isError(sz))
		abort(); /* no memory: the room is always enough */
	put_header(out, p, sz, kind, values, encoding);
	chunk->plain_sz += out->len - before + p->page.len;
	buf_add(out, packed.data, sz);
	chunk->sz += out->len - before;
	buf_free(&packed);
	buf_clear(&p->page);
}

/* ---- values ----------------------------------------------------------------------------------- */

static uint64_t value_at(const struct parquet_column *c, size_t row)
{
	return is_wide(c) ? c->wide[row] : c->narrow[row];
}

/* Collects the present values in order: their number. */
static size_t gather(const struct parquet_column *c, const uint32_t *order, struct parquet_pages *p)
{
	size_t n = 0;

	p->values = array_reserve(p->values, &p->value_cap, c->cnt + 1, sizeof(*p->values));
	for (size_t i = 0; i < c->cnt; i++) {
		const size_t row = order ? order[i] : i;

		if (c->absent && !c->present[row])
			continue;
		p->values[n++] = value_at(c, row);
	}
	return n;
}

/* The bytes of a text have their length in front. */
static void put_plain(struct buf *page, uint8_t type, const uint64_t *v, size_t cnt)
{
	const bool wide = type == PARQUET_I64 || type == PARQUET_F64 || type == PARQUET_LIST;
	const size_t sz = wide ? sizeof(uint64_t) : sizeof(uint32_t);
	char *to = buf_reserve(page, cnt * sz);

	for (size_t i = 0; i < cnt; i++)
		memcpy(to + i * sz, &v[i], sz); /* little endian */
	page->len += cnt * sz;
}

static void put_texts(struct buf *page, const struct strtab *texts)
{
	for (uint32_t i = 0; i < texts->cnt; i++) {
		size_t len;
		const char *s = strtab_get(texts, i, &len);
		const uint32_t sz = (uint32_t)len;

		buf_add(page, &sz, sizeof(sz));
		buf_add(page, s, len);
	}
}

/* Numbers the distinct values; false if there are too many. */
static bool find_distinct(struct parquet_pages *p, const uint64_t *values, size_t cnt)
{
	memset(p->slots, 0, sizeof(p->slots));
	p->distinct_cnt = 0;
	p->indexes = array_reserve(p->indexes, &p->index_cap, cnt + 1, sizeof(*p->indexes));
	for (size_t i = 0; i < cnt; i++) {
		size_t at = hash_u64(values[i]) % SLOTS;

		while (p->slots[at] && p->distinct[p->slots[at] - 1] != values[i])
			at = (at + 1) % SLOTS;
		if (!p->slots[at]) {
			if (p->distinct_cnt == DICTIONARY_MAX)
				return false;
			p->distinct[p->distinct_cnt++] = values[i];
			p->slots[at] = (uint32_t)p->distinct_cnt;
		}
		p->indexes[i] = p->slots[at] - 1;
	}
	return true;
}

static void find_range(const struct parquet_column *c, const uint64_t *values, size_t cnt,
		       struct parquet_chunk *chunk)
{
	uint64_t min, max;

	if (!cnt || is_text(c) || c->def->type == PARQUET_F64 || c->def->type == PARQUET_BOOL)
		return;
	min = max = values[0];
	for (size_t i = 1; i < cnt; i++) {
		min = (int64_t)values[i] < (int64_t)min ? values[i] : min;
		max = (int64_t)values[i] > (int64_t)max ? values[i] : max;
	}
	chunk->has_range = true;
	chunk->min = min;
	chunk->max = max;
}

/* ---- levels ----------------------------------------------------------------------------------- */

static void reserve_levels(struct parquet_pages *p, size_t cnt)
{
	p->levels = array_reserve(p->levels, &p->level_cap, cnt + 1, sizeof(*p->levels));
}

/* Levels are numbers up to 1 here. Their length in bytes is in front. */
static void put_levels(struct parquet_pages *p, size_t cnt)
{
	const size_t at = p->page.len;
	uint32_t sz = 0;

	buf_add(&p->page, &sz, sizeof(sz));
	parquet_encode_hybrid(&p->page, p->levels, cnt, 1);
	sz = (uint32_t)(p->page.len - at - sizeof(sz));
	memcpy(p->page.data + at, &sz, sizeof(sz));
}

static void put_presence(const struct parquet_column *c, const uint32_t *order,
			 struct parquet_pages *p)
{
	if (!c->def->optional)
		return;
	reserve_levels(p, c->cnt);
	for (size_t i = 0; i < c->cnt; i++)
		p->levels[i] = c->present[order ? order[i] : i];
	put_levels(p, c->cnt);
}

/* Repetition levels (0: first of a row), then definition levels (0: empty list): the number of each. */
static size_t put_list_levels(const struct parquet_column *c, struct parquet_pages *p)
{
	size_t n = 0;

	reserve_levels(p, c->cnt + c->element_cnt);
	for (size_t row = 0; row < c->cnt; row++) {
		p->levels[n++] = 0;
		for (uint32_t i = 1; i < c->narrow[row]; i++)
			p->levels[n++] = 1;
	}
	put_levels(p, n);
	n = 0;
	for (size_t row = 0; row < c->cnt; row++) {
		p->levels[n++] = c->narrow[row] > 0;
		for (uint32_t i = 1; i < c->narrow[row]; i++)
			p->levels[n++] = 1;
	}
	put_levels(p, n);
	return n;
}

/* ---- chunks ----------------------------------------------------------------------------------- */

/* The page becomes the dictionary of @cnt values. */
static void write_dictionary(struct parquet_pages *p, struct buf *out, size_t cnt,
			     struct parquet_chunk *chunk)
{
	chunk->has_dictionary = true;
	chunk->dictionary_off = out->len;
	chunk->encoding = PARQUET_PAGE_RLE_DICTIONARY;
	write_page(p, out, PARQUET_PAGE_DICTIONARY, cnt, PARQUET_PAGE_PLAIN, chunk);
}

/* With their width in front. */
static void put_indexes(struct parquet_pages *p, size_t cnt, size_t distinct)
{
	const unsigned int width = parquet_encode_width(distinct ? distinct - 1 : 0);

	buf_addch(&p->page, (char)width);
	parquet_encode_hybrid(&p->page, p->indexes, cnt, width);
}

static void choose_encoding(const struct parquet_def *def, struct parquet_pages *p,
			    const uint64_t *values, size_t cnt, struct buf *out,
			    struct parquet_chunk *chunk)
{
	if (def->encoding == PARQUET_DELTA) {
		chunk->encoding = PARQUET_PAGE_DELTA_BINARY_PACKED;
	} else if (def->type == PARQUET_BOOL || !find_distinct(p, values, cnt)) {
		chunk->encoding = PARQUET_PAGE_PLAIN;
	} else {
		put_plain(&p->page, def->type, p->distinct, p->distinct_cnt);
		write_dictionary(p, out, p->distinct_cnt, chunk);
	}
}

static void put_values(const struct parquet_def *def, struct parquet_pages *p,
		       const uint64_t *values, size_t cnt, const struct parquet_chunk *chunk)
{
	if (chunk->has_dictionary)
		put_indexes(p, cnt, p->distinct_cnt);
	else if (def->encoding == PARQUET_DELTA)
		parquet_encode_delta(&p->page, values, cnt);
	else if (def->type == PARQUET_BOOL)
		parquet_encode_bits(&p->page, values, cnt);
	else
		put_plain(&p->page, def->type, values, cnt);
}

static void write_numbers(const struct parquet_column *c, const uint32_t *order,
			  struct parquet_pages *p, struct buf *out, struct parquet_chunk *chunk)
{
	const size_t cnt = gather(c, order, p);

	find_range(c, p->values, cnt, chunk);
	choose_encoding(c->def, p, p->values, cnt, out, chunk);
	put_presence(c, order, p);
	put_values(c->def, p, p->values, cnt, chunk);
}

static void write_lists(const struct parquet_column *c, struct parquet_pages *p, struct buf *out,
			struct parquet_chunk *chunk)
{
	choose_encoding(c->def, p, c->elements, c->element_cnt, out, chunk);
	chunk->values = put_list_levels(c, p);
	put_values(c->def, p, c->elements, c->element_cnt, chunk);
}

/* Texts have numbers already. */
static void write_texts(const struct parquet_column *c, const uint32_t *order,
			struct parquet_pages *p, struct buf *out, struct parquet_chunk *chunk)
{
	const size_t cnt = gather(c, order, p);

	put_texts(&p->page, &c->texts);
	write_dictionary(p, out, c->texts.cnt, chunk);
	p->indexes = array_reserve(p->indexes, &p->index_cap, cnt + 1, sizeof(*p->indexes));
	for (size_t i = 0; i < cnt; i++)
		p->indexes[i] = (uint32_t)p->values[i];
	put_presence(c, order, p);
	put_indexes(p, cnt, c->texts.cnt);
}

/* Rows of lists keep their order. */
struct parquet_chunk parquet_column_write(const struct parquet_column *c, const uint32_t *order,
					  struct parquet_pages *p, struct buf *out)
{
	struct parquet_chunk chunk = { .values = c->cnt, .absent = c->absent };

	buf_clear(&p->page);
	if (c->def->type == PARQUET_LIST)
		write_lists(c, p, out, &chunk);
	else if (is_text(c))
		write_texts(c, order, p, out, &chunk);
	else
		write_numbers(c, order, p, out, &chunk);
	chunk.data_off = out->len;
	write_page(p, out, PARQUET_PAGE_DATA, chunk.values, chunk.encoding, &chunk);
	return chunk;
}
