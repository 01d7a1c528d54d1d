// SPDX-License-Identifier: BSD-2-Clause
/* Reads blocks; written against ClickHouse's documentation, apart from the code that writes them. */
#include "tests/ship/native_rows.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define COLUMNS_MAX 64

struct cursor {
	const unsigned char *at, *end;
};

static uint64_t read_number(struct cursor *c, size_t sz)
{
	uint64_t v = 0;

	cr_assert_leq(sz, (size_t)(c->end - c->at));
	for (size_t i = 0; i < sz; i++)
		v |= (uint64_t)*c->at++ << (8 * i);
	return v;
}

static uint64_t read_varint(struct cursor *c)
{
	uint64_t v = 0, byte = 0x80;

	for (unsigned int shift = 0; byte & 0x80; shift += 7) {
		byte = read_number(c, 1);
		v |= (byte & 0x7f) << shift;
	}
	return v;
}

static void read_text(struct cursor *c, struct buf *out)
{
	const uint64_t len = read_varint(c);

	cr_assert_leq(len, (uint64_t)(c->end - c->at));
	buf_add(out, (const char *)c->at, len);
	c->at += len;
}

static void read_value(struct cursor *c, const char *type, struct buf *out)
{
	if (!strcmp(type, "String"))
		read_text(c, out);
	else if (!strcmp(type, "UInt64"))
		buf_addu(out, read_number(c, 8));
	else if (!strcmp(type, "Int64"))
		buf_addi(out, (int64_t)read_number(c, 8));
	else if (!strcmp(type, "UInt32"))
		buf_addu(out, read_number(c, 4));
	else if (!strcmp(type, "Int32"))
		buf_addi(out, (int32_t)read_number(c, 4));
	else if (!strcmp(type, "UInt8"))
		buf_addu(out, read_number(c, 1));
	else if (!strcmp(type, "Date"))
		buf_addu(out, read_number(c, 2));
	else
		cr_assert(false, "type %s", type);
}

static void read_arrays(struct cursor *c, const char *type, struct buf *rows, uint64_t cnt)
{
	struct cursor ends = *c;
	uint64_t at = 0;

	(void)read_number(c, 0);
	cr_assert_leq(8 * cnt, (uint64_t)(c->end - c->at));
	c->at += 8 * cnt;
	for (uint64_t i = 0; i < cnt; i++)
		for (const uint64_t end = read_number(&ends, 8); at < end; at++) {
			if (rows[i].len)
				buf_addch(&rows[i], ' ');
			read_value(c, type, &rows[i]);
		}
}

static void read_column(struct cursor *c, const char *type, struct buf *rows, uint64_t cnt)
{
	char element[32];

	if (sscanf(type, "Array(%31[^)])", element) == 1) {
		read_arrays(c, element, rows, cnt);
		return;
	}
	for (uint64_t i = 0; i < cnt; i++)
		read_value(c, type, &rows[i]);
}

/* Where a name is in a list; -1: nowhere. */
static int place_of(const char *name, const char *columns)
{
	const size_t len = strlen(name);
	int place = 0;

	for (const char *at = columns; at; at = strchr(at, ','), at = at ? at + 1 : NULL, place++)
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return place;
	return -1;
}

/* As `query` writes a cell that does not look like a formula. */
static void put_cell(struct buf *csv, const struct buf *cell)
{
	if (!cell->len ||
	    (!memchr(cell->data, ',', cell->len) && !memchr(cell->data, '"', cell->len))) {
		buf_add(csv, cell->data, cell->len);
		return;
	}
	buf_addch(csv, '"');
	for (size_t i = 0; i < cell->len; i++) {
		if (cell->data[i] == '"')
			buf_addch(csv, '"');
		buf_addch(csv, cell->data[i]);
	}
	buf_addch(csv, '"');
}

void native_rows_put(struct buf *csv, const struct buf *block, const char *columns)
{
	struct cursor c = { (const unsigned char *)block->data,
			    (const unsigned char *)block->data + block->len };
	const uint64_t column_cnt = read_varint(&c), cnt = read_varint(&c);
	struct buf *places[COLUMNS_MAX] = { NULL };
	int wanted = 1;

	for (const char *at = columns; (at = strchr(at, ',')); at++)
		wanted++;
	for (uint64_t i = 0; i < column_cnt; i++) {
		struct buf name = { 0 }, type = { 0 }, *rows = calloc(cnt + 1, sizeof(*rows));
		int place;

		read_text(&c, &name);
		read_text(&c, &type);
		read_column(&c, buf_cstr(&type), rows, cnt);
		place = place_of(buf_cstr(&name), columns);
		if (place >= 0) {
			places[place] = rows;
		} else {
			for (uint64_t k = 0; k < cnt; k++)
				buf_free(&rows[k]);
			free(rows);
		}
		buf_free(&name);
		buf_free(&type);
	}
	cr_assert_eq(c.at, c.end);
	for (uint64_t k = 0; k < cnt; k++)
		for (int i = 0; i < wanted; i++) {
			cr_assert_not_null(places[i], "column %d of %s", i, columns);
			put_cell(csv, &places[i][k]);
			buf_addstr(csv, i + 1 < wanted ? "," : "\n");
			buf_free(&places[i][k]);
		}
	for (int i = 0; i < wanted; i++)
		free(places[i]);
}
